//! Questions to the person, which take all keys until they are answered.

use serde_json::Value;
use signaltty_core::id::PaneId;

use super::field::Field;

/// A question.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Dialog {
    /// What to open, and where.
    Open(Open),
    /// One line of text.
    Line(Line),
    /// Whether to do something that cannot be undone.
    Confirm(Confirm),
    /// What an agent asks permission for.
    Answer(Asked),
    /// The question went away while a person looked at it. It takes one key: that
    /// was on its way to the question, and must not reach an agent.
    Over(String),
}

/// What an agent asks, as it is shown. An answer is for that and no other.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Asked {
    pub(crate) pane: PaneId,
    /// The question's id.
    pub(crate) id: String,
    pub(crate) text: String,
}

/// Something new: its directory and what runs in it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Open {
    /// A workspace, or a pane beside this one.
    pub(crate) beside: Option<PaneId>,
    pub(crate) cwd: Field,
    /// Whether the directory is one of another machine.
    pub(crate) far: bool,
    pub(crate) command: Field,
    /// The chosen one of the known programs; none where the person typed.
    pub(crate) choice: Option<usize>,
    /// The part that has the cursor: the directory, or the program.
    pub(crate) on_command: bool,
    /// What was wrong with it.
    pub(crate) error: Option<String>,
}

/// A line of text.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Line {
    pub(crate) title: String,
    pub(crate) field: Field,
    pub(crate) then: Then,
}

/// What a line is for.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Then {
    /// A request; the line goes into `params` under this name.
    Call { method: &'static str, params: Value, name: &'static str },
    /// A search in the output that is scrolled through.
    Search,
    /// The branch of a new checkout, in the repository of the directory `cwd`.
    Checkout { cwd: Value },
}

/// A question with yes or no.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Confirm {
    pub(crate) text: Vec<String>,
    pub(crate) method: &'static str,
    pub(crate) params: Value,
    pub(crate) env: bool,
}

impl Open {
    pub(crate) fn new(beside: Option<PaneId>, cwd: &str) -> Self {
        Self {
            beside,
            cwd: Field::new(cwd),
            far: false,
            command: Field::default(),
            choice: Some(0),
            on_command: beside.is_some(),
            error: None,
        }
    }
}
