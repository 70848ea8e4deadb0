//! Plays the server, the disk and one agent, up to a named point.

use std::collections::VecDeque;

use signaltty_core::agent::{AgentReport, Relation, SavedAgent, TurnId, TurnRecord};
use signaltty_core::pane::Lifecycle;
use signaltty_core::restore::FailureCode;
use signaltty_core::save::SaveFailure;
use signaltty_core::saved::SavedSession;
use signaltty_core::session::{
    Command, ContinueFailure, Delivery, Effect, Event, Input, SwitchChange,
};

use crate::support::facts::{extends, refusal};
use crate::support::{World, pane, ws};

/// What the agent and its record do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    Good,
    /// It is done when it says that it took the prompt.
    Quick,
    /// Another id, whose record holds the saved one.
    Rotates,
    /// Another id, whose record does not.
    Ignores,
    /// The saved id, with nothing in it.
    Empty,
    NoReport,
    NotFound,
    Gone,
    Rewritten,
    /// It takes the prompt and says nothing of it.
    NeverAccepts,
    /// The prompt never reaches it.
    Swallows,
}

pub const MODES: [Mode; 11] = [
    Mode::Good,
    Mode::Quick,
    Mode::Rotates,
    Mode::Ignores,
    Mode::Empty,
    Mode::NoReport,
    Mode::NotFound,
    Mode::Gone,
    Mode::Rewritten,
    Mode::NeverAccepts,
    Mode::Swallows,
];

pub struct Play {
    pub world: World,
    pub mode: Mode,
    /// What a start would find: as of the last save that was confirmed.
    pub disk: SavedSession,
    /// The one before.
    pub older: SavedSession,
    /// The turns for which a prompt reached the agent.
    pub prompts: Vec<TurnId>,
    /// How often a prompt was sent.
    pub sent: usize,
    pub spawns: usize,
    pub verdicts: Vec<&'static str>,
    pub failures: usize,
    /// What the record says of the turn, instead of what happened.
    pub record: Option<TurnRecord>,
    /// So many saves fail before one does not.
    pub failing: usize,
    /// The prompt cannot be sent.
    pub refuses: bool,
}

impl Play {
    /// A turn was being worked on when the server was killed.
    pub fn interrupted(mode: Mode, resume: bool, go_on: bool) -> Self {
        let mut world = World::new();
        let instance = world.talking(1, "claude", "A");
        let change = SwitchChange {
            auto_resume: Some(resume),
            auto_continue: Some(go_on),
            ..SwitchChange::default()
        };
        world.ask(Command::SetSwitches { workspace: ws(1), change });
        world.does(instance, Lifecycle::Working);
        let disk = world.saved();
        Self {
            world,
            mode,
            older: disk.clone(),
            disk,
            prompts: Vec::new(),
            sent: 0,
            spawns: 0,
            verdicts: Vec::new(),
            failures: 0,
            record: None,
            failing: 0,
            refuses: false,
        }
    }

    pub fn agent(&self) -> SavedAgent {
        self.world.pane(pane(1)).record.agent.clone().unwrap()
    }

