//! A conversation with everything that it was forked from.
//!
//! A fork's rollout holds only what came after the fork. What came before lies
//! in the parent's rollout, up to a byte that the fork names, and the parent may
//! be a fork too. So the anchor of a fork has the parent's part as its base, and
//! a fork extends the saved conversation where that is among its parents,
//! unchanged and whole.

use std::collections::BTreeSet;
use std::path::Path;

use signaltty_core::agent::{AgentSessionId, Anchor, Conversation, Fingerprint, Relation};
use signaltty_core::restore::{FailureCode, Refusal};

use super::rollout::{self, Meta};
use super::{line, record};
use crate::anchor::{Scan, extended, spoken};
use crate::{AgentHost, AgentSpec};

/// The rollouts of one conversation, its own first.
pub(super) struct Lineage {
    parts: Vec<Part>,
}

struct Part {
    id: AgentSessionId,
    scan: Scan,
}

impl Lineage {
    /// Reads them, with the conversation's anchor as what was saved.
    pub(super) fn read(
        spec: &AgentSpec,
        conversation: &Conversation,
        host: &dyn AgentHost,
    ) -> Result<Self, Refusal> {
        let Some(home) = record::home(&conversation.config_env, host) else {
            return Err(Refusal::new(
                FailureCode::Unreadable,
                "neither CODEX_HOME nor a home directory says where codex keeps its records",
            ));
        };
        let saved: Vec<_> = chain(conversation.anchor.as_ref()).collect();
        let mut parts = Vec::new();
        let mut seen = BTreeSet::new();
        let mut next = Some((conversation.id.clone(), u64::MAX));
        while let Some((id, end)) = next {
            if seen.len() >= MAX_FORKS || !seen.insert(id.clone()) {
                return Err(beginning(&id, "there is no end to what it was forked from"));
            }
            let path = match record::find(&home, &id) {
                Err(refusal) if !parts.is_empty() => {
                    return Err(beginning(&id, &refusal.message));
                }
                path => path?,
            };
            let meta = Meta::read(&path, &id)?;
            if parts.is_empty() {
                is_in(&meta, &path, conversation)?;
            }
            let against = saved.iter().find(|anchor| is_of(anchor, &id)).copied();
            let scan = record::open(&path)
                .and_then(|record| Scan::read_record(&record, &path, end, against, line::read))
                .map_err(|error| error.refusal())?;
            if end != u64::MAX && scan.bytes() != end {
                return Err(beginning(&id, "its rollout does not reach to the fork"));
            }
            parts.push(Part { id, scan });
            next = match meta.base() {
                None => None,
                Some(base) => match spec.id_form.parse(&base.thread_id) {
                    Ok(parent) => Some((parent, base.end_byte_offset)),
                    Err(error) => return Err(beginning(&conversation.id, &error.to_string())),
                },
            };
        }
        Ok(Self { parts })
    }

    /// Compares it with what was saved.
    pub(super) fn compare(self, anchor: &Anchor) -> Result<Fingerprint, Refusal> {
        let saved: Vec<_> = chain(Some(anchor)).collect();
        let forks = self.parts.iter().take_while(|part| !is_of(anchor, &part.id)).count();
        let kept = self.parts.iter().skip(forks);
        let same = kept.len() == saved.len()
            && kept.zip(&saved).all(|(part, anchor)| is_of(anchor, &part.id));
        if !same {
            return Err(Refusal::new(
                FailureCode::Damaged,
                format!(
                    "the conversation does not continue the saved one, whose record was {}",
                    anchor.record.display()
                ),
            ));
        }
        let mut relation = Relation::Extends;
        for (part, anchor) in self.parts.iter().skip(forks).zip(&saved) {
            if part.scan.clone().compare(&alone(anchor))?.relation == Relation::Rewritten {
                relation = Relation::Rewritten;
            }
        }
        Ok(Fingerprint::new(relation, self.now()?))
    }

    /// Anchors it, and never less of it than before.
    pub(super) fn anchor_anew(self, saved: Option<&Anchor>) -> Result<Anchor, Refusal> {
        match saved {
            None => spoken(self.now()?),
            Some(saved) => extended(self.compare(saved)?),
        }
    }

    fn now(self) -> Result<Anchor, Refusal> {
        let mut now: Option<Anchor> = None;
        for part in self.parts.into_iter().rev() {
            let mut anchor = part.scan.part()?;
            let before = now.as_ref().map_or(0, |base| base.user_messages);
            anchor.user_messages = anchor.user_messages.saturating_add(before);
            anchor.base = now.map(Box::new);
            now = Some(anchor);
        }
        now.ok_or_else(|| Refusal::new(FailureCode::Gone, "there is no rollout"))
    }
}

/// An anchor, its base, the base of that and so on.
fn chain(anchor: Option<&Anchor>) -> impl Iterator<Item = &Anchor> {
    std::iter::successors(anchor, |anchor| anchor.base.as_deref())
}

/// An anchor of one rollout, without what its base holds.
fn alone(anchor: &Anchor) -> Anchor {
    let before = anchor.base.as_ref().map_or(0, |base| base.user_messages);
    Anchor {
        user_messages: anchor.user_messages.saturating_sub(before),
        base: None,
        ..anchor.clone()
    }
}

/// The path of an anchor may be of another home; its name says whose it is.
fn is_of(anchor: &Anchor, id: &AgentSessionId) -> bool {
    record::rollout_id(&anchor.record) == Some(id.as_str())
}

/// The directory must be one of the conversation's: that in which it was begun,
/// or that of its newest turn. Where both are gone, as after a project was
/// renamed, its person says which one has taken their place.
fn is_in(meta: &Meta, path: &Path, conversation: &Conversation) -> Result<(), Refusal> {
    let cwd = &conversation.cwd;
    let same = |a: &Path| {
        a == cwd
            || std::fs::canonicalize(a)
                .is_ok_and(|a| std::fs::canonicalize(cwd).is_ok_and(|b| a == b))
    };
    if same(&meta.cwd) {
        return Ok(());
    }
    let newest = rollout::newest_directory(path);
    if newest.as_deref().is_some_and(same) {
        return Ok(());
    }
    let last = newest.as_ref().filter(|dir| dir.is_dir()).unwrap_or(&meta.cwd);
    if !last.is_dir() {
        return Ok(());
    }
    let (id, last) = (&conversation.id, last.display());
    Err(Refusal::new(
        FailureCode::Damaged,
        format!(
            "the conversation {id} belongs to {last}, which is there, and not to {}; resume it \
             with --cwd {last}",
            cwd.display()
        ),
    ))
}

fn beginning(id: &AgentSessionId, why: &str) -> Refusal {
    let message = format!("the beginning of a forked conversation, in {id}, is missing: {why}");
    Refusal::new(FailureCode::Damaged, message)
}

/// The most forks of forks.
const MAX_FORKS: usize = 64;
