//! When a pane is looked at once more, without having printed anything new.
//!
//! What an agent writes may come after what it prints, and a look may be slow or
//! come to nothing. So one that fell silent is looked at some more times, each
//! after twice the pause of the one before: a few times where its agent rests,
//! and for some minutes where it is shown at work or did not say what it does.
//! Then only new output is a reason. A pane without an agent is left alone.

use std::time::Duration;

use tokio::task::AbortHandle;

/// What a look left to be seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Left {
    /// Nothing: no agent is followed.
    Nothing,
    /// The agent rests. A short turn may still be written.
    Little,
    /// The agent is shown at work, or the look came to nothing.
    Much,
}

/// The looks at one pane.
#[derive(Debug, Clone, Default)]
pub(crate) struct Looking {
    /// Somebody looks.
    runs: bool,
    /// There was a reason to look since that began.
    missed: bool,
    /// How many more were made since its last output.
    more: u32,
    /// Until the next one.
    timer: Option<AbortHandle>,
}

impl Looking {
    /// The pane printed.
    pub(crate) fn printed(&mut self) {
        self.more = 0;
    }

    /// Whether to begin a look: not while somebody looks, and then one follows.
    pub(crate) fn begin(&mut self) -> bool {
        let free = !self.runs;
        self.missed |= self.runs;
        self.runs = true;
        free
    }

    /// A look has ended.
    pub(crate) fn ended(&mut self) {
        self.runs = false;
    }

    /// How long until the next look, where there is to be one.
    pub(crate) fn next(&mut self, left: Left) -> Option<Duration> {
        if std::mem::take(&mut self.missed) {
            return Some(SOON);
        }
        let most = match left {
            Left::Nothing => 0,
            Left::Little => FEW,
            Left::Much => MANY,
        };
        let pause = FIRST.checked_mul(1 << self.more).filter(|_| self.more < most)?;
        self.more += 1;
        Some(pause)
    }

    /// The next look will come with this timer, and not with the one before.
    pub(crate) fn comes_with(&mut self, timer: Option<AbortHandle>) {
        if let Some(before) = std::mem::replace(&mut self.timer, timer) {
            before.abort();
        }
    }
}

/// From a look to the one for which there was a reason meanwhile.
const SOON: Duration = Duration::from_millis(250);

/// The first pause after the look that comes with silence.
const FIRST: Duration = Duration::from_secs(1);

/// The last of these pauses is of four seconds.
const FEW: u32 = 3;

/// The last of these is of about four minutes; together it is eight and a half.
const MANY: u32 = 9;

#[cfg(test)]
mod tests {
    use super::*;

    fn pauses(looking: &mut Looking, left: Left) -> Vec<u64> {
        let mut pauses = Vec::new();
        while let Some(pause) = looking.next(left) {
            pauses.push(pause.as_secs());
            assert!(looking.begin());
            looking.ended();
        }
        pauses
    }

    #[test]
    fn d22_a_pane_at_rest_is_left_alone_after_a_few_looks() {
        let mut looking = Looking::default();
        assert_eq!(pauses(&mut looking, Left::Nothing), [0; 0]);
        assert_eq!(pauses(&mut looking, Left::Little), [1, 2, 4]);
        assert_eq!(pauses(&mut looking, Left::Much), [8, 16, 32, 64, 128, 256]);
        assert_eq!(pauses(&mut looking, Left::Much), [0; 0], "only what it prints is a reason");
        looking.printed();
        assert_eq!(pauses(&mut looking, Left::Little), [1, 2, 4]);
    }

    #[test]
    fn d22_a_reason_during_a_look_has_one_follow_at_once() {
        let mut looking = Looking::default();
        assert!(looking.begin());
        assert!(!looking.begin() && !looking.begin(), "one at a time");
        looking.ended();
        assert_eq!(looking.next(Left::Nothing), Some(SOON), "also of a shell");
        assert!(looking.begin());
        looking.ended();
        assert_eq!(looking.next(Left::Nothing), None, "once");
    }
}
