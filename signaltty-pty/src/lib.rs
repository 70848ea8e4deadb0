//! Pseudo-terminals with a screen and a bounded history.
#![deny(unsafe_code)]

mod child;
mod error;
mod open;
mod process;
mod program;
mod pty;
mod signal;
mod size;
mod spawn;
mod stop;
mod sys;

pub use child::{Child, ExitStatus};
pub use error::{OpenError, ResolveError, SignalError, SpawnError, WriteCause, WriteError};
pub use process::ProcessId;
pub use program::resolve_program;
pub use pty::{AsyncPty, Pty, READ_BUFFER};
pub use signal::{Signal, UnknownSignal};
pub use size::Size;
pub use spawn::{SpawnSpec, spawn};
pub use stop::{StopReport, StopStep};
