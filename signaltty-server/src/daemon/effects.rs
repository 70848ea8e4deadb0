//! Performs effects. Decides nothing.

use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use signaltty_adapters::{AgentAdapter, CarriedOptions, ProcHost};
use signaltty_core::agent::{AgentKind, TurnRecord};
use signaltty_core::id::{InstanceId, PaneId, RequestId};
use signaltty_core::layout::Size;
use signaltty_core::restore::{Continuation, FailureCode, PaneState, Refusal};
use signaltty_core::save::{Durability, SaveToken};
use signaltty_core::session::{
    Answer as Decision, CommandError, ContinueFailure, Effect, Input, Reply, SpawnCommand,
};
use signaltty_persist::tail::Tail;
use tokio::sync::oneshot;
use tokio::time::{Instant, timeout_at};

use super::attribution::LaunchRecord;
use super::event::{Answer, Event};
use super::event_loop::{Daemon, Waiting};
use super::launch::Launcher;
use super::pane_task::PaneMessage;
use super::publisher::Messages;
use super::saver::{SaveJob, SaveOutcome, TailJob};
use super::{agents, environment, panes};
use crate::protocol::{
    self as wire, Continued, Created, Forgotten, Notified, Remarks, Resumed, WireError,
};
use crate::service::notify;

/// How long a save waits for the output of all panes. One that parses a flood is
/// saved with the next save.
const TAIL_WAIT: Duration = Duration::from_millis(500);

type Adapter = Arc<dyn AgentAdapter>;

impl Daemon {
    pub(crate) fn perform(&mut self, effect: Effect) {
        self.points.before(&effect);
        // What comes without a client's environment waits for the login shell's.
        let request = match &effect {
            Effect::Spawn { request, .. } => Some(*request),
            Effect::Preflight { request, .. } => Some(*request),
            _ => None,
        };
        if let Some(request) = request
            && !self.has_env(request)
            && !self.knows_login_env()
        {
            self.held.push(effect);
            return;
        }
        match effect {
            Effect::Spawn { pane, instance, command, size, request } => {
                self.spawn(pane, instance, command, size, request);
            }
            Effect::Resize { instance, size } => {
                let size = panes::terminal_size(size.cols, size.rows);
                if let Some(handle) = self.panes.of(instance) {
                    // A task that has ended has no terminal to be resized.
                    let _ = handle.size.send(size);
                }
            }
            Effect::Kill { instance } => {
                if let Some(handle) = self.panes.of(instance) {
                    // One that takes no message now types nothing either.
                    let _ = handle.messages.try_send(PaneMessage::NoPrompt);
                    panes::stop(Arc::clone(&handle.child), self.grace());
                }
            }
            Effect::Signal { instance, signal } => {
                if let (Some(handle), Ok(signal)) =
                    (self.panes.of(instance), signal.as_str().parse::<signaltty_pty::Signal>())
                {
                    // A program that ended meanwhile needs no signal any more.
                    let _ = handle.child.signal_group(signal);
                }
            }
            Effect::Preflight { pane, request, kind, conversation } => {
                match self.adapters.of(&kind).cloned() {
                    Some(adapter) => {
                        let (host, events) = (self.host_for(request), self.events.clone());
                        let host = self.with_first_program(&*adapter, host, pane);
                        agents::preflight(adapter, host, conversation, pane, request, events);
                    }
                    None => {
                        let result = Err(no_adapter(&kind));
                        self.input(Input::Preflighted { pane, request, result });
                    }
                }
            }
            Effect::Follow { instance, agent } => {
                let Some(launch) = self.launches.of_mut(instance) else {
                    return;
                };
                let needed = launch.follow(&self.adapters, agent);
                if let Some(pane) = self.session.pane_of(instance) {
                    self.notes.entry(pane).or_default().integration = needed;
                }
            }
            Effect::ReadTurn { pane, kind, conversation } => match self.adapters.of(&kind).cloned()
            {
                Some(adapter) => {
                    let (host, events) = (Arc::clone(&self.host), self.events.clone());
                    agents::read_turn(adapter, host, conversation, pane, events);
                }
                None => self.input(Input::TurnRead { pane, record: TurnRecord::default() }),
            },
            Effect::Continue { kind, continuation, by_hand } => {
                self.continue_turn(&kind, continuation, by_hand);
            }
            Effect::Observe { instance, kind } => {
                if let Some((adapter, launch)) = self.agent(instance, &kind) {
                    let (host, view) = (Arc::clone(&launch.host), launch.view.clone());
                    tokio::spawn(agents::observe(adapter, host, view, self.events.clone()));
                }
            }
            Effect::ReadRecord { instance, witness, kind, source, named } => {
                if let Some((adapter, launch)) = self.agent(instance, &kind) {
                    let (mut host, view) = (Arc::clone(&launch.host), launch.view.clone());
                    if let Some(pane) = self.session.pane_of(instance) {
                        host = self.with_first_program(&*adapter, host, pane);
                    }
                    let which = (witness, source);
                    agents::read_record(adapter, host, view, named, which, self.events.clone());
                }
            }
            Effect::Anchor { instance, kind, conversation } => {
                if let Some((adapter, launch)) = self.agent(instance, &kind) {
                    let (host, events) = (Arc::clone(&launch.host), self.events.clone());
                    agents::anchor(adapter, host, conversation, instance, events);
                }
            }
            Effect::Save { token, durability } => self.save(token, durability),
            Effect::ForgetTail { pane } => {
                self.panes.gone(pane);
                self.notes.remove(&pane);
                self.closed.insert(pane);
            }
            Effect::Forget { request, what } => self.forget(request, what),
            Effect::Publish(event) => {
                if self.tells && matches!(event, signaltty_core::session::Event::ServerStopping {})
                {
                    notify::stopping();
                }
                let recorded = self.session.records_texts(&event);
                let messages = if recorded { Messages::Recorded } else { Messages::Withheld };
                self.publisher.publish(&event, messages);
                self.notify_of(&event);
            }
            Effect::Reply { request, result } => self.reply(request, result),
            Effect::Stop => {
                // Saved or not, the host need not wait for children.
                self.hold = None;
                self.stopping = true;
            }
            other => tracing::error!("a bug: nobody performs {other:?}"),
        }
    }

