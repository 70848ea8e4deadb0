//! The demonstration agent as a program: in memory, and as a real process.
#![cfg(all(feature = "testing", feature = "demo"))]
#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, reason = "test code")]

use std::ffi::OsString;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use signaltty_adapters::demo::{self, DemoAdapter, HOME_VAR, VERB};
use signaltty_adapters::testing::block_on;
use signaltty_adapters::{AgentAdapter, AgentHost, InstanceView, ProcHost};
use signaltty_core::agent::{
    Conversation, Moment, RecordRead, Relation, Verdict, WitnessSource, judge,
};
use signaltty_core::env::ConfigEnv;
use signaltty_core::id::InstanceId;
use signaltty_core::pane::Lifecycle;
use tempfile::TempDir;

fn world(dir: &Path) -> demo::World {
    demo::World { home: dir.join("home"), cwd: dir.join("work"), pid: 42, start_ticks: 7 }
}

fn talk(world: &demo::World, args: &[&str], lines: &str) -> (u8, String) {
    let args: Vec<_> = args.iter().map(OsString::from).collect();
    let mut output = Vec::new();
    let code = demo::run(&args, world, &mut lines.as_bytes(), &mut output);
    (code, String::from_utf8(output).unwrap())
}

/// The only record that there is.
fn only_record(home: &Path) -> PathBuf {
    let projects = fs::read_dir(home.join("conversations")).unwrap();
    let mut files = projects.flat_map(|dir| fs::read_dir(dir.unwrap().path()).unwrap());
    let path = files.next().unwrap().unwrap().path();
    assert!(files.next().is_none());
    path
}

fn id_of(record: &Path) -> String {
    record.file_stem().unwrap().to_str().unwrap().to_owned()
}

#[test]
fn it_remembers_across_runs_and_says_so() {
    let dir = tempfile::tempdir().unwrap();
    let world = world(dir.path());
    let (code, said) = talk(&world, &[], "");
    assert_eq!(code, 0);
    assert!(said.contains(", 0 earlier messages\nyou> "), "{said}");
    assert!(!world.home.join("conversations").exists(), "nobody said anything");

    let (_, said) = talk(&world, &[], "remember the blue door\nhello\n\n");
    assert!(said.contains("noted: the blue door\n"), "{said}");
    assert!(said.contains("you said: hello (message 3)\n"), "{said}");
    let id = id_of(&only_record(&world.home));
    let (code, said) = talk(&world, &["--resume", &id], "what did I say?\n");
    assert_eq!(code, 0);
    let greeting = format!("demo agent, conversation {}, 4 earlier messages\n", &id[..8]);
    // After the wish for pastes in brackets.
    assert!(said.starts_with(&format!("\x1b[?2004h{greeting}")), "{said}");
    assert!(said.contains("1. remember the blue door\n2. hello\n"), "{said}");
    assert_eq!(fs::read_dir(world.home.join("live")).unwrap().count(), 0);
}

#[test]
fn s0_23_s1_31_an_unknown_conversation_is_not_begun() {
    let dir = tempfile::tempdir().unwrap();
    let world = world(dir.path());
    for id in ["aaaaaaaa-0000-4000-8000-000000000001", "planb", "", "../../x"] {
        let (code, said) = talk(&world, &["--resume", id], "hello\n");
        assert_eq!(code, 1);
        assert!(said.starts_with(&format!("no conversation {id}: not found")), "{said}");
    }
    assert!(!world.home.exists());
    for args in [&["--continue"][..], &["--resume"], &["hello"]] {
        assert_eq!(talk(&world, args, "").0, 2, "{args:?}");
    }
}

#[test]
fn a_line_that_a_killed_run_left_is_ended_before_the_next() {
    let dir = tempfile::tempdir().unwrap();
    let world = world(dir.path());
    talk(&world, &[], "one\n");
    let record = only_record(&world.home);
    let mut file = fs::File::options().append(true).open(&record).unwrap();
    file.write_all(b"{\"by\":\"person\",\"uu").unwrap();
    let (_, said) = talk(&world, &["--resume", &id_of(&record)], "two\nwhat did I say?\n");
    assert!(said.contains(", 2 earlier messages\n"), "{said}");
    assert!(said.contains("1. one\n2. two\n"), "{said}");
}

/// Becomes the agent when another test starts this very program as one.
#[test]
#[ignore = "started by another test"]
fn the_agent_itself() {
    if std::env::var_os(HOME_VAR).is_none() {
        return;
    }
    let resume = std::env::var_os("DEMO_RESUME");
    let args: Vec<OsString> = resume.into_iter().flat_map(|id| ["--resume".into(), id]).collect();
    std::process::exit(demo::run_here(&args).into());
}

