use std::cell::Cell;
use std::rc::Rc;

use proptest::prelude::*;

use super::*;

/// A lock that is counted while it lives.
#[derive(Debug)]
struct Token(Rc<Cell<usize>>);

impl Token {
    fn new(live: &Rc<Cell<usize>>) -> Self {
        live.set(live.get() + 1);
        Self(live.clone())
    }
}

impl Drop for Token {
    fn drop(&mut self) {
        self.0.set(self.0.get() - 1);
    }
}

/// Feeds facts at whole seconds; ticks come by themselves where one is due.
fn play(monitor: &mut Monitor<u32>, script: Vec<(u64, Input<u32>)>) -> Vec<Action<u32>> {
    let mut actions = Vec::new();
    for (second, input) in script {
        let at = Duration::from_secs(second);
        actions.extend(monitor.handle(Moment { at, jitter: 0 }, input));
    }
    actions
}

fn armed() -> Monitor<u32> {
    let mut monitor = Monitor::new();
    let script = vec![
        (0, Input::Start),
        (0, Input::Connected),
        (0, Input::Locked(1)),
        (0, Input::Read(false)),
        (0, Input::Limit(Duration::from_secs(5))),
    ];
    let actions = play(&mut monitor, script);
    assert_eq!(actions, [Action::Connect, Action::Lock, Action::Read, Action::ReadLimit]);
    assert_eq!(monitor.condition(), Condition::Armed);
    monitor
}

fn announce(hold: Option<u32>) -> Action<u32> {
    Action::Announce(Announcement { hold, delay_limit: Some(Duration::from_secs(5)) })
}

#[test]
fn s0_25_a_notice_hands_out_the_lock_once() {
    let mut monitor = armed();
    let actions = play(&mut monitor, vec![(9, Input::Signal(true)), (9, Input::Signal(true))]);
    assert_eq!(actions, [announce(Some(1))]);
    assert_eq!(monitor.condition(), Condition::Preparing);
}

#[test]
fn s0_26_a_refusal_because_of_a_shutdown_is_a_notice() {
    let mut monitor: Monitor<u32> = Monitor::new();
    let script = vec![(0, Input::Start), (0, Input::Connected), (0, Input::LockTooLate)];
    let announcement = Announcement { hold: None, delay_limit: None };
    let expected = [Action::Connect, Action::Lock, Action::Announce(announcement)];
    assert_eq!(play(&mut monitor, script), expected);
}

#[test]
fn s0_27_a_shutdown_that_is_taken_back_leads_to_a_new_lock() {
    let mut monitor = armed();
    let script = vec![(9, Input::Signal(false)), (10, Input::Signal(true))];
    assert_eq!(play(&mut monitor, script), [announce(Some(1))]);
    let script = vec![(12, Input::Signal(false)), (12, Input::Locked(2)), (12, Input::Read(false))];
    let expected = [Action::Lock, Action::Read, Action::ReadLimit];
    assert_eq!(play(&mut monitor, script), expected);
    assert_eq!(play(&mut monitor, vec![(13, Input::Signal(true))]), [announce(Some(2))]);
}

#[test]
fn a_lock_that_comes_after_the_notice_is_dropped() {
    let mut monitor = armed();
    let script = vec![
        (9, Input::OwnerLost),
        (9, Input::OwnerGained),
        (9, Input::Signal(true)),
        (9, Input::Locked(2)),
    ];
    assert_eq!(play(&mut monitor, script), [Action::Lock, announce(Some(1))]);
    assert_eq!(monitor.held, None);
}

#[test]
fn a_shutdown_that_goes_on_after_a_restart_of_the_bus_is_not_announced_again() {
    let mut monitor = armed();
    let script = vec![
        (9, Input::Signal(true)),
        (9, Input::Disconnected),
        (10, Input::Tick),
        (10, Input::Connected),
        (10, Input::Locked(2)),
        (10, Input::Read(true)),
    ];
    let expected =
        [announce(Some(1)), Action::Disconnect, Action::Connect, Action::Lock, Action::Read];
    assert_eq!(play(&mut monitor, script), expected);
    assert_eq!((monitor.held, monitor.condition()), (None, Condition::Preparing));
}

