//! The arguments of the programs that serve, and the call that they make.

mod doctor;
mod history;
mod schema;

use std::ffi::OsString;
use std::io::{self, Write as _};
use std::path::PathBuf;

use clap::{Parser, Subcommand, error::ErrorKind};

use serde_json::json;
use signaltty_core::time::UnixMillis;

use crate::config::{Overrides, Paths};
use crate::daemon::{self, ServeOptions};
use crate::output;
use crate::service::{unit, verb};

/// Keeps terminal sessions of coding agents, in the foreground. Of an option that
/// is given twice the last one counts.
#[derive(Debug, Parser)]
#[command(name = "signaltty-server", version)]
struct Arguments {
    /// Where clients connect [default: $SIGNALTTY_SOCKET, else the standard place]
    #[arg(long, global = true, value_name = "PATH", overrides_with = "socket")]
    socket: Option<PathBuf>,
    /// Where the state is [default: $SIGNALTTY_STATE_DIR, else the standard place]
    #[arg(long, global = true, value_name = "DIR", overrides_with = "state_dir")]
    state_dir: Option<PathBuf>,
    /// The configuration [default: $XDG_CONFIG_HOME/signaltty/config.toml, if it is there]
    #[arg(long, value_name = "FILE", overrides_with = "config")]
    config: Option<PathBuf>,
    /// What to log, as in `info,signaltty_server=debug`
    #[arg(long, value_name = "FILTER", overrides_with = "log")]
    log: Option<String>,
    /// The file that standard output and error are, to be kept short
    #[arg(long, hide = true, value_name = "PATH")]
    log_file: Option<PathBuf>,
    /// Know the demonstration agent, which `signaltty` contains
    #[arg(long, hide = true)]
    demo_agent: bool,
    #[command(subcommand)]
    verb: Option<Verb>,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// Look at the state directory without a server; changes nothing
    Doctor(doctor::DoctorArgs),
    /// List, show and bring back older snapshots
    #[command(subcommand)]
    History(history::HistoryVerb),
    /// Print the JSON Schema of the protocol, or of the snapshot
    Schema(schema::SchemaArgs),
    /// Run the server as a service of your own systemd
    Service(verb::ServiceArgs),
}

/// What it understands, for a test of the documents.
#[cfg(all(test, feature = "client"))]
pub(crate) fn command() -> clap::Command {
    <Arguments as clap::CommandFactory>::command()
}

/// Serves until told to stop; `args` start with the program's name. The result
/// is the exit code. To be called on the main thread, which starts all
/// processes of panes (D-15).
pub fn main(args: &[OsString]) -> u8 {
    let args = match Arguments::try_parse_from(args) {
        Ok(args) => args,
        Err(error) => {
            let asked = [ErrorKind::DisplayHelp, ErrorKind::DisplayVersion];
            let exit = if asked.contains(&error.kind()) { 0 } else { USAGE };
            let said = error.print().and_then(|()| io::stdout().flush());
            return output::written(PROGRAM, said, exit);
        }
    };
    let alone = [("--config", args.config.is_some()), ("--log", args.log.is_some())];
    if let (Some(_), Some((option, _))) = (&args.verb, alone.iter().find(|(_, given)| *given)) {
        let message = format!(
            "{option} is for a server in the foreground; for a service, change its unit with a \
             drop-in (`systemctl --user edit {}`)",
            unit::NAME
        );
        return fail(false, USAGE, "BAD_PARAMS", &message);
    }
    let overrides = Overrides { state_dir: args.state_dir, socket: args.socket };
    // Only a relative path needs it, and says so.
    let cwd = std::env::current_dir().unwrap_or_default();
    let (error, code) = match Paths::resolve(&overrides, &cwd, |name| std::env::var_os(name)) {
        Err(error) => (error.to_string(), USAGE),
        Ok(paths) => {
            match args.verb {
                Some(Verb::Doctor(args)) => return doctor::run(&paths, &args),
                Some(Verb::History(verb)) => return history::run(&paths, verb),
                Some(Verb::Schema(args)) => return schema::run(&args),
                Some(Verb::Service(args)) => return verb::run(&args, &paths),
                None => {}
            }
            let Arguments { demo_agent, log, log_file, config, .. } = args;
            // Whoever says where the demonstration agent lives wants to run it,
            // also on a server that a client starts.
            let demo_agent = demo_agent || std::env::var_os("SIGNALTTY_DEMO_HOME").is_some();
            let config = config.map(|path| cwd.join(path));
            signaltty_pty::settle_signals();
            signaltty_pty::give_memory_back();
            match daemon::serve(ServeOptions { paths, demo_agent, log, config, log_file }) {
                Ok(()) => return 0,
                Err(error) => (error.to_string(), error.exit_code()),
            }
        }
    };
    // Whoever reads the log may have gone.
    let _ = writeln!(io::stderr(), "signaltty-server: {error}");
    code
}

/// Writes to standard output what goes with an exit code, and gives that.
fn print(text: &str, exit: u8) -> u8 {
    output::printed(PROGRAM, text, exit)
}

/// An error as scripts see it.
fn error_json(code: &str, message: &str) -> String {
    let error = json!({"error": {"code": code, "message": message, "details": {}}});
    format!("{error}\n")
}

/// Reports an error, for people or for scripts, and gives the exit code.
fn fail(json: bool, exit: u8, code: &str, message: &str) -> u8 {
    if json {
        return print(&error_json(code, message), exit);
    }
    let _ = writeln!(io::stderr(), "signaltty-server: {message}");
    exit
}

/// A time for people and scripts.
fn time(at: UnixMillis) -> String {
    let millis = i64::try_from(at.0).unwrap_or(i64::MAX);
    jiff::Timestamp::from_millisecond(millis).unwrap_or(jiff::Timestamp::MAX).to_string()
}

/// Text of others on this terminal: what would act on it is shown as an escape.
fn safe(text: &str) -> String {
    text.chars()
        .map(|c| if c.is_control() { c.escape_default().to_string() } else { c.to_string() })
        .collect()
}

const PROGRAM: &str = "signaltty-server";

const FAILED: u8 = 1;
const USAGE: u8 = 2;
const REFUSED: u8 = 6;
