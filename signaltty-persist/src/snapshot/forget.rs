//! Takes what panes said out of the files beside the snapshot (D-30).
//!
//! To be called once a durable snapshot without it is in place. A stop in the
//! middle leaves each file as it was or as it is to be, so that the same call
//! again does the rest.

use std::collections::BTreeSet;
use std::io::ErrorKind;
use std::path::PathBuf;

use signaltty_core::id::PaneId;
use signaltty_core::session::Forget;

use super::backup::CORRUPT;
use super::rotation::SNAPSHOTS;
use super::schema::{MAX_BYTES, from_json, to_json};
use super::store::Store;
use crate::dir::StateDir;
use crate::error::PathError;
use crate::fs::{Content, Fs, read_bounded};
use crate::replace::{Sync, Temporaries};

/// What was taken out.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Removed {
    /// The panes that were meant, with those that only an older snapshot has.
    pub panes: BTreeSet<PaneId>,
    /// How many tails were removed.
    pub tails: usize,
    /// How many older snapshots were rewritten.
    pub snapshots: usize,
    /// Files that name such a pane and cannot be rewritten, since they cannot be
    /// read. They are left for a person to remove.
    pub left: Vec<PathBuf>,
}

impl<F: Fs> Store<F> {
    /// Removes the tails of these panes, and takes what they said out of every
    /// older snapshot and every copy that was set aside.
    ///
    /// # Errors
    ///
    /// What was removed until then is gone; the same call again does the rest.
    pub fn forget(&mut self, what: &Forget) -> Result<Removed, PathError> {
        let mut removed = Removed { panes: what.panes.clone(), ..Removed::default() };
        for place in [SNAPSHOTS, CORRUPT] {
            scrub(self.dir(), place, what, &mut removed)?;
        }
        // A file of before may hold panes that a later one showed to be meant.
        let known = Forget { panes: removed.panes.clone(), workspaces: BTreeSet::new() };
        for place in [SNAPSHOTS, CORRUPT] {
            scrub(self.dir(), place, &known, &mut removed)?;
        }
        removed.left.sort();
        removed.left.dedup();
        let panes: Vec<_> = removed.panes.iter().copied().collect();
        removed.tails = self.remove_tails(&panes)?;
        Ok(removed)
    }
}

fn scrub<F: Fs>(
    dir: &StateDir<F>,
    place: &str,
    what: &Forget,
    removed: &mut Removed,
) -> Result<(), PathError> {
    let kept = match dir.fs().dir(place) {
        Ok(kept) => kept,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(dir.error("open", place)(error)),
    };
    let mut temporaries = Temporaries::new();
    let mut changed = false;
    for name in kept.names().map_err(dir.error("list", place))? {
        let path = format!("{place}/{name}");
        let mut file = match kept.open(&name) {
            Ok(file) => file,
            // Not a file of ours, or gone.
            Err(error) if matches!(error.kind(), ErrorKind::InvalidInput | ErrorKind::NotFound) => {
                continue;
            }
            Err(error) => return Err(dir.error("open", path)(error)),
        };
        let content = read_bounded(&mut file, MAX_BYTES).map_err(dir.error("read", &path))?;
        let (Content::Whole(bytes) | Content::Beginning(bytes)) = &content;
        let decoded = match &content {
            Content::Whole(bytes) => from_json(bytes).ok(),
            Content::Beginning(_) => None,
        };
        let Some(decoded) = decoded.filter(|decoded| decoded.problems.is_empty()) else {
            let named = removed.panes.iter().any(|pane| names(bytes, &pane.to_string()));
            if named || what.workspaces.iter().any(|id| names(bytes, &id.to_string())) {
                removed.left.push(dir.path().join(path));
            }
            continue;
        };
        let mut session = decoded.session;
        let (panes, said) = what.silence(&mut session);
        removed.panes.extend(panes);
        if !said {
            continue;
        }
        match to_json(&session, &decoded.header) {
            Ok(bytes) => {
                temporaries
                    .replace(&kept, &name, &[&bytes], Sync::Data)
                    .map_err(dir.error("rewrite", path))?;
                removed.snapshots += 1;
                changed = true;
            }
            Err(_) => removed.left.push(dir.path().join(path)),
        }
    }
    if changed {
        kept.sync().map_err(dir.error("sync", place))?;
    }
    Ok(())
}

/// Whether an id stands in these bytes.
fn names(bytes: &[u8], id: &str) -> bool {
    bytes.windows(id.len()).any(|part| part == id.as_bytes())
}
