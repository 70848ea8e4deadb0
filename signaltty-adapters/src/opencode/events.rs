//! The events of OpenCode's own server.
//!
//! A look sees the turns that run at that moment; one that is over sooner is
//! seen only here. The events are those of the very process that the connection
//! was seen to end in, and not of the database that all processes share.
//!
//! Each process is listened to by a thread of its own, which ends with the
//! connection, and so with the process.

use std::collections::{BTreeMap, BTreeSet};
use std::io::BufRead;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde::Deserialize;
use signaltty_core::agent::AgentSessionId;
use signaltty_core::id::InstanceId;

use crate::IdForm;
use crate::loopback::{Answer, AskError};

/// What the processes that are listened to have told.
#[derive(Debug, Default)]
pub(super) struct Events(Mutex<BTreeMap<InstanceId, Arc<Mutex<Heard>>>>);

/// What one told.
#[derive(Debug, Default)]
struct Heard {
    /// Conversations in which a turn ran, the newest last, each with how many came
    /// to their end.
    worked: Vec<Worked>,
    /// Whose they are, as far as it was asked.
    persons: BTreeMap<AgentSessionId, bool>,
}

/// A conversation in which a turn ran.
#[derive(Debug, Clone)]
pub(super) struct Worked {
    pub(super) id: AgentSessionId,
    /// How many turns of it came to their end.
    pub(super) ended: u64,
    /// One runs.
    runs: bool,
}

impl Events {
    /// The person's conversation in which a turn ran last, since the process is
    /// listened to. Begins to listen where nobody does.
    pub(super) fn front(
        self: &Arc<Self>,
        instance: InstanceId,
        form: IdForm,
        connect: impl FnOnce() -> Result<Answer, AskError>,
        of_persons: impl Fn(&AgentSessionId) -> Option<BTreeSet<AgentSessionId>>,
    ) -> Option<Worked> {
        let known = lock(&self.0).get(&instance).cloned();
        let Some(heard) = known else {
            self.listen(instance, form, connect);
            return None;
        };
        let worked = lock(&heard).worked.clone();
        for one in worked.into_iter().rev() {
            let id = &one.id;
            let asked = lock(&heard).persons.get(id).copied();
            let persons = match asked {
                Some(persons) => persons,
                // One that cannot be asked now may be the one in front.
                None => of_persons(id)?.contains(id),
            };
            lock(&heard).persons.insert(id.clone(), persons);
            if persons {
                return Some(one);
            }
        }
        None
    }

    fn listen(
        self: &Arc<Self>,
        instance: InstanceId,
        form: IdForm,
        connect: impl FnOnce() -> Result<Answer, AskError>,
    ) {
        // One that has no events, or no time now, is asked at the next look.
        let Some(answer) = connect().ok().filter(|answer| answer.status == 200) else {
            return;
        };
        let heard = Arc::new(Mutex::new(Heard::default()));
        lock(&self.0).insert(instance, Arc::clone(&heard));
        let events = Arc::clone(self);
        let listener = std::thread::Builder::new().name("opencode events".to_owned());
        let listening = listener.stack_size(STACK).spawn(move || {
            hear(answer.stream(), form, &heard);
            lock(&events.0).remove(&instance);
        });
        if listening.is_err() {
            lock(&self.0).remove(&instance);
        }
    }
}

/// Reads events until there are no more.
fn hear(mut from: impl BufRead, form: IdForm, heard: &Mutex<Heard>) {
    let mut line = Vec::new();
    // Whether what comes is the rest of a line that was too long.
    let mut rest = false;
    loop {
        line.clear();
        let read = std::io::Read::take(&mut from, MAX_LINE).read_until(b'\n', &mut line);
        if !matches!(read, Ok(1..)) {
            return;
        }
        let whole = line.ends_with(b"\n");
        if whole
            && !rest
            && let Some((id, runs)) = status_in(&line, form)
        {
            lock(heard).note(id, runs);
        }
        rest = !whole;
    }
}

/// A conversation and whether a turn runs in it by now, where a line says that.
fn status_in(line: &[u8], form: IdForm) -> Option<(AgentSessionId, bool)> {
    let text = std::str::from_utf8(line.strip_prefix(b"data:")?).ok()?;
    // Most events are others, and some of them are long.
    if !text.contains("session.status") {
        return None;
    }
    let event: Event = serde_json::from_str(text).ok()?;
    let id = form.parse(&event.properties.session).ok()?;
    (event.kind == "session.status").then(|| (id, event.properties.status.kind != "idle"))
}

