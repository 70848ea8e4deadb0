//! Who asks: a person, or an agent in a pane (D-26).
//!
//! An agent is not its person. Whoever has an agent among its ancestors inside a
//! pane may report for that pane and read it, and nothing else, unless the
//! configuration says otherwise. Shells in panes are the person's.
//!
//! This keeps an agent from doing by mistake, or because a text told it to, what
//! its person did not ask for. It does not lock it in: programs of one user can
//! leave their ancestors behind.

use std::fs::File;
use std::io::Read as _;

use serde_json::{Value, json};
use signaltty_adapters::{Adapters, AgentHost};
use signaltty_core::id::InstanceId;

use super::attribution::Launches;
use super::dispatch::parse;
use super::event::Peer;
use super::event_loop::Daemon;
use super::resolve;
use crate::config::Control;
use crate::protocol::{self as wire, WireError, code};

/// How far up a process's ancestry is followed.
const HOPS: usize = 64;

impl Daemon {
    /// Refuses what an agent may not ask for.
    pub(super) fn allow(&self, peer: Peer, method: &str, params: &Value) -> Result<(), WireError> {
        // Reports are attributed by themselves.
        if self.settings.agents.control == Control::All || method.starts_with("agent.") {
            return Ok(());
        }
        let Some(pid) = peer.pid.filter(|pid| is_in_a_pane(&self.launches, *pid)) else {
            return Ok(());
        };
        let Some(instance) = agent_above(&*self.host, &self.launches, &self.adapters, pid) else {
            return Ok(());
        };
        let own = self.session.pane_of(instance);
        let reads = matches!(method, "pane.read" | "pane.info");
        let asked = || {
            let ask: wire::PaneRef = parse(json!({"pane": params.get("pane")})).ok()?;
            resolve::pane(&self.session, &ask.pane).ok()
        };
        if reads && own.is_some() && asked() == own {
            return Ok(());
        }
        let pane = own.map_or_else(|| "its pane".to_owned(), |pane| pane.to_string());
        let message = format!(
            "process {pid} was started by the agent in {pane}, and an agent may only report for \
             and read its own pane; ask its person, or set `control = \"all\"` under `[agents]` \
             in config.toml"
        );
        Err(WireError::new(code::FORBIDDEN, message))
    }
}

/// Whether a launch's own process may be among these ancestors. Most callers are
/// in no pane, and for them this is all that is read.
fn is_in_a_pane(launches: &Launches, pid: u32) -> bool {
    let mut at = pid;
    for _ in 0..HOPS {
        if launches.has_root(at) {
            return true;
        }
        match parent(at) {
            Some(parent) if parent > 1 => at = parent,
            _ => return false,
        }
    }
    false
}

/// The parent of a process, with one small read: every request asks for some.
fn parent(pid: u32) -> Option<u32> {
    let mut buffer = [0; 512];
    let mut file = File::open(format!("/proc/{pid}/stat")).ok()?;
    let length = file.read(&mut buffer).ok()?;
    let stat = buffer.get(..length)?;
    // Its name may hold anything, a parenthesis too.
    let after = stat.iter().rposition(|byte| *byte == b')')?;
    let fields = std::str::from_utf8(stat.get(after + 1..)?).ok()?;
    fields.split_ascii_whitespace().nth(1)?.parse().ok()
}

/// The pane's process in whose tree an agent started this one.
fn agent_above(
    host: &dyn AgentHost,
    launches: &Launches,
    adapters: &Adapters,
    pid: u32,
) -> Option<InstanceId> {
    let mut line = Vec::new();
    let mut at = pid;
    for _ in 0..HOPS {
        let process = host.process(at)?;
        let parent = process.parent;
        let root = launches.rooted_at(at, process.start_ticks);
        line.push(process);
        if let Some(launch) = root {
            // A pane that was started with an agent has nobody else in it.
            let own = launch.shell.is_none() && launch.kind.is_some();
            let agent = |process: &signaltty_adapters::ProcessInfo| {
                let followed = launch.kind.is_some() && process.pid == launch.view.pid;
                followed || adapters.recognise(&process.argv).is_some()
            };
            return (own || line.iter().any(agent)).then_some(launch.view.instance);
        }
        if parent <= 1 {
            return None;
        }
        at = parent;
    }
    None
}
