//! State that the emulator hides or does not have, kept beside it so that a
//! repaint can reproduce it.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// See the module.
#[derive(Debug)]
pub(crate) struct Shadow {
    /// First row of the scroll region, and the row after its last.
    pub(crate) region: (usize, usize),
    /// A flag for each column: whether a tab stops there.
    pub(crate) tabs: Vec<bool>,
    /// Whether the second character set is shifted in.
    pub(crate) shifted: bool,
    /// Whether the program chose a cursor style.
    pub(crate) styled_cursor: bool,
    /// Keyboard protocol of the primary and of the alternate screen.
    pub(crate) keyboards: [Keyboard; 2],
    /// The level of xterm's modifyOtherKeys.
    pub(crate) modify_other_keys: u8,
    /// Modes that only the real terminal acts on, and that the program set.
    pub(crate) passive_modes: BTreeSet<u16>,
    /// Private modes that the program saved, and how they were.
    pub(crate) saved_modes: BTreeMap<u16, bool>,
    /// The title the program gave.
    pub(crate) title: Option<String>,
    titles: VecDeque<Option<String>>,
    /// Fingerprint of the screen that was last cleared into the history.
    pub(super) last_cleared: Option<u64>,
}

/// The flags of the kitty keyboard protocol on one screen.
#[derive(Debug, Default)]
pub(crate) struct Keyboard {
    /// The flags in force.
    pub(crate) flags: u8,
    /// What pops bring back, the newest last.
    pub(crate) saved: VecDeque<u8>,
}

impl Keyboard {
    pub(super) fn push(&mut self, flags: u8) {
        if self.saved.len() >= MAX_STACK {
            self.saved.pop_front();
        }
        self.saved.push_back(self.flags);
        self.flags = flags;
    }

    pub(super) fn pop(&mut self, count: u16) {
        for _ in 0..count {
            let Some(flags) = self.saved.pop_back() else {
                self.flags = 0;
                break;
            };
            self.flags = flags;
        }
    }
}

impl Shadow {
    pub(super) fn new(cols: usize, rows: usize) -> Self {
        Self {
            region: (0, rows),
            tabs: default_tabs(0, cols),
            shifted: false,
            styled_cursor: false,
            keyboards: Default::default(),
            modify_other_keys: 0,
            passive_modes: BTreeSet::new(),
            saved_modes: BTreeMap::new(),
            title: None,
            titles: VecDeque::new(),
            last_cleared: None,
        }
    }

    /// Follows a full reset.
    pub(super) fn reset(&mut self) {
        let last_cleared = self.last_cleared;
        *self = Self { last_cleared, ..Self::new(self.tabs.len(), self.region.1) };
    }

    /// Follows a resize: the region is the whole screen again, and only new
    /// columns get their default tab stops.
    pub(super) fn resize(&mut self, cols: usize, rows: usize) {
        self.region = (0, rows);
        let old = self.tabs.len();
        self.tabs.truncate(cols);
        self.tabs.extend(default_tabs(old, cols));
    }

    pub(crate) fn has_default_tabs(&self) -> bool {
        self.tabs.iter().enumerate().all(|(column, stop)| *stop == (column % TAB == 0))
    }

    pub(super) fn push_title(&mut self) {
        if self.titles.len() >= MAX_STACK {
            self.titles.pop_front();
        }
        self.titles.push_back(self.title.clone());
    }

    pub(super) fn pop_title(&mut self) -> Option<Option<String>> {
        self.titles.pop_back()
    }

    /// The titles that pops bring back, the newest last.
    pub(crate) fn stacked_titles(&self) -> impl Iterator<Item = &Option<String>> {
        self.titles.iter()
    }

    /// Whether a mode of the real terminal is on, if it is known.
    pub(super) fn passive_mode(&self, mode: u16) -> Option<bool> {
        PASSIVE_MODES.contains(&mode).then(|| self.passive_modes.contains(&mode))
    }

    /// Notes a mode of the real terminal; others are not known to be harmless.
    pub(super) fn note_mode(&mut self, mode: u16, on: bool) {
        if on && PASSIVE_MODES.contains(&mode) {
            self.passive_modes.insert(mode);
        } else {
            self.passive_modes.remove(&mode);
        }
    }
}

fn default_tabs(from: usize, to: usize) -> Vec<bool> {
    (from..to).map(|column| column % TAB == 0).collect()
}

/// Reverse video, X10 mouse, urxvt and pixel mouse, colour scheme reports,
/// in-band resize reports. All are off in a fresh terminal.
const PASSIVE_MODES: [u16; 6] = [5, 9, 1015, 1016, 2031, 2048];

const TAB: usize = 8;

/// Deeper stacks of titles or keyboard flags forget their oldest entry.
const MAX_STACK: usize = 16;
