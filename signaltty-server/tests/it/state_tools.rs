//! `signaltty-server doctor` and `history`, as scripts and people use them.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use crate::support::{Home, Server};

/// What a tool said, and its exit code.
struct Said {
    code: i32,
    out: String,
    err: String,
}

impl Said {
    fn json(&self) -> Value {
        assert_eq!(self.err, "", "with --json everything is on standard output");
        assert_eq!(self.out.lines().count(), 1, "{}", self.out);
        serde_json::from_str(&self.out).unwrap()
    }

    /// The error of `--json`: its code and message.
    fn error(&self) -> (String, String) {
        let said = self.json();
        let text = |name: &str| said["error"][name].as_str().unwrap().to_owned();
        assert!(said["error"]["details"].is_object(), "{said}");
        (text("code"), text("message"))
    }
}

fn run_at(home: &Home, state: &Path, args: &[&str]) -> Said {
    let output = Command::new(env!("CARGO_BIN_EXE_signaltty-server"))
        .arg("--state-dir")
        .arg(state)
        .args(args)
        .current_dir("/")
        .env_clear()
        .env("HOME", home.path(""))
        .output()
        .unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    let code = output.status.code().expect("it ends by itself");
    Said { code, out: text(output.stdout), err: text(output.stderr) }
}

fn run(home: &Home, args: &[&str]) -> Said {
    run_at(home, &home.state(), args)
}

/// A server that was stopped: one pane, called `new`, and one older snapshot, in
/// which it is called `old`. The pane, and the older one's number.
fn stopped(home: &Home) -> (String, u64) {
    let mut server = Server::start(home);
    let pane = server.spawn(home, &["/bin/cat"]);
    for title in ["old", "new"] {
        server.ask("pane.rename", json!({"pane": pane, "title": title}));
        server.wait_saved();
    }
    assert!(server.term().success());
    let said = run(home, &["history", "list", "--json"]);
    let list = said.json()["history"].clone();
    assert_eq!(list.as_array().unwrap().len(), 1, "{list}");
    (pane, list[0]["number"].as_u64().unwrap())
}

/// Both forms of a doctor's finding: exit code, the state in a word, and what a
/// problem says.
fn check_doctor(home: &Home, code: i32, state: &str, says: &[&str]) -> Value {
    let before = home.files();
    let said = doctor(home, code, state, says);
    assert!(home.files() == before, "it changes nothing");
    said
}

fn doctor(home: &Home, code: i32, state: &str, says: &[&str]) -> Value {
    let (human, said) = (run(home, &["doctor"]), run(home, &["doctor", "--json"]));
    assert_eq!((human.code, said.code), (code, code), "{}{}", human.out, said.out);
    let said = said.json();
    assert_eq!(said["state"], state, "{said}");
    assert_eq!(said["state_dir"], home.state().display().to_string());
    let first = human.out.lines().next().unwrap();
    assert!(first.starts_with(&format!("{}: {state} (on ", home.state().display())), "{first}");
    let problems = said["problems"].as_array().unwrap();
    assert_eq!(problems.is_empty(), code == 0, "{said}");
    assert_eq!(human.out.matches("\n  problem ").count(), problems.len(), "{}", human.out);
    for text in says {
        assert!(problems.iter().any(|p| p.as_str().unwrap().contains(text)), "{text}: {said}");
        assert!(human.out.contains(text), "{text}: {}", human.out);
    }
    said
}

#[test]
fn c022_doctor_takes_a_linked_snapshot_for_what_it_is() {
    let home = Home::new();
    stopped(&home);
    fs::rename(home.snapshot_path(), home.path("work/mine.json")).unwrap();
    std::os::unix::fs::symlink(home.path("work/mine.json"), home.snapshot_path()).unwrap();
    doctor(&home, 0, "sound", &[]);
}

#[test]
fn doctor_says_of_an_unsafe_directory_what_a_start_would_say() {
    use std::os::unix::fs::PermissionsExt as _;
    let home = Home::new();
    stopped(&home);
    fs::set_permissions(home.state(), fs::Permissions::from_mode(0o777)).unwrap();
    let refused = Server::refused(&home, |_| {});
    assert_eq!(refused.code, Some(6));
    let said = check_doctor(&home, 6, "refused", &["chmod go-w"]);
    let problem = said["problems"][0].as_str().unwrap();
    assert!(refused.stderr.contains(problem), "{problem} {}", refused.stderr);
    fs::set_permissions(home.state(), fs::Permissions::from_mode(0o700)).unwrap();
}

