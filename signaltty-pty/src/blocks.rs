//! A queue of lines without a memory allocation for each.
//!
//! Lines are short and there are many of them in many panes, so they share
//! blocks: a line costs its bytes and four more. A block is freed as a whole when
//! its last line is gone.

use std::collections::VecDeque;

/// Lines, oldest first.
#[derive(Debug, Clone, Default)]
pub(crate) struct Blocks {
    blocks: VecDeque<Block>,
    /// Lines of the first block that are gone already.
    skipped: usize,
    lines: usize,
    bytes: usize,
}

#[derive(Debug, Clone, Default)]
struct Block {
    text: String,
    /// Where each line ends in the text.
    ends: Vec<u32>,
}

impl Blocks {
    pub(crate) fn len(&self) -> usize {
        self.lines
    }

    /// How many bytes the lines have together.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Gives back memory that further lines might need.
    pub(crate) fn settle(&mut self) {
        if let Some(open) = self.blocks.back_mut() {
            open.text.shrink_to_fit();
            open.ends.shrink_to_fit();
        }
        self.blocks.shrink_to_fit();
    }

    pub(crate) fn push_back(&mut self, line: &str) {
        let fits = |block: &Block| block.text.len() + line.len() <= BLOCK;
        if !self.blocks.back().is_some_and(fits) {
            if let Some(full) = self.blocks.back_mut() {
                full.text.shrink_to_fit();
                full.ends.shrink_to_fit();
            }
            self.blocks.push_back(Block::default());
        }
        if let Some(block) = self.blocks.back_mut() {
            block.text.push_str(line);
            // A line is at most a little longer than `line::MAX_LINE`.
            block.ends.push(u32::try_from(block.text.len()).unwrap_or(u32::MAX));
            self.lines += 1;
            self.bytes += line.len();
        }
    }

    /// Removes the oldest line; says whether there was one.
    pub(crate) fn pop_front(&mut self) -> bool {
        let Some(block) = self.blocks.front() else {
            return false;
        };
        self.bytes -= block.line(self.skipped).map_or(0, str::len);
        self.lines -= 1;
        self.skipped += 1;
        if self.skipped == block.ends.len() {
            self.blocks.pop_front();
            self.skipped = 0;
        }
        true
    }

    /// The line at a position, without a look at those before it.
    pub(crate) fn get(&self, at: usize) -> Option<&str> {
        let mut at = at + self.skipped;
        for block in &self.blocks {
            if let Some(line) = block.line(at) {
                return Some(line);
            }
            at = at.checked_sub(block.ends.len())?;
        }
        None
    }

    pub(crate) fn iter(&self) -> impl DoubleEndedIterator<Item = &str> {
        let first = self.skipped;
        self.blocks.iter().enumerate().flat_map(move |(index, block)| {
            let from = if index == 0 { first } else { 0 };
            (from..block.ends.len()).filter_map(|line| block.line(line))
        })
    }
}

impl Block {
    fn line(&self, index: usize) -> Option<&str> {
        let place = |index: usize| self.ends.get(index).and_then(|end| usize::try_from(*end).ok());
        let start = match index.checked_sub(1) {
            Some(before) => place(before)?,
            None => 0,
        };
        self.text.get(start..place(index)?)
    }
}

/// Bytes of a block, unless a single line is longer.
const BLOCK: usize = 16 * 1024;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_come_out_as_they_went_in() {
        let mut blocks = Blocks::default();
        let mut model = VecDeque::new();
        for number in 0..5_000_usize {
            let line = "ü".repeat(number * 7919 % 90);
            blocks.push_back(&line);
            model.push_back(line);
            if number % 3 == 0 || number > 4_000 {
                assert_eq!(blocks.pop_front(), model.pop_front().is_some());
            }
            if number % 500 == 0 {
                assert!(blocks.iter().eq(model.iter()));
                assert!(blocks.iter().rev().eq(model.iter().rev()));
                let each = (0..blocks.len() + 2).map_while(|at| blocks.get(at));
                assert!(each.eq(model.iter()));
                assert_eq!(blocks.len(), model.len());
                assert_eq!(blocks.bytes(), model.iter().map(String::len).sum::<usize>());
            }
        }
        while blocks.pop_front() {}
        assert_eq!((blocks.len(), blocks.bytes()), (0, 0));
        assert_eq!(blocks.iter().next(), None);
    }

    #[test]
    fn a_line_longer_than_a_block_has_one_of_its_own() {
        let mut blocks = Blocks::default();
        let long = "x".repeat(BLOCK * 3);
        for line in ["a", &long, "b"] {
            blocks.push_back(line);
        }
        assert!(blocks.iter().eq(["a", &long, "b"]));
        assert!(blocks.pop_front() && blocks.pop_front());
        assert!(blocks.iter().eq(["b"]));
    }
}