    fn spawn(
        &mut self,
        pane: PaneId,
        instance: InstanceId,
        command: SpawnCommand,
        size: Size,
        request: Option<RequestId>,
    ) {
        let waiting = request.and_then(|request| self.waiting.get_mut(&request));
        let env = waiting.and_then(|waiting| waiting.env.take());
        let base = env.as_ref().unwrap_or(&self.server_env);
        let first = self.first_program(pane);
        let launcher = Launcher {
            first,
            ports: RefCell::new(&mut self.ports),
            adapters: &self.adapters,
            hook_program: &self.hook_program,
            runtime_dir: &self.paths.runtime_dir,
            own_dir: &self.own_dir,
            socket: &self.paths.socket,
        };
        let prepared = match launcher.prepare(pane, instance, command, size, base) {
            Ok(prepared) => prepared,
            Err(refusal) => {
                return self.input(Input::Spawned { instance, result: Err(refusal) });
            }
        };
        let started = self.spawner.spawn(prepared.spec.clone());
        self.starting.insert(instance, prepared);
        // A pane that is there already goes on below what it showed before.
        let earlier = match (self.session.pane(pane), self.panes.kept.of(pane)) {
            (None, _) => Earlier::None,
            (Some(_), Some(tail)) => Earlier::Kept(tail.clone()),
            (Some(_), None) => Earlier::OnDisk(self.saver.tail(pane)),
        };
        let events = self.events.clone();
        tokio::spawn(async move {
            let earlier = earlier.read().await;
            let result = started.await.map_err(|_| {
                let message = "too many starts are waiting; try again";
                Refusal::new(FailureCode::SpawnFailed, message)
            });
            let result = Box::new(result);
            let _ = events.send(Event::Spawned { pane, instance, result, earlier }).await;
        });
    }

    /// The machine with the program of a resume where the pane was first started
    /// with it, as [`first_program`](Self::first_program) says.
    fn with_first_program(
        &self,
        adapter: &dyn AgentAdapter,
        host: Arc<ProcHost>,
        pane: PaneId,
    ) -> Arc<ProcHost> {
        let program = &*adapter.spec().program;
        let first = self.first_program(pane).filter(|path| path.ends_with(program));
        let Some(dir) = first.as_deref().and_then(Path::parent) else {
            return host;
        };
        let dirs = std::iter::once(dir.to_owned()).chain(std::env::split_paths(&host.path));
        match std::env::join_paths(dirs) {
            Ok(path) => Arc::new(ProcHost { home: host.home.clone(), path }),
            Err(_) => host,
        }
    }

