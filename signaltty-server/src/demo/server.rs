//! The story's own server.

use std::process::Child;
use std::time::Duration;

use super::ask::Broken;
use super::place::Place;
use crate::client::{Client, Log, command, wait};
use crate::protocol::Shutdown;

/// A server that is this process's child. Killed when dropped.
#[derive(Debug)]
pub(super) struct Server {
    child: Child,
}

impl Server {
    /// Starts one in the story's directory.
    pub(super) async fn start(place: &Place) -> Result<(Self, Client), Broken> {
        let log = Log::open(&place.paths.state_dir)?;
        let program = std::env::current_exe()?;
        let before = ["__server".into(), "--demo-agent".into()];
        let mut command = command(&program, &before, &place.paths, &log)?;
        // What the person has set up for their own server is not for this one.
        let vars = std::env::vars_os().map(|(name, _)| name);
        for name in vars.filter(|name| name.to_string_lossy().starts_with("SIGNALTTY_")) {
            command.env_remove(name);
        }
        command.env("SIGNALTTY_LOGIND", "0").env("XDG_CONFIG_HOME", place.root.join("config"));
        let mut server = Self { child: command.spawn()? };
        let client = wait(&place.paths, &mut server.child, &log).await?;
        Ok((server, client))
    }

    pub(super) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// SIGKILL: it gets no chance to do anything.
    pub(super) fn kill(mut self) -> Result<(), Broken> {
        self.child.kill()?;
        self.child.wait()?;
        Ok(())
    }

    /// Asks it to stop, and waits until it has.
    pub(super) async fn stop(mut self, mut client: Client) -> Result<String, Broken> {
        let force = Shutdown { force: true, continue_turns: false };
        let asked = "server.shutdown";
        let _: serde_json::Value = client.call_within(LIMIT, asked, &force).await?;
        let ended = async {
            loop {
                match self.child.try_wait()? {
                    Some(status) => return Ok::<_, Broken>(status),
                    None => tokio::time::sleep(PAUSE).await,
                }
            }
        };
        let status = tokio::time::timeout(LIMIT, ended).await;
        let status = status.map_err(|_| Broken::new("the server did not stop"))??;
        if !status.success() {
            return Err(Broken::new(format!("the server ended with {status}")));
        }
        Ok(format!("the server ended with {status}"))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // Both do nothing where it has ended. Its direct children end with it.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

const LIMIT: Duration = Duration::from_secs(6);

const PAUSE: Duration = Duration::from_millis(20);
