//! Which process an agent is that no adapter knows and that reports for itself.
//!
//! The report comes from a `signaltty` that the agent ran, often by way of a
//! shell or a script which ends at once. What lasts as long as the agent does is
//! the job of the terminal that it belongs to: its topmost process has the
//! terminal's foreground. Where none has, as in an agent that a person put into
//! the background, the pane's own process stands for it.

use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt as _;

use signaltty_adapters::{ProcHost, ProcessInfo};
use signaltty_core::agent::ProcessMark;
use signaltty_core::session::Reporter;

use super::scout::spelled;

/// The process that reports, from the line of those above the report up to the
/// pane's own.
pub(super) fn of(host: &ProcHost, line: &[ProcessInfo]) -> Option<Reporter> {
    let above = line.get(1..).filter(|above| !above.is_empty()).unwrap_or(line);
    let root = above.last()?;
    let own = host.job(root.pid)?;
    let has_terminal = |process: &ProcessInfo| {
        host.job(process.pid).is_some_and(|job| {
            job.start_ticks == process.start_ticks
                && job.session == own.session
                && job.group == own.foreground
        })
    };
    let top = above.iter().rposition(has_terminal).unwrap_or(above.len() - 1);
    let job = above.get(..=top)?;
    let process = job.last()?;
    // A shell in between may have gone somewhere else to run the report.
    let agent = job.iter().find(|process| !is_shell(&process.argv)).unwrap_or(process);
    let env = host.environment(agent.pid).unwrap_or_default();
    Some(Reporter {
        process: ProcessMark { pid: process.pid, start_ticks: process.start_ticks },
        cwd: spelled(host.cwd(agent.pid)?, &env),
    })
}

fn is_shell(argv: &[OsString]) -> bool {
    let name = argv.first().map(|word| word.as_bytes()).unwrap_or_default();
    let name = name.rsplit(|byte| *byte == b'/').next().unwrap_or_default();
    let name = name.strip_prefix(b"-").unwrap_or(name);
    SHELLS.iter().any(|shell| shell.as_bytes() == name)
}

/// What runs the commands of a hook, or a script.
const SHELLS: &[&str] = &["sh", "ash", "bash", "csh", "dash", "fish", "ksh", "mksh", "tcsh", "zsh"];
