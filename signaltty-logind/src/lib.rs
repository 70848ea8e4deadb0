//! Notices of a host shutdown, with the delay lock held until the state is
//! saved.
//!
//! [`watch()`] returns at once; a task connects to the system bus, subscribes
//! to logind's notice and takes a *delay* lock. When the host begins to go
//! down, [`ShutdownWatch::next`] yields a [`HostShutdown`] with that lock; the
//! host then waits, within its own limit, until the lock is dropped.
//!
//! What must hold:
//! - The lock is released on every path: the watch dropped, the announcement
//!   dropped, an error, a panic, the end of the process.
//! - Nothing waits for the bus. A bus that is absent or silent, a refused lock
//!   and a restart of the bus or of logind lead to retries 1, 2, 4 … 60 s
//!   apart, and to a [`Status`] that says so.
//! - Only logind's own notices count.
//!
//! Deliberately absent: saving, and SIGTERM. A host can go down without this
//! notice, so a server saves on SIGTERM as well.
//!
//! ```
//! use signaltty_logind::{Status, WatchConfig, watch};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() {
//! let mut watch = watch(WatchConfig::new(false));
//! assert_eq!(watch.status(), Status::Disabled("switched off"));
//!
//! tokio::select! {
//!     shutdown = watch.next() => {
//!         // Save within `shutdown.save_budget()`, then let the host go on.
//!         drop(shutdown.hold);
//!     }
//!     () = std::future::ready(()) => {} // whatever else the server waits for
//! }
//! # }
//! ```
#![forbid(unsafe_code)]

mod backoff;
mod driver;
mod inhibitor;
mod link;
mod machine;
mod proxy;
mod status;
mod watch;

#[cfg(any(test, feature = "testing"))]
pub mod testing;
#[cfg(test)]
mod tests;

pub use inhibitor::Inhibitor;
pub use status::{Status, Trouble};
pub use watch::{HostShutdown, ShutdownWatch, WatchConfig, watch};
