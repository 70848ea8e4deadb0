//! Claude's records: preflight and anchors, before anything starts.
#![cfg(all(feature = "testing", feature = "claude", feature = "codex", feature = "grok"))]
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "test code")]

mod common;

use std::fs;
use std::path::Path;

use common::record::{anchor, check_directory, check_edit, continued, host, preflight};
use common::{A, ClaudeStage, Z, id};
use signaltty_adapters::conformance::Stage;
use signaltty_adapters::testing::{FakeHost, block_on};
use signaltty_adapters::{Adapters, AgentAdapter};
use signaltty_core::agent::{Conversation, Extent, Relation};
use signaltty_core::restore::FailureCode;

fn saved_and_continued() -> (ClaudeStage, Conversation) {
    continued(ClaudeStage::new())
}

fn without_lines(text: &str, drop: impl Fn(&str) -> bool) -> String {
    text.lines().filter(|line| !drop(line)).map(|line| format!("{line}\n")).collect()
}

fn is_message(line: &str) -> bool {
    line.contains("parentUuid")
}

#[test]
fn s0_20_t3_c1_the_official_command_is_exact() {
    let stage = ClaudeStage::new();
    let command = stage.adapter.resume_command(&stage.saved()).unwrap();
    assert_eq!(command.argv(), ["claude", "--resume", A]);
}

#[test]
fn s1_18_ids_of_another_form_reach_no_command_and_no_file() {
    let stage = ClaudeStage::new();
    for text in ["planb", "ses_0123456789abcdefghijklmnop", &A.to_uppercase(), &A[1..], "x"] {
        let saved = stage.conversation(id(text));
        assert!(stage.adapter.resume_command(&saved).is_err(), "{text}");
        assert_eq!(preflight(&stage, &saved).unwrap_err().code, FailureCode::MalformedId);
        assert_eq!(anchor(&stage, &saved).unwrap_err().code, FailureCode::MalformedId);
    }
    for text in ["", "--resume", "-p", "../x", "a\u{1b}b", &"a".repeat(10_240)] {
        assert!(stage.adapter.parse_id(text).is_err(), "{text:?}");
    }
}

#[test]
fn s0_39_the_config_directory_is_the_identity_variable() {
    let adapters = Adapters::builtin();
    let claude = adapters.of(&"claude".parse().unwrap()).unwrap();
    assert_eq!(claude.spec().identity_vars, ["CLAUDE_CONFIG_DIR"]);
    for name in ["CLAUDECODE", "CLAUDE_CODE_SESSION_ID", "CLAUDE_CODE_CHILD_SESSION"] {
        assert!(claude.spec().scrubbed_vars.contains(&name), "{name}");
    }
    assert!(!claude.spec().scrubbed_vars.contains(&"CLAUDE_CONFIG_DIR"));
    // Without the variable, the records are below the home directory.
    let mut stage = ClaudeStage::new();
    let mut saved = stage.saved();
    stage.turn(&saved.id, "first");
    let home = stage.dir.path().join("home");
    fs::create_dir(&home).unwrap();
    fs::rename(stage.config(), home.join(".claude")).unwrap();
    saved.config_env = Default::default();
    let mut host = host(&stage);
    host.home = Some(home);
    assert!(block_on(stage.adapter.anchor(&saved, &host)).is_ok());
}

#[test]
fn d3_what_extends_the_anchor_goes_on_and_nothing_else() {
    type Edit = fn(&str) -> String;
    let table: [(&str, Edit, Result<Relation, FailureCode>); 14] = [
        ("unchanged", str::to_owned, Ok(Relation::Extends)),
        ("a cut last line", |text| format!("{text}{{\"uuid\":\"cut"), Ok(Relation::Extends)),
        (
            "a cut line in what came later, ended by the agent",
            |text| format!("{text}{{\"uuid\":\"cut\n{{\"type\":\"mode\"}}\n"),
            Ok(Relation::Extends),
        ),
        (
            "metadata rewritten by an update",
            |text| text.replace("\"normal\"", "\"ordinary\""),
            Ok(Relation::Rewritten),
        ),
        ("empty", |_| String::new(), Err(FailureCode::Damaged)),
        ("no whole line", |text| text[..20].to_owned(), Err(FailureCode::Damaged)),
        ("shorter", |text| text[..text.len() / 2].to_owned(), Err(FailureCode::Damaged)),
        (
            "shorter, with every message that was saved",
            |text| without_lines(text, |line| !is_message(line) || line.contains("000000000005")),
            Err(FailureCode::Damaged),
        ),
        ("zeros", |text| "\0".repeat(text.len()), Err(FailureCode::Damaged)),
        (
            "metadata only",
            |text| without_lines(text, is_message).repeat(9),
            Err(FailureCode::Damaged),
        ),
        (
            "a message missing in the middle",
            |text| without_lines(text, |line| line.contains("000000000002")) + &"x\n".repeat(200),
            Err(FailureCode::Damaged),
        ),
        (
            "a broken line in the saved part",
            |text| text.replacen("\"normal\"", "\"normal", 1) + "{}\n",
            Err(FailureCode::Damaged),
        ),
        (
            "another conversation under the same id",
            |text| text.replace("00000000-0000-4000-8000-", "10000000-0000-4000-8000-"),
            Err(FailureCode::Damaged),
        ),
        (
            "a hole in what came later",
            |text| format!("{text}{{\"uuid\":\"b\",\"parentUuid\":\"nowhere\"}}\n"),
            Err(FailureCode::Damaged),
        ),
    ];
    for (what, edit, expected) in table {
        let (stage, saved) = saved_and_continued();
        let path = stage.record(&saved.id);
        check_edit(&stage, (&saved, &path), what, edit, expected);
    }
}

