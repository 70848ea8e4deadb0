//! `status` and `shutdown`.

use clap::Args;
use jiff::Timestamp;
use serde_json::{Value, json};

use super::failure::NO_SERVER;
use super::time::ago;
use super::{Context, Failure, safe};
use crate::client::{ClientError, LONGEST_STOP, Reached, reach};
use crate::protocol::{Empty, Health, Shutdown, Status, code};

// Arguments of `shutdown`.
#[derive(Debug, Args)]
pub(super) struct ShutdownArgs {
    /// Also while something runs
    #[arg(long)]
    force: bool,
    /// Mark every running turn, so that the next start continues it; implies
    /// --force
    #[arg(long = "continue")]
    continue_turns: bool,
}

/// Runs `status`.
pub(super) async fn status(context: &Context) -> Result<(), Failure> {
    let now = Timestamp::now();
    let human = |status: &Status| render(status, now);
    context.ask("server.status", &Empty {}, human).await
}

/// Runs `shutdown`. Never starts a server only to stop it.
pub(super) async fn shutdown(context: &Context, args: ShutdownArgs) -> Result<(), Failure> {
    let mut client = match reach(&context.paths).await {
        Err(ClientError::NoServer { socket }) => {
            let message = format!("no server listens on {}, nothing to stop", socket.display());
            return Err(Failure::new(NO_SERVER, message));
        }
        Ok(Reached::Live(client) | Reached::Stopping(client)) => client,
        Err(error) => return Err(error.into()),
    };
    let params = Shutdown { force: args.force, continue_turns: args.continue_turns };
    let value = match client.call("server.shutdown", &params).await {
        // Somebody was faster. Whether turns were marked is for them to know.
        Err(error) if error.has_code(code::STOPPING) && !args.continue_turns => json!({}),
        asked => asked?,
    };
    client.closed(LONGEST_STOP).await?;
    context.answer("server.shutdown", value, |_: &Value| String::new())
}

fn render(status: &Status, now: Timestamp) -> String {
    let counts = &status.counts;
    let saved = status.last_save_at.as_deref().map(|at| ago(now, at));
    let saved = match (status.saved, saved) {
        (true, Some(ago)) => format!("everything, {ago}"),
        (true, None) => "nothing to save yet".to_owned(),
        (false, Some(ago)) => format!("not the latest changes; before them {ago}"),
        (false, None) => "not yet".to_owned(),
    };
    let mut lines = vec![
        (
            "server",
            format!(
                "{} (pid {}), started {}",
                safe(&status.version),
                status.pid,
                ago(now, &status.started_at)
            ),
        ),
        ("socket", safe(&status.socket)),
        ("state", safe(&status.state_dir)),
        (
            "holds",
            format!(
                "{}, {}, {}: {} live, {} resumable",
                counted(counts.workspaces, "workspace"),
                counted(counts.tabs, "tab"),
                counted(counts.panes, "pane"),
                counts.live,
                counts.resumable
            ),
        ),
        ("saved", saved),
        ("disk", health(&status.persist)),
        ("journal", health(&status.journal)),
        ("logind", health(&status.logind)),
        ("start", load(&status.load)),
    ];
    if let Some(listening) = &status.listening
        && listening.state != "ok"
    {
        lines.push(("listening", health(listening)));
    }
    if let Some(logout) = &status.logout {
        lines.push(("logout", health(logout).replacen("may_end", "may end", 1)));
    }
    if let Some(configuration) = &status.configuration
        && configuration.state != "ok"
    {
        lines.push(("config", health(configuration).replacen("restart_needed", "read", 1)));
    }
    let repaired = status.problems.iter().map(|line| ("repaired", safe(line)));
    lines.extend(repaired);
    lines.into_iter().map(|(name, value)| format!("{name:<9} {value}\n")).collect()
}

fn counted(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

/// How the state was found when the server started.
fn load(word: &str) -> String {
    match word {
        "missing" => "nothing was saved before".to_owned(),
        "loaded" => "the saved state was whole".to_owned(),
        other => safe(other).replace('_', " "),
    }
}

fn health(health: &Health) -> String {
    match &health.detail {
        Some(detail) => format!("{}: {}", safe(&health.state), safe(detail)),
        None => safe(&health.state),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::StatusCounts;

    #[test]
    fn status_says_what_is_saved_and_what_is_degraded() {
        let status = Status {
            pid: 7,
            version: "0.1.0".into(),
            protocol: "signaltty/1".into(),
            socket: "/s".into(),
            state_dir: "/d".into(),
            started_at: "2026-03-10T11:58:00Z".into(),
            counts: StatusCounts::default(),
            persist: Health::with("degraded", "no space left\x1b"),
            journal: Health::ok(),
            logind: Health::ok(),
            listening: Some(Health::with("restored", "/s was removed and made again")),
            logout: Some(Health::with("may_end", "it runs in a login session")),
            configuration: Some(Health::with("rejected", "there is no key x")),
            last_save_at: Some("2026-03-10T11:59:00Z".into()),
            saved: false,
            load: "loaded".into(),
            problems: vec!["a pane was in no tab".into()],
        };
        let text = render(&status, "2026-03-10T12:00:00Z".parse().unwrap());
        for expected in [
            "server    0.1.0 (pid 7), started 2 min ago\n",
            "saved     not the latest changes; before them 1 min ago\n",
            "listening restored: /s was removed",
            "disk      degraded: no space left\\x1b\n",
            "logout    may end: it runs in a login session\n",
            "repaired  a pane was in no tab\n",
        ] {
            assert!(text.contains(expected), "{text}");
        }
    }
}