#[test]
fn s0_33_a_missing_snapshot_with_older_ones_beside_it_is_hinted_at() {
    let home = Home::new();
    let (_, older) = stopped(&home);
    fs::remove_file(home.snapshot_path()).unwrap();
    let back = format!("signaltty-server history restore {older}");
    let said = check_doctor(&home, 0, "sound", &[]);
    assert!(said["notes"].to_string().contains(&back), "{said}");
    let server = Server::start(&home);
    let status = server.status();
    assert_eq!(status["load"], "missing");
    assert!(status["problems"][0].as_str().unwrap().contains(&back), "{status}");
}

#[test]
fn doctor_says_that_there_is_no_state_yet() {
    let home = Home::new();
    let nowhere = home.path("nowhere");
    let human = run_at(&home, &nowhere, &["doctor"]);
    assert_eq!((human.code, &*human.err), (0, ""));
    assert!(human.out.contains("there is no state yet"), "{}", human.out);
    let said = run_at(&home, &nowhere, &["doctor", "--json"]);
    let expected = json!({
        "state_dir": nowhere.display().to_string(), "state": "missing", "problems": [],
    });
    assert_eq!((said.code, said.json()), (0, expected));
    assert!(!nowhere.exists(), "looking makes no directory");
}

#[test]
fn doctor_describes_a_sound_state_and_who_holds_it() {
    let home = Home::new();
    let (_, number) = stopped(&home);
    let said = check_doctor(&home, 0, "sound", &[]);
    let snapshot = &said["snapshot"];
    assert_eq!(snapshot["load"], "loaded");
    assert!(snapshot["generation"].as_u64() > Some(number), "{said}");
    let counts = ["workspaces", "tabs", "panes"].map(|name| snapshot[name].as_u64());
    assert_eq!(counts, [Some(1); 3], "{said}");
    let journal = &said["journal"];
    assert_eq!((&journal["closed"], &journal["lost"]), (&json!(true), &json!([])), "{said}");
    assert_eq!(journal["files"], json!(["audit.jsonl"]));
    assert!(journal["reserved_until"].as_u64() >= journal["last_seq"].as_u64(), "{said}");
    assert_eq!((&said["held"], &said["history"]), (&Value::Null, &json!(1)), "{said}");
    let human = run(&home, &["doctor"]).out;
    for text in ["1 workspaces, 1 tabs, 1 panes", ", closed\n", "1 older snapshots\n"] {
        assert!(human.contains(text), "{text}: {human}");
    }

    let server = Server::start(&home);
    server.wait_saved();
    let said = doctor(&home, 6, "refused", &["another server owns it"]);
    assert_eq!(said["held"], json!({"pid": server.pid()}));
}

#[test]
fn doctor_names_damage_and_what_a_start_would_refuse() {
    let home = Home::new();
    stopped(&home);
    let good = fs::read(home.snapshot_path()).unwrap();
    fs::write(home.snapshot_path(), &good[..good.len() / 2]).unwrap();
    let said = check_doctor(&home, 1, "damaged", &["cannot be read", "`history list`"]);
    assert_eq!(said["snapshot"], json!({"load": "corrupt"}));

    fs::write(home.snapshot_path(), "").unwrap();
    let said = check_doctor(&home, 1, "damaged", &["snapshot.json is empty"]);
    assert_eq!(said["snapshot"], json!({"load": "empty_file"}));

    let text = String::from_utf8(good.clone()).unwrap();
    let newer = text.replacen("\"snapshot_version\":1", "\"snapshot_version\":999", 1);
    assert_ne!(newer, text);
    fs::write(home.snapshot_path(), newer).unwrap();
    let said = check_doctor(&home, 6, "refused", &["version 999", "newer than this program"]);
    assert_eq!(said["snapshot"], json!({"load": "too_new"}));

    fs::write(home.snapshot_path(), "{\"version\":3,\"cookies\":[]}\n").unwrap();
    let said = check_doctor(&home, 6, "refused", &["written by another program"]);
    assert_eq!(said["snapshot"], json!({"load": "foreign"}));

    // The journal alone.
    fs::write(home.snapshot_path(), good).unwrap();
    check_doctor(&home, 0, "sound", &[]);
    let path = home.path("state/audit.jsonl");
    let journal = fs::read_to_string(&path).unwrap();
    let (first, rest) = journal.split_once('\n').unwrap();
    fs::write(&path, format!("{first}\n{}", rest.split_once('\n').unwrap().1)).unwrap();
    let said = check_doctor(&home, 1, "damaged", &["audit.jsonl"]);
    assert_ne!(said["journal"]["lost"], json!([]), "{said}");
}

