//! Workspaces, and the tabs in them.

use std::path::PathBuf;
use std::sync::Arc;

use crate::id::{PaneId, TabId, WorkspaceId};
use crate::layout::{Layout, Size};
use crate::time::UnixMillis;

/// A project directory and its tabs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SavedWorkspace {
    /// Its id.
    pub id: WorkspaceId,
    /// A readable name for commands: lower-case letters, digits and single
    /// dashes, at most 32. Given once, never changed, unique in a session.
    pub handle: Arc<str>,
    /// What people call it.
    pub name: Arc<str>,
    /// Where the name came from.
    pub naming: Naming,
    /// Its directory.
    pub cwd: PathBuf,
    /// The active tab; empty only while it has none.
    pub active_tab: Option<TabId>,
    /// What may happen in it without a person.
    pub switches: Switches,
    /// Hidden, and left out of everything automatic.
    pub archived: bool,
    /// When it was made.
    pub created_at: UnixMillis,
}

/// Per-workspace switches. All that is automatic is off by default (D-1).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Switches {
    /// Resume conversations when the server starts.
    pub auto_resume: bool,
    /// On top of it, continue the turn that a restart interrupted.
    pub auto_continue: bool,
    /// Keep the output and messages of its panes on disk (D-30).
    pub history: bool,
}

impl Default for Switches {
    fn default() -> Self {
        Self { auto_resume: false, auto_continue: false, history: true }
    }
}

/// How a workspace got its name. The prompt that a name was made from is not
/// kept (S0-55).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Naming {
    /// A person gave it, or it is the directory's.
    #[default]
    Manual,
    /// One is being made.
    Generating,
    /// It was made.
    Done,
    /// Making one failed, or a restart interrupted it (S0-56).
    Failed,
}

impl Naming {
    /// Every value.
    pub const ALL: &'static [Self] = &[Self::Manual, Self::Generating, Self::Done, Self::Failed];

    /// The text form.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Manual => "manual",
            Self::Generating => "generating",
            Self::Done => "done",
            Self::Failed => "failed",
        }
    }

    /// Reads the text form.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|naming| naming.as_str() == text)
    }
}

/// A layout of panes in a workspace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SavedTab {
    /// Its id.
    pub id: TabId,
    /// The workspace that it is in.
    pub workspace: WorkspaceId,
    /// Its title.
    pub title: Arc<str>,
    /// How its panes share its area. A tab always has at least one pane.
    pub layout: Layout<PaneId>,
    /// The pane that has the focus: a leaf of `layout`.
    pub active_pane: PaneId,
    /// The area in cells that its panes share (D-10).
    pub area: Size,
    /// When it was made.
    pub created_at: UnixMillis,
}

/// The area of a tab that no client has driven yet.
pub const DEFAULT_AREA: Size = Size { cols: 80, rows: 24 };

/// Makes a handle from a name: lower-case ASCII letters and digits joined by
/// single dashes, at most 32 characters, `ws` if nothing is left. `taken` says
/// which are in use; a number is added until one is free.
pub fn handle_for(name: &str, taken: impl Fn(&str) -> bool) -> Arc<str> {
    let mut slug = String::new();
    for c in name.chars() {
        if c.is_ascii_alphanumeric() {
            slug.push(c.to_ascii_lowercase());
        } else if !slug.is_empty() && !slug.ends_with('-') {
            slug.push('-');
        }
        if slug.len() >= 32 {
            break;
        }
    }
    let slug = slug.trim_end_matches('-');
    let base = if slug.is_empty() { "ws" } else { slug };
    if !taken(base) {
        return base.into();
    }
    let numbered = |n: u64| {
        let suffix = format!("-{n}");
        let room = 32usize.saturating_sub(suffix.len());
        let cut: String = base.chars().take(room).collect();
        format!("{}{suffix}", cut.trim_end_matches('-'))
    };
    let mut n = 2;
    while taken(&numbered(n)) {
        n += 1;
    }
    numbered(n).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn handles_are_slugs_and_unique() {
        let none = |_: &str| false;
        assert_eq!(&*handle_for("My API (v2)", none), "my-api-v2");
        assert_eq!(&*handle_for("  ", none), "ws");
        assert_eq!(&*handle_for("日本", none), "ws");
        assert_eq!(handle_for(&"x".repeat(80), none).len(), 32);
        assert_eq!(&*handle_for("api", |h| h == "api"), "api-2");
        assert_eq!(&*handle_for("api", |h| h == "api" || h == "api-2"), "api-3");
        let long = "x".repeat(32);
        assert_eq!(handle_for(&long, |h| h == long).len(), 32);
    }
}
