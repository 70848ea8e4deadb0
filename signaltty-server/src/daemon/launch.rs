//! From a spawn effect to a child's exact command, environment and files.

use std::cell::RefCell;
use std::ffi::OsString;
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use signaltty_adapters::{
    Adapters, AgentAdapter, AgentHost as _, CarriedOptions, Integration, Launch, LaunchContext,
    LaunchFacts, OfficialCommand, PreparedLaunch, ProcHost,
};
use signaltty_core::agent::AgentKind;
use signaltty_core::env::ConfigEnv;
use signaltty_core::id::{InstanceId, PaneId};
use signaltty_core::layout::Size;
use signaltty_core::restore::{FailureCode, Refusal};
use signaltty_core::session::{Program, SpawnCommand};
use signaltty_pty::{ResolveError, SpawnError, SpawnSpec};

use super::environment::{Env, Place, for_pane, host};
use super::own_dir;
use super::ports::Ports;
use super::random::Secret;

/// What is needed to start something.
pub(crate) struct Launcher<'a> {
    pub(crate) adapters: &'a Adapters,
    pub(crate) hook_program: &'a Path,
    pub(crate) runtime_dir: &'a Path,
    /// What of it is this server's alone.
    pub(crate) own_dir: &'a Path,
    pub(crate) socket: &'a Path,
    /// The program that the pane was first started with, where that was named
    /// by its full path.
    pub(crate) first: Option<PathBuf>,
    /// Asked for one for the agent's own server, where there is an agent.
    pub(crate) ports: RefCell<&'a mut Ports>,
}

/// A start, ready for the main thread.
pub(crate) struct Prepared {
    pub(crate) spec: SpawnSpec,
    pub(crate) kind: Option<AgentKind>,
    pub(crate) secret: Secret,
    pub(crate) config_env: ConfigEnv,
    /// The machine as the process sees it.
    pub(crate) host: Arc<ProcHost>,
    pub(crate) cwd: PathBuf,
    /// Files made for this launch, to be removed when it is over.
    pub(crate) files: Vec<PathBuf>,
    /// What a person would have to do so that the agent can report.
    pub(crate) integration: Option<String>,
    /// Whether the agent reports by what was added to this launch.
    pub(crate) wired: bool,
    /// Whether it reopens a conversation.
    pub(crate) reopens: bool,
    /// What the adapter noted of the launch. In memory only.
    pub(crate) facts: LaunchFacts,
    /// What of an earlier launch's options goes along.
    pub(crate) carried: CarriedOptions,
}

impl Launcher<'_> {
    /// Makes out what exactly to start.
    pub(crate) fn prepare(
        &self,
        pane: PaneId,
        instance: InstanceId,
        command: SpawnCommand,
        size: Size,
        base: &Env,
    ) -> Result<Prepared, Refusal> {
        let SpawnCommand { program, cwd, config_env } = command;
        let mut carried = CarriedOptions::default();
        let reopens = match &program {
            Program::Official(official) => Some(official.kind().clone()),
            Program::Reported { agent, .. } => Some(agent.clone()),
            _ => None,
        };
        let (argv, kind) = match program {
            Program::Argv { argv, agent } => (argv, agent),
            Program::Official(official) => {
                let kind = official.kind();
                let adapter = self.adapters.of(kind).ok_or_else(|| no_adapter(kind))?;
                let mut command = adapter
                    .resume_command(official.conversation())
                    .map_err(|e| Refusal::new(FailureCode::MalformedId, e.to_string()))?;
                if let Some(option) = adapter.spec().resume_directory {
                    command = command.with_directory(option, &cwd);
                }
                carried = adapter.spec().carry(official.options(), official.widening());
                let command = command.with_options(&carried);
                let command = self.in_its_place(adapter, command, &mut carried);
                (command.argv().to_vec(), Some(kind.clone()))
            }
            Program::Reported { argv, agent } => {
                // Only what is recognised as that agent can be wired up as it.
                let starts = self.adapters.recognise(&argv.0).map(|a| a.spec().kind.clone());
                (argv.0, starts.filter(|kind| *kind == agent))
            }
            _ => {
                let message = "this build does not know how to start that";
                return Err(Refusal::new(FailureCode::SpawnFailed, message));
            }
        };
        let secret = Secret::new();
        let place = Place { pane, socket: self.socket, launch: &secret };
        // Whoever resumes may have others set, which are those of new conversations.
        let reopened = reopens.as_ref().and_then(|kind| self.adapters.of(kind));
        let identity = reopened.map_or(&[][..], |adapter| adapter.spec().identity_vars);
        let env = for_pane(base, self.adapters, &config_env, identity, place);
        let host = Arc::new(host(&env));
        let launch = Launch { argv, env: env.into_iter().collect() };
        let adapter = kind.as_ref().and_then(|kind| self.adapters.of(kind));
        let wired = match adapter {
            Some(adapter) => self.wire(adapter, instance, launch, &cwd, &host),
            None => PreparedLaunch::unchanged(launch),
        };
        let (integration, is_wired) = match wired.integration {
            Integration::Needed(what) => (Some(what), false),
            other => (None, other == Integration::Injected),
        };
        let launch = wired.launch;
        let size = super::panes::terminal_size(size.cols, size.rows);
        let spec = SpawnSpec { argv: launch.argv, cwd: cwd.clone(), env: launch.env, size };
        Ok(Prepared {
            spec,
            kind,
            secret,
            config_env,
            host,
            cwd,
            files: wired.files.into_iter().map(|file| file.path).collect(),
            integration,
            wired: is_wired,
            reopens: reopens.is_some(),
            facts: wired.facts,
            carried,
        })
    }

    /// The same program as at the first launch, where that was named by its full
    /// path: what else the search path has may work with other rules.
    fn in_its_place(
        &self,
        adapter: &Arc<dyn AgentAdapter>,
        command: OfficialCommand,
        carried: &mut CarriedOptions,
    ) -> OfficialCommand {
        let named = self.first.as_ref().and_then(|path| path.to_str());
        let Some(named) = named.filter(|path| adapter.recognises(&[(*path).into()])) else {
            return command;
        };
        let anywhere = ProcHost { home: None, path: OsString::new() };
        match anywhere.find_program(named) {
            Some(program) => command.at(program),
            None => {
                carried.leave_out(&format!("{named} (not there)"));
                command
            }
        }
    }

    /// Adds what the agent needs to report to us. An agent that cannot be wired
    /// up is started as it is, and the pane says so.
    fn wire(
        &self,
        adapter: &Arc<dyn AgentAdapter>,
        instance: InstanceId,
        launch: Launch,
        cwd: &Path,
        host: &ProcHost,
    ) -> PreparedLaunch {
        // Not the secret of the hook: what an agent's server is given is known
        // to everything that the agent runs.
        let secret = Secret::new();
        let context = LaunchContext {
            runtime_dir: &own_dir::launches(self.own_dir),
            hook_program: self.hook_program,
            cwd,
            instance,
            secret: secret.as_str(),
            loopback_port: self.ports.borrow_mut().next(),
        };
        let plain = launch.clone();
        let as_it_is = |why| PreparedLaunch {
            integration: Integration::Needed(why),
            ..PreparedLaunch::unchanged(plain)
        };
        let prepared = match adapter.prepare_launch(launch, &context) {
            Ok(prepared) => prepared,
            Err(error) => return as_it_is(error.to_string()),
        };
        if prepared.runs_hook && !self.hook_program_is_there(host) {
            let program = self.hook_program.display();
            return as_it_is(format!(
                "{} cannot report to signaltty: the program that would pass its reports on, \
                 {program}, is not there; put it back, or start the server anew with the one that \
                 is, and restart this pane; what is resumed without it stays unconfirmed",
                adapter.spec().kind
            ));
        }
        let mut written = Vec::new();
        for file in &prepared.files {
            if let Err(error) = write_private(self.runtime_dir, &file.path, &file.contents) {
                remove(self.own_dir, &written);
                return as_it_is(format!("{} was not written: {error}", file.path.display()));
            }
            written.push(file.path.clone());
        }
        prepared
    }
}

