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
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde::Deserialize;
use signaltty_core::agent::AgentSessionId;
use signaltty_core::id::InstanceId;

use crate::IdForm;
use crate::loopback::{Answer, AskError};

/// What the processes that are listened to have told.
#[derive(Debug, Default)]
pub(super) struct Events {
    by_instance: Mutex<BTreeMap<InstanceId, Arc<Mutex<Heard>>>>,
    turns: AtomicU64,
}

/// What one told.
#[derive(Debug, Default)]
struct Heard {
    /// Conversations in which a turn ran, the newest last.
    worked: Vec<Worked>,
    /// Whose they are, as far as it was asked.
    persons: BTreeMap<AgentSessionId, bool>,
}

/// A conversation in which a turn ran.
#[derive(Debug, Clone)]
pub(super) struct Worked {
    pub(super) id: AgentSessionId,
    /// Its newest turn that came to its end, by a number that no other turn has,
    /// also where a process had to be listened to anew.
    pub(super) ended: Option<u64>,
    /// One runs.
    runs: bool,
    /// That was broken off by a person.
    broken_off: bool,
}

impl Events {
    /// The person's conversation in which a turn ran last, since the process is
    /// listened to. Begins to listen where nobody does.
    ///
    /// # Errors
    ///
    /// The process could not be asked whose conversation that is: another one
    /// must not be taken for it.
    pub(super) fn front(
        self: &Arc<Self>,
        instance: InstanceId,
        form: IdForm,
        connect: impl FnOnce() -> Result<Answer, AskError>,
        of_persons: impl Fn(&AgentSessionId) -> Option<BTreeSet<AgentSessionId>>,
    ) -> Result<Option<Worked>, NoAnswer> {
        let known = lock(&self.by_instance).get(&instance).cloned();
        let Some(heard) = known else {
            self.listen(instance, form, connect);
            return Ok(None);
        };
        let worked = lock(&heard).worked.clone();
        for one in worked.into_iter().rev() {
            let id = &one.id;
            let asked = lock(&heard).persons.get(id).copied();
            let persons = match asked {
                Some(persons) => persons,
                None => of_persons(id).ok_or(NoAnswer)?.contains(id),
            };
            lock(&heard).persons.insert(id.clone(), persons);
            if persons {
                return Ok(Some(one));
            }
        }
        Ok(None)
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
        lock(&self.by_instance).insert(instance, Arc::clone(&heard));
        let events = Arc::clone(self);
        let listener = std::thread::Builder::new().name("opencode events".to_owned());
        let listening = listener.stack_size(STACK).spawn(move || {
            hear(answer.stream(), form, &heard, &events.turns);
            lock(&events.by_instance).remove(&instance);
        });
        if listening.is_err() {
            lock(&self.by_instance).remove(&instance);
        }
    }
}

/// Reads events until there are no more. Turns are numbered on from `turns`.
fn hear(mut from: impl BufRead, form: IdForm, heard: &Mutex<Heard>, turns: &AtomicU64) {
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
            && let Some((id, step)) = step_in(&line, form)
        {
            lock(heard).note(id, step, turns);
        }
        rest = !whole;
    }
}

/// What an event says of a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step {
    Runs,
    /// A person broke it off; that it is over comes next.
    BrokenOff,
    Over,
}

/// A conversation and what a line says of a turn in it, where it says that.
fn step_in(line: &[u8], form: IdForm) -> Option<(AgentSessionId, Step)> {
    let text = std::str::from_utf8(line.strip_prefix(b"data:")?).ok()?;
    // Most events are others, and some of them are long.
    if !text.contains("session.status") && !text.contains("session.error") {
        return None;
    }
    let Event { kind, properties } = serde_json::from_str(text).ok()?;
    let step = match (kind.as_str(), properties.status, properties.error) {
        ("session.status", Some(status), _) if status.kind == "idle" => Step::Over,
        ("session.status", Some(_), _) => Step::Runs,
        // Others are the agent's own, and leave something to be read.
        ("session.error", _, Some(error)) if error.name == ABORTED => Step::BrokenOff,
        _ => return None,
    };
    Some((form.parse(&properties.session?).ok()?, step))
}

