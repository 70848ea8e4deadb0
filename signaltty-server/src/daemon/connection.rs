//! One connection: request lines in, reply lines out, in order.
//!
//! A line is read with a bound, so a client cannot make the server hold more
//! than one request. A line over the limit is answered and skipped.

use std::io;
use std::sync::Arc;

use bytes::{Buf as _, BytesMut};
use serde_json::{Value, json};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::UnixStream;
use tokio::sync::{broadcast, mpsc, oneshot, watch};

use super::event::{Answer, Event, Peer};
use super::subscribe::Stream;
use super::{attach, publisher, subscribe};
use crate::protocol::{Outcome, Reply, Request, VERSION, WireError, code};

/// How much of an oversized line is skipped before the connection is closed.
const MAX_SKIPPED: usize = 64 * 1024 * 1024;

/// Counts requests that the server took and did not answer yet, so that a server
/// that ends can wait for its last replies to be written.
#[derive(Debug, Clone)]
pub(crate) struct Replies(Arc<watch::Sender<usize>>);

/// One request that is to be answered.
struct Due(Replies);

impl Replies {
    pub(crate) fn new() -> Self {
        Self(Arc::new(watch::Sender::new(0)))
    }

    fn due(&self) -> Due {
        self.0.send_modify(|count| *count += 1);
        Due(self.clone())
    }

    /// Waits until every request was answered.
    pub(crate) async fn written(&self) {
        let _ = self.0.subscribe().wait_for(|count| *count == 0).await;
    }
}

impl Drop for Due {
    fn drop(&mut self) {
        self.0.0.send_modify(|count| *count -= 1);
    }
}

/// Serves a connection until its end.
pub(crate) async fn serve(
    mut stream: UnixStream,
    peer: Peer,
    events: mpsc::Sender<Event>,
    replies: Replies,
    max: usize,
) -> io::Result<()> {
    let mut buffer = BytesMut::new();
    loop {
        let line = match read_line(&mut stream, &mut buffer, max).await? {
            Line::End => return Ok(()),
            Line::TooLong => {
                let message = format!(
                    "a request line is longer than {max} bytes; it was skipped, nothing \
                     was done; send less at a time"
                );
                write_error(&mut stream, "?", WireError::new(code::TOO_LARGE, message)).await?;
                continue;
            }
            Line::Whole(line) => line,
        };
        let request = match parse(&line) {
            Ok(request) => request,
            Err((id, error)) => {
                write_error(&mut stream, &id, error).await?;
                continue;
            }
        };
        let id = request.id.clone();
        let ends_with_client = request.method == "agent.ask";
        let (respond, answer) = oneshot::channel();
        let due = replies.due();
        if events.send(Event::Request { peer, request, respond }).await.is_err() {
            return Ok(());
        }
        let answer = tokio::select! {
            answer = answer => answer,
            // What it asks of a person is of no use any more. Any other request
            // is answered also to a client that only stopped writing.
            () = gone(&mut stream, &mut buffer, max), if ends_with_client => return Ok(()),
        };
        let Ok(answer) = answer else {
            let gone = WireError::new("STOPPING", "the server is stopping");
            return write_error(&mut stream, &id, gone).await;
        };
        match answer {
            Answer::Value(Ok(value)) => write_value(&mut stream, &id, value).await?,
            Answer::Value(Err(error)) => write_error(&mut stream, &id, error).await?,
            Answer::Attached(attachment) => {
                let reply = attachment.reply.clone();
                match attachment.begin().await {
                    Ok(attached) => {
                        write_value(&mut stream, &id, reply).await?;
                        drop(due);
                        return attach::serve(stream, buffer, attached, events).await;
                    }
                    Err(error) => write_error(&mut stream, &id, error).await?,
                }
            }
            Answer::Subscribed(events) => {
                write_value(&mut stream, &id, subscribe::value(&events.reply)).await?;
                drop(due);
                return publish(stream, events).await;
            }
        }
    }
}

/// Waits until the client is gone, or sends more than it may before its answer.
async fn gone(stream: &mut UnixStream, buffer: &mut BytesMut, max: usize) {
    while buffer.len() <= max {
        buffer.reserve(4_096);
        if stream.read_buf(buffer).await.is_ok_and(|bytes| bytes > 0) {
            continue;
        }
        return;
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
        let line = json!({
            "event": "events.missed",
            "payload": {
                "missed": missed,
                "message": "this subscriber fell behind; read the state again and subscribe again",
            },
        });
        return write.write_all(format!("{line}\n").as_bytes()).await;
    }
}

enum Line {
    Whole(BytesMut),
    TooLong,
    End,
}

async fn read_line<R: AsyncRead + Unpin>(
    reader: &mut R,
    buffer: &mut BytesMut,
    max: usize,
) -> io::Result<Line> {
    let mut searched = 0;
    let mut skipped = 0;
    loop {
        let found = buffer.iter().skip(searched).position(|byte| *byte == b'\n');
        match found.map(|at| searched + at) {
            Some(end) if skipped > 0 => {
                buffer.advance(end + 1);
                return Ok(Line::TooLong);
            }
            Some(end) => {
                let mut line = buffer.split_to(end + 1);
                line.truncate(end);
                return Ok(if end > max { Line::TooLong } else { Line::Whole(line) });
            }
            None => searched = buffer.len(),
        }
        if buffer.len() > max {
            skipped += buffer.len();
            buffer.clear();
            searched = 0;
            if skipped > MAX_SKIPPED {
                return Ok(Line::End);
            }
        }
        buffer.reserve(4_096);
        if reader.read_buf(buffer).await? == 0 {
            // A line without its end is no request.
            return Ok(Line::End);
        }
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
            let message = format!(
                "the request speaks {other}, this server {VERSION}: {} is older; upgrade it",
                if is_older(other) { "the client" } else { "the server" }
            );
            let details = json!({"server": VERSION, "client": other});
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

fn is_older(version: &str) -> bool {
    let number = |text: &str| text.strip_prefix("signaltty/").and_then(|n| n.parse::<u32>().ok());
    number(version).unwrap_or(0) < number(VERSION).unwrap_or(0)
}

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
    use crate::protocol::MAX_REQUEST;

    fn lines(input: &[u8]) -> Vec<Option<usize>> {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let mut reader = input;
            let mut buffer = BytesMut::new();
            let mut out = Vec::new();
            loop {
                match read_line(&mut reader, &mut buffer, MAX_REQUEST).await.unwrap() {
                    Line::Whole(line) => out.push(Some(line.len())),
                    Line::TooLong => out.push(None),
                    Line::End => return out,
                }
            }
        })
    }

    #[test]
    fn a_line_over_the_limit_is_skipped_and_the_next_one_read() {
        let mut input = vec![b'x'; 2 * MAX_REQUEST];
        input.extend(b"\nabc\n");
        assert_eq!(lines(&input), [None, Some(3)]);
        let mut exact = vec![b'x'; MAX_REQUEST];
        exact.extend(b"\n\nunfinished");
        assert_eq!(lines(&exact), [Some(MAX_REQUEST), Some(0)]);
    }

    #[test]
    fn c025_another_version_names_both_and_the_older() {
        for (version, older) in [("signaltty/0", "the client"), ("signaltty/2", "the server")] {
            let line = format!(r#"{{"v":"{version}","id":"7","method":"server.status"}}"#);
            let (id, error) = parse(line.as_bytes()).unwrap_err();
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
