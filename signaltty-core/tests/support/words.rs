//! Effects in words, so that lists of them can be read.

use signaltty_core::session::{Effect, Event, Program, Reply};

/// One word group per effect; events start with `~`.
pub fn words(effects: &[Effect]) -> Vec<String> {
    effects.iter().map(word).collect()
}

/// As [`words`], without events.
pub fn deeds(effects: &[Effect]) -> Vec<String> {
    let all = words(effects).into_iter();
    all.filter(|word| !word.starts_with('~')).collect()
}

fn word(effect: &Effect) -> String {
    match effect {
        Effect::Spawn { command, .. } => match &command.program {
            Program::Argv { argv, .. } => {
                let argv: Vec<_> = argv.iter().map(|a| a.to_string_lossy()).collect();
                format!("spawn {}", argv.join(" "))
            }
            Program::Official(official) => {
                format!("spawn official {} {}", official.kind(), official.conversation().id)
            }
            other => format!("spawn {other:?}"),
        },
        Effect::Resize { size, .. } => format!("resize {}x{}", size.cols, size.rows),
        Effect::Kill { .. } => "kill".into(),
        Effect::Preflight { conversation, .. } => format!("preflight {}", conversation.id),
        Effect::Follow { agent: Some(agent), .. } => {
            format!("follow {} {}", agent.kind, agent.process.pid)
        }
        Effect::Follow { agent: None, .. } => "follow none".into(),
        Effect::Observe { kind, .. } => format!("observe {kind}"),
        Effect::ReadRecord { witness, named, .. } => format!("read {witness} {}", named.id),
        Effect::Anchor { conversation, .. } => format!("anchor {}", conversation.id),
        Effect::Save { durability, .. } => format!("save {durability:?}").to_lowercase(),
        Effect::ReadTurn { .. } => "read turn".into(),
        Effect::Continue { by_hand: false, .. } => "continue".into(),
        Effect::Continue { by_hand: true, .. } => "continue by hand".into(),
        Effect::ForgetTail { .. } => "forget".into(),
        Effect::Publish(event) => event_word(event),
        Effect::Reply { result, .. } => match result {
            Ok(Reply::Done) => "ok".into(),
            Ok(Reply::Created { .. }) => "ok created".into(),
            Ok(Reply::Resumed { id, verdict, .. }) => {
                let id = id.as_ref().map_or("none", |id| id.as_str());
                format!("ok resumed {id} {}", verdict.word.as_str())
            }
            Ok(Reply::Continued { id, .. }) => format!("ok continued {id}"),
            Ok(other) => format!("ok {other:?}"),
            Err(error) => match error.failure() {
                Some(code) => format!("err {} {code}", error.code()),
                None => format!("err {}", error.code()),
            },
        },
        Effect::Stop => "stop".into(),
        other => format!("{other:?}"),
    }
}

fn event_word(event: &Event) -> String {
    let name = event.name();
    match event {
        Event::PaneState { state, .. } => format!("~{name} {state}"),
        Event::ResumeStage { stage, .. } => format!("~{name} {stage}"),
        Event::ResumeVerdict { verdict, .. } => format!("~{name} {}", verdict.as_str()),
        Event::ResumeFailed { refusal, .. } => format!("~{name} {}", refusal.code),
        Event::AgentLifecycle { lifecycle, previous, .. } => {
            format!("~{name} {previous} {lifecycle}")
        }
        Event::AttentionChanged { attention, .. } => format!("~{name} {attention}"),
        Event::AgentBound { id, .. } => format!("~{name} {id}"),
        _ => format!("~{name}"),
    }
}
