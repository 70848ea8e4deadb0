//! Every command that the documents show is one that the programs understand.

use std::path::{Path, PathBuf};

use clap::CommandFactory as _;
use clap::error::ErrorKind;

use super::Cli;
use crate::tui::words;

/// What a person copies: lines of code blocks, and words in backquotes.
struct Shown {
    place: String,
    line: String,
    /// Named in a sentence, so what it is about may be left out.
    named: bool,
}

#[test]
fn each_command_of_the_documents_is_understood() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut pages: Vec<PathBuf> =
        ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md"]
            .map(|name| root.join(name))
            .into();
    for dir in ["docs", "docs/adr", "signaltty-server"] {
        let entries = std::fs::read_dir(root.join(dir)).unwrap().map(|entry| entry.unwrap().path());
        pages.extend(entries.filter(|path| path.extension().is_some_and(|end| end == "md")));
    }
    let (mut count, mut wrong) = (0, Vec::new());
    for page in pages {
        let text = std::fs::read_to_string(&page).unwrap();
        for shown in commands(&page, &text) {
            for line in alternatives(&shown.line) {
                count += 1;
                if let Err(error) = understood(&line, shown.named) {
                    let error = error.lines().next().unwrap_or_default().to_owned();
                    wrong.push(format!("{}: {line}: {error}", shown.place));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(count > 100, "only {count} commands were found");
}

#[test]
fn a_verb_or_an_option_that_is_gone_is_noticed() {
    for line in ["signaltty resumee", "signaltty ls --gone", "signaltty-server history lst"] {
        assert!(understood(line, true).is_err(), "{line}");
    }
    assert!(understood("signaltty pane send", true).is_ok());
    assert!(understood("signaltty pane send", false).is_err());
}

fn commands(page: &Path, text: &str) -> Vec<Shown> {
    let mut found = Vec::new();
    let (mut inside, mut shell) = (false, false);
    for (number, line) in text.lines().enumerate() {
        let place = format!("{}:{}", page.display(), number + 1);
        if let Some(kind) = line.trim_start().strip_prefix("```") {
            (inside, shell) = (!inside, matches!(kind, "sh" | "console"));
        } else if inside {
            let line = line.trim_start().trim_start_matches("$ ");
            if shell && is_ours(line) {
                found.push(Shown { place, line: copied(line), named: false });
            }
        } else {
            for line in line.split('`').skip(1).step_by(2).filter(|words| is_ours(words)) {
                let line = line.replace(['…', '[', ']'], "");
                found.push(Shown { place: place.clone(), line, named: true });
            }
        }
    }
    found
}

fn is_ours(line: &str) -> bool {
    line.starts_with("signaltty ") || line.starts_with("signaltty-server ")
}

/// The one command of a line, without a comment or what comes after it.
fn copied(line: &str) -> String {
    let ends = [" # ", "  #", " | ", " > ", " < ", " && ", "; ", " \\"];
    let end = ends.iter().filter_map(|end| line.find(end)).min().unwrap_or(line.len());
    line.get(..end).unwrap_or(line).trim_end().to_owned()
}

/// `a|b c` is two commands.
fn alternatives(line: &str) -> Vec<String> {
    let mut all = vec![String::new()];
    for word in line.split_whitespace() {
        let each: Vec<&str> = word.split('|').collect();
        all = all
            .iter()
            .flat_map(|so_far| each.iter().map(move |w| format!("{so_far} {w}")))
            .collect();
    }
    all.iter().map(|line| line.trim_start().to_owned()).collect()
}

fn understood(line: &str, named: bool) -> Result<(), String> {
    // What another command prints is one word here.
    let words = words(&line.replace("$(signaltty next)", "ID"))?;
    let command = match words.first().map(String::as_str) {
        Some("signaltty-server") => crate::serve::command(),
        _ => Cli::command(),
    };
    match command.try_get_matches_from(words) {
        Ok(_) => Ok(()),
        // A sentence names the verb and not what it is used on.
        Err(error)
            if named
                && matches!(
                    error.kind(),
                    ErrorKind::MissingRequiredArgument
                        | ErrorKind::MissingSubcommand
                        | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand
                        | ErrorKind::InvalidValue
                        | ErrorKind::TooFewValues
                ) =>
        {
            Ok(())
        }
        Err(error) if !error.use_stderr() => Ok(()),
        Err(error) => Err(error.to_string()),
    }
}
