//! Hooks in a person's own files, for agents that are started by hand (D-12).
//!
//! Pure: a text goes in and a text comes out, whoever reads and writes it. What
//! is ours is known by [`OWNER`] in it, and by nothing else: a command that a
//! person gave another path stays ours, and one without it never is. Whatever
//! else the file holds keeps its bytes.

mod document;

use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// What marks a hook or a file as put there by `signaltty integration`.
pub const OWNER: &str = "--owner=signaltty-integration";

/// What is seen of an agent that a person started in a pane's shell.
#[derive(Debug, Clone, Copy)]
pub struct ByHand {
    /// What is covered without hooks, and what to do about what is not.
    pub without: &'static str,
    /// The hooks that can be installed; none where they would add nothing.
    pub hooks: Option<UserHooks>,
}

/// Hooks for one agent, in one file of a person.
#[derive(Debug, Clone, Copy)]
pub struct UserHooks {
    /// What they add.
    pub adds: &'static str,
    /// What a person has to know besides, such as that nobody ran it.
    pub note: Option<&'static str>,
    /// Where the agent reads them.
    pub file: UserFile,
    /// What is put there.
    pub form: HookForm,
}

/// A file below a directory that the agent lets people choose.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UserFile {
    /// The variable that names a directory, and the file below it.
    pub chosen: Option<(&'static str, &'static str)>,
    /// The file below the home directory, where the variable is not set.
    pub below_home: &'static str,
}

impl UserFile {
    /// The file, for somebody with these variables and this home. A relative
    /// directory is none.
    pub fn path(&self, var: impl Fn(&str) -> Option<OsString>, home: &Path) -> PathBuf {
        let chosen = self.chosen.and_then(|(name, below)| {
            let dir = PathBuf::from(var(name)?);
            dir.is_absolute().then(|| dir.join(below))
        });
        chosen.unwrap_or_else(|| home.join(self.below_home))
    }
}

/// What is put into the file.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub enum HookForm {
    /// Entries in a JSON document that is the person's: `hooks.EVENT[]`.
    Entries(HookEntries),
    /// A file that is ours as a whole, made for the path of our program.
    Whole(fn(&str) -> String),
}

/// Entries of a JSON document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HookEntries {
    /// Whose hook it is, for `signaltty hook AGENT`.
    pub agent: &'static str,
    /// The events, and how many seconds the agent waits for each.
    pub events: &'static [(&'static str, u32)],
    /// Whether a list holds groups of commands with `type` and `timeout`, as
    /// Claude's does, or bare commands, as Cursor's.
    pub grouped: bool,
    /// A member of the document that, being true, keeps every hook from running.
    pub off: Option<&'static str>,
    /// `version` of a new document, where the agent asks for one.
    pub version: Option<u32>,
}

/// How a file stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HookState {
    /// Nothing of ours is in it.
    Absent,
    /// All of ours is in it, as it would be written now.
    Installed,
    /// The document says that no hook runs, by this member.
    Off(&'static str),
    /// Something of ours is in it, and it is not what would be written. Says
    /// what differs.
    Changed(String),
}

/// What a removal leaves.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Removed {
    /// There was nothing of ours.
    Nothing,
    /// The text without ours.
    Text(String),
    /// The file was ours as a whole.
    File,
}

/// Why a file is left as it is. The texts say what is wrong with the file, and
/// begin so that its path can stand before them.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum HookFileError {
    /// It holds nothing, which is no document.
    #[error("is empty; remove it, or write {{}} into it")]
    Empty,
    /// It is no JSON, also with comments and trailing commas allowed.
    #[error("is not valid JSON: {0}; correct it first")]
    Syntax(String),
    /// Something in it has another shape than the agent's documents have.
    #[error("has {what} where {expected} belongs; correct it first")]
    Shape {
        /// What is there.
        what: String,
        /// What belongs there.
        expected: &'static str,
    },
    /// A file of somebody else is where ours goes.
    #[error("is not ours (it has no {OWNER}); move it away first")]
    Foreign,
}

impl UserHooks {
    /// How `text`, the file's contents, stands; `None` where there is no file.
    ///
    /// # Errors
    ///
    /// When the text is not a document of the agent.
    pub fn state(&self, text: Option<&str>, program: &str) -> Result<HookState, HookFileError> {
        let Some(text) = text else {
            return Ok(HookState::Absent);
        };
        match self.form {
            HookForm::Entries(entries) => document::state(&entries, text, program),
            HookForm::Whole(_) if !is_ours(text) => Ok(HookState::Absent),
            HookForm::Whole(make) if make(program) == text => Ok(HookState::Installed),
            HookForm::Whole(_) => {
                Ok(HookState::Changed("it differs from what this version writes".to_owned()))
            }
        }
    }

    /// The text with what is missing of ours; `None` where nothing is. What is
    /// there of ours stays as it is, also where a person changed it.
    ///
    /// # Errors
    ///
    /// When the text is not a document of the agent.
    pub fn install(
        &self,
        text: Option<&str>,
        program: &str,
    ) -> Result<Option<String>, HookFileError> {
        match (self.form, text) {
            (HookForm::Entries(entries), text) => document::install(&entries, text, program),
            (HookForm::Whole(make), None) => Ok(Some(make(program))),
            (HookForm::Whole(_), Some(text)) if is_ours(text) => Ok(None),
            (HookForm::Whole(_), Some(_)) => Err(HookFileError::Foreign),
        }
    }

    /// The text without anything of ours.
    ///
    /// # Errors
    ///
    /// When the text is not a document of the agent.
    pub fn remove(&self, text: &str) -> Result<Removed, HookFileError> {
        match self.form {
            HookForm::Entries(entries) => document::remove(&entries, text),
            HookForm::Whole(_) if is_ours(text) => Ok(Removed::File),
            HookForm::Whole(_) => Ok(Removed::Nothing),
        }
    }
}

fn is_ours(text: &str) -> bool {
    text.contains(OWNER)
}

/// The command of a hook. It ends well also when our program is gone, so that
/// what is left behind never disturbs an agent.
pub(crate) fn command(program: &str, agent: &str) -> String {
    format!("{} hook {agent} {OWNER} || true", quoted(program))
}

/// Quoted for a POSIX shell.
pub(crate) fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests;
