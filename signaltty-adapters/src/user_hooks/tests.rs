//! What an edit does to documents of people.

use serde_json::{Value, json};

use super::*;

const CLAUDE: UserHooks = UserHooks {
    adds: "",
    note: None,
    file: UserFile { chosen: Some(("DIR", "settings.json")), below_home: ".claude/settings.json" },
    form: HookForm::Entries(HookEntries {
        agent: "claude",
        events: &[("SessionStart", 5), ("Stop", 5)],
        grouped: true,
        off: Some("disableAllHooks"),
        version: None,
    }),
};

const CURSOR: UserHooks = UserHooks {
    form: HookForm::Entries(HookEntries {
        agent: "cursor",
        events: &[("sessionStart", 5), ("stop", 5)],
        grouped: false,
        off: None,
        version: Some(1),
    }),
    ..CLAUDE
};

const PROGRAM: &str = "/opt/it's/signaltty";

/// Two foreign groups of one event, another event, unknown keys, an order that
/// no printer would choose.
const FOREIGN: &str = r#"{
    "zeta": 1.50,
    "hooks": {
        "SessionStart": [
            { "hooks": [ {"type": "command", "command": "echo a"} ] },
            { "matcher": "startup|resume",
              "hooks": [ {"command": "echo b", "type": "command"}, {"type": "prompt"} ] }
        ],
        "PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "guard"}]}]
    },
    "model": "x", "$schema": "s", "env": {"b": "\u00e9", "a": ""}
}
"#;

fn install(hooks: &UserHooks, text: &str) -> String {
    hooks.install(Some(text), PROGRAM).unwrap().expect("something to install")
}

fn remove(hooks: &UserHooks, text: &str) -> String {
    match hooks.remove(text).unwrap() {
        Removed::Text(text) => text,
        other => panic!("{other:?}"),
    }
}

/// The lines of `before`, in order, that `after` does not have.
fn lost(before: &str, after: &str) -> Vec<String> {
    let mut after = after.lines().map(|line| line.trim_end_matches(','));
    let kept = |line: &&str| !after.by_ref().any(|other| other == line.trim_end_matches(','));
    before.lines().filter(kept).map(str::to_owned).collect()
}

#[test]
fn c109_only_our_entries_are_added_and_a_second_time_nothing() {
    let after = install(&CLAUDE, FOREIGN);
    assert_eq!(lost(FOREIGN, &after), Vec::<String>::new(), "{after}");
    let (before, mut value): (Value, Value) =
        (serde_json::from_str(FOREIGN).unwrap(), serde_json::from_str(&after).unwrap());
    let ours = json!({"hooks": [{
        "type": "command", "timeout": 5,
        "command": r"'/opt/it'\''s/signaltty' hook claude --owner=signaltty-integration || true",
    }]});
    let start = value["hooks"]["SessionStart"].as_array_mut().unwrap();
    assert_eq!(start.pop().unwrap(), ours);
    let hooks = value["hooks"].as_object_mut().unwrap();
    assert_eq!(hooks.remove("Stop").unwrap(), json!([ours]));
    assert_eq!(value, before);
    assert_eq!(CLAUDE.install(Some(&after), PROGRAM), Ok(None));
    assert_eq!(CLAUDE.state(Some(&after), PROGRAM), Ok(HookState::Installed));
    assert_eq!(CLAUDE.state(Some(FOREIGN), PROGRAM), Ok(HookState::Absent));
    assert_eq!(CLAUDE.state(None, PROGRAM), Ok(HookState::Absent));
}

