//! The screen of a pane, awake or asleep, and the memory that reading takes.
//!
//! A pane that nobody looks at and that prints nothing keeps no cells. The time
//! at which it goes to sleep is the only timer of a quiet pane, and is over once
//! it sleeps.

use std::cell::RefCell;
use std::time::Duration;

use signaltty_pty::{Asleep, HistoryLimit, READ_BUFFER, Screen, ScreenEvent, Size};
use tokio::time::Instant;

use super::trim::trim_soon;

/// A pane sleeps once it was quiet for so long.
const SLEEP_AFTER: Duration = Duration::from_millis(700);

/// Bytes that are taken and parsed in one round. More of them would do better
/// for this pane, and hold up the next one on the same thread.
pub(super) const READ_AT_ONCE: usize = 16 * 1024;

/// The same for a pane that nobody looks at: whoever types in another one waits
/// for such a round, and nobody sees that there are more of them.
pub(super) const READ_UNSEEN: usize = 8 * 1024;

thread_local! {
    /// Panes read in turn, and what was read is taken before the next one reads.
    static BUFFER: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// Lends the buffer of this thread.
pub(super) fn with_buffer<R>(use_it: impl FnOnce(&mut [u8]) -> R) -> R {
    BUFFER.with(|buffer| match buffer.try_borrow_mut() {
        Ok(mut buffer) => {
            buffer.resize(READ_BUFFER, 0);
            use_it(&mut buffer)
        }
        // Nobody lends it twice.
        Err(_) => use_it(&mut vec![0; READ_BUFFER]),
    })
}

/// See the module.
pub(super) struct PaneScreen {
    state: State,
    /// When it may sleep; `None` while it sleeps.
    sleep_at: Option<Instant>,
}

enum State {
    Awake(Box<Screen>),
    Asleep(Box<Asleep>),
}

impl PaneScreen {
    pub(super) fn new(screen: Screen) -> Self {
        let sleep_at = Some(Instant::now() + SLEEP_AFTER);
        Self { state: State::Awake(Box::new(screen)), sleep_at }
    }

    /// The screen, woken where it slept. It sleeps again when it was quiet.
    pub(super) fn awake(&mut self) -> &mut Screen {
        if let State::Asleep(_) = self.state {
            let nothing = Screen::new(Size::new(2, 1), HistoryLimit::default());
            let before = std::mem::replace(&mut self.state, State::Awake(Box::new(nothing)));
            if let State::Asleep(asleep) = before {
                self.state = State::Awake(Box::new(asleep.wake()));
            }
            self.sleep_at = Some(Instant::now() + SLEEP_AFTER);
        }
        match &mut self.state {
            State::Awake(screen) => screen,
            State::Asleep(_) => unreachable!("it was woken"),
        }
    }

    /// What the program told its terminal. A sleeping one told nothing.
    pub(super) fn take_events(&mut self) -> Vec<ScreenEvent> {
        match &mut self.state {
            State::Awake(screen) => screen.take_events(),
            State::Asleep(_) => Vec::new(),
        }
    }

    pub(super) fn sleep_at(&self) -> Option<Instant> {
        self.sleep_at
    }

    /// It printed, so it stays awake for a while.
    pub(super) fn printed(&mut self, now: Instant) {
        self.sleep_at = Some(now + SLEEP_AFTER);
    }

    /// Puts it to sleep, unless somebody looks at it or a sequence is under way.
    /// It is tried again at the next output or look.
    pub(super) fn sleep(&mut self, unwatched: bool) {
        self.sleep_at = None;
        if !unwatched {
            return;
        }
        let nothing = Screen::new(Size::new(2, 1), HistoryLimit::default());
        let before = std::mem::replace(&mut self.state, State::Awake(Box::new(nothing)));
        self.state = match before {
            State::Awake(screen) => match screen.sleep() {
                Ok(asleep) => {
                    trim_soon();
                    State::Asleep(Box::new(asleep))
                }
                Err(screen) => State::Awake(screen),
            },
            asleep @ State::Asleep(_) => asleep,
        };
    }

    /// The last client left: nobody looks any more.
    pub(super) fn left(&mut self) {
        if matches!(self.state, State::Awake(_)) {
            self.sleep_at = Some(Instant::now() + SLEEP_AFTER);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn printed(text: &[u8]) -> PaneScreen {
        let mut screen = Screen::new(Size::new(40, 5), HistoryLimit::default());
        screen.advance(text);
        PaneScreen::new(screen)
    }

    #[test]
    fn a_quiet_pane_sleeps_without_a_timer_and_wakes_as_it_was() {
        let mut pane = printed(b"one\r\n\x1b[1;31mred\x1b[0m \x1b[?2004h");
        assert!(pane.sleep_at().is_some());
        let shown = pane.awake().tail(1_000);
        pane.sleep(true);
        assert!(matches!(pane.state, State::Asleep(_)));
        assert_eq!(pane.sleep_at(), None);
        assert_eq!(pane.awake().tail(1_000), shown);
        assert!(pane.awake().bracketed_paste());
        assert!(pane.sleep_at().is_some(), "it sleeps again");
    }

    #[test]
    fn a_pane_that_is_looked_at_or_in_a_sequence_stays_awake() {
        let mut pane = printed(b"text");
        pane.sleep(false);
        assert!(matches!(pane.state, State::Awake(_)));
        pane.left();
        assert!(pane.sleep_at().is_some(), "once nobody looks any more");
        let mut pane = printed(b"text\x1b[1;3");
        pane.sleep(true);
        assert!(matches!(pane.state, State::Awake(_)));
        pane.awake().advance(b"1mred");
        assert!(pane.awake().tail(100).contains("31mred"), "{:?}", pane.awake().tail(100));
    }
}
