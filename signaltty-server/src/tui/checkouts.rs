//! What Git says of the directories that workspaces are in: which of them are
//! checkouts of one repository. Asked while the client runs, and stored nowhere
//! (S0-43).

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use crate::protocol::{Tree, WorkspaceNode, WorktreeNode};

/// The answers so far.
#[derive(Debug, Default)]
pub(crate) struct Checkouts {
    /// For each directory the main checkout of its repository; none where it is in
    /// none, or where Git could not say.
    known: HashMap<PathBuf, Option<PathBuf>>,
    /// The checkouts of a repository, by its main one; the main one first.
    repositories: HashMap<PathBuf, Vec<WorktreeNode>>,
    /// The directory that is asked about.
    under_way: Option<PathBuf>,
    /// Asked again although it is known.
    again: Vec<PathBuf>,
}

impl Checkouts {
    /// The project of a directory: the main checkout of its repository, or the
    /// directory itself.
    pub(crate) fn root(&self, dir: &Path) -> PathBuf {
        self.known.get(dir).cloned().flatten().unwrap_or_else(|| dir.to_owned())
    }

    /// Whether it is known where each workspace of the tree belongs.
    pub(crate) fn complete(&self, tree: &Tree) -> bool {
        tree.workspaces.iter().all(|w| w.archived || self.known.contains_key(w.cwd.as_path()))
    }

    /// The checkouts of a project.
    pub(crate) fn of(&self, root: &Path) -> &[WorktreeNode] {
        self.repositories.get(root).map_or(&[], Vec::as_slice)
    }

    /// The checkout that a workspace is in.
    pub(crate) fn checkout(&self, workspace: &WorkspaceNode) -> Option<&WorktreeNode> {
        let root = self.known.get(workspace.cwd.as_path())?.as_ref()?;
        let is_in = |node: &&WorktreeNode| node.workspaces.iter().any(|w| w.id == workspace.id);
        self.of(root).iter().find(is_in)
    }

    /// The next directory to ask about; one at a time.
    pub(crate) fn next(&mut self, tree: &Tree) -> Option<PathBuf> {
        if self.under_way.is_some() {
            return None;
        }
        let dirs = tree.workspaces.iter().filter(|w| !w.archived).map(|w| w.cwd.as_path());
        let unknown = dirs.into_iter().find(|dir| !self.known.contains_key(*dir));
        self.under_way = unknown.map(Path::to_owned).or_else(|| self.again.pop());
        self.under_way.clone()
    }

    /// Has the checkouts asked for anew: of one project, or of all. What was known
    /// counts until the answer comes.
    pub(crate) fn refresh(&mut self, root: Option<&Path>) {
        let mut roots: Vec<PathBuf> = match root {
            Some(root) => vec![root.to_owned()],
            None => self.repositories.keys().cloned().collect(),
        };
        roots.sort();
        self.again = roots;
    }

    /// Takes an answer; `None` where Git had none.
    pub(crate) fn take(&mut self, tree: &Tree, dir: PathBuf, found: Option<Vec<WorktreeNode>>) {
        if self.under_way.as_ref() == Some(&dir) {
            self.under_way = None;
        }
        let found = found.unwrap_or_default();
        let Some(main) = found.first() else {
            self.repositories.remove(&dir);
            self.known.insert(dir, None);
            return;
        };
        let root = main.path.as_path().to_owned();
        let is_there = |workspace: &&WorkspaceNode| {
            found.iter().any(|node| node.workspaces.iter().any(|w| w.id == workspace.id))
        };
        for workspace in tree.workspaces.iter().filter(is_there) {
            self.known.insert(workspace.cwd.as_path().to_owned(), Some(root.clone()));
        }
        self.known.insert(dir, Some(root.clone()));
        self.repositories.insert(root, found);
    }

    /// The link was lost: what was asked is not answered any more.
    pub(crate) fn lost(&mut self) {
        self.under_way = None;
    }
}
