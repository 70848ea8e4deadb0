//! Git's registered checkouts (S0-43, S0-44).
//!
//! Git is the register: it is asked each time and nothing of it is stored. A
//! checkout belongs to the workspaces whose directory is in it. Only `remove`
//! removes one, and only where nothing would be lost; its branch stays.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use tokio::sync::{mpsc, oneshot};

use super::dispatch::{absolute, environment, home, parse};
use super::effects::to_value;
use super::environment::scrubbed;
use super::event::{Answer, Event, Peer};
use super::event_loop::Daemon;
use super::git::{self, Checkout, Git};
use crate::nearest::nearest;
use crate::protocol::{
    self as wire, Request, VERSION, WireError, WireOs, WorktreeNode, WorktreeWorkspace, Worktrees,
    code,
};

impl Daemon {
    /// Answers one of the methods, once Git did.
    pub(super) fn worktree(
        &self,
        peer: Peer,
        method: &str,
        params: Value,
        respond: oneshot::Sender<Answer>,
    ) {
        let work = match self.work(method, params) {
            Ok(work) => work,
            Err(error) => {
                let _ = respond.send(Answer::Value(Err(error)));
                return;
            }
        };
        let events = self.events.clone();
        tokio::spawn(async move {
            let result = match work {
                Work::List(repository) => repository.list().await.map(to_value),
                Work::Create(repository, ask) => repository.create(ask).await.map(to_value),
                Work::Remove(repository, which) => repository.remove(&which).await,
                Work::Open(repository, which, env) => match repository.open(&which).await {
                    Ok(path) => return open(path, env, peer, events, respond).await,
                    Err(error) => Err(error),
                },
            };
            // A client that went away misses its answer.
            let _ = respond.send(Answer::Value(result));
        });
    }

    fn work(&self, method: &str, params: Value) -> Result<Work, WireError> {
        Ok(match method {
            "worktree.list" => Work::List(self.repository(parse(params)?)?),
            "worktree.create" => {
                let mut ask: wire::WorktreeCreate = parse(params)?;
                Work::Create(self.repository(std::mem::take(&mut ask.at))?, ask)
            }
            "worktree.open" => {
                let ask: wire::WorktreeRef = parse(params)?;
                let env = to_value(&ask.at.env);
                Work::Open(self.repository(ask.at)?, ask.worktree.into_path(), env)
            }
            "worktree.remove" => {
                let ask: wire::WorktreeRef = parse(params)?;
                Work::Remove(self.repository(ask.at)?, ask.worktree.into_path())
            }
            other => return Err(super::methods::unknown_method(other)),
        })
    }

    fn repository(&self, at: wire::WorktreeList) -> Result<Repository, WireError> {
        let env = environment(at.env)?;
        let base = env.as_ref().unwrap_or(&self.server_env);
        let dir = at.cwd.map_or_else(|| home(base), |cwd| absolute("cwd", cwd))?;
        let git = Git::new(dir.clone(), scrubbed(base, &self.adapters));
        let users = self.session.workspaces().map(|view| {
            let panes = view.tabs().flat_map(|tab| tab.panes().collect::<Vec<_>>());
            User {
                id: view.record.id.to_string(),
                handle: view.record.handle.to_string(),
                cwd: view.record.cwd.clone(),
                panes: panes.map(|pane| pane.record.cwd.clone()).collect(),
            }
        });
        Ok(Repository { git, dir, users: users.collect() })
    }
}

enum Work {
    List(Repository),
    Create(Repository, wire::WorktreeCreate),
    Open(Repository, PathBuf, Value),
    Remove(Repository, PathBuf),
}

/// A workspace, by what may be in a checkout.
struct User {
    id: String,
    handle: String,
    cwd: PathBuf,
    /// The directories of its panes.
    panes: Vec<PathBuf>,
}

/// A repository, and who may be in its checkouts.
struct Repository {
    git: Git,
    /// Seen from here.
    dir: PathBuf,
    users: Vec<User>,
}

impl Repository {
    async fn checkouts(&self) -> Result<Vec<Checkout>, WireError> {
        let args = ["worktree", "list", "--porcelain", "-z"].map(OsStr::new);
        Ok(git::checkouts(&self.git.run(&args, git::ASK).await?))
    }

    async fn list(mut self) -> Result<Worktrees, WireError> {
        let found = self.checkouts().await?;
        blocking(move || {
            self.make_real();
            self.nodes(found)
        })
        .await
    }

