//! The full-screen client on real terminals.

use std::fs;
use std::path::Path;
use std::process::Command;

use rustix::process::Signal;
use serde_json::{Value, json};

use crate::support::talk::Talk;
use crate::support::{Home, Server, Terminal, programs, wait_for, wait_until};

const PREFIX: &str = "\x1d";

fn press(terminal: &mut Terminal, key: &str) {
    terminal.press(&format!("{PREFIX}{key}"));
}

/// The tour that `scripts/tour.sh` takes through tmux.
#[test]
fn a_person_gets_the_conversation_back_in_a_tour_through_tmux() {
    if !programs::has("tmux") {
        return;
    }
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../scripts/tour.sh");
    let tour = Command::new(script).arg(env!("CARGO_BIN_EXE_signaltty")).output().unwrap();
    let said = String::from_utf8_lossy(&tour.stdout) + String::from_utf8_lossy(&tour.stderr);
    assert!(tour.status.success() && said.contains("the tour is complete"), "{said}");
}

#[test]
fn a_program_in_the_full_screen_client_is_answered_once() {
    // Attributes, place, state, a mode, colours, size.
    let questions = "\\033[c\\033[6n\\033[5n\\033[?2026$p\\033]10;?\\007\\033]11;?\\007\\033[18t";
    let answers = ["c", "R", "0n", "$y", "10;rgb:e5e5/e5e5/e5e5^G", "11;rgb:0000/0000/0000^G", "t"];
    let home = Home::new();
    let server = Server::start(&home);
    let script = "stty raw -echo; echo ready; head -c 1 >/dev/null; printf 'asked'; \
                  printf 'QUESTIONS'; exec cat -v";
    server.sh(&home, &script.replace("QUESTIONS", questions));
    let mut terminal = Terminal::start(&home);
    terminal.wait_text("ready");
    terminal.press("g");
    terminal.wait_text("^[[8;");
    terminal.press("@");
    let screen = terminal.wait_text("@");
    let inside = |row: &str| row.trim_end().rsplit('│').next().unwrap_or_default().to_owned();
    let said: String = screen.lines().map(inside).collect();
    let said = &said[said.find("asked").unwrap()..];
    // After the word each answer begins with an Escape.
    let parts: Vec<&str> = said.split("^[").skip(1).collect();
    assert_eq!(parts.len(), answers.len(), "{said}");
    for (part, answer) in parts.iter().zip(answers) {
        assert!(part.contains(answer), "{answer}: {said}");
    }
}

#[test]
fn c088_a_client_that_ends_in_any_way_leaves_terminal_and_server_whole() {
    let home = Home::new();
    let server = Server::start(&home);
    let pane = server.spawn(&home, &["/bin/cat"]);
    server.ask("pane.split", json!({"pane": pane, "argv": ["/bin/cat"]}));
    let ids = |server: &Server| -> Vec<Value> {
        server.panes().iter().map(|pane| pane["id"].clone()).collect()
    };
    let before = ids(&server);
    for round in 0..20 {
        let mut terminal = Terminal::start(&home);
        terminal.wait_text("test 1/1");
        terminal.press(&format!("round{round}\r"));
        terminal.wait_text(&format!("round{round}"));
        let (signal, restores) = match round % 4 {
            0 => (Some(Signal::HUP), true),
            1 => (Some(Signal::TERM), true),
            // Nobody can do anything after this one.
            2 => (Some(Signal::KILL), false),
            _ => (None, true),
        };
        match signal {
            Some(signal) => terminal.signal(signal),
            None => press(&mut terminal, "d"),
        }
        let status = terminal.wait_exit();
        if restores {
            assert_eq!(status.code(), Some(i32::from(signal.is_some())), "{signal:?}");
            terminal.wait_restored();
        }
        assert_eq!(ids(&server), before, "round {round}");
        assert!(server.panes().iter().all(|pane| pane["state"] == "live"));
    }
}

