//! Answers that wait for a pane's task or for the disk.

use bytes::Bytes;
use serde_json::{Value, json};
use signaltty_core::id::PaneId;
use signaltty_persist::tail::Tail;
use tokio::sync::oneshot;

use super::effects::to_value;
use super::pane_input::InputError;
use super::pane_task::PaneMessage;
use super::panes::PaneHandle;
use crate::protocol::{PaneRead, PaneText, WireError, Written, code, key_bytes};

/// `pane.read`, under way.
pub(crate) struct Reading {
    pub(crate) pane: PaneId,
    pub(crate) source: Source,
    pub(crate) lines: Option<usize>,
    pub(crate) ansi: bool,
}

/// Where the lines come from.
pub(crate) enum Source {
    Live(Option<oneshot::Receiver<String>>),
    /// Of a process that ended, not on the disk yet.
    Kept(Vec<u8>),
    Saved(oneshot::Receiver<Result<Tail, String>>),
}

impl Source {
    pub(crate) fn live(handle: &PaneHandle, ask: &PaneRead) -> Self {
        let (done, text) = oneshot::channel();
        let message = PaneMessage::Read { lines: ask.lines, ansi: ask.ansi, done };
        Self::Live(handle.messages.try_send(message).ok().map(|()| text))
    }
}

impl Reading {
    pub(crate) async fn text(self) -> Result<Value, WireError> {
        let (source, text) = match self.source {
            Source::Live(text) => {
                let text = match text {
                    Some(text) => text.await.ok(),
                    None => None,
                };
                let busy = || WireError::new(code::IO_ERROR, "the pane did not answer; try again");
                ("live", text.ok_or_else(busy)?)
            }
            Source::Kept(bytes) => ("saved", plain(&bytes, self.lines, self.ansi)),
            Source::Saved(tail) => match tail.await {
                Ok(Ok(Tail::Saved(bytes))) => ("saved", plain(&bytes, self.lines, self.ansi)),
                Ok(Ok(Tail::NoSavedOutput)) => ("none", String::new()),
                Ok(Ok(Tail::Damaged)) => ("damaged", String::new()),
                Ok(Ok(_)) => ("none", String::new()),
                Ok(Err(error)) => return Err(WireError::new(code::IO_ERROR, error)),
                Err(_) => {
                    let message = "the saved output could not be read now; try again";
                    return Err(WireError::new(code::IO_ERROR, message));
                }
            },
        };
        let pane_id = self.pane.to_string();
        Ok(to_value(PaneText { pane_id, source: source.to_owned(), text }))
    }
}

/// The last lines of a tail, with or without its styles.
fn plain(bytes: &[u8], lines: Option<usize>, ansi: bool) -> String {
    let count = lines.unwrap_or(usize::MAX);
    if ansi {
        signaltty_pty::tail_styled(bytes, count)
    } else {
        signaltty_pty::tail_text(bytes, count)
    }
}

/// `pane.send` and `pane.keys`, under way.
pub(crate) struct Typing {
    pub(crate) pane: PaneId,
    pub(crate) handle: PaneHandle,
    pub(crate) input: Input,
}

/// What to type.
pub(crate) enum Input {
    Bytes(Bytes),
    /// Known to be names of keys.
    Keys(Vec<String>),
}

impl Typing {
    pub(crate) async fn finish(self) -> Result<Value, WireError> {
        let busy = || WireError::new(code::IO_ERROR, "the pane does not take messages; try again");
        let bytes = match self.input {
            Input::Bytes(bytes) => bytes,
            Input::Keys(keys) => {
                let (done, mode) = oneshot::channel();
                let ask = PaneMessage::CursorMode(done);
                self.handle.messages.send(ask).await.map_err(|_| busy())?;
                let application = mode.await.unwrap_or(false);
                let typed = keys.iter().filter_map(|key| key_bytes(key, application).ok());
                Bytes::from(typed.collect::<Vec<_>>().concat())
            }
        };
        let length = bytes.len();
        let done = self.handle.input(bytes).ok_or_else(busy)?;
        match done.await {
            Ok(Ok(())) => {
                Ok(to_value(Written { pane_id: self.pane.to_string(), written_bytes: length }))
            }
            Ok(Err(error)) => Err(input_error(self.pane, &error)),
            Err(_) => Err(input_error(self.pane, &InputError::Closed { written: 0 })),
        }
    }
}

pub(super) fn input_error(pane: PaneId, error: &InputError) -> WireError {
    let (code, written) = match error {
        InputError::Timeout { written } => (code::TIMEOUT, *written),
        InputError::Full { .. } => (code::RATE_LIMITED, 0),
        InputError::Closed { written } => (code::PANE_EXITED, *written),
    };
    let details = json!({"written_bytes": written});
    WireError::new(code, format!("pane {pane}: {error}")).with_details(details)
}
