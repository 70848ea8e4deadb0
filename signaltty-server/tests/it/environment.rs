//! What a pane's program finds around it, and what of that reaches the disk.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::symlink;
use std::process::Command;

use serde_json::{Value, json};

use crate::support::{Home, Server, wait_for, wait_until};

/// Starts something that writes its environment down, as a client with an
/// environment of its own; the pane and what it found.
fn environment(server: &Server, home: &Home, env: &Value) -> (String, BTreeMap<String, String>) {
    let file = home.path("work/env");
    let script = format!("env > {0}.new; mv {0}.new {0}; exec sleep 1000", file.display());
    let made = server.ask(
        "workspace.new",
        json!({"cwd": home.work(), "argv": ["/bin/sh", "-c", script], "env": env}),
    );
    let pane = made["pane_id"].as_str().unwrap().to_owned();
    (pane, read(home))
}

fn read(home: &Home) -> BTreeMap<String, String> {
    let file = home.path("work/env");
    let text = wait_for("the environment", || fs::read_to_string(&file).ok());
    fs::remove_file(file).unwrap();
    text.lines()
        .filter_map(|line| line.split_once('='))
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect()
}

#[test]
fn s0_12_d12_d27_a_pane_has_its_clients_environment_and_no_secret_is_kept() {
    let home = Home::new();
    let mut server = Server::start_with(&home, |command| {
        command.env("OF_THE_SERVER", "canary-server").env("OPENAI_API_KEY", "canary-openai");
    });
    let client = json!({
        "PATH": "/usr/bin:/bin",
        "LANG": "C.UTF-8",
        "TERM": "screen",
        "MINE": "canary-mine",
        "ANTHROPIC_API_KEY": "canary-anthropic",
        "SIGNALTTY_LAUNCH": "canary-launch",
        "SIGNALTTY_PANE": "pane_of_another",
        "SIGNALTTY_STAGE": "set by the user",
        "TMUX": "x",
        "CLAUDECODE": "1",
    });
    let (pane, found) = environment(&server, &home, &client);
    let get = |name: &str| found.get(name).map(String::as_str);
    assert_eq!(get("MINE"), Some("canary-mine"));
    assert_eq!(get("ANTHROPIC_API_KEY"), Some("canary-anthropic"));
    assert_eq!(get("OF_THE_SERVER"), None);
    assert_eq!(get("TERM"), Some("xterm-256color"));
    assert_eq!(get("PWD"), home.work().to_str());
    assert_eq!(get("SIGNALTTY_PANE"), Some(&*pane));
    assert_eq!(get("SIGNALTTY_SOCKET"), home.socket().to_str());
    for name in ["TMUX", "CLAUDECODE"] {
        assert_eq!(get(name), None, "{name}");
    }
    let secret = found["SIGNALTTY_LAUNCH"].clone();
    assert_eq!(secret.len(), 32);

    // Without one of the client's, the server's is used.
    let (_, found) = environment(&server, &home, &json!({}));
    assert_eq!(found["OF_THE_SERVER"], "canary-server");
    assert_ne!(found["SIGNALTTY_LAUNCH"], secret, "every launch has its own");

    server.wait_saved();
    assert!(server.term().success());
    for text in ["canary", "pane_of_another", &secret] {
        assert_eq!(home.files_with(text), Vec::<std::path::PathBuf>::new(), "{text}");
    }
    let snapshot = home.snapshot();
    assert!(snapshot.to_string().contains("set by the user"), "user-visible names are kept");
    for name in ["pid", "fd", "pidfd", "launch"] {
        assert!(!has_key(&snapshot, name), "{name}");
    }

    // A restart by hand is a new launch with the environment of who asks.
    let server = Server::start(&home);
    server.ask("pane.restart", json!({"pane": pane, "env": {"PATH": "/bin", "MINE": "later"}}));
    let found = read(&home);
    assert_eq!(found["MINE"], "later");
    assert_eq!(found["SIGNALTTY_PANE"], pane);
    assert_ne!(found["SIGNALTTY_LAUNCH"], secret);
}

fn has_key(value: &Value, name: &str) -> bool {
    match value {
        Value::Object(map) => map.iter().any(|(key, value)| key == name || has_key(value, name)),
        Value::Array(items) => items.iter().any(|item| has_key(item, name)),
        _ => false,
    }
}

#[test]
fn c056_c058_a_directory_keeps_its_spelling() {
    let home = Home::new();
    let mut server = Server::start(&home);
    let (link, real) = (home.path("link"), home.work().canonicalize().unwrap());
    symlink(home.work(), &link).unwrap();
    let script = "echo \"[$PWD] [$(pwd -P)]\"; exec cat";
    let made = server.ask("workspace.new", json!({"cwd": link, "argv": ["/bin/sh", "-c", script]}));
    let pane = made["pane_id"].as_str().unwrap().to_owned();
    let expected = format!("[{}] [{}]", link.display(), real.display());
    // A narrow terminal breaks the line.
    let shows = |server: &Server| {
        wait_for(&expected, || {
            server.text(&pane).replace('\n', "").contains(&expected).then_some(())
        });
    };
    shows(&server);
    assert_eq!(server.pane(&pane)["cwd"], link.to_str().unwrap());
    server.wait_saved();
    server.kill9();
    let server = Server::start(&home);
    assert_eq!(server.pane(&pane)["cwd"], link.to_str().unwrap());
    server.ask("pane.restart", json!({"pane": pane}));
    shows(&server);
    let pid = server.pane(&pane)["pid"].as_u64().unwrap();
    assert_eq!(fs::read_link(format!("/proc/{pid}/cwd")).unwrap(), real);
}

