//! Options with which an agent was launched, as far as its adapter knows them
//! (D-29).
//!
//! Only names and values. Whether an option is carried over to a resume, and
//! whether it widens what the agent may do, is in the adapter's table and
//! looked up at that moment: what a snapshot says cannot make an option
//! harmless.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt as _;
use std::sync::Arc;

/// The most options that are kept of one launch, and the most names of others.
const MOST: usize = 64;

/// The most bytes of one value.
const LONGEST_VALUE: usize = 4_096;

/// The most bytes of all values of one launch.
const MOST_BYTES: usize = 16_384;

/// The most characters of a name.
const LONGEST_NAME: usize = 64;

/// One option of a launch: a name that an adapter gave it, and its value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LaunchOption {
    name: Arc<str>,
    value: Option<OsString>,
}

impl LaunchOption {
    /// An option, if name and value have the form of one: a name of at most 64
    /// letters, digits, `-` and `_` with `-` first, and a value of 1 to 4096
    /// bytes without NUL.
    pub fn new(name: &str, value: Option<OsString>) -> Option<Self> {
        let fits = |value: &OsString| {
            let bytes = value.as_bytes();
            (1..=LONGEST_VALUE).contains(&bytes.len()) && !bytes.contains(&0)
        };
        (is_name(name) && value.as_ref().is_none_or(fits))
            .then(|| Self { name: name.into(), value })
    }

    /// The name, with its dashes.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The value, where it has one.
    pub fn value(&self) -> Option<&OsStr> {
        self.value.as_deref()
    }
}

/// The options of one launch: those that its agent's adapter may carry over to
/// a resume, and the names of those that it does not know or does not carry.
/// Bounded: what is too much is kept by its name alone.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LaunchOptions {
    kept: Vec<LaunchOption>,
    dropped: Vec<Arc<str>>,
}

impl LaunchOptions {
    /// Keeps one more option, or its name where there is no room.
    pub fn keep(&mut self, option: LaunchOption) {
        let bytes = |o: &LaunchOption| o.value.as_ref().map_or(0, |value| value.len());
        let used: usize = self.kept.iter().map(bytes).sum();
        if self.kept.len() < MOST && used.saturating_add(bytes(&option)) <= MOST_BYTES {
            self.kept.push(option);
        } else {
            self.drop_named(&option.name);
        }
    }

    /// Notes that an option was given and is not carried over. What has not the
    /// form of a name is not noted: it may be anything.
    pub fn drop_named(&mut self, name: &str) {
        let known = self.dropped.iter().any(|known| **known == *name);
        if is_name(name) && !known && self.dropped.len() < MOST {
            self.dropped.push(name.into());
        }
    }

    /// Those that may be carried over, in the order in which they were given.
    pub fn kept(&self) -> &[LaunchOption] {
        &self.kept
    }

    /// Names of the others.
    pub fn dropped(&self) -> &[Arc<str>] {
        &self.dropped
    }

    /// Whether the launch had no option.
    pub fn is_empty(&self) -> bool {
        self.kept.is_empty() && self.dropped.is_empty()
    }
}

/// Whether options that widen what an agent may do go along with a resume
/// (D-29). Which ones do is in the table of the agent's adapter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Widening {
    /// They do: a person asked for the resume, or allowed it in the settings.
    Carried,
    /// They do not: nobody is there who gave them.
    LeftOut,
}

fn is_name(name: &str) -> bool {
    name.len() <= LONGEST_NAME
        && name.starts_with('-')
        && name.bytes().any(|byte| byte.is_ascii_alphanumeric())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn d29_what_is_kept_of_a_launch_is_bounded() {
        let option = |name: &str, value: &str| LaunchOption::new(name, Some(value.into()));
        for (name, value) in [
            ("model", "x"),
            ("--", "x"),
            ("--a b", "x"),
            ("--x\u{1b}", "x"),
            ("--model", ""),
            ("--model", "a\0b"),
            ("--model", &"v".repeat(LONGEST_VALUE + 1)),
            (&"-".repeat(LONGEST_NAME + 1), "x"),
        ] {
            assert_eq!(option(name, value), None, "{name:?}");
        }
        let mut options = LaunchOptions::default();
        assert!(options.is_empty());
        for _ in 0..6 {
            options.keep(option("--long", &"v".repeat(LONGEST_VALUE)).unwrap());
        }
        assert_eq!(options.kept().len(), MOST_BYTES / LONGEST_VALUE);
        assert_eq!(options.dropped(), [Arc::from("--long")]);
        for number in 0..2 * MOST {
            options.keep(LaunchOption::new("--flag", None).unwrap());
            options.drop_named(&format!("--n{number}"));
            options.drop_named("secret value");
        }
        assert_eq!((options.kept().len(), options.dropped().len()), (MOST, MOST));
    }
}
