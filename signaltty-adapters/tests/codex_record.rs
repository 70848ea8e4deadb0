//! Codex's records: preflight and anchors, before anything starts.
#![cfg(all(feature = "testing", feature = "claude", feature = "codex", feature = "grok"))]
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "test code")]

mod common;

use std::fs;
use std::path::Path;

use common::codex::CodexStage;
use common::record::{anchor, check_directory, check_edit, code, continued, host, preflight};
use common::{A, Z, id};
use serde_json::json;
use signaltty_adapters::conformance::Stage;
use signaltty_adapters::testing::{FakeHost, block_on};
use signaltty_adapters::{Adapters, AgentAdapter};
use signaltty_core::agent::{Anchor, Conversation, Extent, Relation};
use signaltty_core::restore::FailureCode;

fn saved_and_continued() -> (CodexStage, Conversation) {
    continued(CodexStage::new())
}

/// A conversation of one turn, and a fork of it that was saved.
fn saved_fork() -> (CodexStage, Conversation) {
    let mut stage = CodexStage::new();
    let (parent, fork) = (id(A), id(Z));
    stage.turn(&parent, "before the fork");
    stage.begin(&fork, Some(&parent));
    stage.turn(&fork, "after the fork");
    let mut saved = stage.conversation(fork);
    saved.anchor = Some(anchor(&stage, &saved).unwrap());
    (stage, saved)
}

#[test]
fn s0_20_the_official_command_is_exact() {
    let stage = CodexStage::new();
    let command = stage.adapter.resume_command(&stage.saved()).unwrap();
    assert_eq!(command.argv(), ["codex", "resume", "--no-daemon", A]);
}

#[test]
fn s1_18_c049_ids_of_another_form_reach_no_command_and_no_file() {
    let stage = CodexStage::new();
    for text in ["planb", "ses_0123456789abcdefghijklmnop", &A.to_uppercase(), &A[1..], "x"] {
        let saved = stage.conversation(id(text));
        assert!(stage.adapter.resume_command(&saved).is_err(), "{text}");
        assert_eq!(code(&stage, &saved), FailureCode::MalformedId);
        assert_eq!(anchor(&stage, &saved).unwrap_err().code, FailureCode::MalformedId);
    }
    for text in ["", "--last", "../x", "a\u{1b}b"] {
        assert!(stage.adapter.parse_id(text).is_err(), "{text:?}");
    }
}

#[test]
fn s0_39_the_home_is_the_identity_variable() {
    let adapters = Adapters::builtin();
    let codex = adapters.of(&"codex".parse().unwrap()).unwrap();
    assert_eq!(codex.spec().identity_vars, ["CODEX_HOME"]);
    assert!(codex.spec().scrubbed_vars.contains(&"CODEX_THREAD_ID"));
    assert!(!codex.spec().scrubbed_vars.contains(&"CODEX_HOME"));
    // Without the variable, the records are below the home directory.
    let mut stage = CodexStage::new();
    let mut saved = stage.saved();
    stage.turn(&saved.id, "first");
    fs::rename(stage.home(), stage.dir.path().join(".codex")).unwrap();
    saved.config_env = Default::default();
    let mut host = host(&stage);
    host.home = Some(stage.dir.path().to_owned());
    assert!(block_on(stage.adapter.anchor(&saved, &host)).is_ok());
}

fn without_line(text: &str, at: usize) -> String {
    let lines = text.lines().enumerate().filter(|(line, _)| *line != at);
    lines.map(|(_, line)| format!("{line}\n")).collect()
}

