//! What must be proven before something starts, and before a prompt goes out.

use signaltty_core::agent::{Moment, Verdict, WitnessSource, judge};
use signaltty_core::id::InstanceId;
use signaltty_core::restore::{
    AutomaticSpawn, Continuation, FailureCode, MarkerSaved, Marking, NoContinuation,
    NoContinuation::*, OfficialCommand,
};

use crate::case::*;
use crate::support::facts::{extends, id, refusal};
use crate::support::{World, agent};

/// One attempt up to its process.
fn spawn(case: &mut Case) -> AutomaticSpawn {
    let recovery = case.decide().unwrap();
    let marking = Marking::begin(recovery, &mut case.agent().turns);
    let MarkerSaved::Marked(marked) = marking.saved(Ok(())) else { panic!("it is saved") };
    let command = OfficialCommand::of(case.agent()).unwrap();
    AutomaticSpawn::new(command, marked, Ok(extends("A", 1))).unwrap()
}

fn verified(case: &Case, instance: InstanceId) -> signaltty_core::agent::VerifiedSession {
    let mut witness = crate::support::facts::witness(instance, WitnessSource::LiveRegistry, &["A"]);
    witness.record =
        signaltty_core::agent::RecordRead::Done { named: id("A"), result: Ok(extends("A", 1)) };
    let agent = case.agent.as_ref().unwrap();
    let saved = agent.conversation.as_ref().unwrap();
    let policy = case.policy.as_ref().unwrap();
    let before = extends("A", 1);
    let witnesses = [witness];
    match judge(saved, Some(&before), policy, instance, &witnesses, Moment::Waiting) {
        Verdict::Verified(verified) => verified,
        other => panic!("{other:?}"),
    }
}

fn instances() -> [InstanceId; 2] {
    let mut world = World::new();
    [world.workspace(1, agent("claude")), world.workspace(2, agent("claude"))]
}

#[test]
fn inv_r3_nothing_starts_by_itself_on_an_unsound_record() {
    let mut rewritten = extends("A", 1);
    rewritten.relation = signaltty_core::agent::Relation::Rewritten;
    for (preflight, code) in [
        (Ok(rewritten), FailureCode::Rewritten),
        (Err(refusal(FailureCode::Busy)), FailureCode::Busy),
        (Err(refusal(FailureCode::Gone)), FailureCode::Gone),
    ] {
        let mut case = Case::new();
        let recovery = case.decide().unwrap();
        let marking = Marking::begin(recovery, &mut case.agent().turns);
        let MarkerSaved::Marked(marked) = marking.saved(Ok(())) else { panic!("it is saved") };
        let command = OfficialCommand::of(case.agent()).unwrap();
        assert_eq!(AutomaticSpawn::new(command, marked, preflight).unwrap_err().code, code);
    }
    let mut nothing = Case::new();
    nothing.agent().conversation.as_mut().unwrap().anchor = None;
    assert_eq!(OfficialCommand::of(nothing.agent()), None);
}

#[test]
fn s1_25_inv_r5_a_prompt_needs_the_proof_of_the_process_that_runs() {
    let [a, b] = instances();
    let mut case = Case::new();
    let spawn_a = spawn(&mut case);
    let proof = verified(&case, a);
    let agent = case.agent.as_ref().unwrap();
    let sent = Continuation::new(proof, spawn_a.into_marked(), a, agent, case.switches).unwrap();
    assert_eq!((sent.turn(), sent.verified().instance()), (turn(2), a));

    let mut case = Case::new();
    let spawn_b = spawn(&mut case);
    let proof = verified(&case, a);
    let agent = case.agent.as_ref().unwrap();
    let refused = Continuation::new(proof, spawn_b.into_marked(), b, agent, case.switches);
    assert_eq!(refused.unwrap_err(), OtherInstance);
}

#[test]
fn what_changed_since_the_start_is_asked_again_before_the_prompt() {
    let [a, _] = instances();
    type Change = fn(&mut Case);
    let cases: [(Change, NoContinuation); 4] = [
        (|case| case.switches.auto_continue = false, NotOptedIn),
        (|case| case.switches.auto_resume = false, NotOptedIn),
        (|case| case.agent().turns.settle(), Superseded),
        (
            |case| {
                let _ = case.agent().turns.begin();
            },
            Superseded,
        ),
    ];
    for (change, why) in cases {
        let mut case = Case::new();
        let spawn = spawn(&mut case);
        let proof = verified(&case, a);
        change(&mut case);
        let agent = case.agent.as_ref().unwrap();
        let refused = Continuation::new(proof, spawn.into_marked(), a, agent, case.switches);
        assert_eq!(refused.unwrap_err(), why);
    }
}

#[test]
fn k7_what_was_accepted_is_never_continued_again() {
    let mut case = Case::new();
    let _ = spawn(&mut case);
    let turns = &mut case.agent().turns;
    assert_eq!(turns.accepted(), Some(turn(3)));
    assert_eq!((turns.marker(), turns.attempts()), (None, 0));
    // The marker alone comes back with an older file: still never again.
    case.agent().turns = crate::case::turns(3, 3, Some((2, true)));
    assert_eq!(case.decide(), Err(OtherTurnMarked));
}
