//! What a person has forgotten is not on the disk any more (D-30).

use std::fs;

use serde_json::{Value, json};

use crate::support::{Home, Server, wait_until};

/// Says whatever it is told, as its title too.
const PARROT: &str =
    r#"while read x; do [ "$x" = end ] && exit 3; printf '\033]2;%s\007said %s\n' "$x" "$x"; done"#;

fn say(server: &Server, pane: &str, words: &str) {
    server.type_line(pane, words);
    server.wait_text(pane, &format!("said {words}"));
    wait_until("the title", || server.pane(pane)["title"] == words);
}

/// Lines of the journal that name a pane.
fn recorded(home: &Home, pane: &str) -> usize {
    let journal = fs::read_to_string(home.path("state/audit.jsonl")).unwrap();
    journal.lines().filter(|line| line.contains(pane)).count()
}

fn workspace_of(server: &Server, pane: &str) -> Value {
    server.pane(pane)["workspace_id"].clone()
}

#[test]
fn d30_forget_leaves_nothing_that_a_pane_said_in_the_whole_directory() {
    let home = Home::new();
    let mut server = Server::start(&home);
    let (live, ended, other) =
        (server.sh(&home, PARROT), server.sh(&home, PARROT), server.sh(&home, PARROT));
    for pane in [&live, &ended, &other] {
        say(&server, pane, if *pane == other { "harmless-words" } else { "canary-6a1f" });
    }
    server.type_line(&ended, "end");
    server.wait_state(&ended, "exited");
    server.wait_saved();
    // The second save keeps the first one as an older snapshot.
    server.ask("pane.rename", json!({"pane": other, "title": "renamed"}));
    server.wait_saved();
    let before = home.files_with("canary-6a1f");
    for place in ["snapshot.json", "snapshots/", "history/"] {
        let named = |path: &std::path::PathBuf| path.display().to_string().contains(place);
        assert!(before.iter().any(named), "{place}: {before:?}");
    }
    assert!(recorded(&home, &live) > 0);

    let done = server.ask("session.forget", json!({"target": live}));
    assert_eq!((&done["panes"], &done["tails"], &done["left"]), (&json!(1), &json!(1), &json!([])));
    assert!(done["records"].as_u64().unwrap() > 0, "{done}");
    assert_eq!(done["snapshots"], 1, "{done}");
    assert_eq!(recorded(&home, &live), 0);
    // A workspace, by its id; its pane has no process.
    let workspace = workspace_of(&server, &ended);
    let done = server.ask("session.forget", json!({"target": workspace}));
    assert_eq!((&done["panes"], &done["tails"]), (&json!(1), &json!(1)), "{done}");
    assert_eq!(home.files_with("canary-6a1f"), Vec::<std::path::PathBuf>::new());

    // Nor does it come back from a screen with what is printed later.
    assert!(!server.text(&live).contains("canary-6a1f"));
    assert_eq!(server.text(&ended), "");
    say(&server, &live, "later-words");
    assert!(server.term().success());
    assert_eq!(home.files_with("canary-6a1f"), Vec::<std::path::PathBuf>::new());
    let server = Server::start(&home);
    assert!(server.text(&live).contains("said later-words"));
    assert!(server.text(&other).contains("said harmless-words"));
    assert_eq!(server.panes().len(), 3);
    assert_eq!(server.status()["load"], "loaded");
    assert_eq!(server.status()["problems"], json!([]));
}

#[test]
fn d30_a_pane_that_is_closed_is_forgotten_by_its_id_and_others_are_errors() {
    let home = Home::new();
    let server = Server::start(&home);
    let (gone, _other) = (server.sh(&home, PARROT), server.sh(&home, PARROT));
    say(&server, &gone, "canary-6a1f");
    server.wait_saved();
    server.ask("pane.close", json!({"pane": gone}));
    server.wait_saved();
    assert_ne!(home.files_with("canary-6a1f"), Vec::<std::path::PathBuf>::new());
    let done = server.ask("session.forget", json!({"target": gone}));
    assert_eq!(done["snapshots"], 1, "{done}");
    assert_eq!(home.files_with("canary-6a1f"), Vec::<std::path::PathBuf>::new());
    for (target, code) in [("nothing", "NO_SUCH_PANE"), ("ws_nothing", "NO_SUCH_WORKSPACE")] {
        let refused = server.call("session.forget", json!({"target": target})).unwrap_err();
        assert_eq!(refused.code, code);
    }
}

#[test]
fn d30_what_could_not_be_saved_is_not_said_to_be_forgotten() {
    let home = Home::new();
    let server = Server::start(&home);
    let pane = server.sh(&home, PARROT);
    say(&server, &pane, "canary-6a1f");
    server.wait_saved();
    // Something that no file can replace.
    let snapshot = home.snapshot_path();
    fs::remove_file(&snapshot).unwrap();
    fs::create_dir_all(snapshot.join("in the way")).unwrap();
    let refused = server.call("session.forget", json!({"target": pane})).unwrap_err();
    assert_eq!(refused.code, "NOT_FORGOTTEN", "{refused:?}");
    assert!(refused.message.contains("ask again"), "{refused:?}");
    fs::remove_dir_all(&snapshot).unwrap();
    server.ask("session.forget", json!({"target": pane}));
    assert_eq!(home.files_with("canary-6a1f"), Vec::<std::path::PathBuf>::new());
}
