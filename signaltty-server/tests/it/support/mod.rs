//! What the tests share: a directory, a server in it, clients, processes.

pub mod cli;
pub mod client;
pub mod frames;
pub mod home;
pub mod logind;
pub mod process;
pub mod programs;
pub mod random;
pub mod refusal;
pub mod said;
pub mod server;
pub mod shape;
pub mod stage;
pub mod talk;
#[cfg(feature = "tui")]
pub mod terminal;

use std::time::{Duration, Instant};

pub use client::{Client, Events, Failure};
pub use home::Home;
pub use logind::Logind;
pub use said::Said;
pub use server::Server;
#[cfg(feature = "tui")]
pub use terminal::Terminal;

/// How long anything may take that should be quick. Loaded machines are slow.
pub const PATIENCE: Duration = Duration::from_secs(30);

/// Looks again and again until there is something, or the test's patience ends.
pub fn wait_for<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let until = Instant::now() + PATIENCE;
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(Instant::now() < until, "waited in vain for {what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Whether tests run at the sizes that the issues name.
pub fn full_scale() -> bool {
    std::env::var_os("SIGNALTTY_TEST_SCALE").is_some_and(|value| value == "full")
}

/// Waits until something holds.
pub fn wait_until(what: &str, mut holds: impl FnMut() -> bool) {
    wait_for(what, || holds().then_some(()));
}
