//! What the database says of the newest turn: whether it is over, its last tool
//! call, and whether a prompt of ours arrived (K6).

use rusqlite::{Connection, params};
use serde_json::{Value, json};
use signaltty_adapters::conformance::Stage;
use signaltty_adapters::testing::block_on;
use signaltty_core::agent::{Conversation, TurnRecord};

use crate::stage::{A, OpenCodeStage, id};

const PROMPT: &str = "Continue where you left off.";

/// A conversation of one turn that was saved.
fn saved() -> (OpenCodeStage, Conversation) {
    let mut stage = OpenCodeStage::new();
    stage.turn(&id(A), "first");
    let mut saved = stage.saved();
    let anchor = block_on(stage.adapter().anchor(&saved, &stage.host()));
    saved.anchor = Some(anchor.unwrap());
    (stage, saved)
}

/// Messages of a later turn, each with its parts.
fn write(stage: &OpenCodeStage, messages: &[(Value, Vec<Value>)]) {
    let database = Connection::open(stage.path()).unwrap();
    let mut at = 100;
    let mut insert = |table: &str, of: Option<&str>, data: &Value| {
        at += 1;
        let name = format!("{table}_{at}");
        let data = data.to_string();
        match of {
            None => database
                .execute("INSERT INTO message VALUES (?1, ?2, ?3, ?4)", params![name, A, at, data]),
            Some(of) => database.execute(
                "INSERT INTO part VALUES (?1, ?2, ?3, ?4, ?5)",
                params![name, of, A, at, data],
            ),
        }
        .unwrap();
        name
    };
    for (message, parts) in messages {
        let name = insert("msg", None, message);
        for part in parts {
            insert("prt", Some(&name), part);
        }
    }
}

fn asked(text: &str) -> (Value, Vec<Value>) {
    let created = json!({"role": "user", "time": {"created": 1}});
    (created, vec![json!({"type": "text", "text": text})])
}

fn answer(time: Value, finish: &str, parts: Vec<Value>) -> (Value, Vec<Value>) {
    (json!({"role": "assistant", "time": time, "finish": finish}), parts)
}

/// Completed, and over or not.
fn done(finish: &str, parts: Vec<Value>) -> (Value, Vec<Value>) {
    answer(json!({"created": 1, "completed": 2}), finish, parts)
}

fn running(parts: Vec<Value>) -> (Value, Vec<Value>) {
    answer(json!({"created": 1}), "", parts)
}

fn aborted(parts: Vec<Value>) -> (Value, Vec<Value>) {
    let (mut message, parts) = done("", parts);
    message["error"] = json!({"name": "MessageAbortedError"});
    (message, parts)
}

fn call(tool: &str, call: &str, status: &str) -> Value {
    let state = json!({"status": status, "input": {}, "output": "hi"});
    json!({"type": "tool", "tool": tool, "callID": call, "state": state})
}

fn read(stage: &OpenCodeStage, saved: &Conversation) -> TurnRecord {
    block_on(stage.adapter().read_turn(saved, &stage.host()))
}

#[test]
fn s1_16_d25_the_database_tells_of_the_newest_turn() {
    let mut broken_off = call("bash", "c1", "error");
    broken_off["state"]["error"] = json!("Tool execution aborted");
    let mut failed = call("bash", "c1", "error");
    failed["state"]["error"] = json!("no such file");
    let step = json!({"type": "step-start"});
    let rows = [
        // It was killed before it answered.
        (vec![asked("do")], Some(true), None),
        (vec![asked("do"), running(vec![step.clone()])], Some(true), None),
        (
            vec![asked("do"), running(vec![call("bash", "c1", "running")])],
            Some(true),
            Some(("bash", false, true)),
        ),
        // Side by side: the one that may have changed something counts.
        (
            vec![
                asked("do"),
                running(vec![call("bash", "c1", "pending"), call("read", "c2", "running")]),
            ],
            Some(true),
            Some(("bash", false, true)),
        ),
        (
            vec![asked("do"), running(vec![call("read", "c1", "running")])],
            Some(true),
            Some(("read", false, false)),
        ),
        (
            vec![asked("do"), done("tool-calls", vec![call("bash", "c1", "completed")])],
            Some(true),
            Some(("bash", true, false)),
        ),
        (
            vec![asked("do"), done("tool-calls", vec![failed])],
            Some(true),
            Some(("bash", true, false)),
        ),
        (
            vec![
                asked("do"),
                done("tool-calls", vec![call("bash", "c1", "completed")]),
                done("stop", vec![step]),
            ],
            Some(false),
            Some(("bash", true, false)),
        ),
        // By a person, or by the end of its terminal: nobody can say.
        (vec![asked("do"), aborted(vec![broken_off])], None, Some(("bash", false, true))),
        // An older turn that was killed stays unfinished for ever.
        (
            vec![asked("do"), running(vec![call("bash", "c1", "running")]), asked("more")],
            Some(true),
            None,
        ),
    ];
    for (messages, unfinished, tool) in rows {
        let (stage, saved) = saved();
        write(&stage, &messages);
        let record = read(&stage, &saved);
        let found = record.last_tool.as_ref();
        let found = found.map(|call| (&*call.tool, call.finished, call.is_open()));
        assert_eq!((record.unfinished, found), (unfinished, tool), "{messages:?}");
    }
}

#[test]
fn k6_a_prompt_that_arrived_is_found_after_the_anchor_and_only_there() {
    let without_text = (json!({"role": "user"}), vec![]);
    for (messages, prompted) in [
        (vec![], Some(false)),
        (vec![asked("do"), done("stop", vec![])], Some(false)),
        (vec![asked(PROMPT)], Some(true)),
        (vec![asked(&format!("{PROMPT}\n"))], Some(true)),
        (vec![asked("say: Continue where you left off.")], Some(false)),
        // Its text may be ours.
        (vec![without_text.clone()], None),
        (vec![without_text, asked(PROMPT)], Some(true)),
    ] {
        let (stage, saved) = saved();
        write(&stage, &messages);
        assert_eq!(read(&stage, &saved).prompted, prompted, "{messages:?}");
    }
    // What was there when it was saved is not an answer to this attempt.
    let (stage, mut conversation) = saved();
    write(&stage, &[asked(PROMPT), done("stop", vec![])]);
    let anchor = block_on(stage.adapter().anchor(&conversation, &stage.host()));
    conversation.anchor = Some(anchor.unwrap());
    assert_eq!(read(&stage, &conversation).prompted, Some(false));
    // Where the saved end is not there, nobody can say.
    stage.sql("DELETE FROM message WHERE id LIKE 'msg_10%'");
    assert_eq!(read(&stage, &conversation).prompted, None);
    std::fs::remove_file(stage.path()).unwrap();
    assert_eq!(read(&stage, &conversation), TurnRecord::default());
}
