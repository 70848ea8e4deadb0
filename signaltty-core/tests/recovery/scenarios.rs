//! The scenarios that another program's tests of a restart had, by their
//! numbers: a thread there is a pane here, a binding what is saved of its agent.
//!
//! There two records could disagree; here there is one. Where a scenario is
//! about that alone, `docs/statements.txt` says so.

use std::sync::Arc;

use signaltty_core::agent::{Marker, MarkerOrigin, SavedAgent, TurnId, Turns};
use signaltty_core::pane::{EndCause, Lifecycle, PaneEnd};
use signaltty_core::session::{Command, Effect, Input, Program, SwitchChange};
use signaltty_core::time::UnixMillis;

use crate::play::{Mode, Play};
use crate::support::facts::extends;
use crate::support::words::words;
use crate::support::{World, agent, pane, resume, save_of, ws};

fn turn(n: u64) -> TurnId {
    TurnId::new(n).unwrap()
}

/// An interrupted turn whose pane was saved like this.
fn saved(resume: bool, go_on: bool, change: impl FnOnce(&mut SavedAgent)) -> Play {
    let mut play = Play::interrupted(Mode::Good, resume, go_on);
    let record = Arc::make_mut(&mut play.disk.panes[0]);
    change(record.agent.as_mut().unwrap());
    play
}

fn ended(cause: EndCause) -> Play {
    let mut play = Play::interrupted(Mode::Good, true, true);
    let end = PaneEnd { cause, status: None, at: UnixMillis(1) };
    Arc::make_mut(&mut play.disk.panes[0]).end = Some(end);
    play
}

fn marker(turn: u64, prepared: bool) -> Option<Marker> {
    let turn = self::turn(turn);
    Some(Marker { turn, origin: MarkerOrigin::Planned, prepared, sent: false })
}

/// Two starts: nothing is sent, and nothing stays open.
#[track_caller]
fn sends_nothing(mut play: Play, row: &str) -> Play {
    assert_eq!(play.start(""), row);
    play.start("");
    assert_eq!((play.prompts.len(), play.agent().turns.marker()), (0, None));
    play
}

#[test]
fn t3_r1_s1_24_only_running_turns_that_can_be_found_again_are_marked() {
    let mut world = World::new();
    let running = world.talking(1, "claude", "A");
    let archived = world.talking(2, "claude", "B");
    world.talking(3, "claude", "C");
    let unknown = world.workspace(4, agent("claude"));
    for instance in [running, archived, unknown] {
        world.does(instance, Lifecycle::Working);
    }
    let change = SwitchChange { archived: Some(true), ..SwitchChange::default() };
    world.ask(Command::SetSwitches { workspace: ws(2), change });
    let before = world.saved();
    world.ask(Command::Shutdown { force: false, continue_turns: true });
    let after = world.saved();
    let marker_of = |n: usize| after.panes[n].agent.as_ref().unwrap().turns.marker();
    assert_eq!(marker_of(0), marker(1, false));
    for n in 1..4 {
        assert_eq!(after.panes[n], before.panes[n], "pane {n} is not touched");
    }
}

#[test]
fn t3_r2_t3_r3_t3_r4_t3_r5_t3_r6_t3_r7_a_marked_or_opted_in_turn_is_recovered_in_order() {
    for (planned, active) in [(true, 1), (true, 0), (false, 1)] {
        let mut play = saved(!planned, !planned, |agent| {
            let marker = marker(1, true).filter(|_| planned);
            agent.turns = Turns::from_saved(1, TurnId::new(active), marker, 0);
            agent.interrupted = true;
        });
        Arc::make_mut(&mut play.disk.panes[0]).lifecycle = Lifecycle::Idle;
        // What is written first says that the recovery began.
        play.start("marked");
        let first = play.disk.panes[0].agent.as_ref().unwrap().turns.marker().unwrap();
        assert!(first.prepared && !first.sent && play.spawns == 0);
        play.start("");
        assert_eq!((play.prompts.clone(), play.agent().turns.marker()), (vec![turn(1)], None));
    }
}

#[test]
fn t3_r8_s1_6_an_archived_or_closed_pane_is_settled_and_sends_nothing() {
    let mut play = saved(true, true, |agent| {
        agent.turns = Turns::from_saved(1, TurnId::new(1), marker(1, true), 0);
    });
    Arc::make_mut(&mut play.disk.workspaces[0]).archived = true;
    let play = sends_nothing(play, "D5");
    assert_eq!((play.spawns, play.agent().turns.active()), (0, None));

    let mut closed = Play::interrupted(Mode::Good, true, true);
    closed.world.workspace(2, agent("claude"));
    closed.world.ask(Command::ClosePane(pane(1)));
    closed.world.crash();
    let effects = closed.world.input(Input::Begin);
    assert!(!words(&effects).iter().any(|word| word.starts_with("preflight")));
}