    /// The program that a pane was first started with, by its full path.
    fn first_program(&self, pane: PaneId) -> Option<PathBuf> {
        let named = self.session.pane(pane)?.record.argv.first()?;
        Some(PathBuf::from(named)).filter(|path| path.is_absolute())
    }

    /// The adapter of an agent and the launch that it runs in.
    fn agent(&self, instance: InstanceId, kind: &AgentKind) -> Option<(Adapter, &LaunchRecord)> {
        Some((self.adapters.of(kind).cloned()?, self.launches.of(instance)?))
    }

    /// What went along with the resume that a reply is about.
    fn carried_by(&self, reply: &Reply) -> CarriedOptions {
        let Reply::Resumed { pane, .. } = reply else {
            return CarriedOptions::default();
        };
        let Some(PaneState::Live { instance }) = self.session.pane(*pane).map(|view| view.state)
        else {
            return CarriedOptions::default();
        };
        self.launches.of(*instance).map(|launch| launch.carried.clone()).unwrap_or_default()
    }

    fn has_env(&self, request: Option<RequestId>) -> bool {
        let waiting = request.and_then(|request| self.waiting.get(&request));
        waiting.is_some_and(|waiting| waiting.env.is_some())
    }

    fn continue_turn(&mut self, kind: &AgentKind, continuation: Arc<Continuation>, by_hand: bool) {
        let instance = continuation.verified().instance();
        let messages = self.panes.of(instance).map(|handle| handle.messages.clone());
        match (self.agent(instance, kind), messages) {
            (Some((adapter, launch)), Some(messages)) => {
                let (host, view) = (Arc::clone(&launch.host), launch.view.clone());
                let input = agents::PaneTyping { messages, by_hand };
                let events = self.events.clone();
                agents::continue_turn(adapter, host, view, continuation, input, events);
            }
            _ => {
                let result = Err(ContinueFailure::Ended);
                self.input(Input::Continued { instance, result });
            }
        }
    }

    /// The machine as the process that a request starts will see it.
    fn host_for(&self, request: Option<RequestId>) -> Arc<ProcHost> {
        let env = request
            .and_then(|request| self.waiting.get(&request))
            .and_then(|waiting| waiting.env.as_ref());
        env.map_or_else(|| Arc::clone(&self.host), |env| Arc::new(environment::host(env)))
    }

    fn save(&mut self, token: SaveToken, durability: Durability) {
        // D-6: durable by default, also where policy would be content with less.
        let durability = if self.syncs_debounced() { Durability::Synced } else { durability };
        let (now, max) = (self.clock.now(), self.tail_bytes());
        self.session.note_published(self.publisher.published());
        let mut session = self.session.saved(now);
        let kept = |pane: PaneId| self.session.keeps_history(pane);
        let mut tails: Vec<_> = self
            .panes
            .kept
            .iter()
            .filter(|(pane, ..)| kept(*pane))
            .map(|(pane, id, tail)| TailJob { pane, kept: Some(id), bytes: tail.clone() })
            .collect();
        let printed = self.panes.take_printed();
        let live: Vec<_> = printed
            .into_iter()
            .filter(|handle| self.session.keeps_history(handle.pane))
            .map(|handle| {
                let (done, tail) = oneshot::channel();
                let ask = PaneMessage::Tail { max, done };
                // A pane that takes no message drops `done`, which is seen below.
                let _ = handle.messages.try_send(ask);
                (handle.pane, tail)
            })
            .collect();
        let closed: Vec<_> = self.closed.iter().copied().collect();
        let forget = std::mem::take(&mut self.forgetting);
        let (saver, events) = (self.saver.clone(), self.events.clone());
        let recorded = self.publisher.flush();
        tokio::spawn(async move {
            let mut missed = Vec::new();
            // One deadline: many busy panes must not hold up the last save.
            let until = Instant::now() + TAIL_WAIT;
            // The snapshot says which events are part of it.
            if let Ok(Ok(seq)) = timeout_at(until, recorded).await {
                session.journal_seq = seq;
            }
            for (pane, tail) in live {
                match timeout_at(until, tail).await {
                    Ok(Ok(bytes)) => tails.push(TailJob { pane, kept: None, bytes }),
                    _ => missed.push(pane),
                }
            }
            let requests: Vec<_> = forget.iter().map(|(request, _)| *request).collect();
            let now = now.mono;
            let job = SaveJob {
                token,
                session,
                durability,
                tails,
                missed,
                closed,
                forget,
                now,
                #[cfg(test)]
                panics: false,
            };
            if !saver.save(job) {
                let outcome = SaveOutcome::failed("the saver did not take the save", &requests);
                let _ = events.send(Event::Saved { token, outcome }).await;
            }
        });
    }