#[test]
fn c088_an_attached_client_that_ends_in_any_way_leaves_terminal_and_server_whole() {
    let home = Home::new();
    let server = Server::start(&home);
    // Everything that a program can do to a terminal.
    let modes =
        "\\033[?1049h\\033[?1000h\\033[?1002h\\033[?1006h\\033[?2004h\\033[?1004h\\033[?25l";
    let pane = server.sh(&home, &format!("printf '{modes}'; echo ready; exec cat"));
    server.wait_text(&pane, "ready");
    let ids = |server: &Server| -> Vec<Value> {
        server.panes().iter().map(|pane| pane["id"].clone()).collect()
    };
    let (before, children) = (ids(&server), server.children());
    let mut last = "ready".to_owned();
    for round in 0..20 {
        let mut terminal = Terminal::start_with(&home, |command| {
            command.args(["attach", &pane]);
        });
        terminal.wait_text(&last);
        terminal.press(&format!("round{round}\r"));
        last = format!("round{round}");
        terminal.wait_text(&last);
        let signal = match round % 4 {
            0 => Some(Signal::HUP),
            1 => Some(Signal::TERM),
            // Nobody can do anything after this one.
            2 => Some(Signal::KILL),
            _ => None,
        };
        match signal {
            Some(signal) => terminal.signal(signal),
            None => terminal.press(PREFIX),
        }
        let status = terminal.wait_exit();
        if signal != Some(Signal::KILL) {
            assert_eq!(status.code(), Some(i32::from(signal.is_some())), "{signal:?}");
            terminal.wait_restored();
        }
        assert_eq!(ids(&server), before, "round {round}");
        assert_eq!(server.children(), children, "round {round}");
        assert_eq!(server.pane(&pane)["state"], "live");
    }
}

#[test]
fn c082_poison_in_titles_and_messages_is_shown_and_does_nothing() {
    let home = Home::new();
    let server = Server::start(&home);
    let pane = server.spawn(&home, &["/bin/cat"]);
    let poison = "x \x1b[2J \x1b]52;c;AAAA\x07 y";
    server.ask("pane.rename", json!({"pane": pane, "title": poison}));
    server.ask("tab.rename", json!({"tab": server.pane(&pane)["tab_id"], "title": poison}));
    let workspace = server.pane(&pane)["workspace_id"].clone();
    server.ask("workspace.rename", json!({"workspace": workspace, "name": poison}));
    let mut terminal = Terminal::start(&home);
    terminal.wait_text("1/1");
    press(&mut terminal, "?");
    terminal.wait_text("First C-], then:");
    press(&mut terminal, "d");
    let bytes = terminal.bytes();
    let holds = |text: &str| bytes.windows(text.len()).any(|part| part == text.as_bytes());
    assert!(!holds("\x1b]52;c;AAAA"), "a clipboard sequence came through");
}

#[test]
fn s0_45_zoom_and_search_are_the_clients_alone() {
    let home = Home::new();
    let server = Server::start(&home);
    let pane = server.sh(&home, "seq -f 'line %g' 1 200; exec cat");
    server.ask("pane.split", json!({"pane": pane, "argv": ["/bin/cat"]}));
    server.ask("pane.focus", json!({"pane": pane}));
    let layout =
        || server.ask("session.list", json!({}))["workspaces"][0]["tabs"][0]["layout"].clone();
    let before = layout();
    let mut terminal = Terminal::start(&home);
    terminal.wait_text("line 200");
    wait_until("the area of this client", || server.pane(&pane)["cols"] == 35);
    server.wait_saved();
    let written = fs::metadata(home.snapshot_path()).unwrap().modified().unwrap();
    press(&mut terminal, "z");
    terminal.wait_text("zoomed");
    wait_until("the whole width", || server.pane(&pane)["cols"] == 71);
    press(&mut terminal, "/");
    terminal.wait_text("Search");
    terminal.press("line 42\r");
    terminal.wait_text("1 found");
    terminal.wait_text("line 42");
    terminal.press("q");
    press(&mut terminal, "z");
    wait_until("the old width", || server.pane(&pane)["cols"] == 35);
    assert_eq!(layout(), before);
    assert_eq!(server.status()["saved"], true, "neither is worth a save");
    assert_eq!(fs::metadata(home.snapshot_path()).unwrap().modified().unwrap(), written);
    let snapshot = fs::read_to_string(home.snapshot_path()).unwrap();
    assert!(!snapshot.contains("zoom") && !snapshot.contains("line 42"));
}

#[test]
fn s0_50_choosing_a_project_touches_nothing_of_the_server() {
    let home = Home::new();
    let server = Server::start(&home);
    server.spawn(&home, &["/bin/cat"]);
    let other = home.path("other");
    fs::create_dir(&other).unwrap();
    server.ask("workspace.new", json!({"cwd": other, "argv": ["/bin/cat"], "name": "other"}));
    let mut terminal = Terminal::start(&home);
    terminal.wait_text("All projects");
    terminal.wait_text("1/1");
    let file = home.path(".config/signaltty/project-scope.json");
    wait_until("the area of this client", || server.panes()[0]["cols"] == 71);
    server.wait_saved();
    let before = fs::read(home.snapshot_path()).unwrap();
    press(&mut terminal, "S");
    terminal.wait_text("Project work");
    wait_until("the file", || file.exists());
    let saved: Value = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
    assert_eq!(saved["project"], json!(home.work()));
    assert_eq!(server.status()["saved"], true);
    assert_eq!(fs::read(home.snapshot_path()).unwrap(), before);
    // The next client begins with it.
    press(&mut terminal, "d");
    terminal.wait_exit();
    Terminal::start(&home).wait_text("Project work");
}

