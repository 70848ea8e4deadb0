//! `integration`: hooks in a person's own files, for agents that are started by
//! hand (D-12).
//!
//! What is written is decided by the adapters; reading and writing is here. No
//! server is asked or started.

use clap::{Args, Subcommand};

use super::{Context, Failure};

#[cfg(feature = "daemon")]
mod file;
#[cfg(feature = "daemon")]
mod work;

/// `integration …`
#[derive(Debug, Subcommand)]
#[command(defer = true)]
pub(super) enum IntegrationVerb {
    /// Add our hooks; what else is in the file stays
    Install(AgentArgs),
    /// Remove our hooks and nothing else
    Uninstall(AgentArgs),
    /// Show what is installed, and what works without it
    Status(AgentArgs),
}

// Which agent.
#[derive(Debug, Args)]
pub(super) struct AgentArgs {
    /// claude, codex, cursor, grok or opencode [default: every one; `install`
    /// takes those that are found on the search path]
    agent: Option<String>,
}

/// Runs `integration`.
#[cfg(feature = "daemon")]
pub(super) fn run(context: &Context, verb: &IntegrationVerb) -> Result<(), Failure> {
    work::run(context, verb)
}

/// Runs `integration`.
#[cfg(not(feature = "daemon"))]
pub(super) fn run(_: &Context, _: &IntegrationVerb) -> Result<(), Failure> {
    let message = "this build knows no agents; use one that contains the server";
    Err(Failure::new("NO_SERVER_BUILT_IN", message))
}
