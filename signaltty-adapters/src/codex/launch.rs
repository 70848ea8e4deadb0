//! Keeps an interactive Codex in its pane.
//!
//! Without the option an interactive Codex starts a server that stays behind
//! when the pane is gone, works on, and holds the conversations of every pane.

use std::ffi::OsString;
use std::path::Path;

use crate::{Integration, Launch, LaunchContext, PreparedLaunch, script};

/// The option.
pub(super) const IN_PROCESS: &str = "--no-daemon";

/// Adds the option where it is missing and taken.
pub(super) fn prepare(mut launch: Launch, context: &LaunchContext<'_>) -> PreparedLaunch {
    let integration = match look(&launch.argv) {
        // Codex takes it once in front of a command, and once behind one.
        Found::Terminal { at: 1 }
            if script::that_has(&launch, context.cwd, &[IN_PROCESS]).is_some() =>
        {
            Integration::None
        }
        Found::Terminal { at } => {
            let rest = launch.argv.split_off(at.min(launch.argv.len()));
            launch.argv.push(IN_PROCESS.into());
            launch.argv.extend(rest);
            Integration::None
        }
        Found::Remote => Integration::Needed(
            "codex was started with --remote, so its conversation is open in another process \
             and cannot be told to be this pane's; start it without --remote"
                .to_owned(),
        ),
        Found::InProcess | Found::Headless | Found::NoConversation => Integration::None,
    };
    PreparedLaunch { integration, ..PreparedLaunch::unchanged(launch) }
}

/// What to say of a Codex that was typed into a shell and works elsewhere.
pub(super) fn unfollowable(argv: &[OsString]) -> Option<String> {
    let what = match look(argv) {
        Found::Terminal { .. } => {
            "this codex works in a server that all terminals share, so its conversation cannot be \
             told from those of other panes; end it and start it as `codex --no-daemon`"
        }
        Found::Remote => {
            "this codex was started with --remote, so its conversation is open in another \
             process and cannot be told to be this pane's; start it as `codex --no-daemon`"
        }
        Found::InProcess | Found::Headless | Found::NoConversation => return None,
    };
    Some(what.to_owned())
}

/// Whether the conversation of this command is a script's and not a pane's.
pub(super) fn is_headless(argv: &[OsString]) -> bool {
    look(argv) == Found::Headless
}

/// Whether this is the server that all terminals share: a copy of Codex among
/// its own packages, or one that listens at the usual place.
pub(super) fn is_shared_server(argv: &[OsString]) -> bool {
    let copy = argv.first().is_some_and(|program| {
        Path::new(program).components().any(|part| part.as_os_str() == "app-server-daemon")
    });
    copy || argv.iter().any(|arg| arg == "app-server") && argv.iter().any(|arg| arg == "unix://")
}

/// What a command line is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Found {
    /// A conversation in the terminal; the option goes there.
    Terminal { at: usize },
    /// One that has the option.
    InProcess,
    /// One whose server the user chose.
    Remote,
    /// A conversation without a terminal.
    Headless,
    /// Something else.
    NoConversation,
}

fn look(argv: &[OsString]) -> Found {
    let mut at = 1;
    let mut found = Found::NoConversation;
    let mut values = Values::None;
    let mut before_operands = true;
    let mut in_process = argv.is_empty();
    let mut remote = false;
    for (place, arg) in argv.iter().enumerate().skip(1) {
        // Whatever is not UTF-8 is no option and no command that we know.
        let arg = arg.to_str().unwrap_or("x");
        if arg == "--" {
            break;
        }
        if !arg.starts_with('-') || arg == "-" {
            match values {
                Values::One => values = Values::None,
                Values::Many => {}
                Values::None if before_operands => {
                    before_operands = false;
                    match arg {
                        arg if IN_TERMINAL.contains(&arg) => at = place + 1,
                        arg if HEADLESS.contains(&arg) => found = Found::Headless,
                        arg if ELSEWHERE.contains(&arg) => return Found::NoConversation,
                        _ => {}
                    }
                }
                Values::None => {}
            }
            continue;
        }
        // A value that looks like an option is not taken as one.
        let (name, has_value) = match arg.split_once('=') {
            Some((name, _)) => (name, true),
            None => (arg, false),
        };
        match name {
            "-h" | "--help" | "-V" | "--version" => return Found::NoConversation,
            IN_PROCESS => in_process = true,
            "--remote" => remote = true,
            _ => {}
        }
        values = match name {
            _ if has_value => Values::None,
            name if MANY_VALUES.contains(&name) => Values::Many,
            name if ONE_VALUE.contains(&name) => Values::One,
            _ => Values::None,
        };
    }
    match found {
        Found::Headless => Found::Headless,
        _ if remote => Found::Remote,
        _ if in_process => Found::InProcess,
        _ => Found::Terminal { at },
    }
}

/// How many values the option before takes.
#[derive(Clone, Copy)]
enum Values {
    None,
    One,
    Many,
}

/// Commands that open a conversation in the terminal.
const IN_TERMINAL: [&str; 3] = ["agents", "fork", "resume"];

/// Commands that hold one without a terminal.
const HEADLESS: [&str; 3] = ["e", "exec", "review"];

const ELSEWHERE: [&str; 25] = [
    "a",
    "app-server",
    "apply",
    "archive",
    "cloud",
    "completion",
    "debug",
    "delete",
    "doctor",
    "exec-server",
    "features",
    "help",
    "login",
    "logout",
    "mcp",
    "mcp-server",
    "migrate-nfs-db",
    "migrate-rollouts",
    "plugin",
    "queue",
    "remote-control",
    "sandbox",
    "unarchive",
    "update",
    "upgrade",
];

const ONE_VALUE: [&str; 19] = [
    "--add-dir",
    "--ask-for-approval",
    "--cd",
    "--config",
    "--disable",
    "--enable",
    "--local-provider",
    "--model",
    "--profile",
    "--remote",
    "--remote-auth-token-env",
    "--sandbox",
    "-C",
    "-a",
    "-c",
    "-m",
    "-p",
    "-s",
    "--color",
];

const MANY_VALUES: [&str; 2] = ["--image", "-i"];
