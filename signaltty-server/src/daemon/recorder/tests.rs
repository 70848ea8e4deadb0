//! When subscribers see what, on a disk that waits or fails on command.

use std::collections::VecDeque;
use std::io;
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

use signaltty_core::id::ServerEpoch;
use signaltty_core::time::UnixMillis;
use signaltty_persist::fault::{Fault, FaultFile, FaultFs};
use signaltty_persist::fs::{FileStat, Fs, FsFile};
use signaltty_persist::journal::{Cursor, Replay, View};
use signaltty_persist::{Owner, StateDir};
use tokio::sync::{broadcast, mpsc, oneshot};

use super::*;
use crate::daemon::publisher::{Messages, text};

/// A disk whose syncs of data wait while the gate is closed.
#[derive(Debug, Clone)]
struct GateFs {
    fs: FaultFs,
    gate: Arc<Gate>,
}

#[derive(Debug)]
struct GateFile {
    file: FaultFile,
    gate: Arc<Gate>,
}

#[derive(Debug, Default)]
struct Gate {
    state: Mutex<GateState>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct GateState {
    closed: bool,
    waiting: bool,
    syncs: u64,
}

impl Gate {
    fn set(&self, closed: bool) {
        self.state.lock().unwrap().closed = closed;
        self.changed.notify_all();
    }

    fn pass(&self) {
        let mut state = self.state.lock().unwrap();
        state.waiting = true;
        self.changed.notify_all();
        while state.closed {
            state = self.changed.wait(state).unwrap();
        }
        state.waiting = false;
        state.syncs += 1;
        self.changed.notify_all();
    }

    fn until(&self, reached: impl Fn(&GateState) -> bool) {
        let mut state = self.state.lock().unwrap();
        let end = Instant::now() + Duration::from_secs(20);
        while !reached(&state) {
            assert!(Instant::now() < end, "not reached: {state:?}");
            state = self.changed.wait_timeout(state, Duration::from_secs(1)).unwrap().0;
        }
    }

    fn syncs(&self) -> u64 {
        self.state.lock().unwrap().syncs
    }
}

impl GateFs {
    fn new(fs: FaultFs) -> Self {
        Self { fs, gate: Arc::default() }
    }

    fn file(&self, file: io::Result<FaultFile>) -> io::Result<GateFile> {
        Ok(GateFile { file: file?, gate: Arc::clone(&self.gate) })
    }
}

impl Fs for GateFs {
    type File = GateFile;

    fn make_dir(&self, name: &str) -> io::Result<()> {
        self.fs.make_dir(name)
    }
    fn dir(&self, name: &str) -> io::Result<Self> {
        Ok(Self { fs: self.fs.dir(name)?, gate: Arc::clone(&self.gate) })
    }
    fn open(&self, name: &str) -> io::Result<GateFile> {
        self.file(self.fs.open(name))
    }
    fn create(&self, name: &str) -> io::Result<GateFile> {
        self.file(self.fs.create(name))
    }
    fn append(&self, name: &str) -> io::Result<GateFile> {
        self.file(self.fs.append(name))
    }
    fn update(&self, name: &str) -> io::Result<GateFile> {
        self.file(self.fs.update(name))
    }
    fn stat(&self, name: &str) -> io::Result<FileStat> {
        self.fs.stat(name)
    }
    fn lock(&self, name: &str) -> io::Result<GateFile> {
        self.file(self.fs.lock(name))
    }
    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        self.fs.rename(from, to)
    }
    fn link(&self, from: &str, target: &Self, to: &str) -> io::Result<()> {
        self.fs.link(from, &target.fs, to)
    }
    fn remove(&self, name: &str) -> io::Result<()> {
        self.fs.remove(name)
    }
    fn sync(&self) -> io::Result<()> {
        self.fs.sync()
    }
    fn names(&self) -> io::Result<Vec<String>> {
        self.fs.names()
    }
}

