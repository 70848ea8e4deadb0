//! Wires Claude's hooks up for one launch, without touching a file of the user.
//!
//! They come as a plugin of this launch alone. Claude takes `--plugin-dir` as
//! often as it is given and runs every plugin's hooks beside the user's own, so
//! nothing is displaced, also where a wrapper adds options that are not seen
//! here. Of `--settings` it takes the last one alone, whose place would then be
//! that of a wrapper's rules (ADR 0018). A directory that is gone is no error,
//! as when Claude starts a conversation anew with the options of this launch.

use std::path::Path;

use serde_json::{Value, json};

use super::settings;
use crate::permission;
use crate::user_hooks::quoted;
use crate::{AdapterError, Integration, Launch, LaunchContext, LaunchFile, PreparedLaunch};

/// Adds our settings to a launch.
pub(super) fn prepare(
    launch: Launch,
    context: &LaunchContext<'_>,
) -> Result<PreparedLaunch, AdapterError> {
    let untouched =
        |launch, integration| PreparedLaunch { integration, ..PreparedLaunch::unchanged(launch) };
    match look(&launch) {
        Found::NoConversation => return Ok(untouched(launch, Integration::None)),
        Found::Off(what) => {
            let needed = format!(
                "claude was started with {what}, so it does not report to signaltty; start it \
                 without {what}"
            );
            return Ok(untouched(launch, Integration::Needed(needed)));
        }
        Found::Free => {}
    }
    if let Some(file) = settings::refuses_plugins(settings::of(&launch.env), context.cwd) {
        let needed = format!(
            "`{}` is true in {}, so claude would not start with what signaltty adds and reports \
             nothing; `signaltty integration install claude` puts the hooks into your own settings",
            settings::NO_PLUGINS,
            file.display()
        );
        return Ok(untouched(launch, Integration::Needed(needed)));
    }
    if let Some(off) = settings::turned_off(settings::of(&launch.env), context.cwd) {
        let needed = format!(
            "`{}` is true in {}, so claude runs no hook of ours and does not report to signaltty; \
             take it out there and restart this pane",
            off.switch,
            off.file.display()
        );
        return Ok(untouched(launch, Integration::Needed(needed)));
    }
    if settings::given(&launch.argv).is_some_and(|text| settings::turns_off(text, context.cwd)) {
        let needed = format!(
            "`{}` is true in what `--settings` gives claude, so it runs no hook and does not \
             report to signaltty; take it out there and restart this pane",
            settings::SWITCH
        );
        return Ok(untouched(launch, Integration::Needed(needed)));
    }
    let plugin = context.runtime_dir.join(format!("claude-{}", context.instance));
    let path = plugin.join(".claude-plugin").join("plugin.json");
    let contents = ours(context.hook_program)?;
    let mut launch = launch;
    // Right after the program: options are taken anywhere, but one that takes
    // several values would swallow what follows it.
    let rest = launch.argv.split_off(launch.argv.len().min(1));
    launch.argv.push("--plugin-dir".into());
    launch.argv.push(plugin.into_os_string());
    launch.argv.extend(rest);
    Ok(PreparedLaunch {
        files: vec![LaunchFile { path, contents }],
        integration: Integration::Injected,
        runs_hook: true,
        ..PreparedLaunch::unchanged(launch)
    })
}

fn ours(hook_program: &Path) -> Result<Vec<u8>, AdapterError> {
    let Some(program) = hook_program.to_str() else {
        return Err(AdapterError::Launch(format!(
            "the path of our program {} is not UTF-8, and claude reads its plugins as such",
            hook_program.display()
        )));
    };
    let command = format!("{} hook claude", quoted(program));
    let hooks: serde_json::Map<String, Value> = EVENTS
        .iter()
        .map(|(event, seconds)| {
            let one = json!({"type": "command", "command": command, "timeout": seconds});
            ((*event).to_owned(), json!([{"hooks": [one]}]))
        })
        .collect();
    // Claude counts by this name how often it is used.
    let plugin = json!({
        "name": "signaltty",
        "version": env!("CARGO_PKG_VERSION"),
        "description": "Reports to the signaltty pane that this claude was started in",
        "hooks": hooks,
    });
    serde_json::to_vec_pretty(&plugin).map_err(|error| AdapterError::Launch(error.to_string()))
}

