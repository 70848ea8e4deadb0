//! What a pane holds after a resume that proved nothing: its agent's
//! conversations, as its person goes on, and the saved one besides.

use signaltty_core::agent::{Conversation, Relation};
use signaltty_core::id::InstanceId;
use signaltty_core::pane::Lifecycle;
use signaltty_core::restore::FailureCode;
use signaltty_core::session::{Command, Input, VerdictWord};

use super::resume::tombstone;
use crate::support::facts::{anchor, extends, id, refusal};
use crate::support::words::{deeds, words};
use crate::support::{World, pane, reply_of, resume, spawn_of};

/// Left open unconfirmed: it showed that conversation, and its record could not
/// be read in time.
fn unconfirmed(shown: &str) -> (World, InstanceId) {
    let mut world = tombstone();
    let instance = world.verifying(1);
    world.shows(instance, shown);
    let effects = deeds(&world.pass(10_000));
    assert_eq!(effects[0], "ok resumed A unconfirmed");
    (world, instance)
}

/// Resumed although its record was rewritten.
fn overridden() -> (World, InstanceId) {
    let mut world = tombstone();
    world.ask(Command::Resume { pane: pane(1), anyway: true, previous: false, cwd: None });
    let mut rewritten = extends("A", 1);
    rewritten.relation = Relation::Rewritten;
    let instance = spawn_of(&world.preflight(1, Ok(rewritten)));
    world.started(instance);
    world.shows(instance, "A");
    let effects = deeds(&world.pass(10_000));
    assert!(effects.contains(&"ok resumed A unconfirmed".into()));
    assert!(effects.contains(&"anchor A".into()), "{effects:?}");
    (world, instance)
}

fn differs(world: &mut World, instance: InstanceId) -> Vec<String> {
    let result = Err(refusal(FailureCode::Rewritten));
    deeds(&world.input(Input::Anchored { instance, id: id("A"), result }))
}

fn kept(world: &World) -> Option<Conversation> {
    world.pane(pane(1)).record.agent.clone().unwrap().previous
}

fn previous() -> Command {
    Command::Resume { pane: pane(1), anyway: false, previous: true, cwd: None }
}

#[test]
fn c029_c046_a_new_conversation_is_followed_and_the_unproven_one_is_kept_whole() {
    let (mut world, instance) = unconfirmed("A");
    let saved = world.pane(pane(1)).record.agent.clone().unwrap().conversation.unwrap();
    // The person clears it and says something.
    assert!(words(&world.shows(instance, "B")).contains(&"anchor B".into()));
    assert_eq!(world.conversation(1), "A", "nobody said anything in it yet");
    assert_eq!(words(&world.anchored(instance, "B", 1)), ["~agent.bound B"]);
    assert_eq!(world.conversation(1), "B");
    assert_eq!(kept(&world), Some(saved.clone()));
    assert_eq!(world.failure(1), None);
    assert_eq!(world.pane(pane(1)).verdict, None, "what was said of A is not said of B");

    world.crash();
    assert_eq!(world.state(pane(1)), "resumable");
    assert_eq!((world.conversation(1), kept(&world)), ("B".into(), Some(saved)));
    let instance = world.verifying(1);
    world.shows(instance, "B");
    let effects = deeds(&world.read(instance, 0, "B", Ok(extends("B", 1))));
    assert_eq!(effects, ["ok resumed B verified"]);
    assert_eq!(kept(&world), None, "the person chose, and it is proven");
}

#[test]
fn d3_what_is_advised_of_a_refused_previous_conversation_is_about_that_one() {
    let (mut world, instance) = unconfirmed("A");
    world.shows(instance, "B");
    world.anchored(instance, "B", 1);
    world.exit(instance, 1);
    for (code, way) in [
        (FailureCode::Damaged, "signaltty resume pane_1 --previous --anyway"),
        (FailureCode::CwdMissing, "signaltty resume pane_1 --previous --cwd DIR"),
    ] {
        for (which, way) in
            [(previous(), way.to_owned()), (resume(1), way.replace(" --previous", ""))]
        {
            world.ask(which);
            let effects = world.preflight(1, Err(refusal(code)));
            let said = reply_of(&effects).as_ref().unwrap_err().to_string();
            assert!(said.replace(&pane(1).to_string(), "pane_1").ends_with(&way), "{said}");
        }
    }
}

