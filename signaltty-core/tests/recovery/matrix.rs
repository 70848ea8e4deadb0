//! The server dies at each point, with each agent and each setting of the
//! switches.

use std::collections::BTreeSet;
use std::sync::Arc;

use signaltty_core::agent::{AgentReport, Marker, MarkerOrigin, TurnId, Turns};
use signaltty_core::pane::Lifecycle;
use signaltty_core::session::{Command, Input};

use crate::play::{MODES, Mode, Play};
use crate::support::words::words;
use crate::support::{World, pane, save_of};

/// Where the server dies, and the row of the next start where both switches are
/// on and the agent came so far.
const POINTS: [(&str, &str, &str); 8] = [
    ("k00", "", "D16"),
    ("k02", "begun", "D16"),
    ("k03", "marked", "D10"),
    ("k04", "spawned", "D10"),
    ("k05", "proven", "D10"),
    ("k06", "sent", "D10"),
    ("k07", "accepted", "D10"),
    ("k08", "cleared", "D16"),
];

const SWITCHES: [(bool, bool); 4] = [(false, false), (false, true), (true, false), (true, true)];

/// Nothing is under way any more, and what did not go on says so.
fn settled(play: &Play, cell: &str) {
    let state = play.world.state(pane(1));
    assert!(state == "live" || state == "resumable", "{cell}: {state}");
    let turns: BTreeSet<_> = play.prompts.iter().collect();
    assert_eq!(turns.len(), play.prompts.len(), "{cell}: continued twice: {:?}", play.prompts);
}

#[test]
fn k00_k02_k03_k04_k05_k06_k07_k08_s1_11_a_kill_at_any_point_continues_once_or_says_why() {
    for (name, point, row) in POINTS {
        for mode in MODES {
            for (resume, go_on) in SWITCHES {
                let cell = format!("{name} {mode:?} resume {resume} continue {go_on}");
                let mut play = Play::interrupted(mode, resume, go_on);
                let reached = if point.is_empty() {
                    true
                } else {
                    let before = (play.spawns, play.prompts.len());
                    play.start(point);
                    before != (play.spawns, play.prompts.len()) || point == "begun"
                };
                let found = play.start("");
                if mode == Mode::Good && resume && go_on {
                    assert!(reached || point == "marked", "{cell}: the point is never reached");
                    assert_eq!(found, row, "{cell}");
                }
                assert!(play.verdicts.len() <= 1, "{cell}: {:?}", play.verdicts);
                settled(&play, &cell);
                let (spawns, prompts) = (play.spawns, play.prompts.len());
                match (resume, go_on) {
                    (false, _) => assert_eq!((spawns, prompts), (0, 0), "{cell}"),
                    (true, false) => assert_eq!(prompts, 0, "{cell}"),
                    (true, true) => {
                        let goes_on = matches!(mode, Mode::Good | Mode::Quick | Mode::Rotates);
                        let sent = goes_on || mode == Mode::NeverAccepts;
                        assert_eq!(prompts > 0, sent, "{cell}");
                        let last = play.agent().last_failure;
                        assert!(goes_on || last.is_some(), "{cell}: nobody is told");
                    }
                }
                for _ in 0..4 {
                    play.start("");
                    settled(&play, &cell);
                }
                // D-14: it never says that it took one, so all of them count as
                // tries at the turn that was interrupted first.
                assert!(play.sent <= 3, "{cell}: {}", play.sent);
                let marker = play.agent().turns.marker();
                assert_eq!(marker, None, "{cell}: a promise stays for ever");
                // Where the prompt had arrived, its turn is the interrupted one now:
                // it may go on in its turn, once.
                let arrived = usize::from(matches!(name, "k06" | "k07"));
                let chained = 3 * usize::from(mode == Mode::NeverAccepts);
                assert!(
                    play.prompts.len() <= prompts + arrived.max(chained),
                    "{cell}: continued later"
                );
            }
        }
    }
}

#[test]
fn k01_row_d14_a_turn_that_finished_after_it_was_marked_sends_nothing() {
    let mut world = World::new();
    let instance = world.talking(1, "claude", "A");
    world.does(instance, Lifecycle::Working);
    let stop = Command::Shutdown { force: false, continue_turns: true };
    let token = save_of(&world.ask(stop));
    world.does(instance, Lifecycle::Idle);
    world.save_ok(token);
    world.crash();
    assert_eq!(world.session.plan_restart(world.clock())[0].rule, "D14");
    world.input(Input::Begin);
    assert_eq!(world.state(pane(1)), "resumable");
    let agent = world.pane(pane(1)).record.agent.clone().unwrap();
    assert_eq!((agent.turns.marker(), agent.interrupted), (None, false));
}

