//! Signals of the process.

use std::io;

use rustix::process::Signal;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::mpsc;

use super::event::Event;

/// What a limit, a timer or a mistyped `kill` sends. A file that grew too long is
/// an error of the write as well.
const IGNORED: [Signal; 8] = [
    Signal::USR1,
    Signal::USR2,
    Signal::ALARM,
    Signal::VTALARM,
    Signal::PROF,
    Signal::IO,
    Signal::XCPU,
    Signal::XFSZ,
];

/// Passes SIGTERM, SIGINT and SIGQUIT on as the wish to end. A second one ends the
/// process at once; what is on the disk is whole at any moment. SIGHUP has the
/// configuration read again; a terminal that goes away does no more than that.
/// Other signals that would end it unsaved, and all panes with it, mean nothing.
pub(crate) fn watch(events: mpsc::Sender<Event>) -> io::Result<()> {
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut quit = signal(SignalKind::quit())?;
    let mut hangup = signal(SignalKind::hangup())?;
    for other in IGNORED {
        // Caught and not ignored, which what is started here would inherit.
        drop(signal(SignalKind::from_raw(other.as_raw()))?);
    }
    tokio::spawn(async move {
        let mut asked = false;
        loop {
            tokio::select! {
                _ = terminate.recv() => {}
                _ = interrupt.recv() => {}
                _ = quit.recv() => {}
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
