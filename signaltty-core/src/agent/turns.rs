//! The turns of an agent, as far as a restart must know them.
//!
//! Turns are counted for each pane; agents need not name them. The *active*
//! turn is the one being worked on, or that was when the process went away. The
//! *marker* names the turn that we have promised to continue; it is cleared
//! only because the agent accepted, because a refusal was shown, or by a person
//! (R6). *Attempts* counts automatic tries at one interrupted turn over all starts
//! (R11), and at what a try began where the agent never said that it took it.

use std::fmt;
use std::num::NonZeroU64;

/// One request that an agent works on. Numbers rise and are never used again in
/// a pane.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TurnId(NonZeroU64);

impl TurnId {
    /// The turn with this number, from 1.
    pub fn new(number: u64) -> Option<Self> {
        NonZeroU64::new(number).map(Self)
    }

    /// The number.
    pub fn get(self) -> u64 {
        self.0.get()
    }
}

impl fmt::Display for TurnId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Who promised to continue a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MarkerOrigin {
    /// A person, by a planned restart. Holds whatever the switches say (S1-24).
    Planned,
    /// The workspace's switches, when a server started.
    Automatic,
}

impl MarkerOrigin {
    /// Every value.
    pub const ALL: &'static [Self] = &[Self::Planned, Self::Automatic];

    /// The text form.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Planned => "planned",
            Self::Automatic => "automatic",
        }
    }

    /// Reads the text form.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|origin| origin.as_str() == text)
    }
}

/// A promise to continue a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Marker {
    /// Which turn.
    pub turn: TurnId,
    /// Who promised it.
    pub origin: MarkerOrigin,
    /// A recovery has begun. Without this, a turn that is over was finished
    /// after it had been marked.
    pub prepared: bool,
    /// The prompt was about to be sent: from here on it may be in the agent's
    /// record, and only that can say (K6).
    pub sent: bool,
}

/// What is saved of an agent's turns.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Turns {
    newest: u64,
    active: Option<TurnId>,
    marker: Option<Marker>,
    attempts: u8,
}

impl Turns {
    /// From saved numbers. What cannot be is left out: a marker or an active
    /// turn that was never counted counts as absent (D4).
    pub fn from_saved(
        newest: u64,
        active: Option<TurnId>,
        marker: Option<Marker>,
        attempts: u8,
    ) -> Self {
        let counted = |turn: &TurnId| turn.get() <= newest;
        let (marker, active) = (marker.filter(|m| counted(&m.turn)), active.filter(counted));
        let attempts = if marker.is_some() || active.is_some() { attempts } else { 0 };
        Self { newest, active, marker, attempts }
    }

    /// The number of the newest turn; 0 before the first.
    pub fn newest(&self) -> u64 {
        self.newest
    }

    /// The turn being worked on, or that was when the process went away.
    pub fn active(&self) -> Option<TurnId> {
        self.active
    }

    /// The turn that was promised to be continued.
    pub fn marker(&self) -> Option<Marker> {
        self.marker
    }

    /// Whether a prompt of ours went out and nobody has said yet what became of
    /// it. The record tells by what stands after the anchor, which stays where it
    /// is until then: behind the prompt it would have it sent again (S1-12).
    pub fn awaits_word(&self) -> bool {
        self.marker.is_some_and(|marker| marker.sent)
    }

    /// How often the interrupted turn was tried by itself, over all starts.
    pub fn attempts(&self) -> u8 {
        self.attempts
    }

    /// The agent works on something new.
    pub fn begin(&mut self) -> Option<TurnId> {
        self.newest = self.newest.saturating_add(1);
        self.active = TurnId::new(self.newest);
        self.forget_attempts();
        self.active
    }

    /// It finished.
    pub fn finish(&mut self) {
        self.active = None;
        self.forget_attempts();
    }

    /// A person wants the active turn continued after a planned restart. One
    /// that is marked already stays as it is (S1-9).
    pub fn plan(&mut self) {
        if let (Some(turn), None) = (self.active, self.marker) {
            let origin = MarkerOrigin::Planned;
            self.marker = Some(Marker { turn, origin, prepared: false, sent: false });
        }
    }

    /// A recovery of this turn begins. Must be saved before anything starts.
    pub(crate) fn prepare(&mut self, turn: TurnId, origin: MarkerOrigin) {
        let known = self.marker.filter(|marker| marker.turn == turn);
        let sent = known.is_some_and(|marker| marker.sent);
        self.marker = Some(Marker { turn, origin, prepared: true, sent });
        self.attempts = self.attempts.saturating_add(1);
    }

    /// The prompt goes out next. Must be saved before it does.
    pub(crate) fn sending(&mut self) {
        if let Some(marker) = &mut self.marker {
            marker.sent = true;
        }
    }

    /// The agent's record shows that an earlier attempt sent nothing.
    pub(crate) fn not_sent(&mut self) {
        if let Some(marker) = &mut self.marker {
            marker.sent = false;
        }
    }

    /// The agent accepted the continuation, which is a turn of its own.
    pub fn accepted(&mut self) -> Option<TurnId> {
        self.forget_marker();
        self.begin()
    }

    /// An earlier attempt had reached the agent, which never said so. What it
    /// began is a turn of its own, and was interrupted as well. The attempts go
    /// on being counted, or an agent that never says that it accepts would be
    /// prompted again after every restart (D-14).
    pub(crate) fn arrived(&mut self) -> Option<TurnId> {
        let attempts = self.attempts;
        self.forget_marker();
        let turn = self.begin();
        self.attempts = attempts;
        turn
    }

    /// The turn will not be continued by itself: the refusal was shown, or its
    /// person took over.
    pub fn settle(&mut self) {
        self.forget_marker();
        self.active = None;
    }

    /// The marked turn was finished after all.
    pub fn forget_marker(&mut self) {
        self.marker = None;
        self.attempts = 0;
    }

    /// They were about another turn. Those of a promised one stay with it.
    fn forget_attempts(&mut self) {
        if self.marker.is_none() {
            self.attempts = 0;
        }
    }
}
