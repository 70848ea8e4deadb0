//! How many events a second are recorded while each producer waits for its own
//! to be durable: the journal, and in the same run SQLite in WAL mode with
//! `synchronous=FULL`, each behind one thread that writes all that waits at once.
//! `sqlite` deletes old rows, so that it keeps as much as the journal does;
//! `growing` is SQLite that keeps all.
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

use rusqlite::{Connection, Statement};
use signaltty_core::time::UnixMillis;
use signaltty_persist::journal::{Draft, Entry, Journal, Start};
use signaltty_persist::{Owner, StateDir};

/// How long each is measured at a time. They take turns, and another one has
/// the first turn in each round: other work on the machine and on its disk is to
/// meet all of them.
const TURN: Duration = Duration::from_millis(500);
const ROUNDS: usize = 9;

/// A record of 224 bytes with this payload.
const PAYLOAD: &str = "{\"pane_id\":\"pane_aaaaaaaaaaaaaaaa\",\"lifecycle\":\"working\",\
                       \"prev\":\"idle\",\"more\":\"xxxxxxxxxxxxxxxxxxxxxxxx\"}";

trait Recorder {
    /// Makes so many records durable.
    fn record(&mut self, count: usize);

    /// What is done once those who waited know.
    fn upkeep(&mut self) {}
}

impl Recorder for Journal {
    fn record(&mut self, count: usize) {
        let draft = Draft::new(UnixMillis(1), "agent.lifecycle", PAYLOAD).unwrap();
        self.append(&vec![Entry::State(draft); count], UnixMillis(1)).unwrap();
    }

    fn upkeep(&mut self) {
        Self::upkeep(self).unwrap();
    }
}

/// Its statements are prepared once.
struct Sqlite {
    begin: Statement<'static>,
    insert: Statement<'static>,
    commit: Statement<'static>,
    delete: Statement<'static>,
    seq: i64,
    /// The last number that was deleted, where only so much is kept as the
    /// journal keeps.
    deleted: Option<i64>,
}

impl Sqlite {
    fn open(path: &Path, bounded: bool) -> Self {
        // Statements borrow it, and the process ends soon.
        let db: &'static Connection = Box::leak(Box::new(Connection::open(path).unwrap()));
        db.pragma_update(None, "journal_mode", "WAL").unwrap();
        db.pragma_update(None, "synchronous", "FULL").unwrap();
        db.execute_batch(
            "CREATE TABLE audit (seq INTEGER PRIMARY KEY, at INTEGER, event TEXT, payload TEXT)",
        )
        .unwrap();
        let prepare = |text| db.prepare(text).unwrap();
        Self {
            begin: prepare("BEGIN"),
            insert: prepare("INSERT INTO audit VALUES (?1, ?2, ?3, ?4)"),
            commit: prepare("COMMIT"),
            delete: prepare("DELETE FROM audit WHERE seq <= ?1"),
            seq: 0,
            deleted: bounded.then_some(0),
        }
    }
}

impl Recorder for Sqlite {
    fn record(&mut self, count: usize) {
        self.begin.execute(()).unwrap();
        for _ in 0..count {
            self.seq += 1;
            self.insert.execute((self.seq, 1, "agent.lifecycle", PAYLOAD)).unwrap();
        }
        self.commit.execute(()).unwrap();
    }

    fn upkeep(&mut self) {
        // As a file of the journal goes once there are two full ones.
        if let Some(deleted) = self.deleted.filter(|last| self.seq - last > 2 * FILE) {
            self.delete.execute((deleted + FILE,)).unwrap();
            self.deleted = Some(deleted + FILE);
        }
    }
}

/// How many records a full file of the journal has.
const FILE: i64 = 8 * 1024 * 1024 / 224;

/// What some turns came to.
#[derive(Default)]
struct Tally {
    /// Records a second, of each turn.
    rates: Vec<f64>,
    syncs: usize,
    waits: Vec<Duration>,
}

impl Tally {
    /// The median of the turns: a turn that met other work counts once.
    fn rate(&mut self) -> f64 {
        self.rates.sort_unstable_by(f64::total_cmp);
        self.rates[self.rates.len() / 2]
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
        let file = |name: &str| base.path().join(format!("{name}-{producers}.db"));
        let mut bounded = Sqlite::open(&file("bounded"), true);
        let mut growing = Sqlite::open(&file("growing"), false);
        let mut tallies: [Tally; 3] = Default::default();
        for round in 0..ROUNDS {
            for turn in 0..tallies.len() {
                match (round + turn) % tallies.len() {
                    0 => measure(&mut journal, producers, &mut tallies[0]),
                    1 => measure(&mut bounded, producers, &mut tallies[1]),
                    _ => measure(&mut growing, producers, &mut tallies[2]),
                }
            }
        }
        for (store, mut tally) in ["journal", "sqlite", "growing"].into_iter().zip(tallies) {
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
        recorder.upkeep();
        tally.syncs += 1;
    }
    let before = tally.waits.len();
    tally.waits.extend(threads.into_iter().flat_map(|thread| thread.join().unwrap()));
    tally.rates.push((tally.waits.len() - before) as f64 / began.elapsed().as_secs_f64());
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
