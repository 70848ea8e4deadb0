//! Resumes that do not succeed: the tombstone, the reason and the saved
//! conversation remain (R7).

use std::sync::Arc;

use signaltty_core::agent::{AgentReport, Relation};
use signaltty_core::pane::{Attention, ExitStatus, Lifecycle};
use signaltty_core::restore::FailureCode;
use signaltty_core::session::{Command, Input, PaneFact};

use super::resume::tombstone;
use crate::support::facts::{extends, refusal};
use crate::support::words::{deeds, words};
use crate::support::{World, pane, reply_of, resume};

/// Nothing but the noted failure and the attention differ from `before`.
fn kept(world: &World, before: &signaltty_core::saved::SavedSession, code: FailureCode) {
    assert_eq!(world.state(pane(1)), "resumable");
    assert_eq!(world.failure(1), Some(code));
    let mut now = world.saved();
    let record = Arc::make_mut(&mut now.panes[0]);
    record.agent.as_mut().unwrap().last_failure = None;
    record.attention = before.panes[0].attention;
    assert_eq!(now, *before);
    world.settled();
}

#[test]
fn s1_31_a_refused_preflight_starts_no_process() {
    let codes = [
        FailureCode::Gone,
        FailureCode::Damaged,
        FailureCode::Unreadable,
        FailureCode::Busy,
        FailureCode::MalformedId,
        FailureCode::BinaryMissing,
        FailureCode::CwdMissing,
    ];
    for code in codes {
        let mut world = tombstone();
        let before = world.saved();
        world.ask(resume(1));
        let effects = words(&world.preflight(1, Err(refusal(code))));
        let expected = [
            format!("~resume.failed {code}"),
            "~attention.changed warning".into(),
            "~pane.state resumable".into(),
            format!("err RESUME_REFUSED {code}"),
        ];
        assert_eq!(effects, expected);
        kept(&world, &before, code);
    }
}

#[test]
fn d27_a_record_in_another_home_is_not_the_saved_one() {
    let elsewhere = || {
        let mut found = extends("A", 1);
        found.now.record = "/other/home/A".into();
        Ok(found)
    };
    let mut world = tombstone();
    let before = world.saved();
    world.ask(resume(1));
    let effects = deeds(&world.preflight(1, elsewhere()));
    assert_eq!(effects, ["err RESUME_REFUSED elsewhere"]);
    kept(&world, &before, FailureCode::Elsewhere);
    let message = world.pane(pane(1)).record.agent.clone().unwrap().last_failure.unwrap();
    let message = message.refusal.message;
    assert!(message.contains("/other/home/A") && message.contains("/records/A"), "{message}");
    // Its person may have moved it.
    world.ask(Command::Resume { pane: pane(1), anyway: true, previous: false, cwd: None });
    let effects = words(&world.preflight(1, elsewhere()));
    assert!(effects.iter().any(|word| word.starts_with("spawn")), "{effects:?}");
}

#[test]
fn a_look_before_a_start_that_never_ends_is_refused() {
    let mut world = tombstone();
    let before = world.saved();
    world.ask(resume(1));
    assert_eq!(deeds(&world.pass(59_000)), [""; 0]);
    assert_eq!(deeds(&world.pass(1_000)), ["err RESUME_REFUSED unreadable"]);
    kept(&world, &before, FailureCode::Unreadable);
}

#[test]
fn d3_some_refusals_can_be_overridden_by_hand_and_then_prove_nothing() {
    for code in FailureCode::ALL.iter().copied() {
        let mut world = tombstone();
        world.ask(Command::Resume { pane: pane(1), anyway: true, previous: false, cwd: None });
        let effects = deeds(&world.preflight(1, Err(refusal(code))));
        if !code.can_be_overridden() {
            assert_eq!(effects, [format!("err RESUME_REFUSED {code}")]);
            continue;
        }
        assert_eq!(effects, ["spawn official claude A"]);
        let agent = world.pane(pane(1)).state.instance().unwrap();
        world.started(agent);
        assert_eq!(deeds(&world.shows(agent, "A")), [""; 0]);
        let effects = deeds(&world.pass(10_000));
        assert!(effects.contains(&"ok resumed A unconfirmed".into()));
        assert_eq!(world.failure(1), Some(FailureCode::Unconfirmed));
    }
}

#[test]
fn d3_a_rewritten_record_is_one_key_more() {
    let mut rewritten = extends("A", 1);
    rewritten.relation = Relation::Rewritten;
    let mut world = tombstone();
    let before = world.saved();
    world.ask(resume(1));
    let effects = deeds(&world.preflight(1, Ok(rewritten.clone())));
    assert_eq!(effects, ["err RESUME_REFUSED rewritten"]);
    kept(&world, &before, FailureCode::Rewritten);
    world.ask(Command::Resume { pane: pane(1), anyway: true, previous: false, cwd: None });
    let effects = deeds(&world.preflight(1, Ok(rewritten)));
    assert_eq!(effects, ["spawn official claude A"]);
}

#[test]
fn s0_22_a_failed_start_names_its_reason() {
    let mut world = tombstone();
    let before = world.saved();
    let instance = world.spawning(1);
    let effects =
        world.input(Input::Spawned { instance, result: Err(refusal(FailureCode::BinaryMissing)) });
    assert_eq!(deeds(&effects), ["err RESUME_REFUSED binary_missing"]);
    kept(&world, &before, FailureCode::BinaryMissing);
}

