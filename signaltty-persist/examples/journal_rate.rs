//! How many events a second the journal records while each producer waits for
//! its own to be durable.
//!
//! `cargo run --release -p signaltty-persist --example journal_rate -- [DIR]`
//! measures in a directory on the disk in question; a temporary one otherwise.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "an example that fails should say where, and its output is its purpose"
)]

use std::path::Path;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use signaltty_core::time::UnixMillis;
use signaltty_persist::journal::{Draft, Entry, Journal, Start};
use signaltty_persist::{Owner, StateDir};

const TIME: Duration = Duration::from_secs(5);

fn main() {
    let temporary = tempfile::tempdir().unwrap();
    let given = std::env::args_os().nth(1);
    let base = given.as_ref().map_or(temporary.path(), |given| Path::new(given));
    println!("producers   rec/s   syncs   recs/sync   p50 ms   p99 ms   max ms");
    for producers in [1, 4, 64, 256] {
        let place = base.join(format!("journal-rate-{producers}"));
        measure(&place, producers);
        std::fs::remove_dir_all(&place).unwrap();
    }
}

type Waiting = (Entry, SyncSender<()>);

fn measure(place: &Path, producers: usize) {
    let owner = Owner { pid: std::process::id(), started_at: UnixMillis(0), socket: None };
    let dir = StateDir::open(place, &owner).unwrap();
    let mut journal = Journal::open(&dir, Start::default()).unwrap().journal;
    let (send, receive) = sync_channel::<Waiting>(4_096);
    let end = Instant::now() + TIME;
    let threads: Vec<_> = (0..producers)
        .map(|n| {
            let send = send.clone();
            thread::spawn(move || produce(n, &send, end))
        })
        .collect();
    drop(send);
    let mut batches = 0_u32;
    while let Ok((first, done)) = receive.recv() {
        let (mut entries, mut waiting) = (vec![first], vec![done]);
        while let Ok((entry, done)) = receive.try_recv() {
            entries.push(entry);
            waiting.push(done);
        }
        journal.append(&entries, UnixMillis(0)).unwrap();
        waiting.iter().for_each(|done| done.send(()).unwrap());
        journal.upkeep().unwrap();
        batches += 1;
    }
    let mut waits: Vec<Duration> =
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect();
    journal.close(UnixMillis(0)).unwrap();
    waits.sort();
    let count = u32::try_from(waits.len()).unwrap();
    let at = |part: f64| {
        let index = (f64::from(count.saturating_sub(1)) * part).round();
        // Between 0 and the last index.
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "see above")]
        let wait = waits.get(index as usize);
        wait.map_or(0.0, |wait| wait.as_secs_f64() * 1_000.0)
    };
    println!(
        "{producers:9} {:7.0} {batches:7} {:11.1} {:8.2} {:8.2} {:8.2}",
        f64::from(count) / TIME.as_secs_f64(),
        f64::from(count) / f64::from(batches),
        at(0.5),
        at(0.99),
        at(1.0)
    );
}

/// Records one event after the other, and gives how long each took.
fn produce(n: usize, send: &SyncSender<Waiting>, end: Instant) -> Vec<Duration> {
    // About 224 bytes as a record, as most are.
    let payload = format!("{{\"pane_id\":\"pane_{n:016}\",\"note\":\"{}\"}}", "x".repeat(72));
    let draft = Draft::new(UnixMillis(1_700_000_000_000), "pane.updated", &payload).unwrap();
    let (done, wait) = sync_channel(1);
    let mut waits = Vec::new();
    while Instant::now() < end {
        let began = Instant::now();
        send.send((Entry::State(draft.clone()), done.clone())).unwrap();
        wait.recv().unwrap();
        waits.push(began.elapsed());
    }
    waits
}
