//! Git, as a program with a deadline.
//!
//! It runs in the environment of the client that asks, without what would point
//! it at another repository, asks nobody anything, and is never forced.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};
use serde_json::json;
use tokio::io::{AsyncRead, AsyncReadExt as _};
use tokio::process::Command;
use tokio::time::timeout;

use super::environment::Env;
use crate::protocol::{WireError, code};

/// How long a question may take.
pub(super) const ASK: Duration = Duration::from_secs(20);

/// How long a change may take: a checkout of a large repository is slow.
pub(super) const CHANGE: Duration = Duration::from_secs(600);

/// How long Git has to clean up after itself.
const GRACE: Duration = Duration::from_secs(2);

/// The longest output that is taken, in bytes.
const MAX_OUTPUT: u64 = 16 << 20;

/// Variables by which Git is told of another repository than the one of its
/// directory: `git rev-parse --local-env-vars`, as a hook of Git has them.
const OF_A_REPOSITORY: [&str; 15] = [
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_COMMON_DIR",
    "GIT_CONFIG",
    "GIT_CONFIG_COUNT",
    "GIT_CONFIG_PARAMETERS",
    "GIT_DIR",
    "GIT_GRAFT_FILE",
    "GIT_IMPLICIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_NO_REPLACE_OBJECTS",
    "GIT_OBJECT_DIRECTORY",
    "GIT_PREFIX",
    "GIT_REPLACE_REF_BASE",
    "GIT_SHALLOW_FILE",
    "GIT_WORK_TREE",
];

/// Git in a directory.
#[derive(Debug, Clone)]
pub(super) struct Git {
    dir: PathBuf,
    env: Env,
}

/// How it ended.
#[derive(Debug)]
pub(super) struct Output {
    pub(super) success: bool,
    pub(super) stdout: Vec<u8>,
    /// Its last words, as one text.
    pub(super) stderr: String,
}

impl Git {
    pub(super) fn new(dir: PathBuf, mut env: Env) -> Self {
        for name in OF_A_REPOSITORY {
            env.remove(OsStr::new(name));
        }
        env.insert("GIT_TERMINAL_PROMPT".into(), "0".into());
        // Its words are looked at.
        env.insert("LC_ALL".into(), "C".into());
        Self { dir, env }
    }

    /// The output of one that must succeed.
    pub(super) async fn run(&self, args: &[&OsStr], limit: Duration) -> Result<Vec<u8>, WireError> {
        let output = self.output(args, limit).await?;
        if output.success { Ok(output.stdout) } else { Err(self.failed(args, &output)) }
    }

    /// Runs it to its end.
    pub(super) async fn output(
        &self,
        args: &[&OsStr],
        limit: Duration,
    ) -> Result<Output, WireError> {
        let mut command = Command::new("git");
        command
            .arg("-C")
            .arg(&self.dir)
            .args(args)
            .current_dir("/")
            .env_clear()
            .envs(&self.env)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0);
        let mut child = command.spawn().map_err(|error| {
            let message = format!("git cannot be run: {error}; install it, or put it into PATH");
            WireError::new(code::GIT_MISSING, message)
        })?;
        let group = child.id().and_then(|pid| Pid::from_raw(i32::try_from(pid).ok()?));
        let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
        let work = async {
            let (stdout, stderr) = tokio::join!(read(stdout), read(stderr));
            (child.wait().await, stdout, stderr)
        };
        let mut work = std::pin::pin!(work);
        let Ok((status, stdout, stderr)) = timeout(limit, &mut work).await else {
            // Asked first, so that it removes what it made half.
            for signal in [Signal::TERM, Signal::KILL] {
                if let Some(group) = group {
                    let _ = kill_process_group(group, signal);
                }
                if timeout(GRACE, &mut work).await.is_ok() {
                    break;
                }
            }
            let message = format!("{} did not end within {limit:?}", shown(args));
            return Err(WireError::new(code::TIMEOUT, message));
        };
        let failed = |error| {
            WireError::new(code::IO_ERROR, format!("{} cannot be watched: {error}", shown(args)))
        };
        let success = status.map_err(failed)?.success();
        let stdout = stdout.map_err(failed)?;
        let stderr = stderr.map_err(failed)?;
        let stderr = String::from_utf8_lossy(&stderr).trim().to_owned();
        Ok(Output { success, stdout, stderr })
    }

    /// What it said, for people.
    pub(super) fn failed(&self, args: &[&OsStr], output: &Output) -> WireError {
        let dir = self.dir.display();
        if output.stderr.contains("not a git repository") {
            let message =
                format!("{dir} is in no Git repository; go into one, or name one with `--cwd DIR`");
            return WireError::new(code::NOT_A_REPOSITORY, message);
        }
        let said: String = output.stderr.chars().take(600).collect();
        let message = format!("{} failed in {dir}: {said}", shown(args));
        WireError::new(code::GIT_FAILED, message).with_details(json!({"stderr": said}))
    }
}

async fn read(from: Option<impl AsyncRead + Unpin>) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    if let Some(from) = from {
        from.take(MAX_OUTPUT).read_to_end(&mut bytes).await?;
    }
    Ok(bytes)
}

