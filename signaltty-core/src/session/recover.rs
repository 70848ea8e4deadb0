//! What a server does by itself when it starts: which conversations are
//! reopened, which turns go on, and which are given up.
//!
//! Decided once (S1-3). Every attempt is counted and on the disk before anything
//! starts (R4, S1-10); then few at a time are started, one after the other.

use std::collections::BTreeMap;
use std::time::Duration;

use super::attempts::{Attempt, Step};
use super::sharing::duplicate;
use super::{Effect, Event, Session, publish};
use crate::agent::{AgentSessionId, MarkerOrigin, TurnRecord, Widening};
use crate::id::PaneId;
use crate::pane::Attention;
use crate::restore::{
    AutomaticSpawn, Facts, FailureCode, Marking, NoContinuation, OfficialCommand, PanePlan,
    PaneState, Planned, Refusal, ResumeStage, plan,
};
use crate::save::SaveToken;
use crate::time::Now;
use crate::workspace::Switches;

/// How long reading what a record says of a turn may take.
const LONGEST_READ: Duration = Duration::from_secs(60);

/// How automatic starts share the machine (C053, C091).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RecoveryConfig {
    /// At most so many at a time, until each is proven or refused.
    pub parallel: usize,
    /// At least so long between two of them.
    pub stagger: Duration,
    /// So much longer waits one whose last automatic start did not last; twice
    /// and more often, four times as long.
    pub backoff: Duration,
    /// An automatic start that lived so long has lasted.
    pub lasts: Duration,
}

impl Default for RecoveryConfig {
    fn default() -> Self {
        Self {
            parallel: 4,
            stagger: Duration::from_millis(100),
            backoff: Duration::from_secs(5),
            lasts: Duration::from_secs(60),
        }
    }
}

/// What the server has begun by itself.
#[derive(Debug, Clone, Default)]
pub(super) struct Recovery {
    begun: bool,
    /// Panes that wait for a synced save, and the one that they wait for once it
    /// is under way.
    barriers: BTreeMap<PaneId, Option<SaveToken>>,
    /// Marked panes that wait for their turn, each not before a time.
    queue: Vec<(Duration, PaneId)>,
    /// The next of them starts no earlier.
    next: Duration,
}

impl Session {
    /// What a start would do with each pane, in the order in which people see
    /// them. For a running server: if it went away now and came again.
    pub fn plan_restart(&self, now: Now) -> Vec<PanePlan> {
        let (then, _) = Self::restore(self.saved(now), self.epoch, self.config.clone(), now);
        then.plans().into_iter().map(|(pane, plan, marked)| plan.in_words(pane, marked)).collect()
    }

    /// Decides for every pane. Of several that hold one conversation the first
    /// that may have it gets it (D-13).
    fn plans(&self) -> Vec<(PaneId, Planned, bool)> {
        let mut taken: BTreeMap<AgentSessionId, Vec<PaneId>> = BTreeMap::new();
        let mut plans = Vec::new();
        for workspace in self.workspaces() {
            for pane in workspace.tabs().flat_map(|tab| tab.panes().collect::<Vec<_>>()) {
                let id = pane.record.id;
                let agent = pane.record.agent.as_ref();
                let conversation = agent.and_then(|agent| agent.conversation.as_ref());
                let kind = agent.map(|agent| &agent.kind);
                let same = |other: &&PaneId| {
                    let other = self.panes.get(other).and_then(|e| e.record.agent.as_ref());
                    other.is_some_and(|other| {
                        Some(&other.kind) == kind
                            && other
                                .conversation
                                .as_ref()
                                .zip(conversation)
                                .is_some_and(|(a, b)| a.same_as(b))
                    })
                };
                let claimed = conversation.and_then(|wanted| taken.get(&wanted.id));
                let claimed = claimed.and_then(|panes| panes.iter().find(same)).copied();
                let open = kind.zip(conversation).and_then(|(k, c)| self.holder_of(id, k, c));
                let facts = Facts {
                    state: pane.state,
                    agent,
                    end: pane.record.end.as_ref(),
                    archived: workspace.record.archived,
                    switches: workspace.record.switches,
                    policy: kind.and_then(|kind| self.config.policies.get(kind)),
                    holder: claimed.or(open),
                    tried: false,
                    max_attempts: self.config.max_attempts,
                };
                let planned = match self.awaited.contains(&id) {
                    // Somebody is starting something in it.
                    true => Planned::Leave(NoContinuation::Live),
                    false => plan(&facts),
                };
                if let (Planned::Resume { .. } | Planned::Continue(_), Some(wanted)) =
                    (&planned, conversation)
                {
                    taken.entry(wanted.id.clone()).or_default().push(id);
                }
                let marked = agent.is_some_and(|agent| agent.turns.marker().is_some());
                plans.push((id, planned, marked));
            }
        }
        plans
    }

