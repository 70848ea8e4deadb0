//! From a request to a command, or to an answer at once.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bytes::Bytes;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use signaltty_adapters::{AgentHost, HookReport};
use signaltty_core::agent::AgentKind;
use signaltty_core::env::{ConfigEnv, SavedEnv};
use signaltty_core::id::{PaneId, TabId, WorkspaceId};
use signaltty_core::restore::PaneState;
use signaltty_core::session::{Command, Input, PaneSpec, SwitchChange};
use tokio::sync::oneshot;

use super::attach::Attachment;
use super::clock::rfc3339;
use super::effects::to_value;
use super::environment::{Env, login_shell};
use super::event::{Answer, ClientFact, Peer};
use super::event_loop::{Daemon, Waiting};
use super::{arrange, random, reading, resolve, subscribe, tree};
use crate::protocol::{
    self as wire, AgentHook, Health, HookAnswer, PaneInfo, PaneSpawn, Request, Status, VERSION,
    WireError, WireOs, code,
};
use crate::service::logout;

type Respond = oneshot::Sender<Answer>;

/// Every method, for the error that names the nearest.
const METHODS: [&str; 32] = [
    "agent.hook",
    "events.subscribe",
    "pane.attach",
    "pane.close",
    "pane.focus",
    "pane.info",
    "pane.keys",
    "pane.move",
    "pane.read",
    "pane.rename",
    "pane.restart",
    "pane.resume",
    "pane.send",
    "pane.split",
    "pane.swap",
    "pane.terminate",
    "pane.weight",
    "server.shutdown",
    "server.status",
    "session.list",
    "tab.close",
    "tab.equalise",
    "tab.layout",
    "tab.move",
    "tab.new",
    "tab.rename",
    "workspace.close",
    "workspace.move",
    "workspace.new",
    "workspace.rename",
    "workspace.set",
    "workspace.list",
];

impl Daemon {
    pub(crate) fn request(&mut self, peer: Peer, request: Request, respond: Respond) {
        let Request { method, params, .. } = request;
        match method.as_str() {
            "server.status" => {
                let mut status = self.status();
                tokio::spawn(async move {
                    // Looks at files, which the loop must not wait for.
                    status.logout = tokio::task::spawn_blocking(logout::outlook).await.ok();
                    answer(respond, Ok(to_value(status)));
                });
            }
            "session.list" | "workspace.list" => {
                answer(respond, Ok(to_value(tree::tree(&self.session, &self.integration))));
            }
            "events.subscribe" => match parse::<wire::EventsSubscribe>(params) {
                Ok(ask) => {
                    let subscription = self.publisher.subscribe(ask.from.is_some());
                    let epoch = self.publisher.epoch();
                    tokio::spawn(async move {
                        let _ =
                            respond.send(match subscribe::answer(ask, epoch, subscription).await {
                                Ok(stream) => Answer::Subscribed(stream),
                                Err(error) => Answer::Value(Err(error)),
                            });
                    });
                }
                Err(error) => answer(respond, Err(error)),
            },
            "agent.hook" => {
                let result = parse(params).and_then(|hook| self.hook(peer, &hook));
                answer(respond, result.map(to_value));
            }
            "pane.info" => {
                let result = parse(params).and_then(|ask: wire::PaneRef| self.info(&ask.pane));
                answer(respond, result.map(to_value));
            }
            "tab.layout" if params.get("layout").is_none_or(Value::is_null) => {
                let result = parse(params).and_then(|ask| arrange::layout(&self.session, &ask));
                answer(respond, result.map(to_value));
            }
            "pane.read" => match parse(params).and_then(|ask| self.read(&ask)) {
                Ok(reading) => {
                    tokio::spawn(async move { answer(respond, reading.text().await) });
                }
                Err(error) => answer(respond, Err(error)),
            },
            "pane.send" | "pane.keys" => match self.typing(&method, params) {
                Ok(typing) => {
                    tokio::spawn(async move { answer(respond, typing.finish().await) });
                }
                Err(error) => answer(respond, Err(error)),
            },
            "pane.attach" => match parse(params).and_then(|ask| self.attach(&ask)) {
                Ok(attachment) => {
                    let _ = respond.send(Answer::Attached(attachment));
                }
                Err(error) => answer(respond, Err(error)),
            },
            _ => {
                let remarks = (method == "workspace.set").then(|| tree::idle_switches(&params));
                match self.command(&method, params) {
                    Ok((command, env)) => {
                        let request = self.new_request();
                        self.waiting.insert(request, Waiting { respond, env, remarks });
                        self.input(Input::Command { request, command });
                    }
                    Err(error) => answer(respond, Err(error)),
                }
            }
        }
    }