fn shown(args: &[&OsStr]) -> String {
    let words: Vec<_> = args.iter().take(2).map(|word| word.to_string_lossy()).collect();
    format!("git {}", words.join(" "))
}

/// One checkout as `git worktree list --porcelain -z` tells it.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Checkout {
    pub(super) path: PathBuf,
    pub(super) head: Option<String>,
    pub(super) branch: Option<String>,
    pub(super) bare: bool,
    pub(super) locked: Option<String>,
    pub(super) prunable: Option<String>,
}

/// Reads it. What a later Git says besides is skipped.
pub(super) fn checkouts(output: &[u8]) -> Vec<Checkout> {
    let mut found: Vec<Checkout> = Vec::new();
    for line in output.split(|byte| *byte == 0) {
        let mut parts = line.splitn(2, |byte| *byte == b' ');
        let (name, value) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
        let text = || String::from_utf8_lossy(value).into_owned();
        if name == b"worktree" {
            let path = PathBuf::from(OsString::from_vec(value.to_vec()));
            found.push(Checkout { path, ..Checkout::default() });
        }
        let Some(last) = found.last_mut() else {
            continue;
        };
        match name {
            b"HEAD" => last.head = Some(text()),
            b"branch" => {
                let full = text();
                let short = full.strip_prefix("refs/heads/").map(str::to_owned);
                last.branch = Some(short.unwrap_or(full));
            }
            b"bare" => last.bare = true,
            b"locked" => last.locked = Some(text()),
            b"prunable" => last.prunable = Some(text()),
            _ => {}
        }
    }
    found
}

/// Where a checkout of a branch goes unless something else is asked for: beside
/// the main one, named after both.
pub(super) fn default_path(main: &Path, branch: &str) -> PathBuf {
    let name = main.file_name().unwrap_or(OsStr::new("checkout"));
    let name = name.as_bytes().strip_suffix(b".git").unwrap_or(name.as_bytes());
    let mut name = OsString::from_vec(name.to_vec());
    name.push(".");
    name.push(branch.replace('/', "-"));
    main.with_file_name(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_register_is_read_with_every_name_that_a_path_may_have() {
        let output = b"worktree /src/a b\n\xff\0HEAD 12\0branch refs/heads/fix/x\0\0\
            worktree /src/c\0HEAD 34\0detached\0locked on a stick\0\0\
            worktree /src/d\0HEAD 56\0detached\0locked\0prunable gone\0later 1\0\0\
            worktree /src/e.git\0bare\0\0";
        let found = checkouts(output);
        let path = |bytes: &[u8]| PathBuf::from(OsString::from_vec(bytes.to_vec()));
        let plain = Checkout::default;
        let expected = [
            Checkout {
                path: path(b"/src/a b\n\xff"),
                head: Some("12".into()),
                branch: Some("fix/x".into()),
                ..plain()
            },
            Checkout {
                path: "/src/c".into(),
                head: Some("34".into()),
                locked: Some("on a stick".into()),
                ..plain()
            },
            Checkout {
                path: "/src/d".into(),
                head: Some("56".into()),
                locked: Some(String::new()),
                prunable: Some("gone".into()),
                ..plain()
            },
            Checkout { path: "/src/e.git".into(), bare: true, ..plain() },
        ];
        assert_eq!(found, expected);
        assert_eq!(checkouts(b"locked x\0nonsense"), []);
    }

    #[test]
    fn a_checkout_goes_beside_the_main_one() {
        let of = |main: &str, branch: &str| default_path(Path::new(main), branch);
        assert_eq!(of("/src/api", "fix/login"), Path::new("/src/api.fix-login"));
        assert_eq!(of("/src/api.git", "x"), Path::new("/src/api.x"));
    }

    #[tokio::test]
    async fn one_that_does_not_end_is_ended_with_all_that_it_runs() {
        use std::os::unix::fs::PermissionsExt as _;
        let dir = tempfile::tempdir().unwrap();
        let git = dir.path().join("git");
        std::fs::write(&git, "#!/bin/sh\ntrap '' TERM\nsleep 600 &\nwait; sleep 600\n").unwrap();
        std::fs::set_permissions(&git, std::fs::Permissions::from_mode(0o700)).unwrap();
        let path = std::env::join_paths([dir.path(), Path::new("/usr/bin"), Path::new("/bin")]);
        let env: Env = [("PATH".into(), path.unwrap())].into();
        let git = Git::new(dir.path().to_owned(), env);
        let limit = Duration::from_millis(200);
        let error = git.run(&["worktree".as_ref(), "list".as_ref()], limit).await.unwrap_err();
        assert_eq!(error.code, code::TIMEOUT);
        assert!(error.message.contains("git worktree list"), "{error}");
        let nothing = Git::new(dir.path().to_owned(), [("PATH".into(), "/nowhere".into())].into());
        let error = nothing.run(&["version".as_ref()], ASK).await.unwrap_err();
        assert_eq!(error.code, "GIT_MISSING");
    }
}
