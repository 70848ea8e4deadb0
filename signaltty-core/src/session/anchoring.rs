//! How far the anchor of a live conversation reaches.
//!
//! It is taken anew whenever a turn ends. An agent that never says what it does
//! shows no end of a turn; of that one a look is the occasion, and the anchor
//! follows within [`PAUSE`]. Where in a turn it is taken does not matter: the
//! agent appends, so what it covers stays the beginning of the record.
//!
//! Three things keep it where it is: a resume that nothing has proven, since then
//! it is not known whose record the process writes; a prompt of ours of which
//! nobody has said what became of it, which is looked for behind the anchor
//! (S1-12); and a record that does not extend it (D-3), unless the agent of a
//! pane that is not in doubt rewrote it itself and lost nothing of it: then it is
//! taken as it is once a turn ended, and that is noted.

use std::path::PathBuf;
use std::time::Duration;

use super::{Effect, Event, Session, VerdictWord, publish};
use crate::agent::{
    AgentPlace, AgentSessionId, Anchor, Continuity, Conversation, SavedAgent, Witness,
};
use crate::id::{InstanceId, PaneId};
use crate::pane::{Attention, Lifecycle};
use crate::restore::{FailureCode, PaneState, Refusal};
use crate::time::Now;

/// From one anchor of an agent without a status to the next. Each reads the whole
/// record.
const PAUSE: Duration = Duration::from_secs(10);

impl Session {
    /// Asks for the anchor of the conversation in front: of a new one always,
    /// of the saved one when a turn ended.
    pub(super) fn take_anchor(&mut self, pane: PaneId, turn_ended: bool, out: &mut Vec<Effect>) {
        let Some(entry) = self.panes.get_mut(&pane) else {
            return;
        };
        let PaneState::Live { instance } = entry.state else {
            return;
        };
        let Some(agent) = &entry.record.agent else {
            return;
        };
        // What its agent left is not what another one has open.
        let open = agent.conversation.as_ref().filter(|_| entry.holds_open());
        let conversation = match (&entry.run.candidate, open) {
            (Some(id), saved) => {
                let Some((cwd, config_env)) = entry.run.home.clone() else {
                    return;
                };
                let previous = saved.map(|saved| saved.id.clone());
                Conversation { id: id.clone(), cwd, config_env, anchor: None, previous }
            }
            (None, Some(saved)) if turn_ended || saved.anchor.is_none() => {
                let unproven = entry.run.unproven.as_ref();
                let anew = entry.run.anew;
                let anchor = saved.anchor.clone().filter(|_| !anew);
                let whole = || Conversation { anchor, ..saved.clone() };
                unproven.map_or_else(whole, |unproven| unproven.compared_with(saved))
            }
            _ => return,
        };
        if let Some(again) = &mut entry.run.anchoring {
            *again = true;
            return;
        }
        let kind = entry.agent_kind().unwrap_or(&agent.kind).clone();
        entry.run.anchoring = Some(false);
        out.push(Effect::Anchor { instance, kind, conversation });
    }

    /// Where a conversation that is about to be anchored goes on (D-23). The saved
    /// one was moved there by its agent.
    pub(super) fn works_in(
        &mut self,
        now: Now,
        instance: InstanceId,
        id: AgentSessionId,
        cwd: PathBuf,
    ) {
        let pane = self.instances.get(&instance);
        let Some(entry) = pane.and_then(|pane| self.panes.get_mut(pane)) else {
            return;
        };
        let open = matches!(entry.state, PaneState::Live { .. })
            && entry.holds_open()
            && entry.run.candidate.is_none()
            && entry.run.unproven.is_none();
        let agent = entry.record.agent.as_ref().filter(|_| open);
        let saved = agent.and_then(|agent| agent.conversation.as_ref());
        if saved.is_some_and(|saved| saved.id == id && saved.cwd != cwd)
            && let Some(agent) = &mut entry.edit().agent
            && let Some(saved) = &mut agent.conversation
        {
            saved.cwd.clone_from(&cwd);
            self.save.changed(now.mono);
        }
        entry.run.works_in = Some((id, cwd));
    }

