//! Signals of the process.

use std::io;

use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::mpsc;

use super::event::Event;

/// Passes SIGTERM and SIGINT on as the wish to end. A second one ends the
/// process at once; what is on the disk is whole at any moment. SIGHUP has the
/// configuration read again; a terminal that goes away does no more than that.
pub(crate) fn watch(events: mpsc::Sender<Event>) -> io::Result<()> {
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut hangup = signal(SignalKind::hangup())?;
    tokio::spawn(async move {
        let mut asked = false;
        loop {
            tokio::select! {
                _ = terminate.recv() => {}
                _ = interrupt.recv() => {}
                _ = hangup.recv() => {
                    let _ = events.send(Event::Reload).await;
                    continue;
                }
            }
            if asked {
                tracing::warn!("asked to end a second time: ending at once");
                std::process::exit(1);
            }
            asked = true;
            let _ = events.send(Event::Terminate).await;
        }
    });
    Ok(())
}
