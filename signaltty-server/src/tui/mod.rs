//! The full-screen client.
//!
//! [`update`](update::update) takes what happened and gives what is to be done;
//! [`view`](view::view) draws the model; both are pure. [`edge`] has the
//! terminal, the connections, the files and the clock. Each pane that is shown is
//! an emulator of its own, fed by the pane's stream. Zoom, search, scope and
//! appearance belong to the client and never reach the server's state.

mod ahead;
mod areas;
mod board;
mod checkouts;
mod dialog;
mod edge;
mod field;
#[cfg(test)]
mod fixture;
mod flow;
mod gui;
mod input;
mod list;
mod model;
#[cfg(test)]
mod mouse_tests;
mod msg;
mod resize;
mod scroll;
mod styled;
#[cfg(test)]
mod svg;
#[cfg(test)]
mod tests;
mod update;
mod view;

use std::io::{self, IsTerminal as _};
use std::path::PathBuf;

use signaltty_core::scope::Scope;

use self::edge::{Ended, files};
use self::model::Model;
use crate::cli::{self, Context, Exit, Failure};
use crate::protocol::Empty;
#[cfg(all(test, feature = "daemon"))]
pub(crate) use field::words;

/// Programs that the dialog for something new offers, where they are installed.
const AGENTS: [&str; 5] = ["claude", "codex", "opencode", "cursor-agent", "grok"];

/// Runs the client on this terminal until its person leaves.
pub(crate) async fn run(context: &Context) -> Result<Exit, Failure> {
    if !io::stdin().is_terminal() || !io::stdout().is_terminal() {
        let message = "the full-screen client needs a terminal on both sides; `signaltty --help` \
                       lists what can be done without";
        return Err(Failure::Usage(message.to_owned()));
    }
    if std::env::var_os("TERM").is_some_and(|term| term == "dumb") {
        let message = "TERM is \"dumb\": a full screen cannot be shown on such a terminal; set TERM \
                       to what it is, or use the verbs of `signaltty --help`";
        return Err(Failure::Usage(message.to_owned()));
    }
    if let Some(pane) = std::env::var_os("SIGNALTTY_PANE") {
        let message = format!(
            "this terminal is pane {} of a signaltty already; run it from another terminal, or \
             use the verbs of `signaltty --help`",
            cli::safe(&pane.to_string_lossy())
        );
        return Err(Failure::Usage(message));
    }
    let gui = match files::path("gui.json") {
        Some(path) => files::load_gui(&path).map_err(Failure::Usage)?,
        None => gui::Gui::default(),
    };
    // A server that cannot be started says why on a terminal that is still whole,
    // and what a link asks of its person is asked on it.
    let mut client = context.client().await?;
    let _: serde_json::Value = client.call("server.status", &Empty {}).await?;
    drop(client);
    let size = cli::terminal_size().map_err(|error| Failure::Io("read the size", error))?;
    let model = match &context.host {
        None => {
            let scope = files::path("project-scope.json").map(|path| files::load_scope(&path));
            let cwd = cli::working_directory().unwrap_or_default();
            let mut model = Model::new(gui, size, cwd, scope.unwrap_or_default());
            model.agents = installed();
            model
        }
        // Neither directories nor projects nor programs of this machine mean
        // anything there.
        Some(host) => {
            let mut model = Model::new(gui, size, PathBuf::new(), Scope::All);
            model.agents = AGENTS.map(str::to_owned).to_vec();
            model.host = Some(host.clone());
            model
        }
    };
    match edge::run(context, model).await? {
        Ended::Left => {
            context.remark("[left; everything goes on, `signaltty` comes back to it]\n");
            Ok(Exit::Done)
        }
        Ended::Closed => Ok(Exit::Done),
        Ended::Signal(name) => {
            context.remark(&format!("[left by {name}; everything goes on]\n"));
            Ok(Exit::Failed)
        }
    }
}

/// Agents that can be started by their name.
fn installed() -> Vec<String> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let dirs: Vec<_> = std::env::split_paths(&path).collect();
    let there = |name: &&str| dirs.iter().any(|dir| dir.join(name).is_file());
    AGENTS.into_iter().filter(there).map(str::to_owned).collect()
}
