//! The story, step by step.

use std::time::{Duration, Instant};

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::agent::{self, Record, Watched};
use super::place::Place;
use super::report::Report;
use super::server::Server;
use crate::cli::{Failure, environment};
use crate::client::{Client, ClientError};
use crate::protocol::{
    Created, Empty, PaneInfo, PaneRead, PaneRef, PaneResume, PaneSend, PaneSpawn, PaneText,
    Resumed, Status, WireOs, WorkspaceNew,
};

/// What did not hold.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(super) struct Broken(String);

impl Broken {
    pub(super) fn new(what: impl Into<String>) -> Self {
        Self(what.into())
    }
}

impl From<ClientError> for Broken {
    fn from(error: ClientError) -> Self {
        Self(error.to_string())
    }
}

impl From<std::io::Error> for Broken {
    fn from(error: std::io::Error) -> Self {
        Self(error.to_string())
    }
}

/// The story and what it holds on to. Dropping it ends every process.
#[derive(Debug)]
pub(super) struct Story<'a> {
    place: &'a Place,
    server: Option<Server>,
    client: Option<Client>,
    agent: Option<Watched>,
    /// The pane as it was before the first kill.
    before: Option<PaneInfo>,
    record: Option<Record>,
}

impl<'a> Story<'a> {
    pub(super) fn new(place: &'a Place) -> Self {
        Self {
            place,
            server: None,
            client: None,
            agent: None,
            before: None,
            record: None,
        }
    }

    /// Tells it. Whether every step held.
    pub(super) async fn tell(&mut self, report: &mut Report<'_>) -> Result<bool, Failure> {
        macro_rules! step {
            ($text:literal, $observed:expr) => {
                let observed: Result<String, Broken> = $observed;
                if !report.step($text, observed)? {
                    return Ok(false);
                }
            };
        }
        step!("A server starts", self.start().await);
        step!("An agent runs in a pane", self.open().await);
        step!("It is told something to remember", self.talk().await);
        step!("Everything is saved", self.saved().await);
        step!(
            "The server is killed, and the agent ends with it",
            self.kill().await
        );
        step!(
            "A new server shows what is left: a tombstone",
            self.tombstone().await
        );
        step!(
            "The conversation is resumed, and proven",
            self.resume().await
        );
        step!("The agent remembers", self.remembers().await);
        step!("Everything is saved again", self.saved().await);
        step!("The server is killed once more", self.kill_again().await);
        step!(
            "Impostor 1: the record was emptied. Refused",
            self.emptied().await
        );
        step!(
            "Impostor 2: a fresh conversation under the same id. Refused",
            self.fresh().await
        );
        step!(
            "With its record back, the conversation is resumed",
            self.back().await
        );
        step!(
            "The server stops, and nothing is left running",
            self.stop().await
        );
        Ok(true)
    }

    async fn start(&mut self) -> Result<String, Broken> {
        let (server, client) = Server::start(self.place).await?;
        let pid = server.pid();
        self.server = Some(server);
        self.client = Some(client);
        Ok(format!("process {pid}"))
    }

    async fn open(&mut self) -> Result<String, Broken> {
        let program = std::env::current_exe()?;
        let mut env = environment();
        env.insert(
            agent::HOME.to_owned(),
            WireOs(self.place.agent_home().into()),
        );
        let params = WorkspaceNew {
            name: Some("demo".to_owned()),
            spawn: PaneSpawn {
                argv: vec![WireOs(program.into()), "__demo-agent".into()],
                cwd: Some(WireOs(self.place.project().into())),
                env,
            },
        };
        let created: Created = self.call("workspace.new", &params).await?;
        self.text_with(&created.pane_id, "you>").await?;
        let info = self.info(&created.pane_id).await?;
        let pid = info
            .pid
            .ok_or_else(|| Broken::new("the pane has no process"))?;
        self.agent = Some(Watched::new(pid)?);
        let observed = format!(
            "pane {}, process {pid}, \"you> \" is on its screen",
            info.pane.id
        );
        self.before = Some(info);
        Ok(observed)
    }

