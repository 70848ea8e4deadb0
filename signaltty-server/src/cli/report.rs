//! `report-session`: what an agent says of its session.

use std::ffi::OsString;

use clap::Args;

use super::{Context, Failure};
use crate::client::Client;
use crate::protocol::{AgentSession, WireOs};

// Arguments of `report-session`.
#[derive(Debug, Args)]
pub(super) struct ReportArgs {
    /// Which agent [default: the one that runs in the pane, else generic]
    #[arg(long, value_name = "AGENT")]
    agent: Option<String>,
    /// Its session [default: the one that is known of it]
    #[arg(long, value_name = "ID")]
    id: Option<String>,
    /// The command that reopens the session, to the end of the line; it runs
    /// only when a person resumes the pane
    #[arg(long, num_args = 1.., allow_hyphen_values = true, value_name = "ARG")]
    argv: Option<Vec<OsString>>,
}

/// Runs `report-session`. Starts no server: who reports has one.
pub(super) async fn run(context: &Context, args: ReportArgs) -> Result<(), Failure> {
    let launch = std::env::var("SIGNALTTY_LAUNCH").ok().filter(|secret| !secret.is_empty());
    let launch = launch.ok_or_else(|| {
        let message = "SIGNALTTY_LAUNCH is not set; run this inside a pane of signaltty";
        Failure::Usage(message.to_owned())
    })?;
    let argv = args.argv.map(|words| words.into_iter().map(WireOs).collect());
    let params = AgentSession { launch, agent: args.agent, id: args.id, argv, agent_pid: None };
    let mut client = Client::connect(&context.paths).await?;
    let value = client.call("agent.report_session", &params).await?;
    context.answer("agent.report_session", value, |_: &serde_json::Value| String::new())
}