impl FsFile for GateFile {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.file.read(buffer)
    }
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }
    fn write_start(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write_start(bytes)
    }
    fn cut(&mut self, len: u64) -> io::Result<()> {
        self.file.cut(len)
    }
    fn sync_data(&mut self) -> io::Result<()> {
        self.gate.pass();
        self.file.sync_data()
    }
    fn truncate(&mut self) -> io::Result<()> {
        self.file.truncate()
    }
    fn identity(&self) -> io::Result<(u64, u64)> {
        self.file.identity()
    }
}

impl Shown for GateFs {
    fn shown(_: View<GateFile>) -> Option<View> {
        None
    }
}

/// A recorder at work, a subscriber, and what the loop was told.
struct Bench {
    fs: GateFs,
    publisher: Publisher,
    thread: thread::JoinHandle<()>,
    lines: broadcast::Receiver<Line>,
    events: mpsc::Receiver<Event>,
}

fn bench(fs: FaultFs, floor: u64) -> Bench {
    let fs = GateFs::new(fs);
    let owner = Owner { pid: 1, started_at: UnixMillis(1), socket: None };
    let dir = StateDir::lock(fs.clone(), "/state".into(), &owner).unwrap();
    let (send, events) = mpsc::channel(64);
    let (publisher, thread) = start(dir, floor, [7; 8], ServerEpoch(1), send).unwrap();
    let lines = wait(publisher.subscribe(false)).lines;
    Bench { fs, publisher, thread, lines, events }
}

fn wait<T>(receiver: oneshot::Receiver<T>) -> T {
    receiver.blocking_recv().unwrap()
}

fn pending(n: u64, passing: bool) -> Pending {
    Pending {
        event: if passing { "pane.bell" } else { "pane.updated" },
        at: UnixMillis(n),
        payload: format!("{{\"n\":{n}}}"),
        recorded: None,
        passing,
        dropped_before: 0,
    }
}

impl Bench {
    fn publish(&self, n: u64) {
        self.publisher.hand_over(pending(n, false));
    }

    fn next(&mut self) -> Line {
        self.lines.blocking_recv().unwrap()
    }

    fn next_seq(&mut self) -> Option<u64> {
        match self.next() {
            Line::Event { text, .. } => {
                let line: serde_json::Value = serde_json::from_slice(&text).unwrap();
                line.get("seq").and_then(serde_json::Value::as_u64)
            }
            Line::Missed(count) => panic!("missed {count}"),
        }
    }

    /// Ends the recorder and gives the disk as the next process finds it.
    fn stop(self) -> FaultFs {
        let Self { fs, publisher, thread, .. } = self;
        drop(publisher);
        thread.join().unwrap();
        fs.fs.after_kill()
    }

    fn health(&mut self) -> Health {
        match self.events.blocking_recv().unwrap() {
            Event::Journal { health, .. } => health,
            _ => panic!("the recorder tells of nothing else"),
        }
    }
}

fn replay(fs: &FaultFs, seq: u64) -> Replay {
    let owner = Owner { pid: 1, started_at: UnixMillis(1), socket: None };
    let dir = StateDir::lock(fs.clone(), "/state".into(), &owner).unwrap();
    let journal = Journal::open(&dir, Start::default()).unwrap().journal;
    let cursor = Cursor { journal_id: journal.id().to_owned(), seq };
    journal.view().unwrap().replay(&cursor, |_| true)
}

#[test]
fn s0_52_inv_j2_nobody_sees_an_event_before_its_sync_returned() {
    let mut bench = bench(FaultFs::new(), 0);
    for n in 0..20 {
        let before = bench.fs.gate.syncs();
        bench.fs.gate.set(true);
        bench.publish(n);
        // Its sync was asked for and has not returned.
        bench.fs.gate.until(|gate| gate.waiting);
        let early = bench.lines.try_recv();
        assert!(matches!(early, Err(broadcast::error::TryRecvError::Empty)), "{early:?}");
        bench.fs.gate.set(false);
        let seq = bench.next_seq().unwrap();
        assert!(bench.fs.gate.syncs() > before);
        // Whatever a loss of power takes, it is there.
        for image in bench.fs.fs.after_power_loss() {
            let file = String::from_utf8_lossy(&image.files()["audit.jsonl"]).into_owned();
            assert!(file.contains(&format!("{{\"seq\":{seq},")), "{seq} is not in {file}");
        }
    }
    bench.stop();
}

