//! Setting up a server and running it.

use std::io::Write as _;
use std::path::PathBuf;
use std::sync::Arc;

use signaltty_adapters::{Adapters, AgentAdapter};
use signaltty_core::id::ServerEpoch;
use signaltty_logind::{ShutdownWatch, WatchConfig};
use signaltty_persist::{Owner, Program, StateDir, Store};
use tokio::sync::mpsc;
use tokio::time::timeout;
use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt::writer::BoxMakeWriter;

use super::clock::{Clock, wall};
use super::configure::{self, ConfigFile};
use super::error::ServerError;
use super::event::Event;
use super::event_loop::{Parts, run_loop};
use super::leftovers::Children;
use super::listener::Socket;
use super::own_log::OwnLog;
use super::owned::owned;
use super::replies::Replies;
use super::spawner::spawner;
use super::state_place::StatePlace;
use super::{own_dir, random, signals, socket_watch};
use crate::config::{Paths, Settings, standard_path};
use crate::service::notify;

/// Events that may wait for the loop. Senders wait, so a flood slows its source
/// and nothing is lost.
const EVENTS: usize = 1_024;

/// How long a server that ends waits for clients to take their last replies.
const LAST_REPLIES: std::time::Duration = std::time::Duration::from_millis(500);

/// How `signaltty-server` is started.
#[derive(Debug, Clone)]
pub struct ServeOptions {
    /// Where everything is.
    pub paths: Paths,
    /// Also know the demonstration agent.
    pub demo_agent: bool,
    /// What to log, as `tracing` filters.
    pub log: Option<String>,
    /// The configuration, where it is not at the standard place.
    pub config: Option<PathBuf>,
    /// The file that standard output and error are. It is put aside when it is
    /// long, and both go on in a new one.
    pub log_file: Option<PathBuf>,
}

/// Runs a server in the foreground, until a signal or a client ends it. Must be
/// called on the process's main thread (D-15).
///
/// # Errors
///
/// When it could not start; see [`ServerError::exit_code`].
pub fn serve(options: ServeOptions) -> Result<(), ServerError> {
    let filter = log_filter(options.log.as_deref().unwrap_or("info"));
    let filter = filter.map_err(ServerError::Log)?;
    let writer = match options.log_file {
        Some(path) => BoxMakeWriter::new(Arc::new(OwnLog::new(path))),
        None => BoxMakeWriter::new(std::io::stderr),
    };
    // A second subscriber in one process is an embedder's; theirs stays.
    let _ = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(writer)
        // Of a line that cannot be written it would tell standard error, which is
        // what cannot be written to: with a panic, wherever the line came from.
        .log_internal_errors(false)
        .with_ansi(false)
        .try_init();
    let asked = options.config.is_some();
    let file = options.config.or_else(|| standard_path(|name| std::env::var_os(name)));
    let mut builder = Server::builder(options.paths).signals().service_manager();
    if let Some(path) = file {
        builder = builder.config_file(path, asked);
    }
    let on = std::env::var_os("SIGNALTTY_LOGIND").is_none_or(|value| value != "0");
    builder = builder.logind(WatchConfig::new(on));
    if options.demo_agent {
        let program = std::env::current_exe()
            .map_err(|source| ServerError::Setup { what: "find this program's path", source })?;
        let before = vec!["__demo-agent".into()];
        builder =
            builder.adapter(Arc::new(signaltty_adapters::demo::DemoAdapter::new(program, before)));
    }
    builder.build()?.run()
}

/// What `--log` says, or why it says nothing.
fn log_filter(text: &str) -> Result<EnvFilter, String> {
    // Not the lenient one, which prints what it leaves out with a panic behind it.
    EnvFilter::builder().parse(text).map_err(|error| format!("{text:?}: {error}"))
}

/// Sets up a server.
pub struct Builder {
    paths: Paths,
    adapters: Vec<Arc<dyn AgentAdapter>>,
    hook_program: Option<PathBuf>,
    signals: bool,
    service_manager: bool,
    logind: WatchConfig,
    settings: Settings,
    config_file: Option<ConfigFile>,
}

/// A server that is set up and not running yet.
pub struct Server {
    paths: Paths,
    adapters: Adapters,
    hook_program: PathBuf,
    signals: bool,
    service_manager: bool,
    logind: WatchConfig,
    settings: Settings,
    config_file: Option<ConfigFile>,
    send: mpsc::Sender<Event>,
    receive: mpsc::Receiver<Event>,
}

