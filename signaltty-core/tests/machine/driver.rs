//! Plays the server: performs effects, and answers them in random order with
//! random results.

use std::collections::BTreeSet;

use proptest::prelude::*;
use signaltty_core::agent::{
    AgentReport, AgentSessionId, Receipt, Relation, TurnRecord, WitnessSource,
};
use signaltty_core::id::{InstanceId, PaneId, RequestId};
use signaltty_core::pane::Lifecycle;
use signaltty_core::restore::FailureCode;
use signaltty_core::save::{SaveFailure, SaveToken};
use signaltty_core::saved::SavedSession;
use signaltty_core::session::{Command, ContinueFailure, Delivery, Effect, Input, ShutdownCause};

use crate::commands::command;
use crate::support::World;
use crate::support::facts::{anchor, extends, found, refusal, witness};

#[derive(Debug, Clone)]
pub enum Op {
    Command(u8, u8, u8),
    Spawned(u8, bool),
    Exit(u8, i32),
    Asks(u8),
    Preflighted(u8, u8),
    Witness(u8, u8, u8),
    Read(u8, u8),
    Anchored(u8, u8),
    /// What a record says of the interrupted turn.
    Turn(u8, u8),
    /// What came of sending a prompt.
    Sent(u8, u8),
    Does(u8, u8),
    Finds(u8, u8),
    Saved(bool),
    Pass(u16),
    Restore,
    /// The server is up, and does what it does by itself.
    Begin,
    /// What is open comes to a good end: long ways are gone to their end.
    Good(u8),
    Shutdown,
}

pub fn op() -> impl Strategy<Value = Op> {
    let n = 0..4u8;
    prop_oneof![
        14 => (0..44u8, n.clone(), 1..6u8).prop_map(|(c, a, b)| Op::Command(c, a, b)),
        8 => (n.clone(), prop::bool::weighted(0.85)).prop_map(|(k, ok)| Op::Spawned(k, ok)),
        1 => (n.clone(), prop::sample::select(vec![0, 1, 130, 143]))
            .prop_map(|(k, code)| Op::Exit(k, code)),
        1 => n.clone().prop_map(Op::Asks),
        5 => (n.clone(), 0..6u8).prop_map(|(k, r)| Op::Preflighted(k, r)),
        12 => (n.clone(), 0..4u8, 0..12u8).prop_map(|(k, s, x)| Op::Witness(k, s, x)),
        8 => (n.clone(), 0..6u8).prop_map(|(k, r)| Op::Read(k, r)),
        5 => (n.clone(), 0..4u8).prop_map(|(k, m)| Op::Anchored(k, m)),
        5 => (n.clone(), 0..8u8).prop_map(|(k, r)| Op::Turn(k, r)),
        5 => (n.clone(), 0..4u8).prop_map(|(k, r)| Op::Sent(k, r)),
        3 => (n.clone(), 0..5u8).prop_map(|(k, l)| Op::Does(k, l)),
        6 => (n, 0..8u8).prop_map(|(k, f)| Op::Finds(k, f)),
        3 => prop::bool::weighted(0.7).prop_map(Op::Saved),
        4 => (0..6_000u16).prop_map(Op::Pass),
        1 => Just(Op::Restore),
        2 => Just(Op::Begin),
        20 => (0..4u8).prop_map(Op::Good),
        1 => prop::bool::weighted(0.3).prop_map(|stop| if stop {
            Op::Shutdown
        } else {
            Op::Pass(12_000)
        }),
    ]
}

/// What an input was, as far as properties ask.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cause {
    Command,
    Preflighted,
    RecordRead { extends: bool },
    Anchored { messages: u64 },
    Report { accepted: bool },
    TurnRead,
    Begin,
    Restore,
    Other,
}

