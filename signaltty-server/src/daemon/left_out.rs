//! Saved commands whose keys were left out when they were saved.

use signaltty_core::id::PaneId;
use signaltty_core::restore::{FailureCode, PaneState, Refusal};
use signaltty_core::session::{CommandError, Session};
use signaltty_persist::redact::left_out;

use super::effects::wire_error;
use crate::protocol::WireError;

/// Which command of a pane is to be run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Saved {
    /// The one that the pane was started with.
    Command,
    /// The one that its agent reported, where it is what a resume would run.
    Reported,
}

/// Refuses to run a saved command with a mark in the place of a key: the program
/// would take the mark for the key.
///
/// # Errors
///
/// Names the option, never a value, and says what can be done.
pub(super) fn check(session: &Session, pane: PaneId, saved: Saved) -> Result<(), WireError> {
    let Some(view) = session.pane(pane) else {
        return Ok(());
    };
    if !matches!(view.state, PaneState::Tombstone(_)) {
        return Ok(());
    }
    let argv = match saved {
        Saved::Command => Some(&view.record.argv),
        Saved::Reported => {
            let agent = view.record.agent.as_ref();
            agent.and_then(|agent| agent.reported_argv.as_ref()).map(|argv| &argv.0)
        }
    };
    let Some(name) = argv.and_then(|argv| left_out(argv)) else {
        return Ok(());
    };
    let message = format!(
        "the value of {} was left out when the command was saved, as that of a key, so it cannot \
         be run as it was; start it with its key in a new pane (`signaltty pane spawn {pane} -- \
         COMMAND…`), and close this one; a key in an environment variable is never saved",
        name.to_string_lossy()
    );
    let refusal = Refusal::new(FailureCode::SpawnFailed, message);
    Err(wire_error(&CommandError::SpawnFailed(refusal)))
}