/// Ends a running server, as SIGTERM would.
#[derive(Clone)]
pub struct Stopper {
    events: mpsc::Sender<Event>,
}

impl Stopper {
    /// Asks the server to save and end. Does nothing once it has ended. Must not
    /// be called from a task of a runtime.
    pub fn stop(&self) {
        let _ = self.events.blocking_send(Event::Terminate);
    }
}

impl Builder {
    /// Adds an adapter for an agent of your own (D-16).
    #[must_use]
    pub fn adapter(mut self, adapter: Arc<dyn AgentAdapter>) -> Self {
        self.adapters.push(adapter);
        self
    }

    /// Settings of your own, instead of those of a file.
    #[must_use]
    pub fn settings(mut self, settings: Settings) -> Self {
        self.settings = settings;
        self
    }

    /// The file with the settings; read when the server is built, and again on
    /// SIGHUP where [`signals`](Self::signals) are watched. Where it is `required`
    /// a missing one is an error.
    #[must_use]
    pub fn config_file(mut self, path: PathBuf, required: bool) -> Self {
        self.config_file = Some(ConfigFile { path, asked: required });
        self
    }

    /// Ends on SIGTERM and SIGINT, reads its configuration again on SIGHUP.
    #[must_use]
    pub fn signals(mut self) -> Self {
        self.signals = true;
        self
    }

    /// Tells the service manager when it is ready and when it stops, where
    /// `NOTIFY_SOCKET` names one.
    #[must_use]
    pub fn service_manager(mut self) -> Self {
        self.service_manager = true;
        self
    }

    /// Watches for host shutdowns, unless the settings say no. By default it does
    /// not.
    #[must_use]
    pub fn logind(mut self, config: WatchConfig) -> Self {
        self.logind = config;
        self
    }

    /// The program whose `hook` verb passes agents' reports on: `signaltty`, or
    /// one that calls [`cli::main`](crate::cli::main). By default the running one
    /// if it is `signaltty`, else the `signaltty` beside it, else whichever the
    /// pane's search path has. Without it no report of an agent arrives, and
    /// the pane says so.
    #[must_use]
    pub fn hook_program(mut self, path: PathBuf) -> Self {
        self.hook_program = Some(path);
        self
    }

    /// Checks the setup.
    ///
    /// # Errors
    ///
    /// When two adapters claim one kind of agent, or the configuration is not
    /// understood.
    pub fn build(self) -> Result<Server, ServerError> {
        let mut adapters = Adapters::builtin();
        for adapter in self.adapters {
            adapters.add(adapter)?;
        }
        let hook_program = self.hook_program.unwrap_or_else(default_hook_program);
        let (send, receive) = mpsc::channel(EVENTS);
        let settings = match &self.config_file {
            Some(file) => file.load(&adapters)?,
            None => self.settings,
        };
        configure::check(&settings, &adapters)?;
        let Self { paths, signals, service_manager, logind, config_file, .. } = self;
        Ok(Server {
            paths,
            adapters,
            hook_program,
            signals,
            service_manager,
            logind,
            settings,
            config_file,
            send,
            receive,
        })
    }
}

impl Server {
    /// Begins to set up a server.
    pub fn builder(paths: Paths) -> Builder {
        Builder {
            paths,
            adapters: Vec::new(),
            hook_program: None,
            signals: false,
            service_manager: false,
            logind: WatchConfig::new(false),
            settings: Settings::default(),
            config_file: None,
        }
    }

    /// Ends this server from elsewhere.
    pub fn stopper(&self) -> Stopper {
        Stopper { events: self.send.clone() }
    }

