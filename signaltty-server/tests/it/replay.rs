//! Events that a client missed while it, or the server, was away: each of the
//! five answers, from a server that was started again.

use std::fs;

use serde_json::{Value, json};

use crate::support::{Client, Home, Server};

/// Where a client is: a journal and the number of the last event.
struct Cursor {
    journal: Value,
    seq: u64,
}

/// Where a client is that subscribes now.
fn here(server: &Server) -> Cursor {
    let told = server.ask("events.subscribe", json!({}));
    Cursor { journal: told["journal_id"].clone(), seq: told["seq"].as_u64().unwrap() }
}

/// Asks for everything since then; the reply, and the connection.
fn since(server: &Server, at: &Cursor, filter: &[&str]) -> (Value, Client) {
    let mut client = server.connect();
    let from = json!({"journal_id": at.journal, "seq": at.seq});
    let reply = client.call("events.subscribe", json!({"from": from, "filter": filter})).unwrap();
    (reply, client)
}

/// The answer is not a replay: it says why, nothing follows, and the newest
/// event is a place to go on from.
fn check_no_replay(server: &Server, at: &Cursor, word: &str) -> Value {
    let (reply, mut client) = since(server, at, &[]);
    assert_eq!(reply["replay"], word, "{reply}");
    assert_eq!(reply["subscribed"], false, "{reply}");
    assert!(reply["message"].as_str().unwrap().contains("read the state again"), "{reply}");
    assert_eq!(client.line(), None, "nothing follows");
    let (reply, _client) = since(server, &here(server), &[]);
    assert_eq!((&reply["replay"], &reply["subscribed"]), (&json!("complete"), &json!(true)));
    reply
}

/// Renames a pane so many times; back with the lines of all that was published
/// since the first, once the last rename was.
fn rename(server: &Server, pane: &str, times: usize) -> Vec<String> {
    let mut listener = server.connect();
    listener.call("events.subscribe", json!({})).unwrap();
    let mut client = server.connect();
    for title in 0..times {
        let title = format!("title {title}");
        client.call("pane.rename", json!({"pane": pane, "title": title})).unwrap();
    }
    let mut lines = Vec::new();
    let mut left = times;
    while left > 0 {
        let line = listener.line().expect("events go on");
        let event: Value = serde_json::from_str(&line).unwrap();
        let renamed = event["event"] == "pane.updated" && event["payload"]["pane_id"] == *pane;
        left -= usize::from(renamed);
        lines.push(line);
    }
    lines
}

fn seq(line: &str) -> u64 {
    let event: Value = serde_json::from_str(line).unwrap();
    event["seq"].as_u64().unwrap()
}

#[test]
fn inv_j3_what_was_published_is_replayed_byte_for_byte_after_a_stop_and_after_a_kill() {
    for killed in [false, true] {
        let home = Home::new();
        let mut server = Server::start(&home);
        let pane = server.spawn(&home, &["/bin/cat"]);
        server.wait_saved();
        let at = here(&server);
        let seen = rename(&server, &pane, 3);
        if killed {
            server.kill9();
        } else {
            assert!(server.term().success());
        }
        let server = Server::start(&home);
        let (reply, mut client) = since(&server, &at, &[]);
        assert_eq!(reply["replay"], "complete", "killed {killed}: {reply}");
        assert_eq!(reply["subscribed"], true, "{reply}");
        assert_eq!(reply["journal_id"], at.journal, "{reply}");
        let count = usize::try_from(reply["replayed"].as_u64().unwrap()).unwrap();
        let past: Vec<_> = (0..count).map(|_| client.line().unwrap()).collect();
        let numbers: Vec<_> = past.iter().map(|line| seq(line)).collect();
        assert!(numbers.is_sorted() && numbers.first() > Some(&at.seq), "{numbers:?}");
        // What nobody listened to yet may come before.
        let first = past.iter().position(|line| *line == seen[0]).expect("the first one seen");
        assert_eq!(past[first..first + seen.len()], seen, "killed {killed}");
        // And then the present, with numbers that are new.
        let next = &rename(&server, &pane, 1)[0];
        let newer = (0..).find_map(|_| {
            let line = client.line().expect("events go on");
            (line == *next).then_some(seq(&line))
        });
        assert!(newer > numbers.last().copied(), "{newer:?} after {numbers:?}");
    }
}

