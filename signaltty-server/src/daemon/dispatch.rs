//! From a request to a command, or to an answer at once.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use signaltty_core::env::{ConfigEnv, SavedEnv};
use signaltty_core::id::{PaneId, TabId, WorkspaceId};
use signaltty_core::pane::PaneSignal;
use signaltty_core::session::{
    Answer as Decision, Command, CommandError, Input, PaneSpec, QuestionIdError, SwitchChange,
};
use signaltty_persist::redact::without_keys;
use tokio::sync::oneshot;

use super::effects::to_value;
use super::environment::{Env, login_shell, own};
use super::event::{Answer, Peer};
use super::event_loop::{Daemon, Waiting};
use super::left_out::{self, Saved};
use super::{arrange, random, resolve, subscribe, told, tree};
use crate::protocol::{self as wire, PaneSpawn, Request, WireError, WireOs, code};
use crate::service::logout;

type Respond = oneshot::Sender<Answer>;

impl Daemon {
    pub(crate) fn request(&mut self, peer: Peer, request: Request, respond: Respond) {
        let Request { method, params, .. } = request;
        if method == "server.ping" {
            // Whoever asks has something else to ask next.
            let gone = || WireError::new(code::STOPPING, CommandError::Stopping.to_string());
            let stopping = self.session.is_stopping();
            return answer(respond, if stopping { Err(gone()) } else { Ok(json!({})) });
        }
        if let Err(error) = self.allow(peer, &method, &params) {
            return answer(respond, Err(error));
        }
        match method.as_str() {
            "server.status" => {
                let (mut status, place) = (self.status(), self.state_place.clone());
                let saved = status.saved && status.counts.panes > 0;
                tokio::spawn(async move {
                    // Looks at files, which the loop must not wait for.
                    let look = move || (logout::outlook(), place.trouble(saved));
                    if let Ok((logout, trouble)) = tokio::task::spawn_blocking(look).await {
                        status.logout = Some(logout);
                        status.persist = trouble.unwrap_or(status.persist);
                    }
                    answer(respond, Ok(to_value(status)));
                });
            }
            "session.list" | "workspace.list" => {
                answer(respond, Ok(to_value(tree::tree(&self.session, &self.notes))));
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
            "pane.wait" => self.wait(params, respond),
            "pane.next" => answer(respond, Ok(to_value(told::next(&self.session)))),
            "notification.list" => {
                answer(respond, told::list(&self.session, params).map(to_value));
            }
            "agent.hook" => {
                let result = parse(params).and_then(|hook| self.hook(peer, &hook));
                answer(respond, result.map(to_value));
            }
            "agent.report_session" => {
                match parse(params).and_then(|ask| self.session_report(peer, ask)) {
                    Ok(command) => {
                        let request = self.new_request();
                        let waiting = Waiting { respond, env: None, remarks: None };
                        self.waiting.insert(request, waiting);
                        self.input(Input::Command { request, command });
                    }
                    Err(error) => answer(respond, Err(error)),
                }
            }
            "agent.ask" => match parse(params).and_then(|hook| self.question(peer, &hook)) {
                Ok((instance, question)) => self.ask(instance, question, respond),
                Err(error) => answer(respond, Err(error)),
            },
            "restore.plan" => answer(respond, Ok(to_value(self.plan()))),
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
            "worktree.list" | "worktree.create" | "worktree.open" | "worktree.remove" => {
                self.worktree(peer, &method, params, respond);
            }
            "pane.attach" => match parse(params).and_then(|ask| self.attach(&ask)) {
                Ok(attachment) => {
                    let _ = respond.send(Answer::Attached(attachment));
                }
                Err(error) => answer(respond, Err(error)),
            },
            _ => {
                let asked = (method == "workspace.set").then(|| params.clone());
                match self.command(&method, params) {
                    Ok((command, env)) => {
                        let request = self.new_request();
                        let remarks =
                            asked.map(|asked| tree::switch_remarks(&self.session, &asked));
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
            "workspace.new" => self.new_workspace(parse(params)?),
            "tab.new" => self.new_tab(parse(params)?),
            "pane.spawn" => {
                let ask: wire::PaneSpawnBy = parse(params)?;
                let pane = resolve::pane(session, &ask.pane)?;
                let record = session.pane(pane).map(|view| view.record);
                let tab = record.and_then(|record| session.tab(record.tab));
                let (Some(record), Some(tab)) = (record, tab) else {
                    // Just found, so it is there.
                    return Err(WireError::new(code::NO_SUCH_PANE, format!("{pane} is gone")));
                };
                let (spec, env) = self.spec(ask.spawn, Some(record.cwd.clone()))?;
                let command = Command::NewTab {
                    workspace: tab.record.workspace,
                    tab: TabId::from_random(random::id()),
                    title: None,
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
            "pane.answer" => {
                let ask: wire::PaneAnswer = parse(params)?;
                let pane = resolve::pane(session, &ask.pane)?;
                let answer = match ask.answer {
                    wire::Answer::Allow => Decision::Allow,
                    wire::Answer::Deny => Decision::Deny,
                };
                let question = ask.decision_id.parse().map_err(|error: QuestionIdError| {
                    WireError::new(code::BAD_PARAMS, format!("`decision_id`: {error}"))
                })?;
                plain(Command::Decide { pane, question, answer })
            }
            "pane.close" => plain(Command::ClosePane(self.pane(params)?)),
            "pane.terminate" => plain(Command::Terminate(self.pane(params)?)),
            "pane.signal" => {
                let ask: wire::PaneSignal = parse(params)?;
                let signal = signal(&ask.signal)?;
                plain(Command::Signal { pane: resolve::pane(session, &ask.pane)?, signal })
            }
            "notification.new" => plain(told::notify(session, params)?),
            "notification.read" => plain(told::read(session, params)?),
            "pane.restart" => {
                let ask: wire::PaneAgain = parse(params)?;
                let pane = resolve::pane(session, &ask.pane)?;
                left_out::check(session, pane, Saved::Command)?;
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
                left_out::check(session, pane, Saved::Reported)?;
                let cwd = ask.cwd.map(|cwd| absolute("cwd", cwd)).transpose()?;
                let command =
                    Command::Resume { pane, anyway: ask.anyway, previous: ask.previous, cwd };
                Ok((command, environment(ask.env)?))
            }
            "pane.continue" => {
                let ask: wire::PaneAgain = parse(params)?;
                let pane = resolve::pane(session, &ask.pane)?;
                Ok((Command::Continue(pane), environment(ask.env)?))
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
                if ask.name.trim().is_empty() {
                    let message = "`name` is empty; a workspace has a name";
                    return Err(WireError::new(code::BAD_PARAMS, message));
                }
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
            "session.forget" => {
                let ask: wire::SessionForget = parse(params)?;
                plain(Command::Forget(resolve::forget(session, &ask.target)?))
            }
            "server.shutdown" => {
                let ask: wire::Shutdown = parse(params)?;
                plain(Command::Shutdown { force: ask.force, continue_turns: ask.continue_turns })
            }
            "pane.move" | "pane.swap" | "pane.weight" | "pane.focus" | "pane.seen" | "tab.area"
            | "tab.layout" | "tab.equalise" | "tab.move" | "workspace.move" => {
                plain(arrange::command(session, method, params)?)
            }
            other => Err(super::methods::unknown_method(other)),
        }
    }

    fn new_workspace(&self, ask: wire::WorkspaceNew) -> Result<(Command, Option<Env>), WireError> {
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

    fn new_tab(&self, ask: wire::TabNew) -> Result<(Command, Option<Env>), WireError> {
        let workspace = resolve::workspace(&self.session, &ask.workspace)?;
        let cwd = self.session.workspaces().find(|w| w.record.id == workspace);
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
        let env = environment(spawn.env)?;
        let base = env.as_ref().unwrap_or(&self.server_env);
        let cwd = match (spawn.cwd, default_cwd) {
            (Some(cwd), _) => absolute("cwd", cwd)?,
            (None, Some(cwd)) => cwd,
            (None, None) => home(base)?,
        };
        let mut argv: Vec<OsString> = spawn.argv.into_iter().map(|word| word.0).collect();
        if argv.is_empty() {
            argv = login_shell(base);
        }
        let adapter = self.adapters.recognise(&argv);
        let options = adapter.map(|adapter| adapter.spec().launch_options(&argv));
        // Started there at once, it is where the conversation is looked for.
        let named = adapter.and_then(|a| a.spec().settle_directory(&mut argv, &cwd));
        let cwd = named.unwrap_or(cwd);
        let spec = PaneSpec {
            agent: adapter.map(|adapter| adapter.spec().kind.clone()),
            options: without_keys(&options.unwrap_or_default()),
            config_env: self.config_env(&argv, base, &cwd),
            env: SavedEnv::filter(own(base, &self.adapters)),
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
}

fn answer(respond: Respond, result: Result<Value, WireError>) {
    // A client that went away misses its answer.
    let _ = respond.send(Answer::Value(result));
}

pub(crate) fn parse<T: DeserializeOwned>(params: Value) -> Result<T, WireError> {
    let params = if params.is_null() { json!({}) } else { params };
    if !params.is_object() {
        // A list would be taken for the members in their order.
        return Err(WireError::new(code::BAD_PARAMS, "`params` must be an object with names"));
    }
    serde_json::from_value(params)
        .map_err(|error| WireError::new(code::BAD_PARAMS, format!("`params`: {error}")))
}

/// A signal by its name.
fn signal(text: &str) -> Result<PaneSignal, WireError> {
    let upper = text.to_ascii_uppercase();
    let name = upper.strip_prefix("SIG").unwrap_or(&upper);
    PaneSignal::parse(name).ok_or_else(|| {
        let shown: String = text.chars().take(60).collect();
        let names: Vec<_> = PaneSignal::ALL.iter().map(|signal| signal.as_str()).collect();
        let message = format!("there is no signal {shown:?}; there are {}", names.join(", "));
        WireError::new(code::BAD_PARAMS, message)
    })
}

/// The directory of a client that knows none, as one of another machine.
pub(crate) fn home(env: &Env) -> Result<PathBuf, WireError> {
    let home = env.get(OsStr::new("HOME")).map(PathBuf::from).filter(|home| home.is_absolute());
    home.ok_or_else(|| {
        let message = "`cwd` is missing; say in which directory to start";
        WireError::new(code::BAD_PARAMS, message)
    })
}

/// The parameter of that name, which must be an absolute path.
pub(crate) fn absolute(name: &str, path: WireOs) -> Result<PathBuf, WireError> {
    let path = path.into_path();
    if path.is_absolute() {
        return Ok(path);
    }
    let shown = path.display().to_string();
    let message = format!("`{name}` must be an absolute path, not {shown:?}");
    Err(WireError::new(code::BAD_PARAMS, message))
}

/// The environment that a client sent; `None` if it sent none.
pub(crate) fn environment(
    env: std::collections::BTreeMap<String, WireOs>,
) -> Result<Option<Env>, WireError> {
    if let Some(name) = env.keys().find(|name| name.is_empty() || name.contains(['=', '\0'])) {
        let message = format!("`env` has a malformed name: {name:?}");
        return Err(WireError::new(code::BAD_PARAMS, message));
    }
    let env: Env = env.into_iter().map(|(name, value)| (name.into(), value.0)).collect();
    Ok((!env.is_empty()).then_some(env))
}
