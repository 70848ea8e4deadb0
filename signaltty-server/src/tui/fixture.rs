//! A client with something to show, for tests and the documents.

use bytes::Bytes;
use signaltty_core::id::PaneId;
use signaltty_core::scope::Scope;

use super::gui::Gui;
use super::model::Model;
use super::msg::{After, Effect, FromStream, Msg};
use super::update::update;
use crate::protocol::{
    AgentNode, ExitNode, FailureNode, NotificationNode, Notifications, PaneNode, PaneText, TabNode,
    Tree, WireError, WorkspaceNode, WorktreeNode, WorktreeWorkspace, Worktrees,
};

/// What a pane is, in one word each: id, state, lifecycle, attention.
pub(super) type Facts = (u8, &'static str, &'static str, &'static str);

/// A pane for every state, and in the live ones every attention.
pub(super) const PANES: [Facts; 12] = [
    (1, "live", "working", "none"),
    (2, "live", "idle", "unread"),
    (3, "live", "blocked", "permission_required"),
    (4, "live", "blocked", "input_required"),
    (5, "live", "failed", "error"),
    (6, "live", "idle", "warning"),
    (7, "restored", "unknown", "none"),
    (8, "resumable", "working", "unread"),
    (9, "resuming", "working", "none"),
    (10, "exited", "exited", "none"),
    (11, "live", "unknown", "none"),
    (12, "exited", "exited", "unread"),
];

pub(super) fn id(n: u8) -> PaneId {
    PaneId::from_random([n; 10])
}

pub(super) fn node(facts: Facts) -> PaneNode {
    let (n, state, lifecycle, attention) = facts;
    let agent = (n < 10).then(|| AgentNode {
        kind: "claude".into(),
        previous_session_id: None,
        shared_with: None,
        agent_session_id: Some("e20c8dbf-a7ca".into()),
        place: "own".into(),
        verdict: match n {
            1 => Some("verified".into()),
            2 => Some("unconfirmed".into()),
            3 => Some("contradicted".into()),
            _ => None,
        },
        evidence: Vec::new(),
        verdict_at: None,
        resumed: 0,
        proven_at: None,
        rewritten_at: None,
        question_expired: false,
        marked: false,
        attempts: 0,
        reported_argv: None,
        receipt: None,
        interrupted: n == 8,
        last_failure: (n == 7).then(|| FailureNode {
            code: "damaged".into(),
            message: "the agent's record is shorter than it was".into(),
            at: "1970-01-01T00:00:00Z".into(),
        }),
        integration: None,
    });
    PaneNode {
        id: id(n).to_string(),
        title: if agent.is_some() { "✳ claude".into() } else { "bash".into() },
        cwd: "/src/api".into(),
        argv: vec![if agent.is_some() { "claude".into() } else { "bash".into() }],
        cols: 0,
        rows: 0,
        state: state.into(),
        stage: (state == "resuming").then(|| "preflight".into()),
        exit: (state == "exited").then_some(ExitNode { code: Some(2), signal: None }),
        lifecycle: lifecycle.into(),
        attention: attention.into(),
        decision_id: (n == 3).then(|| "q00000003".into()),
        decision: (n == 3).then(|| "Bash: rm -rf target".into()),
        last_message: (n == 3).then(|| "Bash: rm -rf target".into()),
        agent,
        missing_env: Vec::new(),
        created_at: "1970-01-01T00:00:00Z".into(),
    }
}

/// A tombstone of which there is everything to say that there can be.
pub(super) fn told_all() -> PaneNode {
    let mut node = node((8, "resumable", "working", "input_required"));
    node.missing_env = vec!["API_BASE".into()];
    node.last_message = Some("Which of the two files?".into());
    if let Some(agent) = &mut node.agent {
        agent.verdict = Some("contradicted".into());
        agent.evidence = vec!["live_registry: it lists another".into()];
        (agent.interrupted, agent.marked, agent.attempts) = (true, true, 2);
        (agent.question_expired, agent.resumed) = (true, 3);
        agent.proven_at = Some("1970-01-01T00:00:00Z".into());
        agent.reported_argv = Some(vec!["my-agent".into(), "--resume".into(), "7".into()]);
        agent.receipt = Some("last tool call: Bash, it finished".into());
        agent.integration = Some("run signaltty integration install claude".into());
        agent.last_failure = Some(FailureNode {
            code: "contradicted".into(),
            message: "it opened another conversation".into(),
            at: "1970-01-01T00:00:00Z".into(),
        });
    }
    node
}

/// Workspaces with these tabs; each tab is a list of panes in a row.
pub(super) fn tree(workspaces: &[(&str, &[&[Facts]])]) -> Tree {
    let mut number = 0_u8;
    let workspace = |(name, tabs): &(&str, &[&[Facts]])| WorkspaceNode {
        id: format!("ws_{name}"),
        handle: (*name).to_owned(),
        name: (*name).to_owned(),
        cwd: format!("/src/{name}").as_str().into(),
        auto_resume: *name == "web",
        auto_continue: false,
        history: true,
        archived: false,
        tabs: tabs
            .iter()
            .map(|panes| {
                number += 1;
                let ids: Vec<_> = panes.iter().map(|facts| id(facts.0).to_string()).collect();
                TabNode {
                    id: format!("tab_{number}"),
                    title: "agents".into(),
                    active_pane_id: ids.first().cloned().unwrap_or_default(),
                    layout: match ids.as_slice() {
                        [one] => format!("v1:{one}"),
                        [first, rest @ ..] if rest.len() > 1 => {
                            format!("v1:[{first}*2|[{}]]", rest.join("/"))
                        }
                        all => format!("v1:[{}]", all.join("|")),
                    },
                    cols: 0,
                    rows: 0,
                    panes: panes.iter().map(|facts| node(*facts)).collect(),
                }
            })
            .collect(),
    };
    Tree { workspaces: workspaces.iter().map(workspace).collect() }
}

/// A client of this size that shows the tree; its panes print what is given,
/// and tombstones have saved output.
pub(super) fn client(size: (u16, u16), tree: Tree, printed: &[(u8, &str)]) -> Model {
    let mut model = Model::new(Gui::default(), size, "/src/api".into(), Scope::All);
    model.agents = vec!["claude".into(), "codex".into()];
    let mut effects = update(&mut model, Msg::Listed(tree));
    // What the server would answer.
    while let Some(effect) = effects.pop() {
        match effect {
            Effect::Open { pane, number, .. } => {
                let rects = super::areas::arrangement(&model).map(|found| found.rects);
                let rect = rects.unwrap_or_default().into_iter().find(|(leaf, _)| *leaf == pane);
                let Some((_, rect)) = rect else { continue };
                let (cols, rows) = (rect.cols(), rect.rows());
                let text = printed.iter().find(|(n, _)| id(*n) == pane).map_or("", |p| p.1);
                let begun = FromStream::Begun { cols, rows };
                let output = FromStream::Output(Bytes::copy_from_slice(text.as_bytes()));
                for what in [begun, output] {
                    update(&mut model, Msg::Stream { pane, number, what });
                }
            }
            Effect::ReadTail { pane } => {
                let text = "$ cargo test\n\x1b[32mok\x1b[0m 12 passed\nwrote src/lib.rs\n";
                let (pane_id, source) = (pane.to_string(), "saved".into());
                let result =
                    Ok(PaneText { pane_id, source, text: text.into(), ..PaneText::default() });
                update(&mut model, Msg::Tail { pane, result });
            }
            // None of the directories is in a repository.
            Effect::Call { after: after @ After::Checkouts(_), .. } => {
                let result = Err(WireError::new("NOT_A_REPOSITORY", ""));
                effects.extend(update(&mut model, Msg::Done { after, result }));
            }
            _ => {}
        }
    }
    model
}

/// Checkouts of one repository: the first is the main one. Each has its branch
/// and the workspaces in it.
pub(super) fn checkouts(model: &mut Model, dir: &str, of: &[(&str, &str, &[&str])]) -> Vec<Effect> {
    let node = |(at, (path, branch, workspaces)): (usize, &(&str, &str, &[&str]))| WorktreeNode {
        path: (*path).into(),
        head: Some("0123456789".into()),
        branch: Some((*branch).to_owned()),
        main: at == 0,
        bare: false,
        locked: None,
        prunable: None,
        remark: None,
        workspaces: workspaces
            .iter()
            .map(|name| WorktreeWorkspace { id: format!("ws_{name}"), handle: (*name).into() })
            .collect(),
    };
    let worktrees = of.iter().enumerate().map(node).collect();
    let value = serde_json::to_value(Worktrees { worktrees }).unwrap();
    update(model, Msg::Done { after: After::Checkouts(dir.into()), result: Ok(value) })
}

/// What people were told: something unread about a pane, and something read.
pub(super) fn told(model: &mut Model) {
    let node =
        |n: u8, pane: Option<u8>, title: &str, body: &str, severity: &str| NotificationNode {
            id: format!("notif_{n}"),
            pane_id: pane.map(|pane| id(pane).to_string()),
            title: title.into(),
            body: body.into(),
            severity: severity.into(),
            created_at: "1970-01-01T00:00:00Z".into(),
            read_at: (n > 2).then(|| "1970-01-01T00:00:00Z".into()),
            from_program: n == 3,
        };
    let notifications = vec![
        node(1, Some(8), "the build broke\u{1b}[2J", "error: 3 tests fail in src/lib.rs", "error"),
        node(2, None, "the disk is nearly full", "", "warning"),
        node(3, Some(1), "done", "Everything is as you asked.", "info"),
    ];
    let result = Ok(serde_json::to_value(Notifications { notifications }).unwrap());
    update(model, Msg::Done { after: After::Inbox, result });
}

/// Presses keys, one after the other, a while after whatever was before.
pub(super) fn press(model: &mut Model, keys: &[&str]) -> Vec<Effect> {
    model.clock += std::time::Duration::from_secs(60);
    let mut effects = Vec::new();
    for key in keys {
        let key: super::input::Key = key.parse().unwrap();
        let event = crossterm::event::KeyEvent::new(key.code, key.mods);
        effects.extend(update(model, Msg::Key(event)));
    }
    effects
}
