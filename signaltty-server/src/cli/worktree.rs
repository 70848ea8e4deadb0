//! `worktree`: Git's registered checkouts.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::create::pane_id;
use super::text::safe_lines;
use super::{Context, Failure, place, safe};
use crate::protocol::{WireOs, WorktreeCreate, WorktreeList, WorktreeNode, WorktreeRef, Worktrees};

/// Verbs about checkouts.
#[derive(Debug, Subcommand)]
#[command(defer = true)]
pub(super) enum WorktreeVerb {
    /// List the checkouts of a repository, and the workspaces in them
    List {
        #[command(flatten)]
        repository: RepositoryArgs,
    },
    /// Check a branch out into a directory of its own; prints the directory
    Create {
        /// The branch; made where there is none of that name
        branch: String,
        /// What a new branch starts from [default: the branch of that name of
        /// the only remote that has one, else what is checked out]
        #[arg(long, value_name = "COMMIT")]
        from: Option<String>,
        /// The directory [default: REPOSITORY.BRANCH beside the main checkout]
        #[arg(long, value_name = "DIR")]
        path: Option<PathBuf>,
        #[command(flatten)]
        repository: RepositoryArgs,
    },
    /// Open a workspace in a checkout; prints the pane's id
    Open {
        #[command(flatten)]
        which: WhichArgs,
    },
    /// Remove a checkout that is clean and not in use; its branch stays
    Remove {
        #[command(flatten)]
        which: WhichArgs,
    },
}

// A repository.
#[derive(Debug, Args)]
pub(super) struct RepositoryArgs {
    /// A directory of the repository [default: this one]
    #[arg(long, value_name = "DIR")]
    cwd: Option<PathBuf>,
}

// A checkout.
#[derive(Debug, Args)]
pub(super) struct WhichArgs {
    /// The checkout: its branch, its path, or the last part of that
    worktree: PathBuf,
    #[command(flatten)]
    repository: RepositoryArgs,
}

impl RepositoryArgs {
    fn into_params(self) -> Result<WorktreeList, Failure> {
        let cwd = match self.cwd {
            Some(dir) => Some(place::from_here(&dir)?),
            None if place::is_remote() => None,
            None => Some(place::working_directory()?),
        };
        Ok(WorktreeList { cwd: cwd.map(|dir| WireOs(dir.into())), env: place::environment() })
    }
}

impl WhichArgs {
    fn into_params(self) -> Result<WorktreeRef, Failure> {
        let at = self.repository.into_params()?;
        Ok(WorktreeRef { worktree: WireOs(self.worktree.into()), at })
    }
}

/// Runs one.
pub(super) async fn run(context: &Context, verb: WorktreeVerb) -> Result<(), Failure> {
    match verb {
        WorktreeVerb::List { repository } => {
            context.ask("worktree.list", &repository.into_params()?, table).await
        }
        WorktreeVerb::Create { branch, from, path, repository } => {
            let path = path.map(|path| place::from_here(&path)).transpose()?;
            let path = path.map(|path| WireOs(path.into()));
            let params = WorktreeCreate { branch, from, path, at: repository.into_params()? };
            let made = |made: &WorktreeNode| {
                if let Some(remark) = &made.remark {
                    context.remark(&format!("{}\n", safe_lines(remark)));
                }
                path_line(made)
            };
            context.ask("worktree.create", &params, made).await
        }
        WorktreeVerb::Open { which } => {
            context.ask("worktree.open", &which.into_params()?, pane_id).await
        }
        WorktreeVerb::Remove { which } => {
            context.order("worktree.remove", &which.into_params()?).await
        }
    }
}

fn path_line(node: &WorktreeNode) -> String {
    format!("{}\n", safe(&node.path.0.to_string_lossy()))
}

/// A line for each: where, what is checked out, and which workspaces are in it.
fn table(found: &Worktrees) -> String {
    found.worktrees.iter().map(line).collect()
}

pub(crate) fn line(node: &WorktreeNode) -> String {
    let head = || node.head.as_deref().unwrap_or_default().chars().take(10).collect::<String>();
    let mut line = safe(&node.path.0.to_string_lossy());
    line.push_str("  ");
    line.push_str(&match &node.branch {
        Some(branch) => safe(branch),
        None if node.bare => "(bare)".to_owned(),
        None => format!("({})", safe(&head())),
    });
    for user in &node.workspaces {
        line.push_str(&format!("  in {}", safe(&user.handle)));
    }
    for (name, why) in [("locked", &node.locked), ("gone", &node.prunable)] {
        match why.as_deref() {
            None => {}
            Some("") => line.push_str(&format!("  [{name}]")),
            Some(why) => line.push_str(&format!("  [{name}: {}]", safe(why))),
        }
    }
    line.push('\n');
    line
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::WorktreeWorkspace;

    #[test]
    fn a_line_says_where_what_and_who() {
        let node = WorktreeNode {
            path: "/src/a\u{1b}b".into(),
            head: Some("0123456789abcdef".into()),
            branch: Some("fix/x".into()),
            main: false,
            bare: false,
            locked: None,
            prunable: None,
            workspaces: vec![WorktreeWorkspace { id: "ws_1".into(), handle: "api".into() }],
            remark: None,
        };
        assert_eq!(line(&node), "/src/a\\x1bb  fix/x  in api\n");
        let odd = WorktreeNode {
            branch: None,
            locked: Some(String::new()),
            prunable: Some("no such file".into()),
            workspaces: Vec::new(),
            ..node
        };
        assert_eq!(line(&odd), "/src/a\\x1bb  (0123456789)  [locked]  [gone: no such file]\n");
    }
}