    /// Methods that change something.
    fn command(&self, method: &str, params: Value) -> Result<(Command, Option<Env>), WireError> {
        let session = &self.session;
        let plain = |command| Ok((command, None));
        match method {
            "workspace.new" => {
                let ask: wire::WorkspaceNew = parse(params)?;
                let (spec, env) = self.spec(ask.spawn, None)?;
                let command = Command::NewWorkspace {
                    workspace: WorkspaceId::from_random(random::id()),
                    name: ask.name.map(Into::into),
                    cwd: spec.cwd.clone(),
                    tab: TabId::from_random(random::id()),
                    pane: PaneId::from_random(random::id()),
                    spec,
                };
                Ok((command, env))
            }
            "tab.new" => {
                let ask: wire::TabNew = parse(params)?;
                let workspace = resolve::workspace(session, &ask.workspace)?;
                let cwd = session.workspaces().find(|w| w.record.id == workspace);
                let cwd = cwd.map(|workspace| workspace.record.cwd.clone());
                let (spec, env) = self.spec(ask.spawn, cwd)?;
                let command = Command::NewTab {
                    workspace,
                    tab: TabId::from_random(random::id()),
                    title: ask.title.map(Into::into),
                    pane: PaneId::from_random(random::id()),
                    spec,
                };
                Ok((command, env))
            }
            "pane.split" => {
                let ask: wire::PaneSplit = parse(params)?;
                let pane = resolve::pane(session, &ask.pane)?;
                let cwd = session.pane(pane).map(|view| view.record.cwd.clone());
                let (spec, env) = self.spec(ask.spawn, cwd)?;
                let direction = arrange::direction(ask.direction);
                let new = PaneId::from_random(random::id());
                Ok((Command::Split { pane, direction, new, spec }, env))
            }
            "pane.close" => plain(Command::ClosePane(self.pane(params)?)),
            "pane.terminate" => plain(Command::Terminate(self.pane(params)?)),
            "pane.restart" => {
                let ask: wire::PaneResume = parse(params)?;
                let pane = resolve::pane(session, &ask.pane)?;
                let env = environment(ask.env)?;
                let config_env = session.pane(pane).map(|view| {
                    let base = env.as_ref().unwrap_or(&self.server_env);
                    self.config_env(&view.record.argv, base, &view.record.cwd)
                });
                let config_env = config_env.unwrap_or_default();
                Ok((Command::Restart { pane, config_env }, env))
            }
            "pane.rename" => {
                let ask: wire::PaneRename = parse(params)?;
                let pane = resolve::pane(session, &ask.pane)?;
                plain(Command::RenamePane { pane, title: ask.title.into() })
            }
            "pane.resume" => {
                let ask: wire::PaneResume = parse(params)?;
                let pane = resolve::pane(session, &ask.pane)?;
                let cwd = ask.cwd.map(absolute).transpose()?;
                let command = Command::Resume { pane, anyway: ask.anyway, cwd };
                Ok((command, environment(ask.env)?))
            }
            "tab.close" => {
                let ask: wire::TabRef = parse(params)?;
                plain(Command::CloseTab(resolve::tab(session, &ask.tab)?))
            }
            "tab.rename" => {
                let ask: wire::TabRename = parse(params)?;
                let tab = resolve::tab(session, &ask.tab)?;
                plain(Command::RenameTab { tab, title: ask.title.into() })
            }
            "workspace.close" => {
                let ask: wire::WorkspaceRef = parse(params)?;
                let workspace = resolve::workspace(session, &ask.workspace)?;
                plain(Command::CloseWorkspace(workspace))
            }
            "workspace.rename" => {
                let ask: wire::WorkspaceRename = parse(params)?;
                let workspace = resolve::workspace(session, &ask.workspace)?;
                plain(Command::RenameWorkspace { workspace, name: ask.name.into() })
            }
            "workspace.set" => {
                let ask: wire::WorkspaceSet = parse(params)?;
                let workspace = resolve::workspace(session, &ask.workspace)?;
                let change = SwitchChange {
                    auto_resume: ask.auto_resume,
                    auto_continue: ask.auto_continue,
                    history: ask.history,
                    archived: ask.archived,
                };
                plain(Command::SetSwitches { workspace, change })
            }
            "server.shutdown" => {
                let ask: wire::Shutdown = parse(params)?;
                plain(Command::Shutdown { force: ask.force })
            }
            "pane.move" | "pane.swap" | "pane.weight" | "pane.focus" | "tab.layout"
            | "tab.equalise" | "tab.move" | "workspace.move" => {
                plain(arrange::command(session, method, params)?)
            }
            other => Err(unknown_method(other)),
        }
    }

