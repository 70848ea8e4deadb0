//! How a server is set up: where things are, and what `config.toml` says.

#[cfg(feature = "daemon")]
mod file;
mod paths;
#[cfg(any(feature = "daemon", feature = "tui"))]
mod person;
#[cfg(feature = "daemon")]
mod settings;

#[cfg(feature = "daemon")]
pub use file::SettingsError;
#[cfg(feature = "daemon")]
pub(crate) use file::standard_path;
pub(crate) use paths::MAX_LOG_BYTES;
pub use paths::{MAX_SOCKET_PATH, Overrides, Paths, PathsError};
#[cfg(any(feature = "daemon", feature = "tui"))]
pub(crate) use person::read;
#[cfg(feature = "daemon")]
pub use settings::{
    AgentSettings, Control, DefaultSettings, HistorySettings, LimitSettings, NotificationSettings,
    Periodic, ResumeSettings, SaveSettings, SavedDurability, Settings, ShutdownSettings,
};