#[test]
fn c110_only_ours_is_removed_also_out_of_a_mixed_group() {
    let back = remove(&CLAUDE, &install(&CLAUDE, FOREIGN));
    assert_eq!(back, FOREIGN);
    assert_eq!(CLAUDE.remove(FOREIGN), Ok(Removed::Nothing));

    // A person moved our command into a group of theirs.
    let mixed = FOREIGN.replace(
        r#"{"type": "prompt"} ]"#,
        r#"{"type": "prompt"}, {"type": "command", "command": "x --owner=signaltty-integration"} ]"#,
    );
    let back = remove(&CLAUDE, &install(&CLAUDE, &mixed));
    let (back, before): (Value, Value) =
        (serde_json::from_str(&back).unwrap(), serde_json::from_str(FOREIGN).unwrap());
    assert_eq!(back, before);

    // A group with a matcher is a person's, also when nothing is left in it.
    let theirs = r#"{"hooks": {"Stop": [{"matcher": "m", "hooks": [{"command": "--owner=signaltty-integration"}]}]}}"#;
    let back: Value = serde_json::from_str(&remove(&CLAUDE, theirs)).unwrap();
    assert_eq!(back, json!({"hooks": {"Stop": [{"matcher": "m", "hooks": []}]}}));
}

#[test]
fn c110_what_was_not_there_before_is_gone_again() {
    for before in [
        "{}",
        "{}\n",
        "{\n  \"a\": 1\n}\n",
        "{\n\t\"a\": [1],\n\t\"hooks\": {\n\t\t\"X\": []\n\t}\n}",
    ] {
        let back: Value =
            serde_json::from_str(&remove(&CLAUDE, &install(&CLAUDE, before))).unwrap();
        assert_eq!(back, serde_json::from_str::<Value>(before).unwrap());
    }
}

#[test]
fn c112_an_entry_with_another_path_is_recognised() {
    let installed = install(&CLAUDE, FOREIGN);
    for path in ["$HOME/bin/signaltty", "~/bin/signaltty", r#"\"$HOME\"/bin/signaltty"#] {
        let quoted = serde_json::to_string(&quoted(PROGRAM)).unwrap();
        let edited = installed.replace(quoted.trim_matches('"'), path);
        assert_ne!(edited, installed);
        assert_eq!(CLAUDE.install(Some(&edited), PROGRAM), Ok(None), "{path}");
        let state = CLAUDE.state(Some(&edited), PROGRAM).unwrap();
        assert!(matches!(&state, HookState::Changed(why) if why.contains("edited")), "{state:?}");
        assert_eq!(remove(&CLAUDE, &edited), FOREIGN, "{path}");
    }
    // One that a person took out is put back, and no other is doubled.
    let value: Value = serde_json::from_str(&installed).unwrap();
    let mut value = value;
    value["hooks"].as_object_mut().unwrap().remove("Stop");
    let less = value.to_string();
    let state = CLAUDE.state(Some(&less), PROGRAM).unwrap();
    assert_eq!(state, HookState::Changed("nothing of ours at Stop".to_owned()));
    assert_eq!(install(&CLAUDE, &less).matches(OWNER).count(), 2);
}

#[test]
fn c113_comments_commas_line_ends_and_marks_stay() {
    let commented = "// mine\n{\n  // why\n  \"a\": 1, // one\n  /* all */ \"hooks\": {\n    \
                     \"SessionStart\": [\n      // first\n      {\"hooks\": []}, // last\n    ],\n  \
                     },\n}\n// end\n";
    for text in
        [commented.to_owned(), commented.replace('\n', "\r\n"), format!("\u{feff}{commented}")]
    {
        let after = install(&CLAUDE, &text);
        assert_eq!(after.matches("//").count(), text.matches("//").count(), "{after}");
        assert_eq!(after.starts_with('\u{feff}'), text.starts_with('\u{feff}'));
        let ends = (after.matches("\r\n").count(), after.matches('\n').count());
        assert!(ends.0 == 0 && !text.contains('\r') || ends.0 == ends.1, "{after:?}");
        assert_eq!(CLAUDE.install(Some(&after), PROGRAM), Ok(None));
        assert_eq!(remove(&CLAUDE, &after), text);
    }
    // A comment of a person in what would be ours alone keeps it.
    let noted = install(&CLAUDE, "{}\n").replace("\"Stop\": [", "\"Stop\": [ // keep\n");
    assert!(remove(&CLAUDE, &noted).contains("// keep"));
}

