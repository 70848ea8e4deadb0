//! Gives OpenCode a server of its own for one launch, without touching a file
//! of the user (D-12).
//!
//! Whoever knows the password can do whatever OpenCode can, so it is random, in
//! memory and in the process's environment only, and the server listens on the
//! loopback interface.

use std::ffi::OsString;

use signaltty_core::agent::Conversation;

use crate::{
    AgentAdapter, AgentHost, Integration, Launch, LaunchContext, LaunchFacts, PreparedLaunch,
    script,
};

/// The names of what the channel needs to know again.
pub(super) const PORT: &str = "port";
pub(super) const PASSWORD: &str = "password";
pub(super) const USER: &str = "user";

/// Adds port and password to a launch.
pub(super) fn prepare(launch: Launch, context: &LaunchContext<'_>) -> PreparedLaunch {
    match (look(&launch), context.loopback_port) {
        (Found::NoConversation, _) => PreparedLaunch::unchanged(launch),
        (Found::Taken(what), _) => needed(
            launch,
            format!(
                "opencode was started with {what}, so signaltty cannot ask its server; start it \
                 without {what}"
            ),
        ),
        (Found::Free, None) => {
            let why = "no free port was found for opencode's server; start it again later";
            needed(launch, why.to_owned())
        }
        (Found::Free, Some(port)) => match script::that_has(&launch, context.cwd, &TAKEN) {
            Some((path, what)) => needed(
                launch,
                format!(
                    "{} is a script that has {what}, so signaltty leaves opencode's server alone \
                     and cannot ask it; start opencode without {what}",
                    path.display()
                ),
            ),
            None => with_server(launch, port, context.secret),
        },
    }
}

fn with_server(mut launch: Launch, port: u16, secret: &str) -> PreparedLaunch {
    let password = format!("{OURS}{secret}");
    // Right after the program, since what follows `--` is no option.
    let rest = launch.argv.split_off(launch.argv.len().min(1));
    let ours = ["--port", &port.to_string(), "--hostname", "127.0.0.1"].map(Into::into);
    launch.argv.extend(ours);
    launch.argv.extend(rest);
    launch.env.retain(|(name, _)| name != PASSWORD_VAR);
    launch.env.push((PASSWORD_VAR.into(), password.clone().into()));
    let user = var(&launch, USER_VAR).unwrap_or(DEFAULT_USER).to_owned();
    PreparedLaunch {
        integration: Integration::Injected,
        facts: LaunchFacts::from([(PORT, port.to_string()), (PASSWORD, password), (USER, user)]),
        ..PreparedLaunch::unchanged(launch)
    }
}

fn needed(launch: Launch, what: String) -> PreparedLaunch {
    PreparedLaunch { integration: Integration::Needed(what), ..PreparedLaunch::unchanged(launch) }
}

/// What to say of an OpenCode that has another port than ours on its command
/// line: it listens on neither then.
pub(super) fn displaced(argv: &[OsString], facts: &LaunchFacts) -> Option<String> {
    let ours = facts.get(PORT)?;
    let mut words = argv.iter().skip(1).map(text).take_while(|arg| *arg != "--");
    while let Some(word) = words.next() {
        let value = match word.split_once('=') {
            Some(("--port", value)) => value,
            None if word == "--port" => words.next()?,
            _ => continue,
        };
        if value != ours {
            return Some(format!(
                "a program around opencode adds `--port {value}` to the port that signaltty \
                 gave it, and opencode listens on neither, so it cannot be asked; take the option \
                 out there"
            ));
        }
    }
    None
}