/// What a command line leaves us.
enum Found {
    /// Our plugin can be added.
    Free,
    /// The user had every hook turned off.
    Off(&'static str),
    /// It opens no conversation in this terminal.
    NoConversation,
}

fn look(launch: &Launch) -> Found {
    for (name, option) in
        [("CLAUDE_CODE_SIMPLE", "--bare"), ("CLAUDE_CODE_SAFE_MODE", "--safe-mode")]
    {
        if launch.env.iter().any(|(key, value)| key == name && value == "1") {
            return Found::Off(option);
        }
    }
    let mut off = None;
    let mut values = Values::None;
    let mut before_operands = true;
    for arg in launch.argv.iter().skip(1) {
        // Whatever is not UTF-8 is no option and no command that we know.
        let arg = arg.to_str().unwrap_or("x");
        if before_operands && arg == "--" {
            break;
        }
        if !arg.starts_with('-') || arg == "-" {
            match values {
                Values::One | Values::Maybe => values = Values::None,
                Values::Many => {}
                Values::None if before_operands && COMMANDS.contains(&arg) => {
                    return Found::NoConversation;
                }
                Values::None => before_operands = false,
            }
            continue;
        }
        // A value that looks like an option.
        if values == Values::One {
            values = Values::None;
            continue;
        }
        let (name, has_value) = match arg.split_once('=') {
            Some((name, _)) if arg.starts_with("--") => (name, true),
            _ => (arg, false),
        };
        if ELSEWHERE.contains(&name) || (!arg.starts_with("--") && ends_short(arg)) {
            return Found::NoConversation;
        }
        if let Some(option) = OFF.iter().find(|option| **option == name) {
            off = off.or(Some(*option));
        }
        values = match () {
            () if has_value => Values::None,
            () if ONE_VALUE.contains(&name) => Values::One,
            () if MAYBE_VALUE.contains(&name) => Values::Maybe,
            () if MANY_VALUES.contains(&name) => Values::Many,
            () => Values::None,
        };
    }
    off.map_or(Found::Free, Found::Off)
}

/// How many values the option before takes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Values {
    None,
    One,
    /// One, unless an option follows.
    Maybe,
    Many,
}

/// Whether short options, which may stand together, print and leave.
fn ends_short(arg: &str) -> bool {
    arg.chars()
        .skip(1)
        // What follows one of these is its value.
        .take_while(|option| !matches!(option, 'd' | 'n' | 'r' | 'w'))
        .any(|option| matches!(option, 'p' | 'v' | 'h'))
}

/// The reports that we take, and how long Claude waits for each.
pub(super) const EVENTS: [(&str, u32); 6] = [
    ("SessionStart", HOOK_SECONDS),
    ("SessionEnd", HOOK_SECONDS),
    ("UserPromptSubmit", HOOK_SECONDS),
    (permission::EVENT, QUESTION_SECONDS),
    ("Notification", HOOK_SECONDS),
    ("Stop", HOOK_SECONDS),
];

/// How long Claude waits for a report to be passed on.
const HOOK_SECONDS: u32 = 5;

/// How long it waits for one that a person may answer: longer than the hook
/// does (120 s), so that the hook ends by itself.
const QUESTION_SECONDS: u32 = 130;

/// Options with which no hook runs.
const OFF: [&str; 2] = ["--bare", "--safe-mode"];

/// Options with which no conversation is opened in this terminal.
const ELSEWHERE: [&str; 8] =
    ["--print", "--version", "--help", "--bg", "--background", "--cloud", "--desktop", "--tmux"];

const COMMANDS: [&str; 22] = [
    "agents",
    "attach",
    "auth",
    "auto-mode",
    "doctor",
    "gateway",
    "help",
    "import",
    "install",
    "kill",
    "logs",
    "mcp",
    "plugin",
    "plugins",
    "purge",
    "respawn",
    "rm",
    "setup-token",
    "stop",
    "ultrareview",
    "update",
    "upgrade",
];

const ONE_VALUE: [&str; 24] = [
    "--agent",
    "--agents",
    "--append-system-prompt",
    "--autocompact",
    "--debug-file",
    "--effort",
    "--environment",
    "--fallback-model",
    "--input-format",
    "--json-schema",
    "--max-budget-usd",
    "--model",
    "--name",
    "-n",
    "--output-format",
    "--permission-mode",
    "--permission-prompts",
    "--plugin-dir",
    "--plugin-url",
    "--remote-control-session-name-prefix",
    "--session-id",
    "--setting-sources",
    "--settings",
    "--system-prompt",
];

const MAYBE_VALUE: [&str; 10] = [
    "--debug",
    "-d",
    "--from-pr",
    "--prompt-suggestions",
    "--remote-control",
    "--resume",
    "-r",
    "--teleport",
    "--worktree",
    "-w",
];

const MANY_VALUES: [&str; 9] = [
    "--add-dir",
    "--allowedTools",
    "--allowed-tools",
    "--betas",
    "--disallowedTools",
    "--disallowed-tools",
    "--file",
    "--mcp-config",
    "--tools",
];
