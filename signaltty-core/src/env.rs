//! The few environment variables that may be saved.
//!
//! The only way into [`SavedEnv`] and [`ConfigEnv`] is a filter, so no other
//! variable can reach a file (S0-12, S0-41, D-27).

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::sync::Arc;

/// `TERM`, `LANG` and the `SIGNALTTY_` names that a user set; of the other
/// variables the names, and no value.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SavedEnv {
    kept: BTreeMap<String, OsString>,
    /// Names, in order, with blanks between them: most panes have the same
    /// dozen, and there may be thousands of panes.
    left_out: Arc<str>,
}

/// Names under our prefix that are made for one launch and never saved.
const LAUNCH_NAMES: [&str; 3] = ["SIGNALTTY_LAUNCH", "SIGNALTTY_PANE", "SIGNALTTY_SOCKET"];

/// Names with these beginnings change what code a program runs.
const LOADER_PREFIXES: [&str; 2] = ["LD_", "DYLD_"];

/// Names that every session sets anew: that their values are not kept says
/// nothing to a person.
const OF_A_SESSION: [&str; 21] = [
    "COLORTERM",
    "DBUS_SESSION_BUS_ADDRESS",
    "DESKTOP_SESSION",
    "DISPLAY",
    "HOME",
    "HOSTNAME",
    "LESSCLOSE",
    "LESSOPEN",
    "LOGNAME",
    "LS_COLORS",
    "MAIL",
    "OLDPWD",
    "PATH",
    "PWD",
    "SHELL",
    "SHLVL",
    "USER",
    "WAYLAND_DISPLAY",
    "WINDOWID",
    "XAUTHORITY",
    "_",
];

/// And those with these beginnings.
const OF_SESSIONS: [&str; 4] = ["LC_", "PS", "SSH_", "XDG_"];

/// The most names, and the longest one, of variables that are not kept.
const MOST_NAMES: (usize, usize) = (64, 64);

impl SavedEnv {
    /// Keeps what may be saved of `vars`, and of everything else the names at
    /// most.
    pub fn filter<I, K, V>(vars: I) -> Self
    where
        I: IntoIterator<Item = (K, V)>,
        K: AsRef<OsStr>,
        V: Into<OsString>,
    {
        let mut kept = BTreeMap::new();
        let mut others = BTreeSet::new();
        for (name, value) in vars {
            let Some(name) = name.as_ref().to_str() else {
                continue;
            };
            let ours = name.starts_with("SIGNALTTY_");
            if name == "TERM" || name == "LANG" || (ours && !LAUNCH_NAMES.contains(&name)) {
                kept.insert(name.to_owned(), value.into());
            } else if !ours {
                others.insert(name.to_owned());
            }
        }
        Self { kept, left_out: joined(others) }
    }

    /// With these names as those of the variables that were not kept: a file is
    /// untrusted, so they pass the filter again.
    #[must_use]
    pub fn with_left_out(self, names: impl IntoIterator<Item = String>) -> Self {
        Self { left_out: joined(names.into_iter().collect()), ..self }
    }

    /// The variables, by name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &OsStr)> {
        self.kept.iter().map(|(name, value)| (name.as_str(), value.as_os_str()))
    }

    /// The names of variables that were set and whose values are not kept, in
    /// order: at most 64, and none that every session sets anew (C065).
    pub fn left_out(&self) -> impl Iterator<Item = &str> {
        self.left_out.split(' ').filter(|name| !name.is_empty())
    }
}

fn joined(names: BTreeSet<String>) -> Arc<str> {
    let (most, longest) = MOST_NAMES;
    let plain = |name: &String| {
        let usual = OF_A_SESSION.contains(&name.as_str())
            || OF_SESSIONS.iter().any(|prefix| name.starts_with(prefix));
        let word = name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
        word && !usual && name.len() <= longest
    };
    let names: Vec<_> = names.into_iter().filter(plain).take(most).collect();
    names.join(" ").into()
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
    fn c065_of_other_variables_the_name_is_known_and_never_the_value() {
        let vars = [
            ("PATH", "/bin"),
            ("API_TOKEN", "canary"),
            ("SIGNALTTY_LAUNCH", "canary"),
            ("LC_ALL", "C"),
            ("SSH_AUTH_SOCK", "/run/agent"),
            ("A NAME", "x"),
            ("BASH_FUNC_f%%", "() { :; }"),
            ("VIRTUAL_ENV", "/w/venv"),
        ];
        let env = SavedEnv::filter(vars);
        assert_eq!(env.left_out().collect::<Vec<_>>(), ["API_TOKEN", "VIRTUAL_ENV"]);
        assert!(!format!("{env:?}").contains("canary"));
        assert_eq!(SavedEnv::default().left_out().count(), 0);
        let many = (0..100).map(|n| format!("NAME_{n:03}"));
        assert_eq!(env.clone().with_left_out(many).left_out().count(), 64);
        let odd = ["", "a b", "PATH", "\u{1b}[2J"].map(str::to_owned);
        assert_eq!(env.clone().with_left_out(odd).left_out().count(), 0);
        let again = SavedEnv::filter([("TERM", "x")]);
        let names = env.left_out().map(str::to_owned);
        assert_eq!(again.with_left_out(names).left_out, env.left_out);
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