    /// The server is up: settle what is not to go on, and count and mark all
    /// that is, in one save. A second time changes nothing.
    pub(super) fn begin_recovery(&mut self, now: Now, out: &mut Vec<Effect>) {
        if std::mem::replace(&mut self.recovery.begun, true) || self.is_stopping() {
            return;
        }
        for (pane, planned, marked) in self.plans() {
            // Its promise is over, whatever becomes of the conversation.
            if let Planned::Leave(NoContinuation::TurnFinished)
            | Planned::Resume { why: NoContinuation::TurnFinished, .. } = planned
            {
                if let Some(agent) = self.agent_mut(pane) {
                    agent.turns.forget_marker();
                }
                self.save.changed(now.mono);
            }
            match planned {
                // It was to be reopened, and its person looks for it.
                Planned::Leave(NoContinuation::Duplicate(other)) => {
                    if let Some((_, conversation)) = self.resumed_conversation(pane) {
                        self.fail_resume(now, pane, duplicate(&conversation, other), out);
                    }
                }
                Planned::Leave(_) => {}
                Planned::Settle(why) => self.settle_turn(now, pane, why, marked, out),
                Planned::Resume { permission, why } => {
                    if why.settles() {
                        self.settle_turn(now, pane, why, marked, out);
                    }
                    if let Some(agent) = self.agent_mut(pane) {
                        let marking = Marking::resume(permission, &mut agent.continuity);
                        self.mark(now, pane, marking, out);
                    }
                }
                Planned::Continue(recovery) => {
                    if let Some(agent) = self.agent_mut(pane) {
                        agent.continuity.starts = agent.continuity.starts.saturating_add(1);
                        let marking = Marking::begin(recovery, &mut agent.turns);
                        self.mark(now, pane, marking, out);
                    }
                }
            }
        }
    }

    fn mark(&mut self, now: Now, pane: PaneId, marking: Marking, out: &mut Vec<Effect>) {
        self.set_attempt(pane, Attempt::new(Step::Marking(marking)));
        self.set_stage(pane, ResumeStage::Marking { saved: false }, out);
        self.await_barrier(now, pane);
    }

    /// The pane goes on once its present state is on the disk.
    pub(super) fn await_barrier(&mut self, now: Now, pane: PaneId) {
        self.recovery.barriers.insert(pane, None);
        self.save.changed(now.mono);
        self.save.require_barrier();
    }

    /// A synced save begins: it holds what waiting panes wait for.
    pub(super) fn barrier_begins(&mut self, token: SaveToken) {
        for waits in self.recovery.barriers.values_mut() {
            waits.get_or_insert(token);
        }
    }

    /// Panes whose save this was.
    pub(super) fn barrier_ended(&mut self, token: SaveToken) -> Vec<PaneId> {
        let barriers = &mut self.recovery.barriers;
        let waited = barriers.iter().filter(|(_, waits)| **waits == Some(token));
        let panes: Vec<_> = waited.map(|(pane, _)| *pane).collect();
        for pane in &panes {
            barriers.remove(pane);
        }
        panes
    }

    pub(super) fn forget_barrier(&mut self, pane: PaneId) {
        self.recovery.barriers.remove(&pane);
        self.recovery.queue.retain(|(_, queued)| *queued != pane);
    }

    /// It is marked on the disk, and waits for its turn.
    pub(super) fn enqueue(&mut self, now: Now, pane: PaneId, out: &mut Vec<Effect>) {
        let agent = self.panes.get(&pane).and_then(|entry| entry.record.agent.as_ref());
        let starts = agent.map_or(0, |agent| agent.continuity.starts);
        let wait = match starts {
            0 | 1 => Duration::ZERO,
            2 => self.config.recovery.backoff,
            _ => self.config.recovery.backoff.saturating_mul(4),
        };
        self.set_stage(pane, ResumeStage::Marking { saved: true }, out);
        self.recovery.queue.push((now.mono.saturating_add(wait), pane));
    }

    /// Starts what is due, as far as there is room.
    pub(super) fn start_queued(&mut self, now: Now, out: &mut Vec<Effect>) {
        while !self.is_stopping() && now.mono >= self.recovery.next && self.has_room() {
            let due = self.recovery.queue.iter().position(|(at, _)| *at <= now.mono);
            let Some(due) = due else { return };
            let (_, pane) = self.recovery.queue.remove(due);
            if self.check_queued(now, pane, out) {
                self.recovery.next = now.mono.saturating_add(self.config.recovery.stagger);
            }
        }
    }

    /// When the next of them may start; nothing while others take all the room,
    /// since their end is an input.
    pub(super) fn recovery_deadline(&self) -> Option<Duration> {
        let first = self.recovery.queue.iter().map(|(at, _)| *at).min()?;
        self.has_room().then(|| first.max(self.recovery.next))
    }

