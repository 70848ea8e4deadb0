//! `new`, and what all verbs that start something have in common.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::Args;

use super::{Context, Failure, place, safe};
use crate::protocol::{Created, PaneSpawn, WireOs, WorkspaceNew};

// What to run in a new pane.
#[derive(Debug, Args)]
pub(super) struct SpawnArgs {
    /// Where to run it
    #[arg(long, value_name = "DIR")]
    cwd: Option<PathBuf>,
    /// Program and arguments; the login shell where there are none
    #[arg(trailing_var_arg = true, value_name = "ARGV")]
    argv: Vec<OsString>,
}

// Arguments of `new`.
#[derive(Debug, Args)]
pub(super) struct NewArgs {
    /// The workspace's name; by default its directory's
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
    #[command(flatten)]
    spawn: SpawnArgs,
}

impl SpawnArgs {
    /// As the server takes it, with the directory only where one was given.
    pub(super) fn into_params(self) -> Result<PaneSpawn, Failure> {
        let cwd = self.cwd.map(|dir| place::from_here(&dir)).transpose()?;
        Ok(PaneSpawn {
            argv: self.argv.into_iter().map(WireOs).collect(),
            cwd: cwd.map(|dir| WireOs(dir.into())),
            env: place::environment(),
        })
    }
}

/// Runs `new`.
pub(super) async fn run(context: &Context, args: NewArgs) -> Result<(), Failure> {
    let mut spawn = args.spawn.into_params()?;
    if spawn.cwd.is_none() && !place::is_remote() {
        spawn.cwd = Some(WireOs(place::working_directory()?.into()));
    }
    let name = args.name;
    let params = WorkspaceNew { name, spawn };
    context.ask("workspace.new", &params, pane_id).await
}

/// What the verbs that make a pane print.
pub(super) fn pane_id(created: &Created) -> String {
    format!("{}\n", safe(&created.pane_id))
}
