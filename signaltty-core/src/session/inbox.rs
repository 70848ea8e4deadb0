//! Notifications, and names that are being made: what people are told.

use std::sync::Arc;

use super::structure::Done;
use super::{
    Command, CommandError, Effect, Event, Reply, Session, TITLE_CHARS, plain_line, publish,
};
use crate::id::{NotificationId, PaneId, WorkspaceId};
use crate::notification::{BODY_CHARS, Notification, Severity};
use crate::time::Now;
use crate::workspace::Naming;

impl Session {
    /// The newest notifications, oldest first.
    pub fn notifications(&self) -> impl DoubleEndedIterator<Item = &Notification> {
        self.notifications.iter().map(|notification| &**notification)
    }

    pub(super) fn tell(
        &mut self,
        now: Now,
        command: Command,
        out: &mut Vec<Effect>,
    ) -> Option<Done> {
        Some(match command {
            Command::Notify { id, pane, title, body, severity } => {
                self.notify(now, id, pane, &title, &body, severity, out)
            }
            Command::MarkRead(which) => self.mark_read(now, which, out),
            Command::GenerateName(workspace) => self.begin_naming(now, workspace, out),
            Command::NameGenerated { workspace, name } => {
                self.end_naming(now, workspace, name.as_deref(), out)
            }
            Command::Decide { pane, question, answer } => {
                self.answer_decision(now, pane, question, answer, out)
            }
            Command::Withdraw { pane, asked } => self.withdraw_decision(now, pane, asked, out),
            _ => return None,
        })
    }

    #[expect(clippy::too_many_arguments, reason = "the fields of one command")]
    fn notify(
        &mut self,
        now: Now,
        id: NotificationId,
        pane: Option<PaneId>,
        title: &str,
        body: &str,
        severity: Severity,
        out: &mut Vec<Effect>,
    ) -> Done {
        if self.notifications.iter().any(|known| known.id == id) {
            return Err(CommandError::IdInUse("notification"));
        }
        if let Some(pane) = pane.filter(|pane| !self.panes.contains_key(pane)) {
            return Err(CommandError::NoSuchPane(pane));
        }
        self.notifications.push(Arc::new(Notification {
            id,
            pane,
            title: plain_line(title, TITLE_CHARS),
            body: plain_line(body, BODY_CHARS),
            severity,
            created_at: now.wall,
            read_at: None,
            from_program: false,
        }));
        self.drop_oldest();
        self.save.changed(now.mono);
        publish(out, Event::NotificationCreated { notification: id, pane, severity });
        if let Some(pane) = pane {
            self.raise_attention(now, pane, severity.attention(), out);
        }
        Ok(Reply::Notified { notification: id })
    }

    /// Notes when notifications were read, the first time only.
    fn mark_read(
        &mut self,
        now: Now,
        which: Option<NotificationId>,
        out: &mut Vec<Effect>,
    ) -> Done {
        if let Some(id) = which.filter(|id| !self.notifications.iter().any(|n| n.id == *id)) {
            return Err(CommandError::NoSuchNotification(id));
        }
        for notification in &mut self.notifications {
            let wanted = which.is_none_or(|id| id == notification.id);
            if wanted && notification.read_at.is_none() {
                Arc::make_mut(notification).read_at = Some(now.wall);
                self.save.changed(now.mono);
                publish(out, Event::NotificationRead { notification: notification.id });
            }
        }
        Ok(Reply::Done)
    }

    fn begin_naming(&mut self, now: Now, workspace: WorkspaceId, out: &mut Vec<Effect>) -> Done {
        self.workspace_mut(workspace)?.naming = Naming::Generating;
        self.save.changed(now.mono);
        publish(out, Event::WorkspaceUpdated { workspace });
        Ok(Reply::Done)
    }

    /// Takes a name that was made, unless a person gave one meanwhile.
    fn end_naming(
        &mut self,
        now: Now,
        workspace: WorkspaceId,
        name: Option<&str>,
        out: &mut Vec<Effect>,
    ) -> Done {
        let record = self.workspace_mut(workspace)?;
        if record.naming != Naming::Generating {
            return Ok(Reply::Done);
        }
        let name = name.map(|name| plain_line(name, TITLE_CHARS)).filter(|name| !name.is_empty());
        record.naming = if name.is_some() { Naming::Done } else { Naming::Failed };
        record.name = name.unwrap_or_else(|| Arc::clone(&record.name));
        self.save.changed(now.mono);
        publish(out, Event::WorkspaceUpdated { workspace });
        Ok(Reply::Done)
    }
}
