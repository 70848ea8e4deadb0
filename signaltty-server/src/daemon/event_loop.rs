//! The loop: the one owner of the session.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;
use std::thread::JoinHandle;

use signaltty_adapters::{Adapters, ProcHost};
use signaltty_core::id::{InstanceId, PaneId, RequestId, ServerEpoch};
use signaltty_core::save::SaveToken;
use signaltty_core::session::{Command, Effect, Forget, Input, PaneFact, Session, ShutdownCause};
use signaltty_core::time::UnixMillis;
use signaltty_logind::{HostShutdown, Inhibitor};
use signaltty_persist::{Loaded, Opened};
use tokio::sync::{mpsc, oneshot, watch};
use tokio::time::{Instant, sleep_until};

use super::attribution::Launches;
use super::clock::Clock;
use super::configure::{self, ConfigFile};
use super::environment::Env;
use super::error::ServerError;
use super::event::{Answer, ClientFact, Event};
use super::launch::{self, Prepared};
use super::leftovers::{Children, Leftovers, look_for_strays};
use super::login_env::LoginEnv;
use super::own_dir;
use super::panes::{self, Panes};
use super::points::Points;
use super::ports::Ports;
use super::publisher::Publisher;
use super::saver::{SaveOutcome, Saver};
use super::spawner::Spawner;
use super::state_place::StatePlace;
use super::waits::Wait;
use super::{environment, random, recorder, tree};
use crate::config::{Paths, Settings};
use crate::protocol::Health;

/// What the loop is made of.
pub(crate) struct Parts {
    pub(crate) paths: Paths,
    pub(crate) adapters: Adapters,
    pub(crate) hook_program: PathBuf,
    pub(crate) own_dir: PathBuf,
    pub(crate) children: Children,
    pub(crate) leftovers: Leftovers,
    pub(crate) spawner: Spawner,
    pub(crate) send: mpsc::Sender<Event>,
    pub(crate) receive: mpsc::Receiver<Event>,
    pub(crate) opened: Opened,
    pub(crate) settings: Settings,
    pub(crate) config_file: Option<ConfigFile>,
    pub(crate) clock: Clock,
    pub(crate) epoch: ServerEpoch,
    pub(crate) started_at: UnixMillis,
    pub(crate) state_place: StatePlace,
    pub(crate) logind: watch::Receiver<signaltty_logind::Status>,
    pub(crate) tells: bool,
}

/// A request that waits for its reply.
pub(crate) struct Waiting {
    pub(crate) respond: oneshot::Sender<Answer>,
    /// The client's environment, for what the request starts. Gone with it.
    pub(crate) env: Option<Env>,
    /// What the reply says besides; only some replies have such a list.
    pub(crate) remarks: Option<Vec<String>>,
}

/// Everything that the loop owns.
pub(crate) struct Daemon {
    pub(crate) session: Session,
    pub(crate) panes: Panes,
    pub(crate) launches: Launches,
    /// Starts under way.
    pub(crate) starting: BTreeMap<InstanceId, Prepared>,
    /// Files of launches that live.
    pub(crate) files: BTreeMap<InstanceId, Vec<PathBuf>>,
    /// What of the runtime directory is this server's alone.
    pub(crate) own_dir: PathBuf,
    pub(crate) children: Children,
    /// What an earlier server left running (D-25).
    pub(crate) leftovers: Leftovers,
    pub(crate) notes: tree::Notes,
    pub(crate) ports: Ports,
    pub(crate) waiting: BTreeMap<RequestId, Waiting>,
    pub(crate) waits: Vec<Wait>,
    pub(crate) next_request: u64,
    pub(crate) publisher: Publisher,
    pub(crate) saver: Saver,
    pub(crate) closed: BTreeSet<PaneId>,
    /// What the next save is to remove, for which requests.
    pub(crate) forgetting: Vec<(RequestId, Forget)>,
    pub(crate) adapters: Adapters,
    pub(crate) spawner: Spawner,
    pub(crate) events: mpsc::Sender<Event>,
    pub(crate) clock: Clock,
    pub(crate) paths: Paths,
    pub(crate) hook_program: PathBuf,
    /// Of what the server starts by itself.
    pub(crate) server_env: Env,
    pub(crate) login_env: LoginEnv,
    /// Starts that wait for it.
    pub(crate) held: Vec<Effect>,
    pub(crate) host: Arc<ProcHost>,
    pub(crate) started_at: UnixMillis,
    pub(crate) state_place: StatePlace,
    pub(crate) last_save_at: Option<UnixMillis>,
    pub(crate) persist: Health,
    pub(crate) logind: watch::Receiver<signaltty_logind::Status>,
    /// Whether the service manager is told what happens.
    pub(crate) tells: bool,
    /// Makes the host wait until the state is saved. Dropped on every way out.
    pub(crate) hold: Option<Inhibitor>,
    pub(crate) journal: Health,
    /// The socket that clients connect to.
    pub(crate) listening: Health,
    pub(crate) load: String,
    pub(crate) problems: Vec<String>,
    pub(crate) stopping: bool,
    /// What counts now.
    pub(crate) settings: Settings,
    /// What the server was started with, for the keys that only count then.
    pub(crate) fixed: Settings,
    pub(crate) config_file: Option<ConfigFile>,
    /// What the last look at the file came to.
    pub(crate) configuration: Health,
    /// Where a test has it killed.
    pub(crate) points: Points,
}

