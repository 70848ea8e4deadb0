//! The server as its users meet it: a process, a socket, real terminals.
//!
//! Every test has a directory, a socket and a server of its own, waits for
//! events or for a condition with a deadline, and ends what it started.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stdout,
    clippy::print_stderr,
    missing_docs,
    unreachable_pub
)]

mod support;

mod arrange;
mod attach;
mod by_hand;
mod codes;
mod config;
mod continuing;
mod drivers;
mod environment;
mod examples;
mod far;
mod far_sshd;
mod forget;
mod full_output;
#[cfg(feature = "tui")]
mod full_screen;
mod gone;
mod history;
mod hooks;
mod host;
mod host_watch;
mod inbox;
mod inherited;
mod integration;
#[cfg(feature = "tui")]
mod jobs;
mod kill_points;
mod kills;
mod leftovers;
mod lent;
mod log;
mod looks;
mod many;
mod memory;
mod owners;
mod planned;
mod reading;
mod real_logind;
#[cfg(feature = "tui")]
mod real_terminals;
mod refusals;
mod replay;
mod reported;
mod requests;
mod reruns;
mod restart;
mod resume;
mod scale;
mod service;
mod shells;
mod shutdown;
mod state_tools;
mod terminals;
mod waits;
mod worktrees;
