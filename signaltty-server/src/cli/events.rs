//! `events`.

use super::{Context, Exit, Failure};
use crate::client::ClientError;

/// Prints events as they happen, until the server ends or nobody reads.
pub(super) async fn run(context: &Context) -> Result<Exit, Failure> {
    let mut events = context.client().await?.events().await?;
    while let Some(event) = events.next().await? {
        context.print_json(&event)?;
    }
    let socket = context.paths.socket.clone();
    Err(ClientError::NoServer { socket }.into())
}
