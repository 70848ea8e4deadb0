//! Starting a server for a client that found none.
//!
//! The server runs from this program's own executable and outlives the client:
//! it makes a session of its own, works in `/`, reads nothing and writes to a
//! log. Several clients may do this at once. The lock on the state directory
//! decides which server stays; the others end with the exit code 6, and their
//! clients connect to the one that stayed (C013).

use std::ffi::OsString;
use std::io;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use super::log::Log;
use super::{Client, ClientError};
use crate::config::Paths;

/// Why a server could not be started.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StartError {
    /// The program could not be run.
    #[error("cannot start a server with {}: {source}", .program.display())]
    Spawn {
        /// Which program.
        program: PathBuf,
        /// Why it failed.
        source: io::Error,
    },
    /// This build contains no server, and there is none beside it.
    #[error("this program contains no server, and there is none at {}; start one by hand", .0.display())]
    Absent(PathBuf),
    /// The server ended again.
    #[error("the server ended at its start ({status}){}", said(.lines, .log))]
    Ended {
        /// How.
        status: ExitStatus,
        /// The last lines of its log.
        lines: Vec<String>,
        /// Where the log is.
        log: PathBuf,
    },
    /// The server runs and accepts no connection.
    #[error("the server did not listen on {} within {limit:?}{}", .socket.display(), said(.lines, .log))]
    Silent {
        /// Where it should listen.
        socket: PathBuf,
        /// How long it was waited for.
        limit: Duration,
        /// The last lines of its log.
        lines: Vec<String>,
        /// Where the log is.
        log: PathBuf,
    },
}

impl StartError {
    /// Whether the server would not touch the state, or found it locked.
    pub fn is_refusal(&self) -> bool {
        matches!(self, Self::Ended { status, .. } if status.code() == Some(REFUSED))
    }
}

/// Connects, and starts a server first where none listens.
///
/// # Errors
///
/// [`ClientError::Start`] where none could be started.
pub async fn connect_or_start(paths: &Paths) -> Result<Client, ClientError> {
    match Client::connect(paths).await {
        Err(ClientError::NoServer { .. }) => start_server(paths).await,
        other => other,
    }
}

/// Starts a server and connects to it, or to another that was faster.
///
/// # Errors
///
/// [`ClientError::Start`] where none could be started, or none listens in time.
pub async fn start_server(paths: &Paths) -> Result<Client, ClientError> {
    let log = Log::open(&paths.state_dir)?;
    let (program, before) = server_program()?;
    let mut command = command(&program, &before, paths, &log)?;
    if before.is_empty() {
        // A program that makes no session of its own must at least not be
        // reached by what is typed at this terminal.
        command.process_group(0);
    }
    let spawned = command.spawn();
    let mut child = spawned.map_err(|source| StartError::Spawn { program, source })?;
    wait(paths, &mut child, &log).await
}

/// Waits until a server listens that was started as `child`, or another one.
pub(crate) async fn wait(
    paths: &Paths,
    child: &mut Child,
    log: &Log,
) -> Result<Client, ClientError> {
    let started = Instant::now();
    let mut pause = FIRST_PAUSE;
    let mut ended: Option<(ExitStatus, Instant)> = None;
    loop {
        match Client::connect(paths).await {
            Err(ClientError::NoServer { .. }) => {}
            other => return other,
        }
        if ended.is_none() {
            let status = child.try_wait();
            let status = status.map_err(|source| ClientError::io("wait for", &log.path, source))?;
            ended = status.map(|status| (status, Instant::now()));
        }
        let lines = || log.last_lines().unwrap_or_default();
        let log = || log.path.clone();
        match ended {
            // Where the lock was held, its holder is about to listen.
            Some((status, at)) if status.code() != Some(REFUSED) || at.elapsed() > GRACE => {
                let (lines, log) = (lines(), log());
                return Err(StartError::Ended { status, lines, log }.into());
            }
            None if started.elapsed() > LIMIT => {
                return Err(ClientError::Start(StartError::Silent {
                    socket: paths.socket.clone(),
                    limit: LIMIT,
                    lines: lines(),
                    log: log(),
                }));
            }
            _ => tokio::time::sleep(pause).await,
        }
        pause = (pause * 2).min(LONGEST_PAUSE);
    }
}

/// The command that starts a server for these paths.
pub(crate) fn command(
    program: &Path,
    before: &[OsString],
    paths: &Paths,
    log: &Log,
) -> Result<Command, ClientError> {
    let output = || log.file.try_clone().map(Stdio::from);
    let copied = |source| ClientError::io("open", &log.path, source);
    let mut command = Command::new(program);
    command
        .args(before)
        .arg("--socket")
        .arg(&paths.socket)
        .arg("--state-dir")
        .arg(&paths.state_dir)
        .env_remove("SIGNALTTY_LAUNCH")
        .env_remove("SIGNALTTY_PANE")
        .current_dir("/")
        .stdin(Stdio::null())
        .stdout(output().map_err(copied)?)
        .stderr(output().map_err(copied)?);
    Ok(command)
}

/// The program that serves, and its first arguments.
fn server_program() -> Result<(PathBuf, Vec<OsString>), ClientError> {
    let me = std::env::current_exe()
        .map_err(|source| ClientError::io("find", Path::new("/proc/self/exe"), source))?;
    if cfg!(feature = "daemon") {
        return Ok((me, vec!["__server".into()]));
    }
    let beside = me.with_file_name("signaltty-server");
    if beside.is_file() {
        return Ok((beside, Vec::new()));
    }
    Err(StartError::Absent(beside).into())
}

fn said(lines: &[String], log: &Path) -> String {
    let mut text = format!("; its log is {}", log.display());
    if !lines.is_empty() {
        text.push_str(" and ends with:");
    }
    for line in lines {
        text.push_str("\n  ");
        text.push_str(line);
    }
    text
}

/// The exit code of a server that leaves the state alone or finds it locked.
const REFUSED: i32 = 6;

const LIMIT: Duration = Duration::from_secs(10);

/// How long the holder of the lock may take to listen.
const GRACE: Duration = Duration::from_secs(2);

const FIRST_PAUSE: Duration = Duration::from_millis(5);

const LONGEST_PAUSE: Duration = Duration::from_millis(200);
