//! A journal that cannot be opened or written, and the way out.

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use signaltty_persist::journal::{Journal, JournalError};

use super::{Recorder, Shown};
use crate::daemon::clock::{rfc3339, wall};
use crate::daemon::event::Event;
use crate::daemon::publisher::Pending;
use crate::protocol::Health;

/// When the journal is tried again, and how long it had to wait before.
pub(super) struct Retry {
    pub(super) at: Instant,
    delay: Duration,
}

impl<F: Shown> Recorder<F> {
    pub(super) fn open(&mut self) {
        self.start.at = wall();
        match Journal::open(&self.dir, self.start) {
            Ok(opened) => {
                let mut problems = opened.remarks;
                let newer = !opened.clean && opened.last > self.start.floor;
                if newer {
                    problems.push(format!(
                        "the state was saved after event {}; what events up to {} say may not be \
                         part of it",
                        self.start.floor, opened.last
                    ));
                }
                for problem in &problems {
                    tracing::warn!("the journal: {problem}");
                }
                if !problems.is_empty() {
                    self.tell(Health::ok(), problems);
                }
                let mut journal = opened.journal;
                if std::mem::take(&mut self.unrecorded) {
                    journal.break_off();
                }
                self.shared.published.store(journal.last_recorded(), Ordering::Release);
                self.journal = Some(journal);
                self.finish_recovery();
                if newer {
                    self.publish(vec![restored(self.start.floor, opened.last)]);
                }
            }
            Err(error) => self.failed(&error),
        }
    }

    pub(super) fn try_again(&mut self) {
        if self.journal.is_some() {
            self.finish_recovery();
        } else {
            self.open();
        }
    }

    fn finish_recovery(&mut self) {
        let Some(journal) = &mut self.journal else {
            return;
        };
        match journal.recover(wall()) {
            Ok(()) => {
                self.shared.published.store(journal.last_recorded(), Ordering::Release);
                self.unrecorded = false;
                if self.retry.take().is_some() {
                    tracing::info!("events are recorded again");
                    self.tell(Health::ok(), Vec::new());
                }
            }
            Err(error) => self.failed(&error),
        }
    }

    pub(super) fn failed(&mut self, error: &JournalError) {
        let first = self.retry.is_none();
        let delay = self.retry.as_ref().map_or(FIRST_DELAY, |retry| retry.delay * 2);
        let delay = delay.min(LONGEST_DELAY);
        self.retry = Some(Retry { at: Instant::now() + delay, delay });
        if first {
            let reason = error.reason().as_str();
            let detail = format!(
                "since {}: {error} ({reason}); events are published without numbers and the past \
                 cannot be replayed; {}",
                rfc3339(wall()),
                advice(reason)
            );
            tracing::error!("the journal: {detail}");
            self.tell(Health::with("degraded", detail), Vec::new());
        }
    }

    pub(super) fn tell(&self, health: Health, problems: Vec<String>) {
        // After the loop ended nobody asks.
        let _ = self.events.blocking_send(Event::Journal { health, problems });
    }
}

/// Tells whoever replays that the state went back to an earlier one (S0-54).
fn restored(journal_seq: u64, last_seq: u64) -> Pending {
    Pending {
        event: "session.restored",
        at: wall(),
        payload: format!("{{\"journal_seq\":{journal_seq},\"last_seq\":{last_seq}}}"),
        recorded: None,
        passing: false,
        dropped_before: 0,
    }
}

fn advice(reason: &str) -> &'static str {
    match reason {
        "no_space" => "make room on the disk, and recording goes on by itself",
        "read_only" | "denied" | "gone" => {
            "make the state directory writable again, and recording goes on by itself"
        }
        "refused" => "see `signaltty-server doctor`",
        _ => "check the disk; recording goes on by itself once it can",
    }
}

const FIRST_DELAY: Duration = Duration::from_secs(1);
const LONGEST_DELAY: Duration = Duration::from_secs(60);
