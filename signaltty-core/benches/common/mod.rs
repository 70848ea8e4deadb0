//! Sessions of a given size: tabs of ten panes, workspaces of ten tabs.

use std::path::PathBuf;
use std::time::Duration;

use signaltty_core::env::{ConfigEnv, SavedEnv};
use signaltty_core::id::{InstanceId, PaneId, RequestId, ServerEpoch, TabId, WorkspaceId};
use signaltty_core::layout::{Direction, Limits};
use signaltty_core::session::{Command, Config, Effect, Input, PaneFact, PaneSpec, Session};
use signaltty_core::time::{Now, UnixMillis};

pub struct Big {
    pub session: Session,
    /// The processes, in the order in which their panes were made.
    pub instances: Vec<InstanceId>,
    now: u64,
}

impl Big {
    pub fn new(panes: usize) -> Self {
        let mut config = Config::default();
        config.max_panes = panes + 16;
        let session = Session::new(ServerEpoch(1), config);
        let mut big = Self { session, instances: Vec::new(), now: 0 };
        for n in 0..panes {
            let command = match n {
                n if n % 100 == 0 => Command::NewWorkspace {
                    workspace: workspace(n),
                    name: Some("api".into()),
                    cwd: "/work".into(),
                    tab: tab(n),
                    pane: pane(n),
                    spec: shell(),
                },
                n if n % 10 == 0 => Command::NewTab {
                    workspace: workspace(n),
                    tab: tab(n),
                    title: None,
                    pane: pane(n),
                    spec: shell(),
                },
                n => split(n - n % 10, n),
            };
            let effects = big.ask(command);
            let instance = spawn(&effects);
            big.input(Input::Spawned { instance, result: Ok(()) });
            big.instances.push(instance);
        }
        big
    }

    pub fn now(&self) -> Now {
        Now { mono: Duration::from_millis(self.now), wall: UnixMillis(self.now) }
    }

    pub fn input(&mut self, input: Input) -> Vec<Effect> {
        let effects = self.session.handle(self.now(), input);
        // Saves end at once, so that they do not add up.
        for effect in &effects {
            if let Effect::Save { token, .. } = effect {
                let saved = Input::Saved { token: *token, result: Ok(()) };
                self.session.handle(self.now(), saved);
            }
        }
        effects
    }

    pub fn ask(&mut self, command: Command) -> Vec<Effect> {
        self.now += 1;
        self.input(Input::Command { request: RequestId(self.now), command })
    }

    /// The program in the middle pane says another title.
    pub fn title(&mut self) -> Vec<Effect> {
        self.now += 1;
        let instance = self.instances[self.instances.len() / 2];
        let fact = PaneFact::Title(format!("building {}", self.now).into());
        self.input(Input::Fact { instance, fact })
    }

    /// Splits the middle pane and closes the new one again.
    pub fn split_and_close(&mut self) -> Vec<Effect> {
        let (middle, new) = (self.instances.len() / 2, self.instances.len() + 1);
        let instance = spawn(&self.ask(split(middle, new)));
        self.input(Input::Spawned { instance, result: Ok(()) });
        self.ask(Command::ClosePane(pane(new)))
    }

    /// A timer that went off for nothing.
    pub fn tick(&mut self) -> Vec<Effect> {
        self.input(Input::Tick)
    }
}

/// A layout of `leaves` panes that is as deep as it is wide.
pub fn layout(leaves: u32) -> (signaltty_core::layout::Layout<u32>, Limits) {
    let mut limits = Limits::default();
    limits.leaves = u16::MAX;
    limits.depth = u8::MAX;
    let mut layout = signaltty_core::layout::Layout::single(0);
    for n in 1..leaves {
        let side = if n % 3 == 0 { Direction::Down } else { Direction::Right };
        layout.split(n / 2, side, n, &limits, None).expect("there is room");
    }
    (layout, limits)
}

fn split(of: usize, new: usize) -> Command {
    Command::Split { pane: pane(of), direction: Direction::Right, new: pane(new), spec: shell() }
}

fn spawn(effects: &[Effect]) -> InstanceId {
    let found = effects.iter().find_map(|effect| match effect {
        Effect::Spawn { instance, .. } => Some(*instance),
        _ => None,
    });
    found.expect("a process starts")
}

/// Ids as random as real ones, so that neighbours in a tree are none in a map.
fn random(n: usize) -> [u8; 10] {
    let mixed = (n as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mut random = [0; 10];
    random[..8].copy_from_slice(&mixed.to_be_bytes());
    random
}

pub fn pane(n: usize) -> PaneId {
    PaneId::from_random(random(n))
}

fn tab(n: usize) -> TabId {
    TabId::from_random(random(n / 10))
}

fn workspace(n: usize) -> WorkspaceId {
    WorkspaceId::from_random(random(n / 100))
}

fn shell() -> PaneSpec {
    PaneSpec {
        argv: vec!["bash".into()],
        cwd: PathBuf::from("/work"),
        env: SavedEnv::default(),
        agent: None,
        config_env: ConfigEnv::default(),
        options: Default::default(),
    }
}
