//! The checks before a start that are the same for every agent, with their
//! messages for people. An adapter's `preflight` begins with them.

use std::path::Path;

use signaltty_core::agent::{AgentSessionId, Anchor, Conversation};
use signaltty_core::restore::{FailureCode, Refusal};

use crate::{AgentHost, AgentSpec};

/// Everything that is checked before the record is read: the form of the id, the
/// program, and whether anything was saved. Returns what was, to compare the
/// record with. That the directory [is there](cwd_is_there) is best asked last,
/// since a record that is gone is the graver news.
///
/// # Errors
///
/// Those of [`id_has_form`], [`program_is_there`] and [`anchor_of`].
pub fn before_the_record<'a>(
    spec: &AgentSpec,
    conversation: &'a Conversation,
    host: &dyn AgentHost,
) -> Result<&'a Anchor, Refusal> {
    id_has_form(spec, &conversation.id)?;
    program_is_there(spec, host)?;
    anchor_of(conversation)
}

/// Refuses an id that the agent would not take for one (S1-18). An id becomes
/// part of a path or of a command only after this.
///
/// # Errors
///
/// [`MalformedId`](FailureCode::MalformedId).
pub fn id_has_form(spec: &AgentSpec, id: &AgentSessionId) -> Result<(), Refusal> {
    match spec.id_form.parse(id.as_str()) {
        Ok(_) => Ok(()),
        Err(error) => Err(Refusal::new(FailureCode::MalformedId, error.to_string())),
    }
}

/// Refuses where the agent's program is not installed (S0-22).
///
/// # Errors
///
/// [`BinaryMissing`](FailureCode::BinaryMissing).
pub fn program_is_there(spec: &AgentSpec, host: &dyn AgentHost) -> Result<(), Refusal> {
    match host.find_program(&spec.program) {
        Some(_) => Ok(()),
        None => Err(Refusal::new(
            FailureCode::BinaryMissing,
            format!(
                "the program {:?} of the agent {} was not found; install it, or put it on the \
                 search path",
                spec.program, spec.kind
            ),
        )),
    }
}

/// Refuses where the conversation's directory is gone: an agent is never
/// started somewhere else (D-23).
///
/// # Errors
///
/// [`CwdMissing`](FailureCode::CwdMissing).
pub fn cwd_is_there(cwd: &Path) -> Result<(), Refusal> {
    if std::fs::metadata(cwd).is_ok_and(|about| about.is_dir()) {
        return Ok(());
    }
    Err(Refusal::new(
        FailureCode::CwdMissing,
        format!("the conversation's directory {} is not there; bring it back", cwd.display()),
    ))
}

/// What was saved of the record.
///
/// # Errors
///
/// [`Gone`](FailureCode::Gone) where nothing was, since nobody had spoken yet.
pub fn anchor_of(conversation: &Conversation) -> Result<&Anchor, Refusal> {
    conversation.anchor.as_ref().ok_or_else(|| {
        Refusal::new(
            FailureCode::Gone,
            format!(
                "nobody had said anything in the conversation {} when it was saved, so there is \
                 nothing to reopen; start a new one in this pane",
                conversation.id
            ),
        )
    })
}
