//! What is answered from what the loop holds, without a command to the session.

use std::sync::Arc;

use bytes::Bytes;
use serde_json::{Value, json};
use signaltty_core::id::PaneId;
use signaltty_core::restore::PaneState;

use super::attach::Attachment;
use super::clock::rfc3339;
use super::dispatch::parse;
use super::effects::to_value;
use super::event::ClientFact;
use super::event_loop::Daemon;
use super::{reading, resolve, tree};
use crate::protocol::{self as wire, Health, PaneInfo, Status, VERSION, WireError, WireOs, code};

impl Daemon {
    pub(super) fn status(&self) -> Status {
        Status {
            pid: std::process::id(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            protocol: VERSION.to_owned(),
            socket: self.paths.socket.display().to_string(),
            state_dir: self.paths.state_dir.display().to_string(),
            started_at: rfc3339(self.started_at),
            counts: tree::counts(&self.session),
            persist: self.persist.clone(),
            journal: self.journal.clone(),
            logind: self.logind_health(),
            listening: Some(self.listening.clone()),
            logout: None,
            configuration: Some(self.configuration.clone()),
            last_save_at: self.last_save_at.map(rfc3339),
            saved: self.session.is_saved(),
            load: self.load.clone(),
            problems: self.problems.iter().cloned().chain(self.leftovers.lines()).collect(),
        }
    }

    pub(super) fn logind_health(&self) -> Health {
        let status = self.logind.borrow();
        Health { state: status.as_str().to_owned(), detail: status.detail() }
    }

    pub(super) fn info(&self, text: &str) -> Result<PaneInfo, WireError> {
        let id = resolve::pane(&self.session, text)?;
        let gone = || WireError::new(code::NO_SUCH_PANE, format!("there is no pane {id}"));
        let view = self.session.pane(id).ok_or_else(gone)?;
        let tab = self.session.tab(view.record.tab).ok_or_else(gone)?;
        let instance = view.state.instance();
        Ok(PaneInfo {
            pane: tree::pane(&view, &self.notes),
            workspace_id: tab.record.workspace.to_string(),
            tab_id: tab.record.id.to_string(),
            instance: instance.map(|instance| instance.to_string()),
            baseline: instance
                .and_then(|_| self.session.baseline(id))
                .map(|baseline| baseline.to_string()),
            pid: instance.and_then(|i| self.panes.of(i)).map(|handle| handle.child.pid()),
            leftover: self.leftovers.doubt(id),
        })
    }

    pub(super) fn read(&self, ask: &wire::PaneRead) -> Result<reading::Reading, WireError> {
        let pane = resolve::pane(&self.session, &ask.pane)?;
        let instance = self.live(pane);
        let live = instance.and_then(|instance| self.panes.of(instance));
        let left = self.panes.left(pane).filter(|_| live.is_none());
        let screen = live.and(instance).or(left.map(|(instance, _)| instance));
        let after = reading::after(ask.after.as_deref(), pane, screen)?;
        let ask = reading::Ask { lines: ask.lines, ansi: ask.ansi, after };
        let source = match (live, self.panes.kept.of(pane)) {
            (Some(handle), _) => reading::Source::live(handle, ask),
            (None, Some(tail)) => reading::Source::Kept(tail.clone()),
            (None, None) => reading::Source::Saved(self.saver.tail(pane)),
        };
        let end = left.map(|(_, lines)| lines);
        Ok(reading::Reading { pane, screen, source, ask, end })
    }

    pub(super) fn live(&self, pane: PaneId) -> Option<signaltty_core::id::InstanceId> {
        self.session.pane(pane).and_then(|view| view.state.instance())
    }

    pub(super) fn attach(&mut self, ask: &wire::PaneAttach) -> Result<Attachment, WireError> {
        let pane = resolve::pane(&self.session, &ask.pane)?;
        let view = self.session.pane(pane);
        let handle = self.live(pane).and_then(|instance| self.panes.of(instance));
        let Some(handle) = handle else {
            let state = view.map_or("gone", |view| view.state.as_str());
            return Err(not_live(pane, state));
        };
        let (messages, room) = (handle.messages.clone(), Arc::clone(&handle.room));
        // Only who drives a pane sizes it. Before the client is attached, so
        // that its first screen has that size.
        if !ask.read_only {
            let (cols, rows) = (ask.cols, ask.rows);
            self.client(pane, ClientFact::Size { cols, rows });
        }
        let record = self.session.pane(pane).map(|view| view.record);
        Ok(Attachment {
            pane,
            messages,
            room,
            read_only: ask.read_only,
            history: ask.history,
            clipboard: ask.clipboard,
            background: ask.background,
            reply: to_value(wire::Attaching {
                pane_id: pane.to_string(),
                cols: record.map(|record| record.size.cols),
                rows: record.map(|record| record.size.rows),
            }),
        })
    }

    pub(super) fn typing(&self, method: &str, params: Value) -> Result<reading::Typing, WireError> {
        let (pane, keys, text) = if method == "pane.send" {
            let ask: wire::PaneSend = parse(params)?;
            (ask.pane, Vec::new(), Some(ask.text))
        } else {
            let ask: wire::PaneKeys = parse(params)?;
            (ask.pane, ask.keys, None)
        };
        let pane = resolve::pane(&self.session, &pane)?;
        let view = self.session.pane(pane);
        let resuming = matches!(view.map(|view| view.state), Some(PaneState::Resuming(_)));
        let handle = self.live(pane).and_then(|instance| self.panes.of(instance));
        let Some(handle) = handle.filter(|_| !resuming) else {
            let state = view.map_or("gone", |view| view.state.as_str());
            return Err(not_live(pane, state));
        };
        let input = match text {
            Some(WireOs(text)) => {
                reading::Input::Bytes(Bytes::from(std::os::unix::ffi::OsStringExt::into_vec(text)))
            }
            None => {
                // Refused before anything is typed.
                for key in &keys {
                    wire::key_bytes(key, false)
                        .map_err(|error| WireError::new(code::BAD_PARAMS, error.to_string()))?;
                }
                reading::Input::Keys(keys)
            }
        };
        Ok(reading::Typing { pane, handle: handle.clone(), input })
    }
}

pub(crate) fn not_live(pane: PaneId, state: &str) -> WireError {
    let next = match state {
        "resumable" => format!("`signaltty resume {pane}` reopens its conversation"),
        "resuming" => "its conversation is being reopened; try again when it is live".to_owned(),
        _ => format!("`signaltty pane restart {pane}` runs its saved command again"),
    };
    let message = format!("pane {pane} is {state}: nothing that could be used runs in it; {next}");
    WireError::new(code::PANE_NOT_LIVE, message).with_details(json!({"state": state}))
}
