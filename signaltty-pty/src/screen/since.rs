//! Reading on from where an earlier reader stopped.
//!
//! Lines are numbered from the first one that the screen ever had, as they leave
//! it. A reader may have seen lines that were still on the screen and that the
//! program changed afterwards; so a [`Mark`] also says what they were.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use super::Screen;

/// How far a reader has come. Means something to the same screen only, or to
/// the lines that it left behind when its program ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mark {
    /// Lines that had left the screen, those that are forgotten included.
    pub gone: u64,
    /// Lines after them that were still on the screen and had ended.
    pub shown: u64,
    /// Tells whether those are what they were.
    pub hash: u64,
}

/// What a reader has not seen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Since {
    /// Lines that have ended, oldest first, with their styles.
    pub lines: Vec<String>,
    /// The line that the cursor is in, and what stands below it; of no line that
    /// the mark counts. Empty while the alternate screen is shown.
    pub open: Vec<String>,
    /// Lines that nobody can read any more.
    pub lost: u64,
    /// Lines that had been read were changed on the screen; they come again.
    pub changed: bool,
    /// To read on from here.
    pub mark: Mark,
}

impl Screen {
    /// What came after `mark`; everything there is without one. Of the alternate
    /// screen nothing is told: what stands there is drawn, not printed.
    #[must_use]
    pub fn since(&self, mark: Option<Mark>) -> Since {
        let shown = self.shown_lines();
        let now = self.mark_of(&shown);
        let history = self.history();
        let (first, gone, end) = (history.dropped(), now.gone, now.lines());
        let line = |number: u64| -> Option<&str> {
            match number.checked_sub(gone) {
                Some(at) => shown.get(usize::try_from(at).ok()?).map(String::as_str),
                None => history.line(usize::try_from(number.checked_sub(first)?).ok()?),
            }
        };
        let primary = self.parked.as_ref().map_or(shown.len(), |parked| parked.lines.len());
        let ended = usize::try_from(now.shown).unwrap_or(usize::MAX);
        let mut since = Since {
            open: shown.get(ended..primary).unwrap_or_default().to_vec(),
            mark: now,
            lines: Vec::new(),
            lost: 0,
            changed: false,
        };
        let read = mark.unwrap_or(Mark::at(first));
        let mut from = read.lines().min(end);
        // Lines that are not there any more cannot have been changed.
        if read.gone >= first {
            let same = read.lines() <= end
                && hash((read.gone..read.lines()).filter_map(line)) == read.hash;
            if !same {
                from = read.gone.min(end);
                since.changed = read.shown > 0;
            }
        }
        since.lost = first.saturating_sub(from);
        since.lines = (from.max(first)..end).filter_map(line).map(str::to_owned).collect();
        since
    }

    /// To read on from here.
    #[must_use]
    pub fn mark(&self) -> Mark {
        self.mark_of(&self.shown_lines())
    }

    /// How many lines there are and were, those on the screen included; the same
    /// as where a [`tail`](Self::tail) ends.
    #[must_use]
    pub fn line_count(&self) -> u64 {
        self.history().dropped() + count(self.history().len()) + count(self.shown_lines().len())
    }

    fn mark_of(&self, shown: &[String]) -> Mark {
        let ended = self.ended(shown.len());
        let lines = shown.iter().take(ended).map(String::as_str);
        Mark {
            gone: self.history().dropped() + count(self.history().len()),
            shown: count(ended),
            hash: hash(lines),
        }
    }

    /// How many lines on the primary screen have ended: those above the one that
    /// the cursor is in.
    fn ended(&self, shown: usize) -> usize {
        if let Some(parked) = &self.parked {
            return parked.lines.len();
        }
        let above = self.view().rows().take(self.view().caret().row);
        above.filter(|row| !row.wrapped()).count().min(shown)
    }
}

impl Mark {
    /// Before the line of that number.
    #[must_use]
    pub fn at(line: u64) -> Self {
        Self { gone: line, shown: 0, hash: hash(std::iter::empty()) }
    }

    /// How many lines the reader has passed.
    #[must_use]
    pub fn lines(&self) -> u64 {
        self.gone.saturating_add(self.shown)
    }
}

fn count(lines: usize) -> u64 {
    u64::try_from(lines).unwrap_or(u64::MAX)
}

