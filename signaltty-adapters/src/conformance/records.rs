//! What an adapter must hold before any process starts.

use signaltty_core::agent::{AgentSessionId, Anchor, Conversation, Fingerprint, Relation};
use signaltty_core::id::InstanceId;
use signaltty_core::restore::{FailureCode, Refusal};

use super::{Failure, Stage, fault};
use crate::HookReport;
use crate::testing::{FakeHost, block_on};

/// Runs each check on a stage of its own.
pub(super) fn check<S: Stage>(stage: &mut impl FnMut() -> S) -> Result<(), Failure> {
    command_names_the_conversation_once(&stage())?;
    malformed_ids_are_refused(&stage())?;
    unreadable_reports_are_refused(&stage())?;
    a_record_without_a_message_is_no_conversation(&mut stage())?;
    an_emptied_record_is_refused(&mut stage())?;
    nothing_takes_the_place_of_a_missing_record(&mut stage())?;
    the_place_counts(&mut stage())?;
    a_grown_record_extends_its_anchor(&mut stage())?;
    an_anchor_never_shrinks(&mut stage())?;
    a_fork_keeps_its_beginning(&mut stage())?;
    nobody_is_named_who_holds_nothing(&mut stage())
}

/// The command has the id as its own argument, once, and nothing that a shell
/// or a prompt would be (D-4, C046).
fn command_names_the_conversation_once(stage: &impl Stage) -> Result<(), Failure> {
    let during = "the command to resume";
    let saved = stage.saved();
    let command = stage.adapter().resume_command(&saved);
    let command = command.map_err(|error| fault(during, error.to_string()))?;
    let argv: Vec<_> = command.argv().iter().map(|arg| arg.to_string_lossy()).collect();
    let named = argv.iter().filter(|arg| arg.contains(saved.id.as_str())).count();
    let alone = argv.iter().any(|arg| *arg == saved.id.as_str());
    if named != 1 || !alone {
        return Err(fault(during, format!("{argv:?} does not name the conversation once")));
    }
    Ok(())
}

/// An id that the adapter does not take for one reaches no command (S1-18).
fn malformed_ids_are_refused(stage: &impl Stage) -> Result<(), Failure> {
    let during = "malformed ids";
    let adapter = stage.adapter();
    for text in ["", "-x", "--resume", "../../x", "a b", "a\u{7}", "last"] {
        let Ok(id) = text.parse::<AgentSessionId>() else {
            if adapter.parse_id(text).is_ok() {
                return Err(fault(during, format!("{text:?} is taken for an id")));
            }
            continue;
        };
        let named = Conversation { id, ..stage.saved() };
        if adapter.parse_id(text).is_err() && adapter.resume_command(&named).is_ok() {
            return Err(fault(during, format!("{text:?} reaches a command")));
        }
    }
    Ok(())
}

/// What is no report is refused with a reason, and hurts nobody.
fn unreadable_reports_are_refused(stage: &impl Stage) -> Result<(), Failure> {
    let during = "unreadable reports";
    let view = stage.view(InstanceId::fake(1));
    for payload in [&b""[..], b"\xff\xfe", b"[]", b"null", b"{}", b"{\"session_id\":7}"] {
        let report = HookReport { payload, view: &view };
        if stage.adapter().read_report(view.instance, &report).is_ok() {
            return Err(fault(during, format!("{} is read", String::from_utf8_lossy(payload))));
        }
    }
    Ok(())
}

/// An id without a word of a person is not resumable (D-3, C035).
fn a_record_without_a_message_is_no_conversation(stage: &mut impl Stage) -> Result<(), Failure> {
    let saved = stage.saved();
    stage.hollow(&saved.id);
    match anchor(stage, &saved) {
        Ok(found) => Err(fault("a record without a message", format!("anchored as {found:?}"))),
        Err(_) => Ok(()),
    }
}

/// The right id over an empty record is not the conversation (D-3).
fn an_emptied_record_is_refused(stage: &mut impl Stage) -> Result<(), Failure> {
    let during = "an emptied record";
    let saved = said(stage, during)?;
    stage.remove(&saved.id);
    stage.hollow(&saved.id);
    must_refuse(stage, &saved, during)
}

/// A record that is gone is gone, whatever a neighbour's looks like (C034,
/// C040, C041).
fn nothing_takes_the_place_of_a_missing_record(stage: &mut impl Stage) -> Result<(), Failure> {
    let during = "a missing record beside one with the same words";
    let saved = said(stage, during)?;
    stage.remove(&saved.id);
    let neighbour = stage.other_id();
    stage.turn(&neighbour, "first");
    stage.turn(&neighbour, "second");
    match preflight(stage, &saved) {
        Err(refusal) if refusal.code == FailureCode::Gone => Ok(()),
        Err(refusal) => Err(fault(during, format!("is {} and not gone", refusal.code))),
        Ok(_) => Err(fault(during, "a process would be started")),
    }
}

