//! Which projects a client shows: all of them, or one.
//!
//! The scope belongs to the client, not to the session (D-17). A client learns
//! of workspaces bit by bit, so a project that it has not heard of yet is not
//! one that is gone: only a complete and successful list may reset the scope
//! (S0-48).
//!
//! ```
//! use signaltty_core::scope::{Catalog, Listed, Scope};
//!
//! let scope = Scope::Project("/home/me/api".into());
//! let nothing = |listed| Catalog { projects: &[], listed };
//! assert_eq!(scope.clone().after(&nothing(Listed::Partly)), scope);
//! assert_eq!(scope.after(&nothing(Listed::Completely)), Scope::All);
//! ```

use std::path::{Path, PathBuf};

/// What a client shows.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Scope {
    /// Every project.
    #[default]
    All,
    /// The project with this root.
    Project(PathBuf),
}

/// How much a client knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Listed {
    /// Not connected, or the list failed or has not ended.
    Partly,
    /// The whole list arrived.
    Completely,
}

/// The projects that a client knows.
#[derive(Debug, Clone, Copy)]
pub struct Catalog<'a> {
    /// Their roots, and for each the older keys that named it.
    pub projects: &'a [Project],
    /// How much of it that is.
    pub listed: Listed,
}

/// A project that a client knows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Project {
    /// Its primary root.
    pub root: PathBuf,
    /// Keys by which older clients named it.
    pub legacy: Vec<PathBuf>,
}

impl Scope {
    /// From what was saved: an absolute path, or everything else for all
    /// (S0-47).
    pub fn from_saved(saved: Option<&Path>) -> Self {
        match saved {
            Some(root) if root.is_absolute() => Self::Project(root.to_owned()),
            _ => Self::All,
        }
    }

    /// What it is once the catalog is known. A legacy key becomes the primary
    /// root if it names one project only (S0-49).
    #[must_use]
    pub fn after(self, catalog: &Catalog<'_>) -> Self {
        let Self::Project(key) = self else {
            return self;
        };
        if catalog.projects.iter().any(|project| project.root == key) {
            return Self::Project(key);
        }
        let mut named = catalog.projects.iter().filter(|project| project.legacy.contains(&key));
        match (named.next(), named.next(), catalog.listed) {
            (Some(only), None, _) => Self::Project(only.root.clone()),
            (None, _, Listed::Completely) => Self::All,
            _ => Self::Project(key),
        }
    }

    /// What it is once a person was led to something in the project at `root`,
    /// which may be hidden by the scope. Only a complete catalog may fall back
    /// (S0-58).
    #[must_use]
    pub fn reveal(self, root: &Path, catalog: &Catalog<'_>) -> Self {
        let known = catalog.projects.iter().any(|project| project.root == root);
        match self {
            Self::All => Self::All,
            Self::Project(own) if own == root => Self::Project(own),
            Self::Project(_) if known => Self::Project(root.to_owned()),
            Self::Project(_) if catalog.listed == Listed::Completely => Self::All,
            kept => kept,
        }
    }

    /// Whether a project is shown.
    pub fn shows(&self, root: &Path) -> bool {
        match self {
            Self::All => true,
            Self::Project(own) => own == root,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Listed::{Completely, Partly};

    fn project(root: &str, legacy: &[&str]) -> Project {
        Project { root: root.into(), legacy: legacy.iter().map(PathBuf::from).collect() }
    }

    fn one(root: &str) -> Scope {
        Scope::Project(root.into())
    }

    #[test]
    fn s0_47_what_is_missing_invalid_or_empty_is_all() {
        for saved in [None, Some(""), Some("api"), Some("../api")] {
            assert_eq!(Scope::from_saved(saved.map(Path::new)), Scope::All);
        }
        assert_eq!(Scope::from_saved(Some(Path::new("/api"))), one("/api"));
    }

    #[test]
    fn s0_48_only_a_complete_list_without_it_resets_the_scope() {
        let (here, away) = ([project("/api", &[])], [project("/web", &[])]);
        for (projects, listed, expected) in [
            (&here[..], Completely, one("/api")),
            (&here, Partly, one("/api")),
            (&away, Partly, one("/api")),
            (&[], Partly, one("/api")),
            (&away, Completely, Scope::All),
            (&[], Completely, Scope::All),
        ] {
            assert_eq!(one("/api").after(&Catalog { projects, listed }), expected);
            assert_eq!(Scope::All.after(&Catalog { projects, listed }), Scope::All);
        }
    }

    #[test]
    fn s0_49_a_legacy_key_migrates_only_to_a_single_root() {
        let single = [project("/api", &["/old"]), project("/web", &[])];
        let two = [project("/api", &["/old"]), project("/web", &["/old"])];
        for listed in [Partly, Completely] {
            let after = |projects| one("/old").after(&Catalog { projects, listed });
            assert_eq!(after(&single[..]), one("/api"));
            assert_eq!(after(&two[..]), one("/old"));
        }
    }

    #[test]
    fn s0_58_revealing_what_is_missing_falls_back_only_when_all_is_known() {
        let projects = &[project("/api", &[]), project("/web", &[])][..];
        for (root, listed, expected) in [
            ("/api", Partly, one("/api")),
            ("/web", Partly, one("/web")),
            ("/new", Partly, one("/api")),
            ("/new", Completely, Scope::All),
        ] {
            let revealed = one("/api").reveal(Path::new(root), &Catalog { projects, listed });
            assert_eq!(revealed, expected, "{root}");
            assert!(listed == Partly || revealed.shows(Path::new(root)));
        }
    }
}
