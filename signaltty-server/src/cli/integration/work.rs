//! What the three verbs do for each agent.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::Serialize;
use signaltty_adapters::{
    Adapters, AgentAdapter, AgentHost as _, HookFileError, HookState, ProcHost, Removed, UserHooks,
};

use super::file::{self, refused};
use super::{Context, Failure, IntegrationVerb};
use crate::cli::text::safe;

pub(super) fn run(context: &Context, verb: &IntegrationVerb) -> Result<(), Failure> {
    let place = Place::of(|name| std::env::var_os(name))?;
    let (IntegrationVerb::Install(args)
    | IntegrationVerb::Uninstall(args)
    | IntegrationVerb::Status(args)) = verb;
    let agents = choose(args.agent.as_deref(), &place, verb)?;
    let mut lines = Vec::new();
    let mut failed = None;
    for agent in &agents {
        match place.work(&**agent, verb) {
            Ok(line) => lines.push(line),
            // The others are independent of it, and it is told last.
            Err(failure) => failed = failed.or(Some(failure)),
        }
    }
    if !context.json {
        context.print(&lines.iter().map(Line::human).collect::<String>())?;
    } else if failed.is_none() {
        context.print_json(&Lines { integrations: lines })?;
    }
    failed.map_or(Ok(()), Err)
}

fn choose(
    named: Option<&str>,
    place: &Place,
    verb: &IntegrationVerb,
) -> Result<Vec<Arc<dyn AgentAdapter>>, Failure> {
    let all: Vec<_> = Adapters::builtin().iter().cloned().collect();
    let kind = |agent: &Arc<dyn AgentAdapter>| agent.spec().kind.to_string();
    if let Some(named) = named {
        let known: Vec<_> = all.iter().map(kind).collect();
        let unknown = || {
            let known = known.join(", ");
            Failure::Usage(format!("there is no agent {named:?}; known are {known}"))
        };
        let found = all.iter().find(|agent| kind(agent) == named);
        return found.cloned().map(|agent| vec![agent]).ok_or_else(unknown);
    }
    if !matches!(verb, IntegrationVerb::Install(_)) {
        return Ok(all);
    }
    let there = |agent: &Arc<dyn AgentAdapter>| {
        place.host.find_program(&agent.spec().program.to_string()).is_some()
    };
    let found: Vec<_> = all.into_iter().filter(there).collect();
    if found.is_empty() {
        let message = "no agent is on the search path; name one to install its hooks all the same";
        return Err(Failure::new("NO_AGENT", message));
    }
    Ok(found)
}

/// Whose files, and which program they are to run.
struct Place {
    home: PathBuf,
    host: ProcHost,
    program: String,
}

impl Place {
    fn of(var: impl Fn(&str) -> Option<OsString>) -> Result<Self, Failure> {
        let home = var("HOME").map(PathBuf::from).filter(|home| home.is_absolute());
        let home = home.ok_or_else(|| {
            Failure::Usage("HOME is not set, so there is no place for hooks; set it".to_owned())
        })?;
        let path = var("PATH").unwrap_or_default();
        let host = ProcHost { home: Some(home.clone()), path };
        let program = program(&host)?;
        Ok(Self { home, host, program })
    }

    fn work(&self, agent: &dyn AgentAdapter, verb: &IntegrationVerb) -> Result<Line, Failure> {
        let by_hand = agent.by_hand();
        let mut line = Line {
            agent: agent.spec().kind.to_string(),
            state: State::NothingToInstall,
            file: None,
            backup: None,
            detail: None,
            without: by_hand.without,
            adds: None,
            note: None,
            verb: None,
        };
        let Some(hooks) = by_hand.hooks else {
            if matches!(verb, IntegrationVerb::Uninstall(_)) {
                line.verb = Some("has no hooks of ours");
            }
            return Ok(line);
        };
        let path = hooks.file.path(|name| std::env::var_os(name), &self.home);
        line.file = Some(path.display().to_string());
        line.adds = Some(hooks.adds);
        line.note = hooks.note;
        match verb {
            IntegrationVerb::Status(_) => self.status(&hooks, &path, &mut line),
            IntegrationVerb::Install(_) => self.install(&hooks, &path, &mut line)?,
            IntegrationVerb::Uninstall(_) => self.uninstall(&hooks, &path, &mut line)?,
        }
        Ok(line)
    }

    /// What cannot be read is told as a state: the other agents are asked for
    /// as well.
    fn status(&self, hooks: &UserHooks, path: &Path, line: &mut Line) {
        let state = file::read(path).and_then(|found| {
            let text = found.as_ref().map(|found| found.text.as_str());
            hooks.state(text, &self.program).map_err(|error| no_document(path, &error))
        });
        (line.state, line.detail) = match state {
            Ok(HookState::Absent) => (State::Absent, None),
            Ok(HookState::Installed) => (State::Installed, None),
            Ok(HookState::Off(name)) => {
                let why = format!("`{name}` is true in it, so none of its hooks runs");
                (State::TurnedOff, Some(why))
            }
            Ok(HookState::Changed(why)) => (State::Changed, Some(why)),
            Err(failure) => (State::Unreadable, Some(failure.to_string())),
        };
    }

