//! The session: one owner of all state, fed with inputs, answering with
//! effects.
//!
//! [`Session::handle`] is deterministic: the same inputs give the same state and
//! the same effects (S5). It never fails and never panics on input; what cannot
//! be done is refused by a reply.

mod agents;
mod anchoring;
mod arrange;
mod attempts;
mod axes;
mod by_hand;
mod check;
mod command;
mod continuing;
mod create;
mod decision;
mod effect;
mod event;
mod group;
mod inbox;
mod input;
mod line;
mod outcome;
mod panes;
mod private;
mod process;
mod recover;
mod refused;
mod reported;
mod restore;
mod resume;
mod room;
mod saving;
mod sharing;
mod shell;
mod shutdown;
mod spaced;
mod structure;
mod told;
mod unproven;
mod verify;
mod view;
mod watch;

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

pub use check::Violation;
pub use command::{Command, PaneSpec, SwitchChange};
pub use continuing::{ContinueFailure, Delivery};
pub use decision::{Answer, Decision, QuestionId, QuestionIdError};
pub use effect::{Effect, PaneVerdict, Program, Reply, SpawnCommand, VerdictWord};
pub use event::Event;
pub use input::{Input, PaneFact, ShutdownCause};
pub use line::{TITLE_CHARS, plain_line};
pub use private::{Forget, Forgotten};
pub use recover::RecoveryConfig;
pub use refused::CommandError;
pub use reported::{Reporter, SessionReport};
pub use room::MOST_SAVED;
pub use view::{PaneView, TabView, WorkspaceView};
pub use watch::{Awaited, Baseline, BaselineError, IdentityChanged};

use crate::agent::{
    AgentKind, AgentPolicy, AgentSessionId, LaunchOptions, ProcessMark, Receipt, ReportedArgv,
    SavedAgent, VerifiedSession,
};
use crate::env::ConfigEnv;
use crate::id::{InstanceId, PaneId, RequestId, ServerEpoch, TabId, WorkspaceId};
use crate::layout::{Limits, Size};
use crate::notification::Notification;
use crate::pane::{Lifecycle, SavedPane};
use crate::restore::{PaneState, ResumeStage};
use crate::save::{SaveConfig, SavePolicy, SaveToken};
use crate::time::Now;
use crate::workspace::{SavedTab, SavedWorkspace, Switches};

/// How a session is set up.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Config {
    /// What each agent can show. A kind without an entry can prove nothing.
    pub policies: BTreeMap<AgentKind, AgentPolicy>,
    /// When to save.
    pub save: SaveConfig,
    /// Limits of one tab.
    pub layout: Limits,
    /// How many panes there may be in all.
    pub max_panes: usize,
    /// Exits so shortly before a shutdown belong to it (D-8).
    pub shutdown_window: Duration,
    /// How long evidence is awaited from an agent without a policy.
    pub default_deadline: Duration,
    /// Switches of new workspaces (D-1).
    pub defaults: Switches,
    /// Automatic attempts for one interrupted turn, over all starts (D-14).
    pub max_attempts: u8,
    /// Whether an automatic resume carries options that widen what an agent may
    /// do (D-29).
    pub carry_bypass: bool,
    /// How automatic starts share the machine.
    pub recovery: RecoveryConfig,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            policies: BTreeMap::new(),
            save: SaveConfig::default(),
            layout: Limits::default(),
            max_panes: 10_000,
            shutdown_window: Duration::from_secs(10),
            default_deadline: Duration::from_secs(10),
            defaults: Switches::default(),
            max_attempts: crate::restore::MOST_ATTEMPTS,
            carry_bypass: false,
            recovery: RecoveryConfig::default(),
        }
    }
}

