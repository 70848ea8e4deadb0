//! What records say of the newest turn: whether it is over, its last tool call,
//! and whether a prompt of ours arrived (K6).
#![cfg(all(feature = "testing", feature = "claude", feature = "codex", feature = "grok"))]
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "test code")]

mod common;

use std::fs;
use std::io::Write;
use std::path::Path;

use common::codex::CodexStage;
use common::grok::GrokStage;
use common::{ClaudeStage, id};
use signaltty_adapters::conformance::Stage;
use signaltty_adapters::testing::{FakeHost, block_on};
use signaltty_core::agent::{Conversation, TurnRecord};

const PROMPT: &str = "Continue where you left off.";

fn append(path: &Path, lines: &[&str]) {
    let mut file = fs::File::options().create(true).append(true).open(path).unwrap();
    for line in lines {
        writeln!(file, "{line}").unwrap();
    }
}

fn read(stage: &dyn Stage, saved: &Conversation) -> TurnRecord {
    block_on(stage.adapter().read_turn(saved, &FakeHost::with_programs(&[])))
}

/// A conversation of one turn that was saved.
fn saved(stage: &mut dyn Stage) -> Conversation {
    let mut saved = stage.saved();
    stage.turn(&saved.id, "first");
    let host = FakeHost::with_programs(&[]);
    saved.anchor = Some(block_on(stage.adapter().anchor(&saved, &host)).unwrap());
    saved
}

/// The last call, whether it finished, and whether it stops the automatic way.
fn tool(record: &TurnRecord) -> Option<(&str, bool, bool)> {
    let receipt = record.last_tool.as_ref()?;
    Some((&receipt.tool, receipt.finished, receipt.is_open()))
}

type Row<'a> = (&'a [&'a str], Option<bool>, Option<(&'a str, bool, bool)>);

