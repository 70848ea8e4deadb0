//! What `config.toml` can say, with the default of every key.
//!
//! Which keys a running server takes over, and which need a restart, is listed
//! in [`Settings::fixed_at_start`].

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Everything that `config.toml` can say.
///
/// ```
/// use signaltty_server::config::Settings;
///
/// let settings = Settings::parse("[save]\ndebounce_ms = 500")?;
/// assert_eq!(settings.save.debounce_ms, 500);
/// assert_eq!(settings.save.periodic_s, 60);
/// # Ok::<(), signaltty_server::config::SettingsError>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct Settings {
    /// `[save]`
    pub save: SaveSettings,
    /// `[history]`
    pub history: HistorySettings,
    /// `[shutdown]`
    pub shutdown: ShutdownSettings,
    /// `[resume]`
    pub resume: ResumeSettings,
    /// `[defaults]`
    pub defaults: DefaultSettings,
    /// `[agents]`
    pub agents: AgentSettings,
    /// `[notifications]`
    pub notifications: NotificationSettings,
    /// `[limits]`
    pub limits: LimitSettings,
}

/// `[save]`: when the state is written, and how safely (D-6, D-24).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct SaveSettings {
    /// The least time between two writes in milliseconds, 100 to 60,000.
    pub debounce_ms: u64,
    /// How long output alone may wait, in seconds, up to 86,400; 0 for never.
    pub periodic_s: u64,
    /// What the periodic save does where nothing changed.
    pub periodic_unchanged: Periodic,
    /// Whether a debounced save is synced.
    pub durability: SavedDurability,
}

/// What a periodic save does where nothing changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Periodic {
    /// Nothing.
    Skip,
    /// It writes all the same (S0-36).
    Write,
}

/// What a debounced save survives. Saves on which something depends, such as
/// the last one, are always synced (D-6).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SavedDurability {
    /// A loss of power.
    Sync,
    /// The end of the server; after a loss of power the state before it may be
    /// there.
    Rename,
}

/// `[history]`: how much output is kept (D-11).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct HistorySettings {
    /// Lines that a pane keeps in memory, up to 1,000,000.
    pub lines: usize,
    /// Bytes of a pane's output on disk, its header included, 1,024 to 65,536.
    pub tail_bytes: usize,
}

/// `[shutdown]`: how a server ends.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct ShutdownSettings {
    /// Seconds that a process has between the hangup and SIGKILL, up to 60.
    pub grace_s: u64,
    /// Whether host shutdowns are watched for. `SIGNALTTY_LOGIND=0` turns it off
    /// whatever stands here.
    pub logind: bool,
}

/// `[resume]`: how conversations come back (D-14, D-29).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct ResumeSettings {
    /// Automatic attempts for one interrupted turn over all starts, up to 3.
    pub max_attempts: u8,
    /// Whether an automatic resume carries options that widen what an agent may
    /// do.
    pub carry_bypass: bool,
    /// Seconds in which an agent must show which conversation it has open, by
    /// kind, 1 to 600. Kinds that are not named keep their adapter's.
    pub deadline_s: BTreeMap<String, u64>,
}

/// `[defaults]`: switches of new workspaces (D-1).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct DefaultSettings {
    /// Resume conversations when the server starts.
    pub auto_resume: bool,
    /// On top of it, continue the turn that a restart interrupted.
    pub auto_continue: bool,
}

/// `[agents]`: what agents may do (D-26).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct AgentSettings {
    /// Which panes an agent may control.
    pub control: Control,
}

/// Which panes an agent may control.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Control {
    /// It may report for and read its own pane.
    OwnPane,
    /// Everything that its person may.
    All,
}

/// `[notifications]`: what comes into the inbox.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct NotificationSettings {
    /// Whether what programs print as notifications does (OSC 9, 99 and 777).
    pub programs: bool,
}

/// `[limits]`
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct LimitSettings {
    /// Panes in all, up to 10,000.
    pub panes: usize,
    /// Panes in one tab, up to 256.
    pub panes_per_tab: u16,
    /// Connections at a time, 4 to 65,536.
    pub connections: usize,
    /// Bytes of a request line, 4,096 to 1,048,576.
    pub request_bytes: usize,
    /// Connections that are opened in a second, 10 to 1,000,000. More are refused.
    pub connections_per_s: u32,
    /// Requests of one connection in a second, 10 to 1,000,000. Its further ones
    /// wait.
    pub requests_per_s: u32,
}

impl Default for SaveSettings {
    fn default() -> Self {
        Self {
            debounce_ms: 2_000,
            periodic_s: 60,
            periodic_unchanged: Periodic::Skip,
            durability: SavedDurability::Sync,
        }
    }
}

impl Default for HistorySettings {
    fn default() -> Self {
        Self { lines: 10_000, tail_bytes: 65_536 }
    }
}

impl Default for ShutdownSettings {
    fn default() -> Self {
        Self { grace_s: 3, logind: true }
    }
}

impl Default for ResumeSettings {
    fn default() -> Self {
        Self { max_attempts: 3, carry_bypass: false, deadline_s: BTreeMap::new() }
    }
}

impl Default for AgentSettings {
    fn default() -> Self {
        Self { control: Control::OwnPane }
    }
}

impl Default for NotificationSettings {
    fn default() -> Self {
        Self { programs: true }
    }
}

impl Default for LimitSettings {
    fn default() -> Self {
        Self {
            panes: 10_000,
            panes_per_tab: 256,
            connections: 256,
            request_bytes: 1_048_576,
            connections_per_s: 2_000,
            requests_per_s: 20_000,
        }
    }
}

impl Settings {
    /// Which keys a running server cannot take over, and whether they differ.
    pub(crate) fn fixed_at_start(&self, new: &Self) -> Vec<&'static str> {
        let (old, now) = (&self.limits, &new.limits);
        [
            ("shutdown.logind", self.shutdown.logind != new.shutdown.logind),
            ("limits.connections", old.connections != now.connections),
            ("limits.request_bytes", old.request_bytes != now.request_bytes),
            ("limits.connections_per_s", old.connections_per_s != now.connections_per_s),
            ("limits.requests_per_s", old.requests_per_s != now.requests_per_s),
        ]
        .into_iter()
        .filter_map(|(key, differs)| differs.then_some(key))
        .collect()
    }
}
