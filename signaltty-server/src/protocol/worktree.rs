//! Git's registered checkouts, and the methods about them.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::WireOs;

/// `worktree.list`
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WorktreeList {
    /// A directory of the repository; absolute. By default the home directory.
    #[serde(default)]
    pub cwd: Option<WireOs>,
    /// The client's environment, in which Git runs. Never stored (D-27).
    #[serde(default)]
    pub env: BTreeMap<String, WireOs>,
}

/// `worktree.create`
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WorktreeCreate {
    /// The branch that is checked out; made where there is none of that name.
    pub branch: String,
    /// What a new branch starts from; by default the branch of that name of the
    /// only remote that has one, else what is checked out in `cwd`.
    #[serde(default)]
    pub from: Option<String>,
    /// Where; absolute. By default beside the main checkout.
    #[serde(default)]
    pub path: Option<WireOs>,
    /// Which repository, and how Git is run.
    #[serde(flatten)]
    pub at: WorktreeList,
}

/// `worktree.open`, `worktree.remove`
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WorktreeRef {
    /// Which: its branch, its path, or the last part of that.
    pub worktree: WireOs,
    /// Which repository, and how Git is run.
    #[serde(flatten)]
    pub at: WorktreeList,
}

/// Answer to `worktree.list`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Worktrees {
    /// In Git's order; the main one first.
    pub worktrees: Vec<WorktreeNode>,
}

/// One checkout, as Git has it registered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WorktreeNode {
    /// Its directory.
    pub path: WireOs,
    /// The commit that is checked out; none in a bare repository.
    pub head: Option<String>,
    /// The branch that is checked out, without `refs/heads/`; none where a commit
    /// is checked out by itself.
    pub branch: Option<String>,
    /// Whether it is the main one, which cannot be removed.
    pub main: bool,
    /// Whether it has no files, as a bare repository.
    pub bare: bool,
    /// Why it is locked; empty where no reason was given.
    pub locked: Option<String>,
    /// Why Git takes its directory for gone.
    pub prunable: Option<String>,
    /// The workspaces in it.
    pub workspaces: Vec<WorktreeWorkspace>,
    /// What went wrong although it was made: a hook of the repository that failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remark: Option<String>,
}

/// A workspace whose directory is in a checkout.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WorktreeWorkspace {
    /// Its id.
    pub id: String,
    /// Its handle.
    pub handle: String,
}

/// Answer to `worktree.remove`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WorktreeRemoved {
    /// The directory that is gone.
    pub path: WireOs,
    /// Its branch, which stays.
    pub branch: Option<String>,
}
