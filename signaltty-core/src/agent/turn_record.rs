//! What an agent's own record says of its newest turn.

use std::sync::Arc;

/// What was found in a record that no process writes at the moment. `None`
/// stands for what the record does not tell.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TurnRecord {
    /// The newest turn did not come to its end.
    pub unfinished: Option<bool>,
    /// After the saved anchor, the record holds a prompt of ours: an earlier
    /// attempt had arrived (K6).
    pub prompted: Option<bool>,
    /// The last tool call in it.
    pub last_tool: Option<Receipt>,
}

/// A tool call, as a person wants to know of it before the turn goes on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Receipt {
    /// The tool's name, one line.
    pub tool: Arc<str>,
    /// Its result is in the record.
    pub finished: bool,
    /// It only reads. Everything that is not known to may have changed
    /// something.
    pub read_only: bool,
}

impl Receipt {
    /// Whether nobody can say what it did: such a turn goes on by hand only.
    pub fn is_open(&self) -> bool {
        !self.finished && !self.read_only
    }
}

impl std::fmt::Display for Receipt {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let how = match (self.finished, self.read_only) {
            (true, _) => "it finished",
            (false, true) => "it did not finish, and only reads",
            (false, false) => "it did not finish, and may have changed something",
        };
        write!(f, "last tool call: {}, {how}", self.tool)
    }
}