#[test]
fn what_waits_while_a_sync_is_under_way_shares_the_next_one() {
    let mut bench = bench(FaultFs::new(), 0);
    bench.fs.gate.set(true);
    bench.publish(0);
    bench.fs.gate.until(|gate| gate.waiting);
    let before = bench.fs.gate.syncs();
    (1..=500).for_each(|n| bench.publish(n));
    bench.fs.gate.set(false);
    let numbers: Vec<_> = (0..=500).map(|_| bench.next_seq().unwrap()).collect();
    assert!(numbers.windows(2).all(|two| two[0] < two[1]));
    let syncs = bench.fs.gate.syncs() - before;
    assert!(syncs <= 4, "{syncs} syncs for 501 events");
    bench.stop();
}

#[test]
fn passing_events_take_numbers_and_leave_no_record() {
    let mut bench = bench(FaultFs::new(), 0);
    bench.publish(0);
    bench.publisher.hand_over(pending(1, true));
    bench.publish(2);
    assert_eq!([bench.next_seq(), bench.next_seq(), bench.next_seq()], [Some(2), Some(3), Some(4)]);
    assert_eq!(wait(bench.publisher.flush()), 4);
    let fs = bench.stop();
    let Replay::Complete(events) = replay(&fs, 2) else { panic!() };
    assert_eq!(events.iter().map(|event| event.seq).collect::<VecDeque<_>>(), [4]);
    assert!(fs.files()["audit.jsonl"].ends_with(b"}\n"));
}

#[test]
fn c016_inv_j4_without_a_journal_events_go_on_without_numbers() {
    let mut bench = bench(FaultFs::new(), 0);
    bench.publish(0);
    let before = bench.next_seq().unwrap();
    let disk = bench.fs.fs.clone();
    disk.fail(disk.operations() + 1, Fault::Forever(28));
    bench.publish(1);
    assert_eq!(bench.next_seq(), None);
    let health = bench.health();
    assert_eq!(health.state, "degraded");
    let detail = health.detail.unwrap();
    for part in ["since ", "no_space", "without numbers", "make room"] {
        assert!(detail.contains(part), "{part} is not in {detail}");
    }
    let past = wait(bench.publisher.subscribe(true)).past;
    assert!(matches!(past, Some(Err(_))));
    // The snapshot knows that there is a gap.
    assert!(bench.publisher.published() > before);
    disk.heal();
    assert_eq!(bench.health().state, "ok");
    bench.publish(2);
    let after = bench.next_seq().unwrap();
    let fs = bench.stop();
    assert!(matches!(replay(&fs, before), Replay::HistoryLost { .. }));
    assert!(matches!(replay(&fs, after), Replay::Complete(events) if events.is_empty()));
}

#[test]
fn a_server_that_ends_during_an_outage_leaves_the_gap_in_the_snapshot() {
    let mut first = bench(FaultFs::new(), 0);
    first.publish(0);
    let before = first.next_seq().unwrap();
    let disk = first.fs.fs.clone();
    disk.fail(disk.operations() + 1, Fault::Forever(5));
    first.publish(1);
    assert_eq!(first.next_seq(), None);
    let floor = first.publisher.published();
    let fs = first.stop();
    let second = bench(fs, floor);
    let fs = second.stop();
    assert!(matches!(replay(&fs, before), Replay::HistoryLost { .. }));
}

#[test]
fn a_journal_that_cannot_be_opened_is_opened_later() {
    let fs = FaultFs::new();
    // After the lock, its note, and the subscription that needs none.
    fs.fail(4, Fault::Forever(30));
    let mut bench = bench(fs.clone(), 0);
    assert!(bench.health().detail.unwrap().contains("read_only"));
    bench.publish(0);
    assert_eq!(bench.next_seq(), None);
    fs.heal();
    assert_eq!(bench.health().state, "ok");
    bench.publish(1);
    let seq = bench.next_seq().unwrap();
    let fs = bench.stop();
    assert!(matches!(replay(&fs, 0), Replay::HistoryLost { .. }));
    assert!(matches!(replay(&fs, seq), Replay::Complete(events) if events.is_empty()));
}

