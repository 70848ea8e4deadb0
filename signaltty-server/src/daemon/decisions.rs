//! A hook that waits for a person's decision.
//!
//! It waits for as long as its connection stands, and no longer than it may.
//! Whatever ends the wait but an answer grants nothing.

use std::time::Duration;

use signaltty_adapters::Question;
use signaltty_core::id::{InstanceId, PaneId, RequestId};
use signaltty_core::session::{Command, CommandError, Input};
use tokio::sync::oneshot;

use super::effects::to_value;
use super::event::{Answer, Event};
use super::event_loop::{Daemon, Waiting};
use crate::protocol::{self as wire, Decided, WireError, code};

/// How long a hook waits for a person.
const PATIENCE: Duration = Duration::from_secs(120);

impl Daemon {
    /// Asks a person, and answers with the decision.
    pub(super) fn ask(
        &mut self,
        instance: InstanceId,
        question: Question,
        mut respond: oneshot::Sender<Answer>,
    ) {
        let Some(pane) = self.panes.of(instance).map(|handle| handle.pane) else {
            let gone = WireError::new(code::GONE, "the process that asks is not running any more");
            let _ = respond.send(Answer::Value(Err(gone)));
            return;
        };
        let request = self.new_request();
        let (asked, decided) = oneshot::channel();
        self.waiting.insert(request, Waiting { respond: asked, env: None, remarks: None });
        let text = question.text.as_str().into();
        self.input(Input::Command { request, command: Command::Ask { instance, question: text } });
        let events = self.events.clone();
        tokio::spawn(async move {
            let left = Event::AskerLeft { pane, asked: request };
            let answer = tokio::select! {
                answer = decided => match answer {
                    Ok(Answer::Value(answer)) => answer.and_then(|value| decision(value, &question)),
                    _ => Err(WireError::new(code::STOPPING, CommandError::Stopping.to_string())),
                },
                () = respond.closed() => {
                    let _ = events.send(left).await;
                    return;
                }
                () = tokio::time::sleep(PATIENCE) => {
                    let _ = events.send(left).await;
                    let message = format!("nobody decided within {} s", PATIENCE.as_secs());
                    Err(WireError::new(code::TIMEOUT, message))
                }
            };
            let _ = respond.send(Answer::Value(answer));
        });
    }

    /// Who asked does not wait any more, so there is nothing to answer.
    pub(super) fn asker_left(&mut self, pane: PaneId, asked: RequestId) {
        let request = self.new_request();
        // It may have been answered meanwhile, which is then no news to anybody.
        self.input(Input::Command { request, command: Command::Withdraw { pane, asked } });
    }
}

fn decision(value: serde_json::Value, question: &Question) -> Result<serde_json::Value, WireError> {
    let answer = value.get("answer").cloned().unwrap_or_default();
    let answer: wire::Answer = serde_json::from_value(answer)
        .map_err(|error| WireError::new(code::BAD_PARAMS, format!("no decision: {error}")))?;
    let output = match answer {
        wire::Answer::Allow => question.allow.clone(),
        wire::Answer::Deny => question.deny.clone(),
    };
    Ok(to_value(Decided { answer, output }))
}
