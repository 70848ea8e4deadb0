//! A session with a virtual clock, for tests that tell stories.
//!
//! After every input the invariants are checked, and every request must get
//! exactly one reply (S2).

pub mod facts;
pub mod words;

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::Duration;

use signaltty_core::agent::{AgentPolicy, LoadedRule, WitnessSource};
use signaltty_core::env::{ConfigEnv, SavedEnv};
use signaltty_core::id::{InstanceId, PaneId, RequestId, ServerEpoch, TabId, WorkspaceId};
use signaltty_core::pane::ExitStatus;
use signaltty_core::restore::PaneState;
use signaltty_core::save::SaveToken;
use signaltty_core::saved::SavedSession;
use signaltty_core::session::{
    Command, CommandError, Config, Effect, Input, PaneSpec, PaneView, Reply, Session,
};
use signaltty_core::time::{Now, UnixMillis};

pub struct World {
    pub session: Session,
    pub now: Duration,
    epoch: u64,
    requests: u64,
    pub open: BTreeSet<RequestId>,
    /// Attempts at a turn that later starts allow.
    pub max_attempts: u8,
    /// The session as it started, and all that it was told since, with what it
    /// said.
    start: Session,
    log: Vec<(Now, Input, Vec<Effect>)>,
}

impl World {
    pub fn new() -> Self {
        let session = Session::new(ServerEpoch(1), config());
        Self {
            start: session.clone(),
            log: Vec::new(),
            session,
            now: Duration::from_secs(100),
            epoch: 1,
            requests: 0,
            open: BTreeSet::new(),
            max_attempts: 3,
        }
    }

    pub fn restored(saved: SavedSession) -> Self {
        let mut world = Self::new();
        world.restart_from(saved);
        world
    }

    /// The server is killed and starts again from its state.
    pub fn crash(&mut self) {
        self.restart_from(self.saved());
    }

    pub fn restart_from(&mut self, mut saved: SavedSession) {
        saved.emptied_by_user = false;
        self.epoch += 1;
        self.open.clear();
        let epoch = ServerEpoch(self.epoch);
        let (session, problems) = Session::restore(saved, epoch, self.config(), self.clock());
        assert_eq!(problems, [], "what was saved is valid");
        self.start = session.clone();
        self.log.clear();
        self.session = session;
        assert_eq!(self.session.check(), Ok(()));
    }

    fn config(&self) -> Config {
        let mut config = config();
        config.max_attempts = self.max_attempts;
        config
    }

    pub fn clock(&self) -> Now {
        let wall = u64::try_from(self.now.as_millis()).unwrap();
        Now { mono: self.now, wall: UnixMillis(wall) }
    }

    /// The state, as of a fixed time, so that two can be compared.
    pub fn saved(&self) -> SavedSession {
        let mut saved = self.session.saved(self.clock());
        saved.saved_at = UnixMillis(0);
        saved
    }

    pub fn input(&mut self, input: Input) -> Vec<Effect> {
        let effects = self.session.handle(self.clock(), input.clone());
        self.log.push((self.clock(), input, effects.clone()));
        assert_eq!(self.session.check(), Ok(()));
        for effect in &effects {
            if let Effect::Reply { request, .. } = effect {
                assert!(self.open.remove(request), "S2: a second reply: {effects:?}");
            }
        }
        effects
    }

    /// S5: the same inputs again give the same effects and the same state.
    pub fn replay(&self) {
        let mut session = self.start.clone();
        for (now, input, effects) in &self.log {
            assert_eq!(&session.handle(*now, input.clone()), effects, "{input:?}");
        }
        let now = self.clock();
        assert_eq!(session.saved(now), self.session.saved(now));
        assert_eq!(session.deadline(), self.session.deadline());
    }

    pub fn ask(&mut self, command: Command) -> Vec<Effect> {
        self.requests += 1;
        let request = RequestId(self.requests);
        self.open.insert(request);
        self.input(Input::Command { request, command })
    }

    /// The request of the last command.
    pub fn request(&self) -> RequestId {
        RequestId(self.requests)
    }

    pub fn settled(&self) {
        assert!(self.open.is_empty(), "S2: no reply to {:?}", self.open);
    }

    pub fn pass(&mut self, millis: u64) -> Vec<Effect> {
        self.now += Duration::from_millis(millis);
        self.input(Input::Tick)
    }

    pub fn started(&mut self, instance: InstanceId) -> Vec<Effect> {
        self.input(Input::Spawned { instance, result: Ok(()) })
    }

    pub fn exit(&mut self, instance: InstanceId, code: i32) -> Vec<Effect> {
        self.input(Input::Exited {
            instance,
            status: ExitStatus { code: Some(code), signal: None },
            last_line: None,
        })
    }

