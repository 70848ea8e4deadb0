//! Reading `config.toml`: a key that is not known, a wrong type and a number out
//! of range are errors, so that a typing error cannot pass for a setting.

use std::ffi::OsString;
use std::fmt::Display;
use std::io;
use std::path::{Path, PathBuf};

use toml::{Table, Value};

use super::Settings;
use super::person::read;
use crate::nearest::nearest;

/// Why a configuration is not used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SettingsError {
    /// The file could not be read.
    #[error("cannot read the configuration {}: {source}", .path.display())]
    Read {
        /// Which.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// What is wrong in a file.
    #[error("the configuration {}: {source}", .path.display())]
    In {
        /// Which.
        path: PathBuf,
        /// What.
        source: Box<Self>,
    },
    /// It is no TOML, or a value has the wrong type.
    #[error("{}", .0.to_string().trim_end())]
    Syntax(#[from] toml::de::Error),
    /// There is no such key.
    #[error("there is no key {key}; {hint}")]
    UnknownKey {
        /// Which, with its table.
        key: String,
        /// The nearest one.
        hint: String,
    },
    /// A number is too small or too large.
    #[error("{key} is {value}; it must be from {least} to {most}")]
    OutOfRange {
        /// Which.
        key: String,
        /// What it is.
        value: u64,
        /// The least that is possible.
        least: u64,
        /// The most.
        most: u64,
    },
}

impl Settings {
    /// Reads a file. A missing one is an error only where it was `asked` for.
    ///
    /// # Errors
    ///
    /// When it cannot be read, or says something that is not understood.
    pub fn load(path: &Path, asked: bool) -> Result<Self, SettingsError> {
        match read(path) {
            Ok(text) => Self::parse(&text)
                .map_err(|error| SettingsError::In { path: path.into(), source: Box::new(error) }),
            Err(error)
                if error.kind() == io::ErrorKind::NotFound && !asked && !path.is_symlink() =>
            {
                Ok(Self::default())
            }
            Err(source) => Err(SettingsError::Read { path: path.into(), source }),
        }
    }

    /// Reads the text of a file.
    ///
    /// # Errors
    ///
    /// When it says something that is not understood.
    pub fn parse(text: &str) -> Result<Self, SettingsError> {
        let table: Table = toml::from_str(text)?;
        let known = known_keys();
        if let Some(key) = unknown(&table, &known, "") {
            let hint = hint(&key, &known);
            return Err(SettingsError::UnknownKey { key, hint });
        }
        let settings: Self = toml::from_str(text)?;
        settings.check()?;
        Ok(settings)
    }

    /// Refuses deadlines of agents that nobody knows.
    ///
    /// # Errors
    ///
    /// Names the key and the nearest kind.
    pub(crate) fn check_kinds<'a>(
        &self,
        kinds: impl IntoIterator<Item = &'a str>,
    ) -> Result<(), SettingsError> {
        let kinds: Vec<_> = kinds.into_iter().collect();
        let strange = self.resume.deadline_s.keys().find(|kind| !kinds.contains(&kind.as_str()));
        let Some(kind) = strange else {
            return Ok(());
        };
        let hint = match nearest(kind, kinds.iter().copied()) {
            Some(near) => format!("did you mean {DEADLINES}.{near}?"),
            None => format!("agents that are known: {}", kinds.join(", ")),
        };
        Err(SettingsError::UnknownKey { key: format!("{DEADLINES}.{kind}"), hint })
    }

    fn check(&self) -> Result<(), SettingsError> {
        let Self { save, history, shutdown, resume, limits, .. } = self;
        let size = |n: usize| u64::try_from(n).unwrap_or(u64::MAX);
        range("save.debounce_ms", save.debounce_ms, 100, 60_000)?;
        range("save.periodic_s", save.periodic_s, 0, 86_400)?;
        range("history.lines", size(history.lines), 0, 1_000_000)?;
        range("history.tail_bytes", size(history.tail_bytes), 1_024, 65_536)?;
        range("shutdown.grace_s", shutdown.grace_s, 0, 60)?;
        range("resume.max_attempts", resume.max_attempts.into(), 0, 3)?;
        for (kind, seconds) in &resume.deadline_s {
            range(format_args!("{DEADLINES}.{kind}"), *seconds, 1, 600)?;
        }
        range("limits.panes", size(limits.panes), 1, 10_000)?;
        range("limits.panes_per_tab", limits.panes_per_tab.into(), 1, 256)?;
        range("limits.connections", size(limits.connections), 4, 65_536)?;
        range("limits.request_bytes", size(limits.request_bytes), 4_096, 1_048_576)?;
        range("limits.connections_per_s", limits.connections_per_s.into(), 10, 1_000_000)?;
        range("limits.requests_per_s", limits.requests_per_s.into(), 10, 1_000_000)
    }
}

