//! An adapter for Gemini CLI, which signaltty does not ship, as
//! `docs/writing-an-adapter.md` builds it step by step. It needs this crate and
//! the core alone, and its tests run the conformance suite.
//!
//! Nothing that Gemini CLI 0.61.0 shows of itself is read here as a proof of
//! the conversation that it has open, so its conversations are resumed by hand
//! and never called verified. The form of its files is taken from its program;
//! it was not run against a model.
//!
//! `cargo run -p signaltty-adapters --example gemini_adapter` runs the suite.

use std::error::Error;
use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::{Value, json};
use signaltty_adapters::anchor::{Line, Scan};
use signaltty_adapters::conformance::{Failure, Stage, check};
use signaltty_adapters::records::read_small;
use signaltty_adapters::{
    AdapterError, AgentAdapter, AgentHost, AgentSpec, HookReport, IdForm, InstanceView,
    Integration, Launch, LaunchContext, LaunchFacts, OfficialCommand, PreparedLaunch, preflight,
};
use signaltty_core::agent::{
    AgentPolicy, AgentReport, AgentSessionId, Anchor, Conversation, Fingerprint, RecordRead,
    Witness, WitnessSource,
};
use signaltty_core::env::ConfigEnv;
use signaltty_core::id::InstanceId;
use signaltty_core::restore::{FailureCode, Refusal};

/// Moves everything that Gemini CLI keeps.
const HOME_VAR: &str = "GEMINI_CLI_HOME";

/// The adapter.
struct Gemini {
    spec: AgentSpec,
}

impl Gemini {
    /// Step 1: the agent as data.
    fn new() -> Result<Self, Box<dyn Error>> {
        let policy = AgentPolicy::unprovable(Duration::from_secs(10));
        let mut spec = AgentSpec::new("gemini".parse()?, "gemini", IdForm::Uuid, policy);
        spec.identity_vars = &[HOME_VAR];
        Ok(Self { spec })
    }

    /// Step 2: where the record is. Gemini opens a conversation from its own
    /// project only, so another directory has no such conversation.
    fn record(&self, of: &Conversation, host: &dyn AgentHost) -> Result<PathBuf, Refusal> {
        // The id becomes part of a path.
        preflight::id_has_form(&self.spec, &of.id)?;
        let home = of.config_env.var(HOME_VAR).map(PathBuf::from).or_else(|| host.home());
        let unknown = || Refusal::new(FailureCode::Unreadable, "there is no home directory");
        let gemini = home.ok_or_else(unknown)?.join(".gemini");
        let chats =
            project(&gemini, &of.cwd).map(|name| gemini.join("tmp").join(name).join("chats"));
        let short: String = of.id.as_str().chars().take(8).collect();
        let end = format!("-{short}.jsonl");
        let files = chats.and_then(|chats| fs::read_dir(chats).ok()).into_iter().flatten();
        let named = files.flatten().map(|file| file.path()).filter(|path| {
            path.file_name().is_some_and(|name| name.to_string_lossy().ends_with(&end))
        });
        // The name has eight characters of the id; the first line has all.
        let mut ours = named.filter(|path| names(path, of.id.as_str()));
        match (ours.next(), ours.next()) {
            (Some(path), None) => Ok(path),
            (None, _) => Err(Refusal::new(
                FailureCode::Gone,
                format!(
                    "gemini has no conversation {} for {}; start a new one in this pane",
                    of.id,
                    of.cwd.display()
                ),
            )),
            (Some(_), Some(_)) => Err(Refusal::new(
                FailureCode::Unreadable,
                format!("two files claim to be the conversation {}; move one away", of.id),
            )),
        }
    }

    fn read(&self, of: &Conversation, host: &dyn AgentHost) -> Result<Scan, Refusal> {
        let record = self.record(of, host)?;
        Scan::read(&record, of.anchor.as_ref(), line).map_err(|error| error.refusal())
    }
}

/// The name under which Gemini keeps what belongs to a directory.
fn project(gemini: &Path, cwd: &Path) -> Option<String> {
    let text = read_small(&gemini.join("projects.json"), 1 << 20).ok()?;
    let known: Value = serde_json::from_slice(&text).ok()?;
    let name = known.get("projects")?.get(cwd.to_str()?)?.as_str()?;
    // It becomes part of a path.
    let plain = !name.is_empty() && !name.starts_with('.') && !name.contains('/');
    plain.then(|| name.to_owned())
}

