//! When a prompt may be typed for a person, and when not any more.
//!
//! The agent must be in the foreground, must have asked for pastes in brackets,
//! as whoever reads prompts does, and its screen must be at rest. Whoever typed
//! first has the pane: nothing is typed then (C049).

use std::time::Duration;

use bytes::Bytes;
use signaltty_core::session::ContinueFailure;
use tokio::sync::oneshot;
use tokio::time::Instant;

use super::draft::Draft;

/// The screen was at rest for so long.
const QUIET: Duration = Duration::from_millis(500);

/// No longer is waited for that.
const GIVE_UP: Duration = Duration::from_secs(15);

/// How often a program that is not ready is looked at again.
const LOOK: Duration = Duration::from_millis(100);

/// Why nothing is typed behind what is there already.
const DRAFT: &str = "something is typed in the pane and not sent; send it, or clear it with Ctrl-C \
                     or Ctrl-U";

pub(super) type Typed = oneshot::Sender<Result<(), ContinueFailure>>;

/// What is known of a pane's terminal, and the prompt that waits.
pub(super) struct Guard {
    last_output: Instant,
    person_typed: bool,
    draft: Draft,
    waiting: Option<Waiting>,
}

struct Waiting {
    text: String,
    until: Instant,
    look_at: Instant,
    done: Typed,
}

/// The terminal when it is looked at.
#[derive(Debug, Clone, Copy)]
pub(super) struct Look {
    pub(super) foreground: bool,
    pub(super) takes_pastes: bool,
}

impl Guard {
    pub(super) fn new(now: Instant) -> Self {
        Self { last_output: now, person_typed: false, draft: Draft::default(), waiting: None }
    }

    /// The program printed something.
    pub(super) fn printed(&mut self, now: Instant) {
        self.last_output = now;
    }

    /// A person, or their script, wrote this into the pane.
    pub(super) fn person_typed(&mut self, bytes: &[u8]) {
        self.person_typed = true;
        self.draft.typed(bytes);
        self.refuse(ContinueFailure::PersonTyped);
    }

    /// A prompt is to be typed. `by_hand`: its person asked for it just now, so
    /// what they sent before is no objection. What they have not sent is: it would
    /// go along with the prompt.
    pub(super) fn ask(&mut self, text: String, by_hand: bool, done: Typed, now: Instant) {
        self.refuse(ContinueFailure::Refused("another prompt took its place".into()));
        if self.person_typed && !by_hand {
            let _ = done.send(Err(ContinueFailure::PersonTyped));
            return;
        }
        if self.draft.is_unsent() {
            let _ = done.send(Err(ContinueFailure::Refused(DRAFT.into())));
            return;
        }
        self.waiting = Some(Waiting { text, until: now + GIVE_UP, look_at: now, done });
    }

    /// The process is being stopped.
    pub(super) fn cancel(&mut self) {
        self.refuse(ContinueFailure::Ended);
    }

    fn refuse(&mut self, why: ContinueFailure) {
        if let Some(waiting) = self.waiting.take() {
            let _ = waiting.done.send(Err(why));
        }
    }

    /// When to look next.
    pub(super) fn look_at(&self) -> Option<Instant> {
        let waiting = self.waiting.as_ref()?;
        let rest = self.last_output + QUIET;
        Some(waiting.look_at.max(rest).min(waiting.until))
    }

    /// What to type now, if this is the moment; whoever waits is told then.
    pub(super) fn due(&mut self, now: Instant, look: Look) -> Option<Bytes> {
        let waiting = self.waiting.as_mut()?;
        let at_rest = now >= self.last_output + QUIET;
        if at_rest && look.foreground && look.takes_pastes {
            let Waiting { text, done, .. } = self.waiting.take()?;
            let _ = done.send(Ok(()));
            return Some(paste(&text));
        }
        if now >= waiting.until {
            let why = if look.foreground {
                ContinueFailure::NeverQuiet
            } else {
                ContinueFailure::NotInForeground
            };
            self.refuse(why);
            return None;
        }
        waiting.look_at = now + LOOK;
        None
    }
}