    fn reply(&mut self, request: RequestId, result: Result<Reply, CommandError>) {
        let Some(waiting) = self.waiting.remove(&request) else {
            return;
        };
        let Waiting { respond, remarks, .. } = waiting;
        let value = |reply| match remarks {
            Some(remarks) => to_value(Remarks { remarks }),
            None => value(&reply, &self.carried_by(&reply)),
        };
        let answer = result.map(value).map_err(|error| wire_error(&error));
        // A client that went away misses its answer.
        let _ = respond.send(Answer::Value(answer));
    }
}

enum Earlier {
    None,
    Kept(Vec<u8>),
    OnDisk(oneshot::Receiver<Result<Tail, String>>),
}

impl Earlier {
    async fn read(self) -> Option<Vec<u8>> {
        match self {
            Self::None => None,
            Self::Kept(tail) => Some(tail),
            Self::OnDisk(tail) => match tail.await {
                Ok(Ok(Tail::Saved(bytes))) => Some(bytes),
                _ => None,
            },
        }
    }
}

fn value(reply: &Reply, carried: &CarriedOptions) -> Value {
    match reply {
        Reply::Created { workspace, tab, pane } => to_value(Created {
            workspace_id: workspace.to_string(),
            tab_id: tab.to_string(),
            pane_id: pane.to_string(),
        }),
        Reply::Continued { pane, id, receipt } => to_value(Continued {
            pane_id: pane.to_string(),
            agent_session_id: id.to_string(),
            receipt: receipt.as_ref().map(ToString::to_string),
        }),
        Reply::Resumed { pane, id, verdict } => to_value(Resumed {
            pane_id: pane.to_string(),
            agent_session_id: id.as_ref().map(ToString::to_string),
            verdict: verdict.word.as_str().to_owned(),
            evidence: verdict.evidence.iter().map(ToString::to_string).collect(),
            carried: carried.carried().to_vec(),
            not_carried: carried.dropped().to_vec(),
        }),
        Reply::Forgotten(done) => to_value(Forgotten {
            panes: done.panes,
            tails: done.tails,
            records: done.records,
            snapshots: done.snapshots,
            left: done.left.iter().map(ToString::to_string).collect(),
        }),
        Reply::Decided(answer) => json!({
            "answer": match answer {
                Decision::Allow => wire::Answer::Allow,
                Decision::Deny => wire::Answer::Deny,
            },
        }),
        Reply::Notified { notification } => {
            to_value(Notified { notification_id: notification.to_string() })
        }
        _ => json!({}),
    }
}

/// A value that cannot fail to be one: it has string keys only.
pub(crate) fn to_value(value: impl serde::Serialize) -> Value {
    serde_json::to_value(value).unwrap_or(Value::Null)
}

pub(super) fn wire_error(error: &CommandError) -> WireError {
    let mut details = serde_json::Map::new();
    if let Some(code) = error.failure() {
        details.insert("reason".to_owned(), code.as_str().into());
    }
    if let CommandError::ResumeRefused { pane, refusal, evidence, .. } = error {
        details.insert("pane_id".to_owned(), pane.to_string().into());
        details.insert("can_be_overridden".to_owned(), refusal.code.can_be_overridden().into());
        let evidence: Vec<_> = evidence.iter().map(|line| &**line).collect();
        details.insert("evidence".to_owned(), evidence.into());
    }
    WireError::new(error.code(), error.to_string()).with_details(Value::Object(details))
}

fn no_adapter(kind: &AgentKind) -> Refusal {
    Refusal::new(
        FailureCode::BinaryMissing,
        format!("this server has no adapter for {kind}; start it with one that has"),
    )
}
