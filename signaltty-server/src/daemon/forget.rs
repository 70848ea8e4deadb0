//! Takes what panes said off the disk (D-30).
//!
//! The order is screens, then a save without it, then saved output and older
//! snapshots by the saver, then the journal by the recorder, then the reply.

use std::sync::Arc;

use signaltty_core::id::RequestId;
use signaltty_core::session::{Forget, Forgotten, Input};
use signaltty_persist::Removed;

use super::event::Event;
use super::event_loop::Daemon;
use super::pane_task::PaneMessage;

/// A request to forget, and what came of it on the saver's side.
pub(crate) type Outcome = (RequestId, Result<Removed, String>);

/// What stands in a record in the place of a payload.
pub(crate) const PAYLOAD: &str = "{\"forgotten\":true}";

impl Daemon {
    pub(crate) fn forget(&mut self, request: RequestId, what: Forget) {
        for pane in &what.panes {
            self.panes.kept.forget(*pane);
            let handle = self.live(*pane).and_then(|instance| self.panes.of(instance));
            let told = handle.map(|h| h.messages.try_send(PaneMessage::Forget).is_ok());
            if told == Some(false) {
                let result = Err(format!("pane {pane} is too busy now").into());
                return self.input(Input::Forgotten { request, result });
            }
        }
        self.forgetting.push((request, what));
    }

    /// Goes on with the journal once the saver is done.
    pub(crate) fn forgot(&mut self, outcomes: Vec<Outcome>) {
        for (request, result) in outcomes {
            let removed = match result {
                Ok(removed) => removed,
                Err(why) => {
                    self.input(Input::Forgotten { request, result: Err(why.into()) });
                    continue;
                }
            };
            let texts = removed.panes.iter().map(ToString::to_string).collect();
            let (erased, events) = (self.publisher.forget(texts), self.events.clone());
            tokio::spawn(async move {
                let result = match erased.await {
                    Ok(Ok(erased)) => {
                        let left = removed.left.iter().chain(&erased.left);
                        Ok(Forgotten {
                            panes: removed.panes.len(),
                            tails: removed.tails,
                            records: erased.records,
                            snapshots: removed.snapshots,
                            left: left.map(|path| path.display().to_string().into()).collect(),
                        })
                    }
                    Ok(Err(why)) => Err(Arc::from(format!("the journal: {why}"))),
                    // Without room in its queue the sender is dropped.
                    Err(_) => Err(Arc::from("the journal is too busy now")),
                };
                let _ = events.send(Event::Forgotten { request, result }).await;
            });
        }
    }
}
