//! The environment of a pane.
//!
//! What a client asks for starts with that client's environment, what the
//! server starts by itself with the login shell's (D-27). Either is scrubbed of what
//! belongs to another terminal, another agent or another pane (D-12), and gets
//! what says where it runs now.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::path::Path;

use signaltty_adapters::{Adapters, ProcHost};
use signaltty_core::env::ConfigEnv;
use signaltty_core::id::PaneId;

use super::random::Secret;

/// An environment by name.
pub(crate) type Env = BTreeMap<OsString, OsString>;

/// Variables of the terminal, multiplexer or service manager around the client
/// or the server, which would be lies inside a pane.
const OF_OTHERS: [&str; 24] = [
    "COLUMNS",
    "INVOCATION_ID",
    "JOURNAL_STREAM",
    "KITTY_PID",
    "KITTY_WINDOW_ID",
    "LINES",
    "LISTEN_FDNAMES",
    "LISTEN_FDS",
    "LISTEN_PID",
    "MANAGERPID",
    "NOTIFY_SOCKET",
    "STY",
    "SYSTEMD_EXEC_PID",
    "TERMCAP",
    "TERM_PROGRAM",
    "TERM_PROGRAM_VERSION",
    "TMUX",
    "TMUX_PANE",
    "VTE_VERSION",
    "WATCHDOG_PID",
    "WATCHDOG_USEC",
    "WEZTERM_PANE",
    "WINDOW",
    "ZELLIJ",
];

/// What a pane is told about itself.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Place<'a> {
    pub(crate) pane: PaneId,
    pub(crate) socket: &'a Path,
    /// The secret of this launch: in memory and in the pane, nowhere else.
    pub(crate) launch: &'a Secret,
}

/// The variables that do not belong to another terminal or agent.
pub(crate) fn own<'a>(
    base: &'a Env,
    adapters: &Adapters,
) -> impl Iterator<Item = (&'a OsString, &'a OsString)> {
    let of_agents =
        adapters.iter().flat_map(|adapter| adapter.spec().scrubbed_vars.iter().copied());
    let others: BTreeSet<_> = OF_OTHERS.into_iter().chain(of_agents).map(OsStr::new).collect();
    base.iter().filter(move |(name, _)| !others.contains(name.as_os_str()))
}

/// An environment without what belongs to another terminal or agent.
pub(crate) fn scrubbed(base: &Env, adapters: &Adapters) -> Env {
    let own = own(base, adapters);
    let mut env: Env = own.map(|(name, value)| (name.clone(), value.clone())).collect();
    // The screen speaks xterm's language whatever is around the client.
    env.insert("TERM".into(), "xterm-256color".into());
    env.insert("COLORTERM".into(), "truecolor".into());
    env
}

/// Builds a pane's environment. Of `identity`, the variables that say where an
/// agent's records live, it gets what `config_env` has and nothing else: a
/// conversation that was made without one is in no other place (D-27).
pub(crate) fn for_pane(
    base: &Env,
    adapters: &Adapters,
    config_env: &ConfigEnv,
    identity: &[&str],
    place: Place<'_>,
) -> Env {
    let mut env = scrubbed(base, adapters);
    env.retain(|name, _| !identity.iter().any(|of| name == of));
    for (name, value) in config_env.iter() {
        env.insert(name.into(), value.into());
    }
    env.insert("SIGNALTTY_PANE".into(), place.pane.to_string().into());
    env.insert("SIGNALTTY_SOCKET".into(), place.socket.into());
    env.insert("SIGNALTTY_LAUNCH".into(), place.launch.as_str().into());
    env
}

/// The machine as a process with this environment sees it: its home and its
/// search path, not the server's.
pub(crate) fn host(env: &Env) -> ProcHost {
    let var = |name: &str| env.get(OsStr::new(name)).filter(|value| !value.is_empty());
    ProcHost {
        home: var("HOME").map(std::path::PathBuf::from),
        path: var("PATH").cloned().unwrap_or_default(),
    }
}

/// The login shell of an environment, as a command.
pub(crate) fn login_shell(env: &Env) -> Vec<OsString> {
    let shell = env.get(OsStr::new("SHELL")).filter(|shell| !shell.is_empty());
    vec![shell.cloned().unwrap_or_else(|| "/bin/sh".into()), "-l".into()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn d12_a_pane_inherits_no_outer_terminal_agent_or_pane() {
        let base: Env = [
            ("TMUX", "x"),
            ("CLAUDECODE", "1"),
            ("SIGNALTTY_PANE", "pane_other"),
            ("SIGNALTTY_LAUNCH", "old"),
            ("TERM", "screen"),
            ("MINE", "kept"),
            ("MOVED", "elsewhere"),
        ]
        .into_iter()
        .map(|(name, value)| (name.into(), value.into()))
        .collect();
        let secret = Secret::known("new");
        let place = Place {
            pane: PaneId::from_random([0; 10]),
            socket: Path::new("/run/s"),
            launch: &secret,
        };
        assert!(!format!("{place:?}").contains("new"), "{place:?}");
        let config = ConfigEnv::default();
        let env = for_pane(&base, &Adapters::builtin(), &config, &["MOVED"], place);
        let get = |name: &str| env.get(OsStr::new(name)).and_then(|value| value.to_str());
        assert_eq!(get("TMUX"), None);
        assert_eq!(get("CLAUDECODE"), None);
        assert_eq!(get("MINE"), Some("kept"));
        assert_eq!(get("MOVED"), None);
        assert_eq!(get("TERM"), Some("xterm-256color"));
        assert_eq!(get("SIGNALTTY_LAUNCH"), Some("new"));
        assert_eq!(get("SIGNALTTY_PANE"), Some("pane_aaaaaaaaaaaaaaaa"));
    }
}
