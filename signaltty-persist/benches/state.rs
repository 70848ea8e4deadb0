//! What it costs to keep the state: the pause of whoever owns it, a save until
//! it is durable, a save of nothing new, a start.
//!
//! `cargo bench -p signaltty-persist --bench state` measures below the build
//! directory; set `SIGNALTTY_BENCH_DIR` for another disk.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    missing_docs,
    unreachable_pub,
    reason = "a benchmark that fails should say where"
)]

#[path = "../tests/common/mod.rs"]
mod common;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use divan::Bencher;
use signaltty_core::id::{PaneId, ServerEpoch, TabId};
use signaltty_core::layout::{Direction, Layout, Limits};
use signaltty_core::saved::SavedSession;
use signaltty_core::session::{Config, Session};
use signaltty_core::time::{Now, UnixMillis};
use signaltty_persist::journal::{Draft, Entry, Journal, Start};
use signaltty_persist::{Loaded, StateDir, Store, tail};

use common::{open, owner, program, synced};

fn main() {
    divan::main();
}

fn place() -> tempfile::TempDir {
    let base = std::env::var_os("SIGNALTTY_BENCH_DIR").map(PathBuf::from);
    tempfile::tempdir_in(base.unwrap_or_else(|| env!("CARGO_TARGET_TMPDIR").into())).unwrap()
}

/// A session of so many panes, 8 to a tab, every field filled.
fn session(panes: usize) -> SavedSession {
    let id = |prefix: u8, n: usize| {
        let [.., c, d] = (n as u32).to_be_bytes();
        [prefix, 0, 0, 0, 0, 0, 0, c, d, 1]
    };
    let mut session = common::session("api", &[1]);
    let (tab, pane) = (session.tabs.remove(0), session.panes.remove(0));
    session.notifications.clear();
    for (number, count) in (0..panes).step_by(8).map(|at| (at, 8.min(panes - at))) {
        let mut tab = (*tab).clone();
        tab.id = TabId::from_random(id(2, number));
        let leaves: Vec<_> =
            (number..number + count).map(|n| PaneId::from_random(id(3, n))).collect();
        tab.layout = Layout::single(leaves[0]);
        for pair in leaves.windows(2) {
            tab.layout.split(pair[0], Direction::Right, pair[1], &Limits::default(), None).unwrap();
        }
        tab.active_pane = leaves[0];
        for leaf in leaves {
            let mut pane = (*pane).clone();
            (pane.id, pane.tab) = (leaf, tab.id);
            session.panes.push(Arc::new(pane));
        }
        session.tabs.push(Arc::new(tab));
    }
    let workspace = Arc::make_mut(&mut session.workspaces[0]);
    workspace.active_tab = Some(session.tabs[0].id);
    session
}

const PANES: [usize; 3] = [10, 1_000, 10_000];

/// What the loop does for a save: it takes a shared copy.
#[divan::bench(args = PANES)]
fn loop_pause(bencher: Bencher, panes: usize) {
    let now = Now { mono: Duration::ZERO, wall: UnixMillis(1) };
    let config = Config::default();
    let (live, _) = Session::restore(session(panes), ServerEpoch(1), config, now);
    assert_eq!(live.saved(now).panes.len(), panes);
    bencher.bench_local(|| live.saved(now));
}

/// From the copy to a snapshot that a loss of power leaves.
#[divan::bench(args = PANES, sample_size = 1, sample_count = 30)]
fn save_until_durable(bencher: Bencher, panes: usize) {
    let dir = place();
    let mut store = open(&dir.path().join("state")).store;
    let mut session = session(panes);
    bencher.bench_local(|| {
        session.saved_at.0 += 1;
        Arc::make_mut(&mut session.panes[0]).created_at.0 += 1;
        assert!(store.save(synced(&session)).unwrap().durable);
    });
}

/// The same, with the full tails of 32 panes.
#[divan::bench(sample_size = 1, sample_count = 20)]
fn save_1_000_panes_with_32_tails(bencher: Bencher) {
    let dir = place();
    let mut store = open(&dir.path().join("state")).store;
    let mut session = session(1_000);
    let mut text = vec![b'x'; tail::CAPACITY];
    bencher.bench_local(|| {
        text[0] = text[0].wrapping_add(1);
        Arc::make_mut(&mut session.panes[0]).created_at.0 += 1;
        let tails: Vec<_> =
            session.panes.iter().take(32).map(|pane| (pane.id, &text[..])).collect();
        let save = signaltty_persist::Save { tails: &tails, ..synced(&session) };
        assert_eq!(store.save(save).unwrap().tails_written, 32);
    });
}

/// Nothing changed: no byte is written and nothing is synced.
#[divan::bench(args = PANES)]
fn save_of_nothing_new(bencher: Bencher, panes: usize) {
    let dir = place();
    let mut store = open(&dir.path().join("state")).store;
    let session = session(panes);
    store.save(synced(&session)).unwrap();
    bencher.bench_local(|| assert!(!store.save(synced(&session)).unwrap().written));
}

/// One event, from the append until it may be published.
#[divan::bench(sample_size = 1, sample_count = 500)]
fn publish_one_event(bencher: Bencher) {
    let dir = place();
    let dir = StateDir::open(&dir.path().join("state"), &owner()).unwrap();
    let mut journal = Journal::open(&dir, Start::default()).unwrap().journal;
    let payload = "{\"pane_id\":\"pane_aaaaaaaaaaaaaaaa\",\"lifecycle\":\"working\"}";
    let draft = Draft::new(UnixMillis(1), "agent.lifecycle", payload).unwrap();
    bencher.bench_local(|| journal.append(&[Entry::State(draft.clone())], UnixMillis(1)).unwrap());
}

/// A start with two full files of the journal and so many panes.
#[divan::bench(args = [10, 1_000], sample_size = 1, sample_count = 20)]
fn start_with_16_mib_of_journal(bencher: Bencher, panes: usize) {
    let place = place();
    let path = place.path().join("state");
    let state = open(&path);
    let mut store = state.store;
    store.save(synced(&session(panes))).unwrap();
    let payload = format!("{{\"filler\":\"{}\"}}", "x".repeat(140));
    let draft = Draft::new(UnixMillis(1), "agent.lifecycle", &payload).unwrap();
    let entries = vec![Entry::State(draft); 1_000];
    let mut journal = Journal::open(store.dir(), Start::default()).unwrap().journal;
    let size = |path: &std::path::Path| -> u64 {
        let files = std::fs::read_dir(path).unwrap().map(|entry| entry.unwrap());
        let journal =
            files.filter(|entry| entry.file_name().to_string_lossy().starts_with("audit"));
        journal.map(|entry| entry.metadata().unwrap().len()).sum()
    };
    while size(&path) < 15_900_000 {
        journal.append(&entries, UnixMillis(1)).unwrap();
        journal.upkeep().unwrap();
    }
    drop((journal, store));
    bencher.bench_local(|| {
        let dir = StateDir::open(&path, &owner()).unwrap();
        let opened = Store::open(dir, program()).unwrap();
        let Loaded::Snapshot { session, .. } = opened.loaded else { return };
        let now = Now { mono: Duration::ZERO, wall: UnixMillis(1) };
        let (live, _) = Session::restore(session, ServerEpoch(1), Config::default(), now);
        assert_eq!(live.saved(now).panes.len(), panes);
        Journal::open(opened.store.dir(), Start::default()).unwrap();
    });
}
