//! The connection that tells of changes. When it is lost, the server is looked
//! for again; it is started only when the person says so.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{Notify, mpsc};

use crate::cli::Context;
use crate::client::{Client, ClientError};
use crate::protocol::{Empty, Tree};
use crate::tui::msg::Msg;

/// How often a server that went away is looked for.
const LOOK: Duration = Duration::from_millis(500);

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
                    Err(error) => error.to_string(),
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
    loop {
        tokio::select! {
            () = tokio::time::sleep(LOOK) => {
                if Client::connect(&context.paths).await.is_ok() {
                    return;
                }
            }
            () = wanted.notified() => match context.client().await {
                Ok(_) => return,
                Err(error) => {
                    if messages.send(Msg::Lost(error.to_string())).await.is_err() {
                        return;
                    }
                }
            },
        }
    }
}