#[test]
fn doctor_and_history_refuse_what_is_no_directory_and_what_is_no_command() {
    let home = Home::new();
    let file = home.path("file");
    fs::write(&file, "kept").unwrap();
    let human = run_at(&home, &file, &["doctor"]);
    assert_eq!((human.code, &*human.out), (6, ""));
    assert!(human.err.starts_with("signaltty-server: "), "{}", human.err);
    let said = run_at(&home, &file, &["doctor", "--json"]);
    let (code, message) = said.error();
    assert_eq!((said.code, &*code), (6, "STATE_REFUSED"));
    assert!(message.contains(&file.display().to_string()), "{message}");
    assert_eq!(fs::read(&file).unwrap(), b"kept");

    for args in [
        &["doctor", "--loud"][..],
        &["history"],
        &["history", "show"],
        &["history", "show", "first"],
        &["history", "restore", "-1"],
    ] {
        let said = run(&home, args);
        assert_eq!((said.code, &*said.out), (2, ""), "{args:?}");
        let helps = ["Usage: signaltty-server", "try '--help'"];
        assert!(helps.iter().any(|text| said.err.contains(text)), "{args:?}: {}", said.err);
    }
}

#[test]
fn history_that_is_not_there_is_an_answer_or_an_error() {
    let home = Home::new();
    let empty = run(&home, &["history", "list"]);
    assert_eq!((empty.code, &*empty.out), (0, "no older snapshots are kept yet\n"));
    let empty = run(&home, &["history", "list", "--json"]);
    assert_eq!((empty.code, empty.json()), (0, json!({"history": [], "set_aside": []})));
    for verb in ["show", "restore"] {
        let said = run(&home, &["history", verb, "7", "--json"]);
        let (code, message) = said.error();
        assert_eq!((said.code, &*code), (1, "NO_SUCH_SNAPSHOT"), "{verb}");
        assert!(message.contains('7') && message.contains("history list"), "{message}");
        let human = run(&home, &["history", verb, "7"]);
        assert_eq!((human.code, &*human.out), (1, ""), "{verb}");
        assert!(human.err.contains("history list"), "{}", human.err);
    }
    let nowhere = home.path("nowhere");
    for args in [&["list"][..], &["show", "7"], &["restore", "7"]] {
        let args = [&["history"], args, &["--json"]].concat();
        let said = run_at(&home, &nowhere, &args);
        assert_eq!((said.code, &*said.error().0), (1, "IO_ERROR"), "{args:?}");
        assert!(!nowhere.exists(), "{args:?}");
    }
}

#[test]
fn s0_38_history_shows_what_differs_and_restore_brings_it_back_and_keeps_the_present() {
    let home = Home::new();
    let (pane, number) = stopped(&home);
    let n = number.to_string();
    let present = fs::read(home.snapshot_path()).unwrap();

    let list = run(&home, &["history", "list"]);
    assert_eq!(list.code, 0);
    assert!(list.out.starts_with(&format!("{n}  ")), "{}", list.out);
    assert!(list.out.ends_with("1 workspaces, 1 panes, 1 differences\n"), "{}", list.out);
    let entry = run(&home, &["history", "list", "--json"]).json()["history"][0].clone();
    assert_eq!((&entry["workspaces"], &entry["panes"]), (&json!(1), &json!(1)), "{entry}");
    assert_eq!(entry["differences"], 1, "{entry}");
    assert!(Path::new(entry["path"].as_str().unwrap()).is_file(), "{entry}");

    let show = run(&home, &["history", "show", &n]);
    assert_eq!(show.code, 0);
    assert!(show.out.starts_with(&format!("number {n}, saved at ")), "{}", show.out);
    assert!(show.out.contains("going back to it would mean:\n"), "{}", show.out);
    assert!(show.out.contains(&pane) && show.out.contains("another title"), "{}", show.out);
    let shown = run(&home, &["history", "show", &n, "--json"]).json();
    assert_eq!((&shown["number"], &shown["saved_at"]), (&json!(number), &entry["saved_at"]));
    assert_eq!(
        (&shown["panes"][0]["id"], &shown["panes"][0]["title"]),
        (&json!(pane), &json!("old"))
    );
    assert_eq!(shown["workspaces"][0]["name"], "test");
    assert_eq!(shown["differences"].as_array().unwrap().len(), 1);

    // Not under a server, which would write over it.
    let mut server = Server::start(&home);
    let said = run(&home, &["history", "restore", &n, "--json"]);
    let (code, message) = said.error();
    assert_eq!((said.code, &*code), (6, "STATE_REFUSED"));
    assert!(message.contains("stop the server first"), "{message}");
    assert_eq!(server.pane(&pane)["title"], "new");
    // Reading works all the same.
    assert_eq!(run(&home, &["history", "list"]).code, 0);
    server.kill9();
    fs::write(home.snapshot_path(), &present).unwrap();

    let said = run(&home, &["history", "restore", &n, "--json"]);
    assert_eq!(said.code, 0, "{}", said.out);
    let said = said.json();
    assert_eq!(said["restored"], number);
    assert_eq!(fs::read(said["kept"].as_str().unwrap()).unwrap(), present, "the one before");
    let mut server = Server::start(&home);
    assert_eq!(
        (&server.status()["load"], &server.pane(&pane)["title"]),
        (&json!("loaded"), &json!("old"))
    );
    assert!(server.term().success());

    // It was a mistake: the state before has a number too.
    let before = said["before"].as_u64().unwrap().to_string();
    let listed = run(&home, &["history", "list"]).out;
    assert!(listed.lines().any(|line| line.starts_with(&format!("{before}  "))), "{listed}");
    assert!(!listed.contains("could not be read"), "{listed}");
    let undone = run(&home, &["history", "restore", &before]);
    assert!(undone.out.contains("; the state before is number "), "{}", undone.out);
    assert_eq!(Server::start(&home).pane(&pane)["title"], "new");
}