#[test]
fn s0_23_c053_an_early_exit_keeps_the_id_and_the_last_words() {
    let mut world = tombstone();
    let before = world.saved();
    let instance = world.verifying(1);
    let effects = world.input(Input::Exited {
        instance,
        status: ExitStatus { code: Some(1), signal: None },
        last_line: Some("No conversation found with session ID: A".into()),
    });
    assert_eq!(deeds(&effects), ["err RESUME_REFUSED spawn_failed"]);
    let error = reply_of(&effects).as_ref().unwrap_err().to_string();
    assert!(error.contains("exit code 1") && error.contains("No conversation found"));
    kept(&world, &before, FailureCode::SpawnFailed);
}

#[test]
fn s1_20_c046_a_contradicted_process_is_stopped_before_the_tombstone_returns() {
    let mut world = tombstone();
    let before = world.saved();
    let instance = world.verifying(1);
    world.shows(instance, "Z");
    world.read(instance, 0, "Z", Err(refusal(FailureCode::Gone)));
    assert_eq!(words(&world.pass(9_999)), [""; 0]);
    let effects = words(&world.pass(1));
    let expected = ["~resume.verdict contradicted", "~resume.stage stopping", "kill"];
    assert_eq!(effects, expected);
    assert_eq!(world.state(pane(1)), "resuming");
    assert_eq!(words(&world.ask(resume(1))), ["err PANE_LIVE"]);
    assert_eq!(words(&world.shows(instance, "A")), [""; 0]);

    let effects = world.exit(instance, 143);
    assert_eq!(deeds(&effects), ["err RESUME_REFUSED contradicted"]);
    let error = reply_of(&effects).as_ref().unwrap_err().to_string();
    assert!(error.contains('Z') && error.contains('A'), "{error}");
    kept(&world, &before, FailureCode::Contradicted);
    assert_eq!(world.pane(pane(1)).record.attention, Attention::Warning);
}

#[test]
fn s1_28_a_damaged_record_contradicts_at_once() {
    let mut world = tombstone();
    let instance = world.verifying(1);
    world.shows(instance, "A");
    let damaged = Err(refusal(FailureCode::Damaged));
    let effects = deeds(&world.read(instance, 0, "A", damaged));
    assert_eq!(effects, ["kill"]);
    assert_eq!(world.stage(pane(1)), "stopping");
}

#[test]
fn r7_what_an_unproven_process_says_is_not_kept_when_it_is_stopped() {
    let mut world = tombstone();
    let before = world.saved();
    let instance = world.verifying(1);
    world.report(
        instance,
        AgentReport {
            lifecycle: Some(Lifecycle::Idle),
            message: Some("hello, I am new here".into()),
            accepted_prompt: true,
            ..AgentReport::default()
        },
    );
    for fact in [PaneFact::Title("new".into()), PaneFact::Cwd("/else".into())] {
        world.input(Input::Fact { instance, fact });
    }
    world.shows(instance, "Z");
    world.read(instance, 0, "Z", Err(refusal(FailureCode::Gone)));
    world.pass(10_000);
    world.exit(instance, 0);
    kept(&world, &before, FailureCode::Contradicted);
}

#[test]
fn a_process_that_waits_for_a_person_says_so_while_it_is_resumed() {
    let mut world = tombstone();
    let instance = world.verifying(1);
    let wants = |attention| AgentReport { attention: Some(attention), ..AgentReport::default() };
    world.report(instance, wants(Attention::InputRequired));
    let attention = |world: &World| world.pane(pane(1)).record.attention;
    assert_eq!(attention(&world), Attention::InputRequired);
    // Only the conversation's own agent may say that it no longer does.
    world.report(instance, wants(Attention::None));
    assert_eq!(attention(&world), Attention::InputRequired);
}

#[test]
fn c047_one_conversation_is_open_in_one_pane() {
    let mut world = World::new();
    world.talking(1, "claude", "A");
    world.talking(2, "claude", "A");
    world.talking(3, "codex", "A");
    world.crash();
    world.ask(resume(1));
    // The first is being resumed, so the second is refused and named it.
    let effects = world.ask(resume(2));
    assert_eq!(deeds(&effects), ["err RESUME_REFUSED duplicate"]);
    let error = reply_of(&effects).as_ref().unwrap_err().to_string();
    assert!(error.contains(&pane(1).to_string()), "{error}");
    assert_eq!(world.conversation(2), "A");
    // The same id of another agent is another conversation.
    let effects = deeds(&world.ask(resume(3)));
    assert_eq!(effects, ["preflight A"]);
    // Once the first has ended, the second may.
    world.ask(Command::ClosePane(pane(1)));
    assert_eq!(deeds(&world.ask(resume(2))), ["preflight A"]);
}

#[test]
fn d13_a_conversation_that_another_pane_shows_is_open_there() {
    let mut world = World::new();
    world.talking(1, "claude", "A");
    world.crash();
    let other = world.workspace(2, crate::support::agent("claude"));
    // Reopened from inside the agent; not anchored yet.
    world.shows(other, "A");
    let effects = deeds(&world.ask(resume(1)));
    assert_eq!(effects, ["err RESUME_REFUSED duplicate"]);
}

#[test]
fn c052_every_try_is_a_persons_and_the_id_stays() {
    let mut world = tombstone();
    for _ in 0..5 {
        let instance = world.verifying(1);
        world.exit(instance, 1);
        world.crash();
        assert_eq!(deeds(&world.pass(60_000)).len(), 0);
        assert_eq!(world.conversation(1), "A");
        assert_eq!(world.state(pane(1)), "resumable");
    }
}
