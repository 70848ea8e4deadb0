//! `events`.

use super::failure::NO_SERVER;
use super::{Context, Exit, Failure};

/// Prints events as they happen, until the server ends or nobody reads.
pub(super) async fn run(context: &Context) -> Result<Exit, Failure> {
    let mut events = context.client().await?.events().await?;
    while let Some(event) = events.next().await? {
        context.print_json(&event)?;
    }
    Err(Failure::new(NO_SERVER, "the server went away"))
}