    pub(super) fn anchored(
        &mut self,
        now: Now,
        instance: InstanceId,
        id: AgentSessionId,
        result: Result<Anchor, Refusal>,
        out: &mut Vec<Effect>,
    ) {
        let Some(pane) = self.instances.get(&instance).copied() else {
            return;
        };
        let Some(entry) = self.panes.get_mut(&pane) else {
            return;
        };
        let mut again = entry.run.anchoring.take().unwrap_or(false);
        entry.run.anchored = Some(now.mono);
        // Before somebody said something in it there is nothing to keep.
        let shown = entry.run.candidate.as_ref() == Some(&id);
        let lost = result.as_ref().err().filter(|why| shown && why.code != FailureCode::Gone);
        let lost = lost.map(|why| (id.clone(), why.clone()));
        match (result, &mut entry.run.unproven) {
            (Ok(anchor), _) => {
                let bound = entry.store_anchor(now, &id, anchor);
                if bound != Stored::Unchanged {
                    self.save.changed(now.mono);
                }
                if let Stored::NewConversation { marked } = bound {
                    if marked {
                        // What was promised for the other one must not outlive a
                        // crash.
                        self.save.require_barrier();
                    }
                    publish(out, Event::AgentBound { pane, id });
                    self.tell_shared(now, pane, out);
                }
            }
            (Err(refusal), Some(unproven)) => again |= unproven.cannot_anchor(&id, &refusal),
            (Err(refusal), None) => {
                entry.run.anew = entry.rewrote(&id, &refusal);
                again |= entry.run.anew;
            }
        }
        if let Some((id, why)) = lost {
            self.cannot_keep(now, pane, &id, &why, out);
        }
        if again {
            self.take_anchor(pane, true, out);
        }
    }

    /// The agent went on to another conversation, which cannot be anchored: what
    /// was proven of the saved one says nothing of what is on the screen.
    fn cannot_keep(
        &mut self,
        now: Now,
        pane: PaneId,
        id: &AgentSessionId,
        why: &Refusal,
        out: &mut Vec<Effect>,
    ) {
        let Some(entry) = self.panes.get_mut(&pane) else {
            return;
        };
        let agent = entry.record.agent.as_ref();
        let told = agent.and_then(|agent| agent.last_failure.as_ref());
        let message =
            format!("its agent has {id} open, which cannot be kept for a restart: {}", why.message);
        if told.is_some_and(|told| *told.refusal.message == *message) {
            return;
        }
        entry.run.verdict = None;
        entry.run.verified = None;
        self.note_failure(now, pane, Refusal::new(FailureCode::NotKept, message));
        self.save.changed(now.mono);
        self.raise_attention(now, pane, Attention::Warning, out);
        publish(out, Event::PaneUpdated { pane });
    }

    /// A look showed what an agent has open. Where that is the saved conversation
    /// of one without a status, it is to be anchored anew.
    pub(super) fn looked_at(&mut self, now: Now, pane: PaneId, witness: &Witness) {
        let Some(entry) = self.panes.get_mut(&pane).filter(|entry| entry.is_without_status())
        else {
            return;
        };
        let saved = entry.record.agent.as_ref().and_then(|agent| agent.conversation.as_ref());
        let shown = witness.sessions.len() == 1;
        if shown && saved.is_some_and(|saved| witness.sessions.contains(&saved.id)) {
            let last = entry.run.anchored.unwrap_or(now.mono);
            entry.run.anchor_due.get_or_insert(last.saturating_add(PAUSE));
        }
    }

