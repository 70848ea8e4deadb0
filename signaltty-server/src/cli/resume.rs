//! `resume`: reopening a conversation, and what is said meanwhile.
//!
//! The server does the work and goes on with it when the client leaves. The
//! stages come over a second connection; where there is none, the person only
//! waits in silence.

use std::path::PathBuf;

use clap::Args;
use serde_json::Value;

use super::progress::write_progress;
use super::{Context, Exit, Failure, place, safe};
use crate::client::{Client, Events};
use crate::protocol::{EventLine, PaneInfo, PaneRef, PaneResume, Resumed, WireOs};

// Arguments of `resume`.
#[derive(Debug, Args)]
pub(super) struct ResumeArgs {
    /// The pane's id, or the start of it; with --all a workspace
    #[arg(required_unless_present = "all")]
    pane: Option<String>,
    /// Every resumable pane, of a workspace where one is named
    #[arg(long, conflicts_with_all = ["cwd", "anyway", "previous"])]
    all: bool,
    /// Start there instead of in the conversation's own directory
    #[arg(long, value_name = "DIR")]
    cwd: Option<PathBuf>,
    /// Although something differs; the conversation stays unconfirmed
    #[arg(long)]
    anyway: bool,
    /// The conversation that the pane kept when nothing proved that it was
    /// reopened; the present one is kept in its place
    #[arg(long)]
    previous: bool,
}

/// Runs `resume`.
pub(super) async fn run(context: &Context, args: ResumeArgs) -> Result<Exit, Failure> {
    if args.all {
        return super::recovery::all(context, args.pane.as_deref()).await;
    }
    let mut client = context.client().await?;
    let cwd = args.cwd.map(|dir| place::from_here(&dir)).transpose()?;
    let mut params = PaneResume {
        pane: args.pane.unwrap_or_default(),
        anyway: args.anyway,
        previous: args.previous,
        cwd: cwd.map(|dir| WireOs(dir.into())),
        env: place::environment(),
    };
    let mut stages = Stages::none();
    if context.watched() {
        let pane = PaneRef { pane: params.pane };
        let info: PaneInfo = client.call("pane.info", &pane).await?;
        params.pane = info.pane.id;
        stages = Stages::of(context, &params.pane).await;
    }
    let call = client.call::<_, Value>("pane.resume", &params);
    let Some(result) = stages.meanwhile(context, call).await else {
        return Ok(Exit::Failed);
    };
    let value = result?;
    let proven = value.get("verdict").and_then(Value::as_str) == Some("verified");
    context.answer("pane.resume", value, render)?;
    Ok(if proven { Exit::Done } else { Exit::Unproven })
}

fn render(resumed: &Resumed) -> String {
    let pane = safe(&resumed.pane_id);
    let id = safe(resumed.agent_session_id.as_deref().unwrap_or("of the agent"));
    let mut text = match resumed.verdict.as_str() {
        "verified" => format!("{pane}: conversation {id} is open again, verified\n"),
        verdict => format!(
            "{pane}: an agent was started and left open, but nothing proves that it holds \
             conversation {id} ({}); look at it before you go on\n",
            safe(verdict)
        ),
    };
    for seen in &resumed.evidence {
        text.push_str(&format!("  seen: {}\n", safe(seen)));
    }
    for (what, options) in [("with", &resumed.carried), ("not carried", &resumed.not_carried)] {
        if !options.is_empty() {
            let options: Vec<_> = options.iter().map(|option| safe(option)).collect();
            text.push_str(&format!("  {what}: {}\n", options.join(", ")));
        }
    }
    text
}

/// Stages of one pane's resume, as the server tells them.
pub(super) struct Stages {
    pane: String,
    events: Option<Events>,
    shown: bool,
}

impl Stages {
    pub(super) fn none() -> Self {
        Self { pane: String::new(), events: None, shown: false }
    }

    pub(super) async fn of(context: &Context, pane: &str) -> Self {
        let events = match Client::connect(&context.paths).await {
            Ok(client) => client.events().await.ok(),
            Err(_) => None,
        };
        Self { pane: pane.to_owned(), events, shown: false }
    }

