//! Invariants of the session under random commands, facts and restarts.
//!
//! Plain proptest on purpose, and not a state machine with a model: steps name
//! what they act on by position among what is open (a process, a preflight, a
//! read), so every sequence is valid, any part of one too, and it shrinks
//! without preconditions. The properties are over single steps, each with the
//! state before and after it; the session's own `check` runs after each input.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    missing_docs,
    unreachable_pub,
    dead_code
)]

mod commands;
mod driver;
mod recovery;
#[path = "../support/mod.rs"]
mod support;

use std::collections::BTreeSet;

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::{FileFailurePersistence, TestRunner};
use signaltty_core::agent::SavedAgent;
use signaltty_core::id::PaneId;
use signaltty_core::saved::SavedSession;
use signaltty_core::session::{CommandError, Effect, Reply, VerdictWord};

use driver::{Cause, Step, op, run};
use support::words::words;

/// 256 cases, or what `PROPTEST_CASES` says; a nightly run takes 10,000. Seeds
/// of failures are kept beside this file and tried first.
fn config() -> ProptestConfig {
    let seeds = FileFailurePersistence::Direct("tests/machine/seeds.txt");
    ProptestConfig { failure_persistence: Some(Box::new(seeds)), ..ProptestConfig::default() }
}

/// Runs random steps and gives the property every step with what it led to.
fn every_step(property: impl Fn(&Step)) {
    proptest!(config(), |(ops in vec(op(), 1..80))| {
        run(&ops).steps.iter().for_each(&property);
    });
}

fn agent_of(saved: &SavedSession, pane: PaneId) -> Option<&SavedAgent> {
    let found = saved.panes.iter().find(|p| p.id == pane)?;
    found.agent.as_ref()
}

#[test]
fn inv_s1_a_refused_command_changes_nothing() {
    every_step(|step| {
        let refused = step.effects.iter().any(|effect| {
            matches!(effect, Effect::Reply { request, result: Err(error) }
                if Some(*request) == step.command
                    && !matches!(error, CommandError::ResumeRefused { .. }))
        });
        if refused {
            assert_eq!(step.before, step.after);
            let saves = |e: &Effect| matches!(e, Effect::Reply { .. } | Effect::Save { .. });
            assert!(step.effects.iter().all(saves), "{step:?}");
        }
    });
}

#[test]
fn inv_s2_every_request_gets_one_reply() {
    // A second one panics in the harness.
    proptest!(config(), |(ops in vec(op(), 1..80))| {
        run(&ops).settle();
    });
}

#[test]
fn inv_s5_the_same_inputs_give_the_same_effects() {
    proptest!(config(), |(ops in vec(op(), 1..80))| {
        let (first, second) = (run(&ops), run(&ops));
        for (a, b) in first.steps.iter().zip(&second.steps) {
            prop_assert_eq!(&a.effects, &b.effects);
            prop_assert_eq!(&a.after, &b.after);
        }
        first.world.replay();
    });
}

#[test]
fn inv_s6_nothing_starts_while_stopping() {
    every_step(|step| {
        if step.stopping {
            let starts = |e: &Effect| {
                matches!(
                    e,
                    Effect::Spawn { .. } | Effect::Preflight { .. } | Effect::Observe { .. }
                )
            };
            assert!(!step.effects.iter().any(starts), "{step:?}");
        }
    });
}

#[test]
fn inv_r1_nothing_is_live_after_a_restore() {
    every_step(|step| {
        if step.cause == Cause::Restore {
            let dead = ["restored", "resumable", "exited"];
            assert!(step.states.iter().all(|(_, state)| dead.contains(state)));
        }
    });
}

#[test]
fn inv_r2_no_process_starts_without_a_request_that_waits_for_it() {
    every_step(|step| {
        for effect in &step.effects {
            // What has none began by itself, which is looked at on its own.
            if let Effect::Spawn { request: Some(request), .. } = effect {
                assert!(matches!(step.cause, Cause::Command | Cause::Preflighted));
                assert!(step.open.contains(request));
            }
        }
    });
}

#[test]
fn inv_r5_only_a_record_read_again_verifies() {
    every_step(|step| {
        for effect in &step.effects {
            if let Effect::Reply { result: Ok(Reply::Resumed { verdict, .. }), .. } = effect {
                let verified = verdict.word == VerdictWord::Verified;
                assert!(!verified || step.cause == Cause::RecordRead { extends: true });
            }
        }
    });
}

