//! From saved facts to pane states, and the reasons why a resume did not
//! succeed.

mod classify;
mod failure;
mod state;

pub use classify::{Tombstone, classify};
pub use failure::{FailureCode, Refusal, ResumeFailure};
pub use state::{PaneState, ResumeStage};
