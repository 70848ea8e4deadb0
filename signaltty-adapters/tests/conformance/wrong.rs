//! Adapters that each do one thing wrong. A suite that cannot fail is no suite.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use async_trait::async_trait;
use serde_json::Value;
use signaltty_adapters::conformance::{Failure, Stage, Start, check};
use signaltty_adapters::testing::FakeHost;
use signaltty_adapters::{
    AdapterError, AgentAdapter, AgentHost, AgentSpec, ClaudeAdapter, CodexAdapter, HookReport,
    InstanceView, OfficialCommand,
};
use signaltty_core::agent::{
    AgentReport, AgentSessionId, Anchor, Conversation, Extent, Fingerprint, RecordRead, Relation,
    Witness, WitnessSource,
};
use signaltty_core::id::InstanceId;
use signaltty_core::restore::{FailureCode, Refusal};

use crate::common::ClaudeStage;
use crate::common::codex::CodexStage;
use crate::demo_stage::DemoStage;

/// What an adapter does wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fault {
    /// Shows the id that it was asked to open.
    EchoesTheRequest,
    /// Never changes its mind after the first report.
    AcceptsTheFirstReport,
    /// Takes a process that ended for one that did what it was told.
    TrustsTheExitCode,
    /// Finds a conversation again by its first words.
    ComparesTitles,
    /// Shows the newest record of the directory.
    TakesTheNewestFile,
    /// Always looks where it looked first.
    IgnoresThePlace,
    /// Anchors a record in which nobody said anything.
    AcceptsAnEmptyRecord,
    /// Goes on with what an earlier launch reported.
    KeepsAStaleSecret,
    /// Takes any lock below the home, whoever holds it.
    TakesAnyLock,
    /// Anchors anew whatever it finds.
    ShrinksTheAnchor,
    /// Looks at process ids without their start.
    IgnoresTheStart,
    /// Takes every kind of start for the one of a resume, with its history.
    TrustsEveryStart,
    /// Anchors a fork by its own part alone.
    ForgetsTheParent,
    /// Says that nobody has anything open.
    SeesNoHolder,
    /// Never says that the agent went on with another conversation.
    FollowsNothing,
    /// Builds the command from whatever it is given.
    TakesAnyId,
}

#[derive(Default)]
struct Memory {
    asked: Option<Conversation>,
    title: Option<String>,
    first: Option<AgentReport>,
    place: Option<Conversation>,
    shown: Option<Vec<AgentReport>>,
}

/// A right adapter with one fault.
struct Wrong<A> {
    inner: A,
    fault: Fault,
    memory: Mutex<Memory>,
}

impl<A: AgentAdapter> Wrong<A> {
    fn new(inner: A, fault: Fault) -> Self {
        Self { inner, fault, memory: Mutex::default() }
    }

    fn is(&self, fault: Fault) -> bool {
        self.fault == fault
    }

    /// What proves this id to the policy of the inner adapter.
    fn proof(&self, instance: InstanceId, id: &AgentSessionId) -> Vec<AgentReport> {
        let witness = |source: &WitnessSource| AgentReport {
            witness: Some(Witness {
                instance,
                source: *source,
                sessions: [id.clone()].into(),
                loaded: Some(4),
                detail: "made up".into(),
                record: RecordRead::Pending,
            }),
            ..AgentReport::default()
        };
        self.inner.spec().policy.required.iter().map(witness).collect()
    }

    fn asked(&self) -> Option<Conversation> {
        self.memory.lock().unwrap().asked.clone()
    }

    /// The conversation where it was first looked for.
    fn placed(&self, conversation: &Conversation) -> Conversation {
        let mut memory = self.memory.lock().unwrap();
        let first = memory.place.get_or_insert_with(|| conversation.clone()).clone();
        match self.fault {
            Fault::IgnoresThePlace => {
                let (cwd, config_env) = (first.cwd, first.config_env);
                Conversation { cwd, config_env, ..conversation.clone() }
            }
            Fault::ShrinksTheAnchor => Conversation { anchor: None, ..conversation.clone() },
            _ => conversation.clone(),
        }
    }
}

#[async_trait]
impl<A: AgentAdapter> AgentAdapter for Wrong<A> {
    fn spec(&self) -> &AgentSpec {
        self.inner.spec()
    }

