//! Children on real terminals.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)]

mod common;

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::time::Duration;

use common::{PATIENCE, output, read_all, read_until, run, sh, spec, start, write};
use signaltty_pty::{
    ExitStatus, ResolveError, Signal, SignalError, Size, SpawnError, WriteCause, resolve_program,
    spawn,
};
use tokio::time::Instant;

#[test]
fn the_size_is_there_from_the_start_and_follows_a_resize() {
    run(async {
        let script = "trap 'stty size; exit 0' WINCH; stty size; while :; do read line; done";
        let (pty, child) = start(&sh(script));
        assert_eq!(read_until(&pty, "\n").await, "31 93\r\n");
        assert_eq!(pty.size().unwrap(), Size::new(93, 31));
        pty.resize(Size::new(100, 40)).unwrap();
        assert_eq!(read_all(&pty).await, "40 100\r\n");
        assert!(child.wait().await.unwrap().success());
    });
}

#[test]
fn what_a_child_wrote_is_read_before_the_runtime_has_heard_of_it() {
    run(async {
        let (pty, child) = start(&sh("echo its words"));
        // The runtime's own thread is this one, which does not let it run.
        while child.try_wait().unwrap().is_none() {
            std::thread::yield_now();
        }
        let mut buffer = [0; 100];
        // A thread of the kernel carries what the child wrote.
        let until = std::time::Instant::now() + Duration::from_secs(30);
        let mut read = || loop {
            match pty.try_read(&mut buffer) {
                Err(_) if std::time::Instant::now() < until => std::thread::yield_now(),
                read => break buffer[..read.unwrap()].to_vec(),
            }
        };
        assert_eq!(read(), b"its words\r\n");
        // A child of another test has the terminal open until its exec.
        assert_eq!(read(), b"");
    });
}

#[test]
fn a_flood_of_keys_that_no_program_reads_does_not_block_the_terminal() {
    run(async {
        let (pty, child) = start(&sh("stty -echo; echo ready; read line; echo got it"));
        read_until(&pty, "ready").await;
        // The line editor takes them all and keeps none: nothing is ever read,
        // which is what the kernel's wake-up of writers hangs on.
        for _ in 0..200_000 {
            write(&pty, "x\x15").await;
        }
        write(&pty, "\r").await;
        read_until(&pty, "got it").await;
        assert!(child.wait().await.unwrap().success());
    });
}

#[test]
fn c086_a_size_of_zero_is_taken_as_one() {
    run(async {
        let mut spec = sh("stty size");
        spec.size = Size::new(0, 0);
        assert_eq!(output(&spec).await, ["1 1"]);
    });
}

#[test]
fn the_child_leads_a_session_with_a_controlling_terminal() {
    run(async {
        let script = "read -r pid name state parent group session terminal rest </proc/self/stat
            echo $pid $group $session; echo through >/dev/tty; tty; read line";
        let (pty, child) = start(&sh(script));
        let text = read_until(&pty, "/dev/pts/").await;
        let pid = child.pid();
        assert!(text.starts_with(&format!("{pid} {pid} {pid}\r\nthrough\r\n")), "{text}");
        assert_eq!(pty.foreground_group(), Some(pid));
        write(&pty, "\n").await;
        child.wait().await.unwrap();
    });
}

#[test]
fn typed_control_characters_reach_the_foreground() {
    run(async {
        let (pty, child) = start(&sh("echo ready; exec sleep 1000"));
        read_until(&pty, "ready").await;
        write(&pty, "\x03").await;
        assert_eq!(child.wait().await.unwrap(), ExitStatus { code: None, signal: Some(2) });
    });
}

#[test]
fn inv_t2_every_end_is_reported_once_and_the_same_to_all() {
    run(async {
        for (script, code, signal) in [
            ("exit 0", Some(0), None),
            ("exit 7", Some(7), None),
            ("kill -9 $$", None, Some(9)),
            ("kill -15 $$", None, Some(15)),
        ] {
            let (pty, child) = start(&sh(script));
            let (first, second) = tokio::join!(child.wait(), child.wait());
            assert_eq!(first.unwrap(), ExitStatus { code, signal }, "{script}");
            assert_eq!(second.unwrap(), ExitStatus { code, signal }, "{script}");
            assert_eq!(child.try_wait().unwrap(), Some(ExitStatus { code, signal }));
            assert!(matches!(child.signal(Signal::Hangup), Err(SignalError::Ended)));
            assert!(matches!(child.signal_group(Signal::Hangup), Err(SignalError::Ended)));
            assert_eq!(read_all(&pty).await, "");
        }
    });
}