    fn install(&self, hooks: &UserHooks, path: &Path, line: &mut Line) -> Result<(), Failure> {
        let found = file::read(path)?;
        let text = found.as_ref().map(|found| found.text.as_str());
        let new = hooks.install(text, &self.program).map_err(|error| no_document(path, &error))?;
        line.verb = Some(if new.is_some() { "installed" } else { "was installed already" });
        match (&found, new) {
            (_, None) => {}
            (None, Some(new)) => file::create(path, &new)?,
            (Some(found), Some(new)) => {
                found.check()?;
                line.backup = Some(found.back_up()?.display().to_string());
                found.replace(&new)?;
            }
        }
        self.status(hooks, path, line);
        Ok(())
    }

    fn uninstall(&self, hooks: &UserHooks, path: &Path, line: &mut Line) -> Result<(), Failure> {
        line.state = State::Absent;
        line.verb = Some("was not installed");
        let Some(found) = file::read(path)? else {
            return Ok(());
        };
        let left = hooks.remove(&found.text).map_err(|error| no_document(path, &error))?;
        if left == Removed::Nothing {
            return Ok(());
        }
        found.check()?;
        line.verb = Some("removed");
        // A file that is as we made it goes back to what it was made from.
        let made = |from: Option<&str>| {
            hooks.install(from, &self.program).is_ok_and(|made| made.as_ref() == Some(&found.text))
        };
        let backup = file::backup_of(path);
        let before = file::read(&backup).ok().flatten();
        let before = before.filter(|before| {
            hooks.remove(&before.text) == Ok(Removed::Nothing) && made(Some(&before.text))
        });
        if let Some(before) = before {
            found.replace(&before.text)?;
            return before.remove();
        }
        let whole = made(None);
        if !whole {
            line.backup = Some(found.back_up()?.display().to_string());
        }
        match left {
            Removed::Text(text) if !whole || found.is_link() => found.replace(&text),
            _ if found.is_link() => {
                Err(refused(path, "is a link to a file of ours; remove both by hand"))
            }
            _ => found.remove(),
        }
    }
}

fn no_document(path: &Path, error: &HookFileError) -> Failure {
    refused(path, error.to_string())
}

/// The path of this program as a person would write it: not that of one version
/// where a link on the search path leads to it.
fn program(host: &ProcHost) -> Result<String, Failure> {
    let this = std::env::current_exe().map_err(|e| Failure::Io("find this program", e))?;
    let name = this.file_name().and_then(|name| name.to_str()).unwrap_or("signaltty");
    let linked = host.find_program(name).filter(|path| path.is_absolute());
    let linked = linked.filter(|path| std::fs::canonicalize(path).is_ok_and(|real| real == this));
    let program = linked.unwrap_or(this).into_os_string();
    program.into_string().map_err(|program| {
        let message = format!("{} is not UTF-8, as agents' files are", program.display());
        Failure::new("PROGRAM_PATH", format!("{message}; install signaltty elsewhere"))
    })
}

#[derive(Debug, Serialize)]
struct Lines {
    integrations: Vec<Line>,
}

/// One agent, as it is told.
#[derive(Debug, Serialize)]
struct Line {
    agent: String,
    state: State,
    file: Option<String>,
    /// Where the file as it was before is kept.
    backup: Option<String>,
    /// What is the matter.
    detail: Option<String>,
    /// What is covered without hooks.
    without: &'static str,
    /// What hooks add.
    adds: Option<&'static str>,
    note: Option<&'static str>,
    /// What was done.
    #[serde(rename = "done")]
    verb: Option<&'static str>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum State {
    Installed,
    #[serde(rename = "not_installed")]
    Absent,
    Changed,
    TurnedOff,
    Unreadable,
    NothingToInstall,
}

impl Line {
    fn human(&self) -> String {
        let state = match self.state {
            State::Installed => "installed",
            State::Absent => "not installed",
            State::Changed => "changed",
            State::TurnedOff => "turned off",
            State::Unreadable => "unreadable",
            State::NothingToInstall => "nothing to install",
        };
        let file = self.file.as_ref().map(|file| format!("  {}", safe(file)));
        let first = self.verb.unwrap_or(state);
        let mut text = format!("{:9} {first}{}\n", self.agent, file.unwrap_or_default());
        let mut add = |name: &str, value: Option<&str>| {
            if let Some(value) = value {
                text.push_str(&format!("          {name}: {}\n", safe(value)));
            }
        };
        let differs = self.state == State::Changed;
        add("changed", self.detail.as_deref().filter(|_| differs));
        add("to renew", differs.then_some("`integration uninstall`, then `integration install`"));
        add("problem", self.detail.as_deref().filter(|_| !differs));
        add("backup", self.backup.as_deref());
        if self.verb.is_none() {
            add("without hooks", Some(self.without));
            add("hooks add", self.adds);
        }
        add("note", self.note.filter(|_| self.state != State::Absent || self.verb.is_none()));
        text
    }
}
