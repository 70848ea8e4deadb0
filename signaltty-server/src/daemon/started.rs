//! What a start came to.

use std::ffi::OsString;

use signaltty_core::env::SavedEnv;
use signaltty_core::id::{InstanceId, PaneId};
use signaltty_core::restore::{FailureCode, Refusal};
use signaltty_core::session::Input;

use super::attribution::{LaunchRecord, Shell};
use super::event_loop::Daemon;
use super::launch::{self, Prepared};
use super::panes::Start;
use super::spawner::Spawned;
use super::tree::Note;

impl Daemon {
    pub(super) fn spawned(
        &mut self,
        pane: PaneId,
        instance: InstanceId,
        result: Result<Spawned, Refusal>,
        earlier: Option<Vec<u8>>,
    ) {
        let Some(prepared) = self.starting.remove(&instance) else {
            return;
        };
        let started = match result {
            Ok(Ok((pty, child))) => {
                let id = child.id();
                let size = prepared.spec.size;
                let start = Start {
                    pane,
                    instance,
                    size,
                    earlier,
                    history_lines: self.settings.history.lines,
                    tail_bytes: self.tail_bytes(),
                };
                let events = self.events.clone();
                self.panes.start(start, pty, child, events).map(|()| id).map_err(|error| {
                    let message = format!("the terminal could not be watched: {error}");
                    Refusal::new(FailureCode::SpawnFailed, message)
                })
            }
            Ok(Err(error)) => Err(launch::refusal(&error, &prepared.spec.argv)),
            Err(refusal) => Err(refusal),
        };
        match started {
            Ok(id) => {
                self.children.add(pane, id.pid, id.start_time);
                let view = signaltty_adapters::InstanceView {
                    instance,
                    pid: id.pid,
                    start_ticks: id.start_time,
                    cwd: prepared.cwd,
                    config_env: prepared.config_env,
                    facts: prepared.facts,
                };
                let first = self.session.pane(pane).map(|view| &view.record.env);
                let missing_env = first.map(|env| missing(env, &prepared.spec.env));
                let missing_env = missing_env.unwrap_or_default();
                let Prepared { kind, secret, host, files, integration, .. } = prepared;
                let Prepared { wired, carried, reopens: reopened, .. } = prepared;
                let shell =
                    kind.is_none().then(|| Shell { view: view.clone(), host: host.clone() });
                let seen = false;
                self.launches.add(LaunchRecord {
                    kind,
                    secret,
                    view,
                    host,
                    shell,
                    wired,
                    reopened,
                    seen,
                    carried,
                });
                self.files.insert(instance, files);
                self.notes.insert(pane, Note { integration, missing_env });
                self.input(Input::Spawned { instance, result: Ok(()) });
            }
            Err(refusal) => {
                launch::remove(&self.own_dir, &prepared.files);
                self.input(Input::Spawned { instance, result: Err(refusal) });
            }
        }
    }
}

/// The variables that a pane's first launch had and that are not there now
/// (C065).
fn missing(first: &SavedEnv, now: &[(OsString, OsString)]) -> Vec<String> {
    let there = |name: &&str| now.iter().any(|(known, _)| known == name);
    first.left_out().filter(|name| !there(name)).map(str::to_owned).collect()
}