/// A terminal session: workspaces, tabs, panes, and how they come back.
#[derive(Debug, Clone)]
pub struct Session {
    epoch: ServerEpoch,
    next_serial: u64,
    config: Config,
    order: Vec<WorkspaceId>,
    workspaces: BTreeMap<WorkspaceId, WorkspaceEntry>,
    handles: BTreeMap<Arc<str>, WorkspaceId>,
    tabs: BTreeMap<TabId, Arc<SavedTab>>,
    /// Tabs of which a pane is shown alone, with the area that they keep.
    zoomed: BTreeMap<TabId, Size>,
    panes: panes::Panes,
    notifications: Vec<Arc<Notification>>,
    /// Which pane an instance belongs to, while it may still report.
    instances: BTreeMap<InstanceId, PaneId>,
    /// Processes being started for panes that do not exist before they run.
    pending: BTreeMap<InstanceId, create::Creation>,
    /// Tabs being made from a layout, by their ids.
    groups: BTreeMap<TabId, group::Applying>,
    /// Saved commands being run again.
    restarting: BTreeMap<InstanceId, process::Restarting>,
    /// Processes being started, each with the size that its terminal has. One
    /// that nobody waits for any more is stopped as soon as it runs.
    starting: BTreeMap<InstanceId, Size>,
    /// Panes that creations, groups and restarts start a process for.
    awaited: BTreeSet<PaneId>,
    /// Bytes of a snapshot that new panes may have, as far as it is known.
    room: Option<usize>,
    save: SavePolicy,
    recovery: recover::Recovery,
    /// Turns being marked for a planned restart.
    planning: Option<shutdown::Planning>,
    phase: Phase,
    emptied_by_user: bool,
    journal_seq: u64,
    /// Changes of lifecycles and attentions so far.
    changes: u64,
}

#[derive(Debug, Clone)]
struct WorkspaceEntry {
    record: Arc<SavedWorkspace>,
    tabs: Vec<TabId>,
}

#[derive(Debug, Clone)]
struct PaneEntry {
    record: Arc<SavedPane>,
    state: PaneState,
    run: Run,
    watch: watch::Watch,
    decision: Option<Decision>,
    /// What is under way without a person, or by their `continue`.
    attempt: Option<attempts::Attempt>,
    /// The last tool call before an interruption, where a record told it.
    receipt: Option<Receipt>,
    /// When its program's changes and bells are told.
    spaced: spaced::Spaced,
    /// Under what it is found; kept by [`panes::Panes`].
    keys: panes::Keys,
}

/// What is known of a pane's present or last process. Dies with the server.
#[derive(Debug, Clone, Default)]
struct Run {
    /// A person asked for its end.
    ended_by_user: bool,
    /// Its end, in case that a shutdown follows closely.
    ended: Option<Ended>,
    /// Where it was started, and its agent's identity variables.
    home: Option<(PathBuf, ConfigEnv)>,
    /// The agent that a person started in it, where it is a shell.
    followed: Option<(AgentKind, ProcessMark)>,
    /// The process of an agent without an adapter that reported its session.
    reporter: Option<(AgentKind, ProcessMark)>,
    /// The options with which the followed agent was started.
    options: LaunchOptions,
    /// The end of such an agent, in case that a shutdown follows closely.
    left: Option<Ended>,
    /// Another pane that has its conversation open, as it was told last.
    shared: Option<PaneId>,
    /// A conversation that it shows and that has no anchor yet.
    candidate: Option<AgentSessionId>,
    /// Where a conversation goes on, where its own record says so.
    works_in: Option<(AgentSessionId, PathBuf)>,
    /// The command that it reported for that conversation.
    reported: Option<(AgentSessionId, ReportedArgv)>,
    /// The newest turn that it finished, where it names its turns.
    finished: Option<Arc<str>>,
    /// The anchor is being taken, and whether it must be taken again after.
    anchoring: Option<bool>,
    /// Its agent rewrote the record: it is anchored as it is.
    anew: bool,
    /// When one was taken last.
    anchored: Option<Duration>,
    /// When it is to be taken anew, of an agent that does not say what it does.
    anchor_due: Option<Duration>,
    /// What it said of itself before it was known what it is.
    heard: Heard,
    /// How often its program notifies its person.
    pace: told::Pace,
    /// It reopened a conversation: the agent itself runs in the slot.
    reopened: bool,
    /// What is known about that conversation, as long as it is open.
    verdict: Option<PaneVerdict>,
    /// The proof that it holds the saved conversation.
    verified: Option<VerifiedSession>,
    /// Evidence of a resume that a person left open unconfirmed, as long as it
    /// can still be settled.
    proof: Option<unproven::Proof>,
    /// What is known of the process while a resume of it has proven nothing.
    unproven: Option<unproven::Unproven>,
    /// What was saved of the agent before the one that it held previously was
    /// to be reopened.
    before: Option<Box<SavedAgent>>,
}

