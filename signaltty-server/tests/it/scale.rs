//! Many panes, and nothing left of them.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::support::process::{self, wait_gone};
use crate::support::{Home, Server, wait_until};

#[test]
fn c091_two_hundred_panes_all_run_and_all_come_back() {
    let home = Home::new();
    let mut server = Server::start(&home);
    let idle = process::descriptors(server.pid());
    let first = server.spawn(&home, &["/bin/sleep", "1000"]);
    let workspace = server.pane(&first)["workspace_id"].clone();
    // All asked for before any answer is read, over a few connections.
    let new = json!({"workspace": workspace, "argv": ["/bin/sleep", "1000"]});
    let mut clients: Vec<_> = (0..4).map(|_| server.connect()).collect();
    for at in 0..199 {
        clients[at % 4].send("tab.new", new.clone());
    }
    for at in 0..199 {
        clients[at % 4].reply().unwrap();
    }
    drop(clients);
    assert_eq!(server.status()["counts"]["live"], 200);
    let children = server.children();
    assert_eq!(children.len(), 200);
    // C092: nothing but its terminal reaches a child.
    for child in [&children[0], &children[100], &children[199]] {
        // It opens libraries while it begins.
        wait_until("a child with its terminal alone", || process::descriptors(child.pid) == 3);
    }
    server.wait_saved();
    server.kill9();
    wait_gone(&children);

    let began = Instant::now();
    let server = Server::start(&home);
    let panes = server.panes();
    let took = began.elapsed();
    assert_eq!(panes.len(), 200);
    assert!(panes.iter().all(|pane| pane["state"] == "restored"));
    assert!(took < Duration::from_secs(5), "the next start took {took:?}");
    assert!(server.children().is_empty());
    assert!(process::descriptors(server.pid()) <= idle + 3);
    server.ask("workspace.close", json!({"workspace": workspace}));
    assert_eq!(server.panes(), Vec::<Value>::new());
}

#[test]
fn c095_panes_that_print_without_an_end_hold_up_nobody() {
    let home = Home::new();
    let server = Server::start(&home);
    let quiet = server.spawn(&home, &["/bin/cat"]);
    let loud: Vec<_> = (0..3).map(|_| server.spawn(&home, &["yes"])).collect();
    for pane in &loud {
        server.wait_text(pane, "y\ny\n");
    }
    let mut client = server.connect();
    let mut times: Vec<_> = (0..21)
        .map(|at| {
            let began = Instant::now();
            let text = format!("{at}\r");
            client.call("pane.send", json!({"pane": quiet, "text": text})).unwrap();
            client.call("pane.read", json!({"pane": quiet, "lines": 5})).unwrap();
            began.elapsed()
        })
        .collect();
    times.sort_unstable();
    // Loaded machines stumble now and then; half of the times must be short.
    assert!(times[10] < Duration::from_millis(500), "{times:?}");
    server.wait_text(&quiet, "20\n20\n");
}

#[test]
fn c092_a_pane_is_ended_where_no_descriptor_is_left_to_look_with() {
    let home = Home::new();
    let server = Server::start(&home);
    let pane = |server: &Server| {
        let pane = server.sh(&home, "sleep 1000 & echo ready; wait");
        server.wait_text(&pane, "ready");
        pane
    };
    let panes = [pane(&server), pane(&server)];
    server.spawn(&home, &["/bin/cat"]);
    let mut client = server.connect();
    let limit = |most: Option<u64>| {
        let pid = rustix::process::Pid::from_raw(i32::try_from(server.pid()).unwrap());
        let nofile = rustix::process::Resource::Nofile;
        let before = rustix::process::getrlimit(nofile);
        let current = most.or(before.current);
        rustix::process::prlimit(pid, nofile, rustix::process::Rlimit { current, ..before })
            .unwrap();
    };
    for (spare, pane) in panes.iter().enumerate() {
        let session = server.pane(pane)["pid"].as_u64().unwrap();
        let open = process::open_numbers(server.pid());
        let free = (0..).find(|number| !open.contains(number)).unwrap();
        // None at all, or one, which the list of processes takes.
        limit(Some(free + spare as u64));
        client.call("pane.close", json!({"pane": pane})).unwrap();
        wait_until("the pane's processes to be gone", || {
            !std::path::Path::new(&format!("/proc/{session}/cwd")).exists()
        });
        limit(None);
    }
    wait_until("its neighbours to be alone", || server.children().len() == 1);
}

#[test]
fn c092_descriptors_and_processes_go_with_panes_and_clients() {
    let home = Home::new();
    let server = Server::start(&home);
    // Once around first: what is opened once and kept is no leak.
    cycle(&server, &home);
    let before = settled(&server);
    for _ in 0..15 {
        cycle(&server, &home);
    }
    for _ in 0..1_000 {
        server.ask("session.list", json!({}));
    }
    for _ in 0..15 {
        let ended: Vec<_> = (0..20).map(|_| server.spawn(&home, &["/bin/true"])).collect();
        for pane in &ended {
            server.wait_state(pane, "exited");
            server.ask("pane.close", json!({"pane": pane}));
        }
    }
    let after = settled(&server);
    assert!(after <= before + 3, "{before} descriptors before, {after} after");
    assert!(server.children().is_empty());
    assert_eq!(process::zombies(server.pid()), 0);
}

/// Panes that end by themselves, that are closed and that never begin, and
/// clients that go away without a word.
fn cycle(server: &Server, home: &Home) {
    let ended = server.spawn(home, &["/bin/true"]);
    let closed = server.spawn(home, &["/bin/cat"]);
    let attach = json!({"pane": closed, "cols": 80, "rows": 24});
    drop(server.connect().attach(attach.clone()));
    let mut client = server.connect().attach(attach);
    drop(server.events());
    server
        .call("workspace.new", json!({"cwd": home.work(), "argv": ["/nonexistent"]}))
        .unwrap_err();
    server.wait_state(&ended, "exited");
    server.ask("pane.close", json!({"pane": ended}));
    server.ask("pane.close", json!({"pane": closed}));
    // The connection ends with the pane.
    while client.next().is_some() {}
    assert_eq!(server.panes().len(), 0);
}

/// How many descriptors are open once everything that ends has ended.
fn settled(server: &Server) -> usize {
    wait_until("the children's ends", || server.children().is_empty());
    let mut last = (usize::MAX, 0);
    wait_until("quiet", || {
        let now = process::descriptors(server.pid());
        last = if now == last.0 { (now, last.1 + 1) } else { (now, 0) };
        last.1 == 20
    });
    last.0
}