#[test]
fn t3_r9_row_d19_a_promise_that_is_never_saved_starts_nothing_and_is_told() {
    let mut play = Play::interrupted(Mode::Good, true, true);
    play.failing = 2;
    play.start("");
    assert_eq!((play.spawns, play.prompts.len(), play.failures), (0, 0, 1));
    assert_eq!(play.agent().turns.marker(), None);
    let failure = play.agent().last_failure.unwrap().refusal.message;
    assert!(failure.contains("the marker could not be saved"), "{failure}");
}

#[test]
fn t3_r10_t3_r14_leftovers_are_settled_and_keep_their_conversations() {
    let mut play = Play::interrupted(Mode::Good, false, false);
    for (n, name) in [(2, "B"), (3, "C"), (4, "D")] {
        play.world.talking(n, "claude", name);
    }
    play.disk = play.world.saved();
    let mut change = |n: usize, turns: Turns, interrupted: bool| {
        let agent = Arc::make_mut(&mut play.disk.panes[n]).agent.as_mut().unwrap();
        (agent.turns, agent.interrupted) = (turns, interrupted);
    };
    // A stale marker of an older turn; a turn without work; nothing at all.
    change(1, Turns::from_saved(3, TurnId::new(3), marker(2, true), 1), true);
    change(2, Turns::from_saved(1, TurnId::new(1), None, 0), false);
    let kept = play.disk.clone();
    play.start("");
    assert_eq!((play.spawns, play.prompts.len()), (0, 0));
    let after = play.world.saved();
    for n in 0..4 {
        let (had, has) = (&kept.panes[n], &after.panes[n]);
        let (had, has) = (had.agent.as_ref().unwrap(), has.agent.as_ref().unwrap());
        assert_eq!((has.turns.active(), has.turns.marker()), (None, None), "{n}");
        assert_eq!(has.conversation, had.conversation, "{n}");
        assert_eq!(play.world.state(after.panes[n].id), "resumable");
    }
    assert_eq!(after.panes[3], kept.panes[3], "one without a turn is not touched");
}

#[test]
fn t3_r11_t3_r18_t3_r19_s1_5_without_a_conversation_a_turn_is_settled_whatever_is_marked() {
    for marked in [false, true] {
        let play = saved(true, true, |agent| {
            agent.conversation = None;
            agent.turns =
                Turns::from_saved(1, TurnId::new(1), marker(1, true).filter(|_| marked), 0);
        });
        let play = sends_nothing(play, "D7");
        assert_eq!((play.spawns, play.agent().turns.active()), (0, None));
    }
}

#[test]
fn t3_r12_a_save_that_fails_once_is_repeated_and_holds_up_nobody() {
    let mut play = Play::interrupted(Mode::Good, true, true);
    play.world.talking(2, "claude", "B");
    let change = SwitchChange { auto_resume: Some(true), ..SwitchChange::default() };
    play.world.ask(Command::SetSwitches { workspace: ws(2), change });
    play.disk = play.world.saved();
    play.failing = 1;
    play.start("");
    assert_eq!((play.spawns, play.prompts.len()), (2, 1));
}

#[test]
fn t3_r15_t3_r20_row_d15_what_its_person_stopped_is_not_recovered() {
    sends_nothing(ended(EndCause::User), "D15");
    let mut play = ended(EndCause::User);
    let record = Arc::make_mut(&mut play.disk.panes[0]);
    record.agent.as_mut().unwrap().turns = Turns::from_saved(1, TurnId::new(1), marker(1, true), 0);
    sends_nothing(play, "D15");
}

#[test]
fn t3_r16_a_turn_that_had_finished_is_not_recovered() {
    let mut play = saved(true, true, |agent| agent.turns.finish());
    Arc::make_mut(&mut play.disk.panes[0]).lifecycle = Lifecycle::Done;
    sends_nothing(play, "D3");
}

#[test]
fn t3_r17_row_d18_an_agent_that_had_ended_is_not_recovered() {
    sends_nothing(ended(EndCause::Process), "D18");
}

#[test]
fn t3_r21_row_d11_an_older_turn_is_superseded() {
    let mut play = saved(true, true, |agent| {
        agent.turns = Turns::from_saved(2, None, marker(1, true), 0);
    });
    Arc::make_mut(&mut play.disk.panes[0]).lifecycle = Lifecycle::Idle;
    sends_nothing(play, "D11");
}

#[test]
fn t3_r22_t3_r23_t3_r24_a_start_that_ends_while_others_wait_sends_exactly_once_at_the_next() {
    for lifecycle in [Lifecycle::Unknown, Lifecycle::Idle, Lifecycle::Done] {
        let mut play = Play::interrupted(Mode::Good, true, true);
        play.start("marked");
        assert_eq!((play.spawns, play.prompts.len()), (0, 0));
        Arc::make_mut(&mut play.disk.panes[0]).lifecycle = lifecycle;
        play.start("");
        play.start("");
        assert_eq!(play.prompts, [turn(1)]);
        assert_eq!(play.agent().turns.marker(), None);
    }
}