fn hash<'a>(lines: impl Iterator<Item = &'a str>) -> u64 {
    let mut hasher = DefaultHasher::new();
    lines.for_each(|line| line.hash(&mut hasher));
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::HistoryLimit;
    use crate::size::Size;

    fn screen() -> Screen {
        Screen::new(Size::new(20, 4), HistoryLimit { lines: 10, bytes: 1 << 20 })
    }

    /// Reads on; the lines, what is open, and how many are lost.
    fn read(screen: &Screen, mark: &mut Option<Mark>) -> (String, String, u64, bool) {
        let since = screen.since(*mark);
        *mark = Some(since.mark);
        (since.lines.join(" "), since.open.join(" "), since.lost, since.changed)
    }

    fn told(lines: &str, open: &str) -> (String, String, u64, bool) {
        (lines.to_owned(), open.to_owned(), 0, false)
    }

    #[test]
    fn each_line_comes_once_wherever_it_is_by_then() {
        let (mut screen, mut mark) = (screen(), None);
        assert_eq!(read(&screen, &mut mark), told("", ""));
        screen.advance(b"1\r\n2\r\n$ ");
        assert_eq!(read(&screen, &mut mark), told("1 2", "$"));
        assert_eq!(read(&screen, &mut mark), told("", "$"));
        screen.advance(b"ls\r\n3\r\n4\r\n5\r\n");
        assert_eq!(read(&screen, &mut mark), told("$ ls 3 4 5", ""));
        screen.advance(b"6");
        screen.resize(Size::new(10, 2));
        assert_eq!(read(&screen, &mut mark), told("", "6"));
        // A line that wraps is one.
        screen.advance(b"23456789012345\r\n7\r\n");
        assert_eq!(read(&screen, &mut mark), told("623456789012345 7", ""));
        // Clearing takes lines away that were read.
        screen.advance(b"8\r\n\x1b[H\x1b[2J9\r\n");
        assert_eq!(read(&screen, &mut mark), told("8 9", ""));
    }

    #[test]
    fn what_was_lost_or_changed_is_said() {
        let (mut screen, mut mark) = (screen(), None);
        screen.advance(b"a\r\n");
        read(&screen, &mut mark);
        for number in 0..20 {
            screen.advance(format!("{number}\r\n").as_bytes());
        }
        // Of 21 lines 3 are on the screen and 10 in the history.
        let (lines, _, lost, changed) = read(&screen, &mut mark);
        assert_eq!((lines.split(' ').next(), lost, changed), (Some("7"), 7, false));
        // The last line but one is written anew.
        screen.advance(b"\x1b[2A\rnew\x1b[2B\r");
        let (lines, _, lost, changed) = read(&screen, &mut mark);
        assert_eq!((&*lines, lost, changed), ("17 new 19", 0, true));
        screen.advance(b"20\r\n");
        screen.forget();
        screen.advance(b"21\r\n");
        let (lines, _, lost, _) = read(&screen, &mut mark);
        assert!(lines.ends_with("21") && !lines.contains("20"), "{lines:?} {lost}");
        screen.advance(b"22\r\n\x1b[3J");
        assert_eq!(read(&screen, &mut mark).0, "22");
    }

    #[test]
    fn a_full_screen_program_hides_nothing_and_adds_nothing() {
        let (mut screen, mut mark) = (screen(), None);
        screen.advance(b"one\r\n$ vi");
        assert_eq!(read(&screen, &mut mark), told("one", "$ vi"));
        screen.advance(b"\r\n\x1b[?1049h\x1b[Hdrawn\r\nmore");
        assert_eq!(read(&screen, &mut mark), told("$ vi", ""));
        screen.advance(b"\x1b[?1049lback\r\n");
        assert_eq!(read(&screen, &mut mark), told("back", ""));
    }

    #[test]
    fn a_mark_of_nowhere_does_not_lead_astray() {
        let mut screen = screen();
        screen.advance(b"1\r\n2\r\n");
        let far = Mark { gone: u64::MAX / 2, shown: u64::MAX, hash: 1 };
        let since = screen.since(Some(far));
        assert_eq!((since.lines.len(), since.lost), (0, 0));
        let wrong = Mark { gone: 0, shown: 1, hash: 1 };
        assert_eq!(screen.since(Some(wrong)).lines, ["1", "2"]);
    }
}