/// An id means something only in its home and directory (D-3).
fn the_place_counts(stage: &mut impl Stage) -> Result<(), Failure> {
    let during = "another place";
    let saved = said(stage, during)?;
    let places = stage.elsewhere();
    if places.is_empty() {
        return Err(fault(during, "the stage names none"));
    }
    for place in places {
        let moved = Conversation { anchor: saved.anchor.clone(), ..place };
        must_refuse(stage, &moved, during)?;
    }
    Ok(())
}

fn a_grown_record_extends_its_anchor(stage: &mut impl Stage) -> Result<(), Failure> {
    let during = "a grown record";
    let saved = said(stage, during)?;
    stage.turn(&saved.id, "third");
    let found = preflight(stage, &saved).map_err(|why| fault(during, why.to_string()))?;
    if found.relation != Relation::Extends {
        return Err(fault(during, "does not extend its anchor"));
    }
    let grown = anchor(stage, &saved).map_err(|why| fault(during, why.to_string()))?;
    if saved.anchor.is_some_and(|before| before == grown || before == found.now) {
        return Err(fault(during, "its new messages are not anchored"));
    }
    Ok(())
}

/// A record that lost something is refused, not anchored anew (D-3).
fn an_anchor_never_shrinks(stage: &mut impl Stage) -> Result<(), Failure> {
    let during = "a shortened record";
    let saved = said(stage, during)?;
    stage.remove(&saved.id);
    stage.turn(&saved.id, "first");
    match anchor(stage, &saved) {
        Ok(_) => Err(fault(during, "is anchored anew")),
        Err(_) => must_refuse(stage, &saved, during),
    }
}

/// Where a fork's record leaves its beginning in another one, that belongs to
/// its anchor.
fn a_fork_keeps_its_beginning(stage: &mut impl Stage) -> Result<(), Failure> {
    let during = "a fork";
    let parent = said(stage, during)?;
    let id = stage.other_id();
    if !stage.fork(&parent.id, &id) {
        return Ok(());
    }
    stage.turn(&id, "of the fork");
    let mut fork = Conversation { id, anchor: None, ..parent.clone() };
    let whole = anchor(stage, &fork).map_err(|why| fault(during, why.to_string()))?;
    if whole.base.is_none() {
        return Err(fault(during, "its anchor does not cover its beginning"));
    }
    fork.anchor = Some(whole);
    preflight(stage, &fork).map_err(|why| fault(during, why.to_string()))?;
    stage.remove(&parent.id);
    must_refuse(stage, &fork, during)?;
    stage.turn(&parent.id, "first");
    stage.turn(&parent.id, "another");
    must_refuse(stage, &fork, during)
}

fn nobody_is_named_who_holds_nothing(stage: &mut impl Stage) -> Result<(), Failure> {
    let during = "a conversation that nobody has open";
    let saved = said(stage, during)?;
    match block_on(stage.adapter().holder(&saved, &machine(stage))) {
        Some(who) => Err(fault(during, format!("is said to be held: {who}"))),
        None => Ok(()),
    }
}

/// A conversation of two turns, with its anchor.
fn said(stage: &mut impl Stage, during: &str) -> Result<Conversation, Failure> {
    let mut saved = stage.saved();
    stage.turn(&saved.id, "first");
    stage.turn(&saved.id, "second");
    let anchor = anchor(stage, &saved).map_err(|why| fault(during, why.to_string()))?;
    saved.anchor = Some(anchor);
    Ok(saved)
}

fn must_refuse(stage: &impl Stage, saved: &Conversation, during: &str) -> Result<(), Failure> {
    match preflight(stage, saved) {
        // By hand only, after the person was shown what differs.
        Ok(found) if found.relation == Relation::Rewritten => Ok(()),
        Ok(_) => Err(fault(during, "a process would be started")),
        Err(_) => Ok(()),
    }
}

fn anchor(stage: &impl Stage, of: &Conversation) -> Result<Anchor, Refusal> {
    block_on(stage.adapter().anchor(of, &machine(stage)))
}

fn preflight(stage: &impl Stage, of: &Conversation) -> Result<Fingerprint, Refusal> {
    block_on(stage.adapter().preflight(of, &machine(stage)))
}

/// A machine on which the agent is installed and nothing runs.
fn machine(stage: &impl Stage) -> FakeHost {
    FakeHost::with_programs(&[&stage.adapter().spec().program])
}
