//! `pane.wait`: requests that are answered when something happens in a pane.
//!
//! A connection has at most one of them, so their number is bounded by that of
//! connections. One whose client went away is dropped at the next event.

use serde_json::{Value, json};
use signaltty_core::id::PaneId;
use signaltty_core::session::{Awaited, Baseline};
use tokio::sync::oneshot;
use tokio::time::{Duration, Instant};

use super::dispatch::parse;
use super::effects::to_value;
use super::event::Answer;
use super::event_loop::Daemon;
use super::resolve;
use crate::nearest::nearest;
use crate::protocol::{PaneWait, Waited, WireError, code};

/// Somebody waits.
pub(crate) struct Wait {
    pane: PaneId,
    since: Baseline,
    until: Vec<(String, Awaited)>,
    /// Before this the request is answered, whatever happens.
    deadline: Instant,
    limit: Duration,
    respond: oneshot::Sender<Answer>,
}

impl Daemon {
    pub(super) fn wait(&mut self, params: Value, respond: oneshot::Sender<Answer>) {
        match self.begin_wait(params) {
            Ok(Started::Reached(waited)) => {
                let _ = respond.send(Answer::Value(Ok(to_value(waited))));
            }
            Ok(Started::Waiting { pane, since, until, limit }) => {
                let deadline = Instant::now() + limit;
                self.waits.push(Wait { pane, since, until, deadline, limit, respond });
            }
            Err(error) => {
                let _ = respond.send(Answer::Value(Err(error)));
            }
        }
    }

    fn begin_wait(&self, params: Value) -> Result<Started, WireError> {
        let ask: PaneWait = parse(params)?;
        let pane = resolve::pane(&self.session, &ask.pane)?;
        let until = ask.until.into_iter().map(awaited).collect::<Result<Vec<_>, _>>()?;
        if until.is_empty() {
            let message = "`until` is empty; name at least one state, such as idle or exited";
            return Err(WireError::new(code::BAD_PARAMS, message));
        }
        let limit = ask.timeout_ms.map_or(DEFAULT, Duration::from_millis).min(LONGEST);
        let gone = || WireError::new(code::NO_SUCH_PANE, format!("there is no pane {pane}"));
        let since = match ask.after {
            Some(text) => {
                let since: Baseline = text.parse().map_err(|error| {
                    WireError::new(code::BAD_PARAMS, format!("`after`: {error}"))
                })?;
                if since.pane() != pane {
                    let message =
                        format!("`after` is a baseline of {}, not of {pane}", since.pane());
                    return Err(WireError::new(code::BAD_PARAMS, message));
                }
                since
            }
            None => {
                let holds = until.iter().find(|(_, what)| self.session.holds(pane, *what));
                if let Some((word, _)) = holds {
                    return Ok(Started::Reached(self.waited(pane, word)));
                }
                self.session.baseline(pane).ok_or_else(gone)?
            }
        };
        match self.look_for(pane, &since, &until) {
            Some(result) => result.map(Started::Reached),
            None => Ok(Started::Waiting { pane, since, until, limit }),
        }
    }

    /// Answers those whose time has come.
    pub(super) fn check_waits(&mut self) {
        let now = Instant::now();
        let mut at = 0;
        while let Some(wait) = self.waits.get(at) {
            let result = if wait.respond.is_closed() {
                None
            } else if let Some(result) = self.look_for(wait.pane, &wait.since, &wait.until) {
                Some(result)
            } else if wait.deadline <= now {
                Some(Err(timed_out(wait)))
            } else {
                at += 1;
                continue;
            };
            let wait = self.waits.swap_remove(at);
            if let Some(result) = result {
                let _ = wait.respond.send(Answer::Value(result.map(to_value)));
            }
        }
    }

    /// When the first of them must be answered.
    pub(super) fn waits_until(&self) -> Option<Instant> {
        self.waits.iter().map(|wait| wait.deadline).min()
    }

    /// What it came to, once it came to something.
    fn look_for(
        &self,
        pane: PaneId,
        since: &Baseline,
        until: &[(String, Awaited)],
    ) -> Option<Result<Waited, WireError>> {
        for (word, what) in until {
            match self.session.reached(since, *what) {
                Ok(true) => return Some(Ok(self.waited(pane, word))),
                Ok(false) => {}
                Err(changed) => {
                    let message = format!(
                        "{changed}: another process or conversation took its place, or the server \
                         was restarted; `signaltty pane info {pane}` shows what is there now"
                    );
                    let details = json!({"pane_id": pane.to_string()});
                    return Some(Err(
                        WireError::new(code::IDENTITY_CHANGED, message).with_details(details)
                    ));
                }
            }
        }
        None
    }

    fn waited(&self, pane: PaneId, word: &str) -> Waited {
        let baseline = self.live(pane).and_then(|_| self.session.baseline(pane));
        Waited {
            pane_id: pane.to_string(),
            reached: word.to_owned(),
            baseline: baseline.map(|baseline| baseline.to_string()),
        }
    }
}

enum Started {
    Reached(Waited),
    Waiting { pane: PaneId, since: Baseline, until: Vec<(String, Awaited)>, limit: Duration },
}

fn awaited(word: String) -> Result<(String, Awaited), WireError> {
    let Some(what) = Awaited::parse(&word) else {
        let hint = match nearest(&word, Awaited::words()) {
            Some(near) => format!("did you mean {near}?"),
            None => format!("there are {}", Awaited::words().collect::<Vec<_>>().join(", ")),
        };
        let shown: String = word.chars().take(60).collect();
        let message = format!("nothing can be {shown:?}; {hint}");
        return Err(WireError::new(code::BAD_PARAMS, message));
    };
    Ok((word, what))
}

fn timed_out(wait: &Wait) -> WireError {
    let words: Vec<_> = wait.until.iter().map(|(word, _)| word.as_str()).collect();
    let message = format!(
        "pane {} was not {} within {} s; give --timeout more, or look at it with \
         `signaltty pane info`",
        wait.pane,
        words.join(" or "),
        wait.limit.as_secs_f32()
    );
    let details = json!({"pane_id": wait.pane.to_string()});
    WireError::new(code::TIMEOUT, message).with_details(details)
}

/// How long is waited where nobody says.
const DEFAULT: Duration = Duration::from_secs(3_600);

/// A year: more is meant as for ever, and would overflow a clock.
const LONGEST: Duration = Duration::from_secs(365 * 24 * 3_600);
