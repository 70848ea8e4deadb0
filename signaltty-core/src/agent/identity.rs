//! Which conversation does this process have open?
//!
//! Adapters gather [`Witness`]es and are never told the expected id, so the
//! request cannot come back as its own answer (S1-28). [`judge`] alone decides,
//! and only it can make a [`VerifiedSession`], without which no prompt can be
//! sent by itself (S1-25).

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use super::{AgentPolicy, AgentSessionId, Conversation, Fingerprint, LoadedRule, Relation};
use crate::id::InstanceId;
use crate::restore::{FailureCode, Refusal};

/// Where a fact about a running agent comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum WitnessSource {
    /// The agent's own list of what runs, matched by process id and start time.
    LiveRegistry,
    /// A report of the agent that it loaded a saved conversation, bound to this
    /// launch.
    StartReport,
    /// A report of the agent that it began a conversation, or went on under
    /// another id, bound to this launch. Says what a running pane holds; no
    /// policy requires it, so it never speaks for or against a resume (C032).
    FreshStart,
    /// A lock that the instance's processes hold.
    HeldLock,
    /// A server inside the instance's own process, asked for its record.
    Channel,
    /// A turn that the instance's own process works on. Says what a running
    /// pane holds, like [`FreshStart`](Self::FreshStart); before a prompt there
    /// is none, so no policy requires it.
    Turn,
}

impl WitnessSource {
    /// The name that people and scripts see.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::LiveRegistry => "live_registry",
            Self::StartReport => "start_report",
            Self::FreshStart => "fresh_start",
            Self::HeldLock => "held_lock",
            Self::Channel => "channel",
            Self::Turn => "turn",
        }
    }
}

impl fmt::Display for WitnessSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// One independent fact about which conversations an instance has open.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Witness {
    /// The instance that it is about.
    pub instance: InstanceId,
    /// Where it comes from.
    pub source: WitnessSource,
    /// Every conversation that the instance shows. An agent may show several.
    /// Empty for a channel that takes whatever conversation it is asked for,
    /// see [`is_addressed`](Self::is_addressed).
    pub sessions: BTreeSet<AgentSessionId>,
    /// How much history the agent says that it loaded, in an unit of its own;
    /// 0 is an empty history. `None` where it does not say.
    pub loaded: Option<u64>,
    /// The fact in words, for people: at most one line.
    pub detail: Arc<str>,
    /// The record that this witness names, as read again after it.
    pub record: RecordRead,
}

impl Witness {
    /// Whether it is a channel that shows no conversation and can be addressed
    /// for any.
    ///
    /// Such a channel names nothing by itself, so the saved conversation is the
    /// one whose record is read, through the channel. What it supports is that a
    /// prompt sent through it reaches that conversation, not what the screen
    /// shows.
    pub fn is_addressed(&self) -> bool {
        self.source == WitnessSource::Channel && self.sessions.is_empty()
    }
}

/// The record that a witness names, read after the witness arrived.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RecordRead {
    /// Not read yet.
    Pending,
    /// Read, and compared with what it was before the start.
    Done {
        /// The conversation whose record was read.
        named: AgentSessionId,
        /// What was found.
        result: Result<Fingerprint, Refusal>,
    },
}

/// A conversation that a running instance was proven to have open.
///
/// Has no public constructor: only [`judge`] makes one.
///
/// ```compile_fail,E0451
/// use signaltty_core::agent::VerifiedSession;
/// fn forge(id: signaltty_core::agent::AgentSessionId, instance: signaltty_core::id::InstanceId) {
///     let _ = VerifiedSession { id, instance };
/// }
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VerifiedSession {
    id: AgentSessionId,
    instance: InstanceId,
}

impl VerifiedSession {
    /// The conversation's id, as the agent shows it now.
    pub fn id(&self) -> &AgentSessionId {
        &self.id
    }

    /// The instance that has it open.
    pub fn instance(&self) -> InstanceId {
        self.instance
    }
}

/// What the evidence says so far.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// It is the saved conversation.
    Verified(VerifiedSession),
    /// Not enough evidence, and none against.
    Unconfirmed,
    /// It is another conversation, or the saved one is no longer what it was.
    Contradicted(Contradiction),
}

/// Why a conversation is not the saved one.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Contradiction {
    /// The process shows other conversations only.
    #[error("the agent opened {} instead of the saved conversation", list(.seen))]
    Other {
        /// What it shows.
        seen: BTreeSet<AgentSessionId>,
    },
    /// The right id, and a history of nothing.
    #[error("the agent opened the saved id but loaded no history")]
    EmptyHistory,
    /// The right id, and a record that is no longer the saved one.
    #[error("after the start the record is not the saved one any more: {0}")]
    Record(Refusal),
}

/// When a judgement is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Moment {
    /// More evidence may come.
    Waiting,
    /// The last one: what the process shows now is what it has.
    Deadline,
}

