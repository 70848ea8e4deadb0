//! What the configuration changes, at the start and on SIGHUP.
//!
//! A file that is not understood changes nothing: the server goes on with what
//! it had, and `status` says so.

use std::path::PathBuf;
use std::time::Duration;

use signaltty_adapters::Adapters;
use signaltty_core::save::SaveConfig;
use signaltty_core::session::{Config, Input};
use signaltty_core::workspace::Switches;

use super::event::Event;
use super::event_loop::Daemon;
use crate::config::{Periodic, SavedDurability, Settings, SettingsError};
use crate::protocol::Health;

/// The file that settings came from.
#[derive(Debug, Clone)]
pub(crate) struct ConfigFile {
    pub(crate) path: PathBuf,
    /// A person named it, so it must be there.
    pub(crate) asked: bool,
}

impl ConfigFile {
    /// Reads it, for a server with these adapters.
    pub(crate) fn load(&self, adapters: &Adapters) -> Result<Settings, SettingsError> {
        let settings = Settings::load(&self.path, self.asked)?;
        let in_file =
            |error| SettingsError::In { path: self.path.clone(), source: Box::new(error) };
        check(&settings, adapters).map_err(in_file)?;
        Ok(settings)
    }
}

/// Refuses settings that name agents without an adapter.
pub(crate) fn check(settings: &Settings, adapters: &Adapters) -> Result<(), SettingsError> {
    settings.check_kinds(adapters.iter().map(|adapter| adapter.spec().kind.as_str()))
}

/// How the session is set up.
pub(crate) fn session_config(settings: &Settings, adapters: &Adapters) -> Config {
    let Settings { save, resume, defaults, limits, .. } = settings;
    let mut config = Config::default();
    config.policies = adapters
        .iter()
        .map(|adapter| {
            let spec = adapter.spec();
            let mut policy = spec.policy.clone();
            if let Some(seconds) = resume.deadline_s.get(spec.kind.as_str()) {
                policy.deadline = Duration::from_secs(*seconds);
            }
            (spec.kind.clone(), policy)
        })
        .collect();
    config.save = SaveConfig {
        debounce: Duration::from_millis(save.debounce_ms),
        periodic: (save.periodic_s > 0).then(|| Duration::from_secs(save.periodic_s)),
        unchanged: save.periodic_unchanged == Periodic::Write,
    };
    config.layout.leaves = limits.panes_per_tab;
    config.max_panes = limits.panes;
    config.defaults = Switches {
        auto_resume: defaults.auto_resume,
        auto_continue: defaults.auto_continue,
        ..Switches::default()
    };
    config.max_attempts = resume.max_attempts;
    config.carry_bypass = resume.carry_bypass;
    config
}

impl Daemon {
    /// SIGHUP: reads the file again, off the loop.
    pub(super) fn reload(&self) {
        let Some(file) = self.config_file.clone() else {
            tracing::info!("SIGHUP: this server was started without a configuration file");
            return;
        };
        let (events, adapters) = (self.events.clone(), self.adapters.clone());
        tokio::task::spawn_blocking(move || {
            let result = file.load(&adapters);
            let _ = events.blocking_send(Event::Reloaded(Box::new(result)));
        });
    }

    pub(super) fn reloaded(&mut self, result: Result<Settings, SettingsError>) {
        let new = match result {
            Ok(new) => new,
            Err(error) => {
                tracing::error!("the configuration stays as it was: {error}");
                let detail = format!("{error}; the server goes on with what it had");
                self.configuration = Health::with("rejected", detail);
                return;
            }
        };
        let fixed = self.fixed.fixed_at_start(&new);
        self.configuration = if fixed.is_empty() {
            tracing::info!("the configuration was read again");
            Health::ok()
        } else {
            let detail = format!("these keys count after a restart: {}", fixed.join(", "));
            tracing::warn!("the configuration was read again; {detail}");
            Health::with("restart_needed", detail)
        };
        let config = session_config(&new, &self.adapters);
        self.settings = new;
        self.input(Input::Configured(Box::new(config)));
    }

    /// How long each step of the stop ladder may take: a hangup and the wish to
    /// terminate share what is configured, so that a server has ended within
    /// five seconds by default (C103).
    pub(super) fn grace(&self) -> Duration {
        Duration::from_secs(self.settings.shutdown.grace_s) / 2
    }

    /// Bytes of output that are saved of a pane; the file has a header besides.
    pub(super) fn tail_bytes(&self) -> usize {
        let header = signaltty_persist::tail::MAX_FILE - signaltty_persist::tail::CAPACITY;
        self.settings.history.tail_bytes.saturating_sub(header)
    }

    /// Whether a save on which nothing depends is synced all the same.
    pub(super) fn syncs_debounced(&self) -> bool {
        self.settings.save.durability == SavedDurability::Sync
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `config.toml` of the documents; the adapters are where they come from.
    #[test]
    fn deadlines_are_the_documented_ones_unless_set() {
        let adapters = Adapters::builtin();
        let deadline = |settings: &Settings, kind: &str| {
            let config = session_config(settings, &adapters);
            config.policies[&kind.parse().unwrap()].deadline.as_secs()
        };
        let none = Settings::default();
        for (kind, seconds) in
            [("claude", 10), ("codex", 10), ("grok", 10), ("opencode", 60), ("cursor", 20)]
        {
            assert_eq!(deadline(&none, kind), seconds, "{kind}");
        }
        let set = Settings::parse("[resume]\ndeadline_s = { codex = 33 }").unwrap();
        assert_eq!((deadline(&set, "codex"), deadline(&set, "claude")), (33, 10));
    }

    #[test]
    fn the_defaults_of_the_file_are_those_of_the_session() {
        let adapters = Adapters::none();
        let (ours, core) = (session_config(&Settings::default(), &adapters), Config::default());
        assert_eq!(format!("{ours:?}"), format!("{core:?}"));
    }
}