/// What a command line leaves us.
enum Found {
    /// A server can be added.
    Free,
    /// The user set what we would need.
    Taken(&'static str),
    /// It opens no conversation in this terminal.
    NoConversation,
}

fn look(launch: &Launch) -> Found {
    let mut taken = None;
    // One that we gave to the process around this one is not the user's.
    if var(launch, PASSWORD_VAR).is_some_and(|password| !password.starts_with(OURS)) {
        taken = Some(PASSWORD_VAR);
    }
    if first_word(&launch.argv).is_some_and(|(_, word)| COMMANDS.contains(&word)) {
        return Found::NoConversation;
    }
    for arg in launch.argv.iter().skip(1).map(text) {
        if arg == "--" {
            break;
        }
        let name = arg.split_once('=').map_or(arg, |(name, _)| name);
        if ELSEWHERE.contains(&name) {
            return Found::NoConversation;
        }
        if let Some(option) = SERVER.iter().find(|option| **option == name) {
            taken = taken.or(Some(*option));
        }
    }
    taken.map_or(Found::Free, Found::Taken)
}

/// Which word of a command names the directory in which OpenCode works.
pub(super) fn directory(argv: &[OsString]) -> Option<usize> {
    let (at, word) = first_word(argv)?;
    (!COMMANDS.contains(&word)).then_some(at)
}

/// A living OpenCode that was started with the conversation. One that came to it
/// later, by its list, shows that nowhere before its next turn; and one that went
/// on to another is still named, since nobody can tell (a person may override).
pub(super) fn holder(
    adapter: &dyn AgentAdapter,
    conversation: &Conversation,
    host: &dyn AgentHost,
) -> Option<String> {
    let id = conversation.id.as_str();
    let holds = |argv: &[OsString]| adapter.recognises(argv) && opens(argv, id);
    let holder = host.tree(INIT).into_iter().find(|process| holds(&process.argv))?;
    Some(format!("process {} ({}) was started with it", holder.pid, adapter.spec().kind))
}

/// Whether a command opens exactly this conversation, to write to it.
fn opens(argv: &[OsString], id: &str) -> bool {
    if first_word(argv)
        .is_some_and(|(_, word)| COMMANDS.contains(&word) && !WRITERS.contains(&word))
    {
        return false;
    }
    let mut words = argv.iter().skip(1).map(text).take_while(|arg| *arg != "--");
    let mut asked = false;
    while let Some(arg) = words.next() {
        let value = match arg.split_once('=') {
            Some(("--session" | "-s", value)) => Some(value),
            None if matches!(arg, "--session" | "-s") => words.next(),
            _ => None,
        };
        match value {
            Some(value) => asked = value == id,
            // It goes on in a copy.
            None if arg == "--fork" => return false,
            None => {}
        }
    }
    asked
}

/// The first word that is neither an option nor the value of one: the command,
/// or the directory to work in.
fn first_word(argv: &[OsString]) -> Option<(usize, &str)> {
    let mut is_value = false;
    for (at, arg) in argv.iter().enumerate().skip(1).map(|(at, arg)| (at, text(arg))) {
        if arg == "--" {
            return None;
        }
        if !arg.starts_with('-') {
            if !is_value {
                return Some((at, arg));
            }
            is_value = false;
            continue;
        }
        is_value = ONE_VALUE.contains(&arg);
    }
    None
}

/// A word. Whatever is not UTF-8 is no option and no command that we know.
fn text(arg: &OsString) -> &str {
    arg.to_str().unwrap_or("x")
}

/// The value of a variable that says something.
fn var<'a>(launch: &'a Launch, name: &str) -> Option<&'a str> {
    let found = launch.env.iter().find(|(key, _)| key == name)?;
    // One that is not UTF-8 is some other user's name for us.
    Some(found.1.to_str().unwrap_or("x")).filter(|value| !value.is_empty())
}

/// Passwords of ours begin with it, so that one which a process inherited from
/// another launch is told from one that the user set.
const OURS: &str = "signaltty-";

const PASSWORD_VAR: &str = "OPENCODE_SERVER_PASSWORD";
const USER_VAR: &str = "OPENCODE_SERVER_USERNAME";
const DEFAULT_USER: &str = "opencode";

/// Options of its server, which are the user's if they are there.
const SERVER: [&str; 5] = ["--port", "--hostname", "--mdns", "--mdns-domain", "--cors"];

/// What of a script would be displaced: OpenCode listens elsewhere where one of
/// these options stands twice.
const TAKEN: [&str; 4] = ["--port", "--hostname", "--mdns", PASSWORD_VAR];

/// Options with which no conversation is opened.
const ELSEWHERE: [&str; 4] = ["--help", "-h", "--version", "-v"];

const ONE_VALUE: [&str; 15] = [
    "--agent",
    "--cors",
    "--hostname",
    "--log-level",
    "--mdns-domain",
    "--model",
    "-m",
    "--port",
    "--prompt",
    "--replay-limit",
    "--session",
    "-s",
    "--title",
    "--username",
    "-u",
];

/// Commands that write to a conversation.
const WRITERS: [&str; 2] = ["attach", "run"];

/// Every process that can be seen descends from it.
const INIT: u32 = 1;

const COMMANDS: [&str; 24] = [
    "acp",
    "agent",
    "attach",
    "auth",
    "completion",
    "console",
    "db",
    "debug",
    "export",
    "github",
    "import",
    "mcp",
    "models",
    "plug",
    "plugin",
    "pr",
    "providers",
    "run",
    "serve",
    "session",
    "stats",
    "uninstall",
    "upgrade",
    "web",
];
