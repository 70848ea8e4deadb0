//! Shows that what concerns one pane costs the same beside 100 panes and beside
//! 10,000: `cargo bench -p signaltty-core --bench scale`. Fails above twice.
#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::print_stdout,
    clippy::panic,
    missing_docs,
    unreachable_pub,
    dead_code
)]

mod common;

use std::hint::black_box;

use common::Big;
use signaltty_core::session::{Command, Effect};

fn main() {
    let mut small = Big::new(100);
    let mut large = Big::new(10_000);
    let mut worst = 0.0_f64;
    println!("{:<18} {:>10} {:>10} {:>6}", "", "100", "10,000", "ratio");
    for (name, act) in ACTS {
        let (a, b) = (nanos(&mut small, act), nanos(&mut large, act));
        let ratio = b / a;
        worst = worst.max(ratio);
        println!("{name:<18} {a:>7.0} ns {b:>7.0} ns {ratio:>6.2}");
    }
    assert!(worst <= 2.0, "cost grows with panes that have nothing to do with it");
}

type Act = fn(&mut Big) -> Vec<Effect>;

const ACTS: [(&str, Act); 5] = [
    ("title", Big::title),
    ("tick", Big::tick),
    ("split and close", Big::split_and_close),
    ("rename", |big| {
        let title = format!("{:?}", big.now()).into();
        big.ask(Command::RenamePane { pane: common::pane(big.instances.len() / 2), title })
    }),
    ("refused resume", |big| {
        let pane = common::pane(big.instances.len() / 2);
        big.ask(Command::Resume { pane, anyway: false, previous: false, cwd: None })
    }),
];

/// The least time of an act, over many rounds: what disturbs it only adds.
fn nanos(big: &mut Big, act: Act) -> f64 {
    const ROUND: u32 = 2_000;
    let round = |big: &mut Big| {
        #[expect(clippy::disallowed_types, reason = "a benchmark looks at the clock")]
        let start = std::time::Instant::now();
        for _ in 0..ROUND {
            black_box(act(big));
        }
        start.elapsed().as_secs_f64() * 1e9 / f64::from(ROUND)
    };
    (0..15).map(|_| round(big)).fold(f64::INFINITY, f64::min)
}
