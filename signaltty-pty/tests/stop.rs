//! The stop ladder.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)]

mod common;

use std::fs;
use std::time::Duration;

use common::{PATIENCE, read_until, run, sh, start};
use rustix::process::{Pid, Signal, kill_process};
use signaltty_pty::{ExitStatus, StopStep};

#[test]
fn a_hangup_is_enough_for_most() {
    run(async {
        let (pty, child) = start(&sh("sleep 1000 & echo ready; wait"));
        read_until(&pty, "ready").await;
        let report = child.stop(PATIENCE).await.unwrap();
        assert_eq!(report.needed, StopStep::Hangup);
        assert_eq!(report.status, Some(ExitStatus { code: None, signal: Some(1) }));
        assert!(report.remaining.is_empty() && report.escaped.is_empty());
    });
}

#[test]
fn a_child_that_cleans_up_at_term_may() {
    run(async {
        let script = "trap '' HUP; trap 'exit 3' TERM; echo ready; while :; do sleep 1000; done";
        let (pty, child) = start(&sh(script));
        read_until(&pty, "ready").await;
        let report = child.stop(Duration::from_millis(300)).await.unwrap();
        assert_eq!(report.needed, StopStep::Terminate);
        assert_eq!(report.status, Some(ExitStatus { code: Some(3), signal: None }));
    });
}

#[test]
fn c094_the_whole_session_is_killed_and_who_left_it_is_reported() {
    run(async {
        let script = "trap '' HUP TERM; sleep 900 &
            setsid sh -c 'echo away; exec sleep 901' & echo ready $!; wait";
        let (pty, child) = start(&sh(script));
        let mut text = read_until(&pty, "away").await;
        if !text.contains("ready") {
            text += &read_until(&pty, "ready").await;
        }
        let report = child.stop(Duration::from_millis(50)).await.unwrap();
        assert_eq!(report.needed, StopStep::Kill);
        assert_eq!(report.status, Some(ExitStatus { code: None, signal: Some(9) }));
        assert!(report.remaining.is_empty(), "{report:?}");
        let [escaped] = report.escaped[..] else { panic!("{report:?}") };
        assert!(text.contains(&format!("ready {}", escaped.pid)), "{text} {report:?}");
        kill_process(Pid::from_raw(escaped.pid as i32).unwrap(), Signal::KILL).unwrap();
        // Nobody of the session is left either.
        let session = child.pid().to_string();
        for entry in fs::read_dir("/proc").unwrap().flatten() {
            let stat = fs::read_to_string(entry.path().join("stat")).unwrap_or_default();
            let fields: Vec<&str> = stat.rsplit(')').next().unwrap().split(' ').collect();
            let alive = fields.get(1).is_some_and(|state| *state != "Z");
            assert!(!alive || fields.get(4) != Some(&session.as_str()), "{stat}");
        }
    });
}

#[test]
fn grandchildren_outside_the_group_are_ended_too() {
    run(async {
        // With job control each background job has a group of its own.
        let script = "set -m; trap '' HUP TERM; sh -c 'trap \"\" HUP TERM; sleep 1000; :' &
            echo ready $!; exit 0";
        let (pty, child) = start(&sh(script));
        let text = read_until(&pty, "ready").await;
        child.wait().await.unwrap();
        let report = child.stop(Duration::from_millis(50)).await.unwrap();
        assert_eq!(report.needed, StopStep::Kill, "{text} {report:?}");
        assert!(report.remaining.is_empty(), "{report:?}");
    });
}

#[test]
fn a_stopped_child_is_woken_to_end() {
    run(async {
        let (pty, child) = start(&sh("echo ready; kill -STOP $$; sleep 1000"));
        read_until(&pty, "ready").await;
        let report = child.stop(PATIENCE).await.unwrap();
        assert_eq!(report.needed, StopStep::Hangup);
    });
}

#[test]
fn nothing_is_done_where_nobody_is_left() {
    run(async {
        let (_pty, child) = start(&sh("exit 5"));
        child.wait().await.unwrap();
        let report = child.stop(PATIENCE).await.unwrap();
        assert_eq!(report.needed, StopStep::Nothing);
        assert_eq!(report.status.unwrap().code, Some(5));
    });
}