    async fn talk(&mut self) -> Result<String, Broken> {
        let pane = self.pane()?;
        for fact in FACTS {
            self.say(&pane, &format!("remember {fact}")).await?;
            self.text_with(&pane, &format!("noted: {fact}")).await?;
        }
        let facts = FACTS.join("\", \"");
        Ok(format!("\"{facts}\"; the agent answered both times"))
    }

    /// Waits until the agent's conversation is known and nothing is unsaved. A
    /// turn's end is noticed a moment after its answer, so that has to be true
    /// for a while.
    async fn saved(&mut self) -> Result<String, Broken> {
        let pane = self.pane()?;
        let started = Instant::now();
        let mut since: Option<Instant> = None;
        while started.elapsed() < SAVE_LIMIT {
            let info = self.info(&pane).await?;
            let status: Status = self.call("server.status", &Empty {}).await?;
            let id = info
                .pane
                .agent
                .as_ref()
                .and_then(|a| a.agent_session_id.clone());
            match id {
                Some(id) if status.saved && info.pane.lifecycle != "working" => {
                    if since.get_or_insert_with(Instant::now).elapsed() > SETTLED {
                        self.before = Some(info);
                        let seconds = started.elapsed().as_secs_f32();
                        return Ok(format!("conversation {id}, after {seconds:.1} s"));
                    }
                }
                _ => since = None,
            }
            tokio::time::sleep(PAUSE).await;
        }
        Err(Broken::new(format!("not within {SAVE_LIMIT:?}")))
    }

    async fn kill(&mut self) -> Result<String, Broken> {
        let server = self.server.take().ok_or_else(no_server)?;
        let number = server.pid();
        server.kill()?;
        self.client = None;
        let Some(agent) = &self.agent else {
            return Err(Broken::new("no agent was seen"));
        };
        agent.ended().await?;
        self.agent = None;
        Ok(format!(
            "SIGKILL to process {number}; the agent is gone too, and nothing says otherwise"
        ))
    }

    async fn tombstone(&mut self) -> Result<String, Broken> {
        self.start().await?;
        let info = self.kept().await?;
        let size = (info.pane.cols, info.pane.rows);
        let before = self.before()?;
        hold("its title", &before.pane.title, &info.pane.title)?;
        hold("its size", &(before.pane.cols, before.pane.rows), &size)?;
        let ended = info.pane.exit.as_ref().map(|exit| (exit.code, exit.signal));
        if !matches!(ended, None | Some((None, None))) {
            return Err(Broken::new("the server claims to know how the agent ended"));
        }
        let last = self.last_lines(&info.pane.id).await?;
        Ok(format!(
            "{}, {} × {}, title \"{}\"; the last lines of its saved output:\n{last}",
            info.pane.state, size.0, size.1, info.pane.title
        ))
    }

    async fn resume(&mut self) -> Result<String, Broken> {
        let pane = self.pane()?;
        let resumed: Resumed = self.try_resume(&pane).await?;
        hold("the verdict", "verified", resumed.verdict.as_str())?;
        let id = self.id()?;
        hold(
            "the conversation",
            id.as_str(),
            resumed.agent_session_id.as_str(),
        )?;
        if resumed.evidence.is_empty() {
            return Err(Broken::new("verified without any evidence"));
        }
        let info = self.info(&pane).await?;
        hold("the pane's state", "live", info.pane.state.as_str())?;
        let pid = info
            .pid
            .ok_or_else(|| Broken::new("the pane has no process"))?;
        self.agent = Some(Watched::new(pid)?);
        let evidence = resumed.evidence.join("\n");
        Ok(format!("verified, process {pid}. Evidence:\n{evidence}"))
    }

    async fn remembers(&mut self) -> Result<String, Broken> {
        let pane = self.pane()?;
        self.say(&pane, "what did I say?").await?;
        for (at, fact) in FACTS.iter().enumerate() {
            let line = format!("{}. remember {fact}", at + 1);
            self.text_with(&pane, &line).await?;
        }
        Ok(format!(
            "asked what it was told, it says \"{}\"",
            FACTS.join("\", \"")
        ))
    }