    fn pane(&self, params: Value) -> Result<PaneId, WireError> {
        let ask: wire::PaneRef = parse(params)?;
        resolve::pane(&self.session, &ask.pane)
    }

    /// What a client wants to run, made complete.
    fn spec(
        &self,
        spawn: PaneSpawn,
        default_cwd: Option<PathBuf>,
    ) -> Result<(PaneSpec, Option<Env>), WireError> {
        let cwd = match (spawn.cwd, default_cwd) {
            (Some(cwd), _) => absolute(cwd)?,
            (None, Some(cwd)) => cwd,
            (None, None) => {
                let message = "`cwd` is missing; say in which directory to start";
                return Err(WireError::new(code::BAD_PARAMS, message));
            }
        };
        let env = environment(spawn.env)?;
        let base = env.as_ref().unwrap_or(&self.server_env);
        let mut argv: Vec<OsString> = spawn.argv.into_iter().map(|word| word.0).collect();
        if argv.is_empty() {
            argv = login_shell(base);
        }
        let adapter = self.adapters.recognise(&argv);
        let spec = PaneSpec {
            agent: adapter.map(|adapter| adapter.spec().kind.clone()),
            config_env: self.config_env(&argv, base, &cwd),
            env: SavedEnv::filter(base),
            argv,
            cwd,
        };
        Ok((spec, env))
    }

    /// The identity variables of the agent that a command starts.
    fn config_env(&self, argv: &[OsString], env: &Env, cwd: &Path) -> ConfigEnv {
        let adapter = self.adapters.recognise(argv);
        let names = adapter.map_or(&[][..], |adapter| adapter.spec().identity_vars);
        ConfigEnv::filter(env, names, cwd)
    }

    fn status(&self) -> Status {
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
            logout: None,
            last_save_at: self.last_save_at.map(rfc3339),
            saved: self.session.is_saved(),
            load: self.load.clone(),
            problems: self.problems.clone(),
        }
    }

    fn logind_health(&self) -> Health {
        let status = self.logind.borrow();
        Health { state: status.as_str().to_owned(), detail: status.detail() }
    }

    fn info(&self, text: &str) -> Result<PaneInfo, WireError> {
        let id = resolve::pane(&self.session, text)?;
        let gone = || WireError::new("NO_SUCH_PANE", format!("there is no pane {id}"));
        let view = self.session.pane(id).ok_or_else(gone)?;
        let tab = self.session.tab(view.record.tab).ok_or_else(gone)?;
        let instance = view.state.instance();
        Ok(PaneInfo {
            pane: tree::pane(&view, &self.integration),
            workspace_id: tab.record.workspace.to_string(),
            tab_id: tab.record.id.to_string(),
            instance: instance.map(|instance| instance.to_string()),
            pid: instance.and_then(|i| self.panes.of(i)).map(|handle| handle.child.pid()),
        })
    }

    fn read(&self, ask: &wire::PaneRead) -> Result<reading::Reading, WireError> {
        let pane = resolve::pane(&self.session, &ask.pane)?;
        let live = self.live(pane).and_then(|instance| self.panes.of(instance));
        let source = match (live, self.panes.kept.of(pane)) {
            (Some(handle), _) => reading::Source::live(handle, ask),
            (None, Some(tail)) => reading::Source::Kept(tail.clone()),
            (None, None) => reading::Source::Saved(self.saver.tail(pane)),
        };
        Ok(reading::Reading { pane, source, lines: ask.lines, ansi: ask.ansi })
    }

    pub(super) fn live(&self, pane: PaneId) -> Option<signaltty_core::id::InstanceId> {
        self.session.pane(pane).and_then(|view| view.state.instance())
    }

    fn attach(&mut self, ask: &wire::PaneAttach) -> Result<Attachment, WireError> {
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
            reply: json!({
                "pane_id": pane.to_string(),
                "cols": record.map(|record| record.size.cols),
                "rows": record.map(|record| record.size.rows),
            }),
        })
    }

    fn typing(&self, method: &str, params: Value) -> Result<reading::Typing, WireError> {
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

    fn hook(&mut self, peer: Peer, hook: &AgentHook) -> Result<HookAnswer, WireError> {
        let kind: AgentKind = hook
            .agent
            .parse()
            .map_err(|error| WireError::new(code::BAD_PARAMS, format!("{error}")))?;
        let dropped = |reason: String| {
            tracing::debug!("a report of {kind} was dropped: {reason}");
            Ok(HookAnswer { accepted: false, reason: Some(reason) })
        };
        let host = Arc::clone(&self.host);
        let around: (&dyn AgentHost, _) = (&*host, &self.adapters);
        let (peer, secret, agent) = (peer.pid, &hook.launch, hook.agent_pid);
        let found = self.launches.attribute(around, peer, &kind, secret, agent);
        let view = match found {
            Ok(launch) => launch.view.clone(),
            Err(reason) => return dropped(reason.to_string()),
        };
        let Some(adapter) = self.adapters.of(&kind) else {
            return dropped(format!("this server has no adapter for {kind}"));
        };
        let payload = hook.payload.as_bytes();
        match adapter.read_report(view.instance, &HookReport { payload, view: &view }) {
            Ok(report) => {
                self.input(Input::Report { instance: view.instance, report });
                Ok(HookAnswer { accepted: true, reason: None })
            }
            Err(error) => dropped(error.to_string()),
        }
    }
}