    fn recognises(&self, argv: &[OsString]) -> bool {
        self.inner.recognises(argv)
    }

    fn resume_command(&self, of: &Conversation) -> Result<OfficialCommand, AdapterError> {
        match self.inner.resume_command(of) {
            Err(_) if self.is(Fault::TakesAnyId) => {
                Ok(OfficialCommand::new("agent", &["--resume"], &of.id))
            }
            other => other,
        }
    }

    fn read_report(
        &self,
        instance: InstanceId,
        report: &HookReport<'_>,
    ) -> Result<AgentReport, AdapterError> {
        let mut read = self.inner.read_report(instance, report)?;
        if self.is(Fault::TrustsEveryStart)
            && let Some(witness) = &mut read.witness
        {
            witness.source = WitnessSource::StartReport;
            witness.loaded = Some(4);
        }
        if self.is(Fault::AcceptsTheFirstReport) {
            if let Some(witness) = &mut read.witness {
                witness.source = WitnessSource::StartReport;
                witness.loaded = Some(4);
            }
            let mut memory = self.memory.lock().unwrap();
            return Ok(memory.first.get_or_insert(read).clone());
        }
        if self.is(Fault::KeepsAStaleSecret) {
            let mut memory = self.memory.lock().unwrap();
            memory.shown.get_or_insert_default().push(read.clone());
        }
        Ok(read)
    }

    async fn preflight(
        &self,
        conversation: &Conversation,
        host: &dyn AgentHost,
    ) -> Result<Fingerprint, Refusal> {
        self.memory.lock().unwrap().asked = Some(conversation.clone());
        let title = self.memory.lock().unwrap().title.clone();
        let found = self.inner.preflight(&self.placed_for_preflight(conversation), host).await;
        match (found, self.fault) {
            (Err(_), Fault::ComparesTitles) => {
                let same = newest(conversation).filter(|record| first_words(record) == title);
                let record =
                    same.ok_or_else(|| Refusal::new(FailureCode::Gone, "no such title"))?;
                let id = record.file_stem().unwrap().to_str().unwrap().parse().unwrap();
                let named = Conversation { id, anchor: None, ..conversation.clone() };
                let now = self.inner.anchor(&named, host).await?;
                Ok(Fingerprint::new(Relation::Extends, now))
            }
            (found, _) => found,
        }
    }

    async fn holder(&self, conversation: &Conversation, host: &dyn AgentHost) -> Option<String> {
        if self.is(Fault::SeesNoHolder) {
            return None;
        }
        self.inner.holder(conversation, host).await
    }

    async fn anchor(&self, of: &Conversation, host: &dyn AgentHost) -> Result<Anchor, Refusal> {
        let found = self.inner.anchor(&self.placed(of), host).await;
        if self.is(Fault::ComparesTitles) {
            self.memory.lock().unwrap().title = newest(of).and_then(|path| first_words(&path));
        }
        match found {
            Err(_) if self.is(Fault::AcceptsAnEmptyRecord) => Ok(Anchor {
                record: PathBuf::from("/record"),
                file: None,
                extent: Extent::Lines { bytes: 0, sha256: [0; 32] },
                last_message: None,
                user_messages: 0,
                base: None,
            }),
            Ok(anchor) if self.is(Fault::ForgetsTheParent) => Ok(Anchor { base: None, ..anchor }),
            found => found,
        }
    }

