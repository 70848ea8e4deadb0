//! Takes payloads out of records (D-30).
//!
//! The records stay with their numbers, so the chain is whole and a replay over
//! them is complete; it says that something was forgotten, and no longer what.
//! Each file is rewritten whole and renamed over the old one, so a stop leaves
//! one or the other.

use std::path::PathBuf;

use super::error::JournalError;
use super::file::{ACTIVE, MAX_FILE};
use super::record::{Draft, Line};
use super::segment::Segment;
use super::writer::Journal;
use crate::error::PathError;
use crate::fs::{Content, Fs, FsFile, read_bounded, write_all};

/// What was taken out of a journal.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Erased {
    /// How many records have another payload now.
    pub records: usize,
    /// Files that were set aside earlier and hold such a payload. They are not
    /// part of the journal and are left for a person to remove.
    pub left: Vec<PathBuf>,
}

impl<F: Fs> Journal<F> {
    /// Gives every record whose payload has one of these texts in it another
    /// payload, in all files of the journal.
    ///
    /// `payload` is one JSON value on one line.
    ///
    /// # Errors
    ///
    /// Files that were not rewritten are as they were; the same call again does
    /// the rest.
    pub fn forget(&mut self, texts: &[String], payload: &str) -> Result<Erased, JournalError> {
        if !self.is_available() {
            return Err(JournalError::Unavailable);
        }
        let rewriting = Rewriting { texts, payload };
        let mut erased = Erased::default();
        self.forget_in_closed(&rewriting, &mut erased)?;
        self.forget_in_active(&rewriting, &mut erased)?;
        let dir = &self.state.dir;
        let names = dir.fs().names().map_err(dir.error("list", ""))?;
        for name in names.iter().filter(|name| is_set_aside(name)) {
            // What is no file holds nothing of ours.
            let Ok(mut file) = dir.fs().open(name) else {
                continue;
            };
            let content = read_bounded(&mut file, MAX_FILE).map_err(dir.error("read", name))?;
            let (Content::Whole(bytes) | Content::Beginning(bytes)) = content;
            if rewriting.concerns(&bytes) {
                erased.left.push(dir.path().join(name));
            }
        }
        self.upkeep()?;
        Ok(erased)
    }

    fn forget_in_closed(
        &mut self,
        rewriting: &Rewriting<'_>,
        erased: &mut Erased,
    ) -> Result<(), JournalError> {
        for at in 0..self.state.evidence.files.len() {
            let Some(file) = self.state.evidence.files.get(at) else {
                break;
            };
            let (name, bytes) = (file.name.clone(), file.bytes);
            let Some((content, records)) = self.rewritten(&name, bytes, rewriting)? else {
                continue;
            };
            let dir = self.state.dir.clone();
            self.replace(&name, &content)?;
            dir.fs().sync().map_err(dir.error("sync", ""))?;
            if let Some(file) = self.state.evidence.files.get_mut(at) {
                file.bytes = size(&content);
                file.crc = format!("{:08x}", crc32fast::hash(&content));
            }
            self.evidence_stale = true;
            erased.records += records;
        }
        Ok(())
    }

    fn forget_in_active(
        &mut self,
        rewriting: &Rewriting<'_>,
        erased: &mut Erased,
    ) -> Result<(), JournalError> {
        let Some((first, last, bytes)) =
            self.state.segment.as_ref().map(|active| (active.first, active.last, active.bytes))
        else {
            return Ok(());
        };
        let Some((content, records)) = self.rewritten(ACTIVE, bytes, rewriting)? else {
            return Ok(());
        };
        let file = self.replace(ACTIVE, &content)?;
        let dir = self.state.dir.clone();
        let segment = Segment::new(file, first, last, &content);
        // From here on the old file is not the one with the name.
        self.state.segment = Some(segment.map_err(dir.error("look at", ACTIVE))?);
        dir.fs().sync().map_err(dir.error("sync", ""))?;
        erased.records += records;
        Ok(())
    }

    /// A file without what is to go, or nothing if there is none of it.
    fn rewritten(
        &self,
        name: &str,
        bytes: u64,
        rewriting: &Rewriting<'_>,
    ) -> Result<Option<(Vec<u8>, usize)>, PathError> {
        let dir = &self.state.dir;
        let mut file = match dir.fs().open(name) {
            Ok(file) => file,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(dir.error("open", name)(error)),
        };
        let limit = usize::try_from(bytes).unwrap_or(MAX_FILE).min(MAX_FILE);
        let content = read_bounded(&mut file, limit).map_err(dir.error("read", name))?;
        let (Content::Whole(old) | Content::Beginning(old)) = content;
        Ok(rewriting.apply(&old))
    }

    fn replace(&mut self, name: &str, content: &[u8]) -> Result<F::File, PathError> {
        let dir = self.state.dir.clone();
        let fs = dir.fs();
        let (temporary, mut file) =
            self.state.temporaries.create(fs).map_err(dir.error("make a file in", ""))?;
        let placed = write_all(&mut file, content)
            .and_then(|()| file.sync_data())
            .and_then(|()| fs.rename(&temporary, name));
        match placed {
            Ok(()) => Ok(file),
            Err(error) => {
                // If this fails too, the next start sweeps it.
                let _ = fs.remove(&temporary);
                Err(dir.error("rewrite", name)(error))
            }
        }
    }
}

struct Rewriting<'a> {
    texts: &'a [String],
    payload: &'a str,
}

impl Rewriting<'_> {
    fn concerns(&self, bytes: &[u8]) -> bool {
        self.texts.iter().any(|text| {
            !text.is_empty() && bytes.windows(text.len()).any(|part| part == text.as_bytes())
        })
    }

    fn apply(&self, old: &[u8]) -> Option<(Vec<u8>, usize)> {
        if !self.concerns(old) {
            return None;
        }
        let mut content = Vec::with_capacity(old.len());
        let mut records = 0;
        for line in old.split_inclusive(|byte| *byte == b'\n') {
            let bare = line.strip_suffix(b"\n").unwrap_or(line);
            match Line::parse(bare) {
                Some(record) if !record.is_own() && self.concerns(record.payload.as_bytes()) => {
                    if record.payload == self.payload {
                        content.extend_from_slice(line);
                        continue;
                    }
                    let draft = Draft::rewritten(record.at, record.event, self.payload);
                    draft.encode(record.seq, record.prev, &mut content);
                    records += 1;
                }
                // A damaged line stays a damaged place, without what it said.
                None if self.concerns(bare) => content.extend_from_slice(b"{\"forgotten\":true}\n"),
                _ => content.extend_from_slice(line),
            }
        }
        Some((content, records))
    }
}

fn is_set_aside(name: &str) -> bool {
    name.starts_with("audit") && name.contains(".kept")
}

fn size(content: &[u8]) -> u64 {
    u64::try_from(content.len()).unwrap_or(u64::MAX)
}
