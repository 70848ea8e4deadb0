//! `events`.

use clap::Args;

use super::failure::NO_SERVER;
use super::{Context, Exit, Failure};
use crate::protocol::{EventCursor, EventsSubscribe};

/// Arguments of `events`.
#[derive(Debug, Default, Args)]
pub(super) struct EventsArgs {
    /// First what happened after this event: its number, or JOURNAL:NUMBER to
    /// be sure that it is of the same journal
    #[arg(long, value_name = "SEQ", value_parser = cursor)]
    from: Option<EventCursor>,
    /// Only events whose name fits, as in `pane.*`; may be repeated
    #[arg(long, value_name = "GLOB")]
    filter: Vec<String>,
}

/// Prints events as they happen, until the server ends or nobody reads. Where
/// the past is not complete, it says so and prints none.
pub(super) async fn run(context: &Context, args: EventsArgs) -> Result<Exit, Failure> {
    let ask = EventsSubscribe { from: args.from, filter: args.filter };
    let mut events = context.client().await?.subscribe(&ask).await?;
    while let Some(event) = events.next().await? {
        context.print_json(&event)?;
    }
    Err(Failure::new(NO_SERVER, "the server went away"))
}

fn cursor(text: &str) -> Result<EventCursor, String> {
    let (journal_id, seq) = match text.split_once(':') {
        Some((id, seq)) => (Some(id.to_owned()), seq),
        None => (None, text),
    };
    match seq.parse() {
        Ok(seq) => Ok(EventCursor { journal_id, seq }),
        Err(_) => Err("it must be a number, or JOURNAL:NUMBER".to_owned()),
    }
}
