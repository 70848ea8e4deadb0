//! `forget`.

use clap::Args;

use super::{Context, Failure, safe};
use crate::protocol::{Forgotten, SessionForget};

// Arguments of `forget`.
#[derive(Debug, Args)]
pub(super) struct ForgetArgs {
    /// The pane or the workspace: its id or the start of one; a handle means the
    /// whole workspace. Of one that is closed, the whole id
    #[arg(value_name = "PANE|WS")]
    target: String,
}

/// Runs it.
pub(super) async fn run(context: &Context, args: ForgetArgs) -> Result<(), Failure> {
    let params = SessionForget { target: args.target };
    context.ask("session.forget", &params, human).await
}

fn human(answer: &Forgotten) -> String {
    let Forgotten { panes, tails, records, snapshots, left } = answer;
    let mut text = format!(
        "forgotten for {panes} panes: {tails} saved outputs, {records} recorded events, \
         {snapshots} older snapshots\n"
    );
    for path in left {
        text.push_str(&format!(
            "{} names such a pane and cannot be changed; remove it yourself\n",
            safe(path)
        ));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn d30_what_is_left_is_named() {
        let left = vec!["/state/corrupt/3-1.json".to_owned()];
        let text = human(&Forgotten { panes: 2, tails: 1, records: 5, snapshots: 3, left });
        assert!(text.starts_with("forgotten for 2 panes: 1 saved outputs, 5 recorded events"));
        assert!(text.contains("/state/corrupt/3-1.json"), "{text}");
    }
}
