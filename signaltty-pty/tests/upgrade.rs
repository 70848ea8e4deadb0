//! A child survives when its server becomes another program (D-15).
//!
//! An upgrade in place executes the new server in the old one's process. Every
//! thread but the main one ends with that, and the signal that ends children with
//! their parent follows the thread that forked them. So the program below is a
//! server in small: it starts one child from its main thread and one from another
//! thread, and executes itself again. It runs without the usual test harness, which
//! runs tests on threads of its own.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)]
#![allow(clippy::print_stdout)]

mod common;

use std::env;
use std::fs;
use std::io::{self, BufRead, BufReader};
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::sync::mpsc::channel;
use std::thread;

use common::{PATIENCE, sh};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::{FdFlags, fcntl_setfd, read, write};
use rustix::process::{
    Pid, PidfdFlags, PidfdGetfdFlags, WaitIdOptions, getpid, pidfd_getfd, pidfd_open, waitid,
};
use signaltty_pty::{Child, Pty};

/// Names what this process is.
const ROLE: &str = "SIGNALTTY_PTY_TEST_ROLE";

/// The children, and the terminal of the first one, of the server that is no more.
const LEFT: &str = "SIGNALTTY_PTY_TEST_LEFT";

fn main() {
    match env::var(ROLE).as_deref() {
        Ok("before") => before(),
        Ok("after") => after(),
        _ if env::args().any(|arg| arg == "--list") => {}
        _ => {
            d15_a_child_of_the_main_thread_survives_an_exec_of_its_server();
            println!("test d15_a_child_of_the_main_thread_survives_an_exec_of_its_server ... ok");
        }
    }
}

fn d15_a_child_of_the_main_thread_survives_an_exec_of_its_server() {
    let mut server = Command::new(env::current_exe().unwrap())
        .env(ROLE, "before")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut said = BufReader::new(server.stdout.take().unwrap()).lines();
    let child = said.next().unwrap().unwrap();
    let child = child.strip_prefix("still there: ").unwrap_or_else(|| panic!("{child:?}"));
    let child = watch(child.parse().unwrap()).expect("it runs");
    // It still ends with its server, whichever program that is by now.
    server.kill().unwrap();
    server.wait().unwrap();
    assert!(ended(&child), "the child outlives its server");
}

/// The old server.
fn before() {
    let (of_main, terminal) = start();
    // Not close-on-exec any more: the new program takes it over.
    fcntl_setfd(&terminal, FdFlags::empty()).unwrap();
    let (send, receive) = channel();
    // Lives until the exec ends it.
    thread::spawn(move || {
        let (of_thread, _terminal) = start();
        send.send(of_thread.pid()).unwrap();
        loop {
            thread::park();
        }
    });
    let of_thread = receive.recv().unwrap();
    let left = format!("{} {} {of_thread}", of_main.pid(), terminal.as_raw_fd());
    let error = Command::new("/proc/self/exe").env(ROLE, "after").env(LEFT, left).exec();
    panic!("no exec: {error}");
}

/// The new one, in the same process.
fn after() {
    let left = env::var(LEFT).unwrap();
    let left: Vec<i32> = left.split(' ').map(|number| number.parse().unwrap()).collect();
    let (of_main, terminal, of_thread) = (left[0], own(left[1]), left[2]);
    let of_thread = watch(of_thread).expect("nobody has waited for it yet");
    assert!(ended(&of_thread), "the child of the thread that ended is left");
    let of_main_pid = Pid::from_raw(of_main).unwrap();
    let of_main = watch(of_main).expect("it runs");
    let look = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    assert!(waitid(rustix::process::WaitId::Pid(of_main_pid), look).unwrap().is_none());
    assert!(poll_in(&of_main, 0) == 0, "the child of the main thread ended");
    // Its terminal is as it was.
    write(&terminal, b"are you there\n").unwrap();
    let mut seen = String::new();
    while !seen.contains("got are you there") {
        assert_eq!(poll_in(&terminal, PATIENCE.as_secs()), 1, "no answer: {seen:?}");
        let mut buffer = [0; 1024];
        let count = read(&terminal, &mut buffer).unwrap();
        assert!(count > 0, "{seen:?}");
        seen.push_str(&String::from_utf8_lossy(&buffer[..count]));
    }
    println!("still there: {}", of_main_pid.as_raw_nonzero());
    // Until the test kills this process.
    io::stdin().lines().for_each(drop);
}

/// A child that answers, and ends by no hangup; its terminal with it.
fn start() -> (Child, OwnedFd) {
    let open = |fd: &i32| fs::read_link(format!("/proc/self/fd/{fd}")).unwrap_or_default();
    let masters = || (3..100).filter(|fd| open(fd).ends_with("ptmx")).collect::<Vec<_>>();
    let before = masters();
    let script = "trap '' HUP; while read -r line; do echo \"got $line\"; done; exec sleep 1000";
    let (pty, child): (Pty, Child) = signaltty_pty::spawn(&sh(script)).unwrap();
    // The crate hands out no descriptor, so this process takes a copy of its own.
    let master = masters().into_iter().find(|fd| !before.contains(fd));
    let copy = own(master.expect("the master of the terminal"));
    drop(pty);
    (child, copy)
}

/// A copy of a descriptor of this process.
fn own(fd: i32) -> OwnedFd {
    let this = pidfd_open(getpid(), PidfdFlags::empty()).unwrap();
    pidfd_getfd(this, fd, PidfdGetfdFlags::empty()).unwrap()
}

fn watch(pid: i32) -> Option<OwnedFd> {
    pidfd_open(Pid::from_raw(pid).unwrap(), PidfdFlags::empty()).ok()
}

fn ended(process: &OwnedFd) -> bool {
    poll_in(process, PATIENCE.as_secs()) == 1
}

fn poll_in(fd: &OwnedFd, seconds: u64) -> usize {
    let mut polled = [PollFd::new(fd, PollFlags::IN)];
    let patience = Timespec { tv_sec: seconds.try_into().unwrap(), tv_nsec: 0 };
    poll(&mut polled, Some(&patience)).unwrap()
}