#[test]
fn c046_what_it_opened_by_itself_counts_once_its_person_goes_on_in_it() {
    let (mut world, instance) = unconfirmed("Z");
    world.shows(instance, "Z");
    world.anchored(instance, "Z", 5);
    world.does(instance, Lifecycle::Done);
    world.anchored(instance, "Z", 5);
    assert_eq!(world.conversation(1), "A");
    world.does(instance, Lifecycle::Working);
    world.does(instance, Lifecycle::Done);
    world.anchored(instance, "Z", 6);
    assert_eq!(world.conversation(1), "Z");
    assert_eq!(kept(&world).unwrap().id, id("A"));
}

#[test]
fn c028_a_fresh_start_that_was_shown_counts_from_its_first_message() {
    let (mut world, instance) = unconfirmed("Z");
    world.shows(instance, "Z");
    let nobody = Err(refusal(FailureCode::Gone));
    world.input(Input::Anchored { instance, id: id("Z"), result: nobody });
    world.does(instance, Lifecycle::Working);
    world.does(instance, Lifecycle::Done);
    world.anchored(instance, "Z", 1);
    assert_eq!(world.conversation(1), "Z");
    assert_eq!(kept(&world).unwrap().id, id("A"));
}

#[test]
fn d3_an_accepted_record_is_anchored_once_its_person_goes_on_in_it() {
    let (mut world, instance) = overridden();
    assert_eq!(differs(&mut world, instance), ["anchor A"], "as it is, without comparing");
    world.anchored(instance, "A", 1);
    let held = |world: &World| {
        world.pane(pane(1)).record.agent.clone().unwrap().conversation.unwrap().anchor.unwrap()
    };
    let mut changed = anchor("A", 2);
    changed.extent = signaltty_core::agent::Extent::Lines { bytes: 7, sha256: [9; 32] };
    assert_eq!(held(&world), anchor("A", 1), "nothing was said since");
    world.does(instance, Lifecycle::Working);
    assert!(deeds(&world.does(instance, Lifecycle::Done)).contains(&"anchor A".into()));
    world.input(Input::Anchored { instance, id: id("A"), result: Ok(changed.clone()) });
    assert_eq!(held(&world), changed, "a shorter one too: its person saw it");
    // It was not proven, and nothing goes out by itself.
    assert_eq!(world.pane(pane(1)).verdict.unwrap().word, VerdictWord::Unconfirmed);
    assert_eq!(world.failure(1), None);

    world.crash();
    world.ask(resume(1));
    let instance = spawn_of(&world.preflight(1, Ok(extends("A", 2))));
    world.started(instance);
    world.shows(instance, "A");
    let effects = deeds(&world.read(instance, 0, "A", Ok(extends("A", 2))));
    assert_eq!(effects, ["ok resumed A verified"]);
}

#[test]
fn d3_a_record_that_changes_without_a_persons_override_keeps_its_anchor() {
    let (mut world, instance) = unconfirmed("A");
    world.does(instance, Lifecycle::Done);
    assert_eq!(differs(&mut world, instance), [""; 0]);
    assert_eq!(world.conversation(1), "A");
    assert_eq!(world.failure(1), Some(FailureCode::Unconfirmed));
}

#[test]
fn d3_what_the_agent_rewrote_itself_is_anchored_as_it_is_once_a_turn_ended() {
    let mut world = World::new();
    let instance = world.talking(1, "claude", "A");
    world.anchored(instance, "A", 5);
    let agent = |world: &World| world.pane(pane(1)).record.agent.clone().unwrap();
    let held = |world: &World| agent(world).conversation.unwrap().anchor.unwrap();
    world.does(instance, Lifecycle::Working);
    assert!(deeds(&world.does(instance, Lifecycle::Done)).contains(&"anchor A".into()));
    let refused = |world: &mut World, code| {
        let result = Err(refusal(code));
        deeds(&world.input(Input::Anchored { instance, id: id("A"), result }))
    };
    let again = refused(&mut world, FailureCode::Rewritten);
    assert_eq!(again, ["anchor A"], "without comparing");
    world.anchored(instance, "A", 6);
    assert_eq!(held(&world), anchor("A", 6));
    assert!(agent(&world).continuity.rewritten_at.is_some(), "and it is said");
    // Only that once: the next is compared again.
    world.anchored(instance, "A", 3);
    assert_eq!(held(&world), anchor("A", 6));
    // What lost something of what was saved keeps its anchor, which never shrinks.
    assert_eq!(refused(&mut world, FailureCode::Damaged), [""; 0]);
    assert_eq!(refused(&mut world, FailureCode::Rewritten), ["anchor A"]);
    world.anchored(instance, "A", 5);
    assert_eq!(held(&world), anchor("A", 6));
}