#[derive(Debug)]
pub struct Step {
    pub cause: Cause,
    /// The request of a command.
    pub command: Option<RequestId>,
    pub closes: bool,
    pub stopping: bool,
    pub before: SavedSession,
    pub after: SavedSession,
    /// As of the last save that was confirmed.
    pub disk: SavedSession,
    pub effects: Vec<Effect>,
    pub states: Vec<(PaneId, &'static str)>,
    /// Requests without a reply, and processes, after the input was taken.
    pub open: BTreeSet<RequestId>,
    pub running: BTreeSet<InstanceId>,
}

pub struct Driver {
    pub world: World,
    pub steps: Vec<Step>,
    stopping: bool,
    starting: Vec<InstanceId>,
    running: BTreeSet<InstanceId>,
    preflights: Vec<(PaneId, Option<RequestId>)>,
    reads: Vec<(InstanceId, usize, AgentSessionId)>,
    anchors: Vec<(InstanceId, AgentSessionId)>,
    turns: Vec<PaneId>,
    sends: Vec<InstanceId>,
    save: Option<(SaveToken, SavedSession)>,
    disk: SavedSession,
}

/// Runs the steps on a session with three tombstones of conversations, two of
/// them of one. Two were at work, in workspaces that go on by themselves.
pub fn run(ops: &[Op]) -> Driver {
    let mut world = World::new();
    for (n, kind, name) in [(1, "claude", "A"), (2, "claude", "A"), (3, "codex", "A")] {
        let instance = world.talking(n, kind, name);
        if n != 2 {
            world.does(instance, Lifecycle::Working);
            world.ask(command(20, 3, n));
        }
    }
    world.crash();
    let mut driver = Driver {
        disk: world.saved(),
        world,
        steps: Vec::new(),
        stopping: false,
        starting: Vec::new(),
        running: BTreeSet::new(),
        preflights: Vec::new(),
        reads: Vec::new(),
        anchors: Vec::new(),
        turns: Vec::new(),
        sends: Vec::new(),
        save: None,
    };
    ops.iter().for_each(|op| driver.apply(op));
    driver
}

pub fn states(world: &World) -> Vec<(PaneId, &'static str)> {
    let ids = world.session.pane_ids();
    ids.map(|id| (id, world.state(id))).collect()
}

impl Driver {
    fn apply(&mut self, op: &Op) {
        match *op {
            Op::Command(what, a, b) => {
                let command = command(what, a, b);
                let closes = matches!(
                    command,
                    Command::ClosePane(_) | Command::CloseTab(_) | Command::CloseWorkspace(_)
                );
                self.step(Cause::Command, closes, |world| world.ask(command));
            }
            Op::Spawned(k, ok) => {
                let Some(instance) = take(&mut self.starting, k) else {
                    return;
                };
                if ok {
                    self.running.insert(instance);
                }
                let failed = refusal(FailureCode::BinaryMissing);
                let result = if ok { Ok(()) } else { Err(failed) };
                self.input(Cause::Other, Input::Spawned { instance, result });
            }
            Op::Asks(k) => {
                let Some(instance) = self.process(k) else {
                    return;
                };
                let command = Command::Ask { instance, question: "may I?".into() };
                self.step(Cause::Command, false, |world| world.ask(command));
            }
            Op::Exit(k, code) => {
                let Some(instance) = self.process(k) else {
                    return;
                };
                self.running.remove(&instance);
                self.step(Cause::Other, false, |world| world.exit(instance, code));
            }
            Op::Preflighted(k, r) => {
                let Some((pane, request)) = take(&mut self.preflights, k) else {
                    return;
                };
                let result = record("A", r);
                let input = Input::Preflighted { pane, request, result };
                self.input(Cause::Preflighted, input);
            }
            Op::Witness(k, source, shows) => {
                let Some(instance) = self.process(k) else {
                    return;
                };
                use WitnessSource::{HeldLock, LiveRegistry, StartReport};
                let source =
                    [LiveRegistry, LiveRegistry, HeldLock, StartReport][usize::from(source)];
                let shown: &[&str] = match shows {
                    0..=5 => &["A"],
                    6 | 7 => &["B"],
                    8 | 9 => &["Z"],
                    10 => &["A", "Z"],
                    _ => &[],
                };
                let mut witness = witness(instance, source, shown);
                witness.loaded = match shows {
                    0 | 6 | 8 => None,
                    5 => Some(0),
                    _ => Some(3),
                };
                self.step(Cause::Other, false, |world| world.sees(witness));
            }
            Op::Read(k, r) => {
                let Some((instance, witness, named)) = take(&mut self.reads, k) else {
                    return;
                };
                let result = record(named.as_str(), r);
                let extends =
                    result.as_ref().is_ok_and(|found| found.relation == Relation::Extends);
                let input = Input::RecordRead { instance, witness, named, result };
                self.input(Cause::RecordRead { extends }, input);
            }
            Op::Anchored(k, messages) => {
                let Some((instance, id)) = take(&mut self.anchors, k) else {
                    return;
                };
                let messages = u64::from(messages);
                let result = if messages == 3 {
                    Err(refusal(FailureCode::Gone))
                } else {
                    Ok(anchor(id.as_str(), messages))
                };
                let input = Input::Anchored { instance, id, result };
                self.input(Cause::Anchored { messages }, input);
            }
            Op::Turn(k, r) => {
                let Some(pane) = take(&mut self.turns, k) else {
                    return;
                };
                let receipt =
                    |finished| Receipt { tool: "deploy".into(), finished, read_only: false };
                let record = TurnRecord {
                    unfinished: if r == 6 { Some(false) } else { Some(true) },
                    prompted: [Some(false), Some(false), Some(true), None][usize::from(r % 4)],
                    last_tool: (r > 4).then(|| receipt(r != 5)),
                };
                self.input(Cause::TurnRead, Input::TurnRead { pane, record });
            }
            Op::Sent(k, r) => {
                let Some(instance) = take(&mut self.sends, k) else {
                    return;
                };
                let result = match r {
                    0 | 1 => Ok(Delivery::Sent),
                    2 => Ok(Delivery::Accepted),
                    _ => Err(ContinueFailure::PersonTyped),
                };
                let accepted = r == 2;
                self.input(Cause::Report { accepted }, Input::Continued { instance, result });
            }
            Op::Does(k, what) => {
                let Some(instance) = self.process(k) else {
                    return;
                };
                use Lifecycle::{Blocked, Done, Idle, Working};
                let accepted = matches!(what, 0 | 4);
                let report = AgentReport {
                    lifecycle: Some([Working, Done, Blocked, Idle, Idle][usize::from(what)]),
                    accepted_prompt: accepted,
                    ..AgentReport::default()
                };
                self.input(Cause::Report { accepted }, Input::Report { instance, report });
            }
            Op::Finds(k, what) => {
                let Some(instance) = self.process(k) else {
                    return;
                };
                let mut found: Vec<_> = match what {
                    0 => vec![],
                    1 | 2 => vec![found("claude", 10, true)],
                    3 => vec![found("claude", 11, true)],
                    4 => vec![found("codex", 12, true), found("claude", 10, false)],
                    5 => vec![found("claude", 10, false)],
                    6 => vec![found("claude", 10, true), found("codex", 12, true)],
                    _ => vec![found("claude", 10, true), found("codex", 13, true)],
                };
                if what == 7 {
                    found[1].nested = true;
                }
                self.input(Cause::Other, Input::AgentsFound { instance, found });
            }
            Op::Saved(ok) => {
                let Some((token, written)) = self.save.take() else {
                    return;
                };
                if ok {
                    self.disk = written;
                }
                let result = if ok { Ok(()) } else { Err(SaveFailure::Io) };
                self.input(Cause::Other, Input::Saved { token, result });
            }
            Op::Pass(millis) => {
                self.step(Cause::Other, false, |world| world.pass(u64::from(millis)));
            }
            Op::Shutdown => {
                self.stopping = true;
                let cause = ShutdownCause::Terminate;
                self.input(Cause::Other, Input::Shutdown(cause));
            }
            Op::Restore => self.restore(),
            Op::Begin => self.input(Cause::Begin, Input::Begin),
            Op::Good(k) => {
                let next = if self.save.is_some() {
                    Op::Saved(true)
                } else if !self.preflights.is_empty() {
                    Op::Preflighted(k, 0)
                } else if !self.turns.is_empty() {
                    Op::Turn(k, 0)
                } else if !self.starting.is_empty() {
                    Op::Spawned(k, true)
                } else if !self.reads.is_empty() {
                    Op::Read(k, 0)
                } else if !self.sends.is_empty() {
                    Op::Sent(k, 0)
                } else if k == 0 {
                    Op::Does(k, 0)
                } else {
                    Op::Witness(k, 0, 3)
                };
                self.apply(&next);
            }
        }
    }

