//! What Claude Code takes, as `claude --help` of 2.1.332 has it, with the
//! hidden `--append-system-prompt-file` and `--system-prompt-file`.
//!
//! `--bare` and `--safe-mode` are left out: with them Claude does not report to
//! us, so a resume could not be verified.

use crate::options::AtResume::{Carried, Implied, LeftOut, Widens, WidensUnless};
use crate::options::OptionRule;
use crate::options::Takes::{Many, Maybe, Nothing, One};

/// Modes in which Claude asks before it changes anything, or changes nothing.
const ASKING: &[&str] = &["default", "manual", "plan"];

pub(super) static OPTIONS: &[OptionRule] = &[
    OptionRule::new("--model", One, Carried),
    OptionRule::new("--fallback-model", One, Carried),
    OptionRule::new("--effort", One, Carried),
    OptionRule::new("--betas", Many, Carried),
    OptionRule::new("--permission-mode", One, WidensUnless(ASKING)),
    OptionRule::new("--dangerously-skip-permissions", Nothing, Widens),
    OptionRule::new("--allow-dangerously-skip-permissions", Nothing, Widens),
    OptionRule::new("--add-dir", Many, Widens),
    OptionRule::new("--allowedTools", Many, Widens).alias(&["--allowed-tools"]),
    OptionRule::new("--disallowedTools", Many, Carried).alias(&["--disallowed-tools"]),
    OptionRule::new("--tools", Many, Carried),
    OptionRule::new("--restricted", Nothing, Carried),
    OptionRule::new("--setting-sources", One, Widens),
    OptionRule::new("--settings", One, Widens),
    OptionRule::new("--mcp-config", Many, Widens),
    OptionRule::new("--strict-mcp-config", Nothing, Carried),
    OptionRule::new("--plugin-dir", One, Widens).repeatable(),
    OptionRule::new("--plugin-url", One, Widens).repeatable(),
    // A definition may bring permissions of its own.
    OptionRule::new("--agent", One, Widens),
    OptionRule::new("--agents", One, Widens),
    OptionRule::new("--system-prompt", One, Carried),
    OptionRule::new("--system-prompt-file", One, Carried),
    OptionRule::new("--append-system-prompt", One, Carried),
    OptionRule::new("--append-system-prompt-file", One, Carried),
    OptionRule::new("--system-prompt-snapshot", One, Carried),
    OptionRule::new("--exclude-dynamic-system-prompt-sections", Nothing, Carried),
    OptionRule::new("--autocompact", One, Carried),
    OptionRule::new("--ax-screen-reader", Nothing, Carried),
    OptionRule::new("--brief", Nothing, Carried),
    OptionRule::new("--disable-slash-commands", Nothing, Carried),
    OptionRule::new("--ide", Nothing, Carried),
    OptionRule::new("--verbose", Nothing, Carried),
    OptionRule::new("--chrome", Nothing, Widens),
    OptionRule::new("--no-chrome", Nothing, Carried),
    OptionRule::new("--remote-control", Maybe, Widens),
    OptionRule::new("--remote-control-session-name-prefix", One, LeftOut),
    // Which conversation: the resume says that.
    OptionRule::new("--resume", Maybe, Implied).alias(&["-r"]),
    OptionRule::new("--continue", Nothing, Implied).alias(&["-c"]),
    OptionRule::new("--session-id", One, Implied),
    OptionRule::new("--fork-session", Nothing, Implied),
    OptionRule::new("--from-pr", Maybe, Implied),
    OptionRule::new("--teleport", Maybe, Implied),
    // For the first launch, or for one without a terminal.
    OptionRule::new("--name", One, LeftOut).alias(&["-n"]),
    OptionRule::new("--file", Many, LeftOut),
    OptionRule::new("--worktree", Maybe, LeftOut).alias(&["-w"]),
    OptionRule::new("--debug", Maybe, LeftOut).alias(&["-d"]),
    OptionRule::new("--debug-file", One, LeftOut),
    OptionRule::new("--cloud", Maybe, LeftOut),
    OptionRule::new("--environment", One, LeftOut),
    OptionRule::new("--input-format", One, LeftOut),
    OptionRule::new("--output-format", One, LeftOut),
    OptionRule::new("--json-schema", One, LeftOut),
    OptionRule::new("--max-budget-usd", One, LeftOut),
    OptionRule::new("--permission-prompts", One, LeftOut),
    OptionRule::new("--prompt-suggestions", Maybe, LeftOut),
];
