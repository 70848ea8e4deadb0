//! Random saved states: nothing goes on unless every condition holds.

use proptest::prelude::*;
use signaltty_core::agent::{
    Marker, MarkerOrigin, Receipt, ReportedArgv, SavedAgent, TurnId, TurnRecord, Turns,
};
use signaltty_core::pane::{EndCause, PaneEnd};
use signaltty_core::session::{Command, Effect, Input, SwitchChange};
use signaltty_core::time::UnixMillis;
use std::sync::Arc;

use crate::play::{Mode, Play};
use crate::support::{World, agent, pane, resume, shell, ws};

#[derive(Debug, Clone)]
struct Facts {
    resume: bool,
    go_on: bool,
    archived: bool,
    end: Option<EndCause>,
    conversation: Kept,
    kind: &'static str,
    interrupted: bool,
    newest: u64,
    active: u64,
    marker: Option<Mark>,
    attempts: u8,
    starts: u8,
    /// Another pane has the conversation, and is reopened first.
    twin: bool,
    unfinished: Option<bool>,
    prompted: Option<bool>,
    /// The last tool call: whether it finished, and whether it only reads.
    tool: Option<(bool, bool)>,
}

#[derive(Debug, Clone, Copy)]
struct Mark {
    turn: u64,
    planned: bool,
    prepared: bool,
    sent: bool,
}

/// What is saved of the conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kept {
    Sound,
    Unanchored,
    Reported,
    None,
}

/// The first nine times in ten, else one of the others.
fn mostly<T: Clone + std::fmt::Debug + 'static>(all: &'static [T]) -> impl Strategy<Value = T> {
    prop_oneof![
        9 => Just(all[0].clone()),
        1 => prop::sample::select(all),
    ]
}

fn facts() -> impl Strategy<Value = Facts> {
    use EndCause::{Process, Shutdown, User};
    let marks = (1..4u64, any::<bool>(), mostly(&[true, false]), any::<bool>());
    let mark =
        marks.prop_map(|(turn, planned, prepared, sent)| Mark { turn, planned, prepared, sent });
    let switches = (mostly(&[true, false]), mostly(&[true, false]), mostly(&[false, true]));
    let agent = (
        mostly(&[Kept::Sound, Kept::Unanchored, Kept::Reported, Kept::None]),
        mostly(&["claude", "silent", "unknown"]),
        mostly(&[true, false]),
        mostly(&[false, true]),
    );
    let turns = (mostly(&[2, 1, 3]), mostly(&[2, 0, 1, 3]), prop::option::of(mark));
    let counts = (mostly(&[0, 1, 2, 3, 4]), mostly(&[0, 1, 2, 3]));
    let record = (
        mostly(&[Some(true), None, Some(false)]),
        mostly(&[Some(false), Some(true), None]),
        mostly(&[None, Some((true, false)), Some((false, true)), Some((false, false))]),
    );
    let end = mostly(&[None, Some(Shutdown), Some(User), Some(Process)]);
    (switches, agent, turns, counts, record, end).prop_map(
        |(switches, agent, turns, counts, record, end)| Facts {
            resume: switches.0,
            go_on: switches.1,
            archived: switches.2,
            end,
            conversation: agent.0,
            kind: agent.1,
            interrupted: agent.2,
            twin: agent.3,
            newest: turns.0,
            active: turns.1,
            marker: turns.2,
            attempts: counts.0,
            starts: counts.1,
            unfinished: record.0,
            prompted: record.1,
            tool: record.2,
        },
    )
}

