//! The host goes down: what the server does with the notice and with the lock.

use std::sync::Arc;
use std::time::{Duration, Instant};

use rustix::process::Signal;
use serde_json::{Value, json};
use signaltty_adapters::{
    AdapterError, AgentAdapter, AgentHost, AgentSpec, HookReport, IdForm, InstanceView,
    OfficialCommand,
};
use signaltty_core::agent::{
    AgentPolicy, AgentReport, Anchor, Conversation, Fingerprint, LoadedRule,
};
use signaltty_core::id::InstanceId;
use signaltty_core::restore::{FailureCode, Refusal};
use signaltty_logind::WatchConfig;
use signaltty_logind::testing::Event;
use signaltty_server::config::Paths;
use signaltty_server::daemon;

use crate::support::process::{self, Process, wait_gone};
use crate::support::talk::Talk;
use crate::support::{Client, Home, Logind, Server, wait_for, wait_until};

/// Ignores a hangup and the wish to terminate, and so does what it becomes.
const STUBBORN: &str = "trap '' HUP TERM; echo ready; exec sleep 1000";

#[test]
fn s0_25_the_state_is_on_the_disk_when_the_lock_is_released() {
    let home = Home::new();
    let mut logind = Logind::new(&home);
    let mut server = logind.armed(&home);
    let talk = Talk::hold(&server, &home);
    let children = server.children();
    server.ask("pane.rename", json!({"pane": talk.pane, "title": "last words"}));
    logind.prepare(true);
    logind.released();
    let snapshot = home.snapshot().to_string();
    assert!(snapshot.contains("last words"), "{snapshot}");
    assert!(snapshot.contains(&talk.id), "{snapshot}");
    assert_eq!(server.wait_exit().code(), Some(0));
    wait_gone(&children);
    assert!(!home.socket().exists());
    let server = Server::start(&home);
    assert_eq!(server.pane(&talk.pane)["state"], "resumable");
    assert_eq!(server.pane(&talk.pane)["title"], "last words");
}

#[test]
fn c104_one_delay_lock_is_asked_for_and_let_go_within_a_second() {
    let home = Home::new();
    let mut logind = Logind::new(&home);
    let mut server = logind.armed(&home);
    let mut asked = Vec::new();
    let announced = Instant::now();
    logind.prepare(true);
    loop {
        match logind.next() {
            Event::Inhibit { arguments, .. } => asked.push(arguments),
            Event::Released => break,
            _ => {}
        }
    }
    let took = announced.elapsed();
    assert!(took < Duration::from_secs(1), "released after {took:?}");
    let expected = ["shutdown", "signaltty", "Saving terminal sessions", "delay"];
    assert_eq!(asked, [expected.map(str::to_owned)]);
    assert!(server.wait_exit().success());
}

#[test]
fn s0_26_a_shutdown_that_began_before_is_saved_for_at_once_without_a_lock() {
    let home = Home::new();
    let mut logind = Logind::new(&home);
    logind.fake().set_preparing(true);
    // The bus answers late, so that there is something to be saved.
    logind.answer(signaltty_logind::testing::Answer::Silence);
    let mut server = Server::start_with(&home, |command| logind.be_found(command));
    let pane = server.spawn(&home, &["/bin/sleep", "1000"]);
    server.ask("pane.rename", json!({"pane": pane, "title": "just in time"}));
    logind.wait(|event| matches!(event, Event::Inhibit { .. }));
    logind.answer(signaltty_logind::testing::Answer::Grant);
    logind.run(logind.fake().answer_late());
    assert_eq!(server.wait_exit().code(), Some(0));
    assert!(home.snapshot().to_string().contains("just in time"));
    assert_eq!(logind.held(), 0);
    let said = server.stderr();
    assert!(said.contains("the host is shutting down held=false"), "{said}");
}

#[test]
fn s0_27_a_shutdown_that_is_taken_back_stops_nothing() {
    let home = Home::new();
    let mut logind = Logind::new(&home);
    let mut server = logind.armed(&home);
    let pane = server.spawn(&home, &["/bin/cat"]);
    for _ in 0..3 {
        logind.run(logind.fake().signal(false));
    }
    // Whoever restarts has read everything that came before.
    logind.run(logind.fake().leave());
    server.wait_logind("retrying");
    logind.run(logind.fake().arrive());
    server.wait_logind("armed");
    assert_eq!(logind.held(), 1);
    assert_eq!(server.pane(&pane)["state"], "live");
    logind.prepare(true);
    logind.released();
    assert!(server.wait_exit().success());
}

