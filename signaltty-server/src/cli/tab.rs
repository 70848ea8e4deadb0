//! `tab`.

use clap::Subcommand;

use super::create::{SpawnArgs, pane_id};
use super::{Context, Failure, safe};
use crate::protocol::{LayoutText, TabLayout, TabMove, TabNew, TabRef, TabRename};

/// Verbs about tabs.
#[derive(Debug, Subcommand)]
#[command(defer = true)]
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
    /// Print how a tab's panes share its area, or arrange them anew
    Layout {
        /// The tab's id, or the start of it
        tab: String,
        /// The same panes in another arrangement, in the form that is printed
        #[arg(long, value_name = "LAYOUT")]
        set: Option<String>,
    },
    /// Give all panes of a tab an equal share
    Equalise {
        /// The tab's id, or the start of it
        tab: String,
    },
    /// Give a tab another place in its workspace
    Move {
        /// The tab's id, or the start of it
        tab: String,
        /// Its new place, from 0
        position: usize,
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
            let spawn = spawn.into_params()?;
            let params = TabNew { workspace, title, spawn };
            context.ask("tab.new", &params, pane_id).await
        }
        TabVerb::Rename { tab, title } => {
            context.order("tab.rename", &TabRename { tab, title }).await
        }
        TabVerb::Layout { tab, set: None } => {
            let params = TabLayout { tab, layout: None };
            let show = |found: &LayoutText| format!("{}\n", safe(&found.layout));
            context.ask("tab.layout", &params, show).await
        }
        TabVerb::Layout { tab, set } => {
            context.order("tab.layout", &TabLayout { tab, layout: set }).await
        }
        TabVerb::Equalise { tab } => context.order("tab.equalise", &TabRef { tab }).await,
        TabVerb::Move { tab, position } => {
            context.order("tab.move", &TabMove { tab, position }).await
        }
        TabVerb::Close { tab } => context.order("tab.close", &TabRef { tab }).await,
    }
}
