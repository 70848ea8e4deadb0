//! What a server does by itself, under random steps.

use std::collections::BTreeMap;

use proptest::collection::vec;
use proptest::prelude::*;
use signaltty_core::agent::{Marker, MarkerOrigin, SavedAgent};
use signaltty_core::id::PaneId;
use signaltty_core::saved::SavedSession;
use signaltty_core::session::{Effect, Event, Program};
use signaltty_core::workspace::{Naming, SavedWorkspace};

use crate::driver::{Cause, Step, op, run};
use crate::{agent_of, config, every_step};

fn workspace_of(saved: &SavedSession, pane: PaneId) -> Option<&SavedWorkspace> {
    let tab = saved.panes.iter().find(|found| found.id == pane)?.tab;
    let workspace = saved.tabs.iter().find(|found| found.id == tab)?.workspace;
    saved.workspaces.iter().find(|found| found.id == workspace).map(|found| &**found)
}

fn marker_of(saved: &SavedSession, pane: PaneId) -> Option<Marker> {
    agent_of(saved, pane)?.turns.marker()
}

/// The pane that each effect of a kind is about.
fn continued(step: &Step) -> Vec<(PaneId, u64, bool)> {
    let sent = step.effects.iter().filter_map(|effect| match effect {
        Effect::Continue { continuation, by_hand, .. } => Some((continuation, *by_hand)),
        _ => None,
    });
    sent.map(|(continuation, by_hand)| {
        let verified = continuation.verified();
        assert!(step.running.contains(&verified.instance()), "R5: of a process that runs");
        let turn = continuation.turn();
        let promised = step.disk.panes.iter().find(|pane| {
            let agent = pane.agent.as_ref();
            let marker = agent.and_then(|agent| agent.turns.marker());
            let id = agent.and_then(SavedAgent::resumable).map(|found| &found.id);
            marker.is_some_and(|m| m.turn == turn && m.sent) && id == Some(verified.id())
        });
        let promised = promised.unwrap_or_else(|| panic!("R4, K6: not on the disk: {step:?}"));
        (promised.id, turn.get(), by_hand)
    })
    .collect()
}

#[test]
fn inv_r3_inv_r4_s0_16_what_starts_by_itself_is_wanted_official_and_on_the_disk() {
    every_step(|step| {
        for effect in &step.effects {
            let Effect::Spawn { request: None, pane, command, .. } = effect else { continue };
            assert!(matches!(step.cause, Cause::Preflighted | Cause::TurnRead), "{step:?}");
            assert!(matches!(command.program, Program::Official(_)), "R3, S0-15");
            let agent = agent_of(&step.disk, *pane).unwrap();
            assert!((1..=3).contains(&agent.continuity.starts), "R4, D-14: {step:?}");
            // Switches may be turned off until then.
            let workspace = workspace_of(&step.before, *pane).unwrap();
            let planned = marker_of(&step.before, *pane)
                .is_some_and(|marker| marker.origin == MarkerOrigin::Planned);
            assert!(!workspace.archived, "S1-6: {step:?}");
            assert!(planned || workspace.switches.auto_resume, "S0-16: {step:?}");
        }
    });
}

#[test]
fn inv_r5_inv_r11_s1_10_a_prompt_is_promised_on_the_disk_and_bounded() {
    proptest!(config(), |(ops in vec(op(), 1..80))| {
        let mut tries = BTreeMap::new();
        for step in run(&ops).steps {
            for (pane, turn, by_hand) in continued(&step) {
                if !by_hand {
                    let tries = tries.entry((pane, turn)).or_insert(0);
                    *tries += 1;
                    prop_assert!(*tries <= 3, "R11");
                }
            }
        }
    });
}

#[test]
fn inv_r6_a_marker_goes_by_acceptance_a_refusal_that_is_told_or_a_person() {
    every_step(|step| {
        for pane in &step.after.panes {
            let (had, has) = (marker_of(&step.before, pane.id), marker_of(&step.after, pane.id));
            let Some(had) = had.filter(|_| has.is_none()) else { continue };
            let told = step.effects.iter().any(|effect| {
                matches!(effect, Effect::Publish(
                    Event::ContinuationAccepted { pane: p, .. }
                    | Event::ContinuationFailed { pane: p, .. }
                    | Event::TurnSettled { pane: p, .. }) if *p == pane.id)
            });
            // D14: one that finished before its recovery began.
            let finished = step.cause == Cause::Begin && !had.prepared;
            let heard = step.cause == Cause::Report { accepted: true };
            let person = step.cause == Cause::Command;
            // Heard before the verdict, and taken up with it.
            let judged = step.effects.iter().any(|effect| {
                matches!(effect, Effect::Publish(Event::ResumeVerdict { pane: p, .. })
                    if *p == pane.id)
            });
            // All marks or none (S1-24).
            let undone = !had.prepared && had.origin == MarkerOrigin::Planned;
            assert!(told || finished || heard || person || judged || undone, "{step:?}");
        }
    });
}

#[test]
fn s0_11_s0_56_notes_are_bounded_and_no_name_is_awaited_after_a_restart() {
    every_step(|step| {
        assert!(step.after.notifications.len() <= 200);
        if step.cause == Cause::Restore {
            let awaited = |workspace: &&std::sync::Arc<SavedWorkspace>| {
                workspace.naming == Naming::Generating
            };
            assert_eq!(step.after.workspaces.iter().filter(awaited).count(), 0);
            assert_eq!(step.after.notifications, step.before.notifications);
        }
    });
}
