//! `notify`, `notifications` and `next`: what people are told.

use clap::{Args, ValueEnum};
use jiff::Timestamp;

use super::time::ago;
use super::words::told_by;
use super::{Context, Failure, safe};
use crate::protocol::{
    Empty, Next, NotificationList, NotificationNew, NotificationNode, NotificationRead,
    Notifications, Notified,
};

// Arguments of `notify`.
#[derive(Debug, Args)]
pub(super) struct NotifyArgs {
    /// One line
    title: String,
    /// More about it
    #[arg(default_value = "")]
    body: String,
    /// The pane that it is about [default: the one that this runs in, if any]
    #[arg(long, value_name = "PANE")]
    pane: Option<String>,
    /// How bad it is
    #[arg(long, value_enum, default_value = "info")]
    severity: Severity,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Severity {
    Info,
    Warning,
    Error,
}

// Arguments of `notifications`.
#[derive(Debug, Args)]
pub(super) struct NotificationsArgs {
    /// Only those that nobody read
    #[arg(long, conflicts_with = "read")]
    unread: bool,
    /// Note that one was read, or all of them
    #[arg(long, value_name = "ID|all")]
    read: Option<String>,
}

/// Runs `notify`; prints the notification's id.
pub(super) async fn notify(context: &Context, args: NotifyArgs) -> Result<(), Failure> {
    let here = || std::env::var("SIGNALTTY_PANE").ok().filter(|pane| !pane.is_empty());
    let here = || here().filter(|_| context.host.is_none());
    let severity = match args.severity {
        Severity::Info => "info",
        Severity::Warning => "warning",
        Severity::Error => "error",
    };
    let params = NotificationNew {
        pane: args.pane.or_else(here),
        title: args.title,
        body: args.body,
        severity: Some(severity.to_owned()),
    };
    let human = |made: &Notified| format!("{}\n", safe(&made.notification_id));
    context.ask("notification.new", &params, human).await
}

/// Runs `notifications`.
pub(super) async fn notifications(
    context: &Context,
    args: NotificationsArgs,
) -> Result<(), Failure> {
    if let Some(which) = args.read {
        let notification = Some(which).filter(|which| which != "all");
        return context.order("notification.read", &NotificationRead { notification }).await;
    }
    let now = Timestamp::now();
    let human = |found: &Notifications| {
        found.notifications.iter().map(|node| line(node, now)).collect::<String>()
    };
    context.ask("notification.list", &NotificationList { unread: args.unread }, human).await
}

/// Runs `next`; prints the pane's id.
pub(super) async fn next(context: &Context) -> Result<(), Failure> {
    let next: Next = context.client().await?.call("pane.next", &Empty {}).await?;
    let Some(pane) = &next.pane_id else {
        return Err(Failure::new("NOTHING_WAITS", "no pane needs a person"));
    };
    if context.json {
        return context.print_json(&next);
    }
    context.print(&format!("{}\n", safe(pane)))
}

/// Read ones are told apart without colour, too.
fn line(node: &NotificationNode, now: Timestamp) -> String {
    let mark = if node.read_at.is_some() { ' ' } else { '*' };
    let mut text = format!(
        "{mark} {}  {:<7}  {}  {}",
        safe(&node.id),
        safe(&node.severity),
        ago(now, &node.created_at),
        safe(&node.title)
    );
    if let Some(whose) = told_by(node) {
        text.push_str(&format!("  ({whose})"));
    }
    text.push('\n');
    if !node.body.is_empty() {
        text.push_str(&format!("    {}\n", safe(&node.body)));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn c082_a_notification_is_one_line_and_acts_on_nothing() {
        let node = NotificationNode {
            id: "notif_a".into(),
            pane_id: Some("pane_b".into()),
            title: "built\x1b[2J".into(),
            body: "in 3 s".into(),
            severity: "info".into(),
            created_at: "2026-03-10T11:58:00Z".into(),
            read_at: None,
            from_program: false,
        };
        let now = "2026-03-10T12:00:00Z".parse().unwrap();
        assert_eq!(
            line(&node, now),
            "* notif_a  info     2 min ago  built\\x1b[2J  (pane_b)\n    in 3 s\n"
        );
        let told = NotificationNode { from_program: true, ..node.clone() };
        assert!(line(&told, now).contains("(pane_b, its program)"));
        let read = NotificationNode { read_at: Some(node.created_at.clone()), ..node };
        assert!(line(&read, now).starts_with("  notif_a"));
    }
}
