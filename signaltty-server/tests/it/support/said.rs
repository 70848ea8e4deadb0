//! Refusals as text, for snapshots.

use serde_json::Value;

use super::{Failure, Home};

/// Collects refusals; their ids and paths are those of one run and are replaced.
pub struct Said {
    text: String,
    places: Vec<(String, String)>,
}

impl Said {
    pub fn new(home: &Home) -> Self {
        Self {
            text: String::new(),
            places: vec![(home.path("").display().to_string(), "HOME/".into())],
        }
    }

    /// Has a text of this run stand as another one.
    pub fn hide(&mut self, text: &str, shown: &str) {
        // Before the paths in it are replaced.
        self.places.insert(0, (text.to_owned(), shown.to_owned()));
    }

    /// Notes how a request was refused.
    #[track_caller]
    pub fn refused(&mut self, asked: &str, answer: Result<Value, Failure>) {
        let failure = answer.expect_err(asked);
        let Failure { code, message, details } = failure;
        let entry = format!("## {code}: {asked}\n{message}\n{details}\n\n");
        self.text.push_str(&entry);
    }

    /// Everything, in the order in which it was noted.
    pub fn text(&self) -> String {
        let mut text = self.text.clone();
        for (found, shown) in &self.places {
            text = text.replace(found, shown);
        }
        for prefix in ["pane_", "tab_", "ws_", "notif_"] {
            text = without_ids(&text, prefix);
        }
        text.trim_end().to_owned()
    }
}

/// Random parts of ids become the number of their first mention.
fn without_ids(text: &str, prefix: &str) -> String {
    let mut seen: Vec<String> = Vec::new();
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once(prefix) {
        out.push_str(before);
        out.push_str(prefix);
        let length = after.bytes().take_while(|b| matches!(b, b'a'..=b'z' | b'2'..=b'7')).count();
        let (random, after) = after.split_at(length);
        if length == 16 && random.bytes().any(|byte| byte != b'a') {
            let at = seen.iter().position(|known| known == random);
            let at = at.unwrap_or_else(|| {
                seen.push(random.to_owned());
                seen.len() - 1
            });
            out.push_str(&(at + 1).to_string());
        } else {
            out.push_str(random);
        }
        rest = after;
    }
    out.push_str(rest);
    out
}