#[test]
fn s1_23_k09_a_refusal_that_was_not_saved_is_refused_again_and_said() {
    let mut play = Play::interrupted(Mode::Gone, true, true);
    play.start("checked");
    play.start("");
    assert_eq!((play.spawns, play.prompts.len(), play.failures), (0, 0, 1));
    assert_eq!(play.agent().turns.marker(), None);
    let message = play.world.pane(pane(1)).record.last_message.clone().unwrap();
    assert!(message.starts_with("continuing after the restart failed"), "{message}");
    assert!(message.contains("send a new message"), "{message}");
}

#[test]
fn k10_a_disk_that_lost_its_last_writes_continues_nothing_twice() {
    let mut play = Play::interrupted(Mode::Good, true, true);
    play.start("cleared");
    assert_eq!(play.prompts.len(), 1);
    // The promise is back, and that it was kept is in the agent's record.
    play.disk = play.older.clone();
    assert_eq!(play.start(""), "D10");
    assert_eq!(play.prompts.len(), 1);
    assert_eq!(play.agent().turns.marker(), None);
}

#[test]
fn k11_a_recovery_that_takes_the_server_down_ends() {
    for (allowed, spawns) in [(3, 3), (1, 1)] {
        let mut play = Play::interrupted(Mode::Good, true, true);
        for _ in 0..6 {
            play.world.max_attempts = allowed;
            play.start("spawned");
        }
        play.start("");
        // A start that continues nothing any more is bounded by its own three.
        assert!(play.spawns >= spawns && play.spawns <= 3, "{allowed}: {}", play.spawns);
        assert_eq!(play.prompts, [], "{allowed}");
        assert_eq!(play.agent().turns.marker(), None);
        assert!(play.agent().last_failure.is_some(), "{allowed}");
    }
}

#[test]
fn s1_3_the_decision_is_made_at_the_start_and_once() {
    let mut play = Play::interrupted(Mode::Gone, true, true);
    play.start("");
    assert_eq!(play.world.input(Input::Begin), []);
    play.world.ask(Command::MarkSeen(pane(1)));
    assert_eq!((play.world.state(pane(1)), play.spawns), ("resumable", 0));
}

#[test]
fn s1_10_the_marker_is_on_the_disk_when_the_process_starts() {
    let mut play = Play::interrupted(Mode::Good, true, true);
    play.start("spawned");
    assert_eq!(play.spawns, 1);
    let saved = play.disk.panes[0].agent.clone().unwrap();
    assert!(saved.turns.marker().unwrap().prepared);
}

#[test]
fn s1_12_a_prompt_that_nobody_accepts_keeps_its_marker_and_is_not_sent_again() {
    let mut play = Play::interrupted(Mode::NeverAccepts, true, true);
    play.start("");
    assert!(play.agent().turns.marker().unwrap().sent);
    assert_eq!((play.prompts.len(), play.failures), (1, 1));
    // The record says that it arrived.
    play.start("");
    assert_eq!((play.prompts.len(), play.agent().turns.marker()), (1, None));

    // What never arrives is tried again, and not for ever.
    let mut play = Play::interrupted(Mode::Swallows, true, true);
    for sent in 1..=3 {
        play.start("");
        assert_eq!(play.sent, sent);
        assert!(play.agent().turns.marker().unwrap().sent);
        assert!(play.agent().last_failure.is_some());
    }
    assert_eq!(play.start(""), "K11");
    assert_eq!((play.sent, play.agent().turns.marker()), (3, None));
    assert!(play.agent().last_failure.is_some());

    // One that accepts: only then is it cleared, and the clear is saved.
    let mut play = Play::interrupted(Mode::Good, true, true);
    play.start("sent");
    assert!(play.agent().turns.marker().is_some());
    let mut play = Play::interrupted(Mode::Good, true, true);
    play.start("cleared");
    assert_eq!(play.disk.panes[0].agent.as_ref().unwrap().turns.marker(), None);
}

#[test]
fn s1_12_a_turn_that_is_over_when_it_is_first_seen_was_taken() {
    for doing in [Lifecycle::Done, Lifecycle::Idle] {
        let mut play = Play::interrupted(Mode::Good, true, true);
        play.start("sent");
        let instance = play.world.pane(pane(1)).state.instance().unwrap();
        let report =
            AgentReport { accepted_prompt: true, lifecycle: Some(doing), ..AgentReport::default() };
        play.world.report(instance, report);
        let agent = play.agent();
        assert_eq!((agent.turns.marker(), agent.turns.active()), (None, None), "{doing}");
        assert!(!agent.interrupted && agent.last_failure.is_none(), "{doing}");
        assert_eq!(play.world.state(pane(1)), "live", "{doing}");
    }
}

