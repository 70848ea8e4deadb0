//! Refusals that no client can provoke at will, as text beside those that one
//! can (`tests/it/codes`).

use std::collections::BTreeSet;

use signaltty_core::id::{NotificationId, PaneId, TabId, WorkspaceId};
use signaltty_core::restore::{FailureCode, Refusal};
use signaltty_core::session::CommandError;
use tokio::sync::oneshot;

use super::asked::not_live;
use super::effects::wire_error;
use super::pane_input::InputError;
use super::reading::{Ask, Reading, Source, input_error};
use super::subscribe;
use crate::protocol::{EventsSubscribe, WireError, code};

fn compare(name: &str, refused: &[(String, WireError)]) {
    let entry = |(asked, error): &(String, WireError)| {
        let WireError { code, message, details } = error;
        assert!(code::ALL.iter().any(|(known, _)| known == code), "{code} is not listed");
        format!("## {code}: {asked}\n{message}\n{details}\n")
    };
    let text: Vec<_> = refused.iter().map(entry).collect();
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path("../../tests/it/codes");
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| insta::assert_snapshot!(name, text.join("\n")));
}

fn pane() -> PaneId {
    PaneId::from_random([0; 10])
}

/// One of each, so that a new one is missed here by the compiler.
fn command_errors() -> Vec<CommandError> {
    use CommandError as E;
    let pane = pane();
    let refusal = |code: FailureCode| Refusal::new(code, "why it was refused");
    let mut errors = vec![
        E::NoSuchPane(pane),
        E::NoSuchTab(TabId::from_random([0; 10])),
        E::NoSuchWorkspace(WorkspaceId::from_random([0; 10])),
        E::NoSuchNotification(NotificationId::from_random([0; 10])),
        E::NoSuchDecision(pane),
        E::QuestionChanged { pane, asks: "q00000007".parse().unwrap() },
        E::Superseded(pane),
        E::IdInUse("pane"),
        E::NoRoom("there is no room".to_owned()),
        E::BadArrangement("panes cannot be arranged like that".to_owned()),
        E::HasProcess(pane, "live"),
        E::NoProcess(pane, "exited"),
        E::NotResumable { pane, reason: "it holds no conversation" },
        E::NotReported { pane, reason: "why it was not taken" },
        E::NothingToContinue(pane),
        E::NotProven(pane),
        E::NotContinued { pane, why: "the agent did not take the prompt".into() },
        E::NotMarked,
        E::PanesAlive(1),
        E::PanesAlive(2),
        E::Gone("the pane was closed meanwhile"),
        E::NotForgotten("a file could not be changed".into()),
        E::Stopping,
        E::NotSaved,
        E::SpawnFailed(refusal(FailureCode::SpawnFailed)),
        E::SpawnFailed(refusal(FailureCode::CwdMissing)),
        E::NotRestarted { pane, refusal: refusal(FailureCode::SpawnFailed) },
        E::NotRestarted { pane, refusal: refusal(FailureCode::CwdMissing) },
        E::ResumeRefused {
            pane,
            previous: true,
            refusal: refusal(FailureCode::Damaged),
            evidence: vec!["it lists itself".into()],
        },
    ];
    errors.extend(FailureCode::ALL.iter().map(|&code| E::ResumeRefused {
        pane,
        previous: false,
        refusal: refusal(code),
        evidence: vec!["it lists itself".into()],
    }));
    errors
}

#[test]
fn what_the_session_refuses() {
    let errors = command_errors();
    let shown: BTreeSet<_> = errors.iter().map(CommandError::code).collect();
    assert_eq!(shown, CommandError::CODES.iter().copied().collect());
    let named = |error: &CommandError| {
        let debug = format!("{error:?}");
        let name = debug.split([' ', '(', '{']).next().unwrap_or_default().to_owned();
        let reason = error.failure().map_or(String::new(), |code| format!(" ({})", code.as_str()));
        (format!("{name}{reason}"), wire_error(error))
    };
    compare("session", &errors.iter().map(named).collect::<Vec<_>>());
}

#[test]
fn what_the_server_refuses_by_itself() {
    let foreign = super::listener::foreign(1001, 1000);
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    // A recorder without room drops whoever asks.
    let (_, dropped) = oneshot::channel();
    let busy = subscribe::answer(EventsSubscribe::default(), String::new(), dropped);
    let busy = runtime.block_on(busy).err().unwrap();
    let mut refused = vec![
        ("a connection of another user".to_owned(), foreign),
        ("events.subscribe on a busy disk".to_owned(), busy),
    ];
    for state in ["resumable", "resuming", "restored"] {
        refused.push((format!("pane.send to a pane that is {state}"), not_live(pane(), state)));
    }
    for error in [
        InputError::Timeout { written: 7 },
        InputError::Full { waiting: 1_048_576 },
        InputError::Closed { written: 7 },
    ] {
        refused.push((format!("pane.send: {error:?}"), input_error(pane(), &error)));
    }
    let (told, tail) = oneshot::channel();
    told.send(Err("cannot read /s/history/p.tail: input/output error".to_owned())).unwrap();
    let (_, dropped) = oneshot::channel();
    let ask = Ask { lines: None, ansi: false, after: None };
    for (asked, source) in [
        ("of a pane whose queue is full", Source::Live(None)),
        ("of saved output that cannot be read", Source::Saved(tail)),
        ("while the saver has too much to do", Source::Saved(dropped)),
    ] {
        let reading = Reading { pane: pane(), screen: None, source, ask, end: None };
        let error = runtime.block_on(reading.text()).unwrap_err();
        refused.push((format!("pane.read {asked}"), error));
    }
    compare("server", &refused);
}