#[test]
fn signals_go_to_the_child_or_to_its_group() {
    run(async {
        let script = "trap 'echo got; exit 3' USR1; sleep 1000 & echo ready; wait";
        let (pty, child) = start(&sh(script));
        read_until(&pty, "ready").await;
        child.signal(Signal::User1).unwrap();
        read_until(&pty, "got").await;
        assert_eq!(child.wait().await.unwrap().code, Some(3));

        let (pty, child) = start(&sh("sleep 1000 & echo ready; wait"));
        read_until(&pty, "ready").await;
        child.signal_group(Signal::Terminate).unwrap();
        // Only with the sleeping process gone as well, the terminal is closed.
        read_all(&pty).await;
        assert_eq!(child.wait().await.unwrap().signal, Some(15));
    });
}

#[test]
fn the_environment_is_exactly_as_given_and_pwd_is_as_spelled() {
    let directory = tempfile::tempdir().unwrap();
    let real = directory.path().join("real");
    let link = directory.path().join("link");
    fs::create_dir(&real).unwrap();
    symlink(&real, &link).unwrap();
    let mut spec = spec(&["env"]);
    spec.cwd.clone_from(&link);
    spec.env.push(("PWD".into(), "/elsewhere".into()));
    spec.env.push(("NAME".into(), "old".into()));
    spec.env.push(("NAME".into(), "a b=c".into()));
    let mut lines = run(output(&spec));
    lines.sort();
    let path = "PATH=/usr/bin:/bin:/usr/sbin:/sbin".to_owned();
    assert_eq!(lines, ["NAME=a b=c".to_owned(), path, format!("PWD={}", link.display())]);

    spec.argv = vec!["pwd".into(), "-P".into()];
    let real = real.canonicalize().unwrap();
    assert_eq!(run(output(&spec)), [real.display().to_string()]);
}

#[test]
fn the_program_keeps_the_name_it_was_called_by() {
    let lines = run(output(&spec(&["sh", "-c", "echo $0; cat /proc/$$/cmdline | tr '\\0' '|'"])));
    assert_eq!(lines[0], "sh");
    assert!(lines[1].starts_with("sh|-c|"), "{lines:?}");
}

#[test]
fn c091_what_cannot_be_started_says_why() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("file");
    fs::write(&file, "no program").unwrap();
    let file = file.to_str().unwrap();
    let broken = directory.path().join("broken");
    fs::write(&broken, "#!/no/such/interpreter\n").unwrap();
    fs::set_permissions(&broken, fs::Permissions::from_mode(0o755)).unwrap();

    let failure = |argv: &[&str], cwd: &str| {
        let mut spec = spec(argv);
        spec.cwd = cwd.into();
        spawn(&spec).map(drop).unwrap_err()
    };
    let program = |error| match error {
        SpawnError::Program(error) => error,
        other => panic!("{other:?}"),
    };
    assert!(matches!(failure(&[], "/"), SpawnError::EmptyArgv));
    assert!(matches!(program(failure(&[""], "/")), ResolveError::Empty));
    assert!(matches!(
        program(failure(&["no-such-program"], "/")),
        ResolveError::NotInPath { program } if program == "no-such-program"
    ));
    assert!(matches!(
        program(failure(&["./none"], "/usr")),
        ResolveError::NotFound { path } if path == Path::new("/usr/./none")
    ));
    assert!(matches!(
        program(failure(&[file], "/")),
        ResolveError::NotExecutable { path } if path == Path::new(file)
    ));
    assert!(matches!(
        program(failure(&["/usr"], "/")),
        ResolveError::NotExecutable { path } if path == Path::new("/usr")
    ));
    assert!(matches!(
        failure(&["sh"], "/no/such/place"),
        SpawnError::CwdMissing { path } if path == Path::new("/no/such/place")
    ));
    assert!(matches!(failure(&["sh"], file), SpawnError::CwdNotADirectory { .. }));
    assert!(matches!(
        failure(&["sh"], &format!("{file}/below")),
        SpawnError::CwdNotADirectory { .. }
    ));
    assert!(matches!(failure(&["sh"], "relative"), SpawnError::CwdNotAbsolute { .. }));
    assert!(matches!(failure(&["sh", "a\0b"], "/"), SpawnError::Argument { index: 1 }));
    assert!(matches!(
        failure(&[broken.to_str().unwrap()], "/"),
        SpawnError::Exec { path, .. } if path == broken
    ));
    for name in ["", "A=B", "A\0"] {
        let mut spec = sh("exit");
        spec.env.push((name.into(), "x".into()));
        assert!(matches!(spawn(&spec).map(drop).unwrap_err(), SpawnError::Environment { .. }));
    }
}