    /// The row by which the next start decides.
    pub fn row(&self) -> &'static str {
        let plans = self.world.session.plan_restart(self.world.clock());
        plans.iter().find(|plan| plan.pane == pane(1)).unwrap().rule
    }

    /// Kills the server, starts the next one on the disk's state, and goes on
    /// until the point `until`, or until nothing is left to do.
    pub fn start(&mut self, until: &str) -> &'static str {
        self.world.restart_from(self.disk.clone());
        self.verdicts.clear();
        self.failures = 0;
        let row = self.row();
        let effects = self.world.input(Input::Begin);
        self.go(effects, until);
        row
    }

    fn go(&mut self, effects: Vec<Effect>, until: &str) {
        let mut todo: VecDeque<Effect> = effects.into();
        let end = self.world.now.as_secs() + 400;
        if until == "begun" {
            return;
        }
        loop {
            let Some(effect) = todo.pop_front() else {
                match self.world.session.deadline() {
                    Some(at) if at.as_secs() <= end => {
                        self.world.now = self.world.now.max(at);
                        todo.extend(self.world.input(Input::Tick));
                        continue;
                    }
                    _ => return,
                }
            };
            let (next, point) = self.perform(&effect, until);
            todo.extend(next);
            if !until.is_empty() && point == until {
                return;
            }
        }
    }

    /// Does what an effect says, and gives what follows and the point reached.
    fn perform(&mut self, effect: &Effect, until: &str) -> (Vec<Effect>, &'static str) {
        let id = |play: &Self| play.world.conversation(1);
        match effect {
            Effect::Save { token, .. } if self.failing > 0 => {
                self.failing -= 1;
                let result = Err(SaveFailure::Io);
                (self.world.input(Input::Saved { token: *token, result }), "failed")
            }
            Effect::Save { token, .. } => {
                let written = self.world.saved();
                let next = self.world.save_ok(*token);
                self.older = std::mem::replace(&mut self.disk, written);
                let agent = self.agent();
                let point = match agent.turns.marker() {
                    Some(marker) if marker.sent => "promised",
                    Some(_) => "marked",
                    None if self.prompts.is_empty() => "saved",
                    None => "cleared",
                };
                (next, point)
            }
            Effect::Preflight { pane, request, conversation, .. } => {
                // Of its own record.
                let mut found = extends(conversation.id.as_str(), 1);
                let result = match self.mode {
                    Mode::Gone => Err(refusal(FailureCode::Gone)),
                    Mode::Rewritten => {
                        found.relation = Relation::Rewritten;
                        Ok(found)
                    }
                    _ => Ok(found),
                };
                let request = *request;
                (self.world.input(Input::Preflighted { pane: *pane, request, result }), "checked")
            }
            Effect::ReadTurn { pane, .. } => {
                let marked = self.agent().turns.marker().map(|marker| marker.turn);
                let arrived = marked.is_some_and(|turn| self.prompts.contains(&turn));
                let happened =
                    TurnRecord { unfinished: Some(true), prompted: Some(arrived), last_tool: None };
                let record = self.record.clone().unwrap_or(happened);
                (self.world.input(Input::TurnRead { pane: *pane, record }), "read")
            }
            Effect::Spawn { instance, .. } => {
                // R4, S1-10: whatever starts by itself is on the disk before.
                let saved = self.disk.panes[0].agent.as_ref().unwrap();
                assert!(saved.continuity.starts > 0, "no attempt is counted on the disk");
                self.spawns += 1;
                (self.world.started(*instance), "spawned")
            }
            Effect::Observe { instance, .. } if until != "spawned" => {
                let next = match self.mode {
                    Mode::NoReport => Vec::new(),
                    Mode::NotFound => self.world.exit(*instance, 1),
                    Mode::Rotates | Mode::Ignores => self.world.shows(*instance, "B"),
                    _ => self.world.shows(*instance, &id(self)),
                };
                (next, "observed")
            }
            Effect::ReadRecord { instance, witness, named, .. } => {
                let name = named.id.to_string();
                let result = match self.mode {
                    Mode::Ignores => Err(refusal(FailureCode::Damaged)),
                    Mode::Empty => Err(refusal(FailureCode::Damaged)),
                    _ => Ok(extends(&name, 1)),
                };
                (self.world.read(*instance, *witness, &name, result), "proven")
            }
            Effect::Continue { continuation, .. } => {
                let instance = continuation.verified().instance();
                // S1-10, K6: that it goes out is on the disk before it does.
                let saved = self.disk.panes[0].agent.as_ref().unwrap();
                assert!(saved.turns.marker().unwrap().sent, "not promised on the disk");
                if self.refuses {
                    let result = Err(ContinueFailure::NeverQuiet);
                    return (self.world.input(Input::Continued { instance, result }), "sent");
                }
                self.sent += 1;
                if self.mode != Mode::Swallows {
                    self.prompts.push(continuation.turn());
                }
                if until == "sent" {
                    return (Vec::new(), "sent");
                }
                let result = Ok(Delivery::Sent);
                let mut next = self.world.input(Input::Continued { instance, result });
                if matches!(self.mode, Mode::NeverAccepts | Mode::Swallows) {
                    return (next, "sent");
                }
                next.extend(self.world.report(
                    instance,
                    AgentReport {
                        accepted_prompt: true,
                        lifecycle: Some(match self.mode {
                            Mode::Quick => Lifecycle::Idle,
                            _ => Lifecycle::Working,
                        }),
                        ..AgentReport::default()
                    },
                ));
                if until.is_empty() {
                    next.extend(self.world.does(instance, Lifecycle::Idle));
                }
                (next, "accepted")
            }
            Effect::Kill { instance } => (self.world.exit(*instance, 143), "killed"),
            Effect::Publish(Event::ResumeVerdict { verdict, .. }) => {
                self.verdicts.push(verdict.as_str());
                (Vec::new(), "judged")
            }
            Effect::Publish(Event::ContinuationFailed { refusal, .. }) => {
                // S1-23: it says once what its person can do.
                for word in ["resume", "by hand", "new message"] {
                    let often = refusal.message.matches(word).count();
                    assert!(often <= 1, "{word}, {often} times: {}", refusal.message);
                }
                self.failures += 1;
                (Vec::new(), "refused")
            }
            _ => (Vec::new(), "other"),
        }
    }
}