#[test]
fn history_restore_refuses_to_replace_what_a_newer_program_wrote() {
    let home = Home::new();
    let (_, number) = stopped(&home);
    let text = fs::read_to_string(home.snapshot_path()).unwrap();
    let newer = text.replacen("\"snapshot_version\":1", "\"snapshot_version\":999", 1);
    fs::write(home.snapshot_path(), &newer).unwrap();
    let human = run(&home, &["history", "restore", &number.to_string()]);
    assert_eq!((human.code, &*human.out), (6, ""), "{}", human.err);
    assert!(human.err.contains("999"), "{}", human.err);
    assert_eq!(fs::read_to_string(home.snapshot_path()).unwrap(), newer);
    // Where it is damaged only, going back is what history is for.
    fs::write(home.snapshot_path(), "{").unwrap();
    let human = run(&home, &["history", "restore", &number.to_string()]);
    assert_eq!((human.code, &*human.err), (0, ""));
    let expected = format!(
        "number {number} is the state of the next start; the state before could not be read whole \
         and is kept as "
    );
    assert!(human.out.starts_with(&expected), "{}", human.out);
    assert_eq!(fs::read(human.out.trim_end()[expected.len()..].trim()).unwrap(), b"{");
}

#[test]
fn d5_c008_a_degraded_restore_says_so_at_every_start_until_something_changes() {
    let home = Home::new();
    let (pane, _) = stopped(&home);
    let mut server = Server::start(&home);
    server.spawn(&home, &["/bin/cat"]);
    server.wait_saved();
    assert!(server.term().success());
    let before = fs::read(home.snapshot_path()).unwrap();
    // A start and a stop without a change leave it as it is.
    assert!(Server::start(&home).term().success());
    assert_eq!(fs::read(home.snapshot_path()).unwrap(), before);

    let mut snapshot = home.snapshot();
    snapshot["panes"][1]["id"] = json!(5);
    fs::write(home.snapshot_path(), snapshot.to_string()).unwrap();
    let damaged = fs::read(home.snapshot_path()).unwrap();
    for _ in 0..2 {
        let mut server = Server::start(&home);
        assert_eq!(server.status()["load"], "loaded_with_repairs");
        assert!(server.term().success());
        assert_eq!(fs::read(home.snapshot_path()).unwrap(), damaged);
        assert_eq!(run(&home, &["doctor"]).code, 1);
    }
    let mut server = Server::start(&home);
    server.ask("pane.rename", json!({"pane": pane, "title": "by a person"}));
    server.wait_saved();
    assert!(server.term().success());
    assert_eq!(Server::start(&home).status()["load"], "loaded");
    let said = run(&home, &["history", "list", "--json"]).json();
    let kept = said["set_aside"][0].as_str().unwrap().to_owned();
    assert_eq!(fs::read(&kept).unwrap(), damaged);
    assert!(run(&home, &["history", "list"]).out.contains(&kept));
}
