//! From saved facts to pane states, and the reasons why a resume did not
//! succeed.

mod attempt;
mod classify;
mod continuation;
mod failure;
mod fit;
mod plan;
mod repair;
mod state;

pub use attempt::{AutomaticSpawn, Continuation, Marked, MarkerSaved, Marking, OfficialCommand};
pub use classify::{Tombstone, classify};
pub use continuation::{
    Facts, MOST_ATTEMPTS, NoContinuation, Recovery, Resumption, eligibility, resumption,
};
pub use failure::{FailureCode, Refusal, ResumeFailure};
pub use plan::{PanePlan, Planned, plan};
pub use repair::{Draft, RepairProblem, TabDraft, repair};
pub use state::{PaneState, ResumeStage};