impl Heard {
    fn note(&mut self, id: AgentSessionId, step: Step, turns: &AtomicU64) {
        let at = self.worked.iter().position(|known| known.id == id);
        let known = at.and_then(|at| self.worked.get_mut(at));
        match (step, known) {
            (Step::BrokenOff, Some(known)) => known.broken_off = known.runs,
            // What is over is told more than once.
            (Step::Over, Some(known)) if known.runs => {
                known.runs = false;
                if !known.broken_off {
                    known.ended = Some(turns.fetch_add(1, Ordering::Relaxed));
                }
            }
            (Step::BrokenOff | Step::Over, _) => {}
            (Step::Runs, _) => self.runs(id, at),
        }
    }

    /// A turn runs in this conversation, which is known `at` this place.
    fn runs(&mut self, id: AgentSessionId, at: Option<usize>) {
        let known = at.map(|at| self.worked.remove(at));
        if self.worked.len() >= MOST {
            let oldest = self.worked.remove(0);
            self.persons.remove(&oldest.id);
        }
        let ended = known.and_then(|known| known.ended);
        self.worked.push(Worked { id, ended, runs: true, broken_off: false });
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
    session: Option<String>,
    status: Option<Status>,
    error: Option<Error>,
}

#[derive(Deserialize)]
struct Status {
    #[serde(rename = "type")]
    kind: String,
}

#[derive(Deserialize)]
struct Error {
    name: String,
}

/// The process did not answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct NoAnswer;

/// Nothing is left half done under these locks.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The error of a turn that a person broke off.
const ABORTED: &str = "MessageAbortedError";

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

    fn turns(text: &str, numbers: &AtomicU64) -> Vec<Worked> {
        let heard = Mutex::new(Heard::default());
        hear(text.as_bytes(), FORM, &heard, numbers);
        heard.into_inner().unwrap().worked
    }

    fn heard(text: &str) -> Vec<String> {
        turns(text, &AtomicU64::new(0)).iter().map(|one| one.id.to_string()).collect()
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

    fn broken_off(id: &str) -> String {
        format!(
            "data: {{\"type\":\"session.error\",\"properties\":{{\"sessionID\":\"{id}\",\
             \"error\":{{\"name\":\"MessageAbortedError\",\"data\":{{}}}}}}}}\n\n"
        )
    }

    #[test]
    fn s0_53_turns_that_ended_are_told_apart() {
        let turn = |id| [status(id, "busy"), status(id, "retry"), status(id, "idle")].concat();
        let said = [turn(A), status(A, "idle"), turn(B), turn(A), status(B, "busy")].concat();
        let numbers = AtomicU64::new(0);
        let seen: Vec<_> = turns(&said, &numbers)
            .into_iter()
            .map(|one| (one.id.to_string(), one.ended, one.runs))
            .collect();
        assert_eq!(seen, [(A.into(), Some(2), false), (B.into(), Some(1), true)]);
        // Listened to anew, as after a connection that broke.
        assert_eq!(turns(&turn(A), &numbers)[0].ended, Some(3));
    }

    #[test]
    fn s0_53_a_turn_that_a_person_broke_off_has_not_ended() {
        let off = |id| [status(id, "busy"), broken_off(id), status(id, "idle")].concat();
        let ended = |said: &str| turns(said, &AtomicU64::new(0))[0].ended;
        // As 1.18.33 tells it: the end comes twice.
        assert_eq!(ended(&[&*off(A), &status(A, "idle")].concat()), None);
        let whole = [status(A, "busy"), status(A, "idle")].concat();
        assert_eq!(ended(&[&*off(A), &whole].concat()), Some(0));
        assert_eq!(ended(&[&*whole, &off(A)].concat()), Some(0));
        assert_eq!(ended(&[&*broken_off(A), &whole].concat()), Some(0), "none ran");
        let failed = broken_off(A).replace("MessageAbortedError", "APIError");
        assert_eq!(ended(&[&*status(A, "busy"), &failed, &status(A, "idle")].concat()), Some(0));
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