    /// Paths without symbolic links, as Git tells its own. Looks at files.
    fn make_real(&mut self) {
        for user in &mut self.users {
            for path in std::iter::once(&mut user.cwd).chain(&mut user.panes) {
                *path = real(path);
            }
        }
    }

    fn nodes(&self, found: Vec<Checkout>) -> Worktrees {
        let paths: Vec<_> = found.iter().map(|checkout| real(&checkout.path)).collect();
        let mut worktrees: Vec<_> =
            found.into_iter().enumerate().map(|(at, checkout)| node(checkout, at == 0)).collect();
        for user in &self.users {
            // Checkouts may be inside each other: the innermost has it.
            let within = paths.iter().enumerate().filter(|(_, path)| user.cwd.starts_with(path));
            let innermost = within.max_by_key(|(_, path)| path.components().count());
            if let Some(node) = innermost.and_then(|(at, _)| worktrees.get_mut(at)) {
                let (id, handle) = (user.id.clone(), user.handle.clone());
                node.workspaces.push(WorktreeWorkspace { id, handle });
            }
        }
        Worktrees { worktrees }
    }

    async fn create(self, ask: wire::WorktreeCreate) -> Result<WorktreeNode, WireError> {
        let branch = ask.branch.as_str();
        let args = ["check-ref-format", "--branch", branch].map(OsStr::new);
        let named = self.git.output(&args, git::ASK).await?;
        if !named.success || named.stdout.trim_ascii() != branch.as_bytes() {
            let message = format!(
                "{branch:?} cannot be the name of a branch; choose another, as `git check-ref-format` allows"
            );
            return Err(WireError::new(code::BAD_PARAMS, message));
        }
        let before = self.checkouts().await?;
        let path = match ask.path {
            Some(path) => absolute("path", path)?,
            None => match before.first() {
                Some(main) => git::default_path(&main.path, branch),
                None => self.dir.clone(),
            },
        };
        let start = self.start(branch, ask.from).await?;
        let mut args = vec![OsStr::new("worktree"), OsStr::new("add")];
        match &start {
            Start::Existing => args.extend(["--".as_ref(), path.as_os_str(), branch.as_ref()]),
            Start::New(from) => {
                args.extend(["-b", branch, "--"].map(OsStr::new));
                args.push(path.as_os_str());
                args.extend(from.as_deref().map(OsStr::new));
            }
            Start::Tracking(remote) => {
                args.extend(["--track", "-b", branch, "--"].map(OsStr::new));
                args.extend([path.as_os_str(), remote.as_ref()]);
            }
        }
        let failed = match self.git.output(&args, git::CHANGE).await {
            Ok(output) if output.success => None,
            // Git makes the branch first, and leaves it.
            Ok(output) => {
                let taken = output.stderr.contains("a branch named");
                Some((self.git.failed(&args, &output), !taken))
            }
            Err(error) => Some((error, true)),
        };
        let repository = Self { users: Vec::new(), git: self.git.clone(), dir: self.dir.clone() };
        let (wanted, was_there) = blocking(move || {
            let made = real(&path);
            let was_there = before.iter().any(|checkout| real(&checkout.path) == made);
            (made, was_there)
        })
        .await?;
        let after = repository.list().await.map(|found| found.worktrees);
        let of_path = |node: &WorktreeNode| node.path == WireOs::from(wanted.as_path());
        let made = after.map(|nodes| nodes.into_iter().find(of_path));
        match (failed, made) {
            (None, Ok(Some(node))) => Ok(node),
            (None, Ok(None)) => {
                let message = format!("Git made {} and does not list it", wanted.display());
                Err(WireError::new(code::GIT_FAILED, message))
            }
            (None, Err(error)) => Err(error),
            // It is made and whole: what failed is the repository's own hook, which
            // comes last.
            (Some((error, _)), Ok(Some(mut node))) if !was_there && is_whole(&node) => {
                node.remark = Some(format!("the checkout is there, but {}", error.message));
                Ok(node)
            }
            (Some((error, made)), _) => {
                if made && !matches!(start, Start::Existing) {
                    self.take_back(branch).await;
                }
                Err(error)
            }
        }
    }

    /// Removes a branch that was made for a checkout which came to nothing.
    /// Where a checkout has it after all, it stays.
    async fn take_back(&self, branch: &str) {
        let name = format!("refs/heads/{branch}");
        let args = ["show-ref", "--verify", "--quiet", &name].map(OsStr::new);
        let there = self.git.output(&args, git::ASK).await;
        if !there.is_ok_and(|output| output.success) {
            return;
        }
        let args = ["branch", "--quiet", "-D", "--", branch].map(OsStr::new);
        match self.git.output(&args, git::ASK).await {
            Ok(output) if output.success => {}
            Ok(output) => tracing::warn!("the branch {branch} stays: {}", output.stderr),
            Err(error) => tracing::warn!("the branch {branch} stays: {}", error.message),
        }
    }

