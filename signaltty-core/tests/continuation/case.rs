//! What a decision is made from, and what it comes to.

use std::time::Duration;

use signaltty_core::agent::{
    AgentPolicy, LoadedRule, Marker, MarkerOrigin, SavedAgent, TurnId, Turns, WitnessSource,
};
use signaltty_core::id::PaneId;
use signaltty_core::pane::PaneEnd;
use signaltty_core::restore::{Facts, NoContinuation, PaneState, Recovery, Tombstone, eligibility};
use signaltty_core::workspace::Switches;

use crate::support::{World, pane};

/// Everything speaks for going on with turn 2.
pub struct Case {
    pub state: PaneState,
    pub agent: Option<SavedAgent>,
    pub end: Option<PaneEnd>,
    pub archived: bool,
    pub switches: Switches,
    pub policy: Option<AgentPolicy>,
    pub holder: Option<PaneId>,
    pub tried: bool,
    pub max_attempts: u8,
}

pub fn turn(n: u64) -> TurnId {
    TurnId::new(n).unwrap()
}

pub fn turns(newest: u64, active: u64, marker: Option<(u64, bool)>) -> Turns {
    let marker = marker.map(|(n, prepared)| Marker {
        turn: turn(n),
        origin: MarkerOrigin::Automatic,
        prepared,
        sent: false,
    });
    Turns::from_saved(newest, TurnId::new(active), marker, 0)
}

impl Case {
    pub fn new() -> Self {
        let mut world = World::new();
        world.talking(1, "claude", "A");
        let mut agent = world.pane(pane(1)).record.agent.clone().unwrap();
        agent.interrupted = true;
        agent.turns = turns(2, 2, None);
        let policy = AgentPolicy::new(
            vec![WitnessSource::LiveRegistry],
            LoadedRule::NotReported,
            Duration::from_secs(10),
        );
        Self {
            state: PaneState::Tombstone(Tombstone::Resumable),
            agent: Some(agent),
            end: None,
            archived: false,
            switches: Switches { auto_resume: true, auto_continue: true, history: true },
            policy: Some(policy),
            holder: None,
            tried: false,
            max_attempts: 3,
        }
    }

    pub fn agent(&mut self) -> &mut SavedAgent {
        self.agent.as_mut().unwrap()
    }

    pub fn with(change: impl FnOnce(&mut Self)) -> Self {
        let mut case = Self::new();
        change(&mut case);
        case
    }

    pub fn decide(&self) -> Result<Recovery, NoContinuation> {
        eligibility(&Facts {
            state: &self.state,
            agent: self.agent.as_ref(),
            end: self.end.as_ref(),
            archived: self.archived,
            switches: self.switches,
            policy: self.policy.as_ref(),
            holder: self.holder,
            tried: self.tried,
            max_attempts: self.max_attempts,
        })
    }
}

/// What is decided, and whether a no settles the turn.
#[track_caller]
pub fn check(expected: Result<u64, NoContinuation>, change: impl FnOnce(&mut Case)) {
    let decided = Case::with(change).decide().map(|recovery| recovery.turn().get());
    assert_eq!(decided, expected);
}

#[track_caller]
pub fn leaves(why: NoContinuation, change: impl FnOnce(&mut Case)) {
    check(Err(why), change);
    assert!(!why.settles(), "{why}");
}

#[track_caller]
pub fn settles(why: NoContinuation, change: impl FnOnce(&mut Case)) {
    check(Err(why), change);
    assert!(why.settles(), "{why}");
}
