//! What a child gets from the process that starts it, and what ends with whom.
//!
//! Some tests need a process in a certain state as the parent. For these the
//! test program starts itself again, with only [`helper`] to run.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)]
#![allow(clippy::print_stdout)]

mod common;

use std::env;
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader};
use std::os::fd::AsFd;
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::thread;
use std::time::Instant;

use common::{PATIENCE, output, read_until, run, sh, start};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::{FdFlags, fcntl_setfd};
use rustix::process::{Pid, PidfdFlags, pidfd_open, test_kill_process};

/// Tests that count or share descriptors must not run at the same time.
static DESCRIPTORS: Mutex<()> = Mutex::new(());

/// Names what the helper process shall do.
const TASK: &str = "SIGNALTTY_PTY_TEST_TASK";

/// Not a test by itself: the body of the helper process.
#[test]
fn helper() {
    let Ok(task) = env::var(TASK) else { return };
    run(async {
        match task.as_str() {
            "signals" => {
                // By the shell alone: it blocks signals while it starts a program.
                let script = "while read -r line; do
                    case $line in Sig*) echo \"$line\";; esac; done </proc/$$/status";
                for line in output(&sh(script)).await {
                    println!("helper: {line}");
                }
            }
            "parent" => {
                let (pty, child) = start(&sh("trap '' HUP TERM; echo ready; exec sleep 1000"));
                read_until(&pty, "ready").await;
                println!("helper: {}", child.pid());
                // Until the test kills this process.
                io::stdin().lines().for_each(drop);
            }
            other => panic!("no task {other}"),
        }
    });
}

/// Starts the helper by a shell that runs `before` first.
fn start_helper(task: &str, before: &str) -> std::process::Child {
    Command::new("sh")
        .args(["-c", &format!("{before} exec \"$0\" --exact helper --nocapture")])
        .arg(env::current_exe().unwrap())
        .env(TASK, task)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap()
}

/// What the helper has to say, line by line.
fn said(helper: &mut std::process::Child) -> impl Iterator<Item = String> + use<> {
    let lines = BufReader::new(helper.stdout.take().unwrap()).lines();
    lines.map_while(Result::ok).filter_map(|line| line.split_once("helper: ").map(|s| s.1.into()))
}

fn wait_for_end(pid: u32) {
    let Ok(pidfd) = pidfd_open(Pid::from_raw(pid as i32).unwrap(), PidfdFlags::empty()) else {
        return;
    };
    let mut polled = [PollFd::new(&pidfd, PollFlags::IN)];
    let patience = Timespec { tv_sec: PATIENCE.as_secs() as i64, tv_nsec: 0 };
    assert_eq!(poll(&mut polled, Some(&patience)).unwrap(), 1, "{pid} did not end");
}

#[test]
fn d15_a_direct_child_dies_with_a_killed_parent() {
    let mut helper = start_helper("parent", "");
    let mut said = said(&mut helper);
    let child: u32 = said.next().unwrap().parse().unwrap();
    let status = fs::read_to_string(format!("/proc/{child}/status")).unwrap();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:")).unwrap();
    assert_eq!(ignored.trim(), "0000000000004001", "the child ignores HUP and TERM");
    helper.kill().unwrap();
    helper.wait().unwrap();
    wait_for_end(child);
}

#[test]
fn ignored_and_blocked_signals_are_not_handed_down() {
    let mut helper = start_helper("signals", "trap '' HUP INT QUIT TERM USR1;");
    let lines: Vec<String> = said(&mut helper).collect();
    assert!(helper.wait().unwrap().success());
    for set in ["SigBlk", "SigIgn"] {
        let line = lines.iter().find(|line| line.starts_with(set)).unwrap();
        assert!(line.ends_with("\t0000000000000000"), "{line}");
    }
}

#[test]
fn inv_t1_c092_a_child_has_its_terminal_and_no_other_descriptor() {
    let _guard = DESCRIPTORS.lock().unwrap();
    let inheritable = File::open("/dev/null").unwrap();
    fcntl_setfd(inheritable.as_fd(), FdFlags::empty()).unwrap();
    let listing = run(output(&sh("ls -l /proc/$$/fd; :")));
    let mut names: Vec<&str> =
        listing.iter().filter(|line| line.contains(" -> ")).map(String::as_str).collect();
    names.sort_by_key(|line| line.split(" -> ").next().unwrap().rsplit(' ').next().unwrap());
    assert_eq!(names.len(), 3, "{names:?}");
    for (number, line) in names.iter().enumerate() {
        assert!(line.contains(&format!(" {number} -> /dev/pts/")), "{line}");
    }
}

#[test]
fn c092_no_descriptor_stays_behind() {
    let _guard = DESCRIPTORS.lock().unwrap();
    let count = || fs::read_dir("/proc/self/fd").unwrap().count();
    let cycle = || {
        run(async {
            let (pty, child) = start(&sh("exit 0"));
            child.wait().await.unwrap();
            drop((pty, child));
        });
    };
    cycle();
    let before = count();
    for _ in 0..100 {
        cycle();
    }
    // Tests that run beside this one hold a few.
    assert!(count() <= before + 8, "{before} before, {} after", count());
}

#[test]
fn inv_t2_a_dropped_child_is_killed_and_reaped() {
    let pid = run(async {
        let (pty, child) = start(&sh("trap '' HUP TERM; echo ready; exec sleep 1000"));
        read_until(&pty, "ready").await;
        child.pid()
    });
    wait_for_end(pid);
    let deadline = Instant::now() + PATIENCE;
    while test_kill_process(Pid::from_raw(pid as i32).unwrap()).is_ok() {
        assert!(Instant::now() < deadline, "{pid} was not reaped");
        thread::yield_now();
    }
}