    /// What a checkout of a branch starts from.
    async fn start(&self, branch: &str, from: Option<String>) -> Result<Start, WireError> {
        let own = format!("refs/heads/{branch}");
        let theirs = format!("refs/remotes/*/{branch}");
        let args = ["for-each-ref", "--format=%(refname)", &own, &theirs].map(OsStr::new);
        let listed = self.git.run(&args, git::ASK).await?;
        let listed = String::from_utf8_lossy(&listed).into_owned();
        if listed.lines().any(|name| name == own) {
            return match from {
                None => Ok(Start::Existing),
                Some(_) => {
                    let message = format!(
                        "there is a branch {branch} already, which starts where it is; leave out \
                         `--from`, or give the new branch another name"
                    );
                    Err(WireError::new(code::BAD_PARAMS, message))
                }
            };
        }
        let end = format!("/{branch}");
        let remotes: Vec<_> = listed
            .lines()
            .filter_map(|name| name.strip_prefix("refs/remotes/"))
            .filter(|name| name.strip_suffix(&end).is_some_and(|remote| !remote.contains('/')))
            .collect();
        match (from, remotes.as_slice()) {
            (Some(from), _) => Ok(Start::New(Some(from))),
            (None, []) => Ok(Start::New(None)),
            (None, [only]) => Ok(Start::Tracking((*only).to_owned())),
            (None, several) => {
                let message = format!(
                    "several remotes have a branch {branch}: {}; say which with `--from`",
                    several.join(", ")
                );
                let details = json!({"candidates": several});
                Err(WireError::new(code::AMBIGUOUS, message).with_details(details))
            }
        }
    }

    /// Where a workspace can be made.
    async fn open(self, which: &Path) -> Result<PathBuf, WireError> {
        let node = self.find(which).await?;
        let path = node.path.into_path();
        let refused = |why: String| Err(WireError::new(code::WORKTREE_REFUSED, why));
        if node.bare {
            return refused(format!("{} is bare: it has no files to work on", path.display()));
        }
        let users: Vec<_> = node.workspaces.iter().map(|user| user.handle.as_str()).collect();
        if !users.is_empty() {
            let message = format!(
                "{} is open already as {}; attach with: signaltty attach {}",
                path.display(),
                users.join(", "),
                users.first().copied().unwrap_or_default()
            );
            let details = json!({"reason": "open", "workspaces": node.workspaces});
            return Err(WireError::new(code::WORKTREE_REFUSED, message).with_details(details));
        }
        Ok(path)
    }

    /// Removes a checkout that nothing would miss.
    async fn remove(self, which: &Path) -> Result<Value, WireError> {
        let git = self.git.clone();
        let users = self.users_within();
        let node = self.find(which).await?;
        let path = node.path.clone().into_path();
        let refused = |reason: &str, why: String| {
            let details = json!({"reason": reason});
            Err(WireError::new(code::WORKTREE_REFUSED, why).with_details(details))
        };
        let shown = path.display();
        if node.main {
            let why = format!("{shown} is the main checkout; only linked ones can be removed");
            return refused("main", why);
        }
        if let Some(reason) = &node.locked {
            let why = format!(
                "{shown} is locked ({}); unlock it with: git worktree unlock {shown}",
                if reason.is_empty() { "no reason was given" } else { reason }
            );
            return refused("locked", why);
        }
        let users = blocking(move || users(&real(&path))).await?;
        let path = node.path.into_path();
        if !users.is_empty() {
            let why = format!(
                "{shown} is in use by {}; close what is in it first (`signaltty ls`)",
                users.join(", "),
                shown = path.display()
            );
            return refused("open", why);
        }
        let args = ["worktree".as_ref(), "remove".as_ref(), "--".as_ref(), path.as_os_str()];
        let output = git.output(&args, git::CHANGE).await?;
        if output.success {
            let path = WireOs::from(path.as_path());
            return Ok(to_value(wire::WorktreeRemoved { path, branch: node.branch }));
        }
        if output.stderr.contains("contains modified or untracked files") {
            let why = format!(
                "{} has files that are not committed; commit them or take them out first, then \
                 remove it",
                path.display()
            );
            return refused("dirty", why);
        }
        Err(git.failed(&args, &output))
    }