#[test]
fn d3_what_extends_the_anchor_goes_on_and_nothing_else() {
    type Edit = fn(&str) -> String;
    let table: [(&str, Edit, Result<Relation, FailureCode>); 13] = [
        ("unchanged", str::to_owned, Ok(Relation::Extends)),
        ("a cut last line", |text| format!("{text}{{\"ordinal\""), Ok(Relation::Extends)),
        (
            "a cut last line that was ended, its number given to the next",
            |text| {
                let count = text.lines().count();
                format!("{text}{{\"ordinal\":{count}\n{{\"ordinal\":{count},\"type\":\"x\"}}\n")
            },
            Ok(Relation::Extends),
        ),
        (
            "data rewritten by an update",
            |text| text.replace("\"paginated\"", "\"paged\", \"more\":1"),
            Ok(Relation::Rewritten),
        ),
        ("empty", |_| String::new(), Err(FailureCode::Damaged)),
        ("shorter", |text| text[..text.len() / 2].to_owned(), Err(FailureCode::Damaged)),
        (
            "the first line only",
            |text| format!("{}\n", text.lines().next().unwrap()),
            Err(FailureCode::Damaged),
        ),
        (
            "the first line, and as much as there was of nothing",
            |text| {
                let rest = "{\"type\":\"x\"}\n".repeat(text.len() / 10);
                format!("{}\n{rest}", text.lines().next().unwrap())
            },
            Err(FailureCode::Damaged),
        ),
        ("zeros", |text| "\0".repeat(text.len()), Err(FailureCode::Damaged)),
        ("a line lost in the saved part", |text| without_line(text, 4), Err(FailureCode::Damaged)),
        (
            "a line lost in what came later",
            |text| without_line(text, 13),
            Err(FailureCode::Damaged),
        ),
        ("another conversation's data", |text| text.replacen(A, Z, 2), Err(FailureCode::Damaged)),
        (
            "another conversation under the same id",
            |text| text.replace("msg_", "msx_").replace("item_a", "itex_a"),
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
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, format!("{text}{{\"ordinal\":99")).unwrap();
    let now = preflight(&stage, &saved).unwrap().now;
    assert!(matches!(now.extent, Extent::Lines { bytes, .. } if bytes == whole));
    assert_eq!((&now.record, now.user_messages, &now.base), (&path, 3, &None));
    assert!(now.last_message.as_deref().unwrap().starts_with("msg_"));
    assert_eq!(anchor(&stage, &saved).unwrap(), now);
}

#[test]
fn c035_a_conversation_in_which_nobody_spoke_has_no_anchor() {
    let mut stage = CodexStage::new();
    let saved = stage.saved();
    assert_eq!(anchor(&stage, &saved).unwrap_err().code, FailureCode::Gone);
    stage.begin(&saved.id, None);
    stage.event(&saved.id, "thread_settings_applied");
    assert_eq!(anchor(&stage, &saved).unwrap_err().code, FailureCode::Gone);
    assert_eq!(code(&stage, &saved), FailureCode::Gone);
}

#[test]
fn c034_s1_31_a_conversation_without_a_record_is_refused() {
    let (mut stage, saved) = saved_and_continued();
    // A neighbour's newer record is never taken (C041).
    stage.turn(&id(Z), "the neighbour's");
    let archive = stage.home().join("archived_sessions");
    fs::create_dir(&archive).unwrap();
    let path = stage.record(&saved.id);
    fs::rename(&path, archive.join(path.file_name().unwrap())).unwrap();
    let refusal = preflight(&stage, &saved).unwrap_err();
    assert_eq!(refusal.code, FailureCode::Gone);
    assert!(refusal.message.contains(&format!("codex unarchive {A}")), "{refusal}");
    fs::remove_dir_all(archive).unwrap();
    let refusal = preflight(&stage, &saved).unwrap_err();
    assert_eq!(refusal.code, FailureCode::Gone);
    assert!(refusal.message.contains(A), "{refusal}");
    fs::remove_dir_all(stage.home()).unwrap();
    assert_eq!(code(&stage, &saved), FailureCode::Gone);
    assert!(!stage.home().exists(), "a look changed something");
}

#[test]
fn d3_one_conversation_has_one_rollout_anywhere_below_the_days() {
    let (stage, saved) = saved_and_continued();
    let name = stage.record(&saved.id).file_name().unwrap().to_owned();
    let other = stage.home().join("sessions/2025/01/02").join(name);
    fs::create_dir_all(other.parent().unwrap()).unwrap();
    fs::rename(stage.record(&saved.id), &other).unwrap();
    assert_eq!(preflight(&stage, &saved).unwrap().now.record, other);
    fs::copy(&other, stage.record(&saved.id)).unwrap();
    assert_eq!(code(&stage, &saved), FailureCode::Unreadable);
    fs::remove_file(&other).unwrap();
    std::os::unix::fs::symlink(stage.record(&saved.id), &other).unwrap();
    assert_eq!(code(&stage, &saved), FailureCode::Unreadable);
}

#[test]
fn s0_22_a_missing_program_is_named() {
    let (stage, saved) = saved_and_continued();
    let refusal = block_on(stage.adapter.preflight(&saved, &FakeHost::default())).unwrap_err();
    assert_eq!(refusal.code, FailureCode::BinaryMissing);
    assert!(refusal.message.contains("\"codex\""), "{refusal}");
}

#[test]
fn c055_c056_the_directory_must_be_the_conversations_and_be_there() {
    let (stage, mut saved) = saved_and_continued();
    let moved = stage.dir.path().join("moved");
    fs::rename(stage.cwd(), &moved).unwrap();
    assert_eq!(code(&stage, &saved), FailureCode::CwdMissing);
    // A link in its place leads to the same directory, in either spelling.
    std::os::unix::fs::symlink(&moved, stage.cwd()).unwrap();
    assert!(preflight(&stage, &saved).is_ok());
    saved.cwd = moved;
    assert!(preflight(&stage, &saved).is_ok());
    saved.cwd = stage.dir.path().to_owned();
    let refusal = preflight(&stage, &saved).unwrap_err();
    assert_eq!(refusal.code, FailureCode::Damaged);
    assert!(refusal.message.contains(stage.cwd().to_str().unwrap()), "{refusal}");
}

#[test]
fn c055_a_renamed_directory_is_accepted_once_and_for_all() {
    let (mut stage, mut saved) = saved_and_continued();
    let (before, renamed) = (stage.cwd(), stage.dir.path().join("renamed"));
    fs::rename(&before, &renamed).unwrap();
    saved.cwd = renamed.clone();
    // Its person names it, and the record is the same.
    assert_eq!(preflight(&stage, &saved).unwrap().relation, Relation::Extends);
    assert!(anchor(&stage, &saved).is_ok());
    // As Codex notes a turn that began there, whatever is in the old place.
    stage.line(&id(A), "turn_context", &json!({"cwd": renamed}));
    stage.turn(&id(A), "fourth");
    fs::create_dir(&before).unwrap();
    assert_eq!(preflight(&stage, &saved).unwrap().relation, Relation::Extends);
    saved.cwd = stage.dir.path().to_owned();
    let refusal = preflight(&stage, &saved).unwrap_err();
    assert_eq!(refusal.code, FailureCode::Damaged);
    assert!(refusal.message.contains(&format!("--cwd {}", renamed.display())), "{refusal}");
}

#[test]
fn c055_a_resume_says_where_it_goes_on() {
    let stage = CodexStage::new();
    let option = stage.adapter.spec().resume_directory.unwrap();
    let command = stage.adapter.resume_command(&stage.saved()).unwrap();
    let command = command.with_directory(option, "/a b".as_ref());
    assert_eq!(command.argv(), ["codex", "resume", "--no-daemon", "-C", "/a b", A]);
}

/// A file in one frame of zstd, of blocks as they are.
fn pack(path: &Path) {
    let bytes = fs::read(path).unwrap();
    let mut packed = vec![0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x58];
    let mut blocks = bytes.chunks(1 << 16).peekable();
    while let Some(block) = blocks.next() {
        let header = u32::try_from(block.len()).unwrap() << 3 | u32::from(blocks.peek().is_none());
        packed.extend(&header.to_le_bytes()[..3]);
        packed.extend(block);
    }
    fs::write(path.with_extension("jsonl.zst"), packed).unwrap();
    fs::remove_file(path).unwrap();
}

#[test]
fn d3_a_packed_rollout_is_the_same_record() {
    let (stage, saved) = saved_and_continued();
    let (path, plain) = (stage.record(&id(A)), preflight(&stage, &saved).unwrap());
    let text = fs::read(&path).unwrap();
    pack(&path);
    let found = preflight(&stage, &saved).unwrap();
    let same = |of: &Anchor| (of.record.clone(), of.extent.clone(), of.user_messages);
    assert_eq!(found.relation, Relation::Extends);
    assert_eq!(same(&found.now), same(&plain.now), "by the name that it has when it is open");
    assert_eq!(same(&anchor(&stage, &saved).unwrap()), same(&plain.now));
    // Side by side, as while Codex opens it.
    fs::write(&path, &text).unwrap();
    assert_eq!(same(&preflight(&stage, &saved).unwrap().now), same(&plain.now));
    fs::remove_file(&path).unwrap();
    let packed = path.with_extension("jsonl.zst");
    let bytes = fs::read(&packed).unwrap();
    fs::write(&packed, &bytes[..bytes.len() - 9]).unwrap();
    let refusal = preflight(&stage, &saved).unwrap_err();
    assert_eq!(refusal.code, FailureCode::Unreadable, "not gone");
    assert!(refusal.message.contains("cannot be unpacked"), "{refusal}");
}

#[test]
fn d3_the_beginning_of_a_fork_may_be_packed() {
    let (stage, saved) = saved_fork();
    pack(&stage.record(&id(A)));
    assert_eq!(preflight(&stage, &saved).unwrap().relation, Relation::Extends);
}

#[test]
fn d3_the_anchor_of_a_fork_includes_its_parents_part() {
    let (mut stage, saved) = saved_fork();
    let parent = stage.record(&id(A));
    let found = saved.anchor.clone().unwrap();
    let base = found.base.as_deref().unwrap();
    assert_eq!((found.user_messages, base.user_messages), (2, 1));
    assert_eq!(base.record, parent);
    let at_fork = fs::metadata(&parent).unwrap().len();
    assert!(matches!(base.extent, Extent::Lines { bytes, .. } if bytes == at_fork));
    // The parent may go on by itself.
    stage.turn(&id(A), "in the parent");
    assert_eq!(preflight(&stage, &saved).unwrap().relation, Relation::Extends);
    assert_eq!(anchor(&stage, &saved).unwrap(), found);
    let whole = fs::read_to_string(&parent).unwrap();
    for (what, text) in [
        ("cut", whole[..whole.len() / 3].to_owned()),
        ("its first line only", format!("{}\n", whole.lines().next().unwrap())),
        ("a line lost", without_line(&whole, 3)),
        ("empty", String::new()),
    ] {
        fs::write(&parent, text).unwrap();
        assert_eq!(code(&stage, &saved), FailureCode::Damaged, "{what}");
        assert_eq!(anchor(&stage, &saved).unwrap_err().code, FailureCode::Damaged, "{what}");
    }
    // Every message is there, and not every byte: by hand only.
    fs::write(&parent, whole.replacen("before", "behind", 1)).unwrap();
    assert_eq!(preflight(&stage, &saved).unwrap().relation, Relation::Rewritten);
    assert_eq!(anchor(&stage, &saved).unwrap_err().code, FailureCode::Rewritten);
    fs::remove_file(&parent).unwrap();
    assert_eq!(code(&stage, &saved), FailureCode::Damaged);
    fs::write(&parent, whole).unwrap();
    assert!(preflight(&stage, &saved).is_ok());
}

#[test]
fn d3_a_fork_in_which_nobody_spoke_yet_has_its_parents_history() {
    let mut stage = CodexStage::new();
    stage.turn(&id(A), "before the fork");
    stage.begin(&id(Z), Some(&id(A)));
    let found = anchor(&stage, &stage.conversation(id(Z))).unwrap();
    assert_eq!(found.user_messages, 1);
    assert!(found.base.is_some());
}

#[test]
fn d3_a_fork_of_a_fork_is_followed_to_the_beginning_and_never_around() {
    let (mut stage, saved) = saved_fork();
    let third = id("cccccccc-0000-4000-8000-000000000003");
    stage.begin(&third, Some(&saved.id));
    stage.turn(&third, "in the third");
    let mut of_third = stage.conversation(third.clone());
    let found = anchor(&stage, &of_third).unwrap();
    assert_eq!(found.user_messages, 3);
    assert!(found.base.as_ref().unwrap().base.is_some());
    // It goes on from the saved fork, and not from another conversation.
    of_third.anchor = saved.anchor.clone();
    assert_eq!(preflight(&stage, &of_third).unwrap().relation, Relation::Extends);
    stage.turn(&id("dddddddd-0000-4000-8000-000000000004"), "something else");
    let mut stranger = stage.conversation(id("dddddddd-0000-4000-8000-000000000004"));
    stranger.anchor = saved.anchor.clone();
    assert_eq!(code(&stage, &stranger), FailureCode::Damaged);
    // A parent without the rest of the line is not enough either.
    stranger.anchor = Some(Anchor { base: None, ..saved.anchor.clone().unwrap() });
    assert_eq!(
        preflight(&stage, &Conversation { id: saved.id.clone(), ..stranger }).unwrap_err().code,
        FailureCode::Damaged
    );
    let text = fs::read_to_string(stage.record(&id(A))).unwrap();
    let base = format!(
        "\"history_base\":{{\"thread_id\":\"{Z}\",\"end_ordinal_exclusive\":0,\
         \"end_byte_offset\":9}},\"cwd\""
    );
    fs::write(stage.record(&id(A)), text.replacen("\"cwd\"", &base, 1)).unwrap();
    assert_eq!(code(&stage, &saved), FailureCode::Damaged);
}

#[test]
fn d3_a_record_without_numbers_is_read_too() {
    let mut stage = CodexStage::new();
    let mut saved = stage.saved();
    for text in ["first", "second"] {
        stage.turn(&saved.id, text);
        stage.event(&saved.id, "user_message");
    }
    let path = stage.record(&saved.id);
    let text = fs::read_to_string(&path).unwrap();
    let older = text.lines().filter(|line| !line.contains("item_completed")).map(|line| {
        let mut line: serde_json::Value = serde_json::from_str(line).unwrap();
        line.as_object_mut().unwrap().remove("ordinal");
        format!("{line}\n")
    });
    fs::write(&path, older.collect::<String>()).unwrap();
    let found = anchor(&stage, &saved).unwrap();
    assert_eq!(found.user_messages, 2);
    saved.anchor = Some(found);
    assert_eq!(preflight(&stage, &saved).unwrap().relation, Relation::Extends);
}

#[test]
fn d3_no_cut_and_no_change_of_a_record_passes_for_the_saved_one() {
    let mut stage = CodexStage::new();
    let mut saved = stage.saved();
    stage.turn(&saved.id, "first");
    saved.anchor = Some(anchor(&stage, &saved).unwrap());
    let path = stage.record(&saved.id);
    let whole = fs::read(&path).unwrap();
    for length in (0..whole.len()).step_by(3) {
        fs::write(&path, &whole[..length]).unwrap();
        assert_eq!(code(&stage, &saved), FailureCode::Damaged, "{length}");
    }
    for at in (0..whole.len()).step_by(3) {
        let mut changed = whole.clone();
        changed[at] ^= 1;
        fs::write(&path, &changed).unwrap();
        let extends = preflight(&stage, &saved).is_ok_and(|f| f.relation == Relation::Extends);
        assert!(!extends, "byte {at}");
    }
}

#[test]
fn d23_c058_the_record_says_in_which_directory_it_goes_on() {
    check_directory(CodexStage::new());
}
