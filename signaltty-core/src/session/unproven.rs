//! Panes whose resume proved nothing.
//!
//! Their agent is open for its person, who goes on with it. What they work in
//! from then on is what the pane holds, as in every other pane. But an agent that
//! nothing was proven of may have opened the wrong conversation by itself, so
//! what it had open when it was judged counts only once its person said
//! something more in it. And the conversation that was to be reopened is kept
//! whole beside the new one: a person can go back to it.
//!
//! A record that a person accepted as it is (`--anyway`) does not extend what
//! was saved of it, and never would again. Once they said something more in it,
//! it is anchored as it is now, so that the next resume can prove it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use super::{CommandError, Effect, PaneEntry, Session};
use crate::agent::{
    AgentSessionId, Anchor, Continuity, Conversation, Fingerprint, Moment, SavedAgent, Witness,
};
use crate::id::{PaneId, RequestId};
use crate::restore::{FailureCode, PaneState, Refusal};
use crate::time::Now;

/// What is known of a resume after its deadline.
#[derive(Debug, Clone)]
pub(super) struct Proof {
    pub(super) before: Fingerprint,
    pub(super) witnesses: Vec<Witness>,
    /// The deadline, while records of what was shown at it are still being
    /// read. What a person opens after it contradicts nothing.
    pub(super) moment: Moment,
}

/// What a process showed of which nothing was proven.
#[derive(Debug, Clone, Default)]
pub(super) struct Unproven {
    /// What it had open when it was judged, or the first that it showed after.
    shown: BTreeSet<AgentSessionId>,
    /// How much the person had said in each when it was first looked at.
    said: BTreeMap<AgentSessionId, u64>,
    /// The person resumed although something differed.
    overrode: bool,
    /// What differed is the record itself: it is anchored as it is.
    anew: bool,
}

impl Unproven {
    /// After a resume that ended with these witnesses.
    pub(super) fn new(witnesses: &[Witness], overrode: bool) -> Self {
        let shown = witnesses.iter().flat_map(|witness| witness.sessions.iter().cloned());
        Self { shown: shown.collect(), overrode, ..Self::default() }
    }

    /// It shows that it has this conversation open.
    pub(super) fn shows(&mut self, id: &AgentSessionId) {
        if self.shown.is_empty() {
            self.shown.insert(id.clone());
        }
    }

    /// Its record was read, with so many messages of the person. Whether the
    /// person worked in it since the resume.
    fn read(&mut self, id: &AgentSessionId, messages: u64) -> bool {
        let first = if self.shown.contains(id) { messages } else { 0 };
        messages > *self.said.entry(id.clone()).or_insert(first)
    }

    /// What the record is compared with when it is anchored anew.
    pub(super) fn compared_with(&self, saved: &Conversation) -> Conversation {
        let anchor = saved.anchor.clone().filter(|_| !self.anew);
        Conversation { anchor, ..saved.clone() }
    }

    /// The record could not be anchored. Whether it is to be anchored as it is.
    pub(super) fn cannot_anchor(&mut self, id: &AgentSessionId, why: &Refusal) -> bool {
        if why.code == FailureCode::Gone {
            self.said.entry(id.clone()).or_insert(0);
        }
        let differs = matches!(why.code, FailureCode::Damaged | FailureCode::Rewritten);
        let accepted = self.overrode && differs && !self.anew;
        self.anew |= accepted;
        accepted
    }
}

impl PaneEntry {
    /// Whether a conversation that was read takes the place of the saved one.
    pub(super) fn may_follow(&mut self, id: &AgentSessionId, anchor: &Anchor) -> bool {
        let unproven = self.run.unproven.as_mut();
        unproven.is_none_or(|unproven| unproven.read(id, anchor.user_messages))
    }