    /// The time for that has come.
    pub(super) fn anchor_if_due(&mut self, now: Now, pane: PaneId, out: &mut Vec<Effect>) {
        let Some(entry) = self.panes.get_mut(&pane) else {
            return;
        };
        if entry.run.anchor_due.take_if(|due| *due <= now.mono).is_some()
            && entry.is_without_status()
        {
            self.take_anchor(pane, true, out);
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stored {
    Unchanged,
    Anchor,
    /// In place of another one, of whose turn a promise may have been saved.
    NewConversation {
        marked: bool,
    },
}

impl super::PaneEntry {
    /// Whether its own agent rewrote the record that could not be anchored: it
    /// has it open, for all that is known, and has just finished a turn in it.
    fn rewrote(&self, id: &AgentSessionId, why: &Refusal) -> bool {
        let saved = self.record.agent.as_ref().and_then(|agent| agent.conversation.as_ref());
        // All that was saved is still there: a record that lost something is not
        // taken for an agent's own work.
        let differs = why.code == FailureCode::Rewritten;
        // One that never says what it does shows no end of a turn, and what a look
        // finds cut may have been cut by anybody.
        let ended = matches!(self.record.lifecycle, Lifecycle::Done | Lifecycle::Idle);
        differs
            && ended
            && !self.run.anew
            && self.run.candidate.is_none()
            && self.holds_open()
            && saved.is_some_and(|saved| saved.id == *id)
    }

    /// Whether it has a conversation open that is the saved one for all that is
    /// known, of an agent that has not said yet what it does.
    fn is_without_status(&self) -> bool {
        let proven = |verdict: &super::PaneVerdict| verdict.word == VerdictWord::Verified;
        matches!(self.state, PaneState::Live { .. })
            && self.record.lifecycle == Lifecycle::Unknown
            && self.run.candidate.is_none()
            && self.run.verdict.as_ref().is_none_or(proven)
            && self.holds_open()
    }

    fn store_anchor(&mut self, now: Now, id: &AgentSessionId, anchor: Anchor) -> Stored {
        let candidate = self.run.candidate.as_ref() == Some(id);
        let home = self.run.home.clone();
        let open = self.holds_open();
        let followed = self.run.followed.as_ref().map(|(kind, _)| kind.clone());
        let Some(agent) = &self.record.agent else {
            return Stored::Unchanged;
        };
        let saved = agent.conversation.as_ref().filter(|_| open);
        if candidate && anchor.user_messages > 0 {
            let Some((cwd, config_env)) = home else {
                return Stored::Unchanged;
            };
            let own = self.run.works_in.clone().filter(|(of, _)| of == id);
            let cwd = own.map_or(cwd, |(_, own)| own);
            let previous = saved.map(|saved| saved.id.clone());
            let replaces = previous.is_some();
            if !self.may_follow(id, &anchor) {
                return Stored::Unchanged;
            }
            let in_doubt = self.put_aside();
            let reported = self.run.reported.take_if(|(of, _)| of == id);
            let conversation =
                Conversation { id: id.clone(), cwd, config_env, anchor: Some(anchor), previous };
            self.run.candidate = None;
            if replaces {
                self.watch.replaced();
            }
            if let Some(kind) = followed {
                let (place, options) = (AgentPlace::Shell, self.run.options.clone());
                self.edit().agent = Some(SavedAgent { place, options, ..SavedAgent::new(kind) });
            }
            // What was proven of the one before says nothing of this one, and its
            // interrupted turn is not to be continued here (S1-26).
            self.run.verdict = None;
            self.run.verified = None;
            self.run.proof = None;
            self.run.unproven = None;
            let mut marked = false;
            if let Some(agent) = &mut self.edit().agent {
                agent.conversation = Some(conversation);
                agent.last_failure = None;
                agent.interrupted = false;
                agent.question_expired = false;
                agent.continuity = Continuity { in_doubt, ..Continuity::default() };
                marked = agent.turns.marker().is_some();
                agent.turns.forget_marker();
                // What was reported for another conversation is dropped (S0-19).
                agent.reported_argv = reported.map(|(_, argv)| argv);
            }
            return Stored::NewConversation { marked };
        }
        let is_saved = saved.is_some_and(|saved| saved.id == *id);
        if is_saved && self.run.anew {
            self.run.anew = false;
            let known = saved.and_then(|saved| saved.anchor.as_ref());
            let least = known.map_or(1, |known| known.user_messages);
            if anchor.user_messages >= least
                && !agent.turns.awaits_word()
                && let Some(agent) = &mut self.edit().agent
                && let Some(saved) = &mut agent.conversation
            {
                saved.anchor = Some(anchor);
                agent.continuity.rewritten_at = Some(now.wall);
                return Stored::Anchor;
            }
            return Stored::Unchanged;
        }
        if is_saved && self.accept_anchor(id, &anchor) {
            return Stored::Anchor;
        }
        let Some(agent) = &self.record.agent else {
            return Stored::Unchanged;
        };
        let saved = agent.conversation.as_ref().filter(|_| open);
        // An anchor never shrinks (D-3).
        let used = anchor.user_messages > 0 && !agent.turns.awaits_word();
        let grows = |known: &Anchor| *known != anchor && !anchor.is_shorter_than(known);
        let changed =
            used && saved.is_some_and(|c| c.id == *id && c.anchor.as_ref().is_none_or(grows));
        if changed
            && let Some(agent) = &mut self.edit().agent
            && let Some(conversation) = &mut agent.conversation
        {
            conversation.anchor = Some(anchor);
            return Stored::Anchor;
        }
        Stored::Unchanged
    }
}
