//! An adapter for an agent that signaltty does not ship, and a server that
//! knows it. No other crate changes.
//!
//! The agent is [`scribe`](scribe), a shell script. It has a list of what runs
//! and reports its starts, so a resume of it can be *verified*; the adapter of
//! `gemini_adapter.rs` is one for an agent that shows nothing. The conformance
//! suite runs as its test.
//!
//! In the root of the repository:
//!
//! ```sh
//! cargo build -p signaltty-server
//! export PATH=$PWD/target/debug:$PWD/examples:$PATH SIGNALTTY_STATE_DIR=$(mktemp -d)
//! cargo run -p signaltty-server --example foreign_adapter -- "$SIGNALTTY_STATE_DIR"
//! ```
//!
//! It serves until Ctrl-C. In another terminal with the same two variables:
//! `signaltty --no-start new --name notes -- scribe`. Without `--no-start` a
//! client that finds no server starts `signaltty`'s own, which knows no scribe.

use std::error::Error;
use std::fs;
use std::io::{Write as _, stderr};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use signaltty_adapters::anchor::{Line, Scan};
use signaltty_adapters::records::read_small;
use signaltty_adapters::{
    AdapterError, AgentAdapter, AgentHost, AgentSpec, HookReport, IdForm, InstanceView,
    Integration, Launch, LaunchContext, OfficialCommand, PreparedLaunch, preflight,
};
use signaltty_core::agent::{
    AgentPolicy, AgentReport, AgentSessionId, Anchor, Conversation, Fingerprint, LoadedRule,
    RecordRead, Witness, WitnessSource,
};
use signaltty_core::id::InstanceId;
use signaltty_core::pane::Lifecycle;
use signaltty_core::restore::Refusal;
use signaltty_server::config::{Overrides, Paths};
use signaltty_server::daemon::Server;

/// A command that scribe tells of its starts.
const HOOK_VAR: &str = "SCRIBE_HOOK";

pub(crate) struct Scribe {
    spec: AgentSpec,
}

impl Scribe {
    pub(crate) fn new() -> Result<Self, Box<dyn Error>> {
        // What it can show, and until when. The core judges by this alone: both
        // must name the conversation, and say that they loaded some of it.
        let policy = AgentPolicy::new(
            vec![WitnessSource::LiveRegistry, WitnessSource::StartReport],
            LoadedRule::Required,
            Duration::from_secs(10),
        );
        let form = IdForm::Prefixed { prefix: "scribe-", chars: 12 };
        let mut spec = AgentSpec::new("scribe".parse()?, "scribe", form, policy);
        // A scribe in a pane may start a server of its own, whose panes must not
        // report to ours. It is gone before `prepare_launch` looks.
        spec.scrubbed_vars = &[HOOK_VAR];
        Ok(Self { spec })
    }

    /// Reads the record and compares it with the anchor on the way.
    fn read(&self, of: &Conversation) -> Result<Scan, Refusal> {
        preflight::id_has_form(&self.spec, &of.id)?;
        let record = of.cwd.join(format!(".scribe-{}", of.id));
        Scan::read(&record, of.anchor.as_ref(), line).map_err(|error| error.refusal())
    }
}

/// What a line of the record is: `NUMBER TEXT`, and all of them are a person's.
fn line(bytes: &[u8]) -> Line {
    let text = String::from_utf8_lossy(bytes);
    let number = text.split(' ').next().and_then(|number| number.parse().ok());
    number.map_or(Line::Broken, |number| Line::Numbered {
        number,
        message: Some(format!("{number}")),
        by_person: true,
    })
}

/// What a process lists of itself.
struct Listed {
    id: String,
    loaded: u64,
    lifecycle: Option<Lifecycle>,
}

/// Reads it, if the process lives and is the one that wrote it: a killed one
/// leaves its list behind, and its number comes again.
fn listed(cwd: &Path, pid: u32, host: &dyn AgentHost) -> Option<Listed> {
    let text = read_small(&cwd.join(format!(".scribe-live-{pid}")), 4096).ok()?;
    let text = String::from_utf8(text).ok()?;
    let words: Vec<_> = text.split_whitespace().collect();
    let [started, id, loaded, state] = words[..] else {
        return None;
    };
    let same = host.process(pid)?.start_ticks == started.parse::<u64>().ok()?;
    let lifecycle = match state {
        "idle" => Some(Lifecycle::Idle),
        "busy" => Some(Lifecycle::Working),
        _ => None,
    };
    let listed = Listed { id: id.to_owned(), loaded: loaded.parse().ok()?, lifecycle };
    same.then_some(listed)
}

