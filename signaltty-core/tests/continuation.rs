//! Is an interrupted turn continued? One test for each row of the table.
//!
//! Rows that cannot occur here: D1, since the session owns its processes and
//! there is no list of them that could be unreadable; the half of D6 and D9 to
//! D18 in which two records disagree, since there is one record. D4 is the
//! reader's: see `golden.rs` in signaltty-persist.
#![allow(clippy::unwrap_used, clippy::panic, missing_docs, unreachable_pub, dead_code)]

#[path = "support/mod.rs"]
mod support;

use std::time::Duration;

use signaltty_core::agent::{
    AgentPolicy, LoadedRule, Marker, MarkerOrigin, Moment, SavedAgent, TurnId, Turns, Verdict,
    WitnessSource, judge,
};
use signaltty_core::id::InstanceId;
use signaltty_core::pane::{EndCause, PaneEnd};
use signaltty_core::restore::{
    AutomaticSpawn, Continuation, Facts, FailureCode, MarkerSaved, Marking, NoContinuation,
    OfficialCommand, PaneState, Recovery, Tombstone, eligibility,
};
use signaltty_core::save::SaveFailure;
use signaltty_core::time::UnixMillis;
use signaltty_core::workspace::Switches;

use NoContinuation::*;
use support::facts::{extends, id, refusal};
use support::{World, agent, pane, shell};

/// Everything speaks for going on with turn 2.
struct Case {
    state: PaneState,
    agent: Option<SavedAgent>,
    end: Option<PaneEnd>,
    archived: bool,
    switches: Switches,
    policy: Option<AgentPolicy>,
    holder: Option<signaltty_core::id::PaneId>,
    tried: bool,
    max_attempts: u8,
}

fn turn(n: u64) -> TurnId {
    TurnId::new(n).unwrap()
}

fn turns(newest: u64, active: u64, marker: Option<(u64, bool)>) -> Turns {
    let marker = marker.map(|(n, prepared)| Marker {
        turn: turn(n),
        origin: MarkerOrigin::Automatic,
        prepared,
        sent: false,
    });
    Turns::from_saved(newest, TurnId::new(active), marker, 0)
}

impl Case {
    fn new() -> Self {
        let mut world = World::new();
        world.talking(1, "claude", "A");
        let mut agent = world.pane(pane(1)).record.agent.clone().unwrap();
        agent.interrupted = true;
        agent.turns = turns(2, 2, None);
        let policy = AgentPolicy::new(
            vec![WitnessSource::LiveRegistry],
            LoadedRule::NotReported,
            Duration::from_secs(10),
        );
        Self {
            state: PaneState::Tombstone(Tombstone::Resumable),
            agent: Some(agent),
            end: None,
            archived: false,
            switches: Switches { auto_resume: true, auto_continue: true, history: true },
            policy: Some(policy),
            holder: None,
            tried: false,
            max_attempts: 3,
        }
    }

    fn agent(&mut self) -> &mut SavedAgent {
        self.agent.as_mut().unwrap()
    }

    fn with(change: impl FnOnce(&mut Self)) -> Self {
        let mut case = Self::new();
        change(&mut case);
        case
    }

    fn decide(&self) -> Result<Recovery, NoContinuation> {
        eligibility(&Facts {
            state: &self.state,
            agent: self.agent.as_ref(),
            end: self.end.as_ref(),
            archived: self.archived,
            switches: self.switches,
            policy: self.policy.as_ref(),
            holder: self.holder,
            tried: self.tried,
            max_attempts: self.max_attempts,
        })
    }
}

/// What is decided, and whether a no settles the turn.
#[track_caller]
fn check(expected: Result<u64, NoContinuation>, change: impl FnOnce(&mut Case)) {
    let decided = Case::with(change).decide().map(|recovery| recovery.turn().get());
    assert_eq!(decided, expected);
}

#[track_caller]
fn leaves(why: NoContinuation, change: impl FnOnce(&mut Case)) {
    check(Err(why), change);
    assert!(!why.settles(), "{why}");
}

#[track_caller]
fn settles(why: NoContinuation, change: impl FnOnce(&mut Case)) {
    check(Err(why), change);
    assert!(why.settles(), "{why}");
}

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
        let argv = signaltty_core::agent::ReportedArgv(vec!["claude".into()]);
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

/// One attempt up to its process.
fn spawn(case: &mut Case) -> AutomaticSpawn {
    let recovery = case.decide().unwrap();
    let marking = Marking::begin(recovery, &mut case.agent().turns);
    let MarkerSaved::Marked(marked) = marking.saved(Ok(())) else { panic!("it is saved") };
    let command = OfficialCommand::of(case.agent()).unwrap();
    AutomaticSpawn::new(command, marked, Ok(extends("A", 1))).unwrap()
}

fn verified(case: &Case, instance: InstanceId) -> signaltty_core::agent::VerifiedSession {
    let mut witness = support::facts::witness(instance, WitnessSource::LiveRegistry, &["A"]);
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
    case.agent().turns = self::turns(3, 3, Some((2, true)));
    assert_eq!(case.decide(), Err(OtherTurnMarked));
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
