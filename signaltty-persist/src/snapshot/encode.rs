//! From a session to bytes, and the checksum around them.

use serde::Serialize;
use signaltty_core::notification::KEPT;
use signaltty_core::saved::SavedSession;

use super::records::{NotificationV1, PaneV1, TabV1, WorkspaceV1};
use super::schema::{Header, MAX_BYTES, MAX_PANES, VERSION};
use super::tails::{Fingerprint, fingerprint};
use crate::error::SaveError;

/// The session in a snapshot: everything but header and checksum.
pub(super) struct Content(Vec<u8>);

#[derive(Serialize)]
struct HeadV1<'a> {
    snapshot_version: u32,
    generation: u64,
    server_version: &'a str,
    protocol: u32,
    journal_seq: u64,
    saved_at: u64,
}

#[derive(Serialize)]
struct BodyV1 {
    workspaces: Vec<WorkspaceV1>,
    tabs: Vec<TabV1>,
    panes: Vec<PaneV1>,
    notifications: Vec<NotificationV1>,
}

impl Content {
    /// Writes the records and checks that they can be read again (P8).
    pub(super) fn of(session: &SavedSession) -> Result<Self, SaveError> {
        within("panes", session.panes.len(), MAX_PANES)?;
        within("tabs", session.tabs.len(), MAX_PANES)?;
        within("workspaces", session.workspaces.len(), MAX_PANES)?;
        let depth = session.panes.iter().map(|pane| anchor_depth(pane)).max();
        within("nested anchors", depth.unwrap_or(0), MAX_ANCHORS)?;
        let old = session.notifications.len().saturating_sub(KEPT);
        let body = BodyV1 {
            workspaces: session.workspaces.iter().map(|w| WorkspaceV1::from(&**w)).collect(),
            tabs: session.tabs.iter().map(|t| TabV1::from(&**t)).collect(),
            panes: session.panes.iter().map(|p| PaneV1::from(&**p)).collect(),
            notifications: session
                .notifications
                .iter()
                .skip(old)
                .map(|n| NotificationV1::from(&**n))
                .collect(),
        };
        Ok(Self(members(&body)?))
    }

    /// Tells contents apart. Not kept on disk.
    pub(super) fn fingerprint(&self) -> Fingerprint {
        fingerprint(&self.0)
    }

    /// The whole file.
    pub(super) fn with_header(
        &self,
        session: &SavedSession,
        header: &Header,
    ) -> Result<Vec<u8>, SaveError> {
        let head = members(&HeadV1 {
            snapshot_version: VERSION,
            generation: header.generation,
            server_version: &header.server_version,
            protocol: header.protocol,
            journal_seq: session.journal_seq,
            saved_at: session.saved_at.0,
        })?;
        let mut file = Vec::with_capacity(head.len() + self.0.len() + 32);
        file.push(b'{');
        file.extend_from_slice(&head);
        file.push(b',');
        file.extend_from_slice(&self.0);
        let seal = seal(&file);
        file.extend_from_slice(seal.as_bytes());
        within("bytes", file.len(), MAX_BYTES)?;
        Ok(file)
    }
}

/// Whether the bytes end in their own checksum, exactly as written.
pub(super) fn intact(file: &[u8]) -> bool {
    let covered = file.len().checked_sub(SEAL).and_then(|at| file.split_at_checked(at));
    covered.is_some_and(|(covered, end)| seal(covered).as_bytes() == end)
}

fn seal(covered: &[u8]) -> String {
    format!(",\"crc\":\"{:08x}\"}}\n", crc32fast::hash(covered))
}

/// The members of an object, without its braces.
fn members(object: &impl Serialize) -> Result<Vec<u8>, SaveError> {
    // Writing plain records to memory cannot fail; were it to, nothing would
    // be saved.
    let mut json =
        serde_json::to_vec(object).map_err(|error| SaveError::Encode(error.to_string()))?;
    json.pop();
    json.drain(..1.min(json.len()));
    Ok(json)
}

/// What the core lets into a session leaves room for what it does not count.
const _: () = assert!(signaltty_core::session::MOST_SAVED <= MAX_BYTES / 4 * 3);

fn within(what: &'static str, found: usize, limit: usize) -> Result<(), SaveError> {
    if found > limit {
        return Err(SaveError::Limit { what, found, limit });
    }
    Ok(())
}

fn anchor_depth(pane: &signaltty_core::pane::SavedPane) -> usize {
    let conversation = pane.agent.as_ref().and_then(|agent| agent.conversation.as_ref());
    let first = conversation.and_then(|conversation| conversation.anchor.as_ref());
    std::iter::successors(first, |anchor| anchor.base.as_deref()).count()
}

/// Deeper ones would meet the limit of the JSON reader.
const MAX_ANCHORS: usize = 32;

/// Length of what [`seal`] writes.
const SEAL: usize = ",\"crc\":\"00000000\"}\n".len();
