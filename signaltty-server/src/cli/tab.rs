//! `tab`.

use clap::Subcommand;

use super::create::{SpawnArgs, pane_id};
use super::{Context, Failure};
use crate::protocol::{TabNew, TabRef, TabRename};

/// Verbs about tabs.
#[derive(Debug, Subcommand)]
pub(super) enum TabVerb {
    /// Open a tab with one pane; prints the pane's id
    New {
        /// The workspace: its handle, its id, or the start of one
        workspace: String,
        /// The tab's title
        #[arg(long)]
        title: Option<String>,
        #[command(flatten)]
        spawn: SpawnArgs,
    },
    /// Give a tab a title
    Rename {
        /// The tab's id, or the start of it
        tab: String,
        /// Its new title
        title: String,
    },
    /// Close a tab and end everything in it
    Close {
        /// The tab's id, or the start of it
        tab: String,
    },
}

/// Runs one.
pub(super) async fn run(context: &Context, verb: TabVerb) -> Result<(), Failure> {
    match verb {
        TabVerb::New { workspace, title, spawn } => {
            let spawn = spawn.into_params();
            let params = TabNew { workspace, title, spawn };
            context.ask("tab.new", &params, pane_id).await
        }
        TabVerb::Rename { tab, title } => {
            context.order("tab.rename", &TabRename { tab, title }).await
        }
        TabVerb::Close { tab } => context.order("tab.close", &TabRef { tab }).await,
    }
}