    /// Shows the stages while something is waited for; `None` where its person
    /// left.
    pub(super) async fn meanwhile<T>(
        mut self,
        context: &Context,
        call: impl Future<Output = T>,
    ) -> Option<T> {
        tokio::pin!(call);
        let result = loop {
            tokio::select! {
                result = &mut call => break Some(result),
                stage = self.next() => self.show(&stage),
                _ = tokio::signal::ctrl_c() => break None,
            }
        };
        self.clear();
        if result.is_none() {
            context.remark("left; the server goes on, `signaltty ls` shows what came of it\n");
        }
        result
    }

    /// The next stage; waits for ever where none can come.
    async fn next(&mut self) -> String {
        while let Some(events) = &mut self.events {
            match events.next().await {
                Ok(Some(event)) => {
                    if let Some(stage) = stage_of(&event, &self.pane) {
                        return stage;
                    }
                }
                Ok(None) | Err(_) => self.events = None,
            }
        }
        std::future::pending().await
    }

    fn show(&mut self, stage: &str) {
        self.shown = true;
        write_progress(&format!("\r\x1b[K{stage} …"));
    }

    fn clear(&mut self) {
        if std::mem::take(&mut self.shown) {
            write_progress("\r\x1b[K");
        }
    }
}

fn stage_of(event: &EventLine, pane: &str) -> Option<String> {
    let text = |name: &str| event.payload.get(name).and_then(Value::as_str);
    if text("pane_id").or_else(|| text("pane")) != Some(pane) || event.event != "resume.stage" {
        return None;
    }
    Some(match text("stage")? {
        "marking" => "noting the attempt".to_owned(),
        "waiting" => "waiting for its turn".to_owned(),
        "reading" => "looking at the interrupted turn".to_owned(),
        "continuing" => "waiting for the agent to take the turn up".to_owned(),
        "checking" => "looking at the agent's record".to_owned(),
        "spawning" => "starting the agent".to_owned(),
        "verifying" => "waiting for a proof that it is the same conversation".to_owned(),
        "stopping" => "not the same conversation, stopping the agent".to_owned(),
        other => safe(other),
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn event(name: &str, payload: Value) -> EventLine {
        EventLine { event: name.to_owned(), seq: Some(1), at: String::new(), payload }
    }

    #[test]
    fn only_the_stages_of_the_pane_are_shown() {
        let ours = event("resume.stage", json!({"pane_id":"pane_1","stage":"spawning"}));
        assert_eq!(stage_of(&ours, "pane_1").unwrap(), "starting the agent");
        assert_eq!(stage_of(&ours, "pane_2"), None);
        let short = event("resume.stage", json!({"pane":"pane_1","stage":"x\u{1b}"}));
        assert_eq!(stage_of(&short, "pane_1").unwrap(), "x\\x1b");
        let other = event("pane.state", json!({"pane_id":"pane_1","stage":"spawning"}));
        assert_eq!(stage_of(&other, "pane_1"), None);
    }

    #[test]
    fn what_is_not_verified_never_reads_as_if_it_were() {
        let mut resumed = Resumed {
            pane_id: "pane_1".into(),
            agent_session_id: Some("c1".into()),
            verdict: "verified".into(),
            evidence: vec!["it lists itself\u{7}".into()],
            carried: Vec::new(),
            not_carried: Vec::new(),
        };
        assert_eq!(
            render(&resumed),
            "pane_1: conversation c1 is open again, verified\n  seen: it lists itself\\x07\n"
        );
        resumed.carried = vec!["--model x\u{1b}".into(), "--verbose".into()];
        resumed.not_carried = vec!["--settings".into()];
        let text = render(&resumed);
        let options = "  with: --model x\\x1b, --verbose\n  not carried: --settings\n";
        assert!(text.ends_with(options), "{text}");
        resumed.verdict = "unconfirmed".into();
        assert!(render(&resumed).contains("nothing proves"));
    }
}
