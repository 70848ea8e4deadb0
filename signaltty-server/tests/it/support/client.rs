//! A small client of the socket's line protocol.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, ErrorKind, Write as _};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Instant;

use serde_json::{Value, json};

use super::frames::Attached;
use super::{PATIENCE, shape};

/// An error as the server sent it.
#[derive(Debug, Clone)]
pub struct Failure {
    pub code: String,
    pub message: String,
    pub details: Value,
}

impl Failure {
    /// The reason that a refused start or resume gives.
    pub fn reason(&self) -> &str {
        self.details["reason"].as_str().unwrap_or_default()
    }
}

/// A connection that asks.
pub struct Client {
    stream: BufReader<UnixStream>,
    asked: u64,
    /// What was asked and not answered yet, by its id.
    open: BTreeMap<String, (String, Value)>,
}

impl Client {
    pub fn connect(socket: &Path) -> Self {
        let stream = UnixStream::connect(socket).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream.set_write_timeout(Some(PATIENCE)).unwrap();
        Self { stream: BufReader::new(stream), asked: 0, open: BTreeMap::new() }
    }

    pub fn call(&mut self, method: &str, params: Value) -> Result<Value, Failure> {
        self.send(method, params);
        self.reply()
    }

    /// Sends a request and waits for nothing.
    pub fn send(&mut self, method: &str, params: Value) {
        self.asked += 1;
        let request = json!({
            "v": "signaltty/1", "id": self.asked.to_string(), "method": method, "params": params,
        });
        self.open.insert(self.asked.to_string(), (method.to_owned(), params));
        self.send_line(&request.to_string());
    }

    pub fn send_line(&mut self, line: &str) {
        let line = format!("{line}\n");
        match self.stream.get_mut().write_all(line.as_bytes()) {
            // The server went away, which the next read says.
            Err(error) if error.kind() == ErrorKind::BrokenPipe => {}
            sent => sent.unwrap(),
        }
    }

    /// The next reply.
    pub fn reply(&mut self) -> Result<Value, Failure> {
        self.try_reply().expect("a reply")
    }

    /// The next reply; `None` where the connection broke before its end.
    pub fn try_reply(&mut self) -> Option<Result<Value, Failure>> {
        let line = self.line().filter(|line| line.ends_with('\n'))?;
        let reply: Value = serde_json::from_str(&line).unwrap();
        let asked = reply["id"].as_str().and_then(|id| self.open.remove(id));
        shape::reply(asked.as_ref(), line.trim_end());
        Some(match reply.get("error") {
            None => Ok(reply["result"].clone()),
            Some(error) => Err(Failure {
                code: error["code"].as_str().unwrap().to_owned(),
                message: error["message"].as_str().unwrap().to_owned(),
                details: error["details"].clone(),
            }),
        })
    }

    /// The next line; `None` where the server ended the connection.
    pub fn line(&mut self) -> Option<String> {
        let mut line = String::new();
        match self.stream.read_line(&mut line) {
            Ok(0) => None,
            Ok(_) => Some(line),
            Err(error) if error.kind() == ErrorKind::ConnectionReset => None,
            Err(error) => panic!("no line came: {error}"),
        }
    }

    pub fn subscribe(mut self) -> Events {
        self.call("events.subscribe", json!({})).unwrap();
        Events { client: self }
    }

    /// Turns the connection into an attached one.
    pub fn attach(mut self, params: Value) -> Attached {
        self.call("pane.attach", params).unwrap();
        self.into_attached()
    }

    /// The connection after a reply that attached it.
    pub fn into_attached(self) -> Attached {
        Attached::new(self.stream)
    }
}

/// A connection that listens.
pub struct Events {
    client: Client,
}

impl Events {
    /// Waits for an event of that name that fits; gives its payload.
    pub fn wait(&mut self, name: &str, fits: impl Fn(&Value) -> bool) -> Value {
        let until = Instant::now() + PATIENCE;
        while Instant::now() < until {
            let line = self.client.line().expect("events go on");
            shape::event(line.trim_end());
            let event: Value = serde_json::from_str(&line).unwrap();
            if event["event"] == name && fits(&event["payload"]) {
                return event["payload"].clone();
            }
        }
        panic!("waited in vain for {name}");
    }
}
