//! `events.subscribe`: the past if it is asked for, then the present.
//!
//! With anything but a complete replay nothing follows, and the connection is
//! closed: a client that believes it saw everything is worse off than one that
//! reads the state again.

use std::sync::Arc;

use serde_json::Value;
use signaltty_persist::journal::{Cursor, MAX_REPLAY, Replay};
use tokio::sync::oneshot;

use super::publisher::{Line, Subscription, text};
use crate::protocol::{EventsSubscribe, Subscribed, WireError, code};

/// A subscription that was answered.
pub(crate) struct Stream {
    pub(crate) reply: Subscribed,
    /// What comes before anything new.
    pub(crate) past: Vec<Arc<[u8]>>,
    /// What is new, if the client gets it.
    pub(crate) lines: Option<tokio::sync::broadcast::Receiver<Line>>,
    pub(crate) filter: Filter,
}

/// Which events a client wants.
#[derive(Debug, Clone, Default)]
pub(crate) struct Filter(Vec<String>);

impl Filter {
    pub(crate) fn wants(&self, event: &str) -> bool {
        self.0.is_empty() || self.0.iter().any(|pattern| fits(pattern, event))
    }
}

/// Reads the past and makes the reply.
pub(crate) async fn answer(
    ask: EventsSubscribe,
    epoch: String,
    subscription: oneshot::Receiver<Subscription>,
) -> Result<Stream, WireError> {
    let Ok(Subscription { lines, seq, journal_id, past }) = subscription.await else {
        let message = "too many events wait for the disk; try again";
        return Err(WireError::new(code::BUSY, message));
    };
    let filter = Filter(ask.filter);
    let mut reply = Subscribed { seq, epoch, journal_id, ..Subscribed::default() };
    let Some(from) = ask.from else {
        reply.subscribed = true;
        return Ok(Stream { reply, past: Vec::new(), lines: Some(lines), filter });
    };
    let replay = match past {
        Some(Ok(view)) => {
            let id = from.journal_id.unwrap_or_else(|| view.id().to_owned());
            let cursor = Cursor { journal_id: id, seq: from.seq };
            let wanted = filter.clone();
            // It reads files, up to all of them.
            let read =
                tokio::task::spawn_blocking(move || view.replay(&cursor, |e| wanted.wants(e)));
            read.await
                .map_err(|_| WireError::new(code::INTERNAL, "the replay panicked; see the log"))?
        }
        Some(Err(why)) => Replay::Unavailable { why },
        None => Replay::Unavailable { why: "the past was not asked for".to_owned() },
    };
    let past = fill(&mut reply, replay);
    let lines = reply.subscribed.then_some(lines);
    Ok(Stream { reply, past, lines, filter })
}

fn fill(reply: &mut Subscribed, replay: Replay) -> Vec<Arc<[u8]>> {
    let (word, message) = match replay {
        Replay::Complete(events) => {
            reply.subscribed = true;
            reply.replay = Some("complete".to_owned());
            reply.replayed = events.len();
            let line = |e: &signaltty_persist::journal::Recorded| {
                text(&e.event, Some(e.seq), e.at, &e.payload)
            };
            return events.iter().map(line).collect();
        }
        Replay::HistoryLost { from, to } => {
            reply.lost = Some((from, to));
            ("history_lost", format!("events between {from} and {to} are not there any more"))
        }
        Replay::Truncated => {
            ("truncated", format!("there are more than {MAX_REPLAY} events since then"))
        }
        Replay::Unavailable { why } => ("unavailable", why),
        Replay::CursorAhead { head } => {
            ("cursor_ahead", format!("the last event was {head}; nothing later has happened yet"))
        }
        _ => ("unavailable", "the answer is of another version".to_owned()),
    };
    reply.replay = Some(word.to_owned());
    let advice =
        "read the state again, then subscribe again without a start or from the newest event";
    reply.message = Some(format!("{message}; {advice}"));
    Vec::new()
}

/// The reply as it goes over the wire.
pub(crate) fn value(reply: &Subscribed) -> Value {
    super::effects::to_value(reply)
}