pub(crate) fn not_live(pane: PaneId, state: &str) -> WireError {
    let next = match state {
        "resumable" => format!("`signaltty resume {pane}` reopens its conversation"),
        "resuming" => "its conversation is being reopened; try again when it is live".to_owned(),
        _ => format!("`signaltty pane restart {pane}` runs its saved command again"),
    };
    let message = format!("pane {pane} is {state}: nothing that could be used runs in it; {next}");
    WireError::new("PANE_NOT_LIVE", message).with_details(json!({"state": state}))
}

fn answer(respond: Respond, result: Result<Value, WireError>) {
    // A client that went away misses its answer.
    let _ = respond.send(Answer::Value(result));
}

pub(crate) fn parse<T: DeserializeOwned>(params: Value) -> Result<T, WireError> {
    let params = if params.is_null() { json!({}) } else { params };
    serde_json::from_value(params)
        .map_err(|error| WireError::new(code::BAD_PARAMS, format!("`params`: {error}")))
}

fn absolute(cwd: WireOs) -> Result<PathBuf, WireError> {
    let cwd = cwd.into_path();
    if cwd.is_absolute() {
        return Ok(cwd);
    }
    let message = format!("`cwd` must be an absolute path, not {:?}", cwd.display().to_string());
    Err(WireError::new(code::BAD_PARAMS, message))
}

/// The environment that a client sent; `None` if it sent none.
fn environment(env: std::collections::BTreeMap<String, WireOs>) -> Result<Option<Env>, WireError> {
    if let Some(name) = env.keys().find(|name| name.is_empty() || name.contains(['=', '\0'])) {
        let message = format!("`env` has a malformed name: {name:?}");
        return Err(WireError::new(code::BAD_PARAMS, message));
    }
    let env: Env = env.into_iter().map(|(name, value)| (name.into(), value.0)).collect();
    Ok((!env.is_empty()).then_some(env))
}

fn unknown_method(method: &str) -> WireError {
    let shown: String = method.chars().take(60).collect();
    let verb = shown.rsplit('.').next().unwrap_or_default();
    let group = shown.split('.').next().unwrap_or_default();
    let named = |fits: &dyn Fn(&str) -> bool| -> Vec<_> {
        METHODS.iter().filter(|known| fits(known)).copied().collect()
    };
    let mut near =
        named(&|known| known.rsplit('.').next() == Some(verb) || known.starts_with(&*shown));
    if near.is_empty() {
        near = named(&|known| known.split('.').next() == Some(group));
    }
    let hint = if near.is_empty() {
        "`signaltty --help` lists what there is".to_owned()
    } else {
        format!("did you mean {}?", near.join(", "))
    };
    WireError::new(code::UNKNOWN_METHOD, format!("there is no method {shown:?}; {hint}"))
}
