//! A terminal session server for coding agents: the daemon and
//! its protocol.
#![forbid(unsafe_code)]

pub mod config;
#[cfg(feature = "daemon")]
pub mod daemon;
pub mod protocol;
#[cfg(feature = "daemon")]
pub mod serve;
