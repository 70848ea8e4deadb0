//! What the story asks of its server and its pane, and how an answer breaks it.

use std::time::{Duration, Instant};

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::agent::{self, Record};
use super::story::{FACTS, PAUSE, Story, TEXT_LIMIT};
use crate::cli::environment;
use crate::client::ClientError;
use crate::protocol::{PaneInfo, PaneRead, PaneRef, PaneResume, PaneSend, PaneText, Resumed};

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

/// What a refusal says.
#[derive(Debug)]
pub(super) struct Refused {
    pub(super) said: String,
    pub(super) evidence: Vec<String>,
}

impl Story<'_> {
    /// A resume that has to be refused for one of these reasons.
    pub(super) async fn refused(&mut self, reasons: &[&str]) -> Result<Refused, Broken> {
        let pane = self.pane()?;
        let error = match self.try_resume(&pane).await {
            Err(ClientError::Wire(error)) if error.code == "RESUME_REFUSED" => error,
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
        let lines = error.details.get("evidence").and_then(Value::as_array);
        let lines = lines.into_iter().flatten().filter_map(Value::as_str);
        let evidence = lines.map(ToOwned::to_owned).collect();
        Ok(Refused { said: format!("{code}: {error}"), evidence })
    }

    /// A resume whose agent has to be started, seen through, and stopped. What
    /// was seen of it.
    pub(super) async fn contradicted(&mut self, seen: &[&str]) -> Result<String, Broken> {
        let home = self.place.agent_home();
        let ran = agent::listed(&home);
        let Refused { said, evidence } = self.refused(&["contradicted"]).await?;
        for wanted in seen {
            if !evidence.iter().any(|line| line.contains(wanted)) {
                let evidence = evidence.join("\n");
                return Err(Broken::new(format!("no evidence says \"{wanted}\":\n{evidence}")));
            }
        }
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
            "{said}\nEvidence:\n{}\nprocess {impostor} was stopped; pane, conversation and \
             output are kept",
            evidence.join("\n")
        ))
    }

    /// The pane without a process, if its conversation and output are kept.
    pub(super) async fn kept(&mut self) -> Result<PaneInfo, Broken> {
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
                return Err(Broken::new("the saved output lacks what the agent answered"));
            }
        }
        Ok(info)
    }

    /// The environment is that of any other shell: where the agent keeps its
    /// conversations is the server's to know.
    pub(super) async fn try_resume(&mut self, pane: &str) -> Result<Resumed, ClientError> {
        let params = PaneResume {
            pane: pane.to_owned(),
            anyway: false,
            previous: false,
            cwd: None,
            env: environment(),
        };
        let socket = self.place.paths.socket.clone();
        let client = self.client.as_mut().ok_or(ClientError::NoServer { socket })?;
        client.call_within(RESUME_LIMIT, "pane.resume", &params).await
    }

    pub(super) async fn say(&mut self, pane: &str, line: &str) -> Result<(), Broken> {
        let params = PaneSend { pane: pane.to_owned(), text: format!("{line}\r").as_str().into() };
        self.call::<Value>("pane.send", &params).await.map(drop)
    }

    /// Waits until the pane shows a text.
    pub(super) async fn text_with(&mut self, pane: &str, wanted: &str) -> Result<(), Broken> {
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

    pub(super) async fn last_lines(&mut self, pane: &str) -> Result<String, Broken> {
        Ok(last_lines(&self.text(pane).await?.text))
    }

    pub(super) async fn text(&mut self, pane: &str) -> Result<PaneText, Broken> {
        let params = PaneRead { pane: pane.to_owned(), ..PaneRead::default() };
        self.call("pane.read", &params).await
    }

    pub(super) async fn info(&mut self, pane: &str) -> Result<PaneInfo, Broken> {
        let pane = pane.to_owned();
        self.call("pane.info", &PaneRef { pane }).await
    }

    pub(super) async fn call<R: DeserializeOwned>(
        &mut self,
        method: &str,
        params: &impl Serialize,
    ) -> Result<R, Broken> {
        let client = self.client.as_mut().ok_or_else(no_server)?;
        Ok(client.call_within(CALL_LIMIT, method, params).await?)
    }

    pub(super) fn before(&self) -> Result<&PaneInfo, Broken> {
        let seen = self.before.as_ref();
        seen.ok_or_else(|| Broken::new("no pane was opened"))
    }

    pub(super) fn pane(&self) -> Result<String, Broken> {
        Ok(self.before()?.pane.id.clone())
    }

    pub(super) fn id(&self) -> Result<String, Broken> {
        let agent = self.before()?.pane.agent.as_ref();
        let id = agent.and_then(|agent| agent.agent_session_id.clone());
        id.ok_or_else(|| Broken::new("the agent's conversation is not known"))
    }

    pub(super) fn record(&self) -> Result<&Record, Broken> {
        let record = self.record.as_ref();
        record.ok_or_else(|| Broken::new("no record was kept"))
    }
}

pub(super) fn no_server() -> Broken {
    Broken::new("no server runs")
}

/// Compares what should be with what is.
pub(super) fn hold<T: PartialEq + std::fmt::Debug + ?Sized>(
    what: &str,
    wanted: &T,
    found: &T,
) -> Result<(), Broken> {
    if wanted == found {
        return Ok(());
    }
    Err(Broken(format!("{what} should be {wanted:?}, but is {found:?}")))
}

fn last_lines(text: &str) -> String {
    let lines: Vec<_> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    let skipped = lines.len().saturating_sub(4);
    let lines = lines.into_iter().skip(skipped).map(|line| format!("| {line}"));
    lines.collect::<Vec<_>>().join("\n")
}

const RESUME_LIMIT: Duration = Duration::from_secs(20);

const CALL_LIMIT: Duration = Duration::from_secs(5);
