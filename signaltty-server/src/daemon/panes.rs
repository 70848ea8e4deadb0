//! From an instance to its task, and starting both.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use signaltty_core::id::{InstanceId, PaneId};
use signaltty_pty::{Child, HistoryLimit, ProcessId, Pty, Screen, Size};
use tokio::sync::{Semaphore, mpsc, watch};

use super::directory::Directory;
use super::event::Event;
use super::kept::Kept;
use super::looking::Looking;
use super::pane_input::{INPUT_BYTES, InputError};
use super::pane_task::{MESSAGES, PaneMessage, PaneTask};

/// Says in a screen where the output of an earlier process ends (C044).
pub(crate) const SEPARATOR: &str = "──── before this start ────";

/// The least and the largest terminal: a wide character fits, and nobody makes
/// the server keep a screen of gigabytes.
const SIZES: (Size, Size) = (Size::new(2, 1), Size::new(1_000, 500));

/// The size that a terminal gets where this one is asked for.
pub(crate) fn terminal_size(cols: u16, rows: u16) -> Size {
    let (least, most) = SIZES;
    Size::new(cols.clamp(least.cols, most.cols), rows.clamp(least.rows, most.rows))
}

/// A pane's process as the loop sees it.
#[derive(Clone)]
pub(crate) struct PaneHandle {
    pub(crate) pane: PaneId,
    pub(crate) messages: mpsc::Sender<PaneMessage>,
    /// The size that its terminal shall have. Only the last one counts, so it
    /// needs no room in a queue.
    pub(crate) size: watch::Sender<Size>,
    /// Room for what clients type. They wait for it, in turn.
    pub(crate) room: Arc<Semaphore>,
    pub(crate) child: Arc<Child>,
    /// It printed something that is not on the disk.
    pub(crate) printed: bool,
    pub(crate) looking: Looking,
    pub(crate) directory: Directory,
}

/// The panes that have a process.
#[derive(Default)]
pub(crate) struct Panes {
    by_instance: BTreeMap<InstanceId, PaneHandle>,
    /// The last process of a pane without one, and how many lines it left, for
    /// those who read on.
    left: BTreeMap<PaneId, (InstanceId, u64)>,
    pub(crate) kept: Kept,
}

/// How a pane's task is set up.
pub(crate) struct Start {
    pub(crate) pane: PaneId,
    pub(crate) instance: InstanceId,
    pub(crate) size: Size,
    /// The tail of an earlier process.
    pub(crate) earlier: Option<Vec<u8>>,
    pub(crate) history_lines: usize,
    pub(crate) tail_bytes: usize,
}

impl Panes {
    /// Starts the task of a process.
    pub(crate) fn start(
        &mut self,
        start: Start,
        pty: Pty,
        child: Child,
        events: mpsc::Sender<Event>,
    ) -> std::io::Result<()> {
        let pty = pty.register()?;
        let child = Arc::new(child);
        let limit = HistoryLimit { lines: start.history_lines, ..HistoryLimit::default() };
        let mut screen = Screen::new(start.size, limit);
        if let Some(earlier) = &start.earlier {
            screen.seed(earlier, SEPARATOR);
        }
        let (send, receive) = mpsc::channel(MESSAGES);
        let (size, wanted_size) = watch::channel(start.size);
        let task = PaneTask {
            instance: start.instance,
            pty,
            child: Arc::clone(&child),
            screen,
            messages: receive,
            size: wanted_size,
            events,
            tail_bytes: start.tail_bytes,
        };
        tokio::spawn(task.run());
        let handle = PaneHandle {
            pane: start.pane,
            messages: send,
            size,
            room: Arc::new(Semaphore::new(INPUT_BYTES)),
            child,
            // Its screen begins with what was kept, which is saved with it.
            printed: self.kept.forget(start.pane),
            looking: Looking::default(),
            directory: Directory::default(),
        };
        self.by_instance.insert(start.instance, handle);
        self.left.remove(&start.pane);
        Ok(())
    }

    pub(crate) fn of(&self, instance: InstanceId) -> Option<&PaneHandle> {
        self.by_instance.get(&instance)
    }

    pub(crate) fn of_mut(&mut self, instance: InstanceId) -> Option<&mut PaneHandle> {
        self.by_instance.get_mut(&instance)
    }

    /// A process ended: its last output, where it is known, is kept until it is
    /// on the disk.
    pub(crate) fn ended(&mut self, instance: InstanceId, tail: Option<Vec<u8>>, lines: u64) {
        if let Some(handle) = self.by_instance.remove(&instance)
            && let Some(tail) = tail
        {
            self.left.insert(handle.pane, (instance, lines));
            self.kept.keep(handle.pane, tail);
        }
    }

    /// The process that ran last in a pane without one, and how many lines it
    /// left; of what an earlier server ran nothing is known.
    pub(crate) fn left(&self, pane: PaneId) -> Option<(InstanceId, u64)> {
        self.left.get(&pane).copied()
    }

    /// The pane is closed.
    pub(crate) fn gone(&mut self, pane: PaneId) {
        self.left.remove(&pane);
        self.kept.forget(pane);
    }

