//! `events`.

use clap::Args;

use super::failure::NO_SERVER;
use super::{Context, Exit, Failure, link, safe};
use crate::client::Events;
use crate::protocol::{EventCursor, EventsSubscribe};

// Arguments of `events`.
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
    loop {
        let ended = match events.next().await {
            Ok(Some(event)) => {
                context.print_json(&event)?;
                continue;
            }
            Ok(None) => Failure::new(
                NO_SERVER,
                "the server went away; `signaltty events --from` goes on where this ended",
            ),
            Err(error) => error.into(),
        };
        // Over a link it goes on where it was, or says what it missed.
        let (Some(host), Some(from)) = (&context.host, events.cursor()) else {
            return Err(ended);
        };
        if !ended.is_link() {
            return Err(ended);
        }
        context.remark(&format!("the link to {} was lost; connecting again\n", safe(host)));
        let ask = EventsSubscribe { from: Some(from), filter: ask.filter.clone() };
        events = again(context, &ask).await?;
    }
}

/// Subscribes over a new link, which may need some tries.
async fn again(context: &Context, ask: &EventsSubscribe) -> Result<Events, Failure> {
    let mut pauses = link::pauses();
    loop {
        let failure: Failure = match context.client().await?.subscribe(ask).await {
            Ok(events) => return Ok(events),
            Err(error) => error.into(),
        };
        match pauses.next().filter(|_| failure.is_link()) {
            Some(pause) => tokio::time::sleep(pause).await,
            None => return Err(failure),
        }
    }
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
