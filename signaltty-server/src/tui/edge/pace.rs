//! When to draw.
//!
//! What panes print is drawn at most sixty times a second: in bursts of
//! [`BURST`], and steadily [`STEADY`] times. A key buys the frame that shows its
//! echo, so that typing is never held up by that. Panes beside the focused one
//! get at most half of the frames, and ten a second while somebody types.

use std::time::{Duration, Instant};

use super::super::model::Dirty;

const STEADY: u32 = 52;
const BURST: u32 = 8;
/// Frames that stay for the focused pane.
const RESERVE: u32 = 3;
const BACKGROUND: Duration = Duration::from_millis(33);
/// The same while somebody types into the focused pane.
const BESIDE_TYPING: Duration = Duration::from_millis(100);
/// Frames that keys can have bought and not used.
const MOST_BOUGHT: u8 = 4;

/// A bucket of frames.
#[derive(Debug)]
pub(super) struct Pace {
    /// When the bucket was last empty, so to speak: it fills from there on.
    filled_from: Instant,
    /// When all panes were drawn last.
    last: Option<Instant>,
    bought: u8,
}

impl Pace {
    pub(super) fn new(now: Instant) -> Self {
        Self { filled_from: now - step() * BURST, last: None, bought: 0 }
    }

    /// A person pressed a key.
    pub(super) fn bought(&mut self) {
        self.bought = (self.bought + 1).min(MOST_BOUGHT);
    }

    /// When to draw; `None` for now.
    pub(super) fn when(&self, dirty: Dirty, now: Instant, typing: bool) -> Option<Instant> {
        let at = match dirty {
            Dirty::No => return None,
            Dirty::Foreground if self.bought > 0 => return None,
            Dirty::Foreground => self.filled_from + step(),
            Dirty::Background => {
                let rest = if typing { BESIDE_TYPING } else { BACKGROUND };
                let rested = self.last.map_or(now, |last| last + rest);
                rested.max(self.filled_from + step() * (RESERVE + 1))
            }
        };
        (at > now).then_some(at)
    }

    /// A frame was drawn, of all panes or of the focused one alone.
    pub(super) fn drawn(&mut self, now: Instant, all: bool) {
        if all {
            self.last = Some(now);
        }
        if self.bought > 0 {
            self.bought -= 1;
            return;
        }
        // A full bucket does not fill further.
        let full = now.checked_sub(step() * BURST).unwrap_or(self.filled_from);
        self.filled_from = self.filled_from.max(full) + step();
    }
}

fn step() -> Duration {
    Duration::from_secs(1) / STEADY
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Frames in one second of constant change.
    fn frames(dirty: Dirty, typing: bool, mut pace: Pace, start: Instant) -> usize {
        let (mut now, mut count) = (start, 0);
        while now < start + Duration::from_secs(1) {
            match pace.when(dirty, now, typing) {
                Some(later) => now = later,
                None => {
                    pace.drawn(now, true);
                    count += 1;
                }
            }
        }
        count
    }

    #[test]
    fn a_pane_that_floods_is_drawn_sixty_times_a_second_at_most() {
        let start = Instant::now();
        let count = frames(Dirty::Foreground, false, Pace::new(start), start);
        assert!((50..=60).contains(&count), "{count}");
        let count = frames(Dirty::Background, false, Pace::new(start), start);
        assert!((20..=31).contains(&count), "{count}");
        let count = frames(Dirty::Background, true, Pace::new(start), start);
        assert!((8..=11).contains(&count), "{count}");
    }

    #[test]
    fn a_key_is_echoed_at_once_however_much_was_drawn() {
        let start = Instant::now();
        let mut pace = Pace::new(start);
        while pace.when(Dirty::Foreground, start, true).is_none() {
            pace.drawn(start, true);
        }
        pace.bought();
        assert_eq!(pace.when(Dirty::Foreground, start, true), None);
        pace.drawn(start, true);
        assert!(pace.when(Dirty::Foreground, start, true).is_some());
    }
}
