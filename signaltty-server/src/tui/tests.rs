//! The client's documents are made of what it is made of.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use super::input::{ACTIONS, Bindings, Preset};
use super::view::{PAGE_KEYS, SCROLL_KEYS, SIDEBAR_KEYS, key_rows};

/// Compares a text with a part of a document, or puts it there if
/// `SIGNALTTY_UPDATE_DOCS` is set.
fn document(path: &str, mark: &str, wanted: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(path);
    let text = fs::read_to_string(&path).unwrap();
    let (start, end) = (format!("<!-- {mark} -->\n"), format!("<!-- /{mark} -->"));
    let (before, rest) = text.split_once(&start).unwrap();
    let (found, after) = rest.split_once(&end).unwrap();
    if std::env::var_os("SIGNALTTY_UPDATE_DOCS").is_some() {
        fs::write(&path, format!("{before}{start}{wanted}{end}{after}")).unwrap();
        return;
    }
    assert_eq!(found, wanted, "SIGNALTTY_UPDATE_DOCS=1 brings {} up to date", path.display());
}

fn code(keys: &str) -> String {
    let keys = keys.split(' ').filter(|key| !key.is_empty());
    let keys: Vec<_> = keys.map(|key| format!("`{}`", key.replace('|', "\\|"))).collect();
    keys.join(" ")
}

#[test]
fn the_guides_keys_are_those_of_the_bindings() {
    let own = Bindings::new(Preset::Signaltty, None, &[]).unwrap();
    let tmux = Bindings::new(Preset::Tmux, None, &[]).unwrap();
    let mut text = format!(
        "| after `{}` | preset `tmux`, after `{}` | what it does | name in `gui.json` |\n\
         | --- | --- | --- | --- |\n",
        own.prefix, tmux.prefix
    );
    let rows = key_rows(&own).into_iter().zip(key_rows(&tmux));
    for ((keys, what, name), (tmux, ..)) in rows {
        let (keys, tmux) = (code(&keys), code(&tmux));
        writeln!(text, "| {keys} | {tmux} | {what} | {} |", code(name)).unwrap();
    }
    for (title, rows) in [
        ("In a pane without a process", &PAGE_KEYS[..]),
        ("While scrolling", &SCROLL_KEYS),
        ("In the sidebar", &SIDEBAR_KEYS),
    ] {
        writeln!(text, "\n{title}:\n\n| key | what it does |\n| --- | --- |").unwrap();
        for (keys, what) in rows {
            writeln!(text, "| {} | {what} |", code(keys)).unwrap();
        }
    }
    document("docs/guide.md", "keys", &text);
    assert_eq!(key_rows(&own).len(), ACTIONS.len() + 1);
}