#[test]
fn a_notice_that_was_missed_while_disconnected_hands_out_the_older_lock() {
    let mut monitor = armed();
    let script = vec![
        (9, Input::Disconnected),
        (10, Input::Tick),
        (10, Input::Connected),
        (10, Input::LockTooLate),
    ];
    let expected = [Action::Disconnect, Action::Connect, Action::Lock, announce(Some(1))];
    assert_eq!(play(&mut monitor, script), expected);
}

#[test]
fn s0_29_a_steady_connection_starts_its_backoff_anew() {
    let mut monitor = armed();
    let mut waits = Vec::new();
    for (lost, back) in [(10, 20), (30, 40), (50, 60), (119, 130), (190, 200)] {
        play(&mut monitor, vec![(lost, Input::Disconnected)]);
        waits.push(monitor.deadline().unwrap().as_secs() - lost);
        play(&mut monitor, vec![(back, Input::Tick), (back, Input::Connected)]);
    }
    assert_eq!(waits, [1, 2, 4, 8, 1]);
}

#[test]
fn c106_logind_that_left_is_not_called_back() {
    let mut monitor = armed();
    assert_eq!(play(&mut monitor, vec![(5, Input::OwnerLost)]), []);
    assert_eq!(monitor.deadline(), None);
    assert_eq!(monitor.condition(), Condition::Retrying(Trouble::NoLogind));
    assert_eq!(play(&mut monitor, vec![(5, Input::OwnerGained)]), [Action::Lock]);
}

fn any_input(live: &Rc<Cell<usize>>, choice: u8) -> Input<Token> {
    match choice {
        0..=2 => Input::Connected,
        3 => Input::ConnectFailed(Trouble::Silent(FIRST)),
        4 => Input::Disconnected,
        5..=8 => Input::Locked(Token::new(live)),
        9 => Input::LockTooLate,
        10 => Input::LockDenied,
        11 => Input::LockFailed(Trouble::Disconnected),
        12..=14 => Input::Read(false),
        15 => Input::Read(true),
        16 => Input::ReadFailed(Trouble::Disconnected),
        17 => Input::Limit(FIRST),
        18 => Input::Signal(true),
        19 => Input::Signal(false),
        20 => Input::OwnerLost,
        21 => Input::OwnerGained,
        _ => Input::Tick,
    }
}

fn is_apart(last: &mut Option<Duration>, at: Duration) -> bool {
    last.replace(at).is_none_or(|last| at - last >= FIRST)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, ..ProptestConfig::default() })]

    /// Any facts in any order, also such as no bus would send.
    #[test]
    fn inv_g1_g3_locks_are_never_lost_and_tries_never_crowd(
        steps in prop::collection::vec((0..40_u8, 0_u64..1500, any::<u16>()), 1..200),
    ) {
        let live = Rc::new(Cell::new(0));
        let mut monitor = Monitor::new();
        let mut handed_out = Vec::new();
        let mut at = Duration::ZERO;
        let (mut last_connect, mut last_lock) = (Some(at), None);
        let mut told = false;
        monitor.handle(Moment { at, jitter: 0 }, Input::Start);
        for (choice, millis, jitter) in steps {
            let input = any_input(&live, choice);
            at += Duration::from_millis(millis);
            if matches!(input, Input::Signal(false) | Input::Read(false)) {
                told = false;
            }
            for action in monitor.handle(Moment { at, jitter }, input) {
                match action {
                    Action::Connect => prop_assert!(is_apart(&mut last_connect, at)),
                    Action::Lock => prop_assert!(is_apart(&mut last_lock, at)),
                    Action::Announce(announcement) => {
                        prop_assert!(!std::mem::replace(&mut told, true));
                        handed_out.extend(announcement.hold);
                    }
                    Action::Disconnect | Action::Read | Action::ReadLimit => {}
                }
            }
            let held = usize::from(monitor.held.is_some());
            prop_assert_eq!(live.get(), held + handed_out.len());
            if monitor.phase == Phase::Preparing {
                prop_assert_eq!(held, 0);
            }
            let waits = matches!(monitor.phase, Phase::Down | Phase::Unlocked);
            prop_assert_eq!(monitor.deadline().is_some(), waits);
        }
        drop(monitor);
        prop_assert_eq!(live.get(), handed_out.len());
        drop(handed_out);
        prop_assert_eq!(live.get(), 0);
    }
}
