//! A terminal session server for coding agents: the daemon, the client
//! library, and the command line.
#![forbid(unsafe_code)]
// The fuzz targets take the formats alone, without those who use the rest.
#![cfg_attr(not(any(feature = "client", feature = "daemon")), allow(dead_code, unused_imports))]

#[cfg(feature = "client")]
pub mod cli;
#[cfg(feature = "client")]
pub mod client;
pub mod config;
#[cfg(feature = "daemon")]
pub mod daemon;
#[cfg(feature = "client")]
mod demo;
#[cfg(any(feature = "daemon", feature = "tui"))]
mod nearest;
#[cfg(any(feature = "client", feature = "daemon"))]
mod output;
pub mod protocol;
#[cfg(feature = "daemon")]
pub mod serve;
mod service;
#[cfg(any(feature = "client", feature = "daemon"))]
mod stream;
#[cfg(feature = "tui")]
mod tui;
