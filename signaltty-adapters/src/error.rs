//! What an adapter can refuse besides a conversation.

use signaltty_core::agent::{AgentSessionId, NameError};

use crate::IdForm;

/// Why an adapter could not do what it was asked.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AdapterError {
    /// The text cannot be an id of any agent.
    #[error(transparent)]
    MalformedId(NameError),
    /// The id does not have the form of this agent's ids.
    #[error("{id} does not have the form of this agent's conversation ids, {form}")]
    WrongIdForm {
        /// The id.
        id: AgentSessionId,
        /// The form that was expected.
        form: IdForm,
    },
    /// A report is not one of this agent's.
    #[error("report dropped: {0}")]
    Report(String),
    /// The launch could not be prepared.
    #[error("launch of the agent could not be prepared: {0}")]
    Launch(String),
}
