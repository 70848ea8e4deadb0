//! Starting a server for a client that found none.
//!
//! Where a unit of the user's systemd is installed for the same socket and state,
//! that is started. Else, and where that fails, the server runs from this
//! program's own executable and outlives the client:
//! it makes a session of its own, works in `/`, reads nothing and writes to a
//! log. Several clients may do this at once. The lock on the state directory
//! decides which server stays; the others end with the exit code 6, and their
//! clients connect to the one that stayed (C013).

use std::ffi::OsString;
use std::io::{self, Write as _};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use super::log::Log;
use super::{Client, ClientError};
use crate::config::{Paths, PathsError};
use crate::protocol::{Empty, code};
use crate::service::systemctl;
use crate::service::unit::{self, Found};

/// Why a server could not be started.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StartError {
    /// There is no place for what it would keep.
    #[error("no server listens on {}, and none can be started: {source}", .socket.display())]
    NoPlace {
        /// Where none listens.
        socket: PathBuf,
        /// What is missing.
        source: PathsError,
    },
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
    /// The directory for its log is not this user's, or something else is in the
    /// place of the log. Nothing was made or changed.
    #[error(
        "no server was started, since its log cannot be kept safely: {}: {why}; run the command \
         as the owner, or name a directory of your own in SIGNALTTY_STATE_DIR", .path.display()
    )]
    Log {
        /// What was found.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },
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
    /// Whether the state was not touched, or found locked.
    pub fn is_refusal(&self) -> bool {
        match self {
            Self::Log { .. } => true,
            Self::Ended { status, .. } => status.code() == Some(REFUSED),
            _ => false,
        }
    }
}

/// Connects, and starts a server first where none listens.
///
/// # Errors
///
/// [`ClientError::Start`] where none could be started.
pub async fn connect_or_start(paths: &Paths) -> Result<Client, ClientError> {
    match connect_live(paths).await {
        Err(ClientError::NoServer { .. }) => start_server(paths).await,
        other => other,
    }
}

/// Connects to a server that answers, and starts none.
///
/// The system makes connections for a server that is being killed, and they end
/// without an answer. So something that changes nothing is asked first, and its
/// end is taken for the absence of a server. Whatever is asked on the connection
/// that comes back is asked once. One that is stopping takes no requests; its end
/// is waited for.
///
/// # Errors
///
/// [`ClientError::NoServer`] where nobody listens or whoever does leaves without
/// a word, [`ClientError::TimedOut`] where it does not answer within a minute or
/// takes too long to stop, [`ClientError::Wire`] where it takes no more
/// connections.
pub async fn connect_live(paths: &Paths) -> Result<Client, ClientError> {
    let until = Instant::now() + LONGEST_STOP;
    loop {
        match reach(paths).await? {
            Reached::Live(client) => return Ok(client),
            // Another one may be there already.
            Reached::Stopping(client) => {
                client.closed(until.saturating_duration_since(Instant::now())).await?;
            }
        }
    }
}

/// A server that answers.
pub(crate) enum Reached {
    /// It has read its state and takes requests.
    Live(Client),
    /// It takes none any more; the connection stands until its end.
    Stopping(Client),
}

/// Asks whoever listens for something without an effect.
///
/// # Errors
///
/// Those of [`connect_live`].
pub(crate) async fn reach(paths: &Paths) -> Result<Reached, ClientError> {
    let asked = async {
        let mut client = Client::connect(paths).await?;
        let status = client.call_within::<_, Value>(LONGEST_LOAD, "server.ping", &Empty {});
        match status.await {
            Ok(_) => Ok(Reached::Live(client)),
            Err(error) if error.has_code(code::STOPPING) => Ok(Reached::Stopping(client)),
            // A refused connection is closed. Whatever else is refused, it answers:
            // an older server does not know the method.
            Err(ClientError::Wire(error)) if !CLOSING.contains(&error.code.as_str()) => {
                Ok(Reached::Live(client))
            }
            Err(error) => Err(error),
        }
    };
    asked.await.map_err(|error| match error {
        error if error.is_end() => ClientError::NoServer { socket: paths.socket.clone() },
        other => other,
    })
}

