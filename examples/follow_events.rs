//! Follows a server's events without missing one, and recovers where that is
//! not possible: after a lost connection it goes on where it was; where the
//! history in between is gone it reads the state again.
//!
//! Run it with `cargo run -p signaltty-server --example follow_events`, and use
//! `signaltty` in another terminal; end the server and start it again.

use std::error::Error;
use std::time::Duration;

use serde_json::{Value, json};
use signaltty_server::client::{Client, ClientError, Events};
use signaltty_server::config::{Overrides, Paths};
use signaltty_server::protocol::{EventCursor, EventsSubscribe};

/// What happened next.
#[derive(Debug)]
pub enum Next {
    /// The state as a whole: at the first start, and where history was lost.
    /// What was built from earlier events is thrown away.
    Everything(Value),
    /// One event. The first ones after an `Everything` may be in it already.
    Event(String),
}

/// Follows one server.
pub struct Follower {
    paths: Paths,
    events: Option<Events>,
    /// Where to go on. A program that ends saves it, and begins with it again.
    cursor: Option<EventCursor>,
}

impl Follower {
    /// Begins with the whole state.
    pub fn new(paths: Paths) -> Self {
        Self { paths, events: None, cursor: None }
    }

    /// The next thing that happened, however long it takes.
    pub async fn next(&mut self) -> Result<Next, ClientError> {
        loop {
            let Some(events) = &mut self.events else {
                if let Some(state) = self.connect().await? {
                    return Ok(Next::Everything(state));
                }
                continue;
            };
            match events.next().await {
                Ok(Some(event)) => {
                    self.cursor = events.cursor();
                    return Ok(Next::Event(event.event));
                }
                // The server went away, or this program was too slow. Either way
                // the next subscription tells whether anything is missing.
                Ok(None) | Err(ClientError::Behind(_)) => self.events = None,
                Err(error) => return Err(error),
            }
        }
    }

    /// Subscribes again; the state, where events alone do not tell it.
    async fn connect(&mut self) -> Result<Option<Value>, ClientError> {
        let client = self.reach().await?;
        let ask = EventsSubscribe { from: self.cursor.clone(), ..EventsSubscribe::default() };
        let known = ask.from.is_some();
        match client.subscribe(&ask).await {
            Ok(events) => self.events = Some(events),
            // The past is not complete, or belongs to another journal.
            Err(ClientError::Wire(_)) if known => {
                self.cursor = None;
                return Ok(None);
            }
            Err(error) => return Err(error),
        }
        if known {
            return Ok(None);
        }
        self.cursor = self.events.as_ref().and_then(Events::cursor);
        // Read after the subscription, so that nothing falls between the two.
        let state = self.reach().await?.call("session.list", &json!({})).await?;
        Ok(Some(state))
    }

    /// A connection, once a server listens.
    async fn reach(&self) -> Result<Client, ClientError> {
        loop {
            match Client::connect(&self.paths).await {
                Err(ClientError::NoServer { .. }) => {
                    tokio::time::sleep(Duration::from_millis(100)).await;
                }
                other => return other,
            }
        }
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let cwd = std::env::current_dir()?;
    let paths = Paths::resolve(&Overrides::default(), &cwd, |name| std::env::var_os(name))?;
    let mut follower = Follower::new(paths);
    loop {
        match follower.next().await? {
            Next::Everything(state) => say(&format!("everything: {state}")),
            Next::Event(name) => say(&name),
        }
    }
}

#[expect(clippy::print_stdout, reason = "an example shows what it does")]
fn say(line: &str) {
    println!("{line}");
}