/// Whether the first line of a record is that of this conversation.
fn names(record: &Path, id: &str) -> bool {
    let Ok(file) = fs::File::open(record) else {
        return false;
    };
    let mut first = Vec::new();
    let read = BufReader::new(file).take(1 << 16).read_until(b'\n', &mut first);
    let first: Option<Value> = read.ok().and_then(|_| serde_json::from_slice(&first).ok());
    first.is_some_and(|first| first.get("sessionId").and_then(Value::as_str) == Some(id))
}

/// Step 3: what a line of the record is.
fn line(bytes: &[u8]) -> Line {
    let Ok(line) = serde_json::from_slice::<Value>(bytes) else {
        return Line::Broken;
    };
    let text = |name: &str| line.get(name).and_then(Value::as_str);
    match (text("id"), text("type")) {
        (Some(id), Some(kind)) => {
            Line::Message { id: id.to_owned(), parent: None, by_person: kind == "user" }
        }
        _ => Line::Other,
    }
}

#[async_trait::async_trait]
impl AgentAdapter for Gemini {
    fn spec(&self) -> &AgentSpec {
        &self.spec
    }

    /// Step 4: the command. A number would be an index and `latest` the newest
    /// conversation, so only an id of the exact form gets here.
    fn resume_command(&self, of: &Conversation) -> Result<OfficialCommand, AdapterError> {
        let id = self.parse_id(of.id.as_str())?;
        Ok(OfficialCommand::new("gemini", &["--resume"], &id))
    }

    fn read_report(&self, _: InstanceId, _: &HookReport<'_>) -> Result<AgentReport, AdapterError> {
        Err(AdapterError::Report("no hook of gemini is read".to_owned()))
    }

    /// Step 5: the checks before a start.
    async fn preflight(
        &self,
        of: &Conversation,
        host: &dyn AgentHost,
    ) -> Result<Fingerprint, Refusal> {
        let anchor = preflight::before_the_record(&self.spec, of, host)?;
        let found = self.read(of, host)?.compare(anchor)?;
        preflight::cwd_is_there(&of.cwd)?;
        Ok(found)
    }

    async fn anchor(&self, of: &Conversation, host: &dyn AgentHost) -> Result<Anchor, Refusal> {
        self.read(of, host)?.anchor_anew(of.anchor.as_ref())
    }

    /// Step 6: which conversation a new pane holds. Gemini takes an id at its
    /// start, so it is given one. That is no evidence of a resume: it is what we
    /// asked for.
    fn prepare_launch(
        &self,
        mut launch: Launch,
        context: &LaunchContext<'_>,
    ) -> Result<PreparedLaunch, AdapterError> {
        // With anything behind its name the command may be a subcommand, or
        // name a conversation itself.
        if launch.argv.len() != 1 {
            return Ok(PreparedLaunch::unchanged(launch));
        }
        let id = made_from(context.secret);
        launch.argv.extend(["--session-id".into(), id.clone().into()]);
        Ok(PreparedLaunch {
            integration: Integration::Injected,
            facts: LaunchFacts::from([("id", id)]),
            ..PreparedLaunch::unchanged(launch)
        })
    }

    /// Once the conversation is written, the pane holds it.
    async fn inspect(&self, view: &InstanceView, host: &dyn AgentHost) -> Vec<AgentReport> {
        let alive = host.process(view.pid).is_some_and(|p| p.start_ticks == view.start_ticks);
        let begun = view.facts.get("id").filter(|_| alive).and_then(|id| self.parse_id(id).ok());
        let Some(id) = begun else {
            return Vec::new();
        };
        let witness = Witness {
            instance: view.instance,
            source: WitnessSource::FreshStart,
            detail: format!("process {} was started with {id}", view.pid).into(),
            sessions: [id].into(),
            loaded: None,
            record: RecordRead::Pending,
        };
        vec![AgentReport { witness: Some(witness), ..AgentReport::default() }]
    }
}

/// A UUID from the random characters of a launch.
fn made_from(secret: &str) -> String {
    let mut bytes: Vec<u8> = secret.bytes().collect();
    bytes.resize(16, 0);
    let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    let part = |from: usize, to: usize| hex.get(from..to).unwrap_or_default().to_owned();
    // Version 4, and the usual variant.
    let (third, fourth) = (part(13, 16), part(17, 20));
    format!("{}-{}-4{third}-8{fourth}-{}", part(0, 8), part(8, 12), part(20, 32))
}

/// Step 7: a scripted Gemini, for the suite.
struct GeminiStage {
    dir: tempfile::TempDir,
    adapter: Gemini,
    said: u32,
}