    fn has_room(&self) -> bool {
        if self.recovery.queue.is_empty() {
            return false;
        }
        self.panes.starting_by_themselves() < self.config.recovery.parallel
    }

    /// Looks once more whether a marked pane is still wanted, and begins.
    fn check_queued(&mut self, now: Now, pane: PaneId, out: &mut Vec<Effect>) -> bool {
        let Some(entry) = self.panes.get_mut(&pane) else {
            return false;
        };
        let Some(Attempt { step: Step::Queued(marked), .. }) = entry.attempt.take() else {
            return false;
        };
        if let Some(why) = self.unwanted(pane) {
            self.give_up(now, pane, why, out);
            return false;
        }
        let Some((kind, conversation)) = self.resumed_conversation(pane) else {
            self.give_up(now, pane, NoContinuation::NoConversation, out);
            return false;
        };
        if let Some(entry) = self.panes.get_mut(&pane) {
            let home = Some((conversation.cwd.clone(), conversation.config_env.clone()));
            entry.run = super::Run { home, ended: entry.run.ended, ..super::Run::default() };
        }
        self.set_attempt(pane, Attempt::new(Step::Checking(marked)));
        let deadline = now.mono.saturating_add(super::resume::LONGEST_CHECK);
        let stage = ResumeStage::Checking { request: None, anyway: false, deadline };
        self.set_stage(pane, stage, out);
        out.push(Effect::Preflight { pane, request: None, kind, conversation });
        true
    }

    /// Why nobody wants an automatic start any more: switches may be turned off
    /// at any time before the process is there.
    fn unwanted(&self, pane: PaneId) -> Option<NoContinuation> {
        let (archived, switches) = self.workspace_of(pane);
        let agent = self.panes.get(&pane).and_then(|entry| entry.record.agent.as_ref());
        let marker = agent.and_then(|agent| agent.turns.marker());
        let planned = marker.is_some_and(|marker| marker.origin == MarkerOrigin::Planned);
        match (archived, planned || switches.auto_resume) {
            (true, _) => Some(NoContinuation::Archived),
            (false, false) => Some(NoContinuation::NotResuming),
            (false, true) => None,
        }
    }

    /// Preflight of an automatic start came to an end.
    pub(super) fn checked_by_itself(
        &mut self,
        now: Now,
        pane: PaneId,
        result: Result<crate::agent::Fingerprint, Refusal>,
        out: &mut Vec<Effect>,
    ) {
        let Some(Attempt { step: Step::Checking(marked), .. }) = self.take_attempt(pane) else {
            return;
        };
        let agent = self.panes.get(&pane).and_then(|entry| entry.record.agent.as_ref());
        let Some(command) = agent.and_then(OfficialCommand::of) else {
            return self.give_up(now, pane, NoContinuation::NoConversation, out);
        };
        // Nobody is there who gave the options that widen what the agent may do.
        let widening = if self.config.carry_bypass { Widening::Carried } else { Widening::LeftOut };
        let command = command.carrying(widening);
        let spawn = match AutomaticSpawn::new(command, marked, result) {
            Ok(spawn) => spawn,
            Err(refusal) => return self.refuse_resume(now, pane, refusal, Vec::new(), out),
        };
        let (before, turn) = (spawn.before().clone(), spawn.turn());
        if turn.is_none() {
            return self.spawn_by_itself(now, pane, spawn, out);
        }
        let (kind, conversation) =
            (spawn.command().kind().clone(), spawn.command().conversation().clone());
        self.set_attempt(pane, Attempt::new(Step::Reading(spawn)));
        let deadline = now.mono.saturating_add(LONGEST_READ);
        self.set_stage(pane, ResumeStage::Reading { before, deadline }, out);
        out.push(Effect::ReadTurn { pane, kind, conversation });
    }

