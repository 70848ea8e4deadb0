//! Agents that a person started in the shell of a pane (D-22).

use std::path::PathBuf;

use super::{AgentKind, LaunchOptions};
use crate::env::ConfigEnv;

/// Where in its pane an agent runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum AgentPlace {
    /// It is the pane's own program.
    #[default]
    Own,
    /// A person started it in the pane's shell.
    Shell,
    /// A person started it in the pane's shell, and it ended while the shell
    /// went on. Its conversation can be reopened by hand; nothing of it was
    /// open when the shell went away (D-8, D-9).
    Left,
}

impl AgentPlace {
    /// Every value.
    pub const ALL: &'static [Self] = &[Self::Own, Self::Shell, Self::Left];

    /// The text form.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Own => "own",
            Self::Shell => "shell",
            Self::Left => "left",
        }
    }

    /// Reads the text form.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|place| place.as_str() == text)
    }
}

/// Names a process so that a number which comes again is not mistaken for it.
/// Never saved.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ProcessMark {
    /// Its id.
    pub pid: u32,
    /// Start time in clock ticks since boot.
    pub start_ticks: u64,
}

/// An agent that was seen among the processes of a pane: one with the pane's
/// terminal, in the session of the pane's own process, of the same user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundAgent {
    /// Which agent.
    pub kind: AgentKind,
    /// Its process.
    pub process: ProcessMark,
    /// Its job has the terminal.
    pub foreground: bool,
    /// It runs below another agent, which started it.
    pub nested: bool,
    /// Where it was started, in the spelling that was used.
    pub cwd: PathBuf,
    /// Where it keeps its records, as far as that was set for it.
    pub config_env: ConfigEnv,
    /// The options with which it was started.
    pub options: LaunchOptions,
}
