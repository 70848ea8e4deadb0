//! What bounds attempts, and the names of the reasons.

use std::time::Duration;

use signaltty_core::agent::{AgentPolicy, TurnId, Turns};
use signaltty_core::restore::{Marking, NoContinuation::*};

use crate::case::*;
use crate::support::{World, pane};

#[test]
fn d14_starts_in_a_row_that_did_not_last_end_it() {
    check(Ok(2), |case| case.agent().continuity.starts = 2);
    settles(StartsExhausted, |case| case.agent().continuity.starts = 3);
}

#[test]
fn inv_r11_the_configuration_may_allow_fewer_attempts_and_never_more() {
    for (allowed, tried, expected) in [
        (0, 0, Err(AttemptsExhausted)),
        (1, 0, Ok(2)),
        (1, 1, Err(AttemptsExhausted)),
        (2, 1, Ok(2)),
        (9, 2, Ok(2)),
        (9, 3, Err(AttemptsExhausted)),
    ] {
        check(expected, |case| {
            case.max_attempts = allowed;
            let marker = turns(2, 2, Some((2, true))).marker();
            case.agent().turns = Turns::from_saved(2, Some(turn(2)), marker, tried);
        });
    }
}

#[test]
fn s1_14_who_can_prove_nothing_is_never_prompted() {
    settles(Unprovable, |case| case.policy = None);
    let nothing = AgentPolicy::unprovable(Duration::from_secs(1));
    settles(Unprovable, |case| case.policy = Some(nothing));
    // D-2: one that shows nothing before a prompt is never prompted by itself.
    settles(Unprovable, |case| {
        case.policy = case.policy.take().map(AgentPolicy::silent_until_prompt);
    });
}

#[test]
fn d13_an_open_conversation_is_not_opened_twice() {
    settles(Duplicate(pane(7)), |case| case.holder = Some(pane(7)));
}

#[test]
fn inv_r11_attempts_are_bounded_over_all_starts_and_once_a_start() {
    let mut case = Case::new();
    for start in 1..=3 {
        let recovery = case.decide().unwrap();
        let _ = Marking::begin(recovery, &mut case.agent().turns);
        assert_eq!(case.agent().turns.attempts(), start);
        case.tried = true;
        assert_eq!(case.decide().unwrap_err(), if start < 3 { Tried } else { AttemptsExhausted });
        // Killed, and started again from what was saved.
        let saved = case.agent().turns.clone();
        case.agent().turns =
            Turns::from_saved(saved.newest(), saved.active(), saved.marker(), saved.attempts());
        case.tried = false;
    }
    assert_eq!(case.decide(), Err(AttemptsExhausted));
    case.agent().turns.settle();
    assert_eq!(case.decide(), Err(NoTurn));
}

#[test]
fn reasons_have_names_of_their_own() {
    let all = [
        Live,
        NoAgent,
        NoTurn,
        TurnFinished,
        Tried,
        Archived,
        NoConversation,
        NotAnchored,
        Reported,
        EndedByUser,
        EndedByItself,
        StartsExhausted,
        NotResuming,
        RecordFinished,
        OpenToolCall,
        Arrived,
        PromptUnclear,
        OtherTurnMarked,
        Superseded,
        NotRunning,
        NotOptedIn,
        Unprovable,
        Duplicate(pane(1)),
        AttemptsExhausted,
        MarkerNotSaved,
        OtherInstance,
    ];
    let mut names: Vec<_> = all.iter().map(|why| why.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), all.len());
}

#[test]
fn a_session_counts_turns_and_a_crash_leaves_the_active_one() {
    use signaltty_core::pane::Lifecycle::{Blocked, Done, Idle, Working};
    let mut world = World::new();
    let instance = world.talking(1, "claude", "A");
    let turns = |world: &World| {
        let turns = &world.pane(pane(1)).record.agent.as_ref().unwrap().turns;
        (turns.newest(), turns.active().map(TurnId::get))
    };
    for (does, expected) in [
        (Working, (1, Some(1))),
        (Blocked, (1, Some(1))),
        (Working, (1, Some(1))),
        (Done, (1, None)),
        (Idle, (1, None)),
        (Working, (2, Some(2))),
    ] {
        world.does(instance, does);
        assert_eq!(turns(&world), expected, "{does}");
    }
    world.crash();
    assert_eq!(turns(&world), (2, Some(2)));
    let record = world.pane(pane(1)).record.agent.clone().unwrap();
    assert!(record.interrupted);
}
