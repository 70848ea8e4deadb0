//! `wait`.

use std::time::Duration;

use clap::Args;
use jiff::SignedDuration;
use serde_json::Value;

use super::failure::NO_SERVER;
use super::progress::Spinner;
use super::{Context, Failure, safe};
use crate::client::ClientError;
use crate::protocol::{PaneWait, Waited, code};

// Arguments of `wait`.
#[derive(Debug, Args)]
pub(super) struct WaitArgs {
    /// The pane's id, or the start of it
    pane: String,
    /// Any of these: what an agent does (unknown, working, blocked, done, idle,
    /// failed), how much the pane wants a person (unread, warning,
    /// input_required, permission_required, error, or more), seen, exited
    #[arg(long, required = true, value_delimiter = ',', value_name = "STATE[,STATE]")]
    until: Vec<String>,
    /// Only what happens after this baseline, which `pane info` and `wait` print
    #[arg(long, value_name = "BASELINE")]
    after: Option<String>,
    /// How long, as in 30s or 5m
    #[arg(long, value_name = "TIME", default_value = "1h", value_parser = duration)]
    timeout: Duration,
}

/// Runs `wait`; prints what happened, and the baseline to wait for more.
pub(super) async fn run(context: &Context, args: WaitArgs) -> Result<(), Failure> {
    let what = format!("waiting until {} is {}", safe(&args.pane), safe(&args.until.join(" or ")));
    let params = PaneWait {
        pane: args.pane,
        until: args.until,
        after: args.after,
        timeout_ms: Some(u64::try_from(args.timeout.as_millis()).unwrap_or(u64::MAX)),
    };
    let pane = params.pane.clone();
    let mut client = context.client().await?;
    let asked = client.call("pane.wait", &params);
    let value: Value = match Spinner::new(context, what).during(asked).await {
        // Over a link it may be the link that ended.
        Err(error) if context.host.is_none() && has_gone(&error) => return Err(gone(&pane)),
        asked => asked?,
    };
    let human = |waited: &Waited| match &waited.baseline {
        Some(baseline) => format!("{} {}\n", safe(&waited.reached), safe(baseline)),
        None => format!("{}\n", safe(&waited.reached)),
    };
    context.answer("pane.wait", value, human)
}

fn has_gone(error: &ClientError) -> bool {
    error.is_end() || error.has_code(code::STOPPING)
}

/// What runs in a pane ends with its server, so nothing that is waited for can
/// come any more.
fn gone(pane: &str) -> Failure {
    let message = format!(
        "the server went away while {pane} was waited for, and what ran in its panes ended with \
         it; `signaltty ls` shows what is left"
    );
    Failure::new(NO_SERVER, message)
}

fn duration(text: &str) -> Result<Duration, String> {
    let form = || "it must be a time such as 30s, 5m or 1h30m".to_owned();
    if let Ok(seconds) = text.parse::<u64>() {
        return Ok(Duration::from_secs(seconds));
    }
    let parsed: SignedDuration = text.parse().map_err(|_| form())?;
    parsed.try_into().map_err(|_| form())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_as_people_write_them() {
        assert_eq!(duration("30s"), Ok(Duration::from_secs(30)));
        assert_eq!(duration("5m"), Ok(Duration::from_secs(300)));
        assert_eq!(duration("250ms"), Ok(Duration::from_millis(250)));
        assert_eq!(duration("7"), Ok(Duration::from_secs(7)));
        for bad in ["", "-3s", "soon", "3 parsecs"] {
            assert!(duration(bad).is_err(), "{bad}");
        }
    }
}