    async fn inspect(&self, view: &InstanceView, host: &dyn AgentHost) -> Vec<AgentReport> {
        let alive = host.process(view.pid).is_some();
        let asked = self.asked();
        match (self.fault, asked) {
            (Fault::EchoesTheRequest, Some(asked)) if alive => self.proof(view.instance, &asked.id),
            (Fault::TrustsTheExitCode, Some(asked)) if !alive => {
                self.proof(view.instance, &asked.id)
            }
            (Fault::TakesTheNewestFile, Some(asked)) => match newest(&asked) {
                Some(record) => {
                    let id = record.file_stem().unwrap().to_str().unwrap();
                    self.proof(view.instance, &id.parse().unwrap())
                }
                None => Vec::new(),
            },
            (Fault::TakesAnyLock, _) => {
                let home = Path::new(view.config_env.var("CODEX_HOME").unwrap());
                let locks = fs::read_dir(home.join("thread-writer-locks")).unwrap().flatten();
                let ids = locks.filter_map(|lock| {
                    lock.path().file_stem()?.to_str()?.parse::<AgentSessionId>().ok()
                });
                ids.flat_map(|id| self.proof(view.instance, &id)).collect()
            }
            (Fault::IgnoresTheStart, _) => {
                let home = Path::new(view.config_env.var("SIGNALTTY_DEMO_HOME").unwrap());
                let entry = fs::read(home.join(format!("live/{}.json", view.pid)));
                let entry: Option<Value> =
                    entry.ok().and_then(|bytes| serde_json::from_slice(&bytes).ok());
                let id = entry.and_then(|entry| entry["session_id"].as_str()?.parse().ok());
                id.map(|id| self.proof(view.instance, &id)).unwrap_or_default()
            }
            (Fault::KeepsAStaleSecret, _) => {
                let mut shown = self.inner.inspect(view, host).await;
                let mut memory = self.memory.lock().unwrap();
                let known = memory.shown.get_or_insert_default();
                known.append(&mut shown);
                let mut all = known.clone();
                for witness in all.iter_mut().filter_map(|report| report.witness.as_mut()) {
                    witness.instance = view.instance;
                }
                all
            }
            (Fault::FollowsNothing, _) => {
                let shown = self.inner.inspect(view, host).await;
                let mut memory = self.memory.lock().unwrap();
                match &memory.shown {
                    Some(first) => first.clone(),
                    None => {
                        if !shown.is_empty() {
                            memory.shown = Some(shown.clone());
                        }
                        shown
                    }
                }
            }
            _ => self.inner.inspect(view, host).await,
        }
    }
}

impl<A: AgentAdapter> Wrong<A> {
    fn placed_for_preflight(&self, conversation: &Conversation) -> Conversation {
        match self.fault {
            Fault::IgnoresThePlace => self.placed(conversation),
            _ => conversation.clone(),
        }
    }
}

/// The newest record of Claude's in the directory of a conversation.
fn newest(of: &Conversation) -> Option<PathBuf> {
    let config = Path::new(of.config_env.var("CLAUDE_CONFIG_DIR")?);
    let projects = fs::read_dir(config.join("projects")).ok()?.flatten();
    let records = projects.flat_map(|project| fs::read_dir(project.path()).unwrap().flatten());
    records
        .max_by_key(|record| record.metadata().unwrap().modified().unwrap())
        .map(|record| record.path())
}

fn first_words(record: &Path) -> Option<String> {
    let text = fs::read_to_string(record).ok()?;
    text.lines().find_map(|line| {
        let line: Value = serde_json::from_str(line).ok()?;
        Some(line["message"]["content"].as_str()?.to_owned())
    })
}

/// A stage whose adapter is another one.
struct With<S, A> {
    stage: S,
    adapter: A,
}

impl<S: Stage, A: AgentAdapter> Stage for With<S, A> {
    fn adapter(&self) -> &dyn AgentAdapter {
        &self.adapter
    }

    fn saved(&self) -> Conversation {
        self.stage.saved()
    }

    fn other_id(&self) -> AgentSessionId {
        self.stage.other_id()
    }

    fn elsewhere(&self) -> Vec<Conversation> {
        self.stage.elsewhere()
    }

    fn view(&self, instance: InstanceId) -> InstanceView {
        self.stage.view(instance)
    }

    fn turn(&mut self, id: &AgentSessionId, text: &str) {
        self.stage.turn(id, text);
    }

    fn copy(&mut self, from: &AgentSessionId, to: &AgentSessionId) {
        self.stage.copy(from, to);
    }

    fn remove(&mut self, id: &AgentSessionId) {
        self.stage.remove(id);
    }

    fn hollow(&mut self, id: &AgentSessionId) {
        self.stage.hollow(id);
    }

    fn fork(&mut self, from: &AgentSessionId, to: &AgentSessionId) -> bool {
        self.stage.fork(from, to)
    }

    fn list(&mut self, pid: u32, start_ticks: u64, id: &AgentSessionId, loaded: u64) {
        self.stage.list(pid, start_ticks, id, loaded);
    }

    fn echo(&mut self, pid: u32, start_ticks: u64, id: &AgentSessionId) {
        self.stage.echo(pid, start_ticks, id);
    }

