//! Which instance a report comes from.
//!
//! A report counts only if it carries the secret of a launch that still lives,
//! comes from a process below that launch's own child, and the agent that sent
//! it is the launch's and not another agent inside it (C031, C118, C119).
//!
//! The launch's agent is the child itself, or, where that is a wrapper which
//! forks, the first agent below it.

use std::collections::BTreeMap;
use std::sync::Arc;

use signaltty_adapters::{
    Adapters, AgentHost, CarriedOptions, InstanceView, ProcHost, ProcessInfo,
};
use signaltty_core::agent::AgentKind;
use signaltty_core::id::InstanceId;

use super::random::Secret;

/// How far up a process's ancestry is followed.
const HOPS: usize = 64;

/// A launch that may report.
#[derive(Debug, Clone)]
pub(crate) struct LaunchRecord {
    pub(crate) kind: Option<AgentKind>,
    pub(crate) secret: Secret,
    /// The agent's process: of a shell, that of the agent which a person
    /// started in it and which is followed.
    pub(crate) view: InstanceView,
    /// The machine as the process sees it.
    pub(crate) host: Arc<ProcHost>,
    /// What was started, where that is no agent.
    pub(crate) shell: Option<Shell>,
    /// Whether its agent reports by what was added to this very launch.
    pub(crate) wired: bool,
    /// Whether it was to reopen a conversation.
    pub(crate) reopened: bool,
    /// Whether the agent that it was to start was seen running.
    pub(crate) seen: bool,
    /// What of an earlier launch's options it was given, where it is a resume.
    pub(crate) carried: CarriedOptions,
}

impl LaunchRecord {
    /// The process that was started.
    pub(crate) fn root(&self) -> &InstanceView {
        self.shell.as_ref().map_or(&self.view, |shell| &shell.view)
    }
}

/// What runs in a pane that was not started with an agent.
#[derive(Debug, Clone)]
pub(crate) struct Shell {
    pub(crate) view: InstanceView,
    pub(crate) host: Arc<ProcHost>,
}

/// The launches that live.
#[derive(Debug, Default)]
pub(crate) struct Launches {
    by_instance: BTreeMap<InstanceId, LaunchRecord>,
    /// By the process that was started.
    by_root: BTreeMap<u32, InstanceId>,
}

/// Why a report was dropped.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Unattributed {
    #[error("the launch that this report names is over or never was")]
    UnknownLaunch,
    #[error("the report names agent {reported}, the pane runs {runs}")]
    OtherAgent { reported: String, runs: String },
    #[error("the pane runs no agent that could report")]
    NoAgent,
    #[error("the reporting process is not one of the pane's")]
    Foreign,
    #[error("the report is from another agent inside the pane's agent")]
    Nested,
}

impl Launches {
    pub(crate) fn add(&mut self, record: LaunchRecord) {
        self.by_root.insert(record.root().pid, record.view.instance);
        self.by_instance.insert(record.view.instance, record);
    }

    pub(crate) fn remove(&mut self, instance: InstanceId) {
        let Some(gone) = self.by_instance.remove(&instance) else {
            return;
        };
        let root = gone.root().pid;
        if self.by_root.get(&root) == Some(&instance) {
            self.by_root.remove(&root);
        }
    }

    /// Whether a launch's own process has this number.
    pub(crate) fn has_root(&self, pid: u32) -> bool {
        self.by_root.contains_key(&pid)
    }

    /// The launch whose own process this is.
    pub(crate) fn rooted_at(&self, pid: u32, start_ticks: u64) -> Option<&LaunchRecord> {
        let launch = self.of(*self.by_root.get(&pid)?)?;
        (launch.root().start_ticks == start_ticks).then_some(launch)
    }

    pub(crate) fn of(&self, instance: InstanceId) -> Option<&LaunchRecord> {
        self.by_instance.get(&instance)
    }

    pub(crate) fn of_mut(&mut self, instance: InstanceId) -> Option<&mut LaunchRecord> {
        self.by_instance.get_mut(&instance)
    }

    /// The launch with this secret, whoever names it.
    pub(crate) fn named(&self, secret: &str) -> Option<&LaunchRecord> {
        self.by_instance.values().find(|launch| same_secret(launch.secret.as_str(), secret))
    }

    /// Finds the launch that a report of an agent without an adapter comes from,
    /// one in which no agent with an adapter runs, and the processes from the one
    /// that reports up to the launch's own.
    pub(crate) fn attribute_unknown(
        &self,
        (host, adapters): (&dyn AgentHost, &Adapters),
        peer: Option<u32>,
        kind: &AgentKind,
        secret: &str,
    ) -> Result<(&LaunchRecord, Vec<ProcessInfo>), Unattributed> {
        let launch = self.named(secret).ok_or(Unattributed::UnknownLaunch)?;
        if let Some(runs) = &launch.kind {
            let (reported, runs) = (kind.to_string(), runs.to_string());
            return Err(Unattributed::OtherAgent { reported, runs });
        }
        let line = line_of(host, peer, &launch.view)?;
        let inside = |process: &ProcessInfo| adapters.recognise(&process.argv).is_some();
        if line.iter().any(inside) { Err(Unattributed::Nested) } else { Ok((launch, line)) }
    }