/// What a process says of itself while its conversation is not known. Counts
/// for the pane once the process may stay, and is forgotten otherwise (R7).
#[derive(Debug, Clone, Default)]
struct Heard {
    lifecycle: Option<Lifecycle>,
    message: Option<Arc<str>>,
    accepted_prompt: bool,
    title: Option<Arc<str>>,
    cwd: Option<PathBuf>,
}

/// How a process ended that a shutdown may have ended.
#[derive(Debug, Clone, Copy)]
struct Ended {
    at: Duration,
    /// A person did it, through us.
    by_user: bool,
    /// What it was doing.
    doing: Lifecycle,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    Running,
    /// The last save is pending or under way.
    Stopping {
        request: Option<RequestId>,
        token: Option<SaveToken>,
    },
    Stopped,
}

impl Session {
    /// An empty session.
    pub fn new(epoch: ServerEpoch, config: Config) -> Self {
        Self {
            epoch,
            next_serial: 1,
            order: Vec::new(),
            workspaces: BTreeMap::new(),
            handles: BTreeMap::new(),
            tabs: BTreeMap::new(),
            zoomed: BTreeMap::new(),
            panes: panes::Panes::default(),
            notifications: Vec::new(),
            instances: BTreeMap::new(),
            pending: BTreeMap::new(),
            groups: BTreeMap::new(),
            restarting: BTreeMap::new(),
            starting: BTreeMap::new(),
            awaited: BTreeSet::new(),
            room: None,
            save: SavePolicy::new(config.save),
            recovery: recover::Recovery::default(),
            planning: None,
            phase: Phase::Running,
            emptied_by_user: false,
            journal_seq: 0,
            changes: 0,
            config,
        }
    }

    /// Takes one input and says what is to be done, in order.
    pub fn handle(&mut self, now: Now, input: Input) -> Vec<Effect> {
        let mut out = Vec::new();
        match input {
            Input::Command { request, command } => self.command(now, request, command, &mut out),
            Input::Begin => self.begin_recovery(now, &mut out),
            Input::TurnRead { pane, record } => self.turn_read(now, pane, record, &mut out),
            Input::Continued { instance, result } => {
                self.continued(now, instance, result, &mut out);
            }
            Input::Report { instance, report } => self.report(now, instance, report, &mut out),
            Input::AgentsFound { instance, found } => {
                self.agents_found(now, instance, &found, &mut out);
            }
            Input::ReporterGone { instance, process } => {
                self.reporter_gone(now, instance, process, &mut out);
            }
            Input::AgentMoved { instance, env } => self.agent_moved(instance, env, &mut out),
            Input::Spawned { instance, result } => self.spawned(now, instance, result, &mut out),
            Input::Exited { instance, status, last_line } => {
                self.exited(now, instance, status, last_line.as_deref(), &mut out);
            }
            Input::Preflighted { pane, request, result } => {
                self.preflighted(now, pane, request, result, &mut out);
            }
            Input::RecordRead { instance, witness, named, result } => {
                self.record_read(now, instance, witness, named, result, &mut out);
            }
            Input::WorksIn { instance, id, cwd } => self.works_in(now, instance, id, cwd),
            Input::Anchored { instance, id, result } => {
                self.anchored(now, instance, id, result, &mut out);
            }
            Input::Fact { instance, fact } => self.fact(now, instance, fact, &mut out),
            Input::Saved { token, result } => self.save_ended(now, token, result, &mut out),
            Input::Forgotten { request, result } => Self::forgotten(request, result, &mut out),
            Input::Shutdown(_) => self.begin_shutdown(now, None, &mut out),
            Input::Configured(config) => {
                self.save.configure(config.save);
                self.config = *config;
            }
            Input::Tick => {}
        }
        self.panes.refresh();
        self.check_deadlines(now, &mut out);
        self.panes.refresh();
        self.start_queued(now, &mut out);
        self.panes.refresh();
        self.start_save(now, &mut out);
        out
    }