    fn switch(&mut self, pid: u32, start_ticks: u64, id: &AgentSessionId) {
        self.stage.switch(pid, start_ticks, id);
    }

    fn show(&self, host: &mut FakeHost) {
        self.stage.show(host);
    }

    fn rotates(&self) -> bool {
        self.stage.rotates()
    }

    fn shows_holder(&self) -> bool {
        self.stage.shows_holder()
    }

    fn reports(&mut self, start: &Start) -> Vec<Vec<u8>> {
        self.stage.reports(start)
    }

    fn failure_reports(&mut self, id: &AgentSessionId) -> Vec<Vec<u8>> {
        self.stage.failure_reports(id)
    }
}

fn claude(fault: Fault) -> Failure {
    let adapter = || Wrong::new(ClaudeAdapter::new(), fault);
    check(|| With { stage: ClaudeStage::new(), adapter: adapter() }).unwrap_err()
}

fn codex(fault: Fault) -> Failure {
    let adapter = || Wrong::new(CodexAdapter::new(), fault);
    check(|| With { stage: CodexStage::new(), adapter: adapter() }).unwrap_err()
}

#[test]
fn s1_28_one_that_echoes_the_request_is_found_out() {
    assert_eq!(claude(Fault::EchoesTheRequest).during, "IgnoresId");
}

#[test]
fn c032_one_that_accepts_the_first_report_is_found_out() {
    assert_eq!(claude(Fault::AcceptsTheFirstReport).during, "DoubleStart");
}

#[test]
fn s1_15_one_that_trusts_an_exit_is_found_out() {
    assert_eq!(claude(Fault::TrustsTheExitCode).during, "NotFoundExit");
}

#[test]
fn c049_one_that_compares_titles_is_found_out() {
    let failure = claude(Fault::ComparesTitles);
    assert_eq!(failure.during, "a missing record beside one with the same words");
}

#[test]
fn c041_one_that_takes_the_newest_file_is_found_out() {
    assert_eq!(claude(Fault::TakesTheNewestFile).during, "NoReport");
}

#[test]
fn s0_39_one_that_ignores_the_directory_and_the_home_is_found_out() {
    assert_eq!(claude(Fault::IgnoresThePlace).during, "another place");
}

#[test]
fn c035_one_that_accepts_an_empty_record_is_found_out() {
    let failure = claude(Fault::AcceptsAnEmptyRecord);
    assert_eq!(failure.during, "a record without a message");
}

#[test]
fn c118_one_that_keeps_a_stale_secret_is_found_out() {
    assert_eq!(claude(Fault::KeepsAStaleSecret).during, "StaleSecret");
}

#[test]
fn s1_27_one_that_takes_any_lock_in_the_home_is_found_out() {
    assert_eq!(codex(Fault::TakesAnyLock).during, "NestedAgent");
}

#[test]
fn s1_31_one_that_shrinks_the_anchor_is_found_out() {
    assert_eq!(claude(Fault::ShrinksTheAnchor).during, "a shortened record");
}

#[test]
fn s1_15_one_that_ignores_the_start_of_a_process_is_found_out() {
    let adapter = |stage: &DemoStage| Wrong::new(stage.adapter.clone(), Fault::IgnoresTheStart);
    let stage = || {
        let stage = DemoStage::new();
        With { adapter: adapter(&stage), stage }
    };
    assert_eq!(check(stage).unwrap_err().during, "NotFoundExit");
}

#[test]
fn c028_one_that_trusts_every_start_is_found_out() {
    assert_eq!(claude(Fault::TrustsEveryStart).during, "LateDoubleStart");
}

#[test]
fn d03_one_that_forgets_a_forks_parent_is_found_out() {
    assert_eq!(codex(Fault::ForgetsTheParent).during, "a fork");
}

#[test]
fn c047_one_that_sees_no_holder_is_found_out() {
    assert_eq!(claude(Fault::SeesNoHolder).during, "WriterLocked");
}

#[test]
fn c029_one_that_follows_nothing_is_found_out() {
    assert_eq!(codex(Fault::FollowsNothing).during, "ClearMidSession");
}

#[test]
fn s1_18_one_that_takes_any_id_is_found_out() {
    assert_eq!(claude(Fault::TakesAnyId).during, "malformed ids");
}
