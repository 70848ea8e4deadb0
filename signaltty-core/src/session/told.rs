//! What programs want their person to know: OSC 9, 99 and 777.
//!
//! It is a program's word and nothing more. It raises the pane's attention and
//! stands in the inbox; it never says what an agent does, and answers nothing.
//! How much of it is taken is bounded, since a program can print it in a loop.

use std::sync::Arc;
use std::time::Duration;

use super::{Effect, Event, Session, TITLE_CHARS, plain_line, publish};
use crate::id::{NotificationId, PaneId};
use crate::notification::{
    BODY_CHARS, KEPT, Notification, PROGRAM_BURST, PROGRAM_EVERY, PROGRAM_KEPT, Severity,
};
use crate::time::Now;

/// How much a pane's program has said lately.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Pace {
    /// When all that was taken is paid for.
    until: Duration,
    /// So many were not taken since the last one that was.
    dropped: u32,
}

impl Pace {
    /// Whether one more is taken now; how many were not, before it.
    fn take(&mut self, now: Duration) -> Option<u32> {
        let until = self.until.max(now);
        if until - now > PROGRAM_EVERY * (PROGRAM_BURST - 1) {
            self.dropped = self.dropped.saturating_add(1);
            return None;
        }
        self.until = until + PROGRAM_EVERY;
        Some(std::mem::take(&mut self.dropped))
    }
}

impl Session {
    /// A program printed a notification.
    pub(super) fn program_told(
        &mut self,
        now: Now,
        pane: PaneId,
        id: NotificationId,
        title: Option<&str>,
        body: &str,
        out: &mut Vec<Effect>,
    ) {
        let Some(entry) = self.panes.get_mut(&pane) else {
            return;
        };
        let title = title.map(|title| plain_line(title, TITLE_CHARS));
        let title = title.filter(|title| !title.is_empty());
        let title = title.unwrap_or_else(|| plain_line(&entry.record.title, TITLE_CHARS));
        let mut body = plain_line(body, BODY_CHARS);
        let severity = Severity::Info;
        let same = |old: &Arc<Notification>| {
            old.pane == Some(pane)
                && old.read_at.is_none()
                && old.title == title
                && old.body == body
        };
        let newest = self.notifications.iter().rev().find(|old| old.pane == Some(pane));
        let known = self.notifications.iter().any(|old| old.id == id);
        if !known && !newest.is_some_and(same) {
            let Some(dropped) = entry.run.pace.take(now.mono) else {
                return;
            };
            if dropped > 0 {
                let more = format!("{body} ({dropped} more before it were not kept)");
                body = plain_line(&more, BODY_CHARS);
            }
            self.notifications.push(Arc::new(Notification {
                id,
                pane: Some(pane),
                title,
                body,
                severity,
                created_at: now.wall,
                read_at: None,
                from_program: true,
            }));
            self.drop_of_program(pane);
            self.drop_oldest();
            self.save.changed(now.mono);
            publish(
                out,
                Event::NotificationCreated { notification: id, pane: Some(pane), severity },
            );
        }
        self.raise_attention(now, pane, severity.attention(), out);
    }

    /// Keeps the newest of all.
    pub(super) fn drop_oldest(&mut self) {
        let old = self.notifications.len().saturating_sub(KEPT);
        self.notifications.drain(..old);
    }

    /// Keeps the newest of what a pane's programs said.
    fn drop_of_program(&mut self, pane: PaneId) {
        let theirs = |told: &Arc<Notification>| told.from_program && told.pane == Some(pane);
        let count = self.notifications.iter().filter(|told| theirs(told)).count();
        let mut over = count.saturating_sub(PROGRAM_KEPT);
        self.notifications.retain(|told| {
            let goes = over > 0 && theirs(told);
            over -= usize::from(goes);
            !goes
        });
    }
}
