//! Looks for agents that a person started in a pane's shell (D-22).
//!
//! Only facts: which processes of the pane are agents, and how they stand to
//! its terminal. Which of them is the pane's is the core's decision.
//!
//! A process belongs to the pane if it descends from the pane's own, is in its
//! session, has its terminal and is of the same user. So what runs below a
//! terminal multiplexer, behind `script`, on another machine or as another user
//! is not found, and nothing is said of it.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use signaltty_adapters::{Adapters, AgentAdapter, AgentHost as _, InstanceView, ProcHost};
use signaltty_core::agent::{FoundAgent, ProcessMark};
use signaltty_core::env::ConfigEnv;
use signaltty_persist::redact::without_keys;

use super::attribution::{LaunchRecord, Shell};
use super::environment::{self, Env};

/// The agents in a pane that was started with something else. Nothing is looked
/// through while the shell itself has the terminal and no agent is known.
pub(crate) fn look(adapters: &Adapters, root: ProcessMark, followed: bool) -> Vec<FoundAgent> {
    let host = reader();
    let Some(own) = host.job(root.pid).filter(|job| job.start_ticks == root.start_ticks) else {
        return Vec::new();
    };
    let is_agent = |argv: &[OsString]| adapters.recognise(argv).is_some();
    if !followed && own.foreground == own.group {
        let process = host.process(root.pid);
        // The shell may have become an agent, by `exec`, and one without job
        // control, as in a script, leaves what it runs in its own group.
        let may_be = process.is_some_and(|process| is_agent(&process.argv))
            || host
                .children(root.pid)
                .into_iter()
                .any(|child| host.job(child).is_some_and(|job| job.group == own.group));
        if !may_be {
            return Vec::new();
        }
    }
    let mut found = Vec::new();
    let mut agents = BTreeSet::new();
    // Parents come first.
    for process in host.tree(root.pid) {
        let nested = agents.contains(&process.parent);
        if nested {
            agents.insert(process.pid);
        }
        let Some(adapter) = adapters.recognise(&process.argv) else {
            continue;
        };
        let Some(job) = host.job(process.pid) else {
            continue;
        };
        let same = job.start_ticks == process.start_ticks
            && job.terminal != 0
            && (job.session, job.terminal, job.user) == (own.session, own.terminal, own.user);
        if !same {
            continue;
        }
        let (Some(env), Some(cwd)) = (host.environment(process.pid), host.cwd(process.pid)) else {
            continue;
        };
        let mut cwd = spelled(cwd, &env);
        let base = host.cwd(process.parent).unwrap_or_else(|| cwd.clone());
        if let Some(named) = adapter.spec().settle_directory(&mut process.argv.clone(), &base) {
            cwd = named;
        }
        agents.insert(process.pid);
        found.push(FoundAgent {
            kind: adapter.spec().kind.clone(),
            process: ProcessMark { pid: process.pid, start_ticks: process.start_ticks },
            foreground: job.group == own.foreground,
            nested,
            config_env: ConfigEnv::filter(env, adapter.spec().identity_vars, &cwd),
            options: without_keys(&adapter.spec().launch_options(&process.argv)),
            cwd,
        });
    }
    found
}

/// The agent in a pane that was started with it, as it runs.
pub(crate) struct OwnAgent {
    /// Its command line.
    pub(crate) argv: Vec<OsString>,
    /// Where it keeps its records.
    pub(crate) config_env: ConfigEnv,
    /// The machine as it sees it.
    pub(crate) host: ProcHost,
}

/// Finds it: the process that was started, or, where that is a wrapper which
/// forks, the first agent below it. What a wrapper sets is seen in its
/// environment only.
pub(crate) fn own(adapter: &dyn AgentAdapter, root: ProcessMark) -> Option<OwnAgent> {
    let host = reader();
    let tree = host.tree(root.pid);
    tree.first().filter(|process| process.start_ticks == root.start_ticks)?;
    let process = tree.into_iter().find(|process| adapter.recognises(&process.argv))?;
    let (env, cwd) = (host.environment(process.pid)?, host.cwd(process.pid)?);
    let env: Env = env.into_iter().collect();
    let config_env = ConfigEnv::filter(env.clone(), adapter.spec().identity_vars, &cwd);
    Some(OwnAgent { argv: process.argv, config_env, host: environment::host(&env) })
}

impl LaunchRecord {
    /// Follows its own agent to where that keeps its records, or says what a
    /// program around it changed. Whether it keeps them elsewhere than was set.
    pub(crate) fn settle(
        &mut self,
        adapter: &dyn AgentAdapter,
        agent: OwnAgent,
    ) -> (bool, Option<String>) {
        self.seen = true;
        let moved = agent.config_env != self.view.config_env;
        if moved && self.reopened {
            let needed = format!(
                "what was started sets {} to something else than the conversation was saved with, \
                 so what this {} shows is not taken for it",
                adapter.spec().identity_vars.join(" or "),
                adapter.spec().kind
            );
            return (false, Some(needed));
        }
        if moved || (agent.host.home != self.host.home && !self.reopened) {
            self.view.config_env = agent.config_env;
            self.host = Arc::new(agent.host);
        }
        (moved, adapter.displaced(&agent.argv, &self.view.facts))
    }

    /// Takes the agent in a shell for the launch's from now on, or none.
    /// Returns what a person would have to do so that its conversation is seen.
    pub(crate) fn follow(
        &mut self,
        adapters: &Adapters,
        agent: Option<FoundAgent>,
    ) -> Option<String> {
        let shell: &Shell = self.shell.as_ref()?;
        self.view = shell.view.clone();
        self.host = Arc::clone(&shell.host);
        self.kind = None;
        let FoundAgent { kind, process, cwd, config_env, .. } = agent?;
        let env = reader().environment(process.pid).unwrap_or_default();
        let env: Env = env.into_iter().collect();
        self.host = Arc::new(environment::host(&env));
        self.view = InstanceView {
            pid: process.pid,
            start_ticks: process.start_ticks,
            cwd,
            config_env,
            ..self.view.clone()
        };
        let argv = reader().process(process.pid).map(|process| process.argv);
        let adapter = adapters.of(&kind);
        self.kind = Some(kind);
        adapter?.unfollowable(&argv?)
    }

    /// The process that is looked at.
    pub(crate) fn mark(&self) -> ProcessMark {
        mark(&self.view)
    }
}

/// The process of an instance.
pub(crate) fn mark(view: &InstanceView) -> ProcessMark {
    ProcessMark { pid: view.pid, start_ticks: view.start_ticks }
}

/// Whether exactly this process is there still.
pub(crate) fn runs(process: ProcessMark) -> bool {
    reader().job(process.pid).is_some_and(|job| job.start_ticks == process.start_ticks)
}

/// The directory as the shell spells it, where that is the same one (C056).
pub(super) fn spelled(cwd: PathBuf, env: &[(OsString, OsString)]) -> PathBuf {
    let named = env.iter().find(|(name, _)| name == OsStr::new("PWD"));
    let named = named.map(|(_, value)| Path::new(value)).filter(|path| path.is_absolute());
    match named.and_then(|path| Some((path, std::fs::canonicalize(path).ok()?))) {
        Some((path, real)) if real == cwd => path.to_owned(),
        _ => cwd,
    }
}

/// Only for what does not depend on a home or a search path.
fn reader() -> ProcHost {
    ProcHost { home: None, path: OsString::new() }
}