impl Heard {
    fn note(&mut self, id: AgentSessionId, runs: bool) {
        let known = self.worked.iter().position(|known| known.id == id);
        if !runs {
            let ran = known.and_then(|at| self.worked.get_mut(at)).filter(|known| known.runs);
            if let Some(ended) = ran {
                ended.runs = false;
                ended.ended += 1;
            }
            return;
        }
        let ended = known.map_or(0, |at| self.worked.remove(at).ended);
        if self.worked.len() >= MOST {
            let oldest = self.worked.remove(0);
            self.persons.remove(&oldest.id);
        }
        self.worked.push(Worked { id, ended, runs });
    }
}

#[derive(Deserialize)]
struct Event {
    #[serde(rename = "type")]
    kind: String,
    properties: Properties,
}

#[derive(Deserialize)]
struct Properties {
    #[serde(rename = "sessionID")]
    session: String,
    status: Status,
}

#[derive(Deserialize)]
struct Status {
    #[serde(rename = "type")]
    kind: String,
}

/// Nothing is left half done under these locks.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The longest line that is read: 64 KiB. A turn is told in a few hundred bytes.
const MAX_LINE: u64 = 64 << 10;

/// The most conversations of one process that are kept in mind.
const MOST: usize = 16;

/// Of a thread that reads lines and parses small JSON.
const STACK: usize = 128 << 10;

#[cfg(test)]
mod tests {
    use super::*;

    const FORM: IdForm = super::super::ID_FORM;
    const A: &str = "ses_aaaaaaaaaaaaaaaaaaaaaaaaaa";
    const B: &str = "ses_bbbbbbbbbbbbbbbbbbbbbbbbbb";

    fn heard(text: &str) -> Vec<String> {
        let heard = Mutex::new(Heard::default());
        hear(text.as_bytes(), FORM, &heard);
        let heard = heard.into_inner().unwrap();
        heard.worked.iter().map(|one| one.id.to_string()).collect()
    }

    fn status(id: &str, kind: &str) -> String {
        format!(
            "data: {{\"id\":\"evt_1\",\"type\":\"session.status\",\"properties\":\
             {{\"sessionID\":\"{id}\",\"status\":{{\"type\":\"{kind}\"}}}}}}\n\n"
        )
    }

    #[test]
    fn a_turn_is_heard_of_however_short_it_was() {
        let one = [status(A, "busy"), status(A, "idle")].concat();
        assert_eq!(heard(&one), [A]);
        assert_eq!(heard(&[&*one, &status(B, "busy"), &status(A, "retry")].concat()), [B, A]);
    }

    #[test]
    fn s0_53_turns_that_ended_are_counted_in_each_conversation() {
        let heard = Mutex::new(Heard::default());
        let turn = |id| [status(id, "busy"), status(id, "retry"), status(id, "idle")].concat();
        let said = [turn(A), status(A, "idle"), turn(B), turn(A), status(B, "busy")].concat();
        hear(said.as_bytes(), FORM, &heard);
        let worked = heard.into_inner().unwrap().worked;
        let seen: Vec<_> =
            worked.iter().map(|one| (one.id.as_str(), one.ended, one.runs)).collect();
        assert_eq!(seen, [(A, 2, false), (B, 1, true)]);
    }

    #[test]
    fn what_is_no_turn_is_passed_over() {
        let long = format!("data: {}session.status\n", "x".repeat(200_000));
        for odd in [
            "data: {\"type\":\"session.idle\",\"properties\":{\"sessionID\":\"x\"}}\n",
            "data: session.status\n",
            "data: {\"type\":\"session.status\",\"properties\":{}}\n",
            ": a comment\n\n",
            "\u{0}\n",
            &status("../odd", "busy"),
            &status(A, "idle"),
            // The end of a line that is too long is no line.
            &long.replace("session.status", &status(A, "busy")),
        ] {
            assert_eq!(heard(&[odd, &status(B, "busy")].concat()), [B], "{odd:.80}");
        }
        assert_eq!(heard(status(A, "busy").trim_end()), Vec::<String>::new(), "it was cut");
        let many: String = (0..40).map(|n| status(&format!("ses_{n:026}"), "busy")).collect();
        assert_eq!(heard(&many).len(), MOST);
    }
}
