//! The command line of `signaltty`: one file per group of verbs.
//!
//! A command connects, asks, and says what came: for people on a terminal, or
//! with `--json` in the shapes of the protocol. Errors go to standard error,
//! with `--json` to standard output as `{"error":…}`. Exit codes are fixed; `hook`
//! alone always ends with 0.

mod attach;
mod context;
mod create;
mod events;
mod examples;
mod failure;
mod forget;
mod generate;
mod hook;
mod inbox;
mod integration;
mod link;
mod pane;
mod place;
mod progress;
mod recovery;
mod report;
mod resume;
mod server;
mod signals;
mod silence;
mod spawn;
mod suspend;
mod tab;
mod text;
mod time;
mod tree;
mod wait;
mod words;
mod workspace;
mod worktree;

#[cfg(all(test, feature = "daemon", feature = "tui"))]
mod documented;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod wire_tests;

use std::ffi::OsString;
use std::io::{self, Write as _};
use std::path::PathBuf;

use clap::error::ErrorKind;
use clap::{CommandFactory as _, FromArgMatches as _, Parser, Subcommand};

#[cfg(feature = "tui")]
pub(crate) use attach::{RawTerminal, terminal_size};
pub(crate) use context::Context;
pub(crate) use failure::{Exit, Failure};
#[cfg(feature = "tui")]
pub(crate) use place::absolute;
pub(crate) use place::environment;
pub(crate) use place::working_directory;
pub(crate) use signals::Signals;
#[cfg(feature = "tui")]
pub(crate) use suspend::{Asked, JobControl};
pub(crate) use text::{safe, screen};
#[cfg(feature = "tui")]
pub(crate) use time::ago;
#[cfg(feature = "tui")]
pub(crate) use words::{
    Weight, agent_words, command_words, exit_words, facts, notes, state_words, title_words, told_by,
};
#[cfg(feature = "tui")]
pub(crate) use worktree::line as worktree_line;

use crate::config::{Overrides, Paths};
use crate::{demo, output};

/// Terminal sessions for coding agents, whose conversations come back after a
/// crash when they are proven to be the same.
#[derive(Debug, Parser)]
#[command(name = "signaltty", version)]
struct Cli {
    /// The server's socket [default: $SIGNALTTY_SOCKET, else the standard place]
    #[arg(long, global = true, value_name = "PATH")]
    socket: Option<PathBuf>,
    /// The server's state directory
    #[arg(long, global = true, value_name = "DIR", hide = true)]
    state_dir: Option<PathBuf>,
    /// Use the server of another machine, through `ssh HOST signaltty proxy`
    #[arg(long, global = true, value_name = "HOST")]
    host: Option<String>,
    /// Print JSON
    #[arg(long, global = true)]
    json: bool,
    /// Do not start a server where none runs
    #[arg(long, global = true)]
    no_start: bool,
    /// Without one, the full-screen client
    #[command(subcommand)]
    verb: Option<Verb>,
}

// A verb's arguments are made when it is asked for: those of all others cost
// more than most verbs take. They come after the verb's own description, so the
// structs of arguments have no doc comments, which would take its place.
#[derive(Debug, Subcommand)]
#[command(defer = true)]
enum Verb {
    /// Show the server's health and what it holds
    Status,
    /// Open a workspace with one pane; prints the pane's id
    New(create::NewArgs),
    /// List workspaces, tabs and panes
    Ls(tree::LsArgs),
    /// Show a pane on this terminal
    Attach(attach::AttachArgs),
    /// Read, write and arrange panes
    #[command(subcommand)]
    Pane(pane::PaneVerb),
    /// Open, rename and close tabs
    #[command(subcommand)]
    Tab(tab::TabVerb),
    /// Rename, close, archive and set up workspaces
    #[command(subcommand)]
    Workspace(workspace::WorkspaceVerb),
    /// List, make, open and remove the checkouts of a Git repository
    #[command(subcommand)]
    Worktree(worktree::WorktreeVerb),
    /// Reopen the agent conversation of a pane, if it is proven to be the same
    Resume(resume::ResumeArgs),
    /// Remove what a pane or a workspace said and showed, from the disk too
    Forget(forget::ForgetArgs),
    /// Decide what the agent in a pane asks a permission for
    Answer(pane::AnswerArgs),
    /// Wait until something happens in a pane
    Wait(wait::WaitArgs),
    /// Tell people something
    Notify(inbox::NotifyArgs),
    /// List what people were told
    Notifications(inbox::NotificationsArgs),
    /// Print the pane that most needs a person
    Next,
    /// Let the interrupted turn of a pane's agent go on, once it is proven to be
    /// the same conversation
    Continue(recovery::ContinueArgs),
    /// Say what a start of the server would do with each pane, and why
    Restore(recovery::RestoreArgs),
    /// Print events as JSON lines
    Events(events::EventsArgs),
    /// Put hooks into your own files, for agents that you start by hand
    #[command(subcommand)]
    Integration(integration::IntegrationVerb),
    /// Report to the server; for agents
    #[command(hide = true)]
    Hook(hook::HookArgs),
    /// Pass standard input and output on to the server; for `--host`
    #[command(hide = true)]
    Proxy,
    /// Say which session is open and how to reopen it; for agents
    ReportSession(report::ReportArgs),
    /// Save everything and stop the server
    Shutdown(server::ShutdownArgs),
    /// Show the whole story in a throw-away directory
    Demo(demo::DemoArgs),
    /// Print a script that completes arguments in a shell
    Completions(generate::CompletionsArgs),
    /// Write manual pages
    Man(generate::ManArgs),
}

