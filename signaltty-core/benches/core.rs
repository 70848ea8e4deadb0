//! How long the core takes: `cargo bench -p signaltty-core --bench core`.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    missing_docs,
    unreachable_pub,
    dead_code
)]

mod common;

use common::{Big, layout};
use divan::{Bencher, black_box};
use signaltty_core::id::ServerEpoch;
use signaltty_core::layout::{Direction, Rect, Size, rects};
use signaltty_core::session::{Config, Session};

fn main() {
    divan::main();
}

#[divan::bench(args = [16, 256])]
fn layout_split_and_close(bencher: Bencher<'_, '_>, leaves: u32) {
    let (mut layout, limits) = layout(leaves);
    bencher.bench_local(|| {
        layout.split(leaves / 2, Direction::Down, leaves, &limits, None).unwrap();
        layout.close(leaves).unwrap()
    });
}

#[divan::bench(args = [256, 10_000])]
fn layout_geometry(bencher: Bencher<'_, '_>, leaves: u32) {
    let (layout, _) = layout(leaves);
    let area = Rect::from(Size { cols: 40_000, rows: 40_000 });
    bencher.bench_local(|| rects(black_box(&layout), area));
}

#[divan::bench(args = [100, 10_000])]
fn session_title(bencher: Bencher<'_, '_>, panes: usize) {
    let mut big = Big::new(panes);
    bencher.bench_local(|| big.title());
}

#[divan::bench(args = [100, 10_000])]
fn session_split_and_close(bencher: Bencher<'_, '_>, panes: usize) {
    let mut big = Big::new(panes);
    bencher.bench_local(|| big.split_and_close());
}

#[divan::bench(args = [1_000, 10_000])]
fn session_saved(bencher: Bencher<'_, '_>, panes: usize) {
    let big = Big::new(panes);
    bencher.bench_local(|| big.session.saved(big.now()));
}

#[divan::bench(args = [1_000, 10_000], sample_count = 20)]
fn session_restore(bencher: Bencher<'_, '_>, panes: usize) {
    let big = Big::new(panes);
    let saved = big.session.saved(big.now());
    let restore = |saved| Session::restore(saved, ServerEpoch(2), Config::default(), big.now());
    bencher.with_inputs(|| saved.clone()).bench_local_values(restore);
}