    /// The next monotonic time at which [`Input::Tick`] does something.
    pub fn deadline(&self) -> Option<Duration> {
        let save = if self.phase == Phase::Stopped { None } else { self.save.deadline() };
        save.into_iter().chain(self.panes.deadline()).chain(self.recovery_deadline()).min()
    }

    fn command(&mut self, now: Now, request: RequestId, command: Command, out: &mut Vec<Effect>) {
        if self.phase != Phase::Running {
            reply(out, request, Err(CommandError::Stopping));
            return;
        }
        // `None`: the reply comes with a later input.
        let result = match command {
            Command::Resume { pane, anyway, previous: false, cwd } => {
                self.begin_resume(now, request, pane, anyway, cwd, out).err().map(Err)
            }
            Command::Resume { pane, anyway, previous: true, cwd } => {
                self.begin_previous(now, request, pane, anyway, cwd, out).err().map(Err)
            }
            Command::Restart { pane, config_env } => {
                self.restart(request, pane, config_env, out).err().map(Err)
            }
            Command::Continue(pane) => {
                self.continue_by_hand(now, request, pane, out).err().map(Err)
            }
            Command::Shutdown { force, continue_turns } => {
                self.request_shutdown(now, request, force, continue_turns, out).err().map(Err)
            }
            Command::Ask { instance, question } => {
                self.ask_decision(now, request, instance, &question, out).err().map(Err)
            }
            Command::ReportSession { instance, report } => {
                Some(self.report_session(now, instance, report, out))
            }
            Command::Forget(what) => {
                self.forget(now, request, what, out);
                None
            }
            Command::Terminate(pane) => Some(self.terminate(pane, out)),
            Command::Signal { pane, signal } => Some(self.signal(pane, signal, out)),
            Command::MarkSeen(pane) => Some(self.mark_seen(now, pane, out)),
            other => self.edit(now, request, other, out),
        };
        if let Some(result) = result {
            reply(out, request, result);
        }
    }

    fn new_instance(&mut self) -> InstanceId {
        let instance = InstanceId::new(self.epoch, self.next_serial);
        self.next_serial += 1;
        instance
    }

    fn start(
        &mut self,
        instance: InstanceId,
        pane: PaneId,
        command: SpawnCommand,
        size: Size,
        request: impl Into<Option<RequestId>>,
        out: &mut Vec<Effect>,
    ) {
        self.starting.insert(instance, size);
        out.push(Effect::Spawn { pane, instance, command, size, request: request.into() });
    }

    /// Stops a process: now if it runs, else once its start is reported.
    fn stop(&self, instance: InstanceId, out: &mut Vec<Effect>) {
        if !self.starting.contains_key(&instance) {
            out.push(Effect::Kill { instance });
        }
    }
}

impl PaneEntry {
    /// Its process is being started for a resume.
    fn is_spawning(&self) -> bool {
        matches!(&self.state, PaneState::Resuming(stage)
            if matches!(**stage, ResumeStage::Spawning { .. }))
    }

    fn edit(&mut self) -> &mut SavedPane {
        Arc::make_mut(&mut self.record)
    }
}

fn reply(out: &mut Vec<Effect>, request: RequestId, result: Result<Reply, CommandError>) {
    out.push(Effect::Reply { request, result });
}

fn publish(out: &mut Vec<Effect>, event: Event) {
    out.push(Effect::Publish(event));
}