    pub fn save_ok(&mut self, token: SaveToken) -> Vec<Effect> {
        self.input(Input::Saved { token, result: Ok(()) })
    }

    pub fn pane(&self, pane: PaneId) -> PaneView<'_> {
        self.session.pane(pane).unwrap()
    }

    pub fn state(&self, pane: PaneId) -> &'static str {
        self.pane(pane).state.as_str()
    }

    /// The stage of a resume.
    pub fn stage(&self, pane: PaneId) -> &'static str {
        match self.pane(pane).state {
            PaneState::Resuming(stage) => stage.as_str(),
            other => panic!("not resuming: {other}"),
        }
    }

    /// A workspace with one running pane, both numbered `n`.
    pub fn workspace(&mut self, n: u8, spec: PaneSpec) -> InstanceId {
        let effects = self.ask(new_workspace(n, spec));
        let instance = spawn_of(&effects);
        self.started(instance);
        instance
    }

    /// Splits pane `of` to the right; the new pane is `n`.
    pub fn split(&mut self, of: u8, n: u8, spec: PaneSpec) -> InstanceId {
        let effects = self.ask(split(of, n, spec));
        let instance = spawn_of(&effects);
        self.started(instance);
        instance
    }
}

pub fn config() -> Config {
    let mut config = Config::default();
    let ten = Duration::from_secs(10);
    let registry =
        AgentPolicy::new(vec![WitnessSource::LiveRegistry], LoadedRule::NotReported, ten);
    let lock = AgentPolicy::new(
        vec![WitnessSource::HeldLock, WitnessSource::StartReport],
        LoadedRule::Required,
        ten,
    );
    config.policies.insert("claude".parse().unwrap(), registry);
    config.policies.insert("codex".parse().unwrap(), lock);
    let channel = AgentPolicy::new(vec![WitnessSource::Channel], LoadedRule::NotReported, ten);
    config.policies.insert("addressed".parse().unwrap(), channel);
    let start = AgentPolicy::new(vec![WitnessSource::StartReport], LoadedRule::NotReported, ten);
    config.policies.insert("silent".parse().unwrap(), start.silent_until_prompt());
    config
}

pub fn pane(n: u8) -> PaneId {
    PaneId::from_random([n; 10])
}

pub fn tab(n: u8) -> TabId {
    TabId::from_random([n; 10])
}

pub fn ws(n: u8) -> WorkspaceId {
    WorkspaceId::from_random([n; 10])
}

pub fn shell() -> PaneSpec {
    PaneSpec {
        argv: vec!["sleep".into(), "600".into()],
        cwd: PathBuf::from("/work"),
        env: SavedEnv::default(),
        agent: None,
        config_env: ConfigEnv::default(),
        options: Default::default(),
    }
}

pub fn agent(kind: &str) -> PaneSpec {
    PaneSpec {
        argv: vec![kind.into(), "--model".into(), "x".into()],
        agent: Some(kind.parse().unwrap()),
        ..shell()
    }
}

pub fn new_workspace(n: u8, spec: PaneSpec) -> Command {
    Command::NewWorkspace {
        workspace: ws(n),
        name: None,
        cwd: PathBuf::from("/work"),
        tab: tab(n),
        pane: pane(n),
        spec,
    }
}

pub fn split(of: u8, n: u8, spec: PaneSpec) -> Command {
    Command::Split {
        pane: pane(of),
        direction: signaltty_core::layout::Direction::Right,
        new: pane(n),
        spec,
    }
}

pub fn resume(n: u8) -> Command {
    Command::Resume { pane: pane(n), anyway: false, previous: false, cwd: None }
}

pub fn spawn_of(effects: &[Effect]) -> InstanceId {
    let found = effects.iter().find_map(|effect| match effect {
        Effect::Spawn { instance, .. } => Some(*instance),
        _ => None,
    });
    found.unwrap_or_else(|| panic!("no spawn in {effects:?}"))
}

pub fn save_of(effects: &[Effect]) -> SaveToken {
    let found = effects.iter().find_map(|effect| match effect {
        Effect::Save { token, .. } => Some(*token),
        _ => None,
    });
    found.unwrap_or_else(|| panic!("no save in {effects:?}"))
}

pub fn reply_of(effects: &[Effect]) -> &Result<Reply, CommandError> {
    let found = effects.iter().find_map(|effect| match effect {
        Effect::Reply { result, .. } => Some(result),
        _ => None,
    });
    found.unwrap_or_else(|| panic!("no reply in {effects:?}"))
}
