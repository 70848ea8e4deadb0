//! `signaltty demo`: the main job, shown in a throw-away directory.
//!
//! A real server, a real agent (a small one that needs no network), a real
//! SIGKILL. Every step says what was observed, and the first one that does not
//! hold ends the story. Whatever happens, no process is left behind.

mod agent;
mod ask;
mod place;
mod report;
mod server;
mod story;

use clap::Args;

use self::place::Place;
use self::report::Report;
use self::story::Story;
use crate::cli::{Context, Exit, Failure, Signals};

// Arguments of `demo`.
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
    let told = tell(&place, &mut report).await?;
    // What was seen is of use only where something did not hold.
    let kept = args.keep || told == Told::Broken;
    let left = if kept {
        place.keep();
        Ok(())
    } else {
        place.remove().await
    };
    report.end(told == Told::Whole, kept || left.is_err())?;
    left.map_err(|error| Failure::Io("remove the directory", error))?;
    Ok(match told {
        Told::Whole => Exit::Done,
        Told::Broken | Told::Interrupted => Exit::Failed,
    })
}

/// How far the story came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Told {
    /// Every step held.
    Whole,
    /// One did not.
    Broken,
    /// A signal ended it.
    Interrupted,
}

async fn tell(place: &Place, report: &mut Report<'_>) -> Result<Told, Failure> {
    let mut signals = Signals::new().map_err(|error| Failure::Io("wait for signals", error))?;
    let mut story = Story::new(place);
    let signal = tokio::select! {
        told = story.tell(report) => {
            return Ok(if told? { Told::Whole } else { Told::Broken });
        }
        signal = signals.next() => signal,
    };
    drop(story);
    report.step("Interrupted", Err(format!("{signal}; nothing was left running")))?;
    Ok(Told::Interrupted)
}