#[test]
fn t3_r25_row_d14_a_turn_that_finished_after_its_mark_sends_nothing() {
    for resume in [false, true] {
        let mut play = saved(resume, resume, |agent| {
            agent.turns = Turns::from_saved(1, None, marker(1, false), 0);
            agent.interrupted = false;
        });
        Arc::make_mut(&mut play.disk.panes[0]).lifecycle = Lifecycle::Done;
        play.start("");
        assert_eq!((play.prompts.len(), play.failures), (0, 0));
        assert_eq!(play.spawns, usize::from(resume), "reopened where that is wanted");
        // A mark that stayed would stop every later turn from going on.
        assert_eq!(play.agent().turns.marker(), None, "{resume}");
    }
}

#[test]
fn t3_r26_s1_23_a_prompt_that_cannot_be_sent_is_tried_once_and_told() {
    let mut play = Play::interrupted(Mode::Good, true, true);
    play.refuses = true;
    play.start("");
    assert_eq!((play.sent, play.prompts.len(), play.failures), (0, 0, 1));
    let agent = play.agent();
    assert_eq!((agent.turns.marker(), agent.turns.active()), (None, None));
    assert_eq!(play.disk.panes[0].agent.as_ref().unwrap().turns.marker(), None);
    let message = play.world.pane(pane(1)).record.last_message.clone().unwrap();
    assert!(message.contains("send a new message"), "{message}");
    // It was opened for its person, and a later start begins nothing again.
    assert_eq!(play.world.state(pane(1)), "live");
    play.start("");
    assert_eq!(play.prompts.len(), 0);
}

#[test]
fn t3_p1_a_question_starts_nothing() {
    let play = Play::interrupted(Mode::Good, true, true);
    let mut world = play.world;
    world.crash();
    let before = world.saved();
    let plan = world.session.plan_restart(world.clock());
    assert_eq!((plan[0].decision, plan[0].rule), ("continue", "D16"));
    assert_eq!(world.saved(), before);
    assert_eq!(world.session.live_panes(), 0);
}

#[test]
fn t3_p2_t3_p5_t3_p11_t3_p12_a_stopped_conversation_is_reopened_as_it_was_saved() {
    let mut world = World::new();
    let instance = world.talking(1, "claude", "A");
    world.ask(Command::Terminate(pane(1)));
    world.exit(instance, 143);
    assert_eq!((world.state(pane(1)), world.conversation(1)), ("exited", "A".to_owned()));
    // A new process of the server, from what was saved.
    world.crash();
    world.ask(resume(1));
    let effects = world.preflight(1, Ok(extends("A", 1)));
    let spawns: Vec<_> = effects
        .iter()
        .filter_map(|effect| match effect {
            Effect::Spawn { command, .. } => Some(command),
            _ => None,
        })
        .collect();
    assert_eq!(spawns.len(), 1);
    let Program::Official(command) = &spawns[0].program else { panic!("{spawns:?}") };
    assert_eq!(command.conversation().id.as_str(), "A");
    assert_eq!(spawns[0].cwd, std::path::Path::new("/work"));
}

#[test]
fn t3_p3_t3_p6_s1_19_s1_20_another_conversation_is_stopped_and_sent_nothing() {
    let mut play = Play::interrupted(Mode::Ignores, true, true);
    play.start("");
    assert_eq!((play.spawns, play.sent, play.verdicts.as_slice()), (1, 0, &["contradicted"][..]));
    assert_eq!((play.world.state(pane(1)), play.world.conversation(1)), ("resumable", "A".into()));
    let failure = play.agent().last_failure.unwrap().refusal.message;
    assert!(failure.contains("the saved conversation A is kept"), "{failure}");
}

#[test]
fn t3_p9_an_accepted_prompt_is_a_turn_of_its_own_on_the_disk() {
    let mut play = Play::interrupted(Mode::Good, true, true);
    play.start("cleared");
    let saved = play.disk.panes[0].agent.clone().unwrap();
    assert_eq!((saved.turns.newest(), saved.turns.active()), (2, TurnId::new(2)));
    assert_eq!((saved.turns.marker(), saved.turns.attempts()), (None, 0));
    assert_eq!(saved.conversation.unwrap().id.as_str(), "A");
}

#[test]
fn t3_p10_a_prompt_whose_process_ends_leaves_no_running_turn() {
    let mut play = Play::interrupted(Mode::Good, true, true);
    play.start("sent");
    let instance = play.world.pane(pane(1)).state.instance().unwrap();
    let effects = play.world.exit(instance, 1);
    assert!(words(&effects).contains(&"~continuation.failed".to_owned()), "{effects:?}");
    let agent = play.agent();
    assert_eq!((agent.turns.active(), agent.turns.marker()), (None, None));
    // Synced: one that came back would be continued.
    play.world.save_ok(save_of(&effects));
    assert_eq!(play.world.state(pane(1)), "resumable");
}
