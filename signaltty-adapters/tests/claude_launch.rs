//! What is added to a Claude when it is launched.
#![cfg(all(feature = "testing", feature = "claude", feature = "codex", feature = "grok"))]
#![allow(clippy::unwrap_used, clippy::panic, reason = "test code")]

use std::ffi::OsString;
use std::path::Path;

use serde_json::Value;
use signaltty_adapters::{
    AgentAdapter, ClaudeAdapter, Integration, Launch, LaunchContext, PreparedLaunch,
};
use signaltty_core::id::InstanceId;

fn prepare(argv: &[&str], env: &[(&str, &str)], hook_program: &str) -> PreparedLaunch {
    let launch = Launch {
        argv: argv.iter().map(OsString::from).collect(),
        env: env.iter().map(|(name, value)| (name.into(), value.into())).collect(),
    };
    let context = LaunchContext {
        cwd: Path::new("/"),
        runtime_dir: Path::new("/run/signaltty"),
        hook_program: Path::new(hook_program),
        instance: InstanceId::fake(7),
        secret: "",
        loopback_port: None,
    };
    ClaudeAdapter::new().prepare_launch(launch, &context).unwrap()
}

const PLUGIN: &str = "/run/signaltty/claude-0000000000000000-7";

#[test]
fn d12_hooks_are_added_before_everything_that_the_user_wrote() {
    for argv in [
        &["claude"][..],
        &["claude", "--resume", "aaaaaaaa-0000-4000-8000-000000000001"],
        &["/usr/bin/claude", "fix the mcp server"],
        &["claude", "--add-dir", "mcp", "doctor", "--", "mcp"],
        &["claude", "--model", "mcp", "fix it"],
        &["claude", "--append-system-prompt", "--print", "go"],
        &["claude", "--append-system-prompt=--print"],
        &["claude", "-r", "title"],
        &["claude", "-c", "--verbose"],
        &["claude", "-n", "-p"],
        &["claude", "-d", "api"],
        &["claude", "--", "--settings"],
        &["claude", "two", "mcp"],
        // Rules of a person's or a wrapper's are theirs.
        &["claude", "--settings", "mine.json"],
        &["claude", "--settings={}", "--plugin-dir", "mine"],
        &["claude", "fix it", "--settings", "mine.json"],
    ] {
        let prepared = prepare(argv, &[], "/bin/signaltty");
        let (program, rest) = argv.split_first().unwrap();
        let expected: Vec<&str> =
            [*program, "--plugin-dir", PLUGIN].into_iter().chain(rest.iter().copied()).collect();
        assert_eq!(prepared.launch.argv, expected);
        assert_eq!(prepared.integration, Integration::Injected, "{argv:?}");
        assert_eq!(prepared.files.len(), 1);
    }
}

#[test]
fn d12_settings_that_turn_all_hooks_off_are_named_where_they_decide() {
    let home = tempfile::tempdir().unwrap();
    let dir = |name: &str| {
        let dir = home.path().join(name);
        std::fs::create_dir_all(&dir).unwrap();
        dir
    };
    let (own, project) = (dir("own"), dir("project/.claude"));
    let write = |file: &Path, off: bool| {
        std::fs::write(file, format!("{{\"disableAllHooks\": {off}}}")).unwrap();
    };
    let launched = |more: &[(&str, &Path)]| {
        let launch = Launch {
            argv: vec!["claude".into()],
            env: more.iter().map(|(name, dir)| (name.into(), dir.as_os_str().into())).collect(),
        };
        let context = LaunchContext {
            runtime_dir: Path::new("/run/signaltty"),
            hook_program: Path::new("/bin/signaltty"),
            cwd: &home.path().join("project"),
            instance: InstanceId::fake(7),
            secret: "",
            loopback_port: None,
        };
        ClaudeAdapter::new().prepare_launch(launch, &context).unwrap()
    };
    let config = [("CLAUDE_CONFIG_DIR", own.as_path())];
    assert_eq!(launched(&config).integration, Integration::Injected);

    write(&own.join("settings.json"), true);
    let prepared = launched(&config);
    let Integration::Needed(what) = &prepared.integration else { panic!("{prepared:?}") };
    assert!(what.contains("disableAllHooks") && what.contains("own/settings.json"), "{what}");
    assert_eq!(prepared.launch.argv, ["claude"], "nothing is added in vain");
    // Of another home it says nothing, and the home decides where nothing else is set.
    assert_eq!(launched(&[("HOME", &own)]).integration, Integration::Injected);
    write(&dir("own/.claude").join("settings.json"), true);
    assert!(matches!(launched(&[("HOME", &own)]).integration, Integration::Needed(_)));

    // A project's settings come first, and its local ones before those.
    write(&project.join("settings.json"), false);
    assert_eq!(launched(&config).integration, Integration::Injected);
    write(&project.join("settings.local.json"), true);
    let Integration::Needed(what) = launched(&[]).integration else { panic!("not said") };
    assert!(what.contains("settings.local.json"), "{what}");
}

