//! The server's memory, whatever programs print and clients leave unread, and
//! what those clients cost others.
//!
//! `SIGNALTTY_TEST_SCALE=full` runs these at the sizes that the issues name.

use std::fs;
use std::time::{Duration, Instant};

use serde_json::json;

use crate::support::frames::Attached;
use crate::support::{Home, Server, full_scale};

const MIB: u64 = 1024 * 1024;

/// Bytes of the server's own memory: not of its program, which is shared.
fn memory(server: &Server) -> u64 {
    let rollup = fs::read_to_string(format!("/proc/{}/smaps_rollup", server.pid())).unwrap();
    let line = rollup.lines().find(|line| line.starts_with("Pss_Anon:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() * 1024
}

/// Waits until one of the last lines is `wanted`; the most memory on the way.
fn most_until(server: &Server, pane: &str, wanted: &str) -> u64 {
    let patience = Duration::from_secs(if full_scale() { 600 } else { 60 });
    let until = Instant::now() + patience;
    let mut most = 0;
    while Instant::now() < until {
        most = most.max(memory(server));
        // A few lines: the replies would else be the memory that is measured.
        let read = server.ask("pane.read", json!({"pane": pane, "lines": 5}));
        if read["text"].as_str().unwrap().lines().any(|line| line.ends_with(wanted)) {
            return most.max(memory(server));
        }
    }
    panic!("waited in vain for {wanted:?}");
}

/// A pane that waits for a line, and has begun to.
fn waiting(server: &Server, home: &Home, script: &str) -> String {
    let pane = server.sh(home, &format!("stty -echo; echo begun; read -r _; {script}"));
    most_until(server, &pane, "begun");
    pane
}

fn check_hostile(script: &str) {
    let home = Home::new();
    let server = Server::start(&home);
    let pane = waiting(&server, &home, &format!("{script}; echo; echo the end; exec cat"));
    let before = memory(&server);
    server.type_line(&pane, "");
    let most = most_until(&server, &pane, "the end");
    println!("from {} to {} KiB", before / 1024, most / 1024);
    assert!(most < before + 8 * MIB, "from {before} to {most} bytes");
    server.type_line(&pane, "usable");
    most_until(&server, &pane, "usable");
}

#[test]
fn t3_a_command_without_an_end_is_bounded() {
    let bytes = if full_scale() { 64 * MIB } else { 4 * MIB };
    check_hostile(&format!(
        "printf '\\033]2;'; head -c {bytes} /dev/zero | tr '\\0' x; printf '\\030'"
    ));
}

#[test]
fn t3_combining_marks_are_bounded() {
    let marks = if full_scale() { 16_000_000 } else { 500_000 };
    check_hostile(&format!(
        "printf a; yes \"$(printf '\\314\\201')\" | tr -d '\\n' | head -c {}",
        2 * marks
    ));
}

#[test]
fn t3_a_synchronized_update_without_an_end_is_bounded() {
    check_hostile(&format!("printf '\\033[?2026h'; yes | head -c {}", 2 * MIB));
}

#[test]
fn c095_clients_that_do_not_read_cost_a_bounded_memory() {
    let home = Home::new();
    let server = Server::start(&home);
    let lines = if full_scale() { 2_600_000 } else { 130_000 };
    let script = format!("yes $(seq -s ' ' 1 28) | head -n {lines}; echo the end; exec cat");
    let pane = waiting(&server, &home, &script);
    let attach = json!({"pane": pane, "cols": 80, "rows": 24});
    let before = memory(&server);
    let stalled: Vec<_> = (0..10).map(|_| server.connect().attach(attach.clone())).collect();
    server.type_line(&pane, "");
    let most = most_until(&server, &pane, "the end");
    println!("from {} to {} KiB", before / 1024, most / 1024);
    assert!(most < before + 16 * MIB, "from {before} to {most} bytes");
    // Each sees where things are once it reads.
    for mut client in stalled {
        client.wait_text("the end");
    }
}

/// The second slowest of these many keys.
fn slow_echo(client: &mut Attached) -> Duration {
    let mut times: Vec<_> = (0..150_u32)
        .map(|at| {
            let began = Instant::now();
            let key = format!("key{at};");
            client.input(&key);
            client.wait_text(&key);
            began.elapsed()
        })
        .collect();
    times.sort_unstable();
    times[times.len() - 2]
}

#[test]
fn c095_others_echo_as_soon_beside_clients_that_do_not_read() {
    let home = Home::new();
    let server = Server::start(&home);
    let quiet = server.sh(&home, "stty raw -echo; echo begun; exec cat");
    most_until(&server, &quiet, "begun");
    let loud = server.sh(&home, "exec yes $(seq -s ' ' 1 28)");
    let size = |pane: &str| json!({"pane": pane, "cols": 80, "rows": 24});
    let mut client = server.connect().attach(size(&quiet));
    slow_echo(&mut client);
    // What else the machine does adds to either; one clean look at both is enough.
    let mut seen = Vec::new();
    let held_up = (0..8).all(|_| {
        let without = slow_echo(&mut client);
        let stalled: Vec<_> = (0..10).map(|_| server.connect().attach(size(&loud))).collect();
        // All are known, and their output goes nowhere.
        server.wait_text(&loud, "26 27 28");
        let with = slow_echo(&mut client);
        drop(stalled);
        seen.push((without, with));
        with > 2 * without
    });
    assert!(!held_up, "without and with them: {seen:?}");
}
