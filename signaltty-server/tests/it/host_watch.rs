//! The watch for host shutdowns, as the server shows it: what it says where
//! the bus or logind do not do as they should, and that no start waits for it.

use std::io::{BufRead as _, BufReader};
use std::os::unix::net::UnixListener;
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::json;
use signaltty_logind::testing::{Answer, Event};

use crate::support::server::command;
use crate::support::{Client, Home, Logind, Server};

#[test]
fn s0_29_a_bus_that_comes_later_is_found() {
    let home = Home::new();
    let address = format!("unix:path={}", home.path("bus").display());
    let server = Server::start_with(&home, |command| {
        command.env_remove("SIGNALTTY_LOGIND").env("DBUS_SYSTEM_BUS_ADDRESS", address);
    });
    let said = server.wait_logind("retrying");
    assert!(said["detail"].as_str().unwrap().contains("cannot be reached"), "{said}");
    let logind = Logind::new(&home);
    assert_eq!(server.wait_logind("armed")["detail"], json!(null));
    assert_eq!(logind.held(), 1);
}

#[test]
fn s0_29_a_refused_lock_is_said_and_asked_for_again() {
    let home = Home::new();
    let mut logind = Logind::new(&home);
    logind.answer(Answer::Deny);
    let mut server = Server::start_with(&home, |command| logind.be_found(command));
    let said = server.wait_logind("denied");
    assert!(said["detail"].as_str().unwrap().contains("will not wait"), "{said}");
    for _ in 0..2 {
        logind.wait(|event| matches!(event, Event::Inhibit { .. }));
    }
    logind.answer(Answer::Grant);
    server.wait_logind("armed");
    assert_eq!(logind.held(), 1);
    logind.prepare(true);
    logind.released();
    assert!(server.wait_exit().success());
}

#[test]
fn s0_29_notices_count_while_the_lock_is_refused() {
    let home = Home::new();
    let logind = Logind::new(&home);
    logind.answer(Answer::Deny);
    let mut server = Server::start_with(&home, |command| logind.be_found(command));
    server.wait_logind("denied");
    let pane = server.spawn(&home, &["/bin/cat"]);
    server.ask("pane.rename", json!({"pane": pane, "title": "without a lock"}));
    logind.prepare(true);
    assert!(server.wait_exit().success());
    assert!(home.snapshot().to_string().contains("without a lock"));
}

#[test]
fn s0_29_after_a_restart_of_logind_the_new_lock_comes_before_the_old_one_goes() {
    let home = Home::new();
    let mut logind = Logind::new(&home);
    let mut server = logind.armed(&home);
    logind.wait(|event| matches!(event, Event::Inhibit { held: 0, .. }));
    logind.run(logind.fake().leave());
    server.wait_logind("retrying");
    logind.run(logind.fake().arrive());
    let again = logind.wait(|event| matches!(event, Event::Inhibit { .. } | Event::Released));
    assert!(matches!(again, Event::Inhibit { held: 1, .. }), "{again:?}");
    logind.released();
    server.wait_logind("armed");
    assert_eq!(logind.held(), 1);
    logind.prepare(true);
    logind.released();
    assert!(server.wait_exit().success());
}

#[test]
fn s0_31_switched_off_it_never_connects() {
    let home = Home::new();
    let mut logind = Logind::new(&home);
    let mut server = Server::start_with(&home, |command| {
        logind.be_found(command);
        command.env("SIGNALTTY_LOGIND", "0");
    });
    assert_eq!(server.status()["logind"]["state"], "disabled");
    logind.prepare(true);
    server.spawn(&home, &["/bin/true"]);
    assert!(server.term().success());
    logind.prepare(false);
    // The first client that the bus ever sees is the next server.
    let _armed = logind.armed(&home);
    let first = logind.next();
    assert!(matches!(first, Event::Subscribed(_)), "{first:?}");
    let mut locks = 0;
    logind.wait(|event| {
        locks += usize::from(matches!(event, Event::Inhibit { .. }));
        *event == Event::Read("PreparingForShutdown".to_owned())
    });
    assert_eq!(locks, 1);
}

#[test]
fn s0_24_c106_a_start_takes_as_long_with_a_bus_as_without() {
    let names = ["no bus", "a silent bus", "a silent logind", "a working one"];
    let homes: Vec<_> = names.iter().map(|_| Home::new()).collect();
    // Accepts in the kernel and never says a word.
    let _silent = UnixListener::bind(homes[1].path("bus")).unwrap();
    let mute = Logind::new(&homes[2]);
    mute.answer(Answer::Silence);
    let _working = Logind::new(&homes[3]);
    let mut times = vec![Vec::new(); names.len()];
    // Interleaved, so that a busy moment of the machine strikes all alike.
    for _ in 0..20 {
        for (home, times) in homes.iter().zip(&mut times) {
            times.push(start(home));
        }
    }
    let medians: Vec<_> = times
        .iter_mut()
        .map(|times| {
            times.sort_unstable();
            times[times.len() / 2]
        })
        .collect();
    for (name, median) in names.iter().zip(&medians) {
        println!("{name}: {median:?}");
    }
    let without = medians[0];
    for (name, median) in names.iter().zip(&medians) {
        assert!(*median < Duration::from_secs(1), "{name}: {median:?}");
        let allowed = without * 3 / 2 + Duration::from_millis(20);
        assert!(*median < allowed, "{name}: {median:?}, without a bus {without:?}");
    }
}

/// How long a server takes until it has answered.
fn start(home: &Home) -> Duration {
    let mut command: Command = command(home);
    let address = format!("unix:path={}", home.path("bus").display());
    command.env_remove("SIGNALTTY_LOGIND").env("DBUS_SYSTEM_BUS_ADDRESS", address);
    let began = Instant::now();
    let mut child = command.spawn().unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
    let listens = lines.by_ref().any(|line| line.unwrap().starts_with("listening on "));
    assert!(listens);
    Client::connect(&home.socket()).call("server.status", json!({})).unwrap();
    let took = began.elapsed();
    child.kill().unwrap();
    child.wait().unwrap();
    took
}