#[test]
fn inv_r7_a_saved_conversation_is_replaced_only_by_an_anchored_one() {
    every_step(|step| {
        for pane in &step.after.panes {
            let before = agent_of(&step.before, pane.id).and_then(SavedAgent::resumable);
            let Some(before) = before else { continue };
            let after = pane.agent.as_ref().and_then(SavedAgent::resumable);
            let after = after.unwrap_or_else(|| panic!("lost: {step:?}"));
            if after.id != before.id {
                let by = matches!(
                    step.cause,
                    Cause::RecordRead { extends: true } | Cause::Anchored { messages: 1.. }
                );
                // A person went back to the other one that is kept, or that was
                // refused: both are still there.
                let kept = |agent: Option<&SavedAgent>| {
                    agent.and_then(|agent| Some(agent.previous.as_ref()?.id.clone()))
                };
                let back = kept(agent_of(&step.before, pane.id)) == Some(after.id.clone())
                    && kept(pane.agent.as_ref()) == Some(before.id.clone());
                assert!(by || back, "{step:?}");
                assert!(back || after.previous.as_ref() == Some(&before.id), "{step:?}");
            }
        }
    });
}

#[test]
fn inv_r10_saving_and_loading_again_changes_nothing() {
    proptest!(config(), |(ops in vec(op(), 1..80))| {
        let mut world = run(&ops).world;
        world.crash();
        let (first, states) = (world.saved(), driver::states(&world));
        for _ in 0..3 {
            world.crash();
            prop_assert_eq!(world.saved(), first.clone());
            prop_assert_eq!(driver::states(&world), states.clone());
        }
    });
}

#[test]
fn inv_p5_a_tail_goes_only_because_its_pane_was_closed() {
    every_step(|step| {
        let tails = step.effects.iter().filter_map(|effect| match effect {
            Effect::ForgetTail { pane } => Some(*pane),
            _ => None,
        });
        let mut forgotten: Vec<_> = tails.collect();
        let gone = |pane: &PaneId| !step.after.panes.iter().any(|p| p.id == *pane);
        assert!(forgotten.is_empty() || step.closes, "{step:?}");
        assert!(forgotten.iter().all(gone));
        // And no pane disappears in any other way.
        let lost = step.before.panes.iter().map(|p| p.id).filter(gone);
        let mut lost: Vec<_> = lost.collect();
        lost.sort();
        forgotten.sort();
        assert_eq!(lost, forgotten);
    });
}

#[test]
fn inv_p9_only_a_close_empties_the_session() {
    every_step(|step| {
        if step.after.is_empty() && !step.before.is_empty() {
            assert!(step.closes && step.after.emptied_by_user);
        }
    });
}

#[test]
fn only_running_processes_are_stopped_or_resized() {
    every_step(|step| {
        for effect in &step.effects {
            if let Effect::Kill { instance } | Effect::Resize { instance, .. } = effect {
                assert!(step.running.contains(instance), "{step:?}");
            }
        }
    });
}

/// Guards the properties above against steps that lead nowhere.
#[test]
fn the_steps_reach_every_outcome() {
    let mut runner = TestRunner::deterministic();
    let mut seen = BTreeSet::new();
    for _ in 0..1_200 {
        let ops = vec(op(), 40..80).new_tree(&mut runner).unwrap().current();
        for step in run(&ops).steps {
            seen.extend(words(&step.effects));
        }
    }
    for word in [
        "ok created",
        "ok resumed A verified",
        "ok resumed B verified",
        "ok resumed A unconfirmed",
        "err RESUME_REFUSED contradicted",
        "err RESUME_REFUSED duplicate",
        "err RESUME_REFUSED gone",
        "err RESUME_REFUSED rewritten",
        "err RESUME_REFUSED spawn_failed",
        "err STOPPING",
        "err GONE",
        "~resume.verdict verified",
        "~agent.bound Z",
        "continue",
        "continue by hand",
        "~continuation.accepted",
        "~continuation.failed",
        "~turn.settled",
        "err NOT_CONTINUED",
        "err NOT_INTERRUPTED",
        "err NOT_PROVEN",
        "kill",
        "follow claude 10",
        "follow none",
        "save synced",
        "stop",
    ] {
        assert!(seen.contains(word), "{word}: {seen:#?}");
    }
}