    /// Finds the launch that a report comes from.
    pub(crate) fn attribute(
        &self,
        (host, adapters): (&dyn AgentHost, &Adapters),
        peer: Option<u32>,
        kind: &AgentKind,
        secret: &str,
        agent_pid: Option<u32>,
    ) -> Result<&LaunchRecord, Unattributed> {
        let launch = self.named(secret).ok_or(Unattributed::UnknownLaunch)?;
        let runs = launch.kind.as_ref().ok_or(Unattributed::NoAgent)?;
        if runs != kind {
            let (reported, runs) = (kind.to_string(), runs.to_string());
            return Err(Unattributed::OtherAgent { reported, runs });
        }
        let root = launch.view.pid;
        let line = line_of(host, peer, &launch.view)?;
        let line = match agent_pid {
            Some(pid) if pid == root => return Ok(launch),
            Some(pid) => {
                let line = self::line(host, pid, root).ok_or(Unattributed::Nested)?;
                // What does not look like an agent may be anything inside ours.
                if line.first().is_none_or(|agent| adapters.recognise(&agent.argv).is_none()) {
                    return Err(Unattributed::Nested);
                }
                line
            }
            None => line,
        };
        let agents: Vec<_> =
            line.iter().filter_map(|process| adapters.recognise(&process.argv)).collect();
        match agents[..] {
            [] => Ok(launch),
            [only] if only.spec().kind == *kind => Ok(launch),
            _ => Err(Unattributed::Nested),
        }
    }
}

/// The processes from a peer up to the one of a launch, which must be alive.
fn line_of(
    host: &dyn AgentHost,
    peer: Option<u32>,
    view: &InstanceView,
) -> Result<Vec<ProcessInfo>, Unattributed> {
    let alive = host.process(view.pid).is_some_and(|p| p.start_ticks == view.start_ticks);
    let line = peer.and_then(|peer| line(host, peer, view.pid)).filter(|_| alive);
    line.ok_or(Unattributed::Foreign)
}

/// The processes from `pid` up to `root`, both included; `None` if it is not
/// below that.
fn line(host: &dyn AgentHost, pid: u32, root: u32) -> Option<Vec<ProcessInfo>> {
    let mut line = Vec::new();
    let mut at = pid;
    for _ in 0..HOPS {
        let found = host.process(at)?;
        let parent = found.parent;
        line.push(found);
        if at == root {
            return Some(line);
        }
        at = parent;
    }
    None
}

