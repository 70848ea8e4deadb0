//! Pseudo-terminals with a screen and a bounded history.
//!
//! [`spawn`](spawn()) starts a child on a terminal of its own and gives its two
//! handles: a [`Pty`], which becomes an [`AsyncPty`] inside a tokio runtime, and
//! a [`Child`], which is waited for through a pidfd. A [`Screen`] is fed what was
//! read and knows what the terminal shows: it draws it again for a client that
//! attaches later, and keeps what scrolled off in a [`History`].
//!
//! ```
//! use std::time::Duration;
//!
//! use signaltty_pty::{READ_BUFFER, HistoryLimit, Screen, Size, SpawnSpec, spawn};
//! use tokio::time::Instant;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let size = Size::new(40, 10);
//! let (pty, child) = spawn(&SpawnSpec {
//!     argv: vec!["sh".into(), "-c".into(), "read line; echo \"got $line\"".into()],
//!     cwd: "/".into(),
//!     env: vec![("PATH".into(), "/usr/bin:/bin".into())],
//!     size,
//! })?;
//! let mut screen = Screen::new(size, HistoryLimit::default());
//! let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
//! runtime.block_on(async {
//!     let pty = pty.register()?;
//!     pty.write_all_with(b"it\n", Instant::now() + Duration::from_secs(5)).await?;
//!     let mut buffer = vec![0; READ_BUFFER];
//!     loop {
//!         let count = pty.read(&mut buffer).await?;
//!         if count == 0 {
//!             break;
//!         }
//!         screen.advance(&buffer[..count]);
//!     }
//!     assert!(child.wait().await?.success());
//!     assert_eq!(screen.lines(1), ["got it"]);
//!     Ok(())
//! })
//! # }
//! ```
//!
//! Invariants:
//! - every descriptor is close-on-exec from birth, and a child gets none but its
//!   terminal (T1);
//! - every child is waited for, exactly once, and a direct child does not outlive
//!   the thread that started it (T2);
//! - memory per terminal is bounded, whatever a program writes (T3). Unread
//!   output waits in the kernel, which stops the program: nothing here queues.
//!
//! Absent on purpose: queues to clients, files, environment lookups, and any
//! knowledge of what runs in a terminal. Linux only.

#![deny(unsafe_code)]

mod blocks;
mod child;
mod error;
pub mod fuzz;
mod history;
mod limits;
mod line;
mod open;
mod process;
mod program;
mod pty;
mod repaint;
mod screen;
mod signal;
mod size;
mod spawn;
mod stop;
mod style;
mod sys;
mod tail;

pub use child::{Child, ExitStatus};
pub use error::{OpenError, ResolveError, SignalError, SpawnError, WriteCause, WriteError};
pub use history::{History, HistoryLimit};
pub use limits::raise_descriptor_limit;
pub use process::ProcessId;
pub use program::resolve_program;
pub use pty::{AsyncPty, Pty, READ_BUFFER};
pub use screen::{Asleep, Cell, Drawn, Mark, Mouse, Screen, ScreenEvent, Since};
pub use signal::{Signal, UnknownSignal};
pub use size::Size;
pub use spawn::{SpawnSpec, spawn};
pub use stop::{StopReport, StopStep};
pub use style::{Style, Tint, Underline};
pub use sys::{close_inherited, give_memory_back, release_program, settle_signals, trim_memory};
pub use tail::{tail_styled, tail_text};
