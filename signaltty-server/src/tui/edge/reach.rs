//! Telling the person, through their terminal or a program of their own.

use std::process::{Command, Stdio};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use crate::tui::gui::Reach;

/// Longer texts are cut.
const MOST: usize = 200;

/// What to write to the terminal; a program is started.
pub(super) fn reach(how: &Reach, title: &str, body: &str) -> String {
    let text = if body.is_empty() { title.to_owned() } else { format!("{title}: {body}") };
    match how {
        Reach::No => String::new(),
        Reach::Bell => "\x07".to_owned(),
        Reach::Osc9 => format!("\x1b]9;{}\x1b\\", plain(&text)),
        // The parts are parted by semicolons.
        Reach::Osc777 => {
            let (title, body) = (plain(title).replace(';', ","), plain(body));
            format!("\x1b]777;notify;{title};{body}\x1b\\")
        }
        Reach::Command(words) => {
            run(words, title, body);
            String::new()
        }
    }
}

/// The sequence that puts a text on the terminal's clipboard.
pub(super) fn clipboard(text: &str) -> String {
    format!("\x1b]52;c;{}\x07", STANDARD.encode(text))
}

/// A short text without anything that a terminal acts on.
fn plain(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).take(MOST).collect()
}

fn run(words: &[String], title: &str, body: &str) {
    let mut words = words
        .iter()
        .map(|word| word.replace("{title}", &plain(title)).replace("{body}", &plain(body)));
    let Some(program) = words.next() else { return };
    let mut command = Command::new(program);
    command.args(words).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    // Waited for by a thread, so that none stays as a zombie. A program that is
    // not there must not cost the person their screen.
    let _ = std::thread::Builder::new().name("notify".to_owned()).spawn(move || {
        let _ = command.status();
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn c082_notifications_hold_one_short_line_of_text() {
        let poison = "a\x1b]52;c;AA\x07\n;b";
        assert_eq!(reach(&Reach::Osc9, poison, ""), "\x1b]9;a]52;c;AA;b\x1b\\");
        assert_eq!(
            reach(&Reach::Osc777, poison, poison),
            "\x1b]777;notify;a]52,c,AA,b;a]52;c;AA;b\x1b\\"
        );
        assert_eq!(reach(&Reach::Bell, "t", "b"), "\x07");
        assert_eq!(reach(&Reach::No, "t", "b"), "");
        assert_eq!(clipboard("hi\n"), "\x1b]52;c;aGkK\x07");
    }

    #[test]
    fn a_program_of_the_persons_own_gets_the_words() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("said");
        let script =
            format!("printf '%s|%s' \"$1\" \"$2\" > {0}.new; mv {0}.new {0}", file.display());
        let words = ["sh", "-c", &script, "sh", "{title}", "{body}"].map(str::to_owned);
        reach(&Reach::Command(words.to_vec()), "api", "may I?\x07");
        let until = std::time::Instant::now() + std::time::Duration::from_secs(10);
        while !file.exists() {
            assert!(std::time::Instant::now() < until, "it was not run");
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
        assert_eq!(std::fs::read_to_string(&file).unwrap(), "api|may I?");
    }
}