impl Facts {
    /// Whether the turn goes on: every condition, said once more and otherwise
    /// than in the code.
    fn goes_on(&self) -> Result<(), &'static str> {
        let counted = |n: u64| (1..=self.newest).contains(&n);
        let marker = self.marker.filter(|marker| counted(marker.turn));
        let active = Some(self.active).filter(|n| counted(*n));
        let planned = marker.is_some_and(|marker| marker.planned);
        let sent = marker.is_some_and(|marker| marker.sent);
        let open = self.tool == Some((false, false));
        let turn = match (active, marker) {
            (None, None) => return Err("S1-4"),
            (Some(active), Some(marker)) if active != marker.turn => return Err("S1-7, S1-9"),
            (Some(_), Some(marker)) => self.interrupted || marker.prepared,
            (Some(_), None) => self.interrupted,
            (None, Some(marker)) => marker.prepared,
        };
        let of = marker.map_or(self.active, |marker| marker.turn);
        let turn = turn && of == self.newest;
        for (holds, rule) in [
            (planned || (self.resume && self.go_on), "S0-16, S1-24"),
            (self.conversation == Kept::Sound, "S1-5, S0-18"),
            (!self.archived, "S1-6"),
            (!matches!(self.end, Some(EndCause::User | EndCause::Process)), "D15, D-8"),
            (self.kind == "claude", "S1-14, D-2"),
            (turn, "S1-4, D11, D14, D18"),
            (self.attempts < 3 && self.starts < 3, "R11, D-14"),
            (!self.twin, "D-13"),
            (self.unfinished != Some(false), "D14"),
            (!sent || self.prompted == Some(false), "K6"),
            (planned || !open, "an open tool call"),
        ] {
            if !holds {
                return Err(rule);
            }
        }
        Ok(())
    }
}

fn play(facts: &Facts) -> Play {
    let mut play = Play::interrupted(Mode::Good, facts.resume, facts.go_on);
    play.world.workspace(2, agent("claude"));
    let change = SwitchChange { archived: Some(facts.archived), ..SwitchChange::default() };
    play.world.ask(Command::SetSwitches { workspace: ws(1), change });
    let change = SwitchChange { auto_resume: Some(true), ..SwitchChange::default() };
    play.world.ask(Command::SetSwitches { workspace: ws(2), change });
    play.disk = play.world.saved();
    let record = Arc::make_mut(&mut play.disk.panes[0]);
    record.lifecycle = signaltty_core::pane::Lifecycle::Idle;
    record.end = facts.end.map(|cause| PaneEnd { cause, status: None, at: UnixMillis(1) });
    let agent = record.agent.as_mut().unwrap();
    let twin = agent.clone();
    agent.kind = facts.kind.parse().unwrap();
    agent.interrupted = facts.interrupted;
    agent.continuity.starts = facts.starts;
    match facts.conversation {
        Kept::Sound => {}
        Kept::Unanchored => agent.conversation.as_mut().unwrap().anchor = None,
        Kept::Reported => agent.reported_argv = Some(ReportedArgv(vec!["claude".into()])),
        Kept::None => agent.conversation = None,
    }
    let marker = facts.marker.map(|mark| Marker {
        turn: TurnId::new(mark.turn).unwrap(),
        origin: if mark.planned { MarkerOrigin::Planned } else { MarkerOrigin::Automatic },
        prepared: mark.prepared,
        sent: mark.sent,
    });
    agent.turns =
        Turns::from_saved(facts.newest, TurnId::new(facts.active), marker, facts.attempts);
    if facts.twin {
        let other = Arc::make_mut(&mut play.disk.panes[1]);
        other.agent = Some(SavedAgent { turns: Turns::default(), interrupted: false, ..twin });
        other.lifecycle = signaltty_core::pane::Lifecycle::Idle;
        play.disk.workspaces.swap(0, 1);
    }
    let receipt = |(finished, read_only)| Receipt { tool: "deploy".into(), finished, read_only };
    play.record = Some(TurnRecord {
        unfinished: facts.unfinished,
        prompted: facts.prompted,
        last_tool: facts.tool.map(receipt),
    });
    play
}

proptest! {
    /// Both ways: nothing goes on without a condition, and nothing is left where
    /// all of them hold.
    #[test]
    fn s1_32_s1_4_s1_5_s1_6_s1_7_s1_8_s1_9_random_states_go_on_only_where_all_holds(
        facts in facts(),
    ) {
        let mut play = play(&facts);
        let marker = facts.marker.filter(|marker| marker.turn <= facts.newest);
        // S1-9: one of another turn is never made into one of this.
        play.start("");
        let expected = facts.goes_on();
        prop_assert_eq!(play.prompts.len(), usize::from(expected.is_ok()), "{:?}", expected);
        let turn = play.prompts.first().map(|turn| turn.get());
        let of = marker.map_or(facts.active, |marker| marker.turn);
        prop_assert!(turn.is_none_or(|turn| turn == of), "{:?}", turn);
        // Settled either way.
        prop_assert!(play.agent().turns.marker().is_none());
    }
}

