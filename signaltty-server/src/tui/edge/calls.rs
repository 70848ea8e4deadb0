//! Requests to the server, each on a connection of its own: a resume that takes
//! long holds nothing else up.

use std::time::{Duration, Instant};

use serde_json::Value;
use signaltty_core::id::PaneId;
use signaltty_core::scope::Scope;
use tokio::sync::{mpsc, oneshot};

use super::files;
use crate::cli::{Context, environment};
use crate::client::Client;
use crate::protocol::{Empty, PaneRead, PaneText, Tree, WireError};
use crate::tui::msg::{After, Msg};

/// Lists come at most so often; events in between are told by the next one.
const BETWEEN_LISTS: Duration = Duration::from_millis(50);

/// Lines of a tombstone's output that are read.
const TAIL_LINES: usize = 2_000;

pub(super) struct Calls {
    context: Context,
    messages: mpsc::Sender<Msg>,
    list_wanted: bool,
    list_running: Option<oneshot::Receiver<()>>,
    last_list: Option<Instant>,
}

impl Calls {
    pub(super) fn new(context: Context, messages: mpsc::Sender<Msg>) -> Self {
        Self { context, messages, list_wanted: false, list_running: None, last_list: None }
    }

    /// The list is wanted, as it is after this call.
    pub(super) fn list(&mut self) {
        self.list_wanted = true;
    }

    /// Asks for the list if it is time for it; else says when it is.
    pub(super) fn pump(&mut self, now: Instant) -> Option<Instant> {
        if !self.list_wanted {
            return None;
        }
        let running = self.list_running.as_mut().is_some_and(|done| {
            matches!(done.try_recv(), Err(oneshot::error::TryRecvError::Empty))
        });
        let next = self.last_list.map_or(now, |last| last + BETWEEN_LISTS);
        if running || next > now {
            return Some(next.max(now + Duration::from_millis(1)));
        }
        self.list_wanted = false;
        self.last_list = Some(now);
        let (done, running) = oneshot::channel();
        self.list_running = Some(running);
        let (context, messages) = (self.context.clone(), self.messages.clone());
        tokio::spawn(async move {
            if let Ok(tree) = ask::<Tree>(&context, "session.list", &Empty {}).await {
                let _ = messages.send(Msg::Listed(tree)).await;
            }
            // A list that failed is asked for again when the link is up again.
            drop(done);
        });
        None
    }

    pub(super) fn call(&self, method: &'static str, mut params: Value, env: bool, after: After) {
        if let (true, Value::Object(map)) = (env, &mut params) {
            map.insert("env".to_owned(), serde_json::to_value(environment()).unwrap_or_default());
        }
        let (context, messages) = (self.context.clone(), self.messages.clone());
        tokio::spawn(async move {
            let result = ask::<Value>(&context, method, &params).await;
            let _ = messages.send(Msg::Done { after, result }).await;
        });
    }

    pub(super) fn tail(&self, pane: PaneId) {
        let (context, messages) = (self.context.clone(), self.messages.clone());
        tokio::spawn(async move {
            let (id, lines) = (pane.to_string(), Some(TAIL_LINES));
            let params = PaneRead { pane: id, lines, ansi: true, ..PaneRead::default() };
            let result = ask::<PaneText>(&context, "pane.read", &params).await;
            let result = result.map_err(|error| error.message);
            let _ = messages.send(Msg::Tail { pane, result }).await;
        });
    }

    /// Saves the scope, away from the loop. That of another machine is not: the
    /// file is about projects of this one.
    pub(super) fn save_scope(&self, scope: Scope) {
        if self.context.host.is_some() {
            return;
        }
        let messages = self.messages.clone();
        tokio::task::spawn_blocking(move || {
            let Some(path) = files::path("project-scope.json") else { return };
            if let Err(error) = files::save_scope(&path, &scope) {
                let message = format!("cannot save the project in {}: {error}", path.display());
                let result = Err(WireError::new("IO_ERROR", message));
                let _ =
                    messages.blocking_send(Msg::Done { after: After::Say(String::new()), result });
            }
        });
    }
}

async fn ask<R: serde::de::DeserializeOwned>(
    context: &Context,
    method: &str,
    params: &impl serde::Serialize,
) -> Result<R, WireError> {
    let asked = async { Client::connect(&context.paths).await?.call(method, params).await };
    asked.await.map_err(|error| context.told(error).wire())
}
