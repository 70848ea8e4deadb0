//! One connection: request lines in, reply lines out, in order.

use std::collections::VecDeque;
use std::io;
use std::time::Instant;

use serde_json::{Value, json};
use signaltty_core::session::CommandError;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::UnixStream;
use tokio::sync::{broadcast, mpsc, oneshot};

use super::event::{Answer, Event, Peer};
use super::lines::{Line, Lines};
use super::pace::Pace;
use super::replies::{Due, Replies};
use super::subscribe::Stream;
use super::{attach, publisher, subscribe};
use crate::config::LimitSettings;
use crate::protocol::{MissedEvent, Outcome, Reply, Request, VERSION, WireError, code};

/// Serves a connection until its end. Requests are answered in order, each
/// before the next one is looked at; only of `pane.spawn` several may be under
/// way, so that many panes do not wait for each other.
pub(crate) async fn serve(
    mut stream: UnixStream,
    peer: Peer,
    events: mpsc::Sender<Event>,
    replies: Replies,
    limits: &LimitSettings,
) -> io::Result<()> {
    let max = limits.request_bytes;
    let mut lines = Lines::new(max);
    let mut pace = Pace::new(limits.requests_per_s);
    let mut under_way: VecDeque<Asked> = VecDeque::new();
    loop {
        let line = tokio::select! {
            line = lines.next(&mut stream), if under_way.len() < SPAWNS => line?,
            answer = front(&mut under_way) => {
                if let Some(asked) = under_way.pop_front() {
                    write_answer(&mut stream, &asked.id, answer).await?;
                }
                continue;
            }
        };
        let request = match line {
            Line::End => {
                // Whoever closes its side may still read.
                return finish(&mut stream, under_way).await;
            }
            Line::TooLong => {
                finish(&mut stream, std::mem::take(&mut under_way)).await?;
                let message = format!(
                    "a request line is longer than {max} bytes; it was skipped, nothing \
                     was done; send less at a time"
                );
                write_error(&mut stream, "?", WireError::new(code::TOO_LARGE, message)).await?;
                continue;
            }
            Line::Whole(line) => parse(&line),
        };
        // Whoever asks faster than that is read more slowly; nothing is refused.
        loop {
            let wait = pace.take(Instant::now());
            if wait.is_zero() {
                break;
            }
            tokio::time::sleep(wait).await;
        }
        let spawns = request.as_ref().is_ok_and(|request| request.method == SPAWN);
        if !spawns {
            finish(&mut stream, std::mem::take(&mut under_way)).await?;
        }
        let request = match request {
            Ok(request) => request,
            Err((id, error)) => {
                write_error(&mut stream, &id, error).await?;
                continue;
            }
        };
        let id = request.id.clone();
        let waits = WAITS.contains(&request.method.as_str());
        let (respond, answer) = oneshot::channel();
        let due = replies.due();
        if events.send(Event::Request { peer, request, respond }).await.is_err() {
            return Ok(());
        }
        if spawns {
            under_way.push_back(Asked { id, answer, _due: due });
            continue;
        }
        let answer = if waits {
            tokio::select! {
                answer = answer => answer,
                // Nobody is left who waits.
                ended = lines.ended(&mut stream) => return ended,
            }
        } else {
            answer.await
        };
        match answer {
            Ok(Answer::Attached(attachment)) => {
                let reply = attachment.reply.clone();
                match attachment.begin().await {
                    Ok(attached) => {
                        write_value(&mut stream, &id, reply).await?;
                        drop(due);
                        return attach::serve(stream, lines.into_rest(), attached, events).await;
                    }
                    Err(error) => write_error(&mut stream, &id, error).await?,
                }
            }
            Ok(Answer::Subscribed(events)) => {
                write_value(&mut stream, &id, subscribe::value(&events.reply)).await?;
                drop(due);
                return publish(stream, events).await;
            }
            answer => write_answer(&mut stream, &id, answer).await?,
        }
    }
}

/// The one method of which several requests may be under way.
const SPAWN: &str = "pane.spawn";

/// The methods that end with their client. Any other request is answered also
/// to a client that only stopped writing.
const WAITS: [&str; 2] = ["agent.ask", "pane.wait"];

/// How many of them. More wait in the socket, which slows their client down.
const SPAWNS: usize = 64;

/// A request that was handed to the loop.
struct Asked {
    id: String,
    answer: oneshot::Receiver<Answer>,
    _due: Due,
}

type Answered = Result<Answer, oneshot::error::RecvError>;

/// The answer to the first of them; never comes where there is none.
async fn front(under_way: &mut VecDeque<Asked>) -> Answered {
    match under_way.front_mut() {
        Some(asked) => (&mut asked.answer).await,
        None => std::future::pending().await,
    }
}

/// Answers what is under way, in order.
async fn finish(stream: &mut UnixStream, under_way: VecDeque<Asked>) -> io::Result<()> {
    for Asked { id, answer, _due } in under_way {
        write_answer(stream, &id, answer.await).await?;
    }
    Ok(())
}

