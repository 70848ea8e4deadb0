//! The environment of what the server starts by itself (D-27).
//!
//! A service manager starts a server with hardly any environment, so an agent
//! would not be found, or would miss a key that its person exports in the files
//! of the login shell. That shell is asked once, when it is first needed: it
//! runs interactively, on a terminal of its own, and prints its environment into
//! a file that is in memory only and goes with the server, however that ends: it
//! is full of keys. It gets a while, and no second chance.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read as _};
use std::os::fd::AsRawFd as _;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::PathBuf;
use std::time::Duration;

use bytes::BytesMut;
use rustix::fs::{MemfdFlags, memfd_create};
use rustix::io::Errno;
use signaltty_pty::{READ_BUFFER, Size, SpawnSpec};
use tokio::time::timeout;

use super::environment::Env;
use super::event_loop::Daemon;
use super::spawner::Spawner;
use super::{environment, event::Event};

/// How long the shell may take.
const DEADLINE: Duration = Duration::from_secs(10);

/// How long each step of ending it may take.
const GRACE: Duration = Duration::from_millis(500);

/// The longest environment that is taken.
const MAX_BYTES: u64 = 4 << 20;

/// Tells the shell where to print. A name and not a word of the command, so that
/// no shell's quoting matters.
const INTO: &str = "SIGNALTTY_LOGIN_ENV";

/// Appends, so that a shell which protects existing files does it too.
const COMMAND: &str = "env -0 >>\"$SIGNALTTY_LOGIN_ENV\"";

/// Of the shell itself, and wrong for everybody else.
const OF_THE_SHELL: [&str; 5] = [INTO, "OLDPWD", "PWD", "SHLVL", "_"];

/// How far the server knows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LoginEnv {
    /// Nobody needed it yet.
    Unread,
    /// The shell was asked.
    Asked,
    /// It is the server's environment now, or could not be read.
    Settled,
}

impl Daemon {
    /// Whether the environment of what the server starts by itself is known.
    /// If not, it will be; the event says when.
    pub(super) fn knows_login_env(&mut self) -> bool {
        if self.login_env == LoginEnv::Unread {
            self.login_env = LoginEnv::Asked;
            let (spawner, events) = (self.spawner.clone(), self.events.clone());
            let base = environment::scrubbed(&self.server_env, &self.adapters);
            tokio::spawn(async move {
                let read = read(&spawner, base).await;
                let _ = events.send(Event::LoginEnv(read)).await;
            });
        }
        self.login_env == LoginEnv::Settled
    }

    /// The shell has answered, or will not.
    pub(super) fn login_env_read(&mut self, read: Result<Env, String>) {
        self.login_env = LoginEnv::Settled;
        match read {
            Ok(env) => {
                self.host = std::sync::Arc::new(environment::host(&env));
                self.server_env = env;
            }
            Err(why) => {
                let line = format!(
                    "the login shell's environment could not be read ({why}); what the server \
                     starts by itself gets the server's own"
                );
                tracing::warn!("{line}");
                self.problems.push(line);
            }
        }
        for effect in std::mem::take(&mut self.held) {
            self.perform(effect);
        }
    }
}

async fn read(spawner: &Spawner, mut env: Env) -> Result<Env, String> {
    let shell = environment::login_shell(&env).into_iter().next().unwrap_or_default();
    let name = shell.display().to_string();
    let file = in_memory().map_err(|error| format!("a file in memory: {error}"))?;
    // A child has none of our descriptors, and opens it by this name.
    let path = format!("/proc/{}/fd/{}", std::process::id(), file.as_raw_fd());
    env.insert(INTO.into(), path.into());
    let home = env.get(OsStr::new("HOME")).map(PathBuf::from).filter(|home| home.is_dir());
    let spec = SpawnSpec {
        argv: vec![shell, "-lic".into(), COMMAND.into()],
        cwd: home.unwrap_or_else(|| "/".into()),
        env: env.into_iter().collect(),
        size: Size::default(),
    };
    run(spawner, spec).await.map_err(|why| format!("{name} {why}"))?;
    let env = printed(&file).map_err(|error| format!("what {name} printed: {error}"))?;
    // Also a shell without any environment prints where to print.
    if env.is_empty() { Err(format!("{name} printed nothing")) } else { Ok(env) }
}

fn in_memory() -> io::Result<File> {
    let make = |flags| memfd_create("signaltty-login-env", MemfdFlags::CLOEXEC | flags);
    let made = match make(MemfdFlags::NOEXEC_SEAL) {
        // Linux before 6.3 does not know the flag.
        Err(Errno::INVAL) => make(MemfdFlags::empty()),
        other => other,
    };
    Ok(File::from(made?))
}

/// Runs it to its end, whatever it prints.
async fn run(spawner: &Spawner, spec: SpawnSpec) -> Result<(), String> {
    let started = spawner.spawn(spec).await.map_err(|_| "was not started".to_owned())?;
    let (pty, child) = started.map_err(|error| format!("was not started: {error}"))?;
    let pty = pty.register().map_err(|error| format!("cannot be watched: {error}"))?;
    let drain = async {
        let mut buffer = BytesMut::zeroed(READ_BUFFER);
        while pty.read(&mut buffer).await.is_ok_and(|count| count > 0) {}
        // A terminal that nobody has open any more says nothing else.
        std::future::pending::<()>().await;
    };
    let ended = tokio::select! {
        ended = timeout(DEADLINE, child.wait()) => ended,
        () = drain => return Ok(()),
    };
    match ended {
        Ok(Ok(_)) => Ok(()),
        Ok(Err(error)) => Err(format!("cannot be waited for: {error}")),
        Err(_) => {
            // What it left behind goes with it.
            let _ = child.stop(GRACE).await;
            Err(format!("did not end within {DEADLINE:?}"))
        }
    }
}

fn printed(file: &File) -> io::Result<Env> {
    let mut bytes = Vec::new();
    file.take(MAX_BYTES + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MAX_BYTES {
        return Err(io::Error::other(format!("more than {MAX_BYTES} bytes")));
    }
    let pairs = bytes.split(|byte| *byte == 0).filter_map(|line| {
        let equals = line.iter().position(|byte| *byte == b'=')?;
        let (name, value) = line.split_at_checked(equals)?;
        let name = OsStr::from_bytes(name);
        let own = OF_THE_SHELL.iter().any(|own| name == *own) || name.is_empty();
        let value = OsString::from_vec(value.get(1..)?.to_vec());
        (!own).then(|| (name.to_owned(), value))
    });
    Ok(pairs.collect())
}