impl Launcher<'_> {
    /// Whether the agent will find our program, which an update may have moved.
    fn hook_program_is_there(&self, host: &ProcHost) -> bool {
        self.hook_program.to_str().is_none_or(|program| host.find_program(program).is_some())
    }
}

/// Removes files of a launch that is over, and the directories made for them.
pub(crate) fn remove(own_dir: &Path, files: &[PathBuf]) {
    let launches = own_dir::launches(own_dir);
    for file in files {
        if let Err(error) = std::fs::remove_file(file) {
            tracing::debug!("{} was not removed: {error}", file.display());
        }
        for dir in file.ancestors().skip(1).take_while(|dir| **dir != launches) {
            // Another file of the launch may be in it still.
            if std::fs::remove_dir(dir).is_err() {
                break;
            }
        }
    }
}

/// Writes a new file of mode 0600 somewhere below the runtime directory, and
/// makes the directories above it.
pub(crate) fn write_private(runtime_dir: &Path, path: &Path, contents: &[u8]) -> io::Result<()> {
    super::listener::private_dir(runtime_dir)?;
    let mut above: Vec<_> =
        path.ancestors().skip(1).take_while(|dir| *dir != runtime_dir).collect();
    above.reverse();
    for dir in above {
        super::listener::private_dir(dir)?;
    }
    let mut file =
        std::fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
    file.write_all(contents)
}

fn no_adapter(kind: &AgentKind) -> Refusal {
    Refusal::new(
        FailureCode::BinaryMissing,
        format!("this server has no adapter for {kind}; start it with one that has"),
    )
}

/// A failed start in the words of the session.
pub(crate) fn refusal(error: &SpawnError, argv: &[OsString]) -> Refusal {
    let program = argv.first().map(|word| word.to_string_lossy()).unwrap_or_default();
    if program.is_empty() {
        let message = "the name of the program is empty; name one, or none at all for a shell";
        return Refusal::new(FailureCode::SpawnFailed, message);
    }
    match error {
        SpawnError::CwdMissing { path } => Refusal::new(
            FailureCode::CwdMissing,
            format!("directory {} does not exist; create it", path.display()),
        ),
        SpawnError::CwdNotADirectory { path } => Refusal::new(
            FailureCode::CwdMissing,
            format!("{} is not a directory; make one in its place", path.display()),
        ),
        SpawnError::Program(ResolveError::NotInPath { .. }) => Refusal::new(
            FailureCode::BinaryMissing,
            format!("program {program} was not found in PATH; install it, or give its full path"),
        ),
        SpawnError::Program(ResolveError::NotFound { path }) => Refusal::new(
            FailureCode::BinaryMissing,
            format!("there is no program {}; check the path", path.display()),
        ),
        SpawnError::Program(ResolveError::NotExecutable { path }) => Refusal::new(
            FailureCode::SpawnFailed,
            format!(
                "{} is not executable; make it so with `chmod +x`, or name a program",
                path.display()
            ),
        ),
        other => {
            let mut message = format!("{program} was not started: {other}");
            let mut source = std::error::Error::source(other);
            while let Some(cause) = source {
                message.push_str(&format!(": {cause}"));
                source = cause.source();
            }
            Refusal::new(FailureCode::SpawnFailed, message)
        }
    }
}