    /// Tells of a directory which workspaces have something in it.
    fn users_within(&self) -> impl FnOnce(&Path) -> Vec<String> + Send + 'static {
        let places: Vec<(String, Vec<PathBuf>)> = (self.users.iter())
            .map(|user| {
                let paths = std::iter::once(&user.cwd).chain(&user.panes).cloned();
                (user.handle.clone(), paths.collect())
            })
            .collect();
        move |dir| {
            let within = |paths: &[PathBuf]| paths.iter().any(|path| real(path).starts_with(dir));
            let users = places.into_iter().filter(|(_, paths)| within(paths));
            users.map(|(handle, _)| handle).collect()
        }
    }

    /// The checkout that is meant: by its branch, its path, or the last part of
    /// that.
    async fn find(self, which: &Path) -> Result<WorktreeNode, WireError> {
        let path = self.dir.join(which);
        let mut found = self.list().await?.worktrees;
        let real = blocking(move || real(&path)).await?;
        let wanted = WireOs::from(real.as_path());
        let text = which.to_string_lossy().into_owned();
        let name = |node: &WorktreeNode| {
            let path = Path::new(&node.path.0);
            path.file_name() == Some(which.as_os_str())
        };
        let by_branch = |node: &WorktreeNode| node.branch.as_deref() == Some(&*text);
        let by_path = |node: &WorktreeNode| node.path == wanted;
        for fits in [&by_branch as &dyn Fn(&WorktreeNode) -> bool, &by_path, &name] {
            let places: Vec<_> =
                found.iter().enumerate().filter(|(_, node)| fits(node)).map(|(at, _)| at).collect();
            match places.as_slice() {
                [] => {}
                [only] => return Ok(found.swap_remove(*only)),
                several => {
                    let paths: Vec<_> = (several.iter().filter_map(|at| found.get(*at)))
                        .map(|node| node.path.0.to_string_lossy().into_owned())
                        .collect();
                    let message = format!(
                        "{text:?} fits {} checkouts: {}; give the path",
                        paths.len(),
                        paths.join(", ")
                    );
                    let details = json!({"candidates": paths});
                    return Err(WireError::new(code::AMBIGUOUS, message).with_details(details));
                }
            }
        }
        let branches: Vec<_> = found.iter().filter_map(|node| node.branch.as_deref()).collect();
        let near = Vec::from_iter(nearest(&text, branches.iter().copied()));
        let shown: String = text.chars().take(80).collect();
        let message = format!(
            "there is no checkout {shown:?}; give its branch or its path (`signaltty worktree \
             list` shows them)"
        );
        Err(WireError::new(code::NO_SUCH_WORKTREE, message).with_details(json!({"near": near})))
    }
}

/// How a branch comes into a new checkout.
enum Start {
    /// It is there.
    Existing,
    /// It is made, from here or from what is checked out.
    New(Option<String>),
    /// It is made, and follows that of a remote.
    Tracking(String),
}

/// Whether Git is done with a new checkout, which it locks meanwhile.
fn is_whole(node: &WorktreeNode) -> bool {
    node.locked.as_deref() != Some("initializing") && node.prunable.is_none()
}

fn node(checkout: Checkout, main: bool) -> WorktreeNode {
    let Checkout { path, head, branch, bare, locked, prunable } = checkout;
    let path = WireOs::from(path.as_path());
    WorktreeNode {
        path,
        head,
        branch,
        main,
        bare,
        locked,
        prunable,
        workspaces: Vec::new(),
        remark: None,
    }
}

/// As Git spells it; as it is where it does not exist.
fn real(path: &Path) -> PathBuf {
    std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned())
}

/// Makes the workspace as if a client had asked for it there.
async fn open(
    path: PathBuf,
    env: Value,
    peer: Peer,
    events: mpsc::Sender<Event>,
    respond: oneshot::Sender<Answer>,
) {
    let params = json!({"cwd": WireOs::from(path.as_path()), "env": env});
    let (v, id) = (VERSION.to_owned(), String::new());
    let request = Request { v, id, method: "workspace.new".to_owned(), params };
    // A loop that ended answers nobody any more.
    let _ = events.send(Event::Request { peer, request, respond }).await;
}

async fn blocking<T: Send + 'static>(
    look: impl FnOnce() -> T + Send + 'static,
) -> Result<T, WireError> {
    let look = tokio::task::spawn_blocking(look).await;
    look.map_err(|error| WireError::new(code::INTERNAL, format!("a bug: {error}")))
}