#[test]
fn d14_inv_r11_an_agent_that_never_says_that_it_accepts_is_not_prompted_for_ever() {
    let mut play = Play::interrupted(Mode::NeverAccepts, true, true);
    let rows: Vec<_> = (0..10).map(|_| play.start("")).collect();
    // Prompted; it had arrived; what it began was interrupted, so once more; it
    // had arrived again; and then no more.
    assert_eq!(rows[..4], ["D16", "D10", "D16", "K11"]);
    assert!(rows[4..].iter().all(|row| *row == "D3"), "{rows:?}");
    assert_eq!(play.prompts.len(), 2);
    let agent = play.agent();
    assert_eq!((agent.turns.marker(), agent.turns.attempts()), (None, 0));
    // Whoever looks is told why it does not go on, and how it can.
    let failure = agent.last_failure.unwrap().refusal.message;
    assert!(failure.contains("tried as often as the configuration allows"), "{failure}");
    assert!(agent.interrupted);
    // Its own word begins the count anew.
    let mut play = Play::interrupted(Mode::NeverAccepts, true, true);
    play.start("");
    play.mode = Mode::Good;
    assert_eq!((play.start(""), play.agent().turns.attempts()), ("D10", 2));
    play.start("");
    assert_eq!((play.prompts.len(), play.agent().turns.attempts()), (2, 0));
}

#[test]
fn k08_row_d03_a_continuation_that_was_over_at_once_leaves_no_turn_behind() {
    let mut play = Play::interrupted(Mode::Quick, true, true);
    play.start("cleared");
    assert_eq!((play.start(""), play.prompts.len(), play.failures), ("D3", 1, 0));
    assert_eq!(play.agent().last_failure, None);
}

#[test]
fn s1_9_the_mark_of_a_finished_turn_goes_also_where_the_conversation_is_reopened() {
    let mut play = Play::interrupted(Mode::Good, true, true);
    let marker = Marker {
        turn: TurnId::new(1).unwrap(),
        origin: MarkerOrigin::Automatic,
        prepared: false,
        sent: false,
    };
    let record = Arc::make_mut(&mut play.disk.panes[0]);
    record.lifecycle = Lifecycle::Idle;
    let agent = record.agent.as_mut().unwrap();
    (agent.turns, agent.interrupted) = (Turns::from_saved(2, None, Some(marker), 0), true);
    play.start("");
    assert_eq!((play.prompts.len(), play.agent().turns.marker()), (0, None));
    assert_eq!(play.world.state(pane(1)), "live");
}

/// Whether a prompt arrived is read from what stands after the anchor. An anchor
/// behind it would have it sent again.
#[test]
fn s1_12_inv_r6_the_anchor_stays_before_a_prompt_that_nobody_accepted() {
    let mut play = Play::interrupted(Mode::NeverAccepts, true, true);
    play.start("");
    assert!(play.agent().turns.marker().unwrap().sent);
    let anchor = |play: &Play| play.agent().conversation.unwrap().anchor.unwrap();
    let before = anchor(&play);
    // It worked on the prompt, and its record is read again.
    let instance = play.world.pane(pane(1)).state.instance().unwrap();
    play.world.does(instance, Lifecycle::Idle);
    play.world.anchored(instance, "A", 9);
    assert_eq!(anchor(&play), before);
    assert!(play.agent().turns.marker().unwrap().sent);
    // Nor does a proof move it that a person asks for at the next start.
    play.disk = play.world.saved();
    play.start("read");
    assert_eq!(anchor(&play), before);
    // It moves once somebody said what became of the prompt.
    play.start("");
    assert_eq!(play.agent().turns.marker(), None);
    let instance = play.world.pane(pane(1)).state.instance().unwrap();
    play.world.anchored(instance, "A", 9);
    assert_ne!(anchor(&play), before);
}

/// Nor does a look at an agent that says nothing of what it does.
#[test]
fn s1_12_inv_r6_a_look_anchors_nothing_behind_a_prompt_that_nobody_accepted() {
    let mut play = Play::interrupted(Mode::NeverAccepts, true, true);
    play.start("");
    let anchor = |play: &Play| play.agent().conversation.unwrap().anchor.unwrap();
    let before = anchor(&play);
    let instance = play.world.pane(pane(1)).state.instance().unwrap();
    assert_eq!(play.world.pane(pane(1)).record.lifecycle, Lifecycle::Unknown);
    let mut asked = play.world.shows(instance, "A");
    asked.extend(play.world.pass(10_000));
    assert!(words(&asked).contains(&"anchor A".to_owned()), "{:?}", words(&asked));
    play.world.anchored(instance, "A", 9);
    assert_eq!(anchor(&play), before);
    assert!(play.agent().turns.marker().unwrap().sent);
}

#[test]
fn s1_24_a_planned_restart_continues_without_the_switches() {
    let mut play = Play::interrupted(Mode::Good, false, false);
    let stop = Command::Shutdown { force: false, continue_turns: true };
    let token = save_of(&play.world.ask(stop));
    play.disk = play.world.saved();
    play.world.save_ok(token);
    assert_eq!(play.start(""), "D9");
    assert_eq!((play.spawns, play.prompts.len()), (1, 1));
    play.start("");
    assert_eq!((play.spawns, play.prompts.len()), (1, 1));
}
