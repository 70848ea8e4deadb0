//! Facts about agents, and an agent pane that has a saved conversation.

use std::sync::Arc;

use signaltty_core::agent::{
    AgentReport, AgentSessionId, Anchor, Extent, Fingerprint, FoundAgent, ProcessMark, RecordRead,
    Relation, Witness, WitnessSource,
};
use signaltty_core::env::ConfigEnv;
use signaltty_core::id::InstanceId;
use signaltty_core::pane::Lifecycle;
use signaltty_core::restore::{FailureCode, Refusal};
use signaltty_core::session::{Effect, Input};

use super::{World, agent, pane, resume, spawn_of};

/// An agent of a shell pane: which, its process, and whether its job has the
/// terminal.
pub fn found(kind: &str, pid: u32, foreground: bool) -> FoundAgent {
    FoundAgent {
        kind: kind.parse().unwrap(),
        process: ProcessMark { pid, start_ticks: 7 },
        foreground,
        nested: false,
        cwd: "/by/hand".into(),
        config_env: ConfigEnv::default(),
        options: Default::default(),
    }
}

pub fn id(text: &str) -> AgentSessionId {
    text.parse().unwrap()
}

/// An anchor of `name`'s record with this many messages of the person.
pub fn anchor(name: &str, user_messages: u64) -> Anchor {
    Anchor {
        record: format!("/records/{name}").into(),
        file: None,
        extent: Extent::Lines { bytes: user_messages * 100, sha256: [0; 32] },
        last_message: None,
        user_messages,
        base: None,
    }
}

pub fn extends(name: &str, user_messages: u64) -> Fingerprint {
    Fingerprint::new(Relation::Extends, anchor(name, user_messages))
}

pub fn refusal(code: FailureCode) -> Refusal {
    Refusal::new(code, format!("it is {code}"))
}

/// What one source of an instance shows.
pub fn witness(instance: InstanceId, source: WitnessSource, shows: &[&str]) -> Witness {
    Witness {
        instance,
        source,
        sessions: shows.iter().map(|text| id(text)).collect(),
        loaded: None,
        detail: Arc::from(format!("shows {}", shows.join(" and "))),
        record: RecordRead::Pending,
    }
}

impl World {
    /// Claude's registry shows this conversation.
    pub fn shows(&mut self, instance: InstanceId, shown: &str) -> Vec<Effect> {
        self.sees(witness(instance, WitnessSource::LiveRegistry, &[shown]))
    }

    pub fn sees(&mut self, witness: Witness) -> Vec<Effect> {
        self.report(
            witness.instance,
            AgentReport { witness: Some(witness), ..AgentReport::default() },
        )
    }

    pub fn does(&mut self, instance: InstanceId, lifecycle: Lifecycle) -> Vec<Effect> {
        self.report(instance, AgentReport { lifecycle: Some(lifecycle), ..AgentReport::default() })
    }

    pub fn report(&mut self, instance: InstanceId, report: AgentReport) -> Vec<Effect> {
        self.input(Input::Report { instance, report })
    }

    pub fn anchored(&mut self, instance: InstanceId, name: &str, messages: u64) -> Vec<Effect> {
        self.input(Input::Anchored { instance, id: id(name), result: Ok(anchor(name, messages)) })
    }

    /// A read of the record that a witness named.
    pub fn read(
        &mut self,
        instance: InstanceId,
        witness: usize,
        name: &str,
        result: Result<Fingerprint, Refusal>,
    ) -> Vec<Effect> {
        self.input(Input::RecordRead { instance, witness, named: id(name), result })
    }

    /// A workspace whose agent has a saved conversation.
    pub fn talking(&mut self, n: u8, kind: &str, name: &str) -> InstanceId {
        let instance = self.workspace(n, agent(kind));
        self.shows(instance, name);
        self.anchored(instance, name, 1);
        assert_eq!(self.conversation(n), name);
        instance
    }

    /// The saved conversation of a pane.
    pub fn conversation(&self, n: u8) -> String {
        let agent = self.pane(pane(n)).record.agent.as_ref().unwrap();
        let conversation = agent.conversation.as_ref();
        conversation.map_or("none".into(), |c| c.id.to_string())
    }

    pub fn failure(&self, n: u8) -> Option<FailureCode> {
        let agent = self.pane(pane(n)).record.agent.as_ref().unwrap();
        agent.last_failure.as_ref().map(|f| f.refusal.code)
    }

    pub fn preflight(&mut self, n: u8, result: Result<Fingerprint, Refusal>) -> Vec<Effect> {
        let request = Some(self.request());
        self.input(Input::Preflighted { pane: pane(n), request, result })
    }

    /// Resumes a tombstone up to its process being started.
    pub fn spawning(&mut self, n: u8) -> InstanceId {
        let name = self.conversation(n);
        self.ask(resume(n));
        let effects = self.preflight(n, Ok(extends(&name, 1)));
        spawn_of(&effects)
    }

    /// Resumes a tombstone up to its process running.
    pub fn verifying(&mut self, n: u8) -> InstanceId {
        let instance = self.spawning(n);
        self.started(instance);
        assert_eq!(self.stage(pane(n)), "verifying");
        instance
    }
}