    /// The server is killed and starts again. What it was told about the old
    /// processes no longer matters, and may still arrive.
    fn restore(&mut self) {
        let old = self.process(0);
        self.stopping = false;
        self.running.clear();
        self.starting.clear();
        self.preflights.clear();
        self.reads.clear();
        self.anchors.clear();
        self.turns.clear();
        self.sends.clear();
        self.save = None;
        self.disk = self.world.saved();
        self.step(Cause::Restore, false, |world| {
            world.crash();
            Vec::new()
        });
        if let Some(old) = old {
            let before = self.world.saved();
            self.step(Cause::Other, false, |world| world.shows(old, "Z"));
            assert_eq!(self.world.saved(), before, "R9");
        }
    }

    /// Answers everything, so that every request must have its reply.
    pub fn settle(&mut self) {
        for _ in 0..4 {
            while !self.preflights.is_empty() {
                self.apply(&Op::Preflighted(0, 0));
            }
            while !self.turns.is_empty() {
                self.apply(&Op::Turn(0, 0));
            }
            while !self.starting.is_empty() {
                self.apply(&Op::Spawned(0, true));
            }
            while !self.sends.is_empty() {
                self.apply(&Op::Sent(0, 0));
            }
            self.apply(&Op::Pass(61_000));
            while !self.running.is_empty() {
                self.apply(&Op::Exit(0, 1));
            }
            self.apply(&Op::Saved(true));
        }
        self.world.settled();
    }

