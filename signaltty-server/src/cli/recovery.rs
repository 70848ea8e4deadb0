//! `continue`, `resume --all` and `restore --plan`: what follows a restart.

use clap::Args;
use serde_json::{Value, json};

use super::progress::Spinner;
use super::resume::Stages;
use super::{Context, Exit, Failure, place, safe};
use crate::client::{ClientError, connect_live};
use crate::protocol::{
    Continued, Empty, PaneAgain, PaneInfo, PaneRef, PaneResume, RestorePlan, Resumed, Tree,
};

// Arguments of `continue`.
#[derive(Debug, Args)]
pub(super) struct ContinueArgs {
    /// The pane's id, or the start of it
    pane: String,
}

// Arguments of `restore`.
#[derive(Debug, Args)]
pub(super) struct RestoreArgs {
    /// Say per pane what a start would do, and why; starts nothing
    #[arg(long, required = true)]
    plan: bool,
}

/// Runs `continue`: reopens the conversation where that is needed, and lets its
/// interrupted turn go on.
pub(super) async fn go_on(context: &Context, args: ContinueArgs) -> Result<Exit, Failure> {
    let mut client = context.client().await?;
    let info: PaneInfo = client.call("pane.info", &PaneRef { pane: args.pane }).await?;
    let pane = info.pane.id;
    let mut stages = Stages::none();
    if context.watched() {
        stages = Stages::of(context, &pane).await;
    }
    let params = PaneAgain { pane, env: place::environment() };
    let call = client.call::<_, Value>("pane.continue", &params);
    let Some(result) = stages.meanwhile(context, call).await else {
        return Ok(Exit::Failed);
    };
    let value = result?;
    // One that was reopened and not proven was not continued.
    if value.get("verdict").is_some() {
        context.answer("pane.continue", value, |resumed: &Resumed| {
            format!(
                "{}: nothing proves that the agent holds conversation {}, so its turn was not \
                 continued; look at it, and write to the agent yourself\n",
                safe(&resumed.pane_id),
                safe(resumed.agent_session_id.as_deref().unwrap_or("of the agent"))
            )
        })?;
        return Ok(Exit::Unproven);
    }
    context.answer("pane.continue", value, |continued: &Continued| {
        let (pane, id) = (safe(&continued.pane_id), safe(&continued.agent_session_id));
        let receipt = continued.receipt.as_ref().map(|receipt| format!("  {}\n", safe(receipt)));
        let receipt = receipt.unwrap_or_default();
        format!("{pane}: the interrupted turn of conversation {id} goes on\n{receipt}")
    })?;
    Ok(Exit::Done)
}

/// Runs `resume --all`: every resumable pane, of one workspace or of all that
/// are not archived, one after the other.
pub(super) async fn all(context: &Context, workspace: Option<&str>) -> Result<Exit, Failure> {
    let mut client = context.client().await?;
    let tree: Tree = client.call("session.list", &Empty {}).await?;
    let wanted = tree.workspaces.iter().filter(|one| match workspace {
        Some(name) => one.id == name || one.handle == name || one.id.starts_with(name),
        None => !one.archived,
    });
    let wanted: Vec<_> = wanted.collect();
    if let (Some(name), true) = (workspace, wanted.is_empty()) {
        let message = format!("there is no workspace {name}; `signaltty ls` lists them");
        return Err(Failure::new("NO_SUCH_WORKSPACE", message));
    }
    let panes = wanted.iter().flat_map(|one| &one.tabs).flat_map(|tab| &tab.panes);
    let panes: Vec<_> = panes.filter(|pane| pane.state == "resumable").collect();
    let (mut results, mut exit) = (Vec::new(), Exit::Done);
    for (number, pane) in panes.iter().enumerate() {
        let id = pane.id.clone();
        let env = place::environment();
        let params =
            PaneResume { pane: id.clone(), anyway: false, previous: false, cwd: None, env };
        let what = format!("{} {}", bar(number, panes.len()), safe(&pane.title));
        let call = client.call::<_, Value>("pane.resume", &params);
        let line = match Spinner::new(context, what).during(call).await {
            Ok(value) => {
                let verdict = value.get("verdict").and_then(Value::as_str).unwrap_or_default();
                if verdict != "verified" {
                    exit = Exit::Unproven;
                }
                let line = format!("{}: {}\n", safe(&id), safe(verdict));
                results.push(value);
                line
            }
            Err(ClientError::Wire(error)) => {
                exit = Exit::Unproven;
                let line = format!("{}: {}\n", safe(&id), safe(&error.message));
                results.push(json!({"pane_id": id, "error": error}));
                line
            }
            Err(error) => return Err(error.into()),
        };
        if !context.json {
            context.print(&line)?;
        }
    }
    if context.json {
        context.print_json(&json!({"panes": results}))?;
    } else if results.is_empty() {
        context.print("no pane is resumable\n")?;
    }
    Ok(exit)
}

/// How far it is: done of so many.
fn bar(done: usize, of: usize) -> String {
    const WIDTH: usize = 12;
    let full = done * WIDTH / of.max(1);
    format!("[{}{}] {} of {of}", "#".repeat(full), "-".repeat(WIDTH - full), done + 1)
}

/// Runs `restore --plan`. Never starts a server: that would be the start itself.
pub(super) async fn plan(context: &Context, _: RestoreArgs) -> Result<(), Failure> {
    let value = match connect_live(&context.paths).await {
        Ok(mut client) => client.call("restore.plan", &Empty {}).await?,
        Err(ClientError::NoServer { .. }) => without_server(context)?,
        Err(error) => return Err(error.into()),
    };
    context.answer("restore.plan", value, render)
}

#[cfg(feature = "daemon")]
fn without_server(context: &Context) -> Result<Value, Failure> {
    use crate::daemon::NoPlan;
    // The file that a server would read.
    let config = crate::config::standard_path(|name| std::env::var_os(name));
    let plan = crate::daemon::plan_of_state(context.paths.state()?, config);
    let plan = plan.map_err(|why| match why {
        NoPlan::Config(error) => Failure::Usage(format!("no server would start: {error}")),
        NoPlan::State(message) => Failure::new("STATE_REFUSED", message),
    })?;
    serde_json::to_value(plan).map_err(|error| Failure::writing(error.into()))
}

#[cfg(not(feature = "daemon"))]
fn without_server(context: &Context) -> Result<Value, Failure> {
    let message = format!(
        "no server listens on {}, and this program cannot read the state itself",
        context.paths.socket.display()
    );
    Err(Failure::new(super::failure::NO_SERVER, message))
}

fn render(plan: &RestorePlan) -> String {
    let mut text: String = plan.remarks.iter().map(|line| format!("{}\n", safe(line))).collect();
    if plan.panes.is_empty() {
        return text + "no panes\n";
    }
    let line = |node: &crate::protocol::PlanNode| {
        format!(
            "{}  {:<8}  {:<8}  {}\n",
            safe(&node.pane_id),
            safe(&node.decision),
            safe(&node.rule),
            safe(&node.reason)
        )
    };
    text.extend(plan.panes.iter().map(line));
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::PlanNode;

    #[test]
    fn a_plan_is_a_line_for_each_pane_with_its_row_and_reason() {
        let node = PlanNode {
            pane_id: "pane_1".into(),
            decision: "continue".into(),
            rule: "D16".into(),
            reason: "It goes on\u{7}.".into(),
        };
        let text = render(&RestorePlan { panes: vec![node], remarks: vec![] });
        assert_eq!(text, "pane_1  continue  D16       It goes on\\x07.\n");
        assert_eq!(render(&RestorePlan::default()), "no panes\n");
    }
}
