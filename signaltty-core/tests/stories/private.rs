//! What stays off the disk because a person said so (D-30).

use std::sync::Arc;

use signaltty_core::agent::AgentReport;
use signaltty_core::id::NotificationId;
use signaltty_core::notification::Severity;
use signaltty_core::pane::Lifecycle;
use signaltty_core::restore::{FailureCode, Refusal};
use signaltty_core::save::Durability;
use signaltty_core::session::{
    Command, CommandError, Effect, Event, Forget, Forgotten, Input, PaneFact, Reply, SwitchChange,
};

use crate::support::{World, agent, pane, reply_of, resume, tab, ws};

/// Two workspaces; in the pane of each, an agent that said something, and a
/// notification about it.
fn told() -> World {
    let mut world = World::new();
    for n in [1, 2] {
        let instance = world.workspace(n, agent("claude"));
        world.input(Input::Fact { instance, fact: PaneFact::Title("its title".into()) });
        world.report(
            instance,
            AgentReport {
                lifecycle: Some(Lifecycle::Working),
                message: Some("its words".into()),
                ..AgentReport::default()
            },
        );
        world.ask(Command::Notify {
            id: NotificationId::from_random([n; 10]),
            pane: Some(pane(n)),
            title: "about it".into(),
            body: "its words".into(),
            severity: Severity::Info,
        });
    }
    world
}

fn switch_off(world: &mut World, n: u8) {
    let change = SwitchChange { history: Some(false), ..SwitchChange::default() };
    world.ask(Command::SetSwitches { workspace: ws(n), change });
}

#[test]
fn d30_without_history_nothing_that_was_said_is_saved() {
    let mut world = told();
    let before = world.saved();
    assert!(before.panes.iter().all(|pane| pane.last_message.is_some()));
    assert!(before.notifications.iter().all(|n| !n.body.is_empty()));
    switch_off(&mut world, 1);
    assert!(!world.session.keeps_history(pane(1)) && world.session.keeps_history(pane(2)));
    let saved = world.saved();
    let messages: Vec<_> = saved.panes.iter().map(|pane| pane.last_message.is_some()).collect();
    let bodies: Vec<_> = saved.notifications.iter().map(|n| !n.body.is_empty()).collect();
    assert_eq!((messages, bodies), (vec![false, true], vec![false, true]));
    // Nor what its program, or whoever told of it, called it.
    let titles: Vec<_> = saved.notifications.iter().map(|n| n.title.to_string()).collect();
    assert_eq!(titles, ["a notification", "about it"]);
    let titles: Vec<_> = saved.panes.iter().map(|pane| pane.title.to_string()).collect();
    assert_eq!(titles, ["claude", "its title"]);
    assert_eq!(saved.panes.len(), before.panes.len());
    // The running session still shows it.
    assert!(world.pane(pane(1)).record.last_message.is_some());
    assert!(world.session.notifications().all(|n| &*n.title == "about it"));
    assert_eq!(&*world.pane(pane(1)).record.title, "its title");
    // What a person calls it is no word of its program.
    world.ask(Command::RenamePane { pane: pane(1), title: "mine".into() });
    assert_eq!(&*world.saved().panes[0].title, "mine");
}

#[test]
fn d30_without_history_a_closed_pane_leaves_no_words() {
    for close in
        [Command::ClosePane(pane(1)), Command::CloseTab(tab(1)), Command::CloseWorkspace(ws(1))]
    {
        let mut world = told();
        switch_off(&mut world, 1);
        world.ask(close);
        let saved = world.saved();
        let told: Vec<_> = saved.notifications.iter().map(|n| (&*n.title, &*n.body)).collect();
        assert_eq!(told, [("a notification", ""), ("about it", "its words")]);
        // The workspace that keeps them still does, also of what was closed.
        world.ask(Command::CloseWorkspace(ws(2)));
        assert_eq!(&*world.saved().notifications[1].body, "its words");
    }
}

#[test]
fn d30_without_history_a_refused_resume_leaves_a_code_and_no_words() {
    let mut world = super::resume::tombstone();
    switch_off(&mut world, 1);
    world.ask(resume(1));
    world.preflight(1, Err(Refusal::new(FailureCode::Damaged, "its last line was: its words")));
    let failure = |world: &World| {
        let agent = world.saved().panes[0].agent.clone().unwrap();
        agent.last_failure.unwrap().refusal
    };
    let saved = failure(&world);
    assert_eq!(
        (saved.code, &*saved.message),
        (FailureCode::Damaged, "what was said of it is not kept")
    );
    world.crash();
    assert_eq!(failure(&world).code, FailureCode::Damaged);
}

#[test]
fn d30_without_history_texts_of_events_are_published_and_not_recorded() {
    let mut world = told();
    switch_off(&mut world, 1);
    let failed = |n| Event::ResumeFailed {
        pane: pane(n),
        refusal: Refusal::new(FailureCode::Gone, "its words"),
    };
    assert!(!world.session.records_texts(&failed(1)));
    assert!(world.session.records_texts(&failed(2)));
    assert!(world.session.records_texts(&Event::PaneUpdated { pane: pane(1) }));
}

#[test]
fn d30_to_forget_takes_the_words_and_then_a_synced_save() {
    let mut world = told();
    let effects =
        world.ask(Command::Forget(Forget { workspaces: [ws(1)].into(), ..Forget::default() }));
    let request = world.request();
    let what = effects.iter().find_map(|effect| match effect {
        Effect::Forget { request: of, what } if *of == request => Some(what.clone()),
        _ => None,
    });
    assert_eq!(what.unwrap().panes, [pane(1)].into());
    // The save comes at once, after what clears the screens, and lasts.
    let order: Vec<_> = effects.iter().map(deeds_word).collect();
    let at = |word: &str| order.iter().position(|found| *found == word).unwrap();
    assert!(at("forget") < at("save"), "{order:?}");
    let saved = world.saved();
    assert_eq!(saved.panes[0].last_message, None);
    assert_eq!(&*saved.panes[0].title, "claude");
    assert_eq!(saved.panes[1].last_message.as_deref(), Some("its words"));
    assert_eq!(saved.notifications.len(), 1);
    assert!(world.open.contains(&request), "the reply comes once it is done");
    let done = Forgotten { panes: 1, tails: 1, records: 3, snapshots: 2, left: Vec::new() };
    let effects = world.input(Input::Forgotten { request, result: Ok(done.clone()) });
    assert_eq!(reply_of(&effects), &Ok(Reply::Forgotten(done)));
    world.settled();
    world.replay();
}

#[test]
fn d30_what_was_not_removed_is_an_error() {
    let mut world = told();
    world.ask(Command::Forget(Forget { panes: [pane(1)].into(), ..Forget::default() }));
    let result = Err(Arc::from("the disk is full"));
    let effects = world.input(Input::Forgotten { request: world.request(), result });
    let Err(error @ CommandError::NotForgotten(_)) = reply_of(&effects) else {
        panic!("{effects:?}");
    };
    assert_eq!(error.code(), "NOT_FORGOTTEN");
    assert!(error.to_string().contains("the disk is full"));
}

fn deeds_word(effect: &Effect) -> &'static str {
    match effect {
        Effect::Forget { .. } => "forget",
        Effect::Save { durability: Durability::Synced, .. } => "save",
        _ => "other",
    }
}