    fn input(&mut self, cause: Cause, input: Input) {
        self.step(cause, false, |world| world.input(input));
    }

    fn step(&mut self, cause: Cause, closes: bool, act: impl FnOnce(&mut World) -> Vec<Effect>) {
        let before = self.world.saved();
        let effects = act(&mut self.world);
        for effect in &effects {
            match effect {
                Effect::Spawn { instance, .. } => self.starting.push(*instance),
                Effect::Preflight { pane, request, .. } => self.preflights.push((*pane, *request)),
                Effect::ReadRecord { instance, witness, named, .. } => {
                    self.reads.push((*instance, *witness, named.id.clone()));
                }
                Effect::Anchor { instance, conversation, .. } => {
                    self.anchors.push((*instance, conversation.id.clone()));
                }
                Effect::ReadTurn { pane, .. } => self.turns.push(*pane),
                Effect::Continue { continuation, .. } => {
                    self.sends.push(continuation.verified().instance());
                }
                Effect::Save { token, .. } => {
                    let written = (*token, self.world.saved());
                    assert_eq!(self.save.replace(written), None, "one write at a time");
                }
                _ => {}
            }
        }
        self.steps.push(Step {
            cause,
            command: (cause == Cause::Command).then(|| self.world.request()),
            closes,
            stopping: self.stopping,
            before,
            after: self.world.saved(),
            disk: self.disk.clone(),
            effects,
            states: states(&self.world),
            open: self.world.open.clone(),
            running: self.running.clone(),
        });
    }

    fn process(&self, k: u8) -> Option<InstanceId> {
        let count = self.running.len().max(1);
        self.running.iter().nth(usize::from(k) % count).copied()
    }
}

fn take<T>(from: &mut Vec<T>, k: u8) -> Option<T> {
    let at = usize::from(k) % from.len().max(1);
    (!from.is_empty()).then(|| from.remove(at))
}

fn record(
    name: &str,
    r: u8,
) -> Result<signaltty_core::agent::Fingerprint, signaltty_core::restore::Refusal> {
    let mut found = extends(name, 1);
    match r {
        0..=2 => {}
        3 => found.relation = Relation::Rewritten,
        4 => return Err(refusal(FailureCode::Gone)),
        _ => return Err(refusal(FailureCode::Damaged)),
    }
    Ok(found)
}