    /// What was handed over to be saved was not: it is to be saved again.
    pub(crate) fn print_again(&mut self) {
        for handle in self.by_instance.values_mut() {
            handle.printed = true;
        }
    }

    /// Live panes that printed since their output was last saved.
    pub(crate) fn take_printed(&mut self) -> Vec<PaneHandle> {
        let printed = self.by_instance.values_mut().filter(|handle| handle.printed);
        printed
            .map(|handle| {
                handle.printed = false;
                handle.clone()
            })
            .collect()
    }

    pub(crate) fn children(&self) -> Vec<Arc<Child>> {
        self.by_instance.values().map(|handle| Arc::clone(&handle.child)).collect()
    }
}

impl PaneHandle {
    /// Types into the pane, or says why not.
    pub(crate) fn input(
        &self,
        bytes: Bytes,
    ) -> Option<tokio::sync::oneshot::Receiver<Result<(), InputError>>> {
        let (done, receiver) = tokio::sync::oneshot::channel();
        self.messages.try_send(PaneMessage::Input { bytes, done }).ok()?;
        Some(receiver)
    }
}

/// Processes as a person looks for them.
pub(crate) fn listed(processes: &[ProcessId]) -> String {
    let pids: Vec<_> = processes.iter().map(|process| process.pid.to_string()).collect();
    pids.join(", ")
}

/// Stops a child and everything in its session. The pane's task sees the end.
pub(crate) fn stop(child: Arc<Child>, grace: Duration) {
    tokio::spawn(async move {
        match child.stop(grace).await {
            Ok(report) => {
                if !report.remaining.is_empty() {
                    tracing::error!(
                        pid = child.pid(),
                        "processes of a closed pane go on: {}",
                        listed(&report.remaining)
                    );
                }
                if !report.escaped.is_empty() {
                    tracing::warn!(
                        pid = child.pid(),
                        "processes left the pane's session and go on: {}",
                        listed(&report.escaped)
                    );
                }
            }
            Err(error) => tracing::error!(pid = child.pid(), "stopping a process failed: {error}"),
        }
    });
}

#[cfg(test)]
mod tests {
    use bytes::BytesMut;
    use signaltty_pty::SpawnSpec;
    use tokio::net::UnixStream;

    use super::super::attach::{self, Attachment};
    use super::super::pane_task::BUG;
    use super::*;
    use crate::protocol::frame::{Frame, FrameReader};

    #[test]
    fn d31_a_bug_in_what_serves_a_pane_ends_that_pane_visibly() {
        let spec = SpawnSpec {
            argv: vec!["/bin/cat".into()],
            cwd: "/".into(),
            env: Vec::new(),
            size: Size::default(),
        };
        let (pty, child) = signaltty_pty::spawn(&spec).unwrap();
        let test = async {
            let (events, mut receive) = mpsc::channel(16);
            let (pane, instance) = (PaneId::from_random([1; 10]), InstanceId::fake(7));
            let start = Start {
                pane,
                instance,
                size: Size::default(),
                earlier: None,
                history_lines: 10,
                tail_bytes: 100,
            };
            let mut panes = Panes::default();
            panes.start(start, pty, child, events.clone()).unwrap();
            let handle = panes.of(instance).unwrap().clone();
            let attachment = Attachment {
                pane,
                messages: handle.messages.clone(),
                room: Arc::clone(&handle.room),
                read_only: false,
                history: 0,
                clipboard: false,
                background: false,
                reply: serde_json::Value::Null,
            };
            let attached = attachment.begin().await.unwrap();
            let (ours, theirs) = UnixStream::pair().unwrap();
            tokio::spawn(attach::serve(ours, BytesMut::new(), attached, events));
            let mut frames = FrameReader::new(theirs, BytesMut::new());
            assert!(matches!(frames.next().await, Ok(Some(Frame::Repaint(_)))));

            handle.messages.send(PaneMessage::Fail).await.ok().unwrap();
            assert_eq!(frames.next().await.unwrap(), Some(Frame::Notice(Bytes::from(BUG))));
            assert!(matches!(frames.next().await, Ok(Some(Frame::Exit(_)))));
            let (status, last_line, tail) = loop {
                if let Event::Ended { instance: ended, status, last_line, tail, .. } =
                    receive.recv().await.unwrap()
                {
                    assert_eq!(ended, instance);
                    break (status, last_line, tail);
                }
            };
            assert!(status.signal.is_some(), "{status:?}");
            assert_eq!(last_line.as_deref(), Some(BUG));
            assert_eq!(handle.child.try_wait().unwrap(), Some(status), "it was waited for");

            // Its screen is lost; what was kept before is not.
            panes.kept.keep(pane, b"good".to_vec());
            panes.ended(instance, tail, 0);
            assert!(panes.of(instance).is_none());
            assert_eq!(panes.kept.of(pane).map(Vec::as_slice), Some(&b"good"[..]));
        };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime
            .block_on(async { tokio::time::timeout(Duration::from_secs(30), test).await })
            .unwrap();
    }
}
