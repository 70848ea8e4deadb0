//! The arguments of the programs that serve, and the call that they make.

use std::ffi::OsString;
use std::io::{self, Write as _};
use std::path::PathBuf;

use clap::{Parser, error::ErrorKind};

use crate::config::{Overrides, Paths};
use crate::daemon::{self, ServeOptions};

/// Keeps terminal sessions of coding agents, in the foreground. Of an option that
/// is given twice the last one counts.
#[derive(Debug, Parser)]
#[command(name = "signaltty-server", version)]
struct Arguments {
    /// Where clients connect [default: $SIGNALTTY_SOCKET, else the standard place]
    #[arg(long, value_name = "PATH", overrides_with = "socket")]
    socket: Option<PathBuf>,
    /// Where the state is [default: $SIGNALTTY_STATE_DIR, else the standard place]
    #[arg(long, value_name = "DIR", overrides_with = "state_dir")]
    state_dir: Option<PathBuf>,
    /// What to log, as in `info,signaltty_server=debug`
    #[arg(long, value_name = "FILTER", overrides_with = "log")]
    log: Option<String>,
    /// Know the demonstration agent, which `signaltty` contains
    #[arg(long, hide = true)]
    demo_agent: bool,
}

/// Serves until told to stop; `args` start with the program's name. The result
/// is the exit code. To be called on the main thread, which starts all
/// processes of panes (D-15).
pub fn main(args: &[OsString]) -> u8 {
    let args = match Arguments::try_parse_from(args) {
        Ok(args) => args,
        Err(error) => {
            let _ = error.print();
            let asked = [ErrorKind::DisplayHelp, ErrorKind::DisplayVersion];
            return if asked.contains(&error.kind()) { 0 } else { USAGE };
        }
    };
    let overrides = Overrides { state_dir: args.state_dir, socket: args.socket };
    let cwd = std::env::current_dir().unwrap_or_else(|_| PathBuf::from("/"));
    let (error, code) = match Paths::resolve(&overrides, &cwd, |name| std::env::var_os(name)) {
        Err(error) => (error.to_string(), USAGE),
        Ok(paths) => {
            let ended =
                daemon::serve(ServeOptions { paths, demo_agent: args.demo_agent, log: args.log });
            match ended {
                Ok(()) => return 0,
                Err(error) => (error.to_string(), error.exit_code()),
            }
        }
    };
    // Whoever reads the log may have gone.
    let _ = writeln!(io::stderr(), "signaltty-server: {error}");
    code
}

const USAGE: u8 = 2;
