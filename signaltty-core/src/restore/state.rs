//! The states of a pane.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use super::{Refusal, Tombstone};
use crate::agent::{AgentSessionId, Fingerprint, Witness};
use crate::id::{InstanceId, RequestId};

/// What a pane is right now. Never saved: after a restart it is computed from
/// saved facts, and none of them can make a pane live (R1).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PaneState {
    /// A process runs in it.
    Live {
        /// That process.
        instance: InstanceId,
    },
    /// No process; see the kinds of tombstone.
    Tombstone(Tombstone),
    /// Its conversation is being reopened.
    Resuming(Box<ResumeStage>),
}

impl PaneState {
    /// The name that people and scripts see (S0-13).
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Live { .. } => "live",
            Self::Tombstone(tombstone) => tombstone.as_str(),
            Self::Resuming(_) => "resuming",
        }
    }

    /// The running process, if there is one.
    pub fn instance(&self) -> Option<InstanceId> {
        match self {
            Self::Live { instance } => Some(*instance),
            Self::Tombstone(_) => None,
            Self::Resuming(stage) => stage.instance(),
        }
    }
}

impl fmt::Display for PaneState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// How far a resume has come.
///
/// Every way out that is not a proof leads back to the tombstone, with the
/// reason, the saved conversation and the tail kept (R7).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ResumeStage {
    /// The server wants to begin by itself, and the note of it is being saved:
    /// nothing starts before it is on the disk (R4).
    Marking {
        /// It is on the disk, and others have their turn.
        saved: bool,
    },
    /// Reading what the agent's record says of the interrupted turn; no process
    /// exists.
    Reading {
        /// What preflight found.
        before: Fingerprint,
        /// Monotonic time at which the look must be over.
        deadline: Duration,
    },
    /// Looking for the agent's own record; no process exists.
    Checking {
        /// Who waits for the outcome; nobody where the server began it.
        request: Option<RequestId>,
        /// A person was shown what differs and wants it all the same.
        anyway: bool,
        /// Monotonic time at which the look must be over.
        deadline: Duration,
    },
    /// The process is being started.
    Spawning {
        /// Who waits for the outcome; nobody where the server began it.
        request: Option<RequestId>,
        /// The process to come.
        instance: InstanceId,
        /// What preflight found; empty if a person overrode its refusal.
        before: Option<Fingerprint>,
    },
    /// The process runs and must show which conversation it has open.
    Verifying {
        /// Who waits for the outcome; nobody where the server began it.
        request: Option<RequestId>,
        /// The process.
        instance: InstanceId,
        /// What preflight found; empty if a person overrode its refusal.
        before: Option<Fingerprint>,
        /// What it showed so far.
        witnesses: Vec<Witness>,
        /// Monotonic time at which the evidence must suffice.
        deadline: Duration,
    },
    /// It is proven, and the interrupted turn is to go on: the prompt is being
    /// sent, or was and the agent has not said yet that it takes it.
    Continuing {
        /// The process.
        instance: InstanceId,
        /// Its conversation.
        id: AgentSessionId,
        /// What proved it.
        evidence: Vec<Arc<str>>,
    },
    /// It was contradicted; the process is being stopped, and the pane is a
    /// tombstone again only once it is gone (S1-20).
    Stopping {
        /// Who waits for the outcome; nobody where the server began it.
        request: Option<RequestId>,
        /// The process.
        instance: InstanceId,
        /// Why.
        refusal: Refusal,
        /// What was seen.
        evidence: Vec<Arc<str>>,
    },
}

impl ResumeStage {
    /// The process that belongs to this resume, once it has one.
    pub fn instance(&self) -> Option<InstanceId> {
        match self {
            Self::Marking { .. } | Self::Checking { .. } | Self::Reading { .. } => None,
            Self::Spawning { instance, .. }
            | Self::Verifying { instance, .. }
            | Self::Continuing { instance, .. }
            | Self::Stopping { instance, .. } => Some(*instance),
        }
    }

    /// The name that people see while they wait.
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Marking { saved: false } => "marking",
            Self::Marking { saved: true } => "waiting",
            Self::Checking { .. } => "checking",
            Self::Reading { .. } => "reading",
            Self::Spawning { .. } => "spawning",
            Self::Verifying { .. } => "verifying",
            Self::Continuing { .. } => "continuing",
            Self::Stopping { .. } => "stopping",
        }
    }

    /// Who waits for the outcome; nobody where the server began it.
    pub fn request(&self) -> Option<RequestId> {
        match self {
            Self::Marking { .. } | Self::Reading { .. } | Self::Continuing { .. } => None,
            Self::Checking { request, .. }
            | Self::Spawning { request, .. }
            | Self::Verifying { request, .. }
            | Self::Stopping { request, .. } => *request,
        }
    }
}