    /// What the record says of the interrupted turn is known.
    pub(super) fn turn_read(
        &mut self,
        now: Now,
        pane: PaneId,
        record: TurnRecord,
        out: &mut Vec<Effect>,
    ) {
        let Some(entry) = self.panes.get_mut(&pane) else {
            return;
        };
        let Some(attempt) = entry.attempt.take() else {
            return;
        };
        let spawn = match attempt.step {
            Step::Reading(spawn) => spawn,
            Step::HandReading(verified) => {
                entry.receipt = record.last_tool;
                if record.unfinished == Some(false) {
                    return self.nothing_left(now, pane, attempt.request, out);
                }
                return self.promise_by_hand(now, pane, verified, attempt.request, out);
            }
            step => {
                entry.attempt = Some(Attempt { step, ..attempt });
                return;
            }
        };
        entry.receipt.clone_from(&record.last_tool);
        let marker = entry.record.agent.as_ref().and_then(|agent| agent.turns.marker());
        let Some(marker) = marker else {
            return self.spawn_by_itself(now, pane, spawn.without_turn(), out);
        };
        let automatic = marker.origin == MarkerOrigin::Automatic;
        let open = record.last_tool.as_ref().is_some_and(crate::agent::Receipt::is_open);
        let why = match (marker.sent, record.prompted) {
            // Whoever's turn it was, ours included: nothing is left to go on with.
            _ if record.unfinished == Some(false) => Some(NoContinuation::RecordFinished),
            (true, Some(true)) => Some(NoContinuation::Arrived),
            (true, None) => Some(NoContinuation::PromptUnclear),
            _ if automatic && open => Some(NoContinuation::OpenToolCall),
            _ => None,
        };
        let Some(why) = why else {
            if let Some(agent) = self.agent_mut(pane) {
                agent.turns.not_sent();
            }
            return self.spawn_by_itself(now, pane, spawn, out);
        };
        let (_, switches) = self.workspace_of(pane);
        if !switches.auto_resume {
            return self.give_up(now, pane, why, out);
        }
        self.settle_turn(now, pane, why, true, out);
        self.spawn_by_itself(now, pane, spawn.without_turn(), out);
    }

    fn spawn_by_itself(
        &mut self,
        now: Now,
        pane: PaneId,
        spawn: AutomaticSpawn,
        out: &mut Vec<Effect>,
    ) {
        if let Some(why) = self.unwanted(pane) {
            return self.give_up(now, pane, why, out);
        }
        let before = Some(spawn.before().clone());
        let command = spawn.command().clone();
        self.set_attempt(pane, Attempt::new(Step::Running(spawn)));
        self.spawn_official(pane, None, before, command, out);
    }

    /// An attempt that has no process ends without one.
    pub(super) fn give_up(
        &mut self,
        now: Now,
        pane: PaneId,
        why: NoContinuation,
        out: &mut Vec<Effect>,
    ) {
        self.drop_attempt(pane);
        let resuming = |entry: &super::PaneEntry| matches!(entry.state, PaneState::Resuming(_));
        if let Some(entry) = self.panes.get_mut(&pane).filter(|entry| resuming(entry)) {
            entry.settle();
        }
        self.settle_turn(now, pane, why, true, out);
        self.publish_state(pane, out);
    }

    /// The interrupted turn of a pane will not go on by itself. Its person is
    /// told where somebody had asked for it.
    pub(super) fn settle_turn(
        &mut self,
        now: Now,
        pane: PaneId,
        why: NoContinuation,
        wished: bool,
        out: &mut Vec<Effect>,
    ) {
        let (_, switches) = self.workspace_of(pane);
        let wished = wished || (switches.auto_resume && switches.auto_continue);
        let Some(agent) = self.agent_mut(pane) else {
            return;
        };
        let had = agent.turns.active().is_some() || agent.turns.marker().is_some();
        match why {
            NoContinuation::Arrived => {
                // It was a turn of its own, and is the interrupted one now.
                let _ = agent.turns.arrived();
            }
            NoContinuation::RecordFinished => {
                agent.turns.settle();
                agent.interrupted = false;
            }
            _ => agent.turns.settle(),
        }
        self.save.changed(now.mono);
        publish(out, Event::TurnSettled { pane, reason: why.as_str() });
        let quiet = matches!(why, NoContinuation::RecordFinished | NoContinuation::NotResuming);
        if had && wished && !quiet && why != NoContinuation::Archived {
            self.tell_not_continued(now, pane, &why.to_string(), out);
        }
    }

    /// Tells people that a turn does not go on, in the words of S1-23.
    pub(super) fn tell_not_continued(
        &mut self,
        now: Now,
        pane: PaneId,
        why: &str,
        out: &mut Vec<Effect>,
    ) {
        let message = format!(
            "continuing after the restart failed: {why}; send a new message to go on, or \
             continue with `signaltty continue {pane}`"
        );
        let refusal = Refusal::new(FailureCode::NotContinued, message);
        self.note_failure(now, pane, refusal.clone());
        if let Some(entry) = self.panes.get_mut(&pane) {
            let line = super::plain_line(&refusal.message, super::TITLE_CHARS);
            entry.edit().last_message = Some(line);
        }
        self.save.changed(now.mono);
        publish(out, Event::ContinuationFailed { pane, refusal });
        self.raise_attention(now, pane, Attention::Warning, out);
    }

    pub(super) fn workspace_of(&self, pane: PaneId) -> (bool, Switches) {
        let tab = self.panes.get(&pane).map(|entry| entry.record.tab);
        let tab = tab.and_then(|tab| self.tabs.get(&tab));
        let workspace = tab.and_then(|tab| self.workspaces.get(&tab.workspace));
        workspace.map_or((true, Switches::default()), |entry| {
            (entry.record.archived, entry.record.switches)
        })
    }
}