/// Runs until the session says stop.
pub(crate) async fn run_loop(parts: Parts) -> Result<Ending, ServerError> {
    let Parts { opened, send, mut receive, settings, clock, epoch, .. } = parts;
    let config = configure::session_config(&settings, &parts.adapters);
    if let Some(error) = &opened.sweep_failure {
        tracing::warn!("a leftover of an earlier save stays: {error}");
    }
    let floor = match &opened.loaded {
        Loaded::Snapshot { session, .. } => session.journal_seq,
        _ => 0,
    };
    let dir = opened.store.dir().clone();
    let (session, load, problems) = super::load::restore(opened.loaded, epoch, config, clock, &dir);
    let mut store = opened.store;
    store.stands_for(&session.saved(clock.now()));
    let (saver, thread) = Saver::start(store, send.clone())
        .map_err(|source| ServerError::Setup { what: "start the saver", source })?;
    let (publisher, journal) = recorder::start(dir, floor, random::bytes(), epoch, send.clone())
        .map_err(|source| ServerError::Setup { what: "start the recorder of events", source })?;
    let server_env: Env = std::env::vars_os().collect();
    let host = environment::host(&server_env);
    let mut daemon = Daemon {
        session,
        panes: Panes::default(),
        launches: Launches::default(),
        starting: BTreeMap::new(),
        files: BTreeMap::new(),
        own_dir: parts.own_dir,
        children: parts.children,
        leftovers: parts.leftovers,
        notes: tree::Notes::new(),
        ports: Ports::new(),
        waiting: BTreeMap::new(),
        waits: Vec::new(),
        next_request: 1,
        publisher,
        saver,
        closed: BTreeSet::new(),
        forgetting: Vec::new(),
        adapters: parts.adapters,
        spawner: parts.spawner,
        events: send,
        clock,
        paths: parts.paths,
        hook_program: parts.hook_program,
        host: Arc::new(host),
        server_env,
        login_env: LoginEnv::Unread,
        held: Vec::new(),
        started_at: parts.started_at,
        state_place: parts.state_place,
        last_save_at: None,
        persist: Health::ok(),
        logind: parts.logind,
        tells: parts.tells,
        hold: None,
        journal: Health::ok(),
        listening: Health::ok(),
        load,
        problems,
        stopping: false,
        fixed: settings.clone(),
        settings,
        config_file: parts.config_file,
        configuration: Health::ok(),
        points: Points::of_this_process(),
    };
    let socket = daemon.paths.socket.clone();
    look_for_strays(socket, daemon.children.begun(), daemon.events.clone());
    // Clients see the tombstones from here on; what may start by itself does.
    daemon.input(Input::Begin);
    daemon.serve(&mut receive).await;
    daemon.stop_children(&mut receive).await;
    let lost = daemon.session.save_failures() > 0;
    own_dir::give_up(&daemon.children, &daemon.own_dir);
    drop(daemon);
    drop(receive);
    Ok(Ending { lost, threads: [thread, journal] })
}

/// A loop that has ended. Its threads still have the lock on the directory.
pub(crate) struct Ending {
    lost: bool,
    threads: [JoinHandle<()>; 2],
}