/// The file that is read where no other is named. `var` reads an environment
/// variable; relative directories count as unset.
pub(crate) fn standard_path(var: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    let dir = |name: &str| var(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let config = dir("XDG_CONFIG_HOME").or_else(|| Some(dir("HOME")?.join(".config")))?;
    Some(config.join("signaltty/config.toml"))
}

fn range(key: impl Display, value: u64, least: u64, most: u64) -> Result<(), SettingsError> {
    if (least..=most).contains(&value) {
        return Ok(());
    }
    Err(SettingsError::OutOfRange { key: key.to_string(), value, least, most })
}

/// Every key, each with its table: `save.debounce_ms`.
fn known_keys() -> Vec<String> {
    // The types are the one list of keys.
    let table = Table::try_from(Settings::default()).unwrap_or_default();
    let mut keys = Vec::new();
    for (name, value) in &table {
        keys.push(name.clone());
        let inner = value.as_table().into_iter().flat_map(Table::keys);
        keys.extend(inner.map(|key| format!("{name}.{key}")));
    }
    keys
}

/// The first key that is not known. What is under `resume.deadline_s` is open:
/// kinds of agents are.
fn unknown(table: &Table, known: &[String], before: &str) -> Option<String> {
    table.iter().find_map(|(name, value)| {
        let key = format!("{before}{name}");
        if !known.contains(&key) {
            return Some(key);
        }
        match value {
            Value::Table(inner) if key != DEADLINES => unknown(inner, known, &format!("{key}.")),
            _ => None,
        }
    })
}

/// The nearest key: the same name in another table, else the most alike.
fn hint(key: &str, known: &[String]) -> String {
    let name = |key: &str| key.rsplit('.').next().map(str::to_owned);
    let same = known.iter().find(|other| other.contains('.') && name(other) == name(key));
    let near = same.map(String::as_str).or_else(|| nearest(key, known.iter().map(String::as_str)));
    match near {
        Some(near) => format!("did you mean {near}?"),
        None => {
            let tables: Vec<_> = known.iter().filter(|key| !key.contains('.')).collect();
            let tables: Vec<_> = tables.into_iter().map(String::as_str).collect();
            format!("the tables are {}", tables.join(", "))
        }
    }
}

const DEADLINES: &str = "resume.deadline_s";

#[cfg(test)]
mod tests {
    use super::super::{Control, Periodic, SavedDurability};
    use rustix::fs::Mode;

    use super::*;

    fn refused(text: &str) -> String {
        Settings::parse(text).unwrap_err().to_string()
    }

    #[test]
    fn every_documented_key_is_read() {
        let text = r#"
            [save]
            debounce_ms = 250
            periodic_s = 0
            periodic_unchanged = "write"
            durability = "rename"
            [history]
            lines = 7
            tail_bytes = 2048
            [shutdown]
            grace_s = 1
            logind = false
            [resume]
            max_attempts = 1
            carry_bypass = true
            deadline_s = { claude = 4, mine = 9 }
            [defaults]
            auto_resume = true
            auto_continue = true
            [agents]
            control = "all"
            [notifications]
            programs = false
            [limits]
            panes = 5
            panes_per_tab = 3
            connections = 8
            request_bytes = 4096
            connections_per_s = 10
            requests_per_s = 11
        "#;
        let settings = Settings::parse(text).unwrap();
        assert_eq!(settings.save.periodic_unchanged, Periodic::Write);
        assert_eq!(settings.save.durability, SavedDurability::Rename);
        assert_eq!(settings.agents.control, Control::All);
        assert!(!settings.notifications.programs);
        assert_eq!(settings.resume.deadline_s["mine"], 9);
        assert_eq!(settings.limits.request_bytes, 4096);
        assert!(settings.defaults.auto_continue && !settings.shutdown.logind);
        // Every key of the types is among them.
        let table: Table = toml::from_str(text).unwrap();
        for key in known_keys().iter().filter_map(|key| key.split_once('.')) {
            assert!(table[key.0].as_table().unwrap().contains_key(key.1), "{key:?}");
        }
    }

    #[test]
    fn the_documents_show_every_key_with_its_default() {
        let page = include_str!("../../../docs/configuration.md");
        let block = page.split("```toml").nth(1).unwrap().split("```").next().unwrap();
        let mut shown = Settings::parse(block).unwrap();
        // The adapters' own; `configure` compares them.
        assert_eq!(shown.resume.deadline_s.len(), 5);
        shown.resume.deadline_s.clear();
        assert_eq!(shown, Settings::default());
        assert_eq!(Settings::parse("").unwrap(), Settings::default());
        for key in known_keys().iter().filter_map(|key| key.rsplit('.').next()) {
            assert!(block.contains(key), "{key}");
        }
    }

    #[test]
    fn an_unknown_key_is_named_with_the_nearest() {
        for (text, key, near) in [
            ("[save]\ndebounce = 2", "save.debounce;", "save.debounce_ms?"),
            ("[limits]\nauto_resume = true", "limits.auto_resume;", "defaults.auto_resume?"),
            ("[sve]\nperiodic_s = 2", "sve;", "save?"),
            ("[zzz]\n", "zzz;", "the tables are"),
            ("colour = 1", "colour;", "the tables are"),
        ] {
            let message = refused(text);
            assert!(message.contains(key) && message.contains(near), "{text}: {message}");
        }
        let settings = Settings::parse("[resume]\ndeadline_s = { claud = 3 }").unwrap();
        let message = settings.check_kinds(["claude", "codex"]).unwrap_err().to_string();
        assert!(message.contains("resume.deadline_s.claud; did you mean"), "{message}");
        assert!(message.ends_with("resume.deadline_s.claude?"), "{message}");
        settings.check_kinds(["claud"]).unwrap();
    }

    #[test]
    fn wrong_types_and_ranges_say_where_and_what() {
        for (text, says) in [
            ("[save]\ndebounce_ms = 5", "save.debounce_ms is 5; it must be from 100 to 60000"),
            ("[save]\ndebounce_ms = \"x\"", "line 2"),
            ("[save]\ndurability = \"fast\"", "`rename`"),
            ("[resume]\ndeadline_s = { codex = 0 }", "resume.deadline_s.codex is 0"),
            ("[save", "line 1"),
        ] {
            let message = refused(text);
            assert!(message.contains(says), "{text}: {message}");
        }
    }

    #[test]
    fn a_missing_file_is_an_error_only_where_it_was_asked_for() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("config.toml");
        assert_eq!(Settings::load(&path, false).unwrap(), Settings::default());
        let message = Settings::load(&path, true).unwrap_err().to_string();
        assert!(message.contains("config.toml"), "{message}");
    }

    #[test]
    fn only_a_regular_file_of_bounded_length_is_read() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("config.toml");
        let refused = |says: &str| {
            let message = Settings::load(&path, false).unwrap_err().to_string();
            assert!(message.contains(says) && message.contains("config.toml"), "{message}");
            let _ = std::fs::remove_file(&path);
        };
        let owner = Mode::RUSR | Mode::WUSR;
        rustix::fs::mknodat(rustix::fs::CWD, &path, rustix::fs::FileType::Fifo, owner, 0).unwrap();
        refused("no regular file");
        for (target, says) in [("/dev/zero", "no regular file"), ("nowhere", "No such file")] {
            std::os::unix::fs::symlink(target, &path).unwrap();
            refused(says);
        }
        std::fs::write(&path, " ".repeat(1024 * 1024 + 1)).unwrap();
        refused("more than 1 MiB");
        std::fs::write(dir.path().join("mine"), "[save]\nperiodic_s = 7\n").unwrap();
        std::os::unix::fs::symlink("mine", &path).unwrap();
        assert_eq!(Settings::load(&path, false).unwrap().save.periodic_s, 7);
    }

    #[test]
    fn the_standard_place_follows_xdg() {
        let with = |vars: &[(&str, &str)]| {
            standard_path(|name| {
                vars.iter().find(|(n, _)| *n == name).map(|(_, v)| OsString::from(v))
            })
        };
        let path = with(&[("HOME", "/h")]).unwrap();
        assert_eq!(path, Path::new("/h/.config/signaltty/config.toml"));
        let path = with(&[("HOME", "/h"), ("XDG_CONFIG_HOME", "/c")]).unwrap();
        assert_eq!(path, Path::new("/c/signaltty/config.toml"));
        assert_eq!(with(&[]), None);
    }
}
