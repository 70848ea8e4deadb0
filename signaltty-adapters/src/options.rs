//! Which options of a launch a resume carries over (D-29).
//!
//! Each adapter has a table of the options that its agent takes. A launch is
//! read by it once; name and value of what may be carried over are saved. At a
//! resume the saved options are looked up in the table again, so a changed
//! snapshot can neither bring in an option that the table does not have nor
//! make one harmless that is not. What is not carried over is named.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Path, PathBuf};

use signaltty_core::agent::{LaunchOption, LaunchOptions, Widening};

use crate::AgentSpec;

/// One option that an agent takes.
#[derive(Debug, Clone, Copy)]
pub struct OptionRule {
    name: &'static str,
    aliases: &'static [&'static str],
    takes: Takes,
    repeatable: bool,
    at_resume: AtResume,
}

/// The values of an option.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Takes {
    /// None.
    Nothing,
    /// The argument that follows, whatever it is.
    One,
    /// The argument that follows, unless that is an option.
    Maybe,
    /// Everything up to the next option.
    Many,
}

/// What a resume does with an option.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AtResume {
    /// Carries it over.
    Carried,
    /// Carries it over where a person asks or allowed it: it widens what the
    /// agent may do.
    Widens,
    /// As [`Widens`](Self::Widens), except with one of these values.
    WidensUnless(&'static [&'static str]),
    /// Decides by the key of `KEY=VALUE`; one in neither list is left out.
    Setting {
        /// Keys that are carried over.
        carried: &'static [&'static str],
        /// Keys that widen what the agent may do.
        widens: &'static [&'static str],
    },
    /// Leaves it out and names it.
    LeftOut,
    /// Leaves it out without a word: the resume itself says as much.
    Implied,
    /// Leaves it out without a word: its value is the directory in which the
    /// agent works, which the conversation keeps and a resume starts in.
    Directory,
}

impl OptionRule {
    /// An option with its long name.
    pub const fn new(name: &'static str, takes: Takes, at_resume: AtResume) -> Self {
        Self { name, aliases: &[], takes, repeatable: false, at_resume }
    }

    /// With other names, short ones too.
    #[must_use]
    pub const fn alias(self, aliases: &'static [&'static str]) -> Self {
        Self { aliases, ..self }
    }

    /// With each occurrence counting. Of another option the last one counts.
    #[must_use]
    pub const fn repeatable(self) -> Self {
        Self { repeatable: true, ..self }
    }

    fn is_named(&self, name: &str) -> bool {
        self.name == name || self.aliases.contains(&name)
    }

    fn repeats(&self) -> bool {
        self.repeatable || self.takes == Takes::Many
    }

    /// Whether it is carried over with this value, and if so whether it widens.
    fn verdict(&self, value: Option<&OsStr>) -> Option<bool> {
        let text = value.and_then(OsStr::to_str);
        let has_form = match self.takes {
            Takes::Nothing => value.is_none(),
            Takes::One | Takes::Many => value.is_some(),
            Takes::Maybe => true,
        };
        // What is written out in the command may hold anything, keys too.
        if !has_form || value.is_some_and(|value| value.as_bytes().starts_with(b"{")) {
            return None;
        }
        match self.at_resume {
            AtResume::Carried => Some(false),
            AtResume::Widens => Some(true),
            AtResume::WidensUnless(values) => Some(text.is_none_or(|text| !values.contains(&text))),
            AtResume::Setting { carried, widens } => {
                let (key, _) = text?.split_once('=')?;
                let key = key.trim();
                if carried.contains(&key) {
                    return Some(false);
                }
                widens.contains(&key).then_some(true)
            }
            AtResume::LeftOut | AtResume::Implied | AtResume::Directory => None,
        }
    }
}

/// The options that go along with one resume. Only an agent's table makes it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CarriedOptions {
    args: Vec<OsString>,
    carried: Vec<String>,
    dropped: Vec<String>,
}

impl CarriedOptions {
    /// The arguments: each option with its value in one, so that a value is
    /// never taken for an option.
    pub fn args(&self) -> &[OsString] {
        &self.args
    }

    /// What is carried over, for people: `--model x`.
    pub fn carried(&self) -> &[String] {
        &self.carried
    }

    /// Names of what is not.
    pub fn dropped(&self) -> &[String] {
        &self.dropped
    }

    /// Names something else of the launch that does not go along.
    pub fn leave_out(&mut self, name: &str) {
        self.drop_named(name);
    }

    fn add(&mut self, option: &LaunchOption) {
        let mut arg = option.name().as_bytes().to_vec();
        let mut shown = option.name().to_owned();
        if let Some(value) = option.value() {
            arg.push(b'=');
            arg.extend(value.as_bytes());
            let text = value.to_string_lossy();
            shown.push(' ');
            shown.extend(text.chars().take(SHOWN));
            if text.chars().nth(SHOWN).is_some() {
                shown.push('…');
            }
        }
        self.args.push(OsString::from_vec(arg));
        self.carried.push(shown);
    }

    fn drop_named(&mut self, name: &str) {
        if !self.dropped.iter().any(|known| known == name) {
            self.dropped.push(name.to_owned());
        }
    }
}

/// How much of a value people see.
const SHOWN: usize = 80;