#[test]
fn d3_an_anchor_covers_whole_lines_and_grows() {
    let (stage, saved) = saved_and_continued();
    let path = stage.record(&saved.id);
    let whole = fs::metadata(&path).unwrap().len();
    let mut text = fs::read_to_string(&path).unwrap();
    text.push_str("{\"type\":\"mo");
    fs::write(&path, text).unwrap();
    let now = preflight(&stage, &saved).unwrap().now;
    assert!(matches!(now.extent, Extent::Lines { bytes, .. } if bytes == whole));
    assert_eq!(now.record, path);
    assert_eq!(now.user_messages, 3);
    assert_eq!(now.last_message.as_deref(), Some("00000000-0000-4000-8000-000000000006"));
    assert_eq!(anchor(&stage, &saved).unwrap(), now);
}

#[test]
fn c035_a_conversation_in_which_nobody_spoke_has_no_anchor() {
    let stage = ClaudeStage::new();
    let saved = stage.saved();
    assert_eq!(anchor(&stage, &saved).unwrap_err().code, FailureCode::Gone);
    let path = stage.record(&saved.id);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    // What /clear leaves behind.
    let cleared = concat!(
        r#"{"type":"mode","mode":"normal"}"#,
        "\n",
        r#"{"type":"user","uuid":"a","parentUuid":null,"isMeta":true,"message":{"content":"x"}}"#,
        "\n",
        r#"{"type":"user","uuid":"b","parentUuid":"a","message":{"content":"<command-name>/clear"}}"#,
        "\n"
    );
    for text in ["", "{", cleared] {
        fs::write(&path, text).unwrap();
        assert_eq!(anchor(&stage, &saved).unwrap_err().code, FailureCode::Gone, "{text}");
        assert_eq!(preflight(&stage, &saved).unwrap_err().code, FailureCode::Gone, "{text}");
    }
}

#[test]
fn c034_s1_31_a_conversation_without_a_record_is_refused() {
    let (mut stage, saved) = saved_and_continued();
    let id = saved.id.clone();
    stage.remove(&id);
    let refusal = preflight(&stage, &saved).unwrap_err();
    assert_eq!(refusal.code, FailureCode::Gone);
    assert!(refusal.message.contains("not on this machine") || refusal.message.contains(A));
    fs::remove_dir_all(stage.config()).unwrap();
    assert_eq!(preflight(&stage, &saved).unwrap_err().code, FailureCode::Gone);
    assert!(!stage.config().exists(), "a look changed something");
}

#[test]
fn c041_a_neighbours_newer_record_is_never_taken() {
    let (mut stage, saved) = saved_and_continued();
    stage.turn(&id(Z), "the neighbour's");
    let own = saved.id.clone();
    stage.remove(&own);
    assert_eq!(preflight(&stage, &saved).unwrap_err().code, FailureCode::Gone);
}

#[test]
fn s0_22_a_missing_program_is_named() {
    let (stage, saved) = saved_and_continued();
    let refusal = block_on(stage.adapter.preflight(&saved, &FakeHost::default())).unwrap_err();
    assert_eq!(refusal.code, FailureCode::BinaryMissing);
    assert!(refusal.message.contains("\"claude\""), "{refusal}");
}

#[test]
fn c055_a_moved_project_directory_is_named_and_nothing_is_lost() {
    let (stage, saved) = saved_and_continued();
    let moved = stage.dir.path().join("moved");
    fs::rename(stage.cwd(), &moved).unwrap();
    let refusal = preflight(&stage, &saved).unwrap_err();
    assert_eq!(refusal.code, FailureCode::CwdMissing);
    assert!(refusal.code.can_be_overridden());
    assert!(refusal.message.contains(stage.cwd().to_str().unwrap()), "{refusal}");
    // A file in its place is no directory either.
    fs::write(stage.cwd(), "").unwrap();
    let code = preflight(&stage, &saved).unwrap_err().code;
    assert_eq!(code, FailureCode::CwdMissing);
    fs::remove_file(stage.cwd()).unwrap();
    fs::rename(&moved, stage.cwd()).unwrap();
    assert_eq!(preflight(&stage, &saved).unwrap().relation, Relation::Extends);
}

