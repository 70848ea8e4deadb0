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
    /// Conversations in which a turn ran, the newest last.
    worked: Vec<AgentSessionId>,
    /// Whose they are, as far as it was asked.
    persons: BTreeMap<AgentSessionId, bool>,
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
    ) -> Option<AgentSessionId> {
        let known = lock(&self.0).get(&instance).cloned();
        let Some(heard) = known else {
            self.listen(instance, form, connect);
            return None;
        };
        let worked = lock(&heard).worked.clone();
        for id in worked.into_iter().rev() {
            let asked = lock(&heard).persons.get(&id).copied();
            let persons = match asked {
                Some(persons) => persons,
                // One that cannot be asked now may be the one in front.
                None => of_persons(&id)?.contains(&id),
            };
            lock(&heard).persons.insert(id.clone(), persons);
            if persons {
                return Some(id);
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
            && let Some(id) = worked_in(&line, form)
        {
            lock(heard).note(id);
        }
        rest = !whole;
    }
}

/// The conversation in which a turn runs by now, where a line says that.
fn worked_in(line: &[u8], form: IdForm) -> Option<AgentSessionId> {
    let text = std::str::from_utf8(line.strip_prefix(b"data:")?).ok()?;
    // Most events are others, and some of them are long.
    if !text.contains("session.status") {
        return None;
    }
    let event: Event = serde_json::from_str(text).ok()?;
    let busy = event.kind == "session.status" && event.properties.status.kind != "idle";
    form.parse(&event.properties.session).ok().filter(|_| busy)
}

impl Heard {
    fn note(&mut self, id: AgentSessionId) {
        self.worked.retain(|known| *known != id);
        if self.worked.len() >= MOST {
            let oldest = self.worked.remove(0);
            self.persons.remove(&oldest);
        }
        self.worked.push(id);
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
        heard.worked.iter().map(ToString::to_string).collect()
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
