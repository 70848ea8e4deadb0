//! `attach`: a pane on this terminal.
//!
//! What the pane prints is shown as it comes, what is typed is sent as it is,
//! but for the keys that detach. A pane without a process shows what was saved
//! of it, and what a person can do.

mod detach;
mod session;
mod terminal;
mod typing;

use std::io::{self, IsTerminal as _};

use clap::Args;

pub(super) use self::terminal::is_taken as has_terminal;
#[cfg(feature = "tui")]
pub(crate) use self::terminal::{RawTerminal, size as terminal_size};

use self::detach::DetachKeys;
use self::session::{Ended, Session};
use super::failure::NO_SERVER;
use super::suspend::JobControl;
use super::text::Colours;
use super::{Context, Exit, Failure, Signals, link, safe, screen, words};
use crate::client::{Attached, Client};
use crate::protocol::{
    Empty, ExitNode, PaneAttach, PaneInfo, PaneNode, PaneRead, PaneRef, PaneText, Tree,
};

// Arguments of `attach`.
#[derive(Debug, Args)]
pub(super) struct AttachArgs {
    /// The pane's id, or the start of it; by default the only live pane, else
    /// the active pane of the newest workspace
    pane: Option<String>,
    /// Only look
    #[arg(long)]
    read_only: bool,
    /// Show so many lines of history first
    #[arg(long, value_name = "N", default_value_t = 0)]
    history: usize,
    /// Let the program write to this terminal's clipboard (OSC 52)
    #[arg(long)]
    clipboard: bool,
    /// Keys that detach, parted by commas
    #[arg(long, value_name = "KEYS", default_value = detach::DEFAULT)]
    detach_keys: DetachKeys,
}

/// Runs `attach`.
pub(super) async fn run(context: &Context, mut args: AttachArgs) -> Result<Exit, Failure> {
    let mut client = context.client().await?;
    let pane = match args.pane.take() {
        Some(pane) => pane,
        None => choose(&client.call("session.list", &Empty {}).await?)?,
    };
    let info: PaneInfo = client.call("pane.info", &PaneRef { pane }).await?;
    if !matches!(info.pane.state.as_str(), "live" | "resuming") {
        return tombstone(context, client, &info.pane).await;
    }
    if std::env::var_os("SIGNALTTY_PANE").is_some_and(|here| *here == *info.pane.id) {
        let message = format!("this terminal is pane {} itself", safe(&info.pane.id));
        return Err(Failure::Usage(message));
    }
    if !io::stdin().is_terminal() || !io::stdout().is_terminal() {
        let message = "attach needs a terminal on both sides; see `signaltty pane read`, `pane \
                       send` and `pane keys`";
        return Err(Failure::Usage(message.to_owned()));
    }
    let mut jobs = JobControl::new().map_err(|error| Failure::Io("wait for signals", error))?;
    let mut attached = client.attach(&params(&info.pane, &args)?).await.map_err(Failure::from);
    loop {
        let now = match attached {
            // It ended just now.
            Err(Failure::Client(error)) if error.has_code("PANE_NOT_LIVE") => {
                let client = context.client().await?;
                return tombstone(context, client, &info.pane).await;
            }
            other => other?,
        };
        let session = Session {
            keys: args.detach_keys.clone(),
            read_only: args.read_only,
            history: args.history > 0,
            lend: context.host.is_none(),
            notices: Vec::new(),
        };
        let (ended, notices) = session.run(now, &mut jobs).await?;
        for notice in notices {
            context.remark(&format!("{}\n", safe(&notice)));
        }
        let far = context.host.as_deref().filter(|_| matches!(ended, Ended::ServerGone));
        match (ended, far) {
            // The loan of the terminal ended with the session, so another begins.
            (Ended::Job(asked), _) => jobs.obey(asked).await,
            // What ended may be the link alone.
            (_, Some(host)) => {
                let host = safe(host);
                let remark = format!("\r\n[the link to {host} was lost; connecting again]\r\n");
                context.remark(&remark);
            }
            (ended, None) => return farewell(context, &info.pane.id, ended),
        }
        // They ended the process by themselves before the session took them.
        let mut signals = Signals::new().map_err(|error| Failure::Io("wait for signals", error))?;
        // Its history is on this terminal already.
        args.history = 0;
        attached = loop {
            tokio::select! {
                attached = again(context, &info.pane, &args) => break attached,
                name = signals.next() => {
                    return farewell(context, &info.pane.id, Ended::Signal(name));
                }
                asked = jobs.next() => jobs.obey(asked).await,
            }
        };
    }
}

