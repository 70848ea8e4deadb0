//! What a person sees while something takes long: on a terminal, and nothing in
//! a pipe.

use std::future::Future;
use std::io::Write as _;
use std::time::Duration;

use super::Context;

/// A line that says what is awaited, with something that moves.
#[derive(Debug)]
pub(crate) struct Spinner {
    watched: bool,
    text: String,
    shown: bool,
}

impl Spinner {
    pub(crate) fn new(context: &Context, text: String) -> Self {
        Self { watched: context.watched(), text, shown: false }
    }

    /// Shows it while `work` goes on, once that took long enough to wonder.
    pub(crate) async fn during<T>(mut self, work: impl Future<Output = T>) -> T {
        if !self.watched {
            return work.await;
        }
        tokio::pin!(work);
        let mut tick = tokio::time::interval_at(tokio::time::Instant::now() + PATIENCE, STEP);
        let mut frames = FRAMES.iter().cycle();
        loop {
            tokio::select! {
                result = &mut work => return result,
                _ = tick.tick() => {
                    if let Some(frame) = frames.next() {
                        self.shown = true;
                        write_progress(&format!("\r\x1b[K{frame} {}", self.text));
                    }
                }
            }
        }
    }
}

impl Drop for Spinner {
    fn drop(&mut self) {
        if self.shown {
            write_progress("\r\x1b[K");
        }
    }
}

/// Writes to standard error; a progress line that cannot be written is not worth
/// an error.
pub(crate) fn write_progress(text: &str) {
    let mut out = std::io::stderr().lock();
    let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
}

/// How long nothing is shown.
const PATIENCE: Duration = Duration::from_millis(300);

const STEP: Duration = Duration::from_millis(250);

/// In letters that every terminal has.
const FRAMES: [char; 4] = ['-', '\\', '|', '/'];
