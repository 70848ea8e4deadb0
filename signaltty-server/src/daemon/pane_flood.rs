//! Reading a pane that prints without an end.
//!
//! Such a pane gets a thread to itself for a moment at a time. The runtime goes on
//! with everybody else on another one, so a key in another pane waits for the
//! kernel's scheduler and not for the end of a round; and the flood itself needs no
//! turn of the runtime for each few KiB. It comes back at once where somebody
//! wants something of this pane.

use std::time::{Duration, Instant};

use tokio::runtime::{Handle, RuntimeFlavor};
use tokio::sync::{Semaphore, mpsc};

use super::pane_screen::{READ_AT_ONCE, with_buffer};
use super::pane_task::{Pane, PaneMessage};

/// How long a pane keeps its thread at most.
const MOMENT: Duration = Duration::from_millis(10);

/// How long it waits for more before it gives the thread back.
const GAP: Duration = Duration::from_millis(1);

/// Panes that may have a thread at the same time. Further ones take turns on the
/// threads of the runtime.
static THREADS: Semaphore = Semaphore::const_new(4);

impl Pane {
    /// Goes on reading after a round that read much.
    pub(super) async fn read_on(&mut self, messages: &mpsc::Receiver<PaneMessage>) {
        let alone = Handle::current().runtime_flavor() != RuntimeFlavor::MultiThread;
        match THREADS.try_acquire() {
            Ok(_thread) if !alone && self.input.front().is_none() => {
                tokio::task::block_in_place(|| self.read_for_a_moment(messages));
            }
            // Else it would keep its thread for a hundred rounds, and everybody who
            // waits for that thread.
            _ => tokio::task::yield_now().await,
        }
    }

    fn read_for_a_moment(&mut self, messages: &mpsc::Receiver<PaneMessage>) {
        let until = Instant::now() + MOMENT;
        let wanted = |pane: &Self| !messages.is_empty() || pane.size.has_changed().unwrap_or(true);
        while !wanted(self) && Instant::now() < until {
            let read = with_buffer(|buffer| {
                let room = buffer.len().min(READ_AT_ONCE);
                let buffer = buffer.get_mut(..room).unwrap_or_default();
                let count = self.pty.read_now(buffer)?;
                self.output(buffer.get(..count).unwrap_or_default());
                Ok::<_, std::io::Error>(count)
            });
            let more = match read {
                Ok(count) => count > 0,
                Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => {
                    self.pty.readable_within(GAP).unwrap_or(false)
                }
                // The next round of the task meets it again.
                Err(_) => false,
            };
            if !more {
                return;
            }
        }
    }
}