/// Guards the property against states of which none goes on, and against a
/// condition that no state lacks alone.
#[test]
fn the_random_states_reach_a_continuation_and_every_reason() {
    use proptest::strategy::ValueTree as _;
    use std::collections::BTreeMap;
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let mut reasons = BTreeMap::new();
    for _ in 0..2_000 {
        let facts = facts().new_tree(&mut runner).unwrap().current();
        *reasons.entry(facts.goes_on().err()).or_insert(0) += 1;
    }
    assert!(reasons[&None] > 300, "{reasons:?}");
    assert_eq!(reasons.len(), 14, "{reasons:?}");
}

#[test]
fn s0_16_s1_6_what_is_turned_off_while_the_record_is_read_starts_nothing() {
    let off = SwitchChange { auto_resume: Some(false), ..SwitchChange::default() };
    let archived = SwitchChange { archived: Some(true), ..SwitchChange::default() };
    for change in [off, archived] {
        let mut play = Play::interrupted(Mode::Good, true, true);
        play.start("checked");
        assert_eq!(play.world.stage(pane(1)), "reading");
        play.world.ask(Command::SetSwitches { workspace: ws(1), change });
        let record = TurnRecord { unfinished: Some(true), ..TurnRecord::default() };
        let effects = play.world.input(Input::TurnRead { pane: pane(1), record });
        assert!(!effects.iter().any(|effect| matches!(effect, Effect::Spawn { .. })));
        assert_eq!((play.world.state(pane(1)), play.agent().turns.marker()), ("resumable", None));
    }
}

#[test]
fn s0_16_s0_17_s0_18_exactly_one_cell_starts_by_itself() {
    let mut started = Vec::new();
    for owner in ["adapter", "reported", "shell"] {
        for resume in [false, true] {
            for state in ["resumable", "ended", "closed"] {
                let mut world = World::new();
                let instance = match owner {
                    "adapter" => world.talking(1, "claude", "A"),
                    "reported" => world.workspace(1, agent("claude")),
                    _ => world.workspace(1, shell()),
                };
                world.workspace(2, shell());
                let change = SwitchChange { auto_resume: Some(resume), ..SwitchChange::default() };
                world.ask(Command::SetSwitches { workspace: ws(1), change });
                match state {
                    "ended" => drop(world.exit(instance, 0)),
                    "closed" => drop(world.ask(Command::ClosePane(pane(1)))),
                    _ => {}
                }
                world.crash();
                let mut todo = world.input(Input::Begin);
                for _ in 0..8 {
                    let mut next = world.pass(2_000);
                    for effect in std::mem::take(&mut todo) {
                        if let Effect::Save { token, .. } = effect {
                            next.extend(world.save_ok(token));
                        }
                        if matches!(effect, Effect::Preflight { .. } | Effect::Spawn { .. }) {
                            started.push((owner, resume, state));
                        }
                    }
                    todo = next;
                }
                if (owner, resume, state) == ("adapter", false, "resumable") {
                    // S0-17: one action, and nothing else, resumes.
                    let instance = world.verifying(1);
                    world.shows(instance, "A");
                    world.read(instance, 0, "A", Ok(crate::support::facts::extends("A", 1)));
                    assert_eq!(world.state(pane(1)), "live");
                }
                if owner != "adapter" && state != "closed" {
                    let words = crate::support::words::words(&world.ask(resume_of()));
                    assert!(words[0].starts_with("err "), "{words:?}");
                }
            }
        }
    }
    assert_eq!(started, [("adapter", true, "resumable")]);
}

fn resume_of() -> Command {
    resume(1)
}
