//! The story, step by step.

use std::time::{Duration, Instant};

use super::agent::{self, Record, Watched};
use super::ask::{Broken, hold, no_server};
use super::place::Place;
use super::report::Report;
use super::server::Server;
use crate::cli::{Failure, environment};
use crate::client::Client;
use crate::protocol::{Created, Empty, PaneInfo, PaneSpawn, Resumed, Status, WireOs, WorkspaceNew};

/// The story and what it holds on to. Dropping it ends every process.
#[derive(Debug)]
pub(super) struct Story<'a> {
    pub(super) place: &'a Place,
    pub(super) server: Option<Server>,
    pub(super) client: Option<Client>,
    pub(super) agent: Option<Watched>,
    /// The pane as it was before the first kill.
    pub(super) before: Option<PaneInfo>,
    pub(super) record: Option<Record>,
}

impl<'a> Story<'a> {
    pub(super) fn new(place: &'a Place) -> Self {
        Self { place, server: None, client: None, agent: None, before: None, record: None }
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
        step!("The server is killed, and the agent ends with it", self.kill().await);
        step!("A new server shows what is left: a tombstone", self.tombstone().await);
        step!("The conversation is resumed, and proven", self.resume().await);
        step!("The agent remembers", self.remembers().await);
        step!("Everything is saved again", self.saved().await);
        step!("The server is killed once more", self.kill_again().await);
        step!("Impostor 1: the record was emptied. Refused", self.emptied().await);
        step!("Impostor 2: a fresh conversation under the same id. Refused", self.fresh().await);
        step!(
            "Impostor 3: the record is whole, the process loaded none of it. Refused",
            self.echo().await
        );
        step!("With its record back, the conversation is resumed", self.back().await);
        step!("The server stops, and nothing is left running", self.stop().await);
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
        env.insert(agent::HOME.to_owned(), WireOs(self.place.agent_home().into()));
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
        let pid = info.pid.ok_or_else(|| Broken::new("the pane has no process"))?;
        self.agent = Some(Watched::new(pid)?);
        let observed = format!("pane {}, process {pid}, \"you>\" is on its screen", info.pane.id);
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
            let id = info.pane.agent.as_ref().and_then(|a| a.agent_session_id.clone());
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
        Ok(format!("SIGKILL to process {number}; the agent's process has ended too"))
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
            resumed.agent_session_id.as_deref().unwrap_or_default(),
        )?;
        if resumed.evidence.is_empty() {
            return Err(Broken::new("verified without any evidence"));
        }
        let info = self.info(&pane).await?;
        hold("the pane's state", "live", info.pane.state.as_str())?;
        let pid = info.pid.ok_or_else(|| Broken::new("the pane has no process"))?;
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
        Ok(format!("asked what it was told, it says \"{}\"", FACTS.join("\", \"")))
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
        let refused = self.refused(&["damaged", "gone"]).await?.said;
        hold("the processes", &ran, &agent::listed(&self.place.agent_home()))?;
        Ok(format!("{refused}\nno process was started; pane, conversation and output are kept"))
    }

    async fn fresh(&mut self) -> Result<String, Broken> {
        self.record()?.restore()?;
        agent::behave(&self.place.agent_home(), Some("fresh"))?;
        self.contradicted(&[NOTHING_LOADED]).await
    }

    /// All files are as they should be: only what the process says it loaded
    /// tells it from the conversation.
    async fn echo(&mut self) -> Result<String, Broken> {
        self.record()?.restore()?;
        agent::behave(&self.place.agent_home(), Some("echo"))?;
        let refused = self.contradicted(&[NOTHING_LOADED, "extends the saved one"]).await?;
        if !self.record()?.is_whole()? {
            return Err(Broken::new("the record has changed"));
        }
        Ok(format!("{refused}\nthe record is whole"))
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
}

/// What the agent is told.
pub(super) const FACTS: [&str; 2] = ["the key is under the stone", "the door is blue"];

/// What the evidence says of an agent that opened the id and nothing else.
const NOTHING_LOADED: &str = " 0 messages loaded";

pub(super) const PAUSE: Duration = Duration::from_millis(25);

const SETTLED: Duration = Duration::from_millis(300);

pub(super) const TEXT_LIMIT: Duration = Duration::from_secs(5);

const SAVE_LIMIT: Duration = Duration::from_secs(8);