impl AgentSpec {
    /// Reads the options of a launch. Never fails: what is malformed or not
    /// known is dropped by name.
    pub fn launch_options(&self, argv: &[OsString]) -> LaunchOptions {
        let mut found = LaunchOptions::default();
        if self.options.is_empty() {
            // An agent of which nothing is known: nothing is said of it either.
            return found;
        }
        let (read, unknown) = self.read_options(argv);
        for name in unknown {
            found.drop_named(name);
        }
        for Given { rule, value, .. } in read {
            if matches!(rule.at_resume, AtResume::Implied | AtResume::Directory) {
                continue;
            }
            let carried = rule.verdict(value.as_deref()).is_some();
            match LaunchOption::new(rule.name, value).filter(|_| carried) {
                Some(option) => found.keep(option),
                None => found.drop_named(rule.name),
            }
        }
        found
    }

    /// The directory in which an agent works that is started with this command
    /// in `base`, where the command names one. Its value becomes absolute, so
    /// that the agent may be started in that directory.
    pub fn settle_directory(&self, argv: &mut [OsString], base: &Path) -> Option<PathBuf> {
        let (read, _) = self.read_options(argv);
        let wanted = |given: &Given| given.rule.at_resume == AtResume::Directory;
        let (value, at, before) = match read.into_iter().rfind(wanted) {
            Some(Given { value, at, before, .. }) => (value, at, before),
            None => {
                let at = self.directory_word.and_then(|find| find(argv))?;
                (argv.get(at).cloned(), at, 0)
            }
        };
        let dir = base.join(value.filter(|value| !value.is_empty())?);
        let word = argv.get_mut(at)?;
        let mut settled = word.as_bytes().get(..before)?.to_vec();
        settled.extend(dir.as_os_str().as_bytes());
        *word = OsString::from_vec(settled);
        Some(dir)
    }

    /// The options of a command, and names that no rule has.
    fn read_options<'a>(&self, argv: &'a [OsString]) -> (Vec<Given>, Vec<&'a str>) {
        let (mut read, mut unknown) = (Vec::new(), Vec::new());
        let mut rest = argv.iter().map(OsString::as_os_str).enumerate().skip(1).peekable();
        while let Some((at, arg)) = rest.next() {
            let bytes = arg.as_bytes();
            if bytes == b"--" {
                break;
            }
            if !bytes.starts_with(b"-") || bytes == b"-" {
                continue;
            }
            let (name, attached) = split(bytes);
            let Some(rule) = self.rule(name) else {
                unknown.push(name);
                continue;
            };
            let given = |(at, value): (usize, &OsStr)| Given {
                rule,
                value: Some(value.to_owned()),
                at,
                before: 0,
            };
            let none = Given { rule, value: None, at, before: 0 };
            let is_option = |next: &(usize, &OsStr)| {
                next.1.as_bytes().starts_with(b"-") && next.1.as_bytes() != b"-"
            };
            if let Some(value) = attached {
                let before = bytes.len().saturating_sub(value.len());
                let value = Some(OsStr::from_bytes(value).to_owned());
                read.push(Given { rule, value, at, before });
                continue;
            }
            match rule.takes {
                Takes::Nothing => read.push(none),
                Takes::One => read.push(rest.next().map_or(none, given)),
                Takes::Maybe => {
                    read.push(rest.next_if(|next| !is_option(next)).map_or(none, given));
                }
                Takes::Many => {
                    let before = read.len();
                    while let Some(value) = rest.next_if(|next| !is_option(next)) {
                        read.push(given(value));
                    }
                    if read.len() == before {
                        read.push(none);
                    }
                }
            }
        }
        (read, unknown)
    }

    /// What of a launch's options goes along with a resume.
    pub fn carry(&self, saved: &LaunchOptions, widening: Widening) -> CarriedOptions {
        let mut out = CarriedOptions::default();
        for (at, option) in saved.kept().iter().enumerate() {
            let rule = self.options.iter().find(|rule| rule.name == option.name());
            let verdict = rule.and_then(|rule| Some((rule, rule.verdict(option.value())?)));
            let Some((rule, widens)) = verdict else {
                out.drop_named(option.name());
                continue;
            };
            if widens && widening == Widening::LeftOut {
                out.drop_named(option.name());
                continue;
            }
            let mut later = saved.kept().iter().skip(at.saturating_add(1));
            let repeated = !rule.repeats() && later.any(|other| other.name() == option.name());
            if !repeated {
                out.add(option);
            }
        }
        for name in saved.dropped() {
            out.drop_named(name);
        }
        out
    }

    fn rule(&self, name: &str) -> Option<&'static OptionRule> {
        self.options.iter().find(|rule| rule.is_named(name))
    }
}

/// An option as a command has it.
struct Given {
    rule: &'static OptionRule,
    value: Option<OsString>,
    /// Which word of the command has the value, else the option.
    at: usize,
    /// How many bytes of that word come before the value.
    before: usize,
}

/// Name and attached value of an argument that is an option: `--name=value`,
/// `-nvalue` and `-n=value`.
fn split(arg: &[u8]) -> (&str, Option<&[u8]>) {
    let (name, value) = if arg.starts_with(b"--") {
        match arg.iter().position(|byte| *byte == b'=') {
            Some(at) => arg.split_at(at),
            None => (arg, &[][..]),
        }
    } else {
        arg.split_at(arg.len().min(2))
    };
    let value = match value.first() {
        Some(b'=') => value.get(1..),
        Some(_) => Some(value),
        None => None,
    };
    // A name that is not text is in no table, and not shown.
    (std::str::from_utf8(name).unwrap_or(""), value)
}
