//! The session as scripts see it.

use std::collections::BTreeMap;

use serde_json::Value;
use signaltty_core::agent::{AgentPlace, SavedAgent};
use signaltty_core::id::PaneId;
use signaltty_core::pane::SavedPane;
use signaltty_core::restore::{FailureCode, PaneState, ResumeFailure};
use signaltty_core::session::{PaneView, Session, TabView, WorkspaceView};

use super::clock::rfc3339;
use crate::protocol::{
    AgentNode, ExitNode, FailureNode, PaneNode, StatusCounts, TabNode, Tree, WireOs, WorkspaceNode,
};

/// What a person should know of the last process of a pane, as long as the
/// server lives.
#[derive(Debug, Default)]
pub(crate) struct Note {
    /// What to do so that its agent can report to us.
    pub(crate) integration: Option<String>,
    /// Variables that the pane's first launch had and this one has not.
    pub(crate) missing_env: Vec<String>,
}

/// Those of all panes.
pub(crate) type Notes = BTreeMap<PaneId, Note>;

/// All workspaces.
pub(crate) fn tree(session: &Session, notes: &Notes) -> Tree {
    Tree { workspaces: session.workspaces().map(|view| workspace(&view, notes)).collect() }
}

fn workspace(view: &WorkspaceView<'_>, notes: &Notes) -> WorkspaceNode {
    let record = view.record;
    WorkspaceNode {
        id: record.id.to_string(),
        handle: record.handle.to_string(),
        name: record.name.to_string(),
        cwd: record.cwd.as_path().into(),
        auto_resume: record.switches.auto_resume,
        auto_continue: record.switches.auto_continue,
        history: record.switches.history,
        archived: record.archived,
        tabs: view.tabs().map(|view| tab(&view, notes)).collect(),
    }
}

fn tab(view: &TabView<'_>, notes: &Notes) -> TabNode {
    TabNode {
        id: view.record.id.to_string(),
        title: view.record.title.to_string(),
        active_pane_id: view.record.active_pane.to_string(),
        layout: view.record.layout.to_string(),
        cols: view.record.area.cols,
        rows: view.record.area.rows,
        panes: view.panes().map(|view| pane(&view, notes)).collect(),
    }
}

/// One pane.
pub(crate) fn pane(view: &PaneView<'_>, notes: &Notes) -> PaneNode {
    let record = view.record;
    let note = notes.get(&record.id);
    let stage = match view.state {
        PaneState::Resuming(stage) => Some(stage.as_str().to_owned()),
        _ => None,
    };
    PaneNode {
        id: record.id.to_string(),
        title: record.title.to_string(),
        cwd: record.cwd.as_path().into(),
        argv: record.argv.iter().map(|word| WireOs(word.clone())).collect(),
        cols: record.size.cols,
        rows: record.size.rows,
        state: view.state.as_str().to_owned(),
        stage,
        exit: exit(record, view.state),
        lifecycle: record.lifecycle.as_str().to_owned(),
        attention: record.attention.as_str().to_owned(),
        last_message: record.last_message.as_deref().map(str::to_owned),
        agent: record.agent.as_ref().map(|saved| agent(view, saved, note)),
        missing_env: note.map(|note| note.missing_env.clone()).unwrap_or_default(),
        decision: view.decision.map(|decision| decision.question.to_string()),
        decision_id: view.decision.map(|decision| decision.id.to_string()),
        created_at: rfc3339(record.created_at),
    }
}

/// A process that nobody saw ending has no status (S0-1).
fn exit(record: &SavedPane, state: &PaneState) -> Option<ExitNode> {
    let PaneState::Tombstone(_) = state else {
        return None;
    };
    let status = record.end.and_then(|end| end.status).unwrap_or_default();
    Some(ExitNode { code: status.code, signal: status.signal })
}

fn agent(view: &PaneView<'_>, saved: &SavedAgent, note: Option<&Note>) -> AgentNode {
    let conversation = saved.conversation.as_ref().map(|conversation| &conversation.id);
    let failure = saved.last_failure.as_ref();
    // What an earlier agent of this shell left is not what runs in it.
    let left = saved.place == AgentPlace::Left;
    let kind = view.followed.filter(|_| left).unwrap_or(&saved.kind);
    let shown = match view.followed {
        Some(_) if left => view.candidate,
        _ => conversation.or(view.candidate),
    };
    // Of one that ended it says why nothing was proven.
    let unconfirmed = |failure: &ResumeFailure| failure.refusal.code == FailureCode::Unconfirmed;
    let tells = view.state.instance().is_some() || failure.is_some_and(unconfirmed);
    let needed = note.and_then(|note| note.integration.as_ref()).filter(|_| tells);
    AgentNode {
        kind: kind.to_string(),
        agent_session_id: shown.map(ToString::to_string),
        previous_session_id: saved.previous.as_ref().map(|previous| previous.id.to_string()),
        place: saved.place.as_str().to_owned(),
        verdict: view.verdict.map(|verdict| verdict.word.as_str().to_owned()),
        evidence: view
            .verdict
            .map(|verdict| verdict.evidence.iter().map(ToString::to_string).collect())
            .unwrap_or_default(),
        verdict_at: view.verdict.map(|verdict| rfc3339(verdict.at)),
        resumed: saved.continuity.resumed,
        proven_at: saved.continuity.proven_at.map(rfc3339),
        rewritten_at: saved.continuity.rewritten_at.map(rfc3339),
        shared_with: view.shared_with.map(|pane| pane.to_string()),
        interrupted: saved.interrupted,
        question_expired: saved.question_expired,
        marked: saved.turns.marker().is_some(),
        attempts: saved.turns.attempts(),
        reported_argv: saved
            .reported_argv
            .as_ref()
            .map(|argv| argv.0.iter().map(|word| WireOs(word.clone())).collect()),
        receipt: view.receipt.map(ToString::to_string),
        last_failure: failure.map(|failure| FailureNode {
            code: failure.refusal.code.as_str().to_owned(),
            message: failure.refusal.message.to_string(),
            at: rfc3339(failure.at),
        }),
        // One in a shell that shows its conversation needs nothing.
        integration: needed.filter(|_| view.followed.is_none() || shown.is_none()).cloned(),
    }
}

/// What a person should know of switches that they set: one that does nothing
/// without another.
pub(crate) fn switch_remarks(session: &Session, params: &Value) -> Vec<String> {
    let name = params.get("workspace").and_then(Value::as_str).unwrap_or_default();
    let id = super::resolve::workspace(session, name).ok();
    let workspace = session.workspaces().find(|workspace| Some(workspace.record.id) == id);
    let had = workspace.map(|workspace| workspace.record.switches).unwrap_or_default();
    let wants = |key: &str, had: bool| params.get(key).and_then(Value::as_bool).unwrap_or(had);
    let resume = wants("auto_resume", had.auto_resume);
    let on = params.get("auto_continue") == Some(&Value::Bool(true));
    if on && !resume {
        let remark = "auto-continue does nothing by itself: it goes on top of auto-resume, which \
                      is off; turn that on too";
        return vec![remark.to_owned()];
    }
    Vec::new()
}

/// How much of everything there is.
pub(crate) fn counts(session: &Session) -> StatusCounts {
    let mut counts = StatusCounts::default();
    for workspace in session.workspaces() {
        counts.workspaces += 1;
        for tab in workspace.tabs() {
            counts.tabs += 1;
            for pane in tab.panes() {
                counts.panes += 1;
                counts.live += usize::from(pane.state.instance().is_some());
                counts.resumable += usize::from(pane.state.as_str() == "resumable");
            }
        }
    }
    counts
}