/// Starts a server and connects to it, or to another that was faster.
///
/// # Errors
///
/// [`ClientError::Start`] where none could be started, or none listens in time.
pub async fn start_server(paths: &Paths) -> Result<Client, ClientError> {
    let state = paths.state().map_err(|source| {
        let socket = paths.socket.clone();
        StartError::NoPlace { socket, source }
    })?;
    let log = Log::open(state)?;
    if let Some(client) = start_unit(paths, &log).await {
        return Ok(client);
    }
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

/// Starts the user's own unit, where one is installed for these paths. Whatever
/// is wrong with it, a server can still be started without.
async fn start_unit(paths: &Paths, log: &Log) -> Option<Client> {
    let at = unit::path(|name| std::env::var_os(name))?;
    let Ok(Found::Ours(text)) = unit::look(&at) else {
        return None;
    };
    if !unit::serves(&text, paths) {
        return None;
    }
    let why = match systemctl(&["start", unit::NAME]).await {
        Ok(_) => match connect_live(paths).await {
            Ok(client) => return Some(client),
            Err(error) => error.to_string(),
        },
        Err(error) => error.to_string(),
    };
    // A log that cannot be written to is no reason to do without a server.
    let _ = writeln!(&log.file, "{} does not serve: {why}; going on without", unit::NAME);
    None
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
        match connect_live(paths).await {
            Ok(client) => return Ok(client),
            Err(error) if is_passing(&error) => {}
            Err(error) => return Err(error),
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

/// Whether it may be because a server is just starting, or ending: a server
/// listens before it has read its state, and one that may not touch the state
/// ends without an answer.
fn is_passing(error: &ClientError) -> bool {
    matches!(error, ClientError::NoServer { .. } | ClientError::Protocol { .. })
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
        .arg("--log-file")
        .arg(&log.path)
        // What a service manager wants to hear from this client's service.
        .env_remove("NOTIFY_SOCKET")
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

/// With these a server closes the connection.
const CLOSING: [&str; 2] = [code::RATE_LIMITED, code::FOREIGN_USER];

/// The exit code of a server that leaves the state alone or finds it locked.
const REFUSED: i32 = 6;

const LIMIT: Duration = Duration::from_secs(10);

/// How long the holder of the lock may take to listen.
const GRACE: Duration = Duration::from_secs(2);

/// How long a server may take to stop: longer than it waits for its panes.
pub(crate) const LONGEST_STOP: Duration = Duration::from_secs(20);

/// How long a server may read its state.
const LONGEST_LOAD: Duration = Duration::from_secs(60);

const FIRST_PAUSE: Duration = Duration::from_millis(5);

const LONGEST_PAUSE: Duration = Duration::from_millis(200);

#[cfg(test)]
mod tests {
    use std::io::{BufRead as _, BufReader};
    use std::os::unix::net::UnixListener;

    use super::*;

    /// Waits for a server that is really this shell script.
    fn start(script: &str, listens: bool) -> Result<Client, ClientError> {
        let dir = tempfile::tempdir().unwrap();
        let paths = Paths {
            state_dir: dir.path().join("state"),
            runtime_dir: dir.path().join("run"),
            socket: dir.path().join("s"),
        };
        let log = Log::open(&paths.state_dir)?;
        let before = ["-c".into(), script.into()];
        let mut child = command(Path::new("sh"), &before, &paths, &log)?.spawn().unwrap();
        // Another client's server has got the lock by now.
        let other = listens.then(|| {
            child.wait().unwrap();
            let listener = UnixListener::bind(&paths.socket).unwrap();
            std::thread::spawn(move || {
                // The first connection ends as with a server that stops.
                drop(listener.accept().unwrap());
                let (mut stream, _) = listener.accept().unwrap();
                BufReader::new(&stream).read_line(&mut String::new()).unwrap();
                stream.write_all(b"{\"id\":\"1\",\"result\":{}}\n").unwrap();
            })
        });
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let client = runtime.block_on(wait(&paths, &mut child, &log));
        if let Some(other) = other {
            other.join().unwrap();
        }
        client
    }

    #[test]
    fn a_server_that_ends_at_once_is_shown_with_its_last_words() {
        let error = start("echo out; echo boom >&2; exit 3", false).unwrap_err();
        let text = error.to_string();
        assert!(text.contains("exit status: 3"), "{text}");
        assert!(text.ends_with("server.log and ends with:\n  out\n  boom"), "{text}");
        let ClientError::Start(error) = error else { panic!("{error:?}") };
        assert!(!error.is_refusal());
    }

    #[test]
    fn c013_the_client_of_a_server_that_lost_the_race_gets_the_other_one() {
        assert!(start("exit 6", true).is_ok());
    }
}