/// Whether a name fits a pattern, in which `*` stands for any characters.
fn fits(pattern: &str, name: &str) -> bool {
    let Some((start, rest)) = pattern.split_once('*') else {
        return pattern == name;
    };
    let Some(name) = name.strip_prefix(start) else {
        return false;
    };
    let ends = name.char_indices().map(|(at, _)| at).chain([name.len()]);
    ends.filter_map(|at| name.get(at..)).any(|name| fits(rest, name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_fit_names() {
        for (pattern, name, expected) in [
            ("pane.state", "pane.state", true),
            ("pane.state", "pane.states", false),
            ("pane.*", "pane.state", true),
            ("pane.*", "pane", false),
            ("*", "anything", true),
            ("*.state", "pane.state", true),
            ("p*e.*t*", "pane.state", true),
            ("p*x", "pane.state", false),
            ("", "pane.state", false),
        ] {
            assert_eq!(fits(pattern, name), expected, "{pattern} {name}");
        }
        assert!(Filter::default().wants("pane.state"));
    }

    /// Asks for the past of a journal with events 2, 3 and 4 in it.
    fn ask(from: Option<(Option<&str>, u64)>, filter: &[&str]) -> (Stream, Vec<String>) {
        use signaltty_core::time::UnixMillis;
        use signaltty_persist::{Owner, StateDir};

        let temporary = tempfile::tempdir().unwrap();
        let owner = Owner { pid: 1, started_at: UnixMillis(0), socket: None };
        let dir = StateDir::open(&temporary.path().join("state"), &owner).unwrap();
        let (send, _events) = tokio::sync::mpsc::channel(8);
        let epoch = signaltty_core::id::ServerEpoch(1);
        let (publisher, thread) =
            crate::daemon::recorder::start(dir, 0, [7; 8], epoch, send).unwrap();
        for event in ["pane.created", "pane.state", "pane.closed"] {
            publisher.hand_over(crate::daemon::publisher::Pending {
                event,
                at: UnixMillis(0),
                payload: "{}".to_owned(),
                recorded: None,
                passing: false,
                dropped_before: 0,
            });
        }
        let ask = EventsSubscribe {
            from: from.map(|(id, seq)| crate::protocol::EventCursor {
                journal_id: id.map(str::to_owned),
                seq,
            }),
            filter: filter.iter().map(|&pattern| pattern.to_owned()).collect(),
        };
        let subscription = publisher.subscribe(ask.from.is_some());
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let stream = runtime.block_on(answer(ask, publisher.epoch(), subscription));
        drop(publisher);
        thread.join().unwrap();
        let stream = stream.unwrap_or_else(|error| panic!("{error}"));
        let past = stream.past.iter().map(|line| String::from_utf8_lossy(line).into_owned());
        let past = past.collect();
        (stream, past)
    }

    const ID: &str = "0707070707070707";

    #[test]
    fn s0_51_a_complete_past_comes_before_the_present() {
        for id in [None, Some(ID)] {
            let (stream, past) = ask(Some((id, 2)), &["pane.*"]);
            assert!(stream.reply.subscribed && stream.lines.is_some());
            assert_eq!(stream.reply.replay.as_deref(), Some("complete"));
            assert_eq!(stream.reply.journal_id.as_deref(), Some(ID));
            assert_eq!((stream.reply.replayed, stream.reply.seq), (2, 4));
            assert!(past[0].starts_with("{\"event\":\"pane.state\",\"seq\":3,"), "{past:?}");
            assert!(past[1].starts_with("{\"event\":\"pane.closed\",\"seq\":4,"), "{past:?}");
        }
        let (_, past) = ask(Some((None, 2)), &["pane.closed"]);
        assert_eq!(past.len(), 1);
        let (stream, past) = ask(None, &[]);
        assert!(stream.reply.subscribed && stream.reply.replay.is_none() && past.is_empty());
    }

    #[test]
    fn after_anything_else_nothing_follows() {
        for (from, word) in
            [((None, 99), "cursor_ahead"), ((Some("ffffffffffffffff"), 2), "unavailable")]
        {
            let (stream, past) = ask(Some(from), &[]);
            assert!(!stream.reply.subscribed && stream.lines.is_none() && past.is_empty());
            assert_eq!(stream.reply.replay.as_deref(), Some(word));
            assert!(stream.reply.message.unwrap().contains("read the state again"));
        }
    }
}