#[test]
fn more_events_than_fit_are_a_gap_that_everybody_is_told_of() {
    let mut bench = bench(FaultFs::new(), 0);
    bench.fs.gate.set(true);
    bench.publish(0);
    bench.fs.gate.until(|gate| gate.waiting);
    let cursor = 2;
    for n in 1..=u64::try_from(WAITING).unwrap() + 10 {
        bench.publish(n);
    }
    bench.fs.gate.set(false);
    // What finds room says how much did not.
    let last = loop {
        // Refused while there is no room.
        if let Ok(last) = bench.publisher.flush().blocking_recv() {
            break last;
        }
        thread::yield_now();
    };
    let missed = loop {
        match bench.lines.blocking_recv() {
            Ok(Line::Missed(count)) => break count,
            Ok(Line::Event { .. }) | Err(broadcast::error::RecvError::Lagged(_)) => {}
            Err(error) => panic!("{error}"),
        }
    };
    assert!((1..=11).contains(&missed), "{missed}");
    let fs = bench.stop();
    assert!(matches!(replay(&fs, cursor), Replay::HistoryLost { .. }));
    assert!(matches!(replay(&fs, last), Replay::Complete(events) if events.is_empty()));
}

#[test]
fn s0_54_a_valid_journal_with_an_older_snapshot_says_so() {
    let mut first = bench(FaultFs::new(), 0);
    (0..3).for_each(|n| first.publish(n));
    let seqs = [first.next_seq(), first.next_seq(), first.next_seq()].map(Option::unwrap);
    // Killed: the journal was not closed.
    let fs = first.fs.fs.after_kill();
    first.stop();
    let mut second = bench(fs, seqs[0]);
    let Some(Event::Journal { health, problems }) = second.events.blocking_recv() else { panic!() };
    assert_eq!(health.state, "ok");
    assert!(problems[0].contains(&format!("saved after event {}", seqs[0])), "{problems:?}");
    let fs = second.fs.fs.after_kill();
    second.stop();
    let Replay::Complete(events) = replay(&fs, seqs[2]) else { panic!() };
    assert_eq!(events[0].event, "session.restored");
    assert_eq!(
        events[0].payload,
        format!("{{\"journal_seq\":{},\"last_seq\":{}}}", seqs[0], seqs[2])
    );
}

#[test]
fn d30_messages_are_shown_and_not_recorded_where_no_history_is_kept() {
    let mut bench = bench(FaultFs::new(), 0);
    let event = signaltty_core::session::Event::ResumeFailed {
        pane: "pane_aaaaaaaaaaaaaaaa".parse().unwrap(),
        refusal: signaltty_core::restore::Refusal::new(
            signaltty_core::restore::FailureCode::Gone,
            "canary",
        ),
    };
    for (messages, recorded) in [(Messages::Withheld, false), (Messages::Recorded, true)] {
        bench.publisher.publish(&event, messages);
        let Line::Event { text, .. } = bench.next() else { panic!() };
        assert!(String::from_utf8_lossy(&text).contains("canary"));
        let file = bench.fs.fs.files()["audit.jsonl"].clone();
        let file = String::from_utf8(file).unwrap();
        assert_eq!(file.contains("canary"), recorded, "{file}");
        assert!(file.contains("\"code\":\"gone\""));
    }
    bench.stop();
}

#[test]
fn golden_line() {
    let line =
        |seq| String::from_utf8(text("pane.state", seq, UnixMillis(0), "{}").to_vec()).unwrap();
    assert_eq!(
        line(Some(7)),
        "{\"event\":\"pane.state\",\"seq\":7,\"at\":\"1970-01-01T00:00:00Z\",\"payload\":{}}\n"
    );
    assert_eq!(
        line(None),
        "{\"event\":\"pane.state\",\"at\":\"1970-01-01T00:00:00Z\",\"payload\":{}}\n"
    );
}
