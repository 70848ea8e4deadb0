//! The rows D2 to D19.

use signaltty_core::agent::{ReportedArgv, Turns};
use signaltty_core::pane::{EndCause, PaneEnd};
use signaltty_core::restore::{MarkerSaved, Marking, NoContinuation::*};
use signaltty_core::save::SaveFailure;
use signaltty_core::time::UnixMillis;
use signaltty_core::workspace::Switches;

use crate::case::*;
use crate::support::{World, pane, shell};

#[test]
fn row_d02_a_live_pane_is_left_alone() {
    let mut world = World::new();
    world.workspace(1, shell());
    let state = world.pane(pane(1)).state.clone();
    leaves(Live, |case| case.state = state);
}

#[test]
fn row_d03_without_a_turn_and_a_marker_there_is_nothing_to_do() {
    leaves(NoTurn, |case| case.agent().turns = turns(2, 0, None));
    leaves(NoTurn, |case| case.agent().turns = Turns::default());
}

#[test]
fn row_d04_a_marker_that_was_never_counted_is_none() {
    check(Ok(2), |case| case.agent().turns = turns(2, 2, Some((3, true))));
}

#[test]
fn row_d05_an_archived_workspace_settles_it() {
    settles(Archived, |case| case.archived = true);
    settles(Archived, |case| {
        case.archived = true;
        case.agent().turns = turns(2, 2, Some((2, true)));
    });
}

#[test]
fn row_d06_a_pane_without_an_agent_has_no_turn_to_settle() {
    leaves(NoAgent, |case| case.agent = None);
}

#[test]
fn row_d07_without_a_conversation_even_a_valid_marker_settles() {
    settles(NoConversation, |case| {
        case.agent().conversation = None;
        case.agent().turns = turns(2, 2, Some((2, true)));
    });
}

#[test]
fn row_d08_a_conversation_that_cannot_be_recognised_settles() {
    settles(Reported, |case| {
        let argv = ReportedArgv(vec!["claude".into()]);
        case.agent().reported_argv = Some(argv);
    });
    settles(NotAnchored, |case| case.agent().conversation.as_mut().unwrap().anchor = None);
}

#[test]
fn row_d09_a_marked_turn_is_recovered_and_a_planned_one_without_the_switches() {
    check(Ok(2), |case| case.agent().turns = turns(2, 2, Some((2, false))));
    check(Ok(2), |case| case.agent().turns = turns(2, 2, Some((2, true))));
    check(Ok(2), |case| {
        case.switches = Switches::default();
        case.agent().turns = turns(2, 2, None);
        case.agent().turns.plan();
    });
    // One that the switches made is not: they are asked again.
    settles(NotOptedIn, |case| {
        case.switches = Switches::default();
        case.agent().turns = turns(2, 2, Some((2, true)));
    });
}

#[test]
fn row_d10_a_recovery_that_had_begun_is_begun_again() {
    check(Ok(2), |case| {
        case.agent().turns = turns(2, 0, Some((2, true)));
        case.agent().interrupted = false;
    });
}

#[test]
fn row_d11_a_newer_turn_supersedes_the_marked_one() {
    settles(Superseded, |case| case.agent().turns = turns(3, 0, Some((2, true))));
}

#[test]
fn row_d12_s1_7_a_marker_for_another_turn_wins_and_refuses() {
    settles(OtherTurnMarked, |case| case.agent().turns = turns(3, 3, Some((2, true))));
    settles(OtherTurnMarked, |case| case.agent().turns = turns(3, 3, Some((2, false))));
    // S1-9: and stays what it is.
    let mut turns = turns(3, 3, Some((2, false)));
    turns.plan();
    assert_eq!(turns.marker().unwrap().turn, turn(2));
}

#[test]
fn row_d13_ready_before_the_prompt_was_sent_is_recovered() {
    check(Ok(2), |case| case.agent().turns = turns(2, 0, Some((2, true))));
}

#[test]
fn row_d14_a_turn_that_finished_after_it_was_marked_is_left() {
    leaves(TurnFinished, |case| {
        let agent = case.agent();
        agent.turns.plan();
        agent.turns.finish();
        agent.interrupted = false;
    });
}

#[test]
fn row_d15_the_person_who_ended_it_wins_over_a_marker() {
    settles(EndedByUser, |case| {
        case.agent().turns = turns(2, 2, Some((2, true)));
        case.end = Some(PaneEnd { cause: EndCause::User, status: None, at: UnixMillis(1) });
    });
}

#[test]
fn row_d16_an_interrupted_turn_is_recovered_where_the_switches_say_so() {
    check(Ok(2), |_| {});
    let end = PaneEnd { cause: EndCause::Shutdown, status: None, at: UnixMillis(1) };
    check(Ok(2), |case| case.end = Some(end));
}

#[test]
fn row_d17_and_nowhere_else() {
    for (auto_resume, auto_continue) in [(false, false), (true, false), (false, true)] {
        let switches = Switches { auto_resume, auto_continue, history: true };
        settles(NotOptedIn, |case| case.switches = switches);
    }
}

#[test]
fn row_d18_a_leftover_turn_that_nothing_worked_on_settles() {
    settles(NotRunning, |case| case.agent().interrupted = false);
    settles(NotRunning, |case| {
        case.agent().interrupted = false;
        case.agent().turns = turns(2, 2, Some((2, false)));
    });
}

#[test]
fn row_d18_d8_an_agent_that_ended_by_itself_goes_on_by_hand_only() {
    let end = PaneEnd { cause: EndCause::Process, status: None, at: UnixMillis(1) };
    settles(EndedByItself, |case| case.end = Some(end));
}

#[test]
fn row_d19_a_marker_that_cannot_be_saved_twice_starts_nothing() {
    let mut case = Case::new();
    let recovery = case.decide().unwrap();
    let marking = Marking::begin(recovery, &mut case.agent().turns);
    assert_eq!(case.agent().turns.marker().map(|m| (m.turn, m.prepared)), Some((turn(2), true)));
    let MarkerSaved::Again(marking) = marking.saved(Err(SaveFailure::Io)) else {
        panic!("the first failure is tried again")
    };
    assert_eq!(marking.saved(Err(SaveFailure::Io)), MarkerSaved::Refused(MarkerNotSaved));
}
