//! Decisions that an agent waits for, such as a permission.
//!
//! A pane has at most one; a newer one supersedes it. They live with the
//! process: none is saved, and whoever asks before a restart is never answered
//! by anything after it (S0-42). Silence never means yes.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use super::structure::Done;
use super::{
    CommandError, Effect, Event, PaneEntry, Reply, Session, TITLE_CHARS, plain_line, publish, reply,
};
use crate::id::{InstanceId, PaneId, RequestId};
use crate::pane::{Attention, Lifecycle};
use crate::time::Now;

/// What a person decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer {
    /// Yes, this once.
    Allow,
    /// No.
    Deny,
}

/// Names one question. Whoever answers names the question that they saw, so that
/// no newer one gets their answer. No two of a server have the same; it dies with
/// the question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct QuestionId(u64);

impl fmt::Display for QuestionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "q{:08x}", self.0)
    }
}

/// A text that names no question.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("this is no question; `signaltty ls` shows the name of one that is open")]
pub struct QuestionIdError;

impl FromStr for QuestionId {
    type Err = QuestionIdError;

    fn from_str(text: &str) -> Result<Self, QuestionIdError> {
        let digits = text.strip_prefix('q').filter(|digits| digits.len() == 8);
        let number = digits.and_then(|digits| u32::from_str_radix(digits, 16).ok());
        number.map(|number| Self(number.into())).ok_or(QuestionIdError)
    }
}

/// A decision that is waited for.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Decision {
    /// The request that gets the answer.
    pub request: RequestId,
    /// Its name, for whoever answers.
    pub id: QuestionId,
    /// What is asked, one line.
    pub question: Arc<str>,
    /// The agent was seen waiting since it asked.
    seen_waiting: bool,
}

impl Session {
    /// Asks. The reply comes with the answer.
    pub(super) fn ask_decision(
        &mut self,
        now: Now,
        request: RequestId,
        instance: InstanceId,
        question: &str,
        out: &mut Vec<Effect>,
    ) -> Result<(), CommandError> {
        let gone = || CommandError::Gone("the process that asks is not running any more");
        let pane = self.instances.get(&instance).copied().ok_or_else(gone)?;
        let entry = self.panes.get_mut(&pane).ok_or_else(gone)?;
        let question = plain_line(question, TITLE_CHARS);
        // Where the count begins differs from one server to the next.
        let id = QuestionId(self.epoch.0.wrapping_add(request.0) & u64::from(u32::MAX));
        let asked = Decision { request, id, question, seen_waiting: false };
        if let Some(older) = entry.decision.replace(asked) {
            reply(out, older.request, Err(CommandError::Superseded(pane)));
            publish(out, Event::DecisionEnded { pane, question: older.id });
        }
        publish(out, Event::DecisionAsked { pane, question: id });
        // A look between its report and this may have said that it works.
        if self.heard(pane).is_none() {
            self.set_lifecycle(now, pane, Lifecycle::Blocked, out);
        }
        self.raise_attention(now, pane, Attention::PermissionRequired, out);
        Ok(())
    }

    /// A person answers.
    pub(super) fn answer_decision(
        &mut self,
        now: Now,
        pane: PaneId,
        question: QuestionId,
        answer: Answer,
        out: &mut Vec<Effect>,
    ) -> Done {
        let entry = self.panes.get_mut(&pane).ok_or(CommandError::NoSuchPane(pane))?;
        let open = entry.decision.as_ref().ok_or(CommandError::NoSuchDecision(pane))?;
        if open.id != question {
            return Err(CommandError::QuestionChanged { pane, asks: open.id });
        }
        let decision = entry.decision.take().ok_or(CommandError::NoSuchDecision(pane))?;
        reply(out, decision.request, Ok(Reply::Decided(answer)));
        publish(out, Event::DecisionEnded { pane, question });
        self.clear_request(now, pane, out);
        Ok(Reply::Done)
    }

    /// The agent shows what it does. One that goes on was answered in its own
    /// terminal, and its hook may wait on all the same.
    pub(super) fn decision_overtaken(
        &mut self,
        now: Now,
        pane: PaneId,
        shown: Option<Lifecycle>,
        out: &mut Vec<Effect>,
    ) {
        let Some(entry) = self.panes.get_mut(&pane) else {
            return;
        };
        let Some(decision) = &mut entry.decision else {
            return;
        };
        let overtaken = match shown {
            Some(Lifecycle::Blocked) => {
                decision.seen_waiting = true;
                false
            }
            // What was read a moment before it asked still says that it works.
            Some(Lifecycle::Working) => decision.seen_waiting,
            Some(Lifecycle::Done | Lifecycle::Idle) => true,
            _ => false,
        };
        if overtaken {
            entry.drop_decision(pane, out);
            self.clear_request(now, pane, out);
        }
    }

    /// Whether the agent waits for a person although it shows that it works: it
    /// was read a moment before it asked, or its record does not show questions.
    pub(super) fn is_held_by_decision(&self, pane: PaneId, shown: Option<Lifecycle>) -> bool {
        let decision = self.panes.get(&pane).and_then(|entry| entry.decision.as_ref());
        shown == Some(Lifecycle::Working) && decision.is_some_and(|decision| !decision.seen_waiting)
    }

    /// Who asked does not wait any more.
    pub(super) fn withdraw_decision(
        &mut self,
        now: Now,
        pane: PaneId,
        asked: RequestId,
        out: &mut Vec<Effect>,
    ) -> Done {
        let entry = self.panes.get_mut(&pane).ok_or(CommandError::NoSuchPane(pane))?;
        if entry.decision.as_ref().is_none_or(|decision| decision.request != asked) {
            return Err(CommandError::NoSuchDecision(pane));
        }
        entry.drop_decision(pane, out);
        self.clear_request(now, pane, out);
        Ok(Reply::Done)
    }
}

impl PaneEntry {
    /// Ends a decision without an answer.
    pub(super) fn drop_decision(&mut self, pane: PaneId, out: &mut Vec<Effect>) {
        if let Some(decision) = self.decision.take() {
            let gone = CommandError::Gone("nobody decided before the one who asked went away");
            reply(out, decision.request, Err(gone));
            publish(out, Event::DecisionEnded { pane, question: decision.id });
        }
    }
}
