//! Methods about notifications, and which pane to look at next.

use serde_json::Value;
use signaltty_core::id::NotificationId;
use signaltty_core::notification::{Notification, Severity};
use signaltty_core::session::{Command, Session};

use super::clock::rfc3339;
use super::dispatch::parse;
use super::{random, resolve};
use crate::protocol::{self as wire, Next, NotificationNode, Notifications, WireError, code};

/// `notification.new`
pub(super) fn notify(session: &Session, params: Value) -> Result<Command, WireError> {
    let ask: wire::NotificationNew = parse(params)?;
    let severity = match ask.severity.as_deref() {
        None => Severity::Info,
        Some(text) => Severity::parse(text).ok_or_else(|| {
            let message = format!("`severity` is {text:?}; it can be info, warning or error");
            WireError::new(code::BAD_PARAMS, message)
        })?,
    };
    if ask.title.trim().is_empty() {
        return Err(WireError::new(code::BAD_PARAMS, "`title` is empty; say what happened"));
    }
    Ok(Command::Notify {
        id: NotificationId::from_random(random::id()),
        pane: ask.pane.map(|pane| resolve::pane(session, &pane)).transpose()?,
        title: ask.title.into(),
        body: ask.body.into(),
        severity,
    })
}

/// `notification.read`
pub(super) fn read(session: &Session, params: Value) -> Result<Command, WireError> {
    let ask: wire::NotificationRead = parse(params)?;
    let which = ask.notification.map(|text| resolve::notification(session, &text)).transpose()?;
    Ok(Command::MarkRead(which))
}

/// `notification.list`
pub(super) fn list(session: &Session, params: Value) -> Result<Notifications, WireError> {
    let ask: wire::NotificationList = parse(params)?;
    let wanted = session.notifications().rev().filter(|n| !ask.unread || n.read_at.is_none());
    Ok(Notifications { notifications: wanted.map(node).collect() })
}

/// `pane.next`
pub(super) fn next(session: &Session) -> Next {
    Next { pane_id: session.next_unread().map(|pane| pane.to_string()) }
}

fn node(notification: &Notification) -> NotificationNode {
    NotificationNode {
        id: notification.id.to_string(),
        pane_id: notification.pane.map(|pane| pane.to_string()),
        title: notification.title.to_string(),
        body: notification.body.to_string(),
        severity: notification.severity.as_str().to_owned(),
        created_at: rfc3339(notification.created_at),
        read_at: notification.read_at.map(rfc3339),
        from_program: notification.from_program,
    }
}