    async fn kill_again(&mut self) -> Result<String, Broken> {
        self.kill().await?;
        let id = self.id()?;
        self.record = Some(Record::keep(&self.place.agent_home(), &id)?);
        self.start().await?;
        let info = self.kept().await?;
        Ok(format!("the pane is {} again", info.pane.state))
    }

    async fn emptied(&mut self) -> Result<String, Broken> {
        self.record()?.empty()?;
        let ran = agent::listed(&self.place.agent_home());
        let refused = self.refused(&["damaged", "gone"]).await?;
        hold(
            "the processes",
            &ran,
            &agent::listed(&self.place.agent_home()),
        )?;
        Ok(format!(
            "{refused}\nno process was started; pane, conversation and output are kept"
        ))
    }

    async fn fresh(&mut self) -> Result<String, Broken> {
        self.record()?.restore()?;
        let home = self.place.agent_home();
        agent::behave(&home, Some("fresh"))?;
        let ran = agent::listed(&home);
        let refused = self.refused(&["contradicted", "damaged"]).await?;
        let mut new = agent::listed(&home);
        new.retain(|pid| !ran.contains(pid));
        let Some(impostor) = new.pop() else {
            return Err(Broken::new("the agent was not started at all"));
        };
        let started = Instant::now();
        while agent::exists(impostor) {
            if started.elapsed() > TEXT_LIMIT {
                return Err(Broken::new(format!("process {impostor} still runs")));
            }
            tokio::time::sleep(PAUSE).await;
        }
        Ok(format!(
            "{refused}\nprocess {impostor} was stopped; pane, conversation and output are kept"
        ))
    }

    async fn back(&mut self) -> Result<String, Broken> {
        self.record()?.restore()?;
        agent::behave(&self.place.agent_home(), None)?;
        self.resume().await
    }

    async fn stop(&mut self) -> Result<String, Broken> {
        let server = self.server.take().ok_or_else(no_server)?;
        let client = self.client.take().ok_or_else(no_server)?;
        let observed = server.stop(client).await?;
        if let Some(agent) = &self.agent {
            agent.ended().await?;
        }
        Ok(observed)
    }

    /// A resume that has to be refused for one of these reasons.
    async fn refused(&mut self, reasons: &[&str]) -> Result<String, Broken> {
        let pane = self.pane()?;
        let error = match self.try_resume(&pane).await {
            Err(error) if error.has_code("RESUME_REFUSED") => error,
            Err(error) => return Err(error.into()),
            Ok(resumed) => {
                return Err(Broken::new(format!("it was let in: {}", resumed.verdict)));
            }
        };
        let info = self.kept().await?;
        let failure = info.pane.agent.and_then(|agent| agent.last_failure);
        let code = failure.map(|failure| failure.code).unwrap_or_default();
        if !reasons.contains(&code.as_str()) {
            return Err(Broken::new(format!("refused as \"{code}\": {error}")));
        }
        Ok(format!("{code}: {error}"))
    }

    /// The pane without a process, if its conversation and output are kept.
    async fn kept(&mut self) -> Result<PaneInfo, Broken> {
        let pane = self.pane()?;
        let id = self.id()?;
        let info = self.info(&pane).await?;
        hold("the pane's state", "resumable", info.pane.state.as_str())?;
        hold("its process", &None, &info.pid)?;
        let agent = info.pane.agent.as_ref();
        let now = agent.and_then(|agent| agent.agent_session_id.as_ref());
        hold("its conversation", &Some(&id), &now)?;
        let text = self.text(&pane).await?;
        hold("the source of its output", "saved", text.source.as_str())?;
        for fact in FACTS {
            if !text.text.contains(&format!("noted: {fact}")) {
                return Err(Broken::new(
                    "the saved output lacks what the agent answered",
                ));
            }
        }
        Ok(info)
    }

