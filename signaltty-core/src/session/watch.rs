//! Waiting for something to happen in a pane.
//!
//! Who waits takes a [`Baseline`] first and then asks whether something newer
//! happened. A baseline names a running process and dies with the server; what
//! happens in another process of the same pane, or in another conversation, is
//! never mistaken for it (S0-53). What lasted only for a moment counts.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use super::{PaneView, Session, TabView, WorkspaceView};
use crate::agent::AgentSessionId;
use crate::id::{PaneId, ServerEpoch};
use crate::pane::{Attention, Lifecycle};
use crate::restore::PaneState;

/// What was so when somebody began to wait. Never saved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Baseline {
    epoch: ServerEpoch,
    pane: PaneId,
    generation: u64,
    conversation: Option<AgentSessionId>,
    at: u64,
}

/// The form on the wire, to be given back as it is: `PANE:epoch:generation:at`,
/// and the conversation where there is one.
impl fmt::Display for Baseline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{:016x}:{}:{}", self.pane, self.epoch.0, self.generation, self.at)?;
        self.conversation.as_ref().map_or(Ok(()), |id| write!(f, ":{id}"))
    }
}

/// A text that is no baseline.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("this is no baseline; `signaltty pane info PANE` shows that of a running process")]
pub struct BaselineError;

impl FromStr for Baseline {
    type Err = BaselineError;

    fn from_str(text: &str) -> Result<Self, BaselineError> {
        let mut parts = text.splitn(5, ':');
        let mut next = || parts.next().ok_or(BaselineError);
        let pane = next()?.parse().map_err(|_| BaselineError)?;
        let epoch = u64::from_str_radix(next()?, 16).map_err(|_| BaselineError)?;
        let generation = next()?.parse().map_err(|_| BaselineError)?;
        let at = next()?.parse().map_err(|_| BaselineError)?;
        let conversation = parts.next().map(str::parse).transpose();
        let conversation = conversation.map_err(|_| BaselineError)?;
        Ok(Self { epoch: ServerEpoch(epoch), pane, generation, conversation, at })
    }
}

impl Baseline {
    /// The pane that it is about.
    pub fn pane(&self) -> PaneId {
        self.pane
    }
}

/// What is waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Awaited {
    /// The agent does that.
    Lifecycle(Lifecycle),
    /// The pane wants that much of a person, or more.
    Attention(Attention),
    /// The pane wants nothing any more.
    AttentionCleared,
    /// The process ended.
    Exited,
}

impl Awaited {
    /// Every word that [`parse`](Self::parse) reads.
    pub fn words() -> impl Iterator<Item = &'static str> {
        let lifecycle = Lifecycle::ALL.iter().map(|word| word.as_str());
        let attention = Attention::ALL.iter().map(|word| word.as_str());
        lifecycle.chain(attention).chain(["seen"])
    }

    /// Reads a word: one of [`Lifecycle`] or [`Attention`], or `seen` where a
    /// person has to have looked. The end of the process is `exited`.
    pub fn parse(word: &str) -> Option<Self> {
        match word {
            "exited" => Some(Self::Exited),
            "seen" => Some(Self::AttentionCleared),
            _ => Lifecycle::parse(word)
                .map(Self::Lifecycle)
                .or_else(|| Attention::parse(word).map(Self::Attention)),
        }
    }
}

/// The pane holds another process or conversation than at the baseline, or is
/// gone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("pane {0} no longer holds what was waited for")]
pub struct IdentityChanged(pub PaneId);

/// When things happened last, by the session's count of changes.
#[derive(Debug, Clone, Default)]
pub(super) struct Watch {
    generation: u64,
    lifecycle: BTreeMap<Lifecycle, u64>,
    attention: BTreeMap<Attention, u64>,
}

impl Watch {
    pub(super) fn lifecycle(&mut self, lifecycle: Lifecycle, at: u64) {
        self.lifecycle.insert(lifecycle, at);
    }

    pub(super) fn attention(&mut self, attention: Attention, at: u64) {
        self.attention.insert(attention, at);
    }

