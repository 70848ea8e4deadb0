//! From the records of a file to a session.
//!
//! Each record is read by itself; the core then puts them together and says
//! what did not fit.

use std::sync::Arc;

use signaltty_core::layout::Limits;
use signaltty_core::restore::{Draft, repair};
use signaltty_core::saved::SavedSession;

use super::lists::records;
use super::problem::{Corruption, Problem};
use super::schema::{Lists, MAX_PANES};

/// Makes a session of the records, or says why that cannot be done.
pub(super) fn assemble(
    lists: Lists,
    problems: &mut Vec<Problem>,
) -> Result<SavedSession, Corruption> {
    let found = [
        ("panes", lists.panes.len()),
        ("tabs", lists.tabs.len()),
        ("workspaces", lists.workspaces.len()),
    ];
    for (what, found) in found {
        if found > MAX_PANES {
            return Err(Corruption::TooMany { what, found, limit: MAX_PANES });
        }
    }
    let something = found.iter().any(|(_, found)| *found > 0);
    let draft = Draft {
        workspaces: records("workspaces", lists.workspaces, problems, |found, reader| {
            reader.workspace(found).map(Arc::new)
        }),
        tabs: records("tabs", lists.tabs, problems, |found, reader| reader.tab(found)),
        panes: records("panes", lists.panes, problems, |found, reader| {
            reader.pane(found).map(Arc::new)
        }),
        notifications: records("notifications", lists.notifications, problems, |n, reader| {
            reader.notification(n).map(Arc::new)
        }),
    };
    let (session, repaired) = repair(draft, &Limits::default());
    problems.extend(repaired.into_iter().map(Problem::from));
    if something && session.is_empty() {
        return Err(Corruption::NothingUsable);
    }
    Ok(session)
}
