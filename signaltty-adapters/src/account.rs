//! What a record says of its newest turn: whether it came to its end, which
//! tools it called, and whether a prompt of ours is in it.
//!
//! An agent whose terminal goes away may break its turn off by itself, and notes
//! that as it notes a person who did. So a turn that was broken off is neither
//! finished nor unfinished: nobody can say.

use serde_json::Value;
use signaltty_core::agent::{Receipt, TurnRecord};

use crate::text::one_line;

#[cfg(any(feature = "claude", feature = "codex", feature = "grok"))]
pub(crate) use of_lines::{list, newest, prompted};

/// The newest turn, gathered line by line.
#[derive(Debug, Default)]
pub(crate) struct Account {
    unfinished: Option<bool>,
    calls: Vec<Call>,
}

#[derive(Debug)]
struct Call {
    id: String,
    tool: String,
    read_only: bool,
    finished: bool,
}

impl Account {
    /// A new turn.
    pub(crate) fn began(&mut self) {
        self.calls.clear();
        self.unfinished = Some(true);
    }

    /// It is not over.
    pub(crate) fn goes_on(&mut self) {
        self.unfinished = Some(true);
    }

    /// It came to its end.
    pub(crate) fn ended(&mut self) {
        self.unfinished = Some(false);
    }

    /// It was broken off, or the record does not tell.
    pub(crate) fn unclear(&mut self) {
        self.unfinished = None;
    }

    /// A tool was called.
    pub(crate) fn called(&mut self, id: &str, tool: &str, read_only: bool) {
        let (id, tool) = (id.to_owned(), tool.to_owned());
        self.calls.push(Call { id, tool, read_only, finished: false });
    }

    /// The result of a call came.
    pub(crate) fn returned(&mut self, id: &str) {
        if let Some(call) = self.calls.iter_mut().find(|call| call.id == id && !call.finished) {
            call.finished = true;
        }
    }

    /// Tools may run side by side: one that did not finish and may have changed
    /// something counts more than one that was called later.
    pub(crate) fn record(&self, prompted: Option<bool>) -> TurnRecord {
        let receipt = |call: &Call| Receipt {
            tool: one_line(&call.tool).unwrap_or_else(|| "a tool without a name".into()),
            finished: call.finished,
            read_only: call.read_only,
        };
        let mut calls = self.calls.iter().rev();
        let open = calls.find(|call| !call.finished && !call.read_only);
        let last_tool = open.or(self.calls.last()).map(receipt);
        TurnRecord { unfinished: self.unfinished, prompted, last_tool }
    }
}

/// Whether a text is our prompt.
pub(crate) fn is_prompt(text: &str) -> bool {
    text.trim() == crate::PROMPT
}

/// The text under a name; empty where there is none.
pub(crate) fn text<'a>(value: &'a Value, name: &str) -> &'a str {
    value.get(name).and_then(Value::as_str).unwrap_or_default()
}

/// Of records of lines.
#[cfg(any(feature = "claude", feature = "codex", feature = "grok"))]
mod of_lines {
    use std::path::Path;

    use serde_json::Value;
    use signaltty_core::agent::Anchor;

    use super::Account;
    use crate::lines;
    use crate::records::Record;

    /// Reads the newest turn from the last lines of a record.
    pub(crate) fn newest(path: &Path, read: fn(&[u8], &mut Account)) -> Account {
        let mut account = Account::default();
        let lines = Record::open(path).and_then(|record| record.last_lines(path, MOST));
        if let Ok(lines) = lines {
            for line in lines.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
                read(line, &mut account);
            }
        }
        account
    }

    /// Whether a prompt of ours stands after the anchor. `None` where the record
    /// does not tell, also where its last line was cut off: that may be the prompt.
    pub(crate) fn prompted(
        path: &Path,
        anchor: Option<&Anchor>,
        is_ours: fn(&[u8]) -> bool,
    ) -> Option<bool> {
        let after = lines::after(path, anchor)?;
        if after.split(|byte| *byte == b'\n').any(is_ours) {
            return Some(true);
        }
        after.last().is_none_or(|last| *last == b'\n').then_some(false)
    }

    /// The list under a name; empty where there is none.
    pub(crate) fn list<'a>(value: &'a Value, name: &str) -> impl Iterator<Item = &'a Value> {
        value.get(name).and_then(Value::as_array).into_iter().flatten()
    }

    /// How much of the end of a record is looked at.
    const MOST: u64 = 16 << 20;
}