#[async_trait::async_trait]
impl AgentAdapter for Scribe {
    fn spec(&self) -> &AgentSpec {
        &self.spec
    }

    fn resume_command(&self, saved: &Conversation) -> Result<OfficialCommand, AdapterError> {
        let id = self.parse_id(saved.id.as_str())?;
        Ok(OfficialCommand::new("scribe", &["--open"], &id))
    }

    /// Asks for the reports of this launch. `hook scribe` passes its standard
    /// input on to `read_report`, bound to this launch.
    fn prepare_launch(
        &self,
        mut launch: Launch,
        context: &LaunchContext<'_>,
    ) -> Result<PreparedLaunch, AdapterError> {
        let not_text = || AdapterError::Launch("the hook's path is not UTF-8".to_owned());
        let program = context.hook_program.to_str().ok_or_else(not_text)?;
        // scribe gives it to a shell.
        let quoted = program.replace('\'', r"'\''");
        launch.env.push((HOOK_VAR.into(), format!("'{quoted}' hook scribe").into()));
        Ok(PreparedLaunch {
            integration: Integration::Injected,
            // A pane then says so where that program is not there.
            runs_hook: true,
            ..PreparedLaunch::unchanged(launch)
        })
    }

    fn read_report(
        &self,
        instance: InstanceId,
        report: &HookReport<'_>,
    ) -> Result<AgentReport, AdapterError> {
        let text = String::from_utf8_lossy(report.payload);
        let words: Vec<_> = text.split_whitespace().collect();
        let ["start", how, id, loaded] = words[..] else {
            return Err(AdapterError::Report("it is no start of a scribe".to_owned()));
        };
        let source = match how {
            "resumed" => WitnessSource::StartReport,
            // Says what the pane holds, and nothing of a resume.
            "new" => WitnessSource::FreshStart,
            _ => return Err(AdapterError::Report(format!("{how} is no kind of start"))),
        };
        let detail = format!("scribe reported a start, {how}");
        let shown = (self.parse_id(id)?, loaded.parse().ok());
        Ok(seen(instance, source, detail, shown))
    }

    /// What is not refused here is started, unless somebody else has it open.
    async fn preflight(
        &self,
        saved: &Conversation,
        host: &dyn AgentHost,
    ) -> Result<Fingerprint, Refusal> {
        let anchor = preflight::before_the_record(&self.spec, saved, host)?;
        // The record is in there.
        preflight::cwd_is_there(&saved.cwd)?;
        self.read(saved)?.compare(anchor)
    }

    async fn anchor(&self, of: &Conversation, _: &dyn AgentHost) -> Result<Anchor, Refusal> {
        self.read(of)?.anchor_anew(of.anchor.as_ref())
    }

    async fn holder(&self, of: &Conversation, host: &dyn AgentHost) -> Option<String> {
        fs::read_dir(&of.cwd).ok()?.flatten().find_map(|file| {
            let pid = file.file_name().to_str()?.strip_prefix(".scribe-live-")?.parse().ok()?;
            let listed = listed(&of.cwd, pid, host)?;
            (listed.id == of.id.as_str()).then(|| format!("process {pid} (scribe) has it open"))
        })
    }

    /// What the process shows. Nothing here knows which one is expected.
    async fn inspect(&self, view: &InstanceView, host: &dyn AgentHost) -> Vec<AgentReport> {
        let ours = host.process(view.pid).is_some_and(|p| p.start_ticks == view.start_ticks);
        let Some(listed) = listed(&view.cwd, view.pid, host).filter(|_| ours) else {
            return Vec::new();
        };
        let Ok(id) = self.parse_id(&listed.id) else {
            return Vec::new();
        };
        let detail = format!("process {} lists itself", view.pid);
        let shown = (id, Some(listed.loaded));
        let mut report = seen(view.instance, WitnessSource::LiveRegistry, detail, shown);
        // Once it is idle a turn has ended, and the record is anchored anew.
        report.lifecycle = listed.lifecycle;
        vec![report]
    }
}

/// That an instance has this conversation open, and loaded so many lines of it.
fn seen(
    instance: InstanceId,
    source: WitnessSource,
    detail: String,
    (id, loaded): (AgentSessionId, Option<u64>),
) -> AgentReport {
    let witness = Witness {
        instance,
        source,
        detail: format!("{detail}: {id}").into(),
        sessions: [id].into(),
        loaded,
        // The server reads it, after this.
        record: RecordRead::Pending,
    };
    AgentReport { witness: Some(witness), ..AgentReport::default() }
}

