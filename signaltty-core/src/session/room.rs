//! Room in what is saved: whatever is made can be saved, and read again (D-10).
//!
//! A snapshot has a greatest size. Names, messages and evidence are bounded where
//! they come in; commands and environments are as long as the system takes them,
//! so these are added up before a pane is made. What comes later has the rest of
//! the snapshot to itself.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use super::{CommandError, PaneSpec, Session};
use crate::agent::LaunchOptions;
use crate::env::{ConfigEnv, SavedEnv};

/// The most that the commands, directories and environments of all panes may have
/// in a snapshot, in bytes. A quarter of a snapshot is left for what comes later.
pub const MOST_SAVED: usize = 48 << 20;

/// What a pane has in a snapshot besides, in bytes.
const EACH: usize = 1024;

impl Session {
    /// Takes room for new panes.
    ///
    /// The sum over all panes is made only where what was left of the last one
    /// does not suffice: panes that went meanwhile are found then.
    pub(super) fn take_room<'a>(
        &mut self,
        specs: impl Iterator<Item = &'a PaneSpec>,
    ) -> Result<(), CommandError> {
        let wanted: usize = specs.map(of_spec).sum();
        if self.room.is_none_or(|room| room < wanted) {
            self.room = Some(MOST_SAVED.saturating_sub(self.weight()));
        }
        let room = self.room.unwrap_or(0);
        let left = room.checked_sub(wanted).ok_or_else(|| {
            CommandError::NoRoom(format!(
                "commands and environments of all panes may have {} MiB in what is saved, and this \
                 needs {} bytes of the {room} that are left; close panes with long commands, or \
                 give long texts in files",
                MOST_SAVED >> 20,
                wanted
            ))
        })?;
        self.room = Some(left);
        Ok(())
    }

    /// What the panes have of it, and those that are being made.
    fn weight(&self) -> usize {
        let panes = self.panes.iter().map(|(_, entry)| {
            let record = &entry.record;
            let agent = record.agent.as_ref().map_or(0, |agent| {
                let conversation = agent.conversation.as_ref();
                let none = ConfigEnv::default();
                of_agent(conversation.map_or(&none, |known| &known.config_env), &agent.options)
            });
            of(&record.argv, &record.cwd, &record.env) + agent
        });
        let coming = self.pending.values().map(|creation| of_spec(creation.spec()));
        let groups = self.groups.values().flat_map(|group| group.specs().map(of_spec));
        panes.chain(coming).chain(groups).sum()
    }
}

fn of_spec(spec: &PaneSpec) -> usize {
    of(&spec.argv, &spec.cwd, &spec.env) + of_agent(&spec.config_env, &spec.options)
}

fn of(argv: &[std::ffi::OsString], cwd: &Path, env: &SavedEnv) -> usize {
    let argv: usize = argv.iter().map(|word| written(word)).sum();
    let env: usize = env.iter().map(|(name, value)| written(name.as_ref()) + written(value)).sum();
    EACH + argv + written(cwd.as_os_str()) + env
}

fn of_agent(env: &ConfigEnv, options: &LaunchOptions) -> usize {
    let env = env.iter().map(|(name, value)| written(name.as_ref()) + written(value));
    let options = options.kept().iter();
    let options =
        options.map(|option| written(option.name().as_ref()) + option.value().map_or(0, written));
    env.sum::<usize>() + options.sum::<usize>()
}

/// The most that a text has in JSON: control characters become six, and of what is
/// no UTF-8 each byte two.
fn written(text: &OsStr) -> usize {
    let each = |byte: &u8| match byte {
        0..0x20 => 6,
        b'"' | b'\\' => 2,
        _ => 1,
    };
    let around = 16;
    let bytes = text.as_bytes();
    around + if text.to_str().is_some() { bytes.iter().map(each).sum() } else { bytes.len() * 2 }
}
