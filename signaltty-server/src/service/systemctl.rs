//! Asking the user's service manager, through its own program.

use std::io;
use std::process::Stdio;
use std::time::Duration;

use tokio::process::Command;
use tokio::time::timeout;

/// Why the user's service manager could not be asked, or what it refused.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SystemctlError {
    /// The program is not there.
    #[error("there is no systemctl")]
    Missing,
    /// It failed, and says why.
    #[error("{0}")]
    Failed(String),
}

/// Runs `systemctl --user` with these arguments, and ends it where it takes too
/// long. What it printed.
pub(crate) async fn systemctl(args: &[&str]) -> Result<String, SystemctlError> {
    use SystemctlError::{Failed, Missing};

    let mut command = Command::new("systemctl");
    command.arg("--user").args(args).stdin(Stdio::null()).kill_on_drop(true);
    match timeout(LIMIT, command.output()).await {
        Err(_) => Err(Failed(format!("no answer within {} s", LIMIT.as_secs()))),
        Ok(Err(error)) if error.kind() == io::ErrorKind::NotFound => Err(Missing),
        Ok(Err(error)) => Err(Failed(error.to_string())),
        Ok(Ok(output)) if output.status.success() => {
            Ok(String::from_utf8_lossy(&output.stdout).into_owned())
        }
        Ok(Ok(output)) => {
            let said = String::from_utf8_lossy(&output.stderr);
            let line = said.lines().map(str::trim).find(|line| !line.is_empty());
            Err(Failed(line.map_or_else(|| output.status.to_string(), str::to_owned)))
        }
    }
}

/// As long as a client waits for a server of its own.
const LIMIT: Duration = Duration::from_secs(10);