/// Serves in this directory until it is told to end.
pub(crate) fn serve(state_dir: PathBuf, socket: Option<PathBuf>) -> Result<(), Box<dyn Error>> {
    let overrides = Overrides { state_dir: Some(state_dir), socket };
    let paths = Paths::resolve(&overrides, &std::env::current_dir()?, |_| None)?;
    // On the main thread: it starts all children, which end with it. The program
    // that passes reports on is the `signaltty` beside this one or in `PATH`;
    // `hook_program` names another.
    Server::builder(paths).adapter(Arc::new(Scribe::new()?)).signals().build()?.run()?;
    Ok(())
}

fn main() -> ExitCode {
    let Some(dir) = std::env::args_os().nth(1) else {
        let _ = writeln!(stderr(), "say in which directory");
        return ExitCode::from(2);
    };
    match serve(dir.into(), None) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let _ = writeln!(stderr(), "{error}");
            ExitCode::FAILURE
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::Display;

    use signaltty_adapters::LaunchFacts;
    use signaltty_adapters::conformance::{Stage, Start, check};
    use signaltty_core::env::ConfigEnv;

    use super::*;

    /// A scripted scribe, for the suite. It does with files what the program does.
    struct ScribeStage {
        dir: tempfile::TempDir,
        adapter: Scribe,
    }

    fn stage() -> ScribeStage {
        let made = tempfile::tempdir().and_then(|dir| {
            fs::create_dir(dir.path().join("work"))?;
            fs::create_dir(dir.path().join("elsewhere"))?;
            Ok(dir)
        });
        ScribeStage { dir: made.expect("a disk"), adapter: Scribe::new().expect("an adapter") }
    }

    impl ScribeStage {
        fn at(&self, cwd: &str) -> Conversation {
            Conversation {
                id: self.adapter.parse_id("scribe-aaaaaaaaaaaa").expect("an id"),
                cwd: self.dir.path().join(cwd),
                config_env: ConfigEnv::default(),
                anchor: None,
                previous: None,
            }
        }

        fn file(&self, name: impl Display) -> PathBuf {
            self.dir.path().join(format!("work/.scribe-{name}"))
        }
    }

    impl Stage for ScribeStage {
        fn adapter(&self) -> &dyn AgentAdapter {
            &self.adapter
        }

        fn saved(&self) -> Conversation {
            self.at("work")
        }

        fn other_id(&self) -> AgentSessionId {
            self.adapter.parse_id("scribe-ffffffffffff").expect("an id")
        }

        fn elsewhere(&self) -> Vec<Conversation> {
            vec![self.at("elsewhere")]
        }

        fn view(&self, instance: InstanceId) -> InstanceView {
            let Conversation { cwd, config_env, .. } = self.saved();
            let facts = LaunchFacts::default();
            InstanceView { instance, pid: 4711, start_ticks: 123_456, cwd, config_env, facts }
        }

        fn turn(&mut self, id: &AgentSessionId, text: &str) {
            let path = self.file(id);
            let number = fs::read_to_string(&path).unwrap_or_default().lines().count() + 1;
            let file = fs::File::options().create(true).append(true).open(path);
            file.and_then(|mut file| writeln!(file, "{number} {text}")).expect("a disk");
        }

        fn copy(&mut self, from: &AgentSessionId, to: &AgentSessionId) {
            fs::copy(self.file(from), self.file(to)).expect("a disk");
        }

        fn remove(&mut self, id: &AgentSessionId) {
            fs::remove_file(self.file(id)).expect("a disk");
        }

        fn hollow(&mut self, id: &AgentSessionId) {
            fs::write(self.file(id), "").expect("a disk");
        }

        fn list(&mut self, pid: u32, start_ticks: u64, id: &AgentSessionId, loaded: u64) {
            let text = format!("{start_ticks} {id} {loaded} idle\n");
            fs::write(self.file(format!("live-{pid}")), text).expect("a disk");
        }

        /// It never goes on under another id.
        fn rotates(&self) -> bool {
            false
        }

        fn shows_holder(&self) -> bool {
            true
        }

        fn reports(&mut self, start: &Start) -> Vec<Vec<u8>> {
            let how = if start.resumed { "resumed" } else { "new" };
            vec![format!("start {how} {} {}\n", start.id, start.loaded).into_bytes()]
        }
    }

    #[test]
    fn d16_s1_28_an_agent_that_is_not_shipped_is_verified_only_with_its_history() {
        check(stage).expect("the suite");
    }
}