    /// The environment is that of any other shell: where the agent keeps its
    /// conversations is the server's to know.
    async fn try_resume(&mut self, pane: &str) -> Result<Resumed, ClientError> {
        let params = PaneResume {
            pane: pane.to_owned(),
            anyway: false,
            cwd: None,
            env: environment(),
        };
        let socket = self.place.paths.socket.clone();
        let client = self
            .client
            .as_mut()
            .ok_or(ClientError::NoServer { socket })?;
        client
            .call_within(RESUME_LIMIT, "pane.resume", &params)
            .await
    }

    async fn say(&mut self, pane: &str, line: &str) -> Result<(), Broken> {
        let params = PaneSend {
            pane: pane.to_owned(),
            text: format!("{line}\r").as_str().into(),
        };
        self.call::<Value>("pane.send", &params).await.map(drop)
    }

    /// Waits until the pane shows a text.
    async fn text_with(&mut self, pane: &str, wanted: &str) -> Result<(), Broken> {
        let started = Instant::now();
        loop {
            let text = self.text(pane).await?.text;
            if text.contains(wanted) {
                return Ok(());
            }
            if started.elapsed() > TEXT_LIMIT {
                let shown = last_lines(&text);
                return Err(Broken::new(format!(
                    "the pane does not show \"{wanted}\" after {TEXT_LIMIT:?}; it ends with:\n{shown}"
                )));
            }
            tokio::time::sleep(PAUSE).await;
        }
    }

    async fn last_lines(&mut self, pane: &str) -> Result<String, Broken> {
        Ok(last_lines(&self.text(pane).await?.text))
    }

    async fn text(&mut self, pane: &str) -> Result<PaneText, Broken> {
        let params = PaneRead {
            pane: pane.to_owned(),
            lines: None,
            ansi: false,
        };
        self.call("pane.read", &params).await
    }

    async fn info(&mut self, pane: &str) -> Result<PaneInfo, Broken> {
        let pane = pane.to_owned();
        self.call("pane.info", &PaneRef { pane }).await
    }

    async fn call<R: DeserializeOwned>(
        &mut self,
        method: &str,
        params: &impl Serialize,
    ) -> Result<R, Broken> {
        let client = self.client.as_mut().ok_or_else(no_server)?;
        Ok(client.call_within(CALL_LIMIT, method, params).await?)
    }

    fn before(&self) -> Result<&PaneInfo, Broken> {
        let seen = self.before.as_ref();
        seen.ok_or_else(|| Broken::new("no pane was opened"))
    }

    fn pane(&self) -> Result<String, Broken> {
        Ok(self.before()?.pane.id.clone())
    }

    fn id(&self) -> Result<String, Broken> {
        let agent = self.before()?.pane.agent.as_ref();
        let id = agent.and_then(|agent| agent.agent_session_id.clone());
        id.ok_or_else(|| Broken::new("the agent's conversation is not known"))
    }

    fn record(&self) -> Result<&Record, Broken> {
        let record = self.record.as_ref();
        record.ok_or_else(|| Broken::new("no record was kept"))
    }
}

fn no_server() -> Broken {
    Broken::new("no server runs")
}

fn hold<T: PartialEq + std::fmt::Debug + ?Sized>(
    what: &str,
    wanted: &T,
    found: &T,
) -> Result<(), Broken> {
    if wanted == found {
        return Ok(());
    }
    Err(Broken(format!(
        "{what} should be {wanted:?}, but is {found:?}"
    )))
}

fn last_lines(text: &str) -> String {
    let lines: Vec<_> = text
        .lines()
        .filter(|line| !line.trim().is_empty())
        .collect();
    let skipped = lines.len().saturating_sub(4);
    let lines = lines
        .into_iter()
        .skip(skipped)
        .map(|line| format!("| {line}"));
    lines.collect::<Vec<_>>().join("\n")
}

const FACTS: [&str; 2] = ["the key is under the stone", "the door is blue"];

const PAUSE: Duration = Duration::from_millis(25);

const SETTLED: Duration = Duration::from_millis(300);

const TEXT_LIMIT: Duration = Duration::from_secs(5);

const SAVE_LIMIT: Duration = Duration::from_secs(8);

const RESUME_LIMIT: Duration = Duration::from_secs(20);

const CALL_LIMIT: Duration = Duration::from_secs(5);