#[test]
fn c056_records_are_found_under_the_saved_and_the_resolved_spelling() {
    let (stage, mut saved) = saved_and_continued();
    // The directory was moved and a link stands in its place.
    let moved = stage.dir.path().join("moved");
    fs::rename(stage.cwd(), &moved).unwrap();
    std::os::unix::fs::symlink(&moved, stage.cwd()).unwrap();
    assert_eq!(preflight(&stage, &saved).unwrap().relation, Relation::Extends);
    // Started through a link, Claude names the record after what it leads to.
    let link = stage.dir.path().join("link");
    std::os::unix::fs::symlink(&moved, &link).unwrap();
    let resolved = stage.record_in(&fs::canonicalize(&moved).unwrap(), &saved.id);
    fs::create_dir_all(resolved.parent().unwrap()).unwrap();
    fs::rename(stage.record(&saved.id), &resolved).unwrap();
    saved.cwd = link;
    assert_eq!(preflight(&stage, &saved).unwrap().now.record, resolved);
    // Also where a third project has a copy.
    let third = stage.record_in(Path::new("/third"), &saved.id);
    fs::create_dir_all(third.parent().unwrap()).unwrap();
    fs::copy(&resolved, third).unwrap();
    assert_eq!(preflight(&stage, &saved).unwrap().now.record, resolved);
}

#[test]
fn d3_a_record_in_one_other_project_is_found_and_in_two_is_refused() {
    let (stage, saved) = saved_and_continued();
    let elsewhere = |name: &str| stage.record_in(Path::new(name), &saved.id);
    for name in ["/else/one", "/else/two"] {
        fs::create_dir_all(elsewhere(name).parent().unwrap()).unwrap();
    }
    fs::rename(stage.record(&saved.id), elsewhere("/else/one")).unwrap();
    let found = preflight(&stage, &saved).unwrap();
    assert_eq!(found.now.record, elsewhere("/else/one"));
    fs::copy(elsewhere("/else/one"), elsewhere("/else/two")).unwrap();
    let refusal = preflight(&stage, &saved).unwrap_err();
    assert_eq!(refusal.code, FailureCode::Unreadable);
    assert!(refusal.message.contains("-else-two"), "{refusal}");
    // Its own project's directory goes before others, as in Claude.
    fs::copy(elsewhere("/else/one"), stage.record(&saved.id)).unwrap();
    assert_eq!(preflight(&stage, &saved).unwrap().now.record, stage.record(&saved.id));
}

#[test]
fn d3_a_link_or_a_pipe_is_no_record() {
    let (stage, saved) = saved_and_continued();
    let path = stage.record(&saved.id);
    let aside = stage.dir.path().join("aside");
    fs::rename(&path, &aside).unwrap();
    std::os::unix::fs::symlink(&aside, &path).unwrap();
    assert_eq!(preflight(&stage, &saved).unwrap_err().code, FailureCode::Unreadable);
    fs::remove_file(&path).unwrap();
    fs::create_dir(&path).unwrap();
    assert_eq!(preflight(&stage, &saved).unwrap_err().code, FailureCode::Unreadable);
    // A linked config directory is what people have.
    fs::remove_dir(&path).unwrap();
    fs::rename(&aside, &path).unwrap();
    let real = stage.dir.path().join("dotfiles");
    fs::rename(stage.config(), &real).unwrap();
    std::os::unix::fs::symlink(&real, stage.config()).unwrap();
    assert!(preflight(&stage, &saved).is_ok());
}

#[test]
fn d3_no_cut_of_a_record_passes_for_the_saved_one() {
    let mut stage = ClaudeStage::new();
    let mut saved = stage.saved();
    stage.turn(&saved.id, "first");
    saved.anchor = Some(anchor(&stage, &saved).unwrap());
    let path = stage.record(&saved.id);
    let whole = fs::read(&path).unwrap();
    for length in 0..whole.len() {
        fs::write(&path, &whole[..length]).unwrap();
        let refusal = preflight(&stage, &saved).unwrap_err();
        assert_eq!(refusal.code, FailureCode::Damaged, "{length}");
    }
    for at in 0..whole.len() {
        let mut changed = whole.clone();
        changed[at] ^= 1;
        fs::write(&path, &changed).unwrap();
        let extends = preflight(&stage, &saved).is_ok_and(|f| f.relation == Relation::Extends);
        assert!(!extends, "byte {at}");
    }
}

#[test]
fn d23_c058_the_record_says_in_which_directory_it_goes_on() {
    check_directory(ClaudeStage::new());
}
