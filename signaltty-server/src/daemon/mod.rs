//! The daemon. It owns descriptors and moves data; the core decides.
//!
//! One task owns the [`Session`](signaltty_core::session::Session) and is fed by
//! one bounded queue. Each pane with a process has a task of its own for its
//! bytes; the saver thread writes the snapshot and the recorder thread the
//! journal; children are started by the
//! process's main thread alone.

mod agents;
mod arrange;
mod asked;
mod attach;
mod attribution;
mod bounded;
mod callers;
mod client_queue;
mod clipboard;
mod clock;
mod configure;
mod connection;
mod decisions;
mod directory;
mod dispatch;
mod draft;
mod effects;
mod environment;
mod error;
mod event;
mod event_loop;
mod forget;
mod git;
mod handover;
mod kept;
mod launch;
mod left_out;
mod leftovers;
mod lines;
mod listener;
mod load;
mod login_env;
mod looking;
mod looks;
mod methods;
mod own_dir;
mod own_log;
mod owned;
mod pace;
mod pane_clients;
mod pane_flood;
mod pane_input;
mod pane_screen;
mod pane_task;
mod panes;
mod points;
mod ports;
mod publisher;
mod random;
mod reading;
mod recorder;
mod recovery;
#[cfg(test)]
mod refused;
mod replies;
mod reporter;
mod reports;
mod resolve;
mod saver;
mod scout;
mod server;
mod signals;
mod socket_watch;
mod spawner;
mod started;
mod state_place;
mod subscribe;
mod terminal_reply;
mod told;
mod tree;
mod trim;
mod typing_guard;
mod waits;
mod worktree;

pub use error::ServerError;
pub use listener::ListenError;
pub(crate) use load::Means;
pub(crate) use recovery::{NoPlan, plan_of_state};
pub use server::{Builder, ServeOptions, Server, Stopper, serve};
