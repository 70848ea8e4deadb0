//! What is tried with the record of every agent that keeps lines.

use std::fs;
use std::path::Path;

use signaltty_adapters::conformance::Stage;
use signaltty_adapters::testing::{FakeHost, block_on};
use signaltty_core::agent::{Anchor, Conversation, Fingerprint, Relation};
use signaltty_core::restore::{FailureCode, Refusal};

/// A machine that has the agent's program.
pub(crate) fn host(stage: &impl Stage) -> FakeHost {
    FakeHost::with_programs(&[stage.adapter().spec().program.as_str()])
}

pub(crate) fn preflight(stage: &impl Stage, saved: &Conversation) -> Result<Fingerprint, Refusal> {
    block_on(stage.adapter().preflight(saved, &host(stage)))
}

pub(crate) fn code(stage: &impl Stage, saved: &Conversation) -> FailureCode {
    preflight(stage, saved).unwrap_err().code
}

pub(crate) fn anchor(stage: &impl Stage, saved: &Conversation) -> Result<Anchor, Refusal> {
    block_on(stage.adapter().anchor(saved, &host(stage)))
}

/// A conversation of two turns that was saved, and goes on with a third.
pub(crate) fn continued<S: Stage>(mut stage: S) -> (S, Conversation) {
    let mut saved = stage.saved();
    stage.turn(&saved.id, "first");
    stage.turn(&saved.id, "second");
    saved.anchor = Some(anchor(&stage, &saved).unwrap());
    stage.turn(&saved.id, "third");
    (stage, saved)
}

/// Whichever directory its agent was started in, the record says where its
/// conversation goes on, and there it is anchored.
pub(crate) fn check_directory(mut stage: impl Stage) {
    let saved = stage.saved();
    let elsewhere = saved.cwd.parent().unwrap().to_owned();
    let shown = Conversation { cwd: elsewhere, ..saved.clone() };
    let directory = |of: &Conversation, stage: &dyn Stage| {
        let program = stage.adapter().spec().program.as_str();
        block_on(stage.adapter().directory(of, &FakeHost::with_programs(&[program])))
    };
    assert_eq!(directory(&shown, &stage), None, "there is no record");
    stage.turn(&saved.id, "first");
    assert_eq!(directory(&shown, &stage).as_ref(), Some(&saved.cwd));
    assert!(anchor(&stage, &saved).is_ok());
}

/// What becomes of a record that somebody edited: how it stands to what was
/// saved, and that an anchor never shrinks and never moves on to something else.
pub(crate) fn check_edit(
    stage: &impl Stage,
    (saved, path): (&Conversation, &Path),
    what: &str,
    edit: fn(&str) -> String,
    expected: Result<Relation, FailureCode>,
) {
    let text = fs::read_to_string(path).unwrap();
    fs::write(path, edit(&text)).unwrap();
    let found = preflight(stage, saved);
    let shown = found.as_ref().map(|found| found.relation);
    assert_eq!(shown.map_err(|refusal| refusal.code), expected, "{what}: {found:?}");
    let expected = expected.and_then(|relation| match relation {
        Relation::Extends => Ok(()),
        Relation::Rewritten => Err(FailureCode::Rewritten),
    });
    let anew = anchor(stage, saved).map(|_| ()).map_err(|refusal| refusal.code);
    assert_eq!(anew, expected, "{what}");
}
