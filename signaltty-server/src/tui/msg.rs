//! What can happen, and what can be done about it.

use std::path::PathBuf;
use std::time::Duration;

use bytes::Bytes;
use crossterm::event::{KeyEvent, MouseEvent};
use serde_json::Value;
use signaltty_core::id::PaneId;
use signaltty_core::scope::Scope;

use crate::protocol::{EventLine, PaneText, Tree, WireError};

/// Something happened.
#[derive(Debug)]
pub(crate) enum Msg {
    Key(KeyEvent),
    Mouse(MouseEvent),
    Paste(String),
    Resized(u16, u16),
    /// The terminal gained or lost the focus.
    Watched(bool),
    /// The server's whole list.
    Listed(Tree),
    /// The server went away, or could not be reached.
    Lost(String),
    Event(EventLine),
    /// From a pane's stream.
    Stream {
        pane: PaneId,
        number: u64,
        what: FromStream,
    },
    Tail {
        pane: PaneId,
        result: Result<PaneText, String>,
    },
    /// A request was answered.
    Done {
        after: After,
        result: Result<Value, WireError>,
    },
    /// Time for the next picture of an animation.
    Beat,
}

/// What a pane's stream brings.
#[derive(Debug)]
pub(crate) enum FromStream {
    /// It begins, for a terminal of this size.
    Begun {
        cols: u16,
        rows: u16,
    },
    Output(Bytes),
    Repaint(Bytes),
    /// Lines with their styles.
    History(Bytes),
    Notice(String),
    /// The process ended, or the stream did.
    Ended,
    Failed(String),
}

/// Something is to be done.
#[derive(Debug, PartialEq)]
pub(crate) enum Effect {
    /// Ask for the whole list.
    List,
    /// Follow a pane.
    Open {
        pane: PaneId,
        number: u64,
        size: (u16, u16),
    },
    /// Stop following it.
    Shut {
        pane: PaneId,
    },
    /// Send what was typed.
    Type {
        pane: PaneId,
        bytes: Vec<u8>,
    },
    /// Ask for a pane's output.
    History {
        pane: PaneId,
    },
    ReadTail {
        pane: PaneId,
    },
    /// A request to the server; with the environment where something starts.
    Call {
        method: &'static str,
        params: Value,
        env: bool,
        after: After,
    },
    /// Put a text on the clipboard of the terminal.
    Copy(String),
    /// Tell the person, wherever they are.
    Reach {
        title: String,
        body: String,
    },
    SaveScope(Scope),
    /// Connect, and start a server first where there is none.
    Connect {
        start: bool,
    },
    /// Draw every cell again.
    Clear,
    Quit,
}

impl Effect {
    /// Whether the answer brings a pane that gets the focus.
    pub(crate) fn makes(&self) -> bool {
        matches!(self, Self::Call { after: After::Show, .. })
    }
}

/// What follows a request's answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum After {
    Nothing,
    /// Show the pane that was made.
    Show,
    /// The program of a tombstone runs again.
    Again(PaneId),
    /// Say what came of a resume.
    Resumed(PaneId),
    /// Say what came of a turn that was to be continued.
    Continued(PaneId),
    /// Say that this was done.
    Say(String),
    /// Open a workspace in the checkout that was made, in the repository of this
    /// directory.
    Made(Value),
    /// Note the checkouts of this directory's repository.
    Checkouts(PathBuf),
    /// Note what people were told.
    Inbox,
}

/// How often an animation shows its next picture.
pub(crate) const BEAT: Duration = Duration::from_millis(120);