struct Running {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Running {
    fn start(dir: &TempDir, resume: Option<&str>) -> Self {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command
            .args(["--exact", "the_agent_itself", "--ignored", "--nocapture"])
            .env(HOME_VAR, dir.path().join("home"))
            .env("PWD", dir.path().join("work"))
            .current_dir(dir.path().join("work"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped());
        if let Some(id) = resume {
            command.env("DEMO_RESUME", id);
        }
        let mut child = command.spawn().unwrap();
        let input = child.stdin.take().unwrap();
        let output = BufReader::new(child.stdout.take().unwrap());
        let mut running = Self { child, input, output };
        running.until("you> ");
        running
    }

    /// Reads until a text was said; the end of the output fails.
    fn until(&mut self, text: &str) -> String {
        let mut said = Vec::new();
        while !said.ends_with(text.as_bytes()) {
            let mut byte = [0];
            self.output.read_exact(&mut byte).unwrap_or_else(|error| {
                panic!("{error} after {:?}", String::from_utf8_lossy(&said));
            });
            said.push(byte[0]);
        }
        String::from_utf8(said).unwrap()
    }

    fn say(&mut self, line: &str) {
        writeln!(self.input, "{line}").unwrap();
    }

    fn end(mut self) -> i32 {
        drop(self.input);
        let mut rest = String::new();
        while self.output.read_line(&mut rest).unwrap() > 0 {}
        self.child.wait().unwrap().code().unwrap()
    }
}

#[test]
fn s1_30_a_killed_agent_is_resumed_and_proven() {
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir(dir.path().join("work")).unwrap();
    let adapter = DemoAdapter::new(std::env::current_exe().unwrap(), vec![VERB.into()]);
    let host = ProcHost { home: None, path: OsString::new() };
    let vars = [(HOME_VAR, dir.path().join("home"))];
    let config_env = ConfigEnv::filter(vars, &[HOME_VAR], Path::new("/"));
    let look = |running: &Running| {
        let pid = running.child.id();
        let view = InstanceView {
            facts: Default::default(),
            instance: InstanceId::fake(1),
            pid,
            start_ticks: host.process(pid).unwrap().start_ticks,
            cwd: dir.path().join("work"),
            config_env: config_env.clone(),
        };
        let mut reports = block_on(adapter.inspect(&view, &host));
        assert_eq!(reports.len(), 1);
        reports.remove(0)
    };

    let mut first = Running::start(&dir, None);
    assert_eq!(look(&first).lifecycle, Some(Lifecycle::Idle));
    first.say("remember the blue door");
    first.until("you> ");
    first.say("work");
    first.until("let me finish\n");
    let report = look(&first);
    assert_eq!(report.lifecycle, Some(Lifecycle::Working));
    let id = report.witness.unwrap().sessions.first().unwrap().clone();
    let mut saved = Conversation {
        id,
        cwd: dir.path().join("work"),
        config_env: config_env.clone(),
        anchor: None,
        previous: None,
    };
    saved.anchor = Some(block_on(adapter.anchor(&saved, &host)).unwrap());
    assert!(block_on(adapter.holder(&saved, &host)).is_some());
    first.child.kill().unwrap();
    first.child.wait().unwrap();
    assert_eq!(block_on(adapter.holder(&saved, &host)), None, "its list is left behind");

    let before = block_on(adapter.preflight(&saved, &host)).unwrap();
    assert_eq!(before.relation, Relation::Extends);
    let mut second = Running::start(&dir, Some(saved.id.as_str()));
    let mut witness = look(&second).witness.unwrap();
    assert_eq!(witness.source, WitnessSource::LiveRegistry);
    assert_eq!(witness.loaded, Some(3));
    witness.record = RecordRead::Done {
        named: saved.id.clone(),
        result: block_on(adapter.preflight(&saved, &host)),
    };
    let policy = &adapter.spec().policy;
    let witnesses = [witness];
    let ours = InstanceId::fake(1);
    let verdict = judge(&saved, Some(&before), policy, ours, &witnesses, Moment::Waiting);
    assert!(matches!(verdict, Verdict::Verified(_)), "{verdict:?}");
    second.say("what did I say?");
    let said = second.until("you> ");
    assert!(said.contains("1. remember the blue door\n2. work\n"), "{said}");
    assert_eq!(second.end(), 0);
}

#[test]
fn s0_20_the_command_is_the_running_program() {
    let adapter = DemoAdapter::new("/opt/signaltty".into(), vec![VERB.into()]);
    let saved = Conversation {
        id: "aaaaaaaa-0000-4000-8000-000000000001".parse().unwrap(),
        cwd: "/".into(),
        config_env: ConfigEnv::default(),
        anchor: None,
        previous: None,
    };
    let command = adapter.resume_command(&saved).unwrap();
    let expected = ["/opt/signaltty", VERB, "--resume", saved.id.as_str()];
    assert_eq!(command.argv(), expected);
    for (argv, ours) in [
        (&["/opt/signaltty", VERB][..], true),
        (&["signaltty", VERB, "--resume", "x"], true),
        (&["/opt/signaltty", "serve"], false),
        (&["/opt/signaltty"], false),
        (&["/opt/other", VERB], false),
        (&[], false),
    ] {
        let argv: Vec<OsString> = argv.iter().map(OsString::from).collect();
        assert_eq!(adapter.recognises(&argv), ours, "{argv:?}");
    }
}