impl GeminiStage {
    fn new() -> Result<Self, Box<dyn Error>> {
        let dir = tempfile::tempdir()?;
        let project = |name: &str| (dir.path().join(name).display().to_string(), json!(name));
        for made in ["home/.gemini/tmp/work/chats", "work", "elsewhere"] {
            fs::create_dir_all(dir.path().join(made))?;
        }
        let projects: serde_json::Map<_, _> =
            [project("work"), project("elsewhere")].into_iter().collect();
        let known = json!({"projects": projects}).to_string();
        fs::write(dir.path().join("home/.gemini/projects.json"), known)?;
        Ok(Self { dir, adapter: Gemini::new()?, said: 0 })
    }

    fn chat(&self, id: &AgentSessionId) -> PathBuf {
        let short: String = id.as_str().chars().take(8).collect();
        let name = format!("home/.gemini/tmp/work/chats/session-2026-11-30T10-00-{short}.jsonl");
        self.dir.path().join(name)
    }

    fn append(&self, id: &AgentSessionId, line: &Value) {
        let file = fs::File::options().create(true).append(true).open(self.chat(id));
        let written = file.and_then(|mut file| writeln!(file, "{line}"));
        assert!(written.is_ok(), "the stage's own disk: {written:?}");
    }

    fn at(&self, home: &str, cwd: &str) -> Conversation {
        let home = [(HOME_VAR, self.dir.path().join(home))];
        Conversation {
            id: self.id("aaaaaaaa-0000-4000-8000-000000000001"),
            cwd: self.dir.path().join(cwd),
            config_env: ConfigEnv::filter(home, &[HOME_VAR], Path::new("/")),
            anchor: None,
            previous: None,
        }
    }

    #[expect(clippy::unwrap_used, reason = "the ids are written in this file")]
    fn id(&self, text: &str) -> AgentSessionId {
        self.adapter.parse_id(text).unwrap()
    }
}

impl Stage for GeminiStage {
    fn adapter(&self) -> &dyn AgentAdapter {
        &self.adapter
    }

    fn saved(&self) -> Conversation {
        self.at("home", "work")
    }

    fn other_id(&self) -> AgentSessionId {
        self.id("ffffffff-0000-4000-8000-00000000000f")
    }

    fn elsewhere(&self) -> Vec<Conversation> {
        vec![self.at("elsewhere", "work"), self.at("home", "elsewhere")]
    }

    fn view(&self, instance: InstanceId) -> InstanceView {
        let saved = self.saved();
        InstanceView {
            instance,
            pid: 4711,
            start_ticks: 123_456,
            cwd: saved.cwd,
            config_env: saved.config_env,
            facts: LaunchFacts::default(),
        }
    }

    fn turn(&mut self, id: &AgentSessionId, text: &str) {
        if !self.chat(id).exists() {
            self.hollow(id);
        }
        for kind in ["user", "gemini"] {
            self.said += 1;
            let message = json!({"id": self.said.to_string(), "type": kind, "content": text});
            self.append(id, &message);
        }
    }

    fn copy(&mut self, from: &AgentSessionId, to: &AgentSessionId) {
        let text = fs::read_to_string(self.chat(from)).unwrap_or_default();
        let copied = fs::write(self.chat(to), text.replace(from.as_str(), to.as_str()));
        assert!(copied.is_ok(), "the stage's own disk: {copied:?}");
    }

    fn remove(&mut self, id: &AgentSessionId) {
        let removed = fs::remove_file(self.chat(id));
        assert!(removed.is_ok(), "the stage's own disk: {removed:?}");
    }

    fn hollow(&mut self, id: &AgentSessionId) {
        self.append(id, &json!({"sessionId": id.as_str(), "projectHash": "x", "kind": "main"}));
    }

    /// It has no list of what runs.
    fn list(&mut self, _pid: u32, _start_ticks: u64, _id: &AgentSessionId, _loaded: u64) {}
}

/// Step 8: the suite, in one line.
#[expect(clippy::panic, reason = "a stage that cannot be made is no fault of the adapter")]
fn conforms() -> Result<(), Failure> {
    check(|| GeminiStage::new().unwrap_or_else(|error| panic!("no stage: {error}")))
}

fn main() -> Result<(), Box<dyn Error>> {
    conforms()?;
    // No output but this: an example is run to be seen.
    writeln!(std::io::stdout(), "the adapter conforms; its agent is resumed by hand")?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn d16_s1_14_an_adapter_of_an_agent_that_is_not_shipped_conforms() {
        conforms().expect("the suite");
    }

    #[test]
    fn an_id_made_for_a_launch_has_the_form() -> Result<(), Box<dyn Error>> {
        let id = made_from("0123456789abcdefghjkmnpqrs");
        Gemini::new()?.parse_id(&id)?;
        Ok(())
    }
}