#[test]
fn s0_28_a_save_that_fails_releases_and_stops_all_the_same() {
    let home = Home::new();
    let mut logind = Logind::new(&home);
    let mut server = logind.armed(&home);
    let pane = server.spawn(&home, &["/bin/cat"]);
    server.wait_saved();
    let children = server.children();
    // No file can be put in the place of a directory, whoever tries.
    std::fs::remove_file(home.snapshot_path()).unwrap();
    std::fs::create_dir(home.snapshot_path()).unwrap();
    server.ask("pane.rename", json!({"pane": pane, "title": "in vain"}));
    logind.prepare(true);
    logind.released();
    // Whoever started it learns that something is lost.
    assert_eq!(server.wait_exit().code(), Some(1));
    wait_gone(&children);
    let said = server.stderr();
    assert!(said.contains("the state was not saved"), "{said}");
    assert!(said.contains("the last save failed"), "{said}");
}

#[test]
fn s0_30_every_way_out_gives_the_lock_up_after_the_save() {
    type Way = (&'static str, fn(&Server));
    let home = Home::new();
    let mut pane = None;
    let ways: [Way; 3] = [
        ("request", |server| drop(server.ask("server.shutdown", json!({"force": true})))),
        ("SIGTERM", |server| server.signal(Signal::TERM)),
        ("SIGINT", |server| server.signal(Signal::INT)),
    ];
    for (way, end) in ways {
        let _ = std::fs::remove_file(home.path("bus"));
        let mut logind = Logind::new(&home);
        let mut server = logind.armed(&home);
        let pane = pane.get_or_insert_with(|| server.spawn(&home, &["/bin/cat"]));
        server.ask("pane.rename", json!({"pane": pane, "title": way}));
        end(&server);
        logind.released();
        assert!(home.snapshot().to_string().contains(way));
        assert!(server.wait_exit().success(), "{way}");
        assert_eq!(logind.held(), 0, "{way}");
    }
}

#[test]
fn s0_30_a_panic_in_the_loop_gives_the_lock_up() {
    let home = Home::new();
    let mut logind = Logind::new(&home);
    let paths =
        Paths { state_dir: home.state(), runtime_dir: home.path("run"), socket: home.socket() };
    let config = WatchConfig::new(true).with_address(logind.address());
    let server = daemon::Server::builder(paths).adapter(Arc::new(Panics::new())).logind(config);
    let server = server.build().unwrap();
    let running = std::thread::spawn(move || server.run());
    let mut client =
        wait_for("the server", || home.socket().exists().then(|| Client::connect(&home.socket())));
    wait_until("the lock", || {
        client.call("server.status", json!({})).unwrap()["logind"]["state"] == "armed"
    });
    client.send("workspace.new", json!({"cwd": home.work(), "argv": ["panic"]}));
    logind.released();
    let error = running.join().unwrap().unwrap_err();
    assert!(matches!(error, daemon::ServerError::Panicked), "{error}");
}

#[test]
fn c106_a_save_that_is_slower_than_the_host_is_patient_goes_on_without_the_lock() {
    let home = Home::new();
    let mut logind = Logind::new(&home);
    // No save is as fast as that.
    logind.fake().limit(Duration::ZERO);
    let mut server = logind.armed(&home);
    let panes: Vec<_> = (0..20).map(|_| server.sh(&home, "seq 15000; exec cat")).collect();
    for pane in &panes {
        server.wait_text(pane, "15000");
    }
    for pane in &panes {
        server.type_line(pane, "last words");
        server.wait_text(pane, "last words");
    }
    server.ask("pane.rename", json!({"pane": panes[0], "title": "saved late"}));
    // Asks on while it saves.
    let mut client = server.connect();
    let asking = std::thread::spawn(move || {
        let mut seen: Vec<Value> = Vec::new();
        loop {
            client.send("server.status", json!({}));
            let Some(line) = client.line() else { return seen };
            let reply: Value = serde_json::from_str(&line).unwrap();
            seen.push(reply["result"]["logind"]["state"].clone());
        }
    });
    logind.prepare(true);
    logind.released();
    assert!(server.wait_exit().success());
    let said = server.stderr();
    assert!(said.contains("the host no longer waits"), "{said}");
    assert!(home.snapshot().to_string().contains("saved late"));
    let seen = asking.join().unwrap();
    assert!(seen.contains(&json!("preparing")), "{seen:?}");
}

#[test]
fn c092_no_process_of_a_pane_has_the_lock() {
    let home = Home::new();
    let mut logind = Logind::new(&home);
    let mut server = logind.armed(&home);
    let pane = server.sh(&home, "sleep 1000 & echo ready; exec sleep 1001");
    server.wait_text(&pane, "ready");
    let talk = Talk::hold(&server, &home);
    let mut all = server.children();
    for child in server.children() {
        all.extend(process::children(child.pid));
    }
    assert!(all.len() >= 3, "{all:?}");
    for child in &all {
        for target in process::open_files(child.pid) {
            let shown = target.display().to_string();
            let inherited = shown.starts_with("socket:") || shown.starts_with("pipe:");
            assert!(!inherited && !shown.contains("inhibit"), "{child:?} has {shown}");
        }
    }
    // Processes that live on do not keep the host waiting.
    logind.prepare(true);
    logind.released();
    assert_eq!(logind.held(), 0);
    assert!(server.wait_exit().success());
    drop(talk);
}

#[test]
fn c103_twenty_panes_that_ignore_sigterm_hold_nobody_up() {
    let home = Home::new();
    let mut logind = Logind::new(&home);
    let mut server = logind.armed(&home);
    let children = stubborn(&home, &server);
    server.ask("pane.rename", json!({"pane": first(&server), "title": "last words"}));
    let announced = Instant::now();
    logind.prepare(true);
    logind.released();
    let saved = announced.elapsed();
    assert!(home.snapshot().to_string().contains("last words"));
    assert!(server.wait_exit().success());
    check_times(saved, announced.elapsed());
    wait_gone(&children);
}

#[test]
fn c103_twenty_panes_that_ignore_sigterm_are_saved_first_and_ended_in_time() {
    let home = Home::new();
    let mut server = Server::start(&home);
    let children = stubborn(&home, &server);
    server.wait_saved();
    server.ask("pane.rename", json!({"pane": first(&server), "title": "last words"}));
    let asked = Instant::now();
    server.signal(Signal::TERM);
    wait_until("the save", || home.snapshot().to_string().contains("last words"));
    let saved = asked.elapsed();
    assert!(children.iter().all(Process::runs), "nothing is ended before the save");
    assert!(server.wait_exit().success());
    check_times(saved, asked.elapsed());
    wait_gone(&children);
}

/// Twenty panes whose children end by SIGKILL only.
fn stubborn(home: &Home, server: &Server) -> Vec<Process> {
    let panes: Vec<_> = (0..20).map(|_| server.sh(home, STUBBORN)).collect();
    for pane in &panes {
        server.wait_text(pane, "ready");
    }
    let children = server.children();
    assert_eq!(children.len(), 20);
    children
}

fn first(server: &Server) -> Value {
    server.panes()[0]["id"].clone()
}

fn check_times(saved: Duration, ended: Duration) {
    println!("saved after {saved:?}, ended after {ended:?}");
    assert!(saved < Duration::from_secs(1), "saved after {saved:?}");
    assert!(ended < Duration::from_secs(5), "ended after {ended:?}");
}

/// An adapter that does what none may.
struct Panics {
    spec: AgentSpec,
}

impl Panics {
    fn new() -> Self {
        let policy = AgentPolicy::new(Vec::new(), LoadedRule::NotReported, Duration::from_secs(1));
        let kind = "panics".parse().unwrap();
        Self { spec: AgentSpec::new(kind, "panics", IdForm::Plain, policy) }
    }
}

#[async_trait::async_trait]
impl AgentAdapter for Panics {
    fn spec(&self) -> &AgentSpec {
        &self.spec
    }

    fn recognises(&self, argv: &[std::ffi::OsString]) -> bool {
        assert!(argv.first().is_none_or(|program| program != "panic"), "as it was told to");
        false
    }

    fn resume_command(&self, saved: &Conversation) -> Result<OfficialCommand, AdapterError> {
        Ok(OfficialCommand::new("panics", &["open"], &saved.id))
    }

    fn read_report(&self, _: InstanceId, _: &HookReport<'_>) -> Result<AgentReport, AdapterError> {
        Err(AdapterError::Report("no hooks".to_owned()))
    }

    async fn preflight(&self, _: &Conversation, _: &dyn AgentHost) -> Result<Fingerprint, Refusal> {
        Err(Refusal::new(FailureCode::Gone, "nothing is there"))
    }

    async fn anchor(&self, _: &Conversation, _: &dyn AgentHost) -> Result<Anchor, Refusal> {
        Err(Refusal::new(FailureCode::Gone, "nothing is there"))
    }

    async fn inspect(&self, _: &InstanceView, _: &dyn AgentHost) -> Vec<AgentReport> {
        Vec::new()
    }
}