#[test]
fn d12_what_the_user_set_is_left_alone_and_named() {
    for (argv, env, named) in [
        (&["claude", "--bare"][..], &[][..], "--bare"),
        (&["claude", "fix it", "--bare"], &[], "--bare"),
        (&["claude", "--settings", "{\"disableAllHooks\": true}"], &[], "disableAllHooks"),
        (&["claude", "--settings={\"disableAllHooks\":true}", "go"], &[], "disableAllHooks"),
        (&["claude", "--safe-mode", "go"], &[], "--safe-mode"),
        (&["claude"], &[("CLAUDE_CODE_SIMPLE", "1")], "--bare"),
        (&["claude"], &[("CLAUDE_CODE_SAFE_MODE", "1")], "--safe-mode"),
    ] {
        let prepared = prepare(argv, env, "/bin/signaltty");
        assert_eq!(prepared.launch.argv, argv, "{argv:?}");
        assert!(prepared.files.is_empty());
        let Integration::Needed(text) = prepared.integration else {
            panic!("{argv:?}: {:?}", prepared.integration);
        };
        assert!(text.contains(named), "{text}");
    }
}

#[test]
fn d12_runs_without_a_conversation_in_the_terminal_are_left_alone() {
    for argv in [
        &["claude", "mcp", "list"][..],
        &["claude", "--verbose", "mcp", "list"],
        &["claude", "--model", "x", "update"],
        &["claude", "-p", "hello"],
        &["claude", "hello", "-p"],
        &["claude", "-cp"],
        &["claude", "--print", "--settings", "mine.json"],
        &["claude", "--version"],
        &["claude", "-h"],
        &["claude", "-r", "-p", "go"],
        &["claude", "--bg", "go"],
    ] {
        let prepared = prepare(argv, &[], "/bin/signaltty");
        assert_eq!(prepared.launch.argv, argv);
        assert_eq!(prepared.integration, Integration::None, "{argv:?}");
        assert!(prepared.files.is_empty());
    }
}

#[test]
fn d12_the_hook_command_survives_the_shell() {
    for program in ["/bin/signaltty", "/opt/my tools/$HOME/it's `x`\"\\;&/signaltty"] {
        let prepared = prepare(&["claude"], &[], program);
        let file = prepared.files.first().unwrap();
        assert_eq!(file.path, Path::new(PLUGIN).join(".claude-plugin/plugin.json"));
        let plugin: Value = serde_json::from_slice(&file.contents).unwrap();
        assert_eq!(plugin.get("name").unwrap(), "signaltty");
        let hooks = plugin.get("hooks").unwrap().as_object().unwrap();
        let mut events: Vec<_> = hooks.keys().map(String::as_str).collect();
        events.sort_unstable();
        let expected = [
            "Notification",
            "PermissionRequest",
            "SessionEnd",
            "SessionStart",
            "Stop",
            "UserPromptSubmit",
        ];
        assert_eq!(events, expected);
        for hook in hooks.values() {
            let command = hook.pointer("/0/hooks/0/command").unwrap().as_str().unwrap();
            // A shell splits it into exactly the program and two words.
            let script = format!("printf '%s\\n' {command}");
            let output = std::process::Command::new("/bin/sh").args(["-c", &script]).output();
            let words = String::from_utf8(output.unwrap().stdout).unwrap();
            assert_eq!(words, format!("{program}\nhook\nclaude\n"));
        }
    }
}

#[test]
fn d22_the_program_is_known_by_the_paths_that_its_launchers_use() {
    let adapter = ClaudeAdapter::new();
    for (program, ours) in [
        ("claude", true),
        ("/usr/local/bin/claude", true),
        ("/npm/node_modules/@anthropic-ai/claude-code/bin/claude.exe", true),
        ("/home/u/.local/share/claude/versions/2.1.332", true),
        ("/home/u/.local/share/other/versions/2.1.332", false),
        ("/home/u/claude/notes", false),
        ("/home/u/claude.txt", false),
    ] {
        assert_eq!(adapter.recognises(&[program.into()]), ours, "{program}");
    }
    assert!(!adapter.recognises(&[]));
}
