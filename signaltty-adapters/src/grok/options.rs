//! What Grok takes, as `grok --help` of 1.0.41 has it.

use crate::options::AtResume::{Carried, Directory, Implied, LeftOut, Widens, WidensUnless};
use crate::options::OptionRule;
use crate::options::Takes::{Maybe, Nothing, One};

/// Modes in which Grok asks before it changes anything, or changes nothing.
const ASKING: &[&str] = &["default", "plan"];

/// Profiles that confine the agent.
const CONFINED: &[&str] = &["workspace", "read-only", "strict"];

pub(super) static OPTIONS: &[OptionRule] = &[
    OptionRule::new("--model", One, Carried).alias(&["-m"]),
    OptionRule::new("--reasoning-effort", One, Carried).alias(&["--effort"]),
    OptionRule::new("--permission-mode", One, WidensUnless(ASKING)),
    OptionRule::new("--always-approve", Nothing, Widens),
    OptionRule::new("--allow", One, Widens).alias(&["--allowedTools"]).repeatable(),
    OptionRule::new("--deny", One, Carried).alias(&["--disallowedTools"]).repeatable(),
    OptionRule::new("--sandbox", One, WidensUnless(CONFINED)),
    OptionRule::new("--tools", One, Carried),
    OptionRule::new("--disallowed-tools", One, Carried),
    OptionRule::new("--disable-web-search", Nothing, Carried),
    // A definition may bring permissions of its own.
    OptionRule::new("--agent", One, Widens),
    OptionRule::new("--agents", One, Widens),
    OptionRule::new("--rules", One, Carried),
    OptionRule::new("--system-prompt-override", One, Carried).alias(&["--system-prompt"]),
    OptionRule::new("--max-turns", One, Carried),
    OptionRule::new("--no-plan", Nothing, Carried),
    OptionRule::new("--no-subagents", Nothing, Carried),
    OptionRule::new("--no-alt-screen", Nothing, Carried),
    OptionRule::new("--fullscreen", Nothing, Carried),
    OptionRule::new("--minimal", Nothing, Carried),
    OptionRule::new("--resume", Maybe, Implied).alias(&["-r"]),
    OptionRule::new("--continue", Nothing, Implied).alias(&["-c"]),
    OptionRule::new("--session-id", One, Implied).alias(&["-s"]),
    OptionRule::new("--fork-session", Nothing, Implied),
    OptionRule::new("--restore-code", Nothing, LeftOut),
    OptionRule::new("--cwd", One, Directory),
    OptionRule::new("--worktree", Maybe, LeftOut).alias(&["-w"]),
    OptionRule::new("--worktree-ref", One, LeftOut).alias(&["--ref"]),
    OptionRule::new("--single", One, LeftOut).alias(&["-p"]),
    OptionRule::new("--prompt-file", One, LeftOut),
    OptionRule::new("--prompt-json", One, LeftOut),
    OptionRule::new("--json-schema", One, LeftOut),
    OptionRule::new("--output-format", One, LeftOut),
    OptionRule::new("--leader-socket", One, LeftOut),
    OptionRule::new("--debug", Nothing, LeftOut),
    OptionRule::new("--debug-file", One, LeftOut),
    OptionRule::new("--oauth", Nothing, LeftOut),
];
