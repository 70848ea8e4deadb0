//! Notifications, decisions, waiting, names that are being made.

use signaltty_core::agent::AgentReport;
use signaltty_core::id::{InstanceId, NotificationId};
use signaltty_core::notification::Severity;
use signaltty_core::pane::{Attention, Lifecycle};
use signaltty_core::session::{
    Answer, Awaited, Command, CommandError, Effect, IdentityChanged, Input, PaneFact, Reply,
    ShutdownCause,
};
use signaltty_core::time::UnixMillis;
use signaltty_core::workspace::Naming;

use crate::support::words::{deeds, words};
use crate::support::{World, pane, reply_of, shell, ws};

fn notification(n: u8) -> NotificationId {
    NotificationId::from_random([n; 10])
}

fn notify(n: u8, severity: Severity) -> Command {
    Command::Notify {
        id: notification(n),
        pane: Some(pane(1)),
        title: format!("number {n}").into(),
        body: "more\nof it".into(),
        severity,
    }
}

fn attention(world: &World) -> Attention {
    world.pane(pane(1)).record.attention
}

#[test]
fn s0_11_the_newest_two_hundred_are_kept_with_their_read_time() {
    let mut world = World::new();
    world.workspace(1, shell());
    for n in 0..250 {
        world.ask(notify(n, Severity::Info));
    }
    let read_at = world.clock().wall;
    world.ask(Command::MarkRead(Some(notification(100))));
    world.pass(5_000);
    // Read once is read.
    world.ask(Command::MarkRead(Some(notification(100))));
    world.crash();
    let all: Vec<_> = world.session.notifications().collect();
    assert_eq!((all.len(), all[0].id, all[199].id), (200, notification(50), notification(249)));
    assert_eq!(all[50].read_at, Some(read_at));
    assert!(all.iter().all(|n| n.id == notification(100) || n.read_at.is_none()));
    assert_eq!((&*all[0].body, all[0].read_at), ("more of it", None::<UnixMillis>));
    world.ask(Command::MarkRead(None));
    assert!(world.session.notifications().all(|n| n.read_at.is_some()));
}

#[test]
fn a_severity_raises_the_attention_and_never_lowers_it() {
    let mut world = World::new();
    world.workspace(1, shell());
    for (n, severity, expected) in [
        (1, Severity::Info, Attention::Unread),
        (2, Severity::Error, Attention::Error),
        (3, Severity::Warning, Attention::Error),
    ] {
        world.ask(notify(n, severity));
        assert_eq!(attention(&world), expected);
    }
    let before = world.saved();
    assert_eq!(deeds(&world.ask(notify(3, Severity::Info))), ["err INTERNAL"]);
    let unknown = Command::MarkRead(Some(notification(9)));
    assert_eq!(deeds(&world.ask(unknown)), ["err NO_SUCH_NOTIFICATION"]);
    assert_eq!(world.saved(), before);
}

fn asks(world: &mut World, instance: InstanceId) -> Vec<Effect> {
    world.ask(Command::Ask { instance, question: "run rm?".into() })
}

/// Decides what the pane asks now, or asked last.
fn decide(world: &World, answer: Answer) -> Command {
    let open = world.pane(pane(1)).decision.map(|decision| decision.id);
    let question = open.unwrap_or_else(|| "q00000000".parse().unwrap());
    Command::Decide { pane: pane(1), question, answer }
}