#[test]
fn r7_the_previous_conversation_is_reopened_and_the_present_one_is_kept() {
    let (mut world, instance) = unconfirmed("A");
    world.shows(instance, "B");
    world.anchored(instance, "B", 1);
    world.crash();
    let before = world.saved();
    assert_eq!(deeds(&world.ask(previous())), ["preflight A"]);
    let effects = deeds(&world.preflight(1, Err(refusal(FailureCode::Damaged))));
    assert_eq!(effects, ["err RESUME_REFUSED damaged"]);
    // Refused: it holds what it held, and nothing is said against that.
    assert_eq!(world.failure(1), None);
    assert_eq!((world.conversation(1), kept(&world).unwrap().id), ("B".into(), id("A")));
    let agent = |saved: &signaltty_core::saved::SavedSession| {
        let agent = saved.panes[0].agent.clone().unwrap();
        (agent.conversation, agent.previous, agent.turns, agent.interrupted)
    };
    assert_eq!(agent(&world.saved()), agent(&before));

    world.ask(previous());
    let instance = spawn_of(&world.preflight(1, Ok(extends("A", 1))));
    world.started(instance);
    world.shows(instance, "A");
    let effects = deeds(&world.read(instance, 0, "A", Ok(extends("A", 1))));
    assert_eq!(effects, ["ok resumed A verified"]);
    assert_eq!((world.conversation(1), kept(&world).unwrap().id), ("A".into(), id("B")));
}

#[test]
fn c046_of_a_row_of_unproven_ones_that_which_was_not_in_doubt_is_kept() {
    let (mut world, mut instance) = unconfirmed("A");
    let sure = world.pane(pane(1)).record.agent.clone().unwrap().conversation;
    world.shows(instance, "B");
    world.anchored(instance, "B", 1);
    for (held, next) in [("B", "C"), ("C", "D")] {
        world.crash();
        instance = world.verifying(1);
        world.shows(instance, held);
        let effects = deeds(&world.pass(10_000));
        assert_eq!(effects[0], format!("ok resumed {held} unconfirmed"));
        world.shows(instance, next);
        world.anchored(instance, next, 1);
        assert_eq!((world.conversation(1), kept(&world)), (next.into(), sure.clone()));
    }
    // What is begun in the same process is no surer than that.
    world.shows(instance, "E");
    world.anchored(instance, "E", 1);
    assert_eq!((world.conversation(1), kept(&world)), ("E".into(), sure.clone()));

    // Gone back to and unproven again, it is still the one that is kept.
    world.crash();
    world.ask(previous());
    let instance = spawn_of(&world.preflight(1, Ok(extends("A", 1))));
    world.started(instance);
    world.shows(instance, "A");
    world.pass(10_000);
    assert_eq!((world.conversation(1), kept(&world).unwrap().id), ("A".into(), id("E")));
    world.shows(instance, "F");
    world.anchored(instance, "F", 1);
    assert_eq!((world.conversation(1), kept(&world)), ("F".into(), sure));
}

#[test]
fn r7_a_pane_that_keeps_none_has_no_previous_conversation() {
    let mut world = tombstone();
    let before = world.saved();
    assert_eq!(deeds(&world.ask(previous())), ["err NOT_RESUMABLE"]);
    assert_eq!(world.saved(), before);
}

#[test]
fn c029_a_new_conversation_has_no_proof_of_the_one_before() {
    let mut world = tombstone();
    let instance = world.verifying(1);
    world.shows(instance, "A");
    world.read(instance, 0, "A", Ok(extends("A", 1)));
    let continuity = |world: &World| {
        let continuity = world.pane(pane(1)).record.agent.clone().unwrap().continuity;
        (continuity.resumed, continuity.proven_at.is_some())
    };
    assert_eq!(continuity(&world), (1, true));
    world.shows(instance, "B");
    world.anchored(instance, "B", 1);
    assert_eq!(continuity(&world), (0, false));
    assert_eq!(world.pane(pane(1)).verdict, None);
    assert_eq!(kept(&world), None, "A was proven, and is not in doubt");
}
