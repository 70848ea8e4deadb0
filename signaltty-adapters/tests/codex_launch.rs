//! What is added to a Codex when it is launched.
#![cfg(all(feature = "testing", feature = "codex"))]
#![allow(clippy::unwrap_used, reason = "test code")]

use std::ffi::OsString;
use std::path::Path;

use signaltty_adapters::{
    AgentAdapter, CodexAdapter, Integration, Launch, LaunchContext, PreparedLaunch,
};
use signaltty_core::id::InstanceId;

fn prepare(argv: &[&str]) -> PreparedLaunch {
    let argv = argv.iter().map(OsString::from).collect();
    let context = LaunchContext {
        cwd: Path::new("/"),
        runtime_dir: Path::new("/run/signaltty"),
        hook_program: Path::new("/bin/signaltty"),
        instance: InstanceId::fake(7),
        secret: "",
        loopback_port: None,
    };
    CodexAdapter::new().prepare_launch(Launch { argv, env: Vec::new() }, &context).unwrap()
}

#[test]
fn d12_an_interactive_codex_is_kept_in_its_pane() {
    for (given, expected) in [
        ("codex", "codex --no-daemon"),
        ("/usr/bin/codex -m o3", "/usr/bin/codex --no-daemon -m o3"),
        ("codex mcp-like", "codex --no-daemon mcp-like"),
        ("codex -m exec", "codex --no-daemon -m exec"),
        ("codex -c exec=1 --enable mcp go", "codex --no-daemon -c exec=1 --enable mcp go"),
        ("codex -i a.png exec", "codex --no-daemon -i a.png exec"),
        ("codex -- exec", "codex --no-daemon -- exec"),
        ("codex -- --no-daemon", "codex --no-daemon -- --no-daemon"),
        ("codex fix exec", "codex --no-daemon fix exec"),
        ("codex resume --last", "codex resume --no-daemon --last"),
        ("codex -m o3 resume x", "codex -m o3 resume --no-daemon x"),
        ("codex fork", "codex fork --no-daemon"),
        ("codex agents", "codex agents --no-daemon"),
    ] {
        let given: Vec<_> = given.split(' ').collect();
        let prepared = prepare(&given);
        let expected: Vec<_> = expected.split(' ').collect();
        assert_eq!(prepared.launch.argv, expected);
        assert_eq!(prepared.integration, Integration::None);
        assert!(prepared.files.is_empty());
    }
}

#[test]
fn d12_everything_else_is_started_as_it_is() {
    for given in [
        "codex --no-daemon",
        "codex resume --no-daemon aaaaaaaa-0000-4000-8000-000000000001",
        "codex fix it --no-daemon",
        "codex exec go",
        "codex e go",
        "codex -m o3 exec resume x",
        "codex review",
        "codex mcp list",
        "codex app-server --listen unix://x",
        "codex login",
        "codex --config a=b doctor",
        "codex help resume",
        "codex --version",
        "codex resume --help",
    ] {
        let given: Vec<_> = given.split(' ').collect();
        let prepared = prepare(&given);
        assert_eq!(prepared.launch.argv, given);
        assert_eq!(prepared.integration, Integration::None, "{given:?}");
    }
    assert!(prepare(&[]).launch.argv.is_empty());
}

#[test]
fn d12_a_script_that_has_the_option_keeps_it_and_gets_none_of_ours() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("codex");
    let path = file.to_str().unwrap();
    let no_daemon = "--no-daemon";
    std::fs::write(&file, "#!/bin/sh\nexec /opt/codex --no-daemon \"$@\"\n").unwrap();
    // In front of a command Codex takes it once, and behind one it counts anew.
    assert_eq!(prepare(&[path, "-m", "x"]).launch.argv, [path, "-m", "x"]);
    assert_eq!(prepare(&[path]).integration, Integration::None);
    assert_eq!(prepare(&[path, "resume", "x"]).launch.argv, [path, "resume", no_daemon, "x"]);
    std::fs::write(&file, "#!/bin/sh\nexec /opt/codex \"$@\"\n").unwrap();
    assert_eq!(prepare(&[path]).launch.argv, [path, no_daemon]);
}

#[test]
fn d12_a_server_that_the_user_chose_is_left_alone_and_named() {
    for given in ["codex --remote unix://x", "codex resume x --remote=ws://y"] {
        let given: Vec<_> = given.split(' ').collect();
        let prepared = prepare(&given);
        assert_eq!(prepared.launch.argv, given);
        let Integration::Needed(what) = prepared.integration else {
            panic!("{given:?}");
        };
        assert!(what.contains("--remote"), "{what}");
    }
}

#[test]
fn c050_a_resume_command_gets_no_option_of_an_earlier_launch() {
    let adapter = CodexAdapter::new();
    for argv in ["codex", "codex -m x --sandbox y"] {
        let argv: Vec<OsString> = argv.split(' ').map(OsString::from).collect();
        assert!(adapter.recognises(&argv));
    }
    let command = ["codex", "resume", "--no-daemon", "aaaaaaaa-0000-4000-8000-000000000001"];
    assert_eq!(prepare(&command).launch.argv, command);
}
