//! What is added to an OpenCode when it is launched.

use std::ffi::OsString;
use std::path::Path;

use signaltty_adapters::{
    AgentAdapter, Integration, Launch, LaunchContext, OpenCodeAdapter, PreparedLaunch,
};
use signaltty_core::id::InstanceId;

const PASSWORD: &str = "OPENCODE_SERVER_PASSWORD";

fn prepare(argv: &[&str], env: &[(&str, &str)], port: Option<u16>) -> PreparedLaunch {
    let launch = Launch {
        argv: argv.iter().map(OsString::from).collect(),
        env: env.iter().map(|(name, value)| (name.into(), value.into())).collect(),
    };
    let context = LaunchContext {
        cwd: Path::new("/"),
        runtime_dir: Path::new("/run/signaltty"),
        hook_program: Path::new("/bin/signaltty"),
        instance: InstanceId::fake(7),
        secret: "5ec7e7",
        loopback_port: port,
    };
    OpenCodeAdapter::new().prepare_launch(launch, &context).unwrap()
}

#[test]
fn d12_a_server_is_added_before_everything_that_the_user_wrote() {
    for argv in [
        &["opencode"][..],
        &["/usr/bin/opencode", "--session", "ses_aaaaaaaaaaaaaaaaaaaaaaaaaa"],
        &["opencode", "/srv/run"],
        &["opencode", "--agent", "run"],
        &["opencode", "--prompt", "serve"],
        &["opencode", "-m", "models", "project"],
        &["opencode", "project", "run"],
        &["opencode", "--", "--port"],
        &["opencode", "-c", "--fork"],
    ] {
        let prepared = prepare(argv, &[("HOME", "/h")], Some(4096));
        let (program, rest) = argv.split_first().unwrap();
        let ours = ["--port", "4096", "--hostname", "127.0.0.1"];
        let expected: Vec<&str> =
            [*program].into_iter().chain(ours).chain(rest.iter().copied()).collect();
        assert_eq!(prepared.launch.argv, expected);
        let env: Vec<(OsString, OsString)> =
            vec![("HOME".into(), "/h".into()), (PASSWORD.into(), "signaltty-5ec7e7".into())];
        assert_eq!(prepared.launch.env, env);
        assert_eq!(prepared.integration, Integration::Injected);
        assert_eq!(prepared.files, []);
        let facts = &prepared.facts;
        assert_eq!(facts.get("port"), Some("4096"));
        assert_eq!(facts.get("password"), Some("signaltty-5ec7e7"));
        assert_eq!(facts.get("user"), Some("opencode"));
        assert!(!format!("{facts:?}").contains("5ec7e7"), "{facts:?}");
    }
}

#[test]
fn d12_what_the_user_set_is_left_alone_and_named() {
    for (argv, env, named) in [
        (&["opencode", "--port", "1"][..], &[][..], "--port"),
        (&["opencode", "--port=0", "dir"], &[], "--port"),
        (&["opencode", "dir", "--hostname", "0.0.0.0"], &[], "--hostname"),
        (&["opencode", "--mdns"], &[], "--mdns"),
        (&["opencode"], &[(PASSWORD, "mine")], PASSWORD),
    ] {
        let prepared = prepare(argv, env, Some(4096));
        assert_eq!(prepared.launch.argv, argv);
        assert_eq!(prepared.launch.env.len(), env.len());
        let Integration::Needed(what) = prepared.integration else {
            panic!("{argv:?}: {:?}", prepared.integration);
        };
        assert!(what.contains(named), "{what}");
        assert_eq!(prepared.facts, Default::default());
    }
}

#[test]
fn d12_a_password_of_another_launch_or_an_empty_one_is_not_the_users() {
    for password in ["signaltty-01d", ""] {
        let prepared = prepare(&["opencode"], &[(PASSWORD, password)], Some(1));
        assert_eq!(prepared.integration, Integration::Injected);
        assert_eq!(prepared.launch.env, [(PASSWORD.into(), "signaltty-5ec7e7".into())]);
    }
    let prepared = prepare(&["opencode"], &[("OPENCODE_SERVER_USERNAME", "me")], Some(1));
    assert_eq!(prepared.facts.get("user"), Some("me"));
}

#[test]
fn d12_commands_without_a_conversation_get_no_server() {
    for argv in [
        &["opencode", "run", "fix it"][..],
        &["opencode", "serve", "--port", "1"],
        &["opencode", "--log-level", "DEBUG", "web"],
        &["opencode", "attach", "http://127.0.0.1:1"],
        &["opencode", "auth", "login"],
        &["opencode", "--version"],
        &["opencode", "dir", "-h"],
    ] {
        let prepared = prepare(argv, &[], Some(1));
        assert_eq!(prepared.launch.argv, argv);
        assert_eq!(prepared.integration, Integration::None, "{argv:?}");
    }
}

#[test]
fn d12_without_a_port_it_is_started_as_it_is() {
    let prepared = prepare(&["opencode"], &[], None);
    assert_eq!(prepared.launch.argv, ["opencode"]);
    assert!(matches!(prepared.integration, Integration::Needed(_)));
}

#[test]
fn d12_a_script_that_has_a_server_of_its_own_is_left_alone_and_named() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("opencode");
    let path = file.to_str().unwrap();
    for (line, named) in [
        ("exec /opt/opencode --port 45556 \"$@\"", "--port"),
        ("OPENCODE_SERVER_PASSWORD=x exec /opt/opencode \"$@\"", PASSWORD),
    ] {
        std::fs::write(&file, format!("#!/bin/sh\n{line}\n")).unwrap();
        let prepared = prepare(&[path], &[], Some(4096));
        assert_eq!(prepared.launch.argv, [path]);
        assert_eq!(prepared.launch.env, []);
        let Integration::Needed(what) = prepared.integration else {
            panic!("{line}: {:?}", prepared.integration);
        };
        assert!(what.contains(named) && what.contains(path), "{what}");
    }
    std::fs::write(&file, "#!/bin/sh\nexec /opt/opencode \"$@\"\n").unwrap();
    assert_eq!(prepare(&[path], &[], Some(4096)).integration, Integration::Injected);
}