#[test]
fn c113_what_is_no_document_is_refused() {
    for (text, says) in [
        ("", "is empty"),
        (" \n", "is empty"),
        ("\u{feff}", "is empty"),
        ("{", "not valid JSON"),
        ("{\"a\": 1} x", "not valid JSON"),
        ("{'a': 1}", "not valid JSON"),
        ("// nothing", "has nothing where an object"),
        ("[]", "has a list where an object"),
        ("\"x\"", "has a text where an object"),
        ("{\"hooks\": []}", "has a list as \"hooks\" where an object"),
        ("{\"hooks\": {\"Stop\": {}}}", "has an object at \"hooks.Stop\" where a list"),
        ("{\"hooks\": null}", "has a plain value as \"hooks\""),
        ("{\"hooks\": {}, \"hooks\": {}}", "has \"hooks\" 2 times"),
    ] {
        let refused = CLAUDE.install(Some(text), PROGRAM).unwrap_err().to_string();
        assert!(refused.contains(says), "{text:?}: {refused}");
    }
    let deep = "[".repeat(100_000);
    assert!(CLAUDE.install(Some(&deep), PROGRAM).is_err());
}

#[test]
fn cursors_entries_are_bare_commands_in_a_document_with_a_version() {
    let made = CURSOR.install(None, PROGRAM).unwrap().unwrap();
    let value: Value = serde_json::from_str(&made).unwrap();
    let command = json!([{"command": command(PROGRAM, "cursor")}]);
    assert_eq!(value, json!({"version": 1, "hooks": {"sessionStart": command, "stop": command}}));
    assert_eq!(CURSOR.install(Some(&made), PROGRAM), Ok(None));
    let theirs = r#"{"version": 1, "hooks": {"stop": [{"command": "./mine.sh"}]}}"#;
    let back: Value = serde_json::from_str(&remove(&CURSOR, &install(&CURSOR, theirs))).unwrap();
    assert_eq!(back, serde_json::from_str::<Value>(theirs).unwrap());
}

#[test]
fn a_file_of_ours_is_known_by_its_mark() {
    let hooks = UserHooks { form: HookForm::Whole(|p| format!("// {OWNER}\n{p}\n")), ..CLAUDE };
    let made = hooks.install(None, PROGRAM).unwrap().unwrap();
    assert_eq!(hooks.state(Some(&made), PROGRAM), Ok(HookState::Installed));
    assert_eq!(hooks.install(Some(&made), PROGRAM), Ok(None));
    assert_eq!(hooks.remove(&made), Ok(Removed::File));
    assert!(matches!(hooks.state(Some(&made), "/other"), Ok(HookState::Changed(_))));
    assert_eq!(hooks.install(Some("theirs"), PROGRAM), Err(HookFileError::Foreign));
    assert_eq!(hooks.remove("theirs"), Ok(Removed::Nothing));
}

#[test]
fn the_file_is_where_the_agent_looks() {
    let home = Path::new("/home/u");
    let with = |value: &'static str| CLAUDE.file.path(move |_| Some(value.into()), home);
    assert_eq!(with("/c"), Path::new("/c/settings.json"));
    assert_eq!(with("relative"), Path::new("/home/u/.claude/settings.json"));
    assert_eq!(CLAUDE.file.path(|_| None, home), Path::new("/home/u/.claude/settings.json"));
}

#[test]
fn d12_a_document_that_turns_all_hooks_off_says_so() {
    let on = r#"{"disableAllHooks": false}"#;
    let off = r#"{"disableAllHooks": true, "model": "x"}"#;
    assert_eq!(CLAUDE.state(Some(on), PROGRAM), Ok(HookState::Absent));
    assert_eq!(CLAUDE.state(Some(off), PROGRAM), Ok(HookState::Off("disableAllHooks")));
    let installed = CLAUDE.install(Some(off), PROGRAM).unwrap().unwrap();
    assert_eq!(CLAUDE.state(Some(&installed), PROGRAM), Ok(HookState::Off("disableAllHooks")));
    // Of another agent it says nothing.
    assert_eq!(CURSOR.state(Some(off), PROGRAM), Ok(HookState::Absent));
}