#[test]
fn s0_17_one_key_resumes_and_a_second_client_sees_it() {
    let home = Home::new();
    let mut server = Server::start(&home);
    let talk = Talk::hold(&server, &home);
    let pane = talk.pane.clone();
    server.kill9();
    let server = Server::start(&home);
    let mut terminal = Terminal::start(&home);
    terminal.wait_text("Its process is gone; its conversation can be reopened.");
    terminal.wait_text("you said: hello");
    terminal.press("r");
    terminal.wait_text("verified");
    server.wait_state(&pane, "live");
    Terminal::start(&home).wait_text("verified");
}

#[test]
fn ten_idle_panes_on_the_screen_cost_nothing_and_are_not_drawn_again() {
    let home = Home::new();
    let server = Server::start(&home);
    let first = server.sh(&home, "printf here1; exec sleep 600");
    let mut panes = vec![first.clone()];
    for number in 2..=10 {
        let script = format!("printf here{number}; exec sleep 600");
        let params = json!({"pane": first, "direction": "down", "argv": ["sh", "-c", script]});
        panes.push(server.ask("pane.split", params)["pane_id"].as_str().unwrap().to_owned());
    }
    let (above, below) = panes.split_at(5);
    let layout = format!("v1:[[{}]/[{}]]", above.join("|"), below.join("|"));
    server.ask("tab.layout", json!({"tab": server.pane(&first)["tab_id"], "layout": layout}));
    let mut terminal = Terminal::start_sized(&home, (160, 50), |_| {});
    for number in 1..=10 {
        terminal.wait_text(&format!("here{number}"));
    }
    let stat = |pid: u32| {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
        let (_, fields) = stat.rsplit_once(") ").unwrap();
        let field = |at: usize| fields.split(' ').nth(at).unwrap().parse::<u64>().unwrap();
        // Ticks in user and system mode, of which there are a hundred a second.
        field(11) + field(12)
    };
    // The length of what is measured, not a wait for something.
    let while_nothing_happens = || {
        let before = (stat(terminal.pid()), terminal.bytes().len());
        assert!(Command::new("sleep").arg("2").status().unwrap().success());
        (stat(terminal.pid()) - before.0, terminal.bytes().len() - before.1)
    };
    let quiet = wait_for("a client that has drawn everything", || {
        Some(while_nothing_happens()).filter(|(_, written)| *written == 0)
    });
    assert!(quiet.0 <= 2, "{} ticks in two seconds are more than one per cent", quiet.0);
    press(&mut terminal, "d");
    assert!(terminal.wait_exit().success());
}

#[test]
fn c074_what_is_pasted_into_the_demonstration_agent_shows_no_brackets() {
    let home = Home::new();
    let server = Server::start(&home);
    let talk = Talk::hold(&server, &home);
    let mut terminal = Terminal::start(&home);
    terminal.wait_text("you said: hello");
    terminal.press("\x1b[200~remember the paste\x1b[201~\r");
    let shown = terminal.wait_text("noted: the paste");
    assert!(shown.contains("you> remember the paste"), "{shown}");
    assert!(!shown.contains("200~") && !shown.contains("^["), "{shown}");
    // A shell that gets the terminal back is asked for none.
    terminal.press("\x04");
    server.wait_state(&talk.pane, "exited");
    let text = server.text(&talk.pane);
    assert!(!text.contains("200~"), "{text}");
}

#[test]
fn preferences_that_are_wrong_are_refused_before_the_screen_is_taken() {
    let home = Home::new();
    let _server = Server::start(&home);
    let dir = home.path(".config/signaltty");
    fs::create_dir_all(&dir).unwrap();
    fs::write(dir.join("gui.json"), r#"{"prefx": "C-a"}"#).unwrap();
    let mut terminal = Terminal::start(&home);
    assert_eq!(terminal.wait_exit().code(), Some(2));
    terminal.wait_text("there is no prefx; did you mean prefix?");
    assert!(!terminal.bytes().windows(8).any(|part| part == b"\x1b[?1049h"));
    fs::write(dir.join("gui.json"), r#"{"preset": "tmux"}"#).unwrap();
    let mut terminal = Terminal::start(&home);
    terminal.wait_text("C-b ? for keys");
    terminal.press("\x02d");
    assert!(terminal.wait_exit().success());
}