/// Compares without stopping at the first difference, so that the time it takes
/// says nothing about the secret.
fn same_secret(ours: &str, given: &str) -> bool {
    ours.len() == given.len()
        && ours.bytes().zip(given.bytes()).fold(0, |diff, (a, b)| diff | (a ^ b)) == 0
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use signaltty_core::env::ConfigEnv;
    use signaltty_core::id::ServerEpoch;
    use signaltty_core::session::{Config, Session};

    use super::*;

    /// Processes as (pid, parent, command).
    struct Machine(Vec<(u32, u32, &'static str)>);

    impl AgentHost for Machine {
        fn home(&self) -> Option<PathBuf> {
            None
        }

        fn process(&self, pid: u32) -> Option<ProcessInfo> {
            let (pid, parent, command) = *self.0.iter().find(|(known, ..)| *known == pid)?;
            let argv = command.split(' ').map(Into::into).collect();
            Some(ProcessInfo { pid, parent, start_ticks: 7, argv })
        }

        fn tree(&self, _pid: u32) -> Vec<ProcessInfo> {
            Vec::new()
        }

        fn find_program(&self, _program: &str) -> Option<PathBuf> {
            None
        }
    }

    /// An instance id can only come from a session.
    fn instance() -> InstanceId {
        use signaltty_core::id::{PaneId, RequestId, TabId, WorkspaceId};
        use signaltty_core::session::{Command, Effect, Input, PaneSpec};
        use signaltty_core::time::Now;
        let mut session = Session::new(ServerEpoch(1), Config::default());
        let spec = PaneSpec {
            argv: vec!["claude".into()],
            cwd: "/".into(),
            env: Default::default(),
            agent: None,
            config_env: ConfigEnv::default(),
            options: Default::default(),
        };
        let command = Command::NewWorkspace {
            workspace: WorkspaceId::from_random([0; 10]),
            name: None,
            cwd: "/".into(),
            tab: TabId::from_random([0; 10]),
            pane: PaneId::from_random([0; 10]),
            spec,
        };
        let now = Now { mono: Default::default(), wall: Default::default() };
        let input = Input::Command { request: RequestId(1), command };
        let effects = session.handle(now, input);
        let found = effects.into_iter().find_map(|effect| match effect {
            Effect::Spawn { instance, .. } => Some(instance),
            _ => None,
        });
        found.unwrap()
    }

    fn launches() -> Launches {
        let mut launches = Launches::default();
        launches.add(LaunchRecord {
            kind: Some("claude".parse().unwrap()),
            secret: Secret::known(&"s".repeat(32)),
            view: InstanceView {
                instance: instance(),
                pid: 100,
                start_ticks: 7,
                cwd: "/".into(),
                config_env: ConfigEnv::default(),
                facts: Default::default(),
            },
            host: Arc::new(ProcHost { home: None, path: Default::default() }),
            shell: None,
            wired: true,
            reopened: false,
            seen: true,
            carried: Default::default(),
        });
        launches
    }

    /// 100 is the pane's agent, 110 its hook, 150 an agent inside it, 160 that
    /// one's hook; 200 belongs to another pane.
    fn plain() -> Machine {
        Machine(vec![
            (50, 1, "signaltty-server"),
            (100, 50, "/usr/bin/claude --plugin-dir x"),
            (110, 100, "signaltty hook claude"),
            (140, 100, "bash -c claude"),
            (150, 140, "claude"),
            (160, 150, "signaltty hook claude"),
            (200, 50, "bash"),
        ])
    }

    fn ask(
        peer: u32,
        kind: &str,
        secret: &str,
        agent_pid: Option<u32>,
    ) -> Result<(), Unattributed> {
        ask_on(&plain(), peer, kind, secret, agent_pid)
    }

    fn ask_on(
        machine: &Machine,
        peer: u32,
        kind: &str,
        secret: &str,
        agent_pid: Option<u32>,
    ) -> Result<(), Unattributed> {
        let (secret, kind) = (secret.repeat(32), kind.parse().unwrap());
        let around: (&dyn AgentHost, _) = (machine, &Adapters::builtin());
        launches().attribute(around, Some(peer), &kind, &secret, agent_pid).map(|_| ())
    }

    #[test]
    fn c031_c118_c119_only_the_panes_own_agent_is_heard() {
        assert_eq!(ask(110, "claude", "s", Some(100)), Ok(()));
        assert_eq!(ask(110, "claude", "s", None), Ok(()));
        assert_eq!(ask(160, "claude", "s", Some(150)), Err(Unattributed::Nested));
        assert_eq!(ask(160, "claude", "s", None), Err(Unattributed::Nested));
        assert_eq!(ask(110, "claude", "s", Some(110)), Err(Unattributed::Nested));
        assert_eq!(ask(110, "claude", "s", Some(200)), Err(Unattributed::Nested));
        assert_eq!(ask(200, "claude", "s", None), Err(Unattributed::Foreign));
        assert_eq!(ask(999, "claude", "s", None), Err(Unattributed::Foreign));
        assert_eq!(ask(110, "claude", "x", None), Err(Unattributed::UnknownLaunch));
        assert!(matches!(ask(110, "grok", "s", None), Err(Unattributed::OtherAgent { .. })));
    }

    #[test]
    fn c118_c119_the_agent_of_a_wrapper_that_forks_is_heard_and_none_inside_it() {
        let machine = Machine(vec![
            (100, 50, "/bin/sh /home/u/bin/claude"),
            (120, 100, "/opt/claude/claude"),
            (130, 120, "signaltty hook claude"),
            (140, 120, "bash -c claude"),
            (150, 140, "claude"),
            (160, 150, "signaltty hook claude"),
            (170, 140, "codex exec"),
            (180, 170, "signaltty hook claude"),
            (190, 100, "codex"),
            (195, 190, "signaltty hook claude"),
        ]);
        let ask = |peer, agent_pid| ask_on(&machine, peer, "claude", "s", agent_pid);
        assert_eq!(ask(130, Some(120)), Ok(()));
        assert_eq!(ask(130, None), Ok(()));
        assert_eq!(ask(160, Some(150)), Err(Unattributed::Nested));
        assert_eq!(ask(160, None), Err(Unattributed::Nested));
        assert_eq!(ask(180, None), Err(Unattributed::Nested));
        assert_eq!(ask(195, None), Err(Unattributed::Nested));
        assert_eq!(ask(130, Some(140)), Err(Unattributed::Nested));
    }

    #[test]
    fn a_launch_is_shown_without_its_secret() {
        let launches = launches();
        assert!(!format!("{launches:?}").contains("ssss"), "{launches:?}");
    }
}
