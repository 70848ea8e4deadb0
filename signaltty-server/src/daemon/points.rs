//! Named points of a start at which a test has the server killed.
//!
//! `SIGNALTTY_TEST_KILL_AT=NAME` makes the server end itself by SIGKILL when it
//! comes to that point. Only a build with debug assertions looks at it, so a
//! release has no such thing.

use rustix::process::{Signal, getpid, kill_process};
use signaltty_core::save::{Durability, SaveToken};
use signaltty_core::session::{Effect, Event as Told};

use super::event::Event;

const VARIABLE: &str = "SIGNALTTY_TEST_KILL_AT";

/// Looks for the point that was asked for.
#[derive(Debug, Default)]
pub(crate) struct Points {
    wanted: Option<String>,
    /// An agent took a continuation.
    accepted: bool,
    /// The save that clears the marker of that one.
    clears: Option<SaveToken>,
}

impl Points {
    pub(crate) fn of_this_process() -> Self {
        let wanted = cfg!(debug_assertions).then(|| std::env::var(VARIABLE).ok()).flatten();
        Self { wanted, ..Self::default() }
    }

    /// Looks at an effect before it is performed.
    pub(crate) fn before(&mut self, effect: &Effect) {
        if self.wanted.is_none() {
            return;
        }
        let point = match effect {
            // The marker is made and not on the disk.
            Effect::Save { token, durability: Durability::Synced } => {
                if self.accepted {
                    self.clears.get_or_insert(*token);
                }
                "begun"
            }
            // It is on the disk, and nothing runs.
            Effect::Preflight { request: None, .. } => "marked",
            // Its process runs and has shown nothing.
            Effect::Observe { .. } => "spawned",
            Effect::Publish(Told::ResumeStage { stage: "continuing", .. }) => "proven",
            // That the prompt is about to go out is on the disk.
            Effect::Continue { .. } => "promised",
            Effect::Publish(Told::ContinuationAccepted { .. }) => {
                self.accepted = true;
                "accepted"
            }
            // Told to people, and not on the disk.
            Effect::Publish(Told::ContinuationFailed { .. }) => "refused",
            Effect::Publish(Told::ResumeVerdict { .. }) => "judged",
            // Turns are marked on the disk for a planned restart.
            Effect::Publish(Told::TurnsMarked { .. }) => "planned",
            _ => return,
        };
        self.reach(point);
    }

    /// Looks at an event before it is taken.
    pub(crate) fn at(&self, event: &Event) {
        match event {
            Event::Continued { result: Ok(_), .. } => self.reach("sent"),
            Event::Saved { token, outcome }
                if Some(*token) == self.clears && outcome.result.is_ok() =>
            {
                self.reach("cleared");
            }
            _ => {}
        }
    }

    fn reach(&self, point: &str) {
        if self.wanted.as_deref() == Some(point) {
            // The kernel does not give control back.
            let _ = kill_process(getpid(), Signal::KILL);
        }
    }
}
