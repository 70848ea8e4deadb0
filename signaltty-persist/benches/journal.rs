//! How many events a second are recorded while each producer waits for its own
//! to be durable: the journal, and in the same run SQLite in WAL mode with
//! `synchronous=FULL`, both behind one thread that writes all that waits at once.
//!
//! `cargo bench -p signaltty-persist --bench journal [-- DIR]` measures in a
//! directory on the disk in question; otherwise below the build directory.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "a benchmark that fails should say where, and its output is its purpose"
)]

use std::path::{Path, PathBuf};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use rusqlite::Connection;
use signaltty_core::time::UnixMillis;
use signaltty_persist::journal::{Draft, Entry, Journal, Start};
use signaltty_persist::{Owner, StateDir};

/// How long each is measured at a time; each has three turns, in turn.
const TURN: Duration = Duration::from_secs(1);
const TURNS: usize = 3;

/// A record of 224 bytes with this payload.
const PAYLOAD: &str = "{\"pane_id\":\"pane_aaaaaaaaaaaaaaaa\",\"lifecycle\":\"working\",\
                       \"prev\":\"idle\",\"more\":\"xxxxxxxxxxxxxxxxxxxxxxxx\"}";

trait Recorder {
    /// Makes so many records durable.
    fn record(&mut self, count: usize);
}

impl Recorder for Journal {
    fn record(&mut self, count: usize) {
        let draft = Draft::new(UnixMillis(1), "agent.lifecycle", PAYLOAD).unwrap();
        self.append(&vec![Entry::State(draft); count], UnixMillis(1)).unwrap();
        self.upkeep().unwrap();
    }
}

struct Sqlite(Connection, i64);

impl Sqlite {
    fn open(path: &Path) -> Self {
        let db = Connection::open(path).unwrap();
        db.pragma_update(None, "journal_mode", "WAL").unwrap();
        db.pragma_update(None, "synchronous", "FULL").unwrap();
        db.execute_batch(
            "CREATE TABLE audit (seq INTEGER PRIMARY KEY, at INTEGER, event TEXT, payload TEXT)",
        )
        .unwrap();
        Self(db, 0)
    }
}

impl Recorder for Sqlite {
    fn record(&mut self, count: usize) {
        let transaction = self.0.transaction().unwrap();
        {
            let mut insert =
                transaction.prepare("INSERT INTO audit VALUES (?1, ?2, ?3, ?4)").unwrap();
            for _ in 0..count {
                self.1 += 1;
                insert.execute((self.1, 1, "agent.lifecycle", PAYLOAD)).unwrap();
            }
        }
        transaction.commit().unwrap();
    }
}

/// What some turns came to.
#[derive(Default)]
struct Tally {
    seconds: f64,
    syncs: usize,
    waits: Vec<Duration>,
}

impl Tally {
    fn rate(&self) -> f64 {
        self.waits.len() as f64 / self.seconds
    }

    fn percentile(&mut self, of: usize) -> f64 {
        self.waits.sort_unstable();
        let at = (self.waits.len() * of / 100).min(self.waits.len().saturating_sub(1));
        self.waits.get(at).map_or(0.0, |wait| wait.as_secs_f64() * 1_000.0)
    }
}

fn main() {
    // Cargo passes options of its own.
    let given = std::env::args_os().skip(1).find(|arg| !arg.as_encoded_bytes().starts_with(b"-"));
    let below = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    let base = tempfile::tempdir_in(given.map_or(below, PathBuf::from)).unwrap();
    println!("producers  store    rec/s   rec/sync   p50 ms   p99 ms");
    for producers in [1, 8, 64, 512] {
        let owner = Owner { pid: std::process::id(), started_at: UnixMillis(0), socket: None };
        let place = base.path().join(format!("state-{producers}"));
        let dir = StateDir::open(&place, &owner).unwrap();
        let mut journal = Journal::open(&dir, Start::default()).unwrap().journal;
        let mut sqlite = Sqlite::open(&base.path().join(format!("{producers}.db")));
        let (mut ours, mut theirs) = (Tally::default(), Tally::default());
        for _ in 0..TURNS {
            measure(&mut journal, producers, &mut ours);
            measure(&mut sqlite, producers, &mut theirs);
        }
        for (store, mut tally) in [("journal", ours), ("sqlite", theirs)] {
            println!(
                "{producers:9}  {store:7} {:7.0}   {:8.1}   {:6.2}   {:6.2}",
                tally.rate(),
                tally.waits.len() as f64 / tally.syncs.max(1) as f64,
                tally.percentile(50),
                tally.percentile(99)
            );
        }
    }
}

fn measure(recorder: &mut impl Recorder, producers: usize, tally: &mut Tally) {
    let (send, receive) = sync_channel::<SyncSender<()>>(4_096);
    let began = Instant::now();
    let end = began + TURN;
    let threads: Vec<_> = (0..producers)
        .map(|_| {
            let send = send.clone();
            thread::spawn(move || produce(&send, end))
        })
        .collect();
    drop(send);
    while let Ok(first) = receive.recv() {
        let mut waiting = vec![first];
        while let Ok(done) = receive.try_recv() {
            waiting.push(done);
        }
        recorder.record(waiting.len());
        waiting.iter().for_each(|done| done.send(()).unwrap());
        tally.syncs += 1;
    }
    tally.waits.extend(threads.into_iter().flat_map(|thread| thread.join().unwrap()));
    tally.seconds += began.elapsed().as_secs_f64();
}

fn produce(send: &SyncSender<SyncSender<()>>, end: Instant) -> Vec<Duration> {
    let (done, wait) = sync_channel(1);
    let mut waits = Vec::new();
    while Instant::now() < end {
        let asked = Instant::now();
        send.send(done.clone()).unwrap();
        wait.recv().unwrap();
        waits.push(asked.elapsed());
    }
    waits
}