impl Ending {
    /// Gives up the lock before the process says it ended.
    pub(crate) async fn give_up(self) -> Result<(), ServerError> {
        let Self { lost, threads: [saver, journal] } = self;
        let joined = tokio::task::spawn_blocking(move || (saver.join(), journal.join())).await;
        if !matches!(joined, Ok((Ok(()), Ok(())))) {
            tracing::error!("the saver or the recorder of events did not end as it should");
        }
        if lost { Err(ServerError::NotSaved) } else { Ok(()) }
    }
}

impl Daemon {
    async fn serve(&mut self, receive: &mut mpsc::Receiver<Event>) {
        while !self.stopping {
            let deadline = self.session.deadline().map(|mono| self.clock.instant(mono));
            let deadline = deadline.into_iter().chain(self.waits_until()).min();
            tokio::select! {
                event = receive.recv() => match event {
                    Some(event) => self.take(event),
                    // Cannot be: the daemon holds a sender itself.
                    None => return,
                },
                () = sleep_until(deadline.unwrap_or_else(Instant::now)), if deadline.is_some() => {
                    self.input(Input::Tick);
                }
            }
            self.check_waits();
        }
    }

    /// Gives the session an input and performs what comes out.
    pub(crate) fn input(&mut self, input: Input) {
        for effect in self.session.handle(self.clock.now(), input) {
            self.perform(effect);
        }
    }

    fn take(&mut self, event: Event) {
        self.points.at(&event);
        match event {
            Event::Request { peer, request, respond } => self.request(peer, request, respond),
            Event::Spawned { pane, instance, result, earlier } => {
                self.spawned(pane, instance, *result, earlier);
            }
            Event::Ended { instance, status, last_line, tail, lines, taken } => {
                self.launches.remove(instance);
                let files = self.files.remove(&instance).unwrap_or_default();
                launch::remove(&self.own_dir, &files);
                // Told twice where a bug came between the end and its farewell.
                let Some(handle) = self.panes.of(instance) else {
                    return;
                };
                let pane = handle.pane;
                self.children.remove(handle.child.pid());
                // What it shows may be older than the wish to forget it.
                let forgetting = self.forgetting.iter().any(|(_, what)| what.panes.contains(&pane));
                self.panes.ended(instance, tail.filter(|_| !forgetting), lines);
                drop(taken);
                let status =
                    signaltty_core::pane::ExitStatus { code: status.code, signal: status.signal };
                self.input(Input::Exited { instance, status, last_line });
                if self.session.pane(pane).is_none() {
                    self.panes.gone(pane);
                    self.notes.remove(&pane);
                }
            }
            Event::Fact { instance, fact: PaneFact::Cwd(path) } => {
                self.directory_told(instance, path);
            }
            Event::Directory { instance, number, found } => {
                self.directory_found(instance, number, found);
            }
            Event::Fact { fact: PaneFact::Notification { .. }, .. }
                if !self.settings.notifications.programs => {}
            Event::Fact { instance, fact } => {
                if fact == PaneFact::Printed
                    && let Some(handle) = self.panes.of_mut(instance)
                {
                    handle.printed = true;
                }
                self.input(Input::Fact { instance, fact });
            }
            Event::Quiet { instance } => {
                self.directory_of_process(instance);
                self.look_at_output(instance);
            }
            Event::LookAgain { instance } => self.look_is_due(instance),
            Event::Scouted { instance, found, gone } => self.scouted(instance, found, gone),
            Event::Looked { instance, process, reports } => {
                self.looked(instance, process, reports);
            }
            Event::Observed { instance, process, reports } => {
                self.observed(instance, process, reports);
            }
            Event::Preflighted { pane, request, result } => {
                self.input(Input::Preflighted { pane, request, result });
            }
            Event::RecordRead { instance, witness, named, result } => {
                self.input(Input::RecordRead { instance, witness, named, result });
            }
            Event::TurnRead { pane, record } => self.input(Input::TurnRead { pane, record }),
            Event::Continued { instance, result } => {
                self.input(Input::Continued { instance, result });
                self.look_for_sign(instance);
            }
            Event::Anchored { instance, id, cwd, result } => {
                if let Some(cwd) = cwd {
                    self.input(Input::WorksIn { instance, id: id.clone(), cwd });
                }
                if let Err(refusal) = &result {
                    tracing::debug!("conversation {id} was not anchored: {refusal}");
                }
                self.input(Input::Anchored { instance, id, result });
            }
            Event::Saved { token, outcome } => self.saved(token, outcome),
            Event::Forgotten { request, result } => {
                self.input(Input::Forgotten { request, result });
            }
            Event::HostShutdown(notice) => self.host_shutdown(notice),
            Event::AskerLeft { pane, asked } => self.asker_left(pane, asked),
            Event::ReleaseHost => {
                if self.hold.take().is_some() {
                    tracing::error!("the save took too long; the host no longer waits for it");
                }
            }
            Event::Journal { health, problems } => {
                self.journal = health;
                self.problems.extend(problems);
            }
            Event::Listening(health) => self.listening = health,
            Event::Reload => self.reload(),
            Event::Reloaded(result) => self.reloaded(*result),
            Event::Terminate => self.input(Input::Shutdown(ShutdownCause::Terminate)),
            Event::LoginEnv(read) => self.login_env_read(read),
            Event::Strays(found) => {
                let known = |pane| self.session.pane(pane).is_some();
                self.leftovers.add_strays(&found, known);
            }
            Event::Client { pane, what } => self.client(pane, what),
        }
    }

