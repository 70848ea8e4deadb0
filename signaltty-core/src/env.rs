//! The few environment variables that may be saved.
//!
//! The only way into [`SavedEnv`] and [`ConfigEnv`] is a filter, so no other
//! variable can reach a file (S0-12, S0-41, D-27).

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::Path;

/// `TERM`, `LANG` and the `SIGNALTTY_` names that a user set.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SavedEnv(BTreeMap<String, OsString>);

/// Names under our prefix that are made for one launch and never saved.
const LAUNCH_NAMES: [&str; 3] = ["SIGNALTTY_LAUNCH", "SIGNALTTY_PANE", "SIGNALTTY_SOCKET"];

/// Names with these beginnings change what code a program runs.
const LOADER_PREFIXES: [&str; 2] = ["LD_", "DYLD_"];

impl SavedEnv {
    /// Keeps what may be saved of `vars` and drops everything else.
    pub fn filter<I, K, V>(vars: I) -> Self
    where
        I: IntoIterator<Item = (K, V)>,
        K: AsRef<OsStr>,
        V: Into<OsString>,
    {
        let kept = vars.into_iter().filter_map(|(name, value)| {
            let name = name.as_ref().to_str()?;
            let allowed = name == "TERM"
                || name == "LANG"
                || (name.starts_with("SIGNALTTY_") && !LAUNCH_NAMES.contains(&name));
            allowed.then(|| (name.to_owned(), value.into()))
        });
        Self(kept.collect())
    }

    /// The variables, by name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &OsStr)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value.as_os_str()))
    }
}

/// Identity variables of an agent: where its records live.
///
/// An agent session id means something only together with these (S0-39).
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct ConfigEnv(BTreeMap<String, OsString>);

impl ConfigEnv {
    /// Keeps the variables of `vars` whose name is in `names`, which an
    /// adapter lists. Relative values are resolved against `cwd`; empty ones
    /// count as unset.
    pub fn filter<I, K, V>(vars: I, names: &[&str], cwd: &Path) -> Self
    where
        I: IntoIterator<Item = (K, V)>,
        K: AsRef<OsStr>,
        V: Into<OsString>,
    {
        let kept = vars.into_iter().filter_map(|(name, value)| {
            let name = name.as_ref().to_str()?;
            let value: OsString = value.into();
            (names.contains(&name) && !value.is_empty())
                .then(|| (name.to_owned(), cwd.join(value).into_os_string()))
        });
        Self(kept.collect())
    }

    /// The variables, by name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &OsStr)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value.as_os_str()))
    }

    /// Takes back what was saved of an earlier [`filter`](Self::filter).
    ///
    /// A file is untrusted: only plain names with an absolute path as value
    /// are kept, and nothing that steers how programs are found or loaded. An
    /// adapter still applies its own list when it launches, since only it
    /// knows which names are its own.
    pub fn from_saved<I, K, V>(vars: I) -> Self
    where
        I: IntoIterator<Item = (K, V)>,
        K: AsRef<OsStr>,
        V: Into<OsString>,
    {
        let kept = vars.into_iter().filter_map(|(name, value)| {
            let name = name.as_ref().to_str()?;
            let value: OsString = value.into();
            let plain = name.starts_with(|c: char| c.is_ascii_uppercase())
                && name.bytes().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b'_');
            let loader = LOADER_PREFIXES.iter().any(|p| name.starts_with(p)) || name == "PATH";
            (plain && !loader && Path::new(&value).is_absolute()).then(|| (name.to_owned(), value))
        });
        Self(kept.collect())
    }

    /// Whether no variable was set.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The value of one variable.
    pub fn var(&self, name: &str) -> Option<&OsStr> {
        self.0.get(name).map(OsString::as_os_str)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn s0_12_only_allowlisted_names_are_kept() {
        let vars = [
            ("TERM", "xterm"),
            ("ANTHROPIC_API_KEY", "canary"),
            ("SIGNALTTY_LAUNCH", "canary"),
            ("SIGNALTTY_PANE", "pane"),
            ("SIGNALTTY_SOCKET", "/run/s"),
            ("SIGNALTTY_NOTE", "mine"),
            ("LANG_CANARY", "canary"),
        ];
        let kept: Vec<_> = SavedEnv::filter(vars).iter().map(|(n, _)| n.to_owned()).collect();
        assert_eq!(kept, ["SIGNALTTY_NOTE", "TERM"]);
    }

    #[test]
    fn s0_39_identity_variables_are_made_absolute() {
        let vars = [("CODEX_HOME", "rel/dir"), ("CLAUDE_CONFIG_DIR", ""), ("OTHER", "x")];
        let env = ConfigEnv::filter(vars, &["CODEX_HOME", "CLAUDE_CONFIG_DIR"], Path::new("/w"));
        assert_eq!(env.iter().collect::<Vec<_>>(), [("CODEX_HOME", OsStr::new("/w/rel/dir"))]);
    }

    #[test]
    fn s0_39_saved_identity_variables_pass_a_filter_again() {
        let vars = [
            ("CODEX_HOME", "/h/.codex"),
            ("CLAUDE_CONFIG_DIR", "relative"),
            ("PATH", "/evil"),
            ("LD_PRELOAD", "/evil.so"),
            ("lower", "/x"),
            ("A=B", "/x"),
        ];
        let env = ConfigEnv::from_saved(vars);
        assert_eq!(env.iter().collect::<Vec<_>>(), [("CODEX_HOME", OsStr::new("/h/.codex"))]);
    }
}
