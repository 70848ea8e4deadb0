//! One conversation, one pane (D-13).
//!
//! Two panes have the same conversation where their agents keep it in the same
//! place, however that place is spelled: in a home that is reached by a symbolic
//! link, or is named by a variable in one pane and by default in the other. So
//! what counts is the record itself. As long as one of the two records is not
//! known, the same id of the same agent counts as the same conversation.

use super::{Effect, Event, PaneEntry, Session, publish};
use crate::agent::{AgentKind, Conversation, Fingerprint};
use crate::id::PaneId;
use crate::pane::Attention;
use crate::restore::{FailureCode, PaneState, Refusal, ResumeStage};
use crate::time::Now;

impl Session {
    /// Another pane that has the conversation open or is about to.
    pub(super) fn holder_of(
        &self,
        pane: PaneId,
        kind: &AgentKind,
        wanted: &Conversation,
    ) -> Option<PaneId> {
        let holds = |entry: &PaneEntry| {
            let agent = entry.record.agent.as_ref();
            let saved = agent.filter(|agent| agent.kind == *kind);
            let saved = saved.and_then(|agent| agent.conversation.as_ref());
            // One that it shows and that is not anchored yet is open as well.
            let shown = entry.run.candidate.as_ref();
            let shown = shown.filter(|_| entry.agent_kind() == Some(kind));
            let open = entry.holds_open() || matches!(entry.state, PaneState::Resuming(_));
            let opened = |saved: &&Conversation| open && entry.opens(saved, wanted);
            saved.filter(opened).is_some() || shown == Some(&wanted.id)
        };
        let mut others = self.panes.holders(&wanted.id).filter(|id| *id != pane);
        others.find(|id| self.panes.get(id).is_some_and(holds))
    }

    /// The look before a start found the record. It may be another pane's, under
    /// a name that nothing saved told.
    pub(super) fn found_elsewhere(&self, pane: PaneId, found: &Fingerprint) -> Option<Refusal> {
        let (kind, mut conversation) = self.resumed_conversation(pane)?;
        conversation.anchor = Some(found.now.clone());
        let other = self.holder_of(pane, &kind, &conversation)?;
        Some(duplicate(&conversation, other))
    }

    /// Another pane with a process that has the same conversation open as this
    /// one.
    pub fn shared_with(&self, pane: PaneId) -> Option<PaneId> {
        let entry = self.panes.get(&pane)?;
        let PaneState::Live { .. } = entry.state else {
            return None;
        };
        let kind = entry.agent_kind()?;
        let saved = entry.record.agent.as_ref().filter(|agent| agent.kind == *kind);
        let saved = saved.and_then(|agent| agent.conversation.as_ref());
        let conversation = match (&entry.run.candidate, &entry.run.home) {
            (Some(id), Some((cwd, config_env))) => Conversation {
                id: id.clone(),
                cwd: cwd.clone(),
                config_env: config_env.clone(),
                anchor: None,
                previous: None,
            },
            (None, _) => saved.filter(|_| entry.holds_open())?.clone(),
            (Some(_), None) => return None,
        };
        self.holder_of(pane, kind, &conversation)
    }

    /// Says at once that two panes have one conversation open: nothing keeps an
    /// agent from that, and what one of them writes is lost.
    pub(super) fn tell_shared(&mut self, now: Now, pane: PaneId, out: &mut Vec<Effect>) {
        self.panes.refresh();
        let other = self.shared_with(pane);
        let Some(entry) = self.panes.get_mut(&pane) else {
            return;
        };
        if std::mem::replace(&mut entry.run.shared, other) == other {
            return;
        }
        publish(out, Event::PaneUpdated { pane });
        if let Some(other) = other {
            publish(out, Event::ConversationShared { pane, other });
            self.raise_attention(now, pane, Attention::Warning, out);
            self.raise_attention(now, other, Attention::Warning, out);
        }
    }
}

impl PaneEntry {
    /// Whether its conversation is the wanted one. What was found of its record
    /// by a resume is newer than what was saved of it.
    fn opens(&self, saved: &Conversation, wanted: &Conversation) -> bool {
        let before = match &self.state {
            PaneState::Resuming(stage) => match &**stage {
                ResumeStage::Spawning { before, .. } | ResumeStage::Verifying { before, .. } => {
                    before.as_ref()
                }
                ResumeStage::Reading { before, .. } => Some(before),
                _ => None,
            },
            _ => None,
        };
        let found = before.is_some_and(|before| {
            let anchor = Some(before.now.clone());
            Conversation { anchor, ..saved.clone() }.same_as(wanted)
        });
        found || saved.same_as(wanted)
    }
}

impl Conversation {
    /// Whether both are one: the same id, in the same record where both are
    /// known.
    pub(super) fn same_as(&self, other: &Self) -> bool {
        let apart = match (&self.anchor, &other.anchor) {
            (Some(ours), Some(theirs)) => !ours.is_of_same_record(theirs),
            _ => false,
        };
        self.id == other.id && !apart
    }
}

/// The refusal for one that is open in another pane.
pub(super) fn duplicate(conversation: &Conversation, other: PaneId) -> Refusal {
    let message = format!(
        "conversation {} is open in pane {other} already, and can be open only once; go on there: \
         signaltty attach {other}",
        conversation.id
    );
    Refusal::new(FailureCode::Duplicate, message)
}