    /// The host goes down: save while it waits, then let it go on (S0-25).
    fn host_shutdown(&mut self, notice: HostShutdown) {
        tracing::info!(held = notice.hold.is_some(), "the host is shutting down");
        let (events, budget) = (self.events.clone(), notice.save_budget());
        self.hold = notice.hold;
        tokio::spawn(async move {
            tokio::time::sleep(budget).await;
            let _ = events.send(Event::ReleaseHost).await;
        });
        self.input(Input::Shutdown(ShutdownCause::Host));
    }

    fn saved(&mut self, token: SaveToken, outcome: SaveOutcome) {
        let SaveOutcome { result, detail, saved, unsaved, closed, forgot } = outcome;
        if result.is_ok() {
            self.last_save_at = Some(super::clock::wall());
            for (pane, id) in saved {
                self.panes.kept.saved(pane, id);
            }
            for pane in unsaved {
                if let Some(instance) = self.live(pane) {
                    let fact = PaneFact::Printed;
                    self.take(Event::Fact { instance, fact });
                }
            }
            for pane in closed {
                self.closed.remove(&pane);
            }
        } else {
            self.panes.print_again();
        }
        self.persist = match (result.is_ok(), detail) {
            (true, None) => Health::ok(),
            (_, detail) => Health::with("degraded", detail.unwrap_or_default()),
        };
        self.input(Input::Saved { token, result });
        self.forgot(forgot);
    }

    pub(crate) fn client(&mut self, pane: PaneId, what: ClientFact) {
        let command = match what {
            ClientFact::Seen => Command::MarkSeen(pane),
            ClientFact::Size { cols, rows } => {
                let Some(record) = self.session.pane(pane).map(|view| view.record) else {
                    return;
                };
                let Some(tab) = self.session.tab(record.tab) else {
                    return;
                };
                // D-10: a pane beside others keeps the size that the layout says.
                if tab.record.layout.len() > 1 {
                    return;
                }
                let size = panes::terminal_size(cols, rows);
                let area = signaltty_core::layout::Size { cols: size.cols, rows: size.rows };
                Command::SetArea { tab: record.tab, area, zoomed: false }
            }
        };
        let request = self.new_request();
        // Nobody waits for this reply.
        self.input(Input::Command { request, command });
    }

    pub(crate) fn new_request(&mut self) -> RequestId {
        let request = RequestId(self.next_request);
        self.next_request += 1;
        request
    }

    /// Ends every child, after the last save, all at the same time.
    async fn stop_children(&mut self, receive: &mut mpsc::Receiver<Event>) {
        let (mut stops, grace) = (tokio::task::JoinSet::new(), self.grace());
        for child in self.panes.children() {
            stops.spawn(async move { (child.pid(), child.stop(grace).await) });
        }
        // The queue goes on being emptied, or panes could not say that they ended.
        loop {
            tokio::select! {
                stopped = stops.join_next() => match stopped {
                    None => return,
                    Some(Ok((_, Ok(report)))) if !report.escaped.is_empty() => {
                        let left = panes::listed(&report.escaped);
                        tracing::warn!("processes left their pane and go on: {left}");
                    }
                    // Nothing of it runs for the next start to look for.
                    Some(Ok((pid, Ok(_)))) => self.children.remove(pid),
                    Some(Ok((_, Err(error)))) => tracing::error!("stopping a process failed: {error}"),
                    Some(Err(_)) => {}
                },
                _ = receive.recv() => {}
            }
        }
    }
}