#[test]
fn c091_every_one_of_many_children_runs_and_is_reported() {
    run(async {
        let children: Vec<_> = (0..150)
            .map(|number| (number, start(&sh(&format!("read line; exit {number}")))))
            .collect();
        for (number, (pty, child)) in &children {
            write(pty, "\n").await;
            assert_eq!(child.wait().await.unwrap().code, Some(*number));
        }
    });
}

#[test]
fn programs_are_found_where_the_child_would_find_them() {
    let directory = tempfile::tempdir().unwrap();
    let root = directory.path();
    for (name, mode) in [("bin/tool", 0o755), ("other/tool", 0o755), ("plain/tool", 0o644)] {
        let path = root.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, "#!/bin/sh\n").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
    }
    let find = |program: &str, search: Option<&str>| {
        resolve_program(program.as_ref(), root, search.map(AsRef::as_ref))
            .map(|path| path.strip_prefix(root).unwrap_or(&path).display().to_string())
    };
    let absolute = format!("/none:{}/other", root.display());
    assert_eq!(find("bin/tool", None).unwrap(), "bin/tool");
    assert_eq!(find("tool", Some("plain:bin:other")).unwrap(), "bin/tool");
    assert_eq!(find("tool", Some(&absolute)).unwrap(), "other/tool");
    assert!(matches!(find("tool", Some("plain")), Err(ResolveError::NotExecutable { .. })));
    assert!(matches!(find("tool", Some("")), Err(ResolveError::NotInPath { .. })));
    assert!(find("sh", None).unwrap().ends_with("/sh"));
}

#[test]
fn a_large_paste_arrives_whole_in_many_parts() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("received");
    let paste: Vec<u8> = (0..1_000_000_u32).map(|n| (n % 251) as u8).collect();
    let script = format!(
        "stty raw -echo; echo ready; head -c {} >{}; echo done",
        paste.len(),
        file.display()
    );
    run(async {
        let (pty, child) = start(&sh(&script));
        read_until(&pty, "ready").await;
        pty.write_all_with(&paste, Instant::now() + PATIENCE).await.unwrap();
        read_until(&pty, "done").await;
        child.wait().await.unwrap();
    });
    assert!(fs::read(&file).unwrap() == paste);
}

#[test]
fn a_write_that_nobody_reads_ends_at_its_deadline_and_says_how_far_it_came() {
    run(async {
        let (pty, child) = start(&sh("stty raw -echo; echo ready; exec sleep 1000"));
        read_until(&pty, "ready").await;
        let deadline = Instant::now() + Duration::from_millis(100);
        let error = pty.write_all_with(&[b'x'; 1 << 20], deadline).await.unwrap_err();
        assert!(matches!(error.cause, WriteCause::Timeout), "{error}");
        assert!((1..1 << 20).contains(&error.written), "{error}");
        child.signal(Signal::Kill).unwrap();
        child.wait().await.unwrap();
        let error = pty.write_all_with(b"x", Instant::now() + PATIENCE).await.unwrap_err();
        assert!(matches!(error.cause, WriteCause::Closed), "{error}");
        assert_eq!(error.written, 0);
    });
}

#[test]
fn signal_names_are_read_in_any_spelling() {
    for (name, signal) in [
        ("TERM", Signal::Terminate),
        ("sigkill", Signal::Kill),
        ("SigInt", Signal::Interrupt),
        ("winch", Signal::WindowChange),
    ] {
        assert_eq!(name.parse(), Ok(signal));
    }
    assert_eq!("STOP".parse::<Signal>().unwrap_err().to_string(), "unknown signal \"STOP\"");
}
