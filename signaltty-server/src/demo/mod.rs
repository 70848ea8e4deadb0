//! `signaltty demo`: the main job, shown in a throw-away directory.
//!
//! A real server, a real agent (a small one that needs no network), a real
//! SIGKILL. Every step says what was observed, and the first one that does not
//! hold ends the story. Whatever happens, no process is left behind.

mod agent;
mod place;
mod report;
mod server;
mod story;

use clap::Args;
use tokio::signal::unix::{SignalKind, signal};

use self::place::Place;
use self::report::Report;
use self::story::Story;
use crate::cli::{Context, Exit, Failure};

/// Arguments of `demo`.
#[derive(Debug, Args)]
pub(crate) struct DemoArgs {
    /// Keep the directory at the end
    #[arg(long)]
    keep: bool,
}

/// Runs `demo`.
pub(crate) async fn run(context: &Context, args: DemoArgs) -> Result<Exit, Failure> {
    if !cfg!(feature = "daemon") {
        let message = "this build contains no server, so it has nothing to show";
        return Err(Failure::new("NO_SERVER_BUILT_IN", message));
    }
    let place = Place::new().map_err(|error| Failure::Io("make a directory", error))?;
    let mut report = Report::new(context, &place.root)?;
    let told = tell(&place, &mut report).await;
    let kept = args.keep || !matches!(told, Ok(true));
    if kept {
        place.keep();
    }
    report.end(told.as_ref().is_ok_and(|whole| *whole), kept)?;
    Ok(if told? { Exit::Done } else { Exit::Failed })
}

/// Whether every step held. A signal ends the story as a failed step does.
async fn tell(place: &Place, report: &mut Report<'_>) -> Result<bool, Failure> {
    let wait = |error| Failure::Io("wait for signals", error);
    let mut interrupt = signal(SignalKind::interrupt()).map_err(wait)?;
    let mut terminate = signal(SignalKind::terminate()).map_err(wait)?;
    let mut hangup = signal(SignalKind::hangup()).map_err(wait)?;
    let mut story = Story::new(place);
    tokio::select! {
        told = story.tell(report) => told,
        _ = interrupt.recv() => Err(Failure::new("INTERRUPTED", "interrupted; nothing was left running")),
        _ = terminate.recv() => Err(Failure::new("INTERRUPTED", "terminated; nothing was left running")),
        _ = hangup.recv() => Err(Failure::new("INTERRUPTED", "hung up; nothing was left running")),
    }
}