/// Runs one command line; `args` start with the program's name. The result is
/// the exit code.
pub fn main(args: &[OsString]) -> u8 {
    if hook::is_asked_for(args) {
        hook::run(args);
        return Exit::Done as u8;
    }
    let json = wants_json(args);
    let cli = match understood(args) {
        Ok(cli) => cli,
        Err(error) => return not_understood(&error, json),
    };
    match start(cli) {
        Ok(exit) => exit as u8,
        Err(failure @ Failure::Unread) => failure.exit() as u8,
        Err(failure) => report(&failure, json),
    }
}

fn understood(args: &[OsString]) -> clap::error::Result<Cli> {
    // Half the work of a small verb were the examples, which only help shows,
    // and to give back the memory of a tree that lasts as long as the process.
    let mut command = std::mem::ManuallyDrop::new(Cli::command());
    let found = match command.try_get_matches_from_mut(args) {
        Err(error) if HELP.contains(&error.kind()) => {
            examples::command().try_get_matches_from(args)
        }
        found => found,
    };
    Cli::from_arg_matches(&found?)
}

/// What clap calls help that was asked for, and help for want of a verb.
const HELP: [ErrorKind; 2] =
    [ErrorKind::DisplayHelp, ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand];

fn start(cli: Cli) -> Result<Exit, Failure> {
    let (json, no_start) = (cli.json, cli.no_start);
    // Lives as long as the link is needed.
    let (_link, paths, starting) = match &cli.host {
        Some(host) => {
            let (socket, state_dir) = (cli.socket.as_deref(), cli.state_dir.as_deref());
            let (link, stands) = link::Link::open(host, link::There { socket, state_dir })?;
            place::go_remote();
            (Some(link), stands.paths, Some(stands.starting))
        }
        None => {
            let overrides = Overrides { state_dir: cli.state_dir, socket: cli.socket };
            // Only a relative path needs it, and says so.
            let cwd = working_directory().unwrap_or_default();
            (None, Paths::for_client(&overrides, &cwd, |name| std::env::var_os(name))?, None)
        }
    };
    let context = Context { paths, starting, json, no_start, host: cli.host };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| Failure::Io("start", error))?;
    let ended = runtime.block_on(silence::while_answered(&context, cli.verb));
    ended.map_err(|failure| failure.over(context.host.as_deref()))
}

async fn run(context: &Context, verb: Option<Verb>) -> Result<Exit, Failure> {
    let Some(verb) = verb else {
        return full_screen(context).await;
    };
    match verb {
        Verb::Status => server::status(context).await?,
        Verb::New(args) => create::run(context, args).await?,
        Verb::Ls(args) => tree::run(context, args).await?,
        Verb::Attach(args) => return attach::run(context, args).await,
        Verb::Pane(verb) => return pane::run(context, verb).await,
        Verb::Tab(verb) => tab::run(context, verb).await?,
        Verb::Workspace(verb) => workspace::run(context, verb).await?,
        Verb::Worktree(verb) => worktree::run(context, verb).await?,
        Verb::Resume(args) => return resume::run(context, args).await,
        Verb::Forget(args) => forget::run(context, args).await?,
        Verb::Answer(args) => pane::answer(context, args).await?,
        Verb::Wait(args) => wait::run(context, args).await?,
        Verb::Notify(args) => inbox::notify(context, args).await?,
        Verb::Notifications(args) => inbox::notifications(context, args).await?,
        Verb::Next => inbox::next(context).await?,
        Verb::Integration(verb) => integration::run(context, &verb)?,
        Verb::Completions(args) => generate::completions(context, &args)?,
        Verb::Man(args) => generate::man(&args)?,
        Verb::Continue(args) => return recovery::go_on(context, args).await,
        Verb::Restore(args) => recovery::plan(context, args).await?,
        Verb::ReportSession(args) => report::run(context, args).await?,
        Verb::Events(args) => return events::run(context, args).await,
        Verb::Proxy => return link::proxy(context).await,
        Verb::Shutdown(args) => server::shutdown(context, args).await?,
        Verb::Demo(args) => return demo::run(context, args).await,
        // Never gets here: see `main`.
        Verb::Hook(_) => {}
    }
    Ok(Exit::Done)
}

#[cfg(feature = "tui")]
async fn full_screen(context: &Context) -> Result<Exit, Failure> {
    crate::tui::run(context).await
}

#[cfg(not(feature = "tui"))]
async fn full_screen(_: &Context) -> Result<Exit, Failure> {
    let message = "this build has no full-screen client; `signaltty --help` lists the verbs";
    Err(Failure::Usage(message.to_owned()))
}

/// Whether errors are wanted as JSON, asked before the arguments make sense.
fn wants_json(args: &[OsString]) -> bool {
    let options = args.iter().take_while(|arg| *arg != "--");
    options.skip(1).any(|arg| arg == "--json")
}

fn not_understood(error: &clap::Error, json: bool) -> u8 {
    if error.use_stderr() && json {
        let message = error.render().to_string();
        return report(&Failure::Usage(message.trim_end().to_owned()), json);
    }
    // Help and version go to standard output, everything else does not.
    let said = error.print().and_then(|()| io::stdout().flush());
    let exit = if error.use_stderr() { Exit::Usage } else { Exit::Done };
    output::written(PROGRAM, said, exit as u8)
}

/// Says why it failed, and gives the exit code.
fn report(failure: &Failure, json: bool) -> u8 {
    let exit = failure.exit() as u8;
    let on_output = matches!(failure, Failure::Io(what, _) if *what == failure::OUTPUT);
    if json && !on_output {
        let line = text::json_line(&failure.json()).unwrap_or_default();
        return output::written(PROGRAM, output::write_out(&line), exit);
    }
    // There is nobody left to tell where this fails.
    let _ = io::stderr().write_all(failure.human().as_bytes());
    exit
}

const PROGRAM: &str = "signaltty";
