//! What a start does with a pane: one function for the start itself and for
//! whoever only asks.

use super::continuation::{Facts, NoContinuation, Recovery, Resumption, eligibility, resumption};
use crate::agent::MarkerOrigin;
use crate::id::PaneId;

/// What becomes of a pane when a server starts.
#[derive(Debug, PartialEq, Eq)]
pub enum Planned {
    /// Nothing is touched.
    Leave(NoContinuation),
    /// An interrupted turn is given up; the conversation stays as it is.
    Settle(NoContinuation),
    /// The conversation is reopened; a turn that was left behind is given up.
    Resume {
        /// The permission.
        permission: Resumption,
        /// Why no turn goes on.
        why: NoContinuation,
    },
    /// The conversation is reopened, and once it is proven its turn goes on.
    Continue(Recovery),
}

/// Decides for one pane.
pub fn plan(facts: &Facts<'_>) -> Planned {
    let why = match eligibility(facts) {
        Ok(recovery) => return Planned::Continue(recovery),
        Err(why) => why,
    };
    match resumption(facts) {
        Ok(permission) => Planned::Resume { permission, why },
        Err(_) if why.settles() => Planned::Settle(why),
        // Of a pane without a turn the reason is the one of the resume.
        Err(no) if why == NoContinuation::NoTurn => Planned::Leave(no),
        Err(_) => Planned::Leave(why),
    }
}

/// A plan in words, for people and scripts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PanePlan {
    /// The pane.
    pub pane: PaneId,
    /// `leave`, `settle`, `resume` or `continue`.
    pub decision: &'static str,
    /// The row of the decision table, or the rule beside it.
    pub rule: &'static str,
    /// One sentence.
    pub reason: String,
}

impl Planned {
    /// In words.
    pub fn in_words(&self, pane: PaneId, marked: bool) -> PanePlan {
        let (decision, rule, reason) = match self {
            Self::Leave(why) => ("leave", why.rule(), sentence(&why.to_string())),
            Self::Settle(why) => {
                let reason = format!("{why}; its interrupted turn is left to a person");
                ("settle", why.rule(), sentence(&reason))
            }
            Self::Resume { why: NoContinuation::NoTurn, .. } => {
                let reason = "its conversation is reopened; no turn was interrupted";
                ("resume", "D3", sentence(reason))
            }
            Self::Resume { why, .. } => {
                let reason = format!("its conversation is reopened without its turn: {why}");
                ("resume", why.rule(), sentence(&reason))
            }
            Self::Continue(recovery) => {
                let (rule, who) = match (marked, recovery.origin()) {
                    (true, MarkerOrigin::Planned) => ("D9", "a person asked for it"),
                    (true, MarkerOrigin::Automatic) => ("D10", "an earlier start had begun it"),
                    (false, _) => ("D16", "the workspace continues turns by itself"),
                };
                let reason = format!(
                    "its conversation is reopened and, once proven, turn {} goes on: {who}",
                    recovery.turn()
                );
                ("continue", rule, sentence(&reason))
            }
        };
        PanePlan { pane, decision, rule, reason }
    }
}

fn sentence(text: &str) -> String {
    let mut chars = text.chars();
    let first: String = chars.next().map(|c| c.to_uppercase().collect()).unwrap_or_default();
    format!("{first}{}.", chars.as_str())
}