/// Decides from witnesses alone.
///
/// *Verified* needs, of the latest witness of every source that `policy`
/// requires: our instance, the saved id or one whose record extends the saved
/// one, and that record read after the witness and still extending what
/// preflight found; further a loaded history that is not empty where the agent
/// reports it; and a preflight (`before`) that found the record sound. A person's
/// override of a preflight leaves `before` empty, and nothing is proven then.
///
/// An [addressed](Witness::is_addressed) channel shows no id. It supports the
/// saved one, and no other, if the record that it gives for that id extends the
/// saved one; one that gives another record speaks against it. It never
/// contradicts by what it does not show.
///
/// *Contradicted* is final once the record was read and it or the loaded history
/// speaks against it. That the process shows only other ids counts at the
/// deadline, since agents show transient ids while they start (C032).
pub fn judge(
    saved: &Conversation,
    before: Option<&Fingerprint>,
    policy: &AgentPolicy,
    running: InstanceId,
    witnesses: &[Witness],
    moment: Moment,
) -> Verdict {
    let latest = latest_per_source(running, policy, witnesses);
    let against = latest.iter().find_map(|witness| speaks_against(saved, witness, moment));
    // A person who overrode a preflight was shown what is wrong with the record.
    if let (Some(contradiction), Some(_)) = (against, before) {
        return Verdict::Contradicted(contradiction);
    }
    let supported: Vec<_> =
        latest.iter().filter_map(|w| supports(saved, w).map(|id| (w.source, id))).collect();
    let all_required = !policy.required.is_empty()
        && policy.required.iter().all(|source| supported.iter().any(|(have, _)| have == source));
    let loaded = match policy.loaded {
        LoadedRule::NotReported => true,
        LoadedRule::Required if before.is_some_and(|found| found.unanswered) => true,
        LoadedRule::Required => {
            latest.iter().any(|w| supports(saved, w).is_some() && w.loaded.is_some_and(|n| n > 0))
        }
    };
    let same_id = supported.windows(2).all(|pair| match pair {
        [(_, a), (_, b)] => a == b,
        _ => true,
    });
    if let Some((_, id)) = supported.first()
        && all_required
        && loaded
        && same_id
        && before.is_some_and(|found| found.relation == Relation::Extends)
    {
        return Verdict::Verified(VerifiedSession { id: id.clone(), instance: running });
    }
    let seen: BTreeSet<_> = latest.iter().flat_map(|w| w.sessions.iter().cloned()).collect();
    let pending = latest.iter().any(|w| w.record == RecordRead::Pending);
    if moment == Moment::Deadline
        && supported.is_empty()
        && !pending
        && !seen.is_empty()
        && !seen.contains(&saved.id)
    {
        return Verdict::Contradicted(Contradiction::Other { seen });
    }
    Verdict::Unconfirmed
}

fn latest_per_source<'a>(
    running: InstanceId,
    policy: &AgentPolicy,
    witnesses: &'a [Witness],
) -> Vec<&'a Witness> {
    let mut latest: Vec<&Witness> = Vec::new();
    let admissible =
        witnesses.iter().filter(|w| w.instance == running && policy.required.contains(&w.source));
    for witness in admissible {
        latest.retain(|known| known.source != witness.source);
        latest.push(witness);
    }
    latest
}

/// The id under which this witness shows the saved conversation, if it does.
fn supports(saved: &Conversation, witness: &Witness) -> Option<AgentSessionId> {
    let RecordRead::Done { named, result: Ok(found) } = &witness.record else {
        return None;
    };
    // A record that extends the saved one proves the same conversation, also
    // under a new id: an agent may rotate it.
    let lineage = *named == saved.id || witness.sessions.len() == 1;
    // The record may be whole while the agent says that it loaded none of it.
    let history = witness.loaded != Some(0);
    let extends = found.relation == Relation::Extends;
    let shown = witness.sessions.contains(named) && lineage;
    // What is addressed by its id cannot have been given another one.
    let addressed = witness.is_addressed() && *named == saved.id;
    ((shown || addressed) && history && extends).then(|| named.clone())
}

fn speaks_against(
    saved: &Conversation,
    witness: &Witness,
    moment: Moment,
) -> Option<Contradiction> {
    if !witness.sessions.contains(&saved.id) && !witness.is_addressed() {
        return None;
    }
    if let RecordRead::Done { named, result: Err(refusal) } = &witness.record
        && *named == saved.id
        && matches!(refusal.code, FailureCode::Gone | FailureCode::Damaged | FailureCode::Rewritten)
    {
        return Some(Contradiction::Record(refusal.clone()));
    }
    // The record says more about what happened, so it is read first.
    let read = witness.record != RecordRead::Pending || moment == Moment::Deadline;
    if witness.loaded == Some(0) && read {
        return Some(Contradiction::EmptyHistory);
    }
    None
}

fn list(ids: &BTreeSet<AgentSessionId>) -> String {
    ids.iter().map(AgentSessionId::as_str).collect::<Vec<_>>().join(", ")
}
