//! What Codex takes, as `codex resume --help` of 0.171.0 has it.
//!
//! `--cd` and `--worktree` are left out: a conversation is reopened in its
//! saved directory, which is that of `--cd` (D-23).

use crate::options::AtResume::{
    Carried, Directory, Implied, LeftOut, Setting, Widens, WidensUnless,
};
use crate::options::OptionRule;
use crate::options::Takes::{Many, Nothing, One};

/// Sandboxes that confine what is written.
const CONFINED: &[&str] = &["read-only", "workspace-write"];

/// Policies under which a person is asked.
const ASKING: &[&str] = &["untrusted", "on-request"];

/// Of all settings only these: others may hold keys, or run programs.
const SETTINGS: crate::options::AtResume = Setting {
    carried: &[
        "model",
        "model_provider",
        "model_reasoning_effort",
        "model_reasoning_summary",
        "model_verbosity",
        "service_tier",
    ],
    widens: &["approval_policy", "sandbox_mode", "sandbox_workspace_write.network_access"],
};

pub(super) static OPTIONS: &[OptionRule] = &[
    OptionRule::new("--model", One, Carried).alias(&["-m"]),
    OptionRule::new("--config", One, SETTINGS).alias(&["-c"]).repeatable(),
    // It may bring a sandbox and approvals of its own.
    OptionRule::new("--profile", One, Widens).alias(&["-p"]),
    OptionRule::new("--oss", Nothing, Carried),
    OptionRule::new("--local-provider", One, Carried),
    OptionRule::new("--sandbox", One, WidensUnless(CONFINED)).alias(&["-s"]),
    OptionRule::new("--ask-for-approval", One, WidensUnless(ASKING)).alias(&["-a"]),
    OptionRule::new("--approve-for-me", Nothing, Widens),
    OptionRule::new("--dangerously-bypass-approvals-and-sandbox", Nothing, Widens)
        .alias(&["--yolo"]),
    OptionRule::new("--dangerously-bypass-hook-trust", Nothing, Widens),
    OptionRule::new("--add-dir", One, Widens).repeatable(),
    // Without an approval for each use.
    OptionRule::new("--search", Nothing, Widens),
    OptionRule::new("--enable", One, Widens).repeatable(),
    OptionRule::new("--disable", One, Widens).repeatable(),
    OptionRule::new("--strict-config", Nothing, Carried),
    OptionRule::new("--no-alt-screen", Nothing, Carried),
    OptionRule::new("--no-daemon", Nothing, Implied),
    OptionRule::new("--last", Nothing, Implied),
    OptionRule::new("--all", Nothing, Implied),
    OptionRule::new("--include-non-interactive", Nothing, Implied),
    OptionRule::new("--cd", One, Directory).alias(&["-C"]),
    OptionRule::new("--worktree", Nothing, LeftOut),
    OptionRule::new("--image", Many, LeftOut).alias(&["-i"]),
    OptionRule::new("--remote", One, LeftOut),
    OptionRule::new("--remote-auth-token-env", One, LeftOut),
];