#[test]
fn c064_d23_a_pane_keeps_the_last_directory_that_was_there() {
    // A shell that tells its directory, and one that does not.
    for tell in [r#"printf '\033]7;file://%s\033\\' "$PWD""#, ":"] {
        let home = Home::new();
        let mut server = Server::start(&home);
        let shell = format!(
            r#"while read -r line; do eval "$line"; {tell}; printf '\033]2;after %s\033\\' "$line"; done"#
        );
        let pane = server.sh(&home, &shell);
        let titled = |title: &str| wait_until(title, || server.pane(&pane)["title"] == title);
        let cwd = || server.pane(&pane)["cwd"].as_str().unwrap().to_owned();
        let kept = home.work().canonicalize().unwrap().join("kept");
        server.type_line(&pane, "mkdir kept; cd kept");
        wait_until("the directory", || {
            kept == std::path::Path::new(&cwd()).canonicalize().unwrap()
        });
        let before = cwd();
        // The system says `(deleted)` of it from now on.
        server.type_line(&pane, "mkdir d; cd d; rmdir ../d");
        titled("after mkdir d; cd d; rmdir ../d");
        server.wait_saved();
        assert_eq!(cwd(), before, "{tell}");
        server.kill9();
        assert_eq!(home.snapshot()["panes"][0]["cwd"], *before, "{tell}");
        let server = Server::start(&home);
        server.ask("pane.restart", json!({"pane": pane}));
        let pid = server.pane(&pane)["pid"].as_u64().unwrap();
        assert_eq!(fs::read_link(format!("/proc/{pid}/cwd")).unwrap(), kept, "{tell}");
    }
}

#[test]
fn d23_what_a_shell_told_counts_while_it_is_there() {
    let home = Home::new();
    let server = Server::start(&home);
    let cwd = |pane: &str| server.pane(pane)["cwd"].as_str().unwrap().to_owned();
    let tell = r#"printf '\033]7;file://%s\033\\' "#;
    for (dir, link) in [("told", "spelled"), ("later", "other")] {
        fs::create_dir(home.work().join(dir)).unwrap();
        symlink(dir, home.work().join(link)).unwrap();
    }
    let work = home.work().canonicalize().unwrap();
    let pane = server.spawn(&home, &["/bin/sh", "-i"]);
    let is = |wanted: &std::path::Path| {
        wait_until(&format!("{} to be the directory", wanted.display()), || {
            std::path::Path::new(&cwd(&pane)) == wanted
        });
    };
    // A shell within the pane's own tells, and its spelling counts. It ends, and
    // the one that does not tell goes elsewhere.
    let within = format!("cd spelled; {tell} {}/spelled; read line", work.display());
    fs::write(home.work().join("within"), within).unwrap();
    server.type_line(&pane, "sh within");
    is(&work.join("spelled"));
    server.type_line(&pane, "");
    server.type_line(&pane, "cd later");
    is(&work.join("later"));
    // One that tells of somewhere else is not believed.
    server.type_line(&pane, &format!("{tell} /usr; cd ../told"));
    is(&work.join("told"));
}

#[test]
fn row_d18_a_client_that_knows_the_socket_needs_no_home() {
    let home = Home::new();
    let server = Server::start(&home);
    let pane = server.spawn(&home, &["/bin/cat"]);
    let client = |socket: &std::path::Path, words: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_signaltty"));
        command.env_clear().arg("--socket").arg(socket).args(words).output().unwrap()
    };
    let listed = client(&home.socket(), &["ls"]);
    assert!(listed.status.success(), "{listed:?}");
    assert!(String::from_utf8_lossy(&listed.stdout).contains(&pane), "{listed:?}");
    // What is missing is said where a server would have to be started.
    let refused = client(&home.path("nobody"), &["ls"]);
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert_eq!(refused.status.code(), Some(2), "{said}");
    assert!(said.contains("nobody") && said.contains("neither HOME"), "{said}");
    assert!(!home.path("nobody").exists());
}

#[test]
fn a_server_keeps_nothing_open_that_its_starter_had_open() {
    let home = Home::new();
    let path = home.path("inherited");
    let file = fs::File::create(&path).unwrap();
    rustix::io::fcntl_setfd(&file, rustix::io::FdFlags::empty()).unwrap();
    let server = Server::start(&home);
    drop(file);
    let open = fs::read_dir(format!("/proc/{}/fd", server.pid())).unwrap();
    let open: Vec<_> = open.filter_map(|entry| fs::read_link(entry.unwrap().path()).ok()).collect();
    assert!(!open.is_empty() && !open.contains(&path), "{open:?}");
}
