//! A server that answers as OpenCode's does, from a database.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

use rusqlite::{Connection, OptionalExtension, params};
use serde_json::{Value, json};

/// `opencode:secret`.
const ACCOUNT: &str = "Basic b3BlbmNvZGU6c2VjcmV0";

/// What the process has.
#[derive(Default)]
pub(crate) struct Has {
    pub(crate) database: PathBuf,
    /// The conversations that it knows, and whether with their messages.
    pub(crate) sessions: BTreeMap<String, bool>,
    /// Those in which a turn runs.
    pub(crate) busy: Vec<String>,
    /// Open questions for a permission.
    pub(crate) asked: Vec<Value>,
    /// Answers that are not what they should be, by path.
    pub(crate) odd: BTreeMap<String, String>,
    /// Events that it tells to whoever listens, as lines.
    pub(crate) events: String,
    /// Those who listen.
    listeners: Vec<TcpStream>,
    /// What was asked for.
    pub(crate) heard: Vec<String>,
    ended: bool,
}

pub(crate) struct Server {
    pub(crate) has: Arc<Mutex<Has>>,
    address: SocketAddr,
    thread: Option<JoinHandle<()>>,
}

impl Server {
    pub(crate) fn start(database: PathBuf) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let has = Arc::new(Mutex::new(Has { database, ..Has::default() }));
        let shared = Arc::clone(&has);
        let thread = std::thread::spawn(move || {
            for stream in listener.incoming() {
                if shared.lock().unwrap().ended {
                    return;
                }
                // The other side may go away at any time.
                let _ = serve(stream.unwrap(), &shared);
            }
        });
        Self { has, address, thread: Some(thread) }
    }

    pub(crate) fn port(&self) -> u16 {
        self.address.port()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.has.lock().unwrap().ended = true;
        drop(TcpStream::connect(self.address));
        self.thread.take().unwrap().join().unwrap();
    }
}

fn serve(stream: TcpStream, has: &Mutex<Has>) -> std::io::Result<()> {
    let mut lines = BufReader::new(&stream).lines();
    let first = lines.next().transpose()?.unwrap_or_default();
    let mut known = false;
    let mut whole = false;
    for line in lines {
        let line = line?;
        whole = line.is_empty();
        if whole {
            break;
        }
        known |= line == format!("Authorization: {ACCOUNT}");
    }
    let path = first.split(' ').nth(1).unwrap_or_default();
    let mut has = has.lock().unwrap();
    if !whole {
        return Ok(());
    }
    has.heard.push(path.to_owned());
    if known && path == "/event" && !has.events.is_empty() {
        let head = "HTTP/1.1 200 X\r\nContent-Type: text/event-stream\r\n\r\n";
        write!(&stream, "{head}{}", has.events)?;
        // It has no end.
        has.listeners.push(stream.try_clone()?);
        return Ok(());
    }
    let (status, body) = match known {
        true => answer(&has, path),
        false => (401, "{}".to_owned()),
    };
    let length = body.len();
    write!(&stream, "HTTP/1.1 {status} X\r\nContent-Length: {length}\r\n\r\n{body}")
}

fn answer(has: &Has, path: &str) -> (u16, String) {
    if let Some(odd) = has.odd.get(path) {
        return (200, odd.clone());
    }
    let missing = || (404, json!({"name": "NotFoundError"}).to_string());
    let parts: Vec<_> = path.split('/').skip(1).collect();
    let body = match parts[..] {
        ["session", "status"] => {
            let busy = |id: &String| (id.clone(), json!({"type": "busy"}));
            Value::Object(has.busy.iter().map(busy).collect())
        }
        ["permission"] => has.asked.clone().into(),
        ["session", id] => match about(has, id) {
            Some(about) => about,
            None => return missing(),
        },
        ["session", id, "message"] => match (about(has, id), has.sessions.get(id)) {
            (Some(_), Some(true)) => messages(has, id),
            (Some(_), Some(false)) => json!([]),
            _ => return missing(),
        },
        _ => return missing(),
    };
    (200, body.to_string())
}

fn about(has: &Has, id: &str) -> Option<Value> {
    has.sessions.get(id)?;
    let database = Connection::open(&has.database).unwrap();
    let row = |row: &rusqlite::Row<'_>| {
        let (directory, parent): (String, Option<String>) = (row.get(0)?, row.get(1)?);
        let mut about = json!({"id": id, "directory": directory, "title": "t"});
        if let Some(parent) = parent {
            about["parentID"] = parent.into();
        }
        Ok(about)
    };
    let asked = "SELECT directory, parent_id FROM session WHERE id = ?1";
    database.query_row(asked, params![id], row).optional().unwrap()
}

fn messages(has: &Has, id: &str) -> Value {
    let database = Connection::open(&has.database).unwrap();
    let mut asked = database
        .prepare("SELECT id, data FROM message WHERE session_id = ?1 ORDER BY time_created, id")
        .unwrap();
    let row = |row: &rusqlite::Row<'_>| {
        let (id, data): (String, String) = (row.get(0)?, row.get(1)?);
        let mut info: Value = serde_json::from_str(&data).unwrap();
        info["id"] = id.into();
        Ok(json!({"info": info, "parts": [{"type": "text", "text": "…"}]}))
    };
    let all: Result<Vec<_>, _> = asked.query_map(params![id], row).unwrap().collect();
    all.unwrap().into()
}