fn check<S: Stage>(
    new: fn() -> S,
    path: impl Fn(&S, &Conversation) -> std::path::PathBuf,
    rows: &[Row<'_>],
) {
    for (lines, unfinished, last) in rows {
        let mut stage = new();
        let saved = saved(&mut stage);
        append(&path(&stage, &saved), lines);
        let record = read(&stage, &saved);
        assert_eq!(record.unfinished, *unfinished, "{lines:?}");
        assert_eq!(tool(&record), *last, "{lines:?}");
    }
}

#[test]
fn s1_16_d25_claudes_transcript_tells_of_the_newest_turn() {
    const ASKED: &str =
        r#"{"type":"user","uuid":"u9","parentUuid":null,"message":{"role":"user","content":"do"}}"#;
    const BASH: &str = r#"{"type":"assistant","uuid":"a1","parentUuid":"u9","message":{"role":"assistant","stop_reason":"tool_use","content":[{"type":"tool_use","id":"t1","name":"Bash","input":{}}]}}"#;
    const READ: &str = r#"{"type":"assistant","uuid":"a2","parentUuid":"a1","message":{"role":"assistant","stop_reason":"tool_use","content":[{"type":"tool_use","id":"t2","name":"Read","input":{}}]}}"#;
    const DONE: &str = r#"{"type":"user","uuid":"r1","parentUuid":"a1","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"hi"}]}}"#;
    const END: &str = r#"{"type":"assistant","uuid":"a3","parentUuid":"r1","message":{"role":"assistant","stop_reason":"end_turn","content":[{"type":"text","text":"done"}]}}"#;
    const CUT: &str = r#"{"type":"user","uuid":"c1","parentUuid":"u9","message":{"role":"user","content":[{"type":"text","text":"[Request interrupted by user]"}]}}"#;
    const SIDE: &str = r#"{"type":"assistant","uuid":"s1","parentUuid":"u9","isSidechain":true,"message":{"role":"assistant","stop_reason":"end_turn","content":[{"type":"text","text":"x"}]}}"#;
    let rows: [Row<'_>; 8] = [
        (&[ASKED], Some(true), None),
        (&[ASKED, SIDE], Some(true), None),
        (&[ASKED, BASH], Some(true), Some(("Bash", false, true))),
        // Side by side: the one that may have changed something counts.
        (&[ASKED, BASH, READ], Some(true), Some(("Bash", false, true))),
        (&[ASKED, BASH, DONE], Some(true), Some(("Bash", true, false))),
        (&[ASKED, BASH, DONE, READ], Some(true), Some(("Read", false, false))),
        (&[ASKED, BASH, DONE, END], Some(false), Some(("Bash", true, false))),
        // By a person, or by the end of its terminal.
        (&[ASKED, CUT], None, None),
    ];
    check(ClaudeStage::new, |stage, saved| stage.record(&saved.id), &rows);
}

#[test]
fn s1_16_d25_codexs_rollout_tells_of_the_newest_turn() {
    const BEGAN: &str =
        r#"{"ordinal":90,"type":"event_msg","payload":{"type":"task_started","turn_id":"t"}}"#;
    const CALL: &str = r#"{"ordinal":91,"type":"response_item","payload":{"type":"function_call","name":"exec_command","arguments":"{}","call_id":"c1"}}"#;
    const LOOK: &str = r#"{"ordinal":91,"type":"response_item","payload":{"type":"function_call","name":"view_image","arguments":"{}","call_id":"c2"}}"#;
    const BACK: &str = r#"{"ordinal":92,"type":"response_item","payload":{"type":"function_call_output","call_id":"c1","output":"hi"}}"#;
    const PATCH: &str = r#"{"ordinal":93,"type":"response_item","payload":{"type":"custom_tool_call","name":"apply_patch","input":"","call_id":"c3"}}"#;
    const END: &str =
        r#"{"ordinal":94,"type":"event_msg","payload":{"type":"task_complete","turn_id":"t"}}"#;
    const CUT: &str = r#"{"ordinal":94,"type":"event_msg","payload":{"type":"turn_aborted","reason":"interrupted"}}"#;
    let rows: [Row<'_>; 7] = [
        (&[], Some(false), None),
        (&[BEGAN], Some(true), None),
        (&[BEGAN, CALL], Some(true), Some(("exec_command", false, true))),
        (&[BEGAN, LOOK], Some(true), Some(("view_image", false, false))),
        (&[BEGAN, CALL, BACK, PATCH], Some(true), Some(("apply_patch", false, true))),
        (&[BEGAN, CALL, BACK, END], Some(false), Some(("exec_command", true, false))),
        (&[BEGAN, CUT], None, None),
    ];
    check(CodexStage::new, |stage, saved| stage.record(&saved.id), &rows);
}

#[test]
fn s1_16_d25_groks_events_tell_of_the_newest_turn() {
    const BEGAN: &str =
        r#"{"ts":"2026-11-30T23:26:52.438Z","type":"turn_started","turn_number":9}"#;
    const CALL: &str = r#"{"ts":"2026-11-30T23:26:52.535Z","type":"tool_started","tool_name":"run_terminal_command"}"#;
    const BACK: &str = r#"{"ts":"2026-11-30T23:26:52.567Z","type":"tool_completed","tool_name":"run_terminal_command","outcome":"success","tool_call_id":"c1"}"#;
    const LOOK: &str =
        r#"{"ts":"2026-11-30T23:26:52.568Z","type":"tool_started","tool_name":"read_file"}"#;
    const END: &str =
        r#"{"ts":"2026-11-30T23:26:52.614Z","type":"turn_ended","outcome":"completed"}"#;
    const CUT: &str =
        r#"{"ts":"2026-11-30T23:26:52.614Z","type":"turn_ended","outcome":"interrupted"}"#;
    let rows: [Row<'_>; 6] = [
        (&[BEGAN], Some(true), None),
        (&[BEGAN, CALL], Some(true), Some(("run_terminal_command", false, true))),
        (&[BEGAN, CALL, BACK], Some(true), Some(("run_terminal_command", true, false))),
        (&[BEGAN, CALL, BACK, LOOK], Some(true), Some(("read_file", false, false))),
        (&[BEGAN, CALL, BACK, END], Some(false), Some(("run_terminal_command", true, false))),
        (&[BEGAN, CUT], None, None),
    ];
    let events = |stage: &GrokStage, saved: &Conversation| {
        stage.record(&saved.id).with_file_name("events.jsonl")
    };
    check(GrokStage::new, events, &rows);
}

#[test]
fn inv_k6_a_prompt_counts_only_after_the_anchor_and_word_for_word() {
    fn each<S: Stage>(
        new: fn() -> S,
        path: impl Fn(&S, &Conversation) -> std::path::PathBuf,
        line: impl Fn(&str) -> String,
    ) {
        let mut stage = new();
        let before = stage.saved();
        stage.turn(&before.id, PROMPT);
        let saved = saved(&mut stage);
        assert_eq!(read(&stage, &saved).prompted, Some(false), "it was there before");
        let path = path(&stage, &saved);
        append(&path, &[&line(&format!("{PROMPT} Or not."))]);
        assert_eq!(read(&stage, &saved).prompted, Some(false), "another text");
        // The end of the last line is missing: that may be the prompt.
        fs::File::options().append(true).open(&path).unwrap().write_all(b"{\"type\"").unwrap();
        assert_eq!(read(&stage, &saved).prompted, None, "a line that was cut off");
        append(&path, &["", &line(PROMPT)]);
        assert_eq!(read(&stage, &saved).prompted, Some(true));
        fs::write(&path, "").unwrap();
        assert_eq!(read(&stage, &saved).prompted, None, "it became shorter");
        let unknown = Conversation { id: id(common::Z), ..saved };
        assert_eq!(read(&stage, &unknown), TurnRecord::default());
    }
    each(
        ClaudeStage::new,
        |stage, saved| stage.record(&saved.id),
        |text| {
            format!(
                r#"{{"type":"user","uuid":"p","parentUuid":null,"message":{{"role":"user","content":"{text}"}}}}"#
            )
        },
    );
    each(
        CodexStage::new,
        |stage, saved| stage.record(&saved.id),
        |text| {
            format!(
                r#"{{"ordinal":95,"type":"response_item","payload":{{"type":"message","role":"user","content":[{{"type":"input_text","text":"{text}"}}]}}}}"#
            )
        },
    );
    each(
        GrokStage::new,
        |stage, saved| stage.record(&saved.id),
        |text| {
            format!(
                r#"{{"type":"user","content":[{{"type":"text","text":"<user_query>\n{text}\n</user_query>"}}],"prompt_index":7}}"#
            )
        },
    );
}