fn params(pane: &PaneNode, args: &AttachArgs) -> Result<PaneAttach, Failure> {
    let (cols, rows) = terminal::size().map_err(|error| Failure::Io("read the size", error))?;
    let (read_only, history, clipboard) = (args.read_only, args.history, args.clipboard);
    let background = false;
    Ok(PaneAttach { pane: pane.id.clone(), cols, rows, read_only, history, clipboard, background })
}

/// Attaches over a new link, which may need some tries.
async fn again(context: &Context, pane: &PaneNode, args: &AttachArgs) -> Result<Attached, Failure> {
    let mut pauses = link::pauses();
    loop {
        let failure = match context.client().await {
            Ok(client) => match client.attach(&params(pane, args)?).await {
                Ok(attached) => return Ok(attached),
                Err(error) => error.into(),
            },
            Err(failure) => failure,
        };
        match pauses.next().filter(|_| failure.is_link()) {
            Some(pause) => tokio::time::sleep(pause).await,
            None => return Err(failure),
        }
    }
}

fn farewell(context: &Context, pane: &str, ended: Ended) -> Result<Exit, Failure> {
    let pane = safe(pane);
    match ended {
        Ended::Detached => context.remark(&format!("[detached from {pane}]\n")),
        Ended::DetachedByServer => context.remark(&format!("[{pane}: detached by the server]\n")),
        Ended::Exited(status) => {
            let words = serde_json::from_slice::<ExitNode>(&status)
                .map_or_else(|_| "how is unknown".to_owned(), |exit| words::exit_words(&exit));
            context.remark(&format!("[{pane}: the process ended, {words}]\n"));
        }
        Ended::ServerGone => {
            let message = format!(
                "the server went away; if it died, what ran in {pane} ended with it; `signaltty \
                 ls` shows what is left"
            );
            return Err(Failure::new(NO_SERVER, message));
        }
        Ended::Signal(name) => {
            context.remark(&format!("[detached from {pane} by {name}]\n"));
            return Ok(Exit::Failed);
        }
        // It is attached anew.
        Ended::Job(_) => {}
    }
    Ok(Exit::Done)
}

/// Shows what was saved of a pane in which nothing runs.
async fn tombstone(
    context: &Context,
    mut client: Client,
    pane: &PaneNode,
) -> Result<Exit, Failure> {
    let params = PaneRead { pane: pane.id.clone(), ansi: true, ..PaneRead::default() };
    let text: PaneText = client.call("pane.read", &params).await?;
    if !context.json {
        let colours = if context.colours() { Colours::Keep } else { Colours::Escape };
        let mut shown = screen(&text.text, colours);
        if text.source == "none" {
            shown.push_str("(no output was saved)\n");
        }
        context.print(&format!("{shown}{}\n", "─".repeat(40)))?;
    }
    let mut message = format!("nothing runs in {}, it is {}", pane.id, words::state_words(pane));
    for remark in words::remarks(pane, jiff::Timestamp::now()) {
        message.push_str(&format!("\n  {remark}"));
    }
    Err(Failure::new("PANE_NOT_LIVE", message))
}

/// The pane that is meant where none is named.
fn choose(tree: &Tree) -> Result<String, Failure> {
    let shown = || tree.workspaces.iter().filter(|workspace| !workspace.archived);
    let tabs = || shown().flat_map(|workspace| &workspace.tabs);
    let live: Vec<_> =
        tabs().flat_map(|tab| &tab.panes).filter(|pane| pane.state == "live").collect();
    if let [only] = live.as_slice() {
        return Ok(only.id.clone());
    }
    // The newest pane tells the newest workspace and tab; times in RFC 3339 of
    // one server sort as texts.
    let newest = |panes: &[PaneNode]| panes.iter().map(|pane| pane.created_at.clone()).max();
    let newest = tabs().max_by_key(|tab| newest(&tab.panes));
    let active = newest.map(|tab| tab.active_pane_id.as_str());
    if let Some(pane) = live.iter().find(|pane| Some(pane.id.as_str()) == active) {
        return Ok(pane.id.clone());
    }
    let mut message = if live.is_empty() {
        "nothing runs in any pane; `signaltty ls` shows what can be resumed".to_owned()
    } else {
        "which pane? these are live:".to_owned()
    };
    for pane in live {
        message.push_str(&format!("\n  {}  {}", safe(&pane.id), safe(&pane.title)));
    }
    Err(Failure::new("AMBIGUOUS", message))
}