/// A text as a terminal gives a paste, and Enter.
fn paste(text: &str) -> Bytes {
    Bytes::from(format!("\x1b[200~{text}\x1b[201~\r"))
}

#[cfg(test)]
mod tests {
    use tokio::sync::oneshot::Receiver;

    use super::*;

    const READY: Look = Look { foreground: true, takes_pastes: true };

    fn asked(by_hand: bool) -> (Guard, Receiver<Result<(), ContinueFailure>>, Instant) {
        let now = Instant::now();
        let mut guard = Guard::new(now);
        let (done, answer) = oneshot::channel();
        guard.ask("Go on.".to_owned(), by_hand, done, now);
        (guard, answer, now)
    }

    #[test]
    fn s1_22_a_prompt_is_one_paste_and_enter_once_the_screen_rests() {
        let (mut guard, mut answer, start) = asked(false);
        guard.printed(start + Duration::from_millis(400));
        assert_eq!(guard.look_at(), Some(start + Duration::from_millis(900)));
        assert_eq!(guard.due(start + Duration::from_millis(899), READY), None);
        assert!(answer.try_recv().is_err(), "nobody was told yet");
        let typed = guard.due(start + Duration::from_millis(900), READY);
        assert_eq!(typed.unwrap(), "\x1b[200~Go on.\x1b[201~\r");
        assert_eq!(answer.try_recv().unwrap(), Ok(()));
        // Once.
        assert_eq!((guard.look_at(), guard.due(start + GIVE_UP, READY)), (None, None));
    }

    #[test]
    fn a_person_who_types_first_has_the_pane() {
        let (mut guard, mut answer, start) = asked(false);
        guard.person_typed(b"x\r");
        assert_eq!(answer.try_recv().unwrap(), Err(ContinueFailure::PersonTyped));
        assert_eq!(guard.due(start + GIVE_UP, READY), None);
        // Also where it was before the prompt; unless they asked for it.
        for (by_hand, refused) in [(false, true), (true, false)] {
            let (done, mut answer) = oneshot::channel();
            guard.ask("Go on.".to_owned(), by_hand, done, start);
            assert_eq!(answer.try_recv().is_ok(), refused);
        }
    }

    #[test]
    fn s1_22_nothing_is_typed_behind_a_draft_even_by_hand() {
        let (mut guard, _answer, start) = asked(false);
        guard.person_typed(b"half a draft");
        let ask = |guard: &mut Guard| {
            let (done, mut answer) = oneshot::channel();
            guard.ask("Go on.".to_owned(), true, done, start);
            answer.try_recv()
        };
        assert_eq!(ask(&mut guard).unwrap(), Err(ContinueFailure::Refused(DRAFT.into())));
        assert_eq!(guard.due(start + GIVE_UP, READY), None);
        guard.person_typed(b"\r");
        assert!(ask(&mut guard).is_err(), "it is sent: the prompt waits for its moment");
    }

    #[test]
    fn what_is_not_ready_is_given_up_in_time_and_nothing_typed() {
        let shell = Look { foreground: false, ..READY };
        let question = Look { takes_pastes: false, ..READY };
        for (look, why) in
            [(shell, ContinueFailure::NotInForeground), (question, ContinueFailure::NeverQuiet)]
        {
            let (mut guard, mut answer, start) = asked(false);
            let mut now = start;
            while let Some(at) = guard.look_at() {
                now = now.max(at);
                assert_eq!(guard.due(now, look), None);
            }
            assert_eq!(answer.try_recv().unwrap(), Err(why));
            assert!(now <= start + GIVE_UP);
        }
        // A spinner never rests.
        let (mut guard, mut answer, start) = asked(false);
        let mut now = start;
        while guard.look_at().is_some() {
            now += Duration::from_millis(80);
            guard.printed(now);
            assert_eq!(guard.due(now, READY), None);
        }
        assert_eq!(answer.try_recv().unwrap(), Err(ContinueFailure::NeverQuiet));
    }
}