    /// When something happened last; 0 if nothing did.
    pub(super) fn newest(&self) -> u64 {
        self.lifecycle.values().chain(self.attention.values()).copied().max().unwrap_or(0)
    }

    /// It is another process or another conversation from now on.
    pub(super) fn replaced(&mut self) {
        self.generation += 1;
    }
}

impl Session {
    /// Whether it is so now, whenever it happened. For who waits without a
    /// baseline.
    pub fn holds(&self, pane: PaneId, awaited: Awaited) -> bool {
        self.panes.get(&pane).is_some_and(|entry| match awaited {
            Awaited::Lifecycle(wanted) => entry.record.lifecycle == wanted,
            Awaited::Attention(Attention::None) | Awaited::AttentionCleared => {
                entry.record.attention == Attention::None
            }
            Awaited::Attention(least) => entry.record.attention >= least,
            Awaited::Exited => matches!(entry.state, PaneState::Tombstone(_)),
        })
    }

    /// What is so now, to be compared with later.
    pub fn baseline(&self, pane: PaneId) -> Option<Baseline> {
        let entry = self.panes.get(&pane)?;
        let agent = entry.record.agent.as_ref();
        let conversation = agent.and_then(|agent| agent.conversation.as_ref());
        Some(Baseline {
            epoch: self.epoch,
            pane,
            generation: entry.watch.generation,
            conversation: conversation.map(|c| c.id.clone()),
            at: self.changes,
        })
    }

    /// Whether it happened since the baseline.
    ///
    /// # Errors
    ///
    /// The pane holds something else meanwhile. That its process ended changes
    /// nothing, and neither does the first conversation that its agent shows.
    pub fn reached(&self, since: &Baseline, awaited: Awaited) -> Result<bool, IdentityChanged> {
        let changed = IdentityChanged(since.pane);
        let entry = self.panes.get(&since.pane).ok_or(changed)?;
        let now = self.baseline(since.pane).ok_or(changed)?;
        let other = since.conversation.is_some() && since.conversation != now.conversation;
        if since.epoch != now.epoch || since.generation != now.generation || other {
            return Err(changed);
        }
        let newer = |at: &u64| *at > since.at;
        Ok(match awaited {
            Awaited::Lifecycle(wanted) => entry.watch.lifecycle.get(&wanted).is_some_and(newer),
            Awaited::Attention(least) => {
                entry.watch.attention.range(least..).any(|(_, at)| newer(at))
            }
            Awaited::Exited => matches!(entry.state, PaneState::Tombstone(_)),
            Awaited::AttentionCleared => {
                entry.watch.attention.get(&Attention::None).is_some_and(newer)
            }
        })
    }

    /// The pane to look at next: of those that want most of a person the one in
    /// which something happened last. Archived workspaces are left out.
    pub fn next_unread(&self) -> Option<PaneId> {
        let seen = self.workspaces().filter(|workspace| !workspace.record.archived);
        let panes = seen.flat_map(|workspace| workspace.tabs()).flat_map(|tab| tab.panes());
        let wanting = panes.filter(|pane| pane.record.attention != Attention::None);
        let rank = |pane: &PaneView<'_>| {
            let at = self.panes.get(&pane.record.id).map(|entry| entry.watch.newest());
            (pane.record.attention, at)
        };
        wanting.max_by_key(rank).map(|pane| pane.record.id)
    }
}

impl TabView<'_> {
    /// What the agents in it do, as one word: what concerns people most.
    pub fn lifecycle(&self) -> Lifecycle {
        Lifecycle::roll_up(self.panes().map(|pane| pane.record.lifecycle))
    }

    /// How much its panes want a person.
    pub fn attention(&self) -> Attention {
        self.panes().map(|pane| pane.record.attention).max().unwrap_or(Attention::None)
    }
}

impl WorkspaceView<'_> {
    /// What the agents in it do, as one word.
    pub fn lifecycle(&self) -> Lifecycle {
        Lifecycle::roll_up(self.tabs().map(|tab| tab.lifecycle()))
    }

    /// How much its panes want a person.
    pub fn attention(&self) -> Attention {
        self.tabs().map(|tab| tab.attention()).max().unwrap_or(Attention::None)
    }
}