    /// Keeps the conversation that was to be reopened, when another takes its
    /// place and it is not known whether it ever was open. Of a row of them that
    /// is the last one that was not in doubt. Whether the other one is in doubt.
    pub(super) fn put_aside(&mut self) -> bool {
        let unproven = self.run.unproven.is_some();
        let Some(agent) = &mut self.edit().agent else {
            return unproven;
        };
        let in_doubt = agent.continuity.in_doubt;
        let keeps_surer = in_doubt && agent.previous.is_some() && !agent.previous_in_doubt;
        if unproven
            && !keeps_surer
            && let Some(saved) = agent.conversation.clone().filter(|saved| saved.anchor.is_some())
        {
            agent.previous = Some(saved);
            agent.previous_in_doubt = in_doubt;
        }
        unproven || in_doubt
    }

    /// A record that its person accepted and worked in takes the place of the
    /// anchor that it does not extend.
    pub(super) fn accept_anchor(&mut self, id: &AgentSessionId, anchor: &Anchor) -> bool {
        let accepted = self.run.unproven.as_mut().filter(|unproven| unproven.anew);
        let Some(accepted) = accepted else {
            return false;
        };
        if !accepted.read(id, anchor.user_messages) {
            return false;
        }
        accepted.anew = false;
        accepted.overrode = false;
        if let Some(verdict) = &mut self.run.verdict {
            verdict.evidence.push(ACCEPTED.into());
        }
        if let Some(agent) = &mut self.edit().agent
            && let Some(saved) = agent.conversation.as_mut().filter(|saved| saved.id == *id)
        {
            saved.anchor = Some(anchor.clone());
            agent.last_failure = None;
        }
        true
    }

    /// A resume of the previous conversation was refused: what was saved before
    /// is saved again. Whether it was that.
    pub(super) fn take_back(&mut self) -> bool {
        let Some(before) = self.run.before.take() else {
            return false;
        };
        self.edit().agent = Some(*before);
        true
    }
}

impl Session {
    /// Reopens the conversation that a pane held before; the present one is kept
    /// in its place.
    pub(super) fn begin_previous(
        &mut self,
        now: Now,
        request: RequestId,
        pane: PaneId,
        anyway: bool,
        cwd: Option<PathBuf>,
        out: &mut Vec<Effect>,
    ) -> Result<(), CommandError> {
        let entry = self.panes.get(&pane).ok_or(CommandError::NoSuchPane(pane))?;
        let PaneState::Tombstone(_) = entry.state else {
            return Err(CommandError::HasProcess(pane, entry.state.as_str()));
        };
        let agent = entry.record.agent.clone();
        let swapped = agent.as_ref().and_then(|agent| {
            let conversation = Some(agent.previous.clone()?);
            let previous = agent.conversation.clone();
            // The turns and the launch were those of the other one.
            let place = agent.place;
            let in_doubt = agent.previous_in_doubt;
            Some(SavedAgent {
                conversation,
                previous,
                previous_in_doubt: agent.continuity.in_doubt,
                continuity: Continuity { in_doubt, ..Continuity::default() },
                place,
                options: agent.options.clone(),
                ..SavedAgent::new(agent.kind.clone())
            })
        });
        let reason = "it keeps no previous conversation beside the one that it holds";
        let swapped = swapped.ok_or(CommandError::NotResumable { pane, reason })?;
        self.hold(pane, Some(swapped));
        let begun = self.begin_resume(now, request, pane, anyway, cwd, out);
        match (&begun, self.panes.get_mut(&pane)) {
            (Ok(()), Some(entry)) => entry.run.before = agent.map(Box::new),
            (Err(_), _) => self.hold(pane, agent),
            _ => {}
        }
        begun
    }

    fn hold(&mut self, pane: PaneId, agent: Option<SavedAgent>) {
        if let Some(entry) = self.panes.get_mut(&pane) {
            entry.edit().agent = agent;
        }
    }
}

const ACCEPTED: &str = "record: it was accepted as it is and worked in, so the next resume is \
                        compared with what it is now";
