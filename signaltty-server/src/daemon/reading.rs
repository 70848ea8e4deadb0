//! Answers that wait for a pane's task or for the disk.

use bytes::Bytes;
use serde_json::{Value, json};
use signaltty_core::id::{InstanceId, PaneId};
use signaltty_persist::tail::Tail;
use signaltty_pty::{Mark, Screen, Since};
use tokio::sync::oneshot;

use super::effects::to_value;
use super::pane_input::InputError;
use super::pane_task::PaneMessage;
use super::panes::PaneHandle;
use crate::protocol::{PaneText, WireError, Written, code, key_bytes};

/// What of a pane is to be read.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ask {
    pub(crate) lines: Option<usize>,
    pub(crate) ansi: bool,
    /// Only what came after this.
    pub(crate) after: Option<Mark>,
}

/// Lines of a pane.
#[derive(Debug, Clone, Default)]
pub(crate) struct Lines {
    text: String,
    open: Option<String>,
    lost: Option<u64>,
    changed: bool,
    mark: Option<Mark>,
}

impl Ask {
    /// Reads a screen.
    pub(crate) fn of(&self, screen: &Screen) -> Lines {
        let Some(after) = self.after else {
            let tail = screen.tail(usize::MAX);
            let text = self.last(tail.as_bytes());
            return Lines { text, mark: Some(screen.mark()), ..Lines::default() };
        };
        let Since { lines, open, lost, changed, mark } = screen.since(Some(after));
        Lines {
            text: self.last(joined(lines).as_bytes()),
            open: Some(self.all(joined(open).as_bytes())),
            lost: Some(lost),
            changed,
            mark: Some(mark),
        }
    }

    /// Reads the last lines of a process that ended. `end` is how many lines it
    /// had, where that is known.
    fn of_tail(&self, tail: &[u8], end: Option<u64>) -> Lines {
        let mark = end.map(Mark::at);
        let (Some(after), Some(end)) = (self.after, end) else {
            return Lines { text: self.last(tail), mark, ..Lines::default() };
        };
        let all = tail.iter().filter(|byte| **byte == b'\n').count();
        let first = end.saturating_sub(u64::try_from(all).unwrap_or(u64::MAX));
        let from = after.lines().min(end);
        let skip = usize::try_from(from.saturating_sub(first)).unwrap_or(usize::MAX);
        let new = tail.split_inclusive(|byte| *byte == b'\n').skip(skip).collect::<Vec<_>>();
        Lines {
            text: self.last(&new.concat()),
            open: Some(String::new()),
            lost: Some(first.saturating_sub(from)),
            changed: false,
            mark,
        }
    }

    fn last(&self, lines: &[u8]) -> String {
        shown(lines, self.lines.unwrap_or(usize::MAX), self.ansi)
    }

    fn all(&self, lines: &[u8]) -> String {
        shown(lines, usize::MAX, self.ansi)
    }
}

fn joined(lines: Vec<String>) -> String {
    lines.into_iter().fold(String::new(), |mut text, line| {
        text.push_str(&line);
        text.push('\n');
        text
    })
}

/// The last lines, with or without their styles.
fn shown(lines: &[u8], count: usize, ansi: bool) -> String {
    if ansi {
        signaltty_pty::tail_styled(lines, count)
    } else {
        signaltty_pty::tail_text(lines, count)
    }
}

/// Reads a cursor: which process it is of, and how far its reader had come.
///
/// # Errors
///
/// When it is no cursor, or of another process than `screen`.
pub(crate) fn after(
    text: Option<&str>,
    pane: PaneId,
    screen: Option<InstanceId>,
) -> Result<Option<Mark>, WireError> {
    let Some(text) = text else { return Ok(None) };
    let parts = || {
        let mut parts = text.splitn(4, ':');
        let instance = parts.next()?;
        let gone = parts.next()?.parse().ok()?;
        let shown = parts.next()?.parse().ok()?;
        let hash = u64::from_str_radix(parts.next()?, 16).ok()?;
        Some((instance, Mark { gone, shown, hash }))
    };
    let Some((instance, mark)) = parts() else {
        let message = "`after` is no cursor; give one as an earlier `pane.read` answered it";
        return Err(WireError::new(code::BAD_PARAMS, message));
    };
    if screen.is_none_or(|screen| screen.to_string() != instance) {
        let message = format!(
            "the cursor is of another process than the one that pane {pane} shows; read it \
             without a cursor first"
        );
        return Err(WireError::new(code::IDENTITY_CHANGED, message));
    }
    Ok(Some(mark))
}

fn cursor(instance: InstanceId, mark: Mark) -> String {
    format!("{instance}:{}:{}:{:x}", mark.gone, mark.shown, mark.hash)
}

/// `pane.read`, under way.
pub(crate) struct Reading {
    pub(crate) pane: PaneId,
    /// Whose lines they are, where that is known.
    pub(crate) screen: Option<InstanceId>,
    pub(crate) source: Source,
    pub(crate) ask: Ask,
    /// How many lines a process had that ended.
    pub(crate) end: Option<u64>,
}

/// Where the lines come from.
pub(crate) enum Source {
    Live(Option<oneshot::Receiver<Lines>>),
    /// Of a process that ended, not on the disk yet.
    Kept(Vec<u8>),
    Saved(oneshot::Receiver<Result<Tail, String>>),
}

impl Source {
    pub(crate) fn live(handle: &PaneHandle, ask: Ask) -> Self {
        let (done, lines) = oneshot::channel();
        Self::Live(handle.messages.try_send(PaneMessage::Read { ask, done }).ok().map(|()| lines))
    }
}

impl Reading {
    pub(crate) async fn text(self) -> Result<Value, WireError> {
        let Self { pane, screen, source, ask, end } = self;
        let (source, lines) = match source {
            Source::Live(lines) => {
                let lines = match lines {
                    Some(lines) => lines.await.ok(),
                    None => None,
                };
                let busy = || WireError::new(code::IO_ERROR, "the pane did not answer; try again");
                ("live", lines.ok_or_else(busy)?)
            }
            Source::Kept(tail) => ("saved", ask.of_tail(&tail, end)),
            Source::Saved(tail) => match tail.await {
                Ok(Ok(Tail::Saved(tail))) => ("saved", ask.of_tail(&tail, end)),
                Ok(Ok(Tail::Damaged)) => ("damaged", ask.of_tail(b"", end)),
                Ok(Ok(_)) => ("none", ask.of_tail(b"", end)),
                Ok(Err(error)) => return Err(WireError::new(code::IO_ERROR, error)),
                Err(_) => {
                    let message = "the saved output could not be read now; try again";
                    return Err(WireError::new(code::IO_ERROR, message));
                }
            },
        };
        let Lines { text, open, lost, changed, mark } = lines;
        Ok(to_value(PaneText {
            pane_id: pane.to_string(),
            source: source.to_owned(),
            text,
            cursor: screen.zip(mark).map(|(instance, mark)| cursor(instance, mark)),
            open,
            lost,
            changed,
        }))
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