async fn write_answer(stream: &mut UnixStream, id: &str, answer: Answered) -> io::Result<()> {
    match answer {
        Ok(Answer::Value(Ok(value))) => write_value(stream, id, value).await,
        Ok(Answer::Value(Err(error))) => write_error(stream, id, error).await,
        Ok(Answer::Attached(_) | Answer::Subscribed(_)) | Err(_) => {
            let gone = WireError::new(code::STOPPING, CommandError::Stopping.to_string());
            write_error(stream, id, gone).await
        }
    }
}

async fn publish(stream: UnixStream, events: Stream) -> io::Result<()> {
    let Stream { past, lines, filter, .. } = events;
    let Some(mut lines) = lines else {
        return Ok(());
    };
    let (mut read, mut write) = stream.into_split();
    for text in past {
        write.write_all(&text).await?;
    }
    let mut ignored = [0; 1024];
    loop {
        let missed = tokio::select! {
            line = lines.recv() => match line {
                Ok(publisher::Line::Event { name, text }) => {
                    if filter.wants(&name) {
                        write.write_all(&text).await?;
                    }
                    continue;
                }
                Ok(publisher::Line::Missed(missed)) => missed,
                Err(broadcast::error::RecvError::Lagged(missed)) => missed,
                Err(broadcast::error::RecvError::Closed) => return Ok(()),
            },
            read = read.read(&mut ignored) => match read? {
                0 => return Ok(()),
                _ => continue,
            },
        };
        let message = "this subscriber fell behind; read the state again and subscribe again";
        let payload = MissedEvent { missed, message: message.to_owned() };
        let line = json!({"event": "events.missed", "payload": payload});
        return write.write_all(format!("{line}\n").as_bytes()).await;
    }
}

fn parse(line: &[u8]) -> Result<Request, (String, WireError)> {
    let bad = |message: String| WireError::new(code::BAD_PARAMS, message);
    let value: Value = serde_json::from_slice(line).map_err(|error| {
        let message = format!("the line is not JSON: {error}; send one request object a line");
        ("?".to_owned(), bad(message))
    })?;
    let id = value.get("id").and_then(Value::as_str).unwrap_or("?").to_owned();
    match value.get("v").and_then(Value::as_str) {
        Some(VERSION) => {}
        Some(other) => {
            let shown: String = other.chars().take(60).collect();
            let message = match number(other) {
                Some(number) => format!(
                    "the request speaks {shown}, this server {VERSION}: {} is older; upgrade it",
                    if number < OWN { "the client" } else { "the server" }
                ),
                None => format!(
                    "the request speaks {shown:?}, which is no version of this protocol; this \
                     server speaks {VERSION}"
                ),
            };
            let details = json!({"server": VERSION, "client": shown});
            let error = WireError::new(code::BAD_PROTOCOL, message).with_details(details);
            return Err((id, error));
        }
        None => {
            let message = format!("the field `v` is missing; it must be {VERSION:?}");
            return Err((id, bad(message)));
        }
    }
    serde_json::from_value(value).map_err(|error| {
        let message = format!(
            "the line is not a request: {error}; it needs `v`, `id`, `method` and `params`"
        );
        (id, bad(message))
    })
}

/// The number of a version of this protocol.
fn number(version: &str) -> Option<u32> {
    version.strip_prefix("signaltty/")?.parse().ok()
}

/// The number of [`VERSION`].
const OWN: u32 = 1;

async fn write_value(stream: &mut UnixStream, id: &str, value: Value) -> io::Result<()> {
    write_reply(stream, Reply { id: id.to_owned(), outcome: Outcome::Result(value) }).await
}

pub(crate) async fn write_error(
    stream: &mut UnixStream,
    id: &str,
    error: WireError,
) -> io::Result<()> {
    write_reply(stream, Reply { id: id.to_owned(), outcome: Outcome::Error(error) }).await
}

async fn write_reply(stream: &mut UnixStream, reply: Reply) -> io::Result<()> {
    let mut line = serde_json::to_vec(&reply)?;
    line.push(b'\n');
    stream.write_all(&line).await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn c025_another_version_names_both_and_the_older() {
        for (version, older) in [("signaltty/0", "the client"), ("signaltty/2", "the server")] {
            let line = format!(r#"{{"v":"{version}","id":"7","method":"server.status"}}"#);
            let (id, error) = parse(line.as_bytes()).unwrap_err();
            assert_eq!(number(VERSION), Some(OWN));
            assert_eq!((id.as_str(), error.code.as_str()), ("7", code::BAD_PROTOCOL));
            assert!(error.message.contains(older), "{error}");
        }
    }

    #[test]
    fn malformed_requests_say_what_is_missing() {
        for (line, says) in [
            ("nonsense", "not JSON"),
            ("{}", "`v` is missing"),
            (r#"{"v":"signaltty/1","id":"1"}"#, "method"),
            (r#"{"v":"signaltty/1","id":3,"method":"x"}"#, "id"),
            ("[1,2]", "`v` is missing"),
        ] {
            let (_, error) = parse(line.as_bytes()).unwrap_err();
            assert!(error.message.contains(says), "{line}: {error}");
        }
        let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
        assert!(parse(deep.as_bytes()).is_err());
    }
}
