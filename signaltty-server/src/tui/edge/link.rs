//! The connection that tells of changes. When it is lost, the server is looked
//! for again; it is started only when the person says so.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{Notify, mpsc};

use crate::cli::{Context, Failure};
use crate::client::{Client, ClientError};
use crate::protocol::{Empty, Tree};
use crate::tui::msg::Msg;

/// How often a server that went away is looked for.
const LOOK: Duration = Duration::from_millis(500);

/// How often at least one on another machine is, which costs more.
const LOOK_FAR: Duration = Duration::from_secs(8);

pub(super) struct Links {
    start: Arc<Notify>,
}

impl Links {
    /// Begins to listen.
    pub(super) fn start(context: Context, messages: mpsc::Sender<Msg>) -> Self {
        let start = Arc::new(Notify::new());
        let wanted = Arc::clone(&start);
        tokio::spawn(async move {
            loop {
                let why = match listen(&context, &messages).await {
                    Ok(()) => "The connection ended.".to_owned(),
                    // Too many changes at once: the next list has them all.
                    Err(ClientError::Behind(_)) => continue,
                    Err(error) => context.told(error).to_string(),
                };
                if messages.send(Msg::Lost(why)).await.is_err() {
                    return;
                }
                again(&context, &messages, &wanted).await;
            }
        });
        Self { start }
    }

    /// Connects, and starts a server where there is none.
    pub(super) fn connect(&self, start: bool) {
        if start {
            self.start.notify_one();
        }
    }
}

/// Passes events on until the connection ends.
async fn listen(context: &Context, messages: &mpsc::Sender<Msg>) -> Result<(), ClientError> {
    let mut events = Client::connect(&context.paths).await?.events().await?;
    // Only now: what happens from here on is not missed.
    let tree: Tree = Client::connect(&context.paths).await?.call("session.list", &Empty {}).await?;
    if messages.send(Msg::Listed(tree)).await.is_err() {
        return Ok(());
    }
    while let Some(event) = events.next().await? {
        if messages.send(Msg::Event(event)).await.is_err() {
            break;
        }
    }
    Ok(())
}

/// Waits until a server is there again, or the person wants one started.
async fn again(context: &Context, messages: &mpsc::Sender<Msg>, wanted: &Notify) {
    let mut pause = LOOK;
    loop {
        let start = tokio::select! {
            () = tokio::time::sleep(pause) => false,
            () = wanted.notified() => true,
        };
        // Whoever presses the key again does not wait for what is under way.
        let found = tokio::select! {
            found = look(context, start) => found,
            () = wanted.notified() => look(context, true).await,
        };
        let why = match found {
            Ok(()) => return,
            Err(Failure::Client(ClientError::NoServer { .. })) if !start => continue,
            Err(error) => context.told(error).to_string(),
        };
        if messages.send(Msg::Lost(why)).await.is_err() {
            return;
        }
        if context.host.is_some() {
            pause = (pause * 2).min(LOOK_FAR);
        }
    }
}

/// Looks for a server once, and starts one where that is wanted.
async fn look(context: &Context, start: bool) -> Result<(), Failure> {
    let mut client = match start {
        true => context.client().await?,
        false => Client::connect(&context.paths).await?,
    };
    if context.host.is_some() {
        // What took the connection is this side's end of a link.
        let _: serde_json::Value = client.call("server.status", &Empty {}).await?;
    }
    Ok(())
}