#[test]
fn inv_j3_a_published_event_that_is_gone_is_lost_and_never_complete() {
    let home = Home::new();
    let mut server = Server::start(&home);
    let pane = server.spawn(&home, &["/bin/cat"]);
    server.wait_saved();
    let at = here(&server);
    let last = seq(rename(&server, &pane, 3).last().unwrap());
    server.kill9();
    let path = home.path("state/audit.jsonl");
    let journal = fs::read_to_string(&path).unwrap();
    let cut = journal.trim_end().rfind('\n').unwrap() + 1;
    assert!(journal[cut..].contains(&format!("\"seq\":{last},")), "{}", &journal[cut..]);
    fs::write(&path, &journal[..cut]).unwrap();

    let server = Server::start(&home);
    let (reply, _client) = since(&server, &at, &[]);
    let lost = [&reply["lost"][0], &reply["lost"][1]].map(|number| number.as_u64().unwrap());
    assert!(lost[0] <= last && last <= lost[1], "{last} in {lost:?}");
    check_no_replay(&server, &at, "history_lost");
    // Whoever saw it misses nothing.
    let saw_it = Cursor { journal: at.journal.clone(), seq: last };
    assert_eq!(since(&server, &saw_it, &[]).0["replay"], "complete");
    let one_less = Cursor { journal: at.journal.clone(), seq: last - 1 };
    check_no_replay(&server, &one_less, "history_lost");
    drop(server);
    // It is still so after another start.
    let server = Server::start(&home);
    check_no_replay(&server, &at, "history_lost");
}

#[test]
fn a_replay_of_more_than_4096_events_is_truncated_unless_a_filter_leaves_fewer() {
    let home = Home::new();
    let mut server = Server::start(&home);
    let pane = server.spawn(&home, &["/bin/cat"]);
    let at = here(&server);
    rename(&server, &pane, 4_097);
    server.ask("workspace.rename", json!({"workspace": "test", "name": "another"}));
    assert!(server.term().success());
    let server = Server::start(&home);
    check_no_replay(&server, &at, "truncated");
    let (reply, mut client) = since(&server, &at, &["workspace.*"]);
    assert_eq!(reply["replay"], "complete", "{reply}");
    let count = reply["replayed"].as_u64().unwrap();
    assert!((1..100).contains(&count), "{reply}");
    for _ in 0..count {
        assert!(client.line().unwrap().starts_with("{\"event\":\"workspace."));
    }
}

#[test]
fn a_cursor_of_another_journal_is_unavailable_and_one_of_the_future_is_ahead() {
    let home = Home::new();
    let mut server = Server::start(&home);
    server.spawn(&home, &["/bin/cat"]);
    server.wait_saved();
    let at = here(&server);
    assert!(server.term().success());
    let mut server = Server::start(&home);
    let other = Cursor { journal: json!("0000000000000000"), seq: at.seq };
    check_no_replay(&server, &other, "unavailable");
    let future = Cursor { journal: at.journal.clone(), seq: at.seq + 1_000_000 };
    let reply = check_no_replay(&server, &future, "cursor_ahead");
    assert_eq!(reply["journal_id"], at.journal, "a restart goes on with the journal");

    // A journal that somebody removed is not the one that begins after it.
    assert!(server.term().success());
    for entry in fs::read_dir(home.state()).unwrap().flatten() {
        let name = entry.file_name().into_string().unwrap();
        if name.starts_with("audit") || name.starts_with("event-sequence") {
            fs::remove_file(entry.path()).unwrap();
        }
    }
    let server = Server::start(&home);
    assert_ne!(here(&server).journal, at.journal);
    check_no_replay(&server, &at, "unavailable");
}