    /// Runs the server until it is told to end. Must be called on the process's
    /// main thread; children die with the thread that calls this.
    ///
    /// # Errors
    ///
    /// When it could not start. After a refused state nothing but the lock file
    /// has changed.
    pub fn run(self) -> Result<(), ServerError> {
        let started_at = wall();
        let socket_path = self.paths.socket.clone();
        let owner = Owner { pid: std::process::id(), started_at, socket: Some(socket_path) };
        let dir = owned(|| StateDir::open(&self.paths.state_dir, &owner))?;
        let state_place = StatePlace::of(&self.paths.state_dir);
        let socket = Arc::new(Socket::bind(&self.paths.socket, dir.lock_path())?);
        let own_dir = own_dir::of(&self.paths.runtime_dir, &self.paths.state_dir)
            .map_err(|source| ServerError::Setup { what: "look at the state directory", source })?;
        let children = Children::new(&self.paths.runtime_dir, &own_dir);
        let leftovers = own_dir::take_over(&children, &own_dir, &self.paths.state_dir);
        if let Err(error) = signaltty_pty::raise_descriptor_limit() {
            tracing::warn!("the limit of open files stays as it is: {error}");
        }
        announce(&self.paths);
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(workers())
            .enable_all()
            .build()
            .map_err(|source| ServerError::Setup { what: "start the runtime", source })?;
        let (spawner, main_thread) = spawner();
        let Self { paths, adapters, hook_program, signals, mut logind, send, receive, .. } = self;
        let (tells, settings, config_file) =
            (self.service_manager, self.settings, self.config_file);
        logind.enabled &= settings.shutdown.logind;
        let daemon = runtime.spawn(async move {
            if signals {
                signals::watch(send.clone())
                    .map_err(|source| ServerError::Setup { what: "watch signals", source })?;
            }
            let replies = Replies::new();
            let accept = tokio::spawn(Arc::clone(&socket).accept(
                send.clone(),
                replies.clone(),
                settings.limits.clone(),
            ));
            let socket_watching =
                tokio::spawn(socket_watch::keep(Arc::clone(&socket), send.clone()));
            let epoch = ServerEpoch(u64::from_le_bytes(random::bytes()));
            let program = Program { version: env!("CARGO_PKG_VERSION").to_owned(), protocol: 1 };
            let opened = tokio::task::spawn_blocking(move || Store::open(dir, program)).await;
            let opened = opened.map_err(|_| ServerError::Panicked)?;
            let opened = match opened {
                Ok(opened) => opened,
                Err(error) => {
                    socket_watching.abort();
                    accept.abort();
                    return Err(error.into());
                }
            };
            if tells {
                notify::ready();
            }
            let watching = signaltty_logind::watch(logind);
            let logind = watching.statuses();
            tokio::spawn(pass_on(watching, send.clone()));
            let clock = Clock::start();
            let parts = Parts {
                paths,
                adapters,
                hook_program,
                own_dir,
                children,
                leftovers,
                spawner,
                send,
                receive,
                opened,
                settings,
                config_file,
                clock,
                epoch,
                started_at,
                state_place,
                logind,
                tells,
            };
            let ending = run_loop(parts).await;
            // Before the lock is given up: whoever finds the directory free can
            // take the socket's place, and whoever finds nobody listening waits
            // for the lock.
            for task in [socket_watching.abort_handle(), accept.abort_handle()] {
                task.abort();
            }
            // Each has the socket until it is really over.
            let _ = tokio::join!(socket_watching, accept);
            drop(socket);
            let result = match ending {
                Ok(ending) => ending.give_up().await,
                Err(error) => Err(error),
            };
            if timeout(LAST_REPLIES, replies.written()).await.is_err() {
                tracing::warn!("some clients did not take their last reply");
            }
            result
        });
        // Ends when the loop has dropped its side.
        main_thread.run();
        let result = runtime.block_on(daemon).unwrap_or_else(|error| {
            tracing::error!("the loop ended: {error}");
            Err(ServerError::Panicked)
        });
        runtime.shutdown_timeout(std::time::Duration::from_secs(1));
        result
    }
}

/// Threads that serve panes and clients. The loop is one task, and each thread
/// has buffers of its own; two of them go on while a third one parses a flood.
fn workers() -> usize {
    std::thread::available_parallelism().map_or(1, |cores| cores.get().clamp(2, MAX_WORKERS))
}

const MAX_WORKERS: usize = 4;

/// Tells the loop of host shutdowns, for as long as there is a loop.
async fn pass_on(mut watching: ShutdownWatch, events: mpsc::Sender<Event>) {
    loop {
        tokio::select! {
            () = events.closed() => return,
            notice = watching.next() => {
                if events.send(Event::HostShutdown(notice)).await.is_err() {
                    return;
                }
            }
        }
    }
}

/// Says on standard error that clients may connect. Standard error may be gone.
fn announce(paths: &Paths) {
    let _ = writeln!(std::io::stderr(), "listening on {}", paths.socket.display());
}

fn default_hook_program() -> PathBuf {
    let this = std::env::current_exe().unwrap_or_else(|_| PathBuf::from("signaltty"));
    if this.file_name().is_some_and(|name| name == "signaltty") {
        return this;
    }
    let beside = this.with_file_name("signaltty");
    if beside.is_file() { beside } else { PathBuf::from("signaltty") }
}