#[test]
fn s0_42_an_answer_is_for_the_question_that_was_seen_and_for_no_newer_one() {
    let mut world = World::new();
    let instance = world.workspace(1, shell());
    asks(&mut world, instance);
    let seen = decide(&world, Answer::Allow);
    // Before the answer arrives it asks for something else.
    let asked = words(&world.ask(Command::Ask { instance, question: "run it all?".into() }));
    assert!(asked.contains(&"err SUPERSEDED".into()), "{asked:?}");
    assert!(asked.contains(&"~decision.ended".into()), "{asked:?}");
    assert_eq!(deeds(&world.ask(seen)), ["err QUESTION_CHANGED"]);
    assert_eq!(world.pane(pane(1)).decision.unwrap().question.as_ref(), "run it all?");
    let now = decide(&world, Answer::Deny);
    let effects = world.ask(now);
    let told = effects.iter().any(|effect| {
        matches!(effect, Effect::Reply { result: Ok(Reply::Decided(Answer::Deny)), .. })
    });
    assert!(told, "{effects:?}");
    world.settled();
}

#[test]
fn a_decision_is_answered_once_and_survives_being_looked_at() {
    let mut world = World::new();
    let instance = world.workspace(1, shell());
    assert_eq!(deeds(&asks(&mut world, instance)), Vec::<String>::new());
    world.ask(Command::MarkSeen(pane(1)));
    assert_eq!(attention(&world), Attention::PermissionRequired);
    let effects = {
        let decide = decide(&world, Answer::Allow);
        world.ask(decide)
    };
    assert_eq!(reply_of(&effects), &Ok(Reply::Decided(Answer::Allow)));
    assert_eq!(attention(&world), Attention::Unread);
    assert_eq!(
        deeds(&{
            let decide = decide(&world, Answer::Allow);
            world.ask(decide)
        }),
        ["err NO_SUCH_DECISION"]
    );
    world.settled();
}

#[test]
fn a_decision_that_was_made_in_the_terminal_is_not_asked_for_any_more() {
    let shows = |world: &mut World, instance, lifecycle| {
        let report = AgentReport { lifecycle: Some(lifecycle), ..AgentReport::default() };
        world.input(Input::Report { instance, report })
    };
    for (shown, ends) in [
        (&[Lifecycle::Blocked][..], false),
        // Read a moment before it asked.
        (&[Lifecycle::Working], false),
        (&[Lifecycle::Blocked, Lifecycle::Working], true),
        (&[Lifecycle::Done], true),
        (&[Lifecycle::Idle], true),
    ] {
        let mut world = World::new();
        let instance = world.workspace(1, shell());
        asks(&mut world, instance);
        let mut told = Vec::new();
        for lifecycle in shown {
            told = deeds(&shows(&mut world, instance, *lifecycle));
        }
        assert_eq!(
            told.iter().any(|deed| deed.starts_with("err GONE")),
            ends,
            "{shown:?} {told:?}"
        );
        let late = deeds(&{
            let decide = decide(&world, Answer::Allow);
            world.ask(decide)
        });
        assert_eq!(late.iter().any(|deed| deed == "err NO_SUCH_DECISION"), ends, "{shown:?}");
    }
}

#[test]
fn a_question_holds_against_a_record_that_shows_none() {
    let mut world = World::new();
    let instance = world.workspace(1, shell());
    world.does(instance, Lifecycle::Working);
    asks(&mut world, instance);
    let seen = |world: &World| (world.pane(pane(1)).record.lifecycle, attention(world));
    world.does(instance, Lifecycle::Working);
    assert_eq!(seen(&world), (Lifecycle::Blocked, Attention::PermissionRequired));
    {
        let decide = decide(&world, Answer::Allow);
        world.ask(decide)
    };
    world.does(instance, Lifecycle::Working);
    assert_eq!(seen(&world).0, Lifecycle::Working);
}

#[test]
fn a_newer_decision_supersedes_the_older() {
    let mut world = World::new();
    let instance = world.workspace(1, shell());
    asks(&mut world, instance);
    let effects = asks(&mut world, instance);
    assert_eq!(reply_of(&effects), &Err(CommandError::Superseded(pane(1))));
    let asked = world.request();
    world.ask(Command::Withdraw { pane: pane(1), asked });
    assert_eq!(attention(&world), Attention::Unread);
    world.settled();
}

