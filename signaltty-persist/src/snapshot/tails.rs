//! The tails that belong to a snapshot: written before it, pruned after it.
//!
//! Best effort: a tail that cannot be written is reported and never keeps the
//! structure from being saved.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{DefaultHasher, Hasher};
use std::io::ErrorKind;

use signaltty_core::id::PaneId;
use signaltty_core::saved::SavedSession;

use crate::dir::StateDir;
use crate::error::PathError;
use crate::fs::{Fs, ensure_dir};
use crate::replace::{Sync, Temporaries};
use crate::tail::{self, HISTORY};

/// What is known of the tails on disk.
#[derive(Debug)]
pub(super) struct Tails<F> {
    history: Option<F>,
    written: BTreeMap<PaneId, Fingerprint>,
    /// Panes that were closed and whose tails are still there.
    closed: BTreeSet<PaneId>,
}

/// A tail that could not be written or removed.
#[derive(Debug, thiserror::Error)]
#[error("the output of {pane} was not saved: {error}")]
#[non_exhaustive]
pub struct TailFailure {
    /// Whose it is.
    pub pane: PaneId,
    /// What went wrong.
    pub error: PathError,
}

/// What became of the tails of one save.
#[derive(Debug, Default)]
pub(super) struct TailReport {
    pub(super) written: usize,
    pub(super) failures: Vec<TailFailure>,
}

/// Tells contents apart.
pub(super) type Fingerprint = (usize, u64);

pub(super) fn fingerprint(bytes: &[u8]) -> Fingerprint {
    let mut hasher = DefaultHasher::new();
    hasher.write(bytes);
    (bytes.len(), hasher.finish())
}

impl<F: Fs> Tails<F> {
    pub(super) fn new() -> Self {
        Self { history: None, written: BTreeMap::new(), closed: BTreeSet::new() }
    }

    /// Notes panes whose tails are to go once no snapshot has them.
    pub(super) fn close(&mut self, panes: &[PaneId]) {
        self.closed.extend(panes);
    }

    /// Writes those that changed.
    pub(super) fn write(
        &mut self,
        dir: &StateDir<F>,
        temporaries: &mut Temporaries,
        tails: &[(PaneId, &[u8])],
        generation: u64,
        synced: bool,
    ) -> TailReport {
        let mut report = TailReport::default();
        for (pane, bytes) in tails {
            let bytes = tail::fitting(bytes);
            let fingerprint = fingerprint(bytes);
            if self.written.get(pane) == Some(&fingerprint) {
                continue;
            }
            let sync = if synced && report.written < SYNCED { Sync::Data } else { Sync::No };
            let name = tail::file_name(*pane);
            let header = tail::header(*pane, generation, bytes);
            let written = self.history(dir).and_then(|history| {
                let parts = [header.as_bytes(), bytes];
                temporaries
                    .replace(history, &name, &parts, sync)
                    .map_err(dir.error("save", format!("{HISTORY}/{name}")))
            });
            match written {
                Ok(()) => {
                    report.written += 1;
                    self.written.insert(*pane, fingerprint);
                }
                Err(error) => {
                    // The directory may have been removed; look again.
                    self.history = None;
                    report.failures.push(TailFailure { pane: *pane, error });
                }
            }
        }
        if synced && report.written > 0 {
            self.sync(dir, tails, &mut report);
        }
        report
    }

    fn history(&mut self, dir: &StateDir<F>) -> Result<&F, PathError> {
        let history = match self.history.take() {
            Some(history) => history,
            None => {
                let (history, made) =
                    ensure_dir(dir.fs(), HISTORY).map_err(dir.error("make", HISTORY))?;
                if made {
                    // What is in a directory is no more durable than its name.
                    dir.fs().sync().map_err(dir.error("sync", ""))?;
                }
                history
            }
        };
        Ok(self.history.insert(history))
    }

    fn sync(&mut self, dir: &StateDir<F>, tails: &[(PaneId, &[u8])], report: &mut TailReport) {
        let Some(Err(error)) = self.history.as_ref().map(Fs::sync) else {
            return;
        };
        // Which of them are durable is not known, so all are due again.
        self.written.clear();
        let error = dir.error("sync", HISTORY)(error);
        report.failures.extend(tails.first().map(|(pane, _)| TailFailure { pane: *pane, error }));
    }

    /// Removes tails, whatever the session has, for good. Says how many there
    /// were.
    pub(super) fn remove(
        &mut self,
        dir: &StateDir<F>,
        panes: &[PaneId],
    ) -> Result<usize, PathError> {
        let history = match dir.fs().dir(HISTORY) {
            Ok(history) => history,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(0),
            Err(error) => return Err(dir.error("open", HISTORY)(error)),
        };
        let mut removed = 0;
        for pane in panes {
            let name = tail::file_name(*pane);
            match history.remove(&name) {
                Ok(()) => removed += 1,
                Err(error) if error.kind() == ErrorKind::NotFound => {}
                Err(error) => {
                    return Err(dir.error("remove", format!("{HISTORY}/{name}"))(error));
                }
            }
            self.written.remove(pane);
        }
        if removed > 0 {
            history.sync().map_err(dir.error("sync", HISTORY))?;
        }
        Ok(removed)
    }

    /// Removes the tails of closed panes that the session does not have. To be
    /// called once a durable snapshot of that session is in place (P5).
    pub(super) fn prune(&mut self, dir: &StateDir<F>, session: &SavedSession) -> Vec<TailFailure> {
        let kept: BTreeSet<_> = session.panes.iter().map(|pane| pane.id).collect();
        let gone: Vec<_> = self.closed.difference(&kept).copied().collect();
        let Some(first) = gone.first().copied() else {
            return Vec::new();
        };
        let history = match dir.fs().dir(HISTORY) {
            Ok(history) => history,
            Err(error) if error.kind() == ErrorKind::NotFound => {
                self.closed.retain(|pane| kept.contains(pane));
                return Vec::new();
            }
            Err(error) => {
                let error = dir.error("open", HISTORY)(error);
                return vec![TailFailure { pane: first, error }];
            }
        };
        let mut failures = Vec::new();
        for pane in gone {
            let name = tail::file_name(pane);
            match history.remove(&name) {
                Err(error) if error.kind() != ErrorKind::NotFound => {
                    let error = dir.error("remove", format!("{HISTORY}/{name}"))(error);
                    failures.push(TailFailure { pane, error });
                }
                _ => {
                    self.closed.remove(&pane);
                    self.written.remove(&pane);
                }
            }
        }
        failures
    }
}

/// How many tails of one save are synced, each some milliseconds.
const SYNCED: usize = 32;
