//! Embeds the core: a session without terminals, files or clocks.
//!
//! The caller gives time, ids and facts, and performs the effects. Here an agent
//! and a shell run side by side, the server "crashes", and the agent's
//! conversation is reopened and proven to be the saved one.
//!
//! Run it with `cargo run -p signaltty-core --example embed_core`.

use std::error::Error;
use std::time::Duration;

use signaltty_core::agent::{
    AgentPolicy, AgentReport, Anchor, Extent, Fingerprint, LoadedRule, RecordRead, Relation,
    Witness, WitnessSource,
};
use signaltty_core::env::{ConfigEnv, SavedEnv};
use signaltty_core::id::{InstanceId, PaneId, RequestId, ServerEpoch, TabId, WorkspaceId};
use signaltty_core::layout::{Direction, Point, Rect, rects};
use signaltty_core::session::{Command, Config, Effect, Input, PaneSpec, Session};
use signaltty_core::time::{Now, UnixMillis};

fn main() -> Result<(), Box<dyn Error>> {
    let (agent, shell) = (PaneId::from_random([1; 10]), PaneId::from_random([2; 10]));
    let mut session = Session::new(ServerEpoch(1), config()?);
    let command = Command::NewWorkspace {
        workspace: WorkspaceId::from_random([1; 10]),
        name: Some("api".into()),
        cwd: "/home/me/api".into(),
        tab: TabId::from_random([1; 10]),
        pane: agent,
        spec: spec("claude", Some("claude".parse()?)),
    };
    step(&mut session, 0, Input::Command { request: RequestId(1), command })?;
    let spec = spec("bash", None);
    let command = Command::Split { pane: agent, direction: Direction::Right, new: shell, spec };
    step(&mut session, 10, Input::Command { request: RequestId(2), command })?;
    show(&session);

    // What is saved has no process in it, so neither has what comes back.
    let saved = session.saved(at(20));
    let (mut session, problems) = Session::restore(saved, ServerEpoch(2), config()?, at(30));
    say(&format!("--- the server was killed; {} problems", problems.len()));
    show(&session);
    let command = Command::Resume { pane: agent, anyway: false, previous: false, cwd: None };
    step(&mut session, 40, Input::Command { request: RequestId(3), command })?;
    show(&session);
    Ok(())
}

/// Gives an input and plays the world, in which everything succeeds.
fn step(session: &mut Session, millis: u64, input: Input) -> Result<(), Box<dyn Error>> {
    for effect in session.handle(at(millis), input) {
        let answer = match effect {
            Effect::Spawn { instance, .. } => Input::Spawned { instance, result: Ok(()) },
            Effect::Preflight { pane, request, .. } => {
                Input::Preflighted { pane, request, result: Ok(found(1)) }
            }
            Effect::Observe { instance, .. } => Input::Report { instance, report: seen(instance)? },
            Effect::ReadRecord { instance, witness, named, .. } => {
                Input::RecordRead { instance, witness, named: named.id, result: Ok(found(1)) }
            }
            Effect::Anchor { instance, conversation, .. } => {
                Input::Anchored { instance, id: conversation.id, result: Ok(found(1).now) }
            }
            Effect::Publish(event) => {
                say(&format!("  event {}", event.name()));
                continue;
            }
            Effect::Reply { result, .. } => {
                say(&format!("  reply {result:?}"));
                continue;
            }
            _ => continue,
        };
        step(session, millis + 1, answer)?;
    }
    Ok(())
}

/// The agent's own list of what runs names one conversation.
fn seen(instance: InstanceId) -> Result<AgentReport, Box<dyn Error>> {
    let witness = Witness {
        instance,
        source: WitnessSource::LiveRegistry,
        sessions: ["11111111-aaaa".parse()?].into(),
        loaded: None,
        detail: "its registry lists the process".into(),
        record: RecordRead::Pending,
    };
    Ok(AgentReport { witness: Some(witness), ..AgentReport::default() })
}

/// The agent's record, which is the saved one and perhaps longer.
fn found(user_messages: u64) -> Fingerprint {
    let extent = Extent::Lines { bytes: user_messages * 512, sha256: [0; 32] };
    let record = "/home/me/.claude/11111111-aaaa.jsonl".into();
    let (file, last_message, base) = (None, None, None);
    let now = Anchor { record, file, extent, last_message, user_messages, base };
    Fingerprint::new(Relation::Extends, now)
}

/// Draws each tab: a digit for each pane, and under it what the pane is.
fn show(session: &Session) {
    for tab in session.workspaces().flat_map(|workspace| workspace.tabs()) {
        let all = rects(&tab.record.layout, Rect::from(tab.record.area));
        for row in (0..tab.record.area.rows).step_by(6) {
            let digit = |col| {
                let at = all.iter().position(|(_, rect)| rect.contains(Point { col, row }));
                at.map_or("|".to_owned(), |n| (n + 1).to_string())
            };
            say(&(0..tab.record.area.cols).step_by(2).map(digit).collect::<String>());
        }
        for (n, pane) in tab.panes().enumerate() {
            let verdict = pane.verdict.map_or("", |verdict| verdict.word.as_str());
            say(&format!("{} {} is {} {verdict}", n + 1, pane.record.title, pane.state));
        }
    }
}

fn config() -> Result<Config, Box<dyn Error>> {
    let mut config = Config::default();
    let needs = vec![WitnessSource::LiveRegistry];
    let policy = AgentPolicy::new(needs, LoadedRule::NotReported, Duration::from_secs(10));
    config.policies.insert("claude".parse()?, policy);
    Ok(config)
}

fn spec(program: &str, agent: Option<signaltty_core::agent::AgentKind>) -> PaneSpec {
    PaneSpec {
        argv: vec![program.into()],
        cwd: "/home/me/api".into(),
        env: SavedEnv::filter([("TERM", "xterm-256color"), ("TOKEN", "never kept")]),
        agent,
        config_env: ConfigEnv::default(),
        options: Default::default(),
    }
}

fn at(millis: u64) -> Now {
    Now { mono: Duration::from_millis(millis), wall: UnixMillis(1_800_000_000_000 + millis) }
}

#[expect(clippy::print_stdout, reason = "an example shows what it does")]
fn say(line: &str) {
    println!("{line}");
}