#[test]
fn s0_42_no_decision_outlives_its_process_or_its_server() {
    for end in 0..4 {
        let mut world = World::new();
        let instance = world.workspace(1, shell());
        asks(&mut world, instance);
        match end {
            0 => world.exit(instance, 1),
            1 => world.ask(Command::ClosePane(pane(1))),
            2 => world.input(Input::Shutdown(ShutdownCause::Terminate)),
            _ => {
                world.crash();
                Vec::new()
            }
        };
        world.settled();
        if end == 3 {
            assert_eq!(attention(&world), Attention::PermissionRequired);
            assert_eq!(
                deeds(&{
                    let decide = decide(&world, Answer::Allow);
                    world.ask(decide)
                }),
                ["err NO_SUCH_DECISION"]
            );
        }
        assert_eq!(deeds(&asks(&mut world, instance)).len(), 1, "nobody is asked any more");
    }
}

#[test]
fn s0_53_a_wait_sees_what_came_after_it_and_only_there() {
    let mut world = World::new();
    let instance = world.talking(1, "claude", "A");
    world.does(instance, Lifecycle::Working);
    let since = world.session.baseline(pane(1)).unwrap();
    let reached = |world: &World, awaited| world.session.reached(&since, awaited);
    let working = Awaited::Lifecycle(Lifecycle::Working);
    assert_eq!(reached(&world, working), Ok(false));
    // What lasted only for a moment counts.
    world.does(instance, Lifecycle::Done);
    world.does(instance, Lifecycle::Working);
    assert_eq!(reached(&world, Awaited::Lifecycle(Lifecycle::Done)), Ok(true));
    assert_eq!(reached(&world, working), Ok(true));
    assert_eq!(reached(&world, Awaited::Attention(Attention::Warning)), Ok(false));
    world.ask(notify(1, Severity::Error));
    assert_eq!(reached(&world, Awaited::Attention(Attention::Warning)), Ok(true));
    world.ask(Command::MarkSeen(pane(1)));
    assert_eq!(reached(&world, Awaited::AttentionCleared), Ok(true));
    // An exit keeps the identity, a restart does not.
    world.exit(instance, 1);
    assert_eq!(reached(&world, Awaited::Lifecycle(Lifecycle::Exited)), Ok(true));
    world.crash();
    assert_eq!(reached(&world, working), Err(IdentityChanged(pane(1))));
}

#[test]
fn s0_53_another_process_or_conversation_is_another_identity() {
    let mut world = World::new();
    let instance = world.talking(1, "claude", "A");
    let since = world.session.baseline(pane(1)).unwrap();
    let done = Awaited::Lifecycle(Lifecycle::Done);
    for name in ["B", "A"] {
        world.shows(instance, name);
        world.anchored(instance, name, 2);
        // Also where it comes back to the first.
        assert!(world.session.reached(&since, done).is_err(), "{name}");
    }
    let since = world.session.baseline(pane(1)).unwrap();
    world.exit(instance, 1);
    let again = world.verifying(1);
    world.shows(again, "A");
    world.read(again, 0, "A", Ok(crate::support::facts::extends("A", 1)));
    assert_eq!(world.state(pane(1)), "live");
    assert_eq!(world.session.reached(&since, done), Err(IdentityChanged(pane(1))));
}

#[test]
fn s0_56_a_name_is_made_unless_a_person_gives_one_or_the_server_goes() {
    let named = |name: Option<&str>| Command::NameGenerated {
        workspace: ws(1),
        name: name.map(Into::into),
    };
    let show = |world: &World| {
        let workspace = &world.saved().workspaces[0];
        (workspace.name.to_string(), workspace.naming)
    };
    let mut world = World::new();
    world.workspace(1, shell());
    world.ask(Command::GenerateName(ws(1)));
    world.ask(named(Some("fix the build")));
    assert_eq!(show(&world), ("fix the build".into(), Naming::Done));

    world.ask(Command::GenerateName(ws(1)));
    world.ask(Command::RenameWorkspace { workspace: ws(1), name: "mine".into() });
    world.ask(named(Some("late")));
    assert_eq!(show(&world), ("mine".into(), Naming::Manual));

    world.ask(Command::GenerateName(ws(1)));
    world.ask(named(None));
    assert_eq!(show(&world), ("mine".into(), Naming::Failed));

    world.ask(Command::GenerateName(ws(1)));
    world.crash();
    assert_eq!(show(&world), ("mine".into(), Naming::Failed));
}

#[test]
fn the_two_axes_roll_up_by_themselves() {
    use Lifecycle::{Blocked, Done, Exited, Failed, Idle, Unknown, Working};
    let order = [Unknown, Exited, Idle, Done, Working, Failed, Blocked];
    for pair in order.windows(2) {
        assert_eq!(Lifecycle::roll_up(pair.iter().copied()), pair[1]);
        assert_eq!(Lifecycle::roll_up(pair.iter().rev().copied()), pair[1]);
    }
    let mut world = World::new();
    let first = world.workspace(1, shell());
    world.split(1, 2, shell());
    world.workspace(3, shell());
    assert_eq!(world.session.next_unread(), None);
    world.does(first, Working);
    for (n, target, severity, next) in
        [(1, 3, Severity::Info, 3), (2, 2, Severity::Info, 2), (3, 3, Severity::Error, 3)]
    {
        let Command::Notify { id, title, body, .. } = notify(n, severity) else { return };
        world.ask(Command::Notify { id, pane: Some(pane(target)), title, body, severity });
        assert_eq!(world.session.next_unread(), Some(pane(next)));
    }
    let tops: Vec<_> = world.session.workspaces().map(|w| (w.lifecycle(), w.attention())).collect();
    assert_eq!(tops, [(Working, Attention::Unread), (Unknown, Attention::Error)]);
}

#[test]
fn what_programs_say_is_bounded_in_rate_and_number_and_moves_nothing_else() {
    let mut world = World::new();
    let instance = world.workspace(1, shell());
    world.does(instance, Lifecycle::Working);
    let says = |world: &mut World, n: u8, body: &str| {
        let fact = PaneFact::Notification { id: notification(n), title: None, body: body.into() };
        deeds(&world.input(Input::Fact { instance, fact }))
    };
    let told = |world: &World| -> Vec<String> {
        world.session.notifications().map(|one| one.body.to_string()).collect()
    };
    for n in 0..9 {
        says(&mut world, n, &format!("n{n}\u{1b}[2J"));
    }
    assert_eq!(told(&world), ["n0 [2J", "n1 [2J", "n2 [2J", "n3 [2J", "n4 [2J"]);
    assert_eq!(attention(&world), Attention::Unread);
    assert_eq!(world.pane(pane(1)).record.lifecycle, Lifecycle::Working);
    world.pass(10_000);
    says(&mut world, 20, "later");
    assert_eq!(told(&world).last().unwrap(), "later (4 more before it were not kept)");
    // The same again, while nobody read it.
    world.pass(60_000);
    for n in 21..30 {
        says(&mut world, n, "again");
    }
    assert_eq!(told(&world).len(), 7);
    // One pane's take nobody else's place.
    world.ask(notify(200, Severity::Info));
    for n in 30..90 {
        world.pass(10_000);
        says(&mut world, n, &format!("m{n}"));
    }
    let all: Vec<_> = world.session.notifications().collect();
    assert_eq!(all.iter().filter(|one| one.from_program).count(), 20);
    assert!(all.iter().any(|one| one.id == notification(200)));
    assert_eq!(all.last().unwrap().title, world.pane(pane(1)).record.title);
    // After a start it is still known whose word it is.
    world.crash();
    assert_eq!(world.session.notifications().filter(|one| one.from_program).count(), 20);
}
