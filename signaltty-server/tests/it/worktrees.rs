//! Git's checkouts, and the workspaces in them.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

use crate::support::refusal::{Case, check};
use crate::support::{Home, Said, Server};

/// A repository with one commit, as a test has it.
struct Repository {
    home: Home,
    dir: PathBuf,
}

impl Repository {
    fn new() -> Self {
        let home = Home::new();
        let dir = fs::canonicalize(home.work()).unwrap().join("api");
        fs::create_dir(&dir).unwrap();
        let made = Self { home, dir };
        made.git(&["init", "-q", "-b", "main"]);
        fs::write(made.dir.join("file"), "text\n").unwrap();
        fs::write(made.dir.join(".gitignore"), "built\n").unwrap();
        made.git(&["add", "."]);
        made.git(&["commit", "-q", "-m", "first"]);
        made
    }

    /// What Git prints.
    fn git(&self, args: &[&str]) -> String {
        let mut command = Command::new("git");
        command.env_clear().envs(environment(&self.home)).current_dir(&self.dir).args(args);
        let done = command.output().unwrap();
        assert!(done.status.success(), "git {args:?}: {done:?}");
        String::from_utf8(done.stdout).unwrap()
    }

    fn branches(&self) -> String {
        self.git(&["for-each-ref", "--format=%(refname:short)", "refs/heads"])
    }

    fn params(&self, more: Value) -> Value {
        let mut params = json!({"cwd": self.dir, "env": environment(&self.home)});
        let fields = more.as_object().unwrap().clone();
        params.as_object_mut().unwrap().extend(fields);
        params
    }

    fn list(&self, server: &Server) -> Vec<Value> {
        let found = server.ask("worktree.list", self.params(json!({})));
        found["worktrees"].as_array().unwrap().clone()
    }

    fn create(&self, server: &Server, branch: &str) -> PathBuf {
        let made = server.ask("worktree.create", self.params(json!({"branch": branch})));
        assert_eq!(made["branch"], branch);
        PathBuf::from(made["path"].as_str().unwrap())
    }

    fn open(&self, server: &Server, worktree: &str) -> Value {
        server.ask("worktree.open", self.params(json!({"worktree": worktree})))
    }
}

/// An environment in which Git knows who commits and reads no settings.
fn environment(home: &Home) -> BTreeMap<String, String> {
    let path = std::env::var("PATH").unwrap();
    [
        ("PATH", path.as_str()),
        ("HOME", home.path("").to_str().unwrap()),
        ("SHELL", "/bin/sh"),
        ("GIT_CONFIG_NOSYSTEM", "1"),
        ("GIT_AUTHOR_NAME", "A"),
        ("GIT_AUTHOR_EMAIL", "a@example.org"),
        ("GIT_COMMITTER_NAME", "A"),
        ("GIT_COMMITTER_EMAIL", "a@example.org"),
    ]
    .map(|(name, value)| (name.to_owned(), value.to_owned()))
    .into()
}

/// The handles of the workspaces in each checkout.
fn mapping(found: &[Value]) -> Vec<(String, Vec<String>)> {
    let handle = |user: &Value| user["handle"].as_str().unwrap().to_owned();
    let text = |node: &Value| node["branch"].as_str().unwrap_or_default().to_owned();
    let users = |node: &Value| node["workspaces"].as_array().unwrap().iter().map(handle).collect();
    found.iter().map(|node| (text(node), users(node))).collect()
}

#[test]
fn s0_43_each_checkout_has_its_workspace_after_a_restart_too() {
    let repository = Repository::new();
    let home = &repository.home;
    let mut server = Server::start(home);
    let one = repository.create(&server, "fix/one");
    assert_eq!(one, repository.dir.with_file_name("api.fix-one"));
    repository.create(&server, "two");
    let opened = repository.open(&server, "fix/one");
    assert!(opened["pane_id"].is_string(), "{opened}");
    // By a path through a link, and further in: it is still in that checkout.
    let link = home.path("link");
    symlink(one.with_file_name("api.two"), &link).unwrap();
    fs::create_dir(link.join("sub")).unwrap();
    let made = server.ask(
        "workspace.new",
        json!({"cwd": link.join("sub"), "name": "second", "argv": ["/bin/cat"]}),
    );
    assert!(made["pane_id"].is_string());
    let expected = [
        ("main".to_owned(), vec![]),
        ("fix/one".to_owned(), vec!["api-fix-one".to_owned()]),
        ("two".to_owned(), vec!["second".to_owned()]),
    ];
    assert_eq!(mapping(&repository.list(&server)), expected);
    server.wait_saved();
    server.kill9();
    // Nothing about Git is in the state: it says where the workspaces are, and
    // Git what is checked out there by now.
    assert!(home.files_with("fix/one").is_empty());
    repository.git(&["branch", "-m", "two", "renamed"]);
    let server = Server::start(home);
    let mut expected = expected;
    expected[2].0 = "renamed".to_owned();
    assert_eq!(mapping(&repository.list(&server)), expected);
    assert_eq!(repository.list(&server)[0]["main"], true);
}

#[test]
fn s0_44_close_and_restore_remove_no_checkout() {
    let repository = Repository::new();
    let home = &repository.home;
    let mut server = Server::start(home);
    let dir = repository.create(&server, "topic");
    let opened = repository.open(&server, "topic");
    fs::write(dir.join("built"), "an ignored file\n").unwrap();
    server.wait_saved();
    server.kill9();
    let server = Server::start(home);
    let pane = opened["pane_id"].as_str().unwrap();
    assert_eq!(server.pane(pane)["state"], "restored");
    let there = || dir.join("file").exists() && repository.branches().contains("topic");
    assert!(there(), "after a restore");
    server.ask("pane.close", json!({"pane": pane}));
    assert!(there(), "after the pane was closed");
    let workspace = opened["workspace_id"].as_str().unwrap();
    let left = server.ask("session.list", json!({}));
    if left["workspaces"].as_array().unwrap().iter().any(|ws| ws["id"] == workspace) {
        server.ask("workspace.close", json!({"workspace": workspace}));
    }
    assert!(there(), "after the workspace was closed");
    assert_eq!(mapping(&repository.list(&server))[1], ("topic".to_owned(), vec![]));
    // Asked for by name it goes, and the branch with its commits stays.
    let removed = server.ask("worktree.remove", repository.params(json!({"worktree": "topic"})));
    assert_eq!(removed["branch"], "topic");
    assert!(!dir.exists());
    assert!(repository.branches().contains("topic"));
    // So it can be checked out again.
    assert_eq!(repository.create(&server, "topic"), dir);
}

#[test]
fn s0_44_a_checkout_that_would_be_missed_is_not_removed() {
    let repository = Repository::new();
    let home = &repository.home;
    let server = Server::start(home);
    let changed = repository.create(&server, "changed");
    fs::write(changed.join("file"), "not committed\n").unwrap();
    let new = repository.create(&server, "new");
    fs::write(new.join("unknown"), "not added\n").unwrap();
    let locked = repository.create(&server, "locked");
    repository.git(&["worktree", "lock", "--reason", "on a stick", locked.to_str().unwrap()]);
    let open = repository.create(&server, "open");
    repository.open(&server, "open");
    let visited = repository.create(&server, "visited");
    let elsewhere = json!({"pane": "api-open", "cwd": visited, "argv": ["/bin/cat"]});
    server.ask("pane.split", elsewhere);
    let remove = |which: &str| repository.params(json!({"worktree": which}));
    let refused = "WORKTREE_REFUSED";
    let gone = home.path("nowhere").display().to_string();
    let at = |cwd: &Path| json!({"cwd": cwd, "env": environment(home)});
    let no_git = json!({"cwd": repository.dir, "env": {"PATH": gone}});
    let cases: [Case<'_>; 15] = [
        ("worktree.remove", remove("changed"), refused, "dirty", &["api.changed", "commit"]),
        ("worktree.remove", remove("new"), refused, "dirty", &["api.new", "commit"]),
        ("worktree.remove", remove("locked"), refused, "locked", &["on a stick", "unlock"]),
        ("worktree.remove", remove("main"), refused, "main", &["main checkout"]),
        ("worktree.remove", remove("open"), refused, "open", &["api-open", "close"]),
        ("worktree.remove", remove("visited"), refused, "open", &["api-open", "close"]),
        ("worktree.open", remove("open"), refused, "open", &["signaltty attach api-open"]),
        ("worktree.remove", remove("opne"), "NO_SUCH_WORKTREE", "", &["opne", "worktree list"]),
        ("worktree.list", at(&home.path("")), "NOT_A_REPOSITORY", "", &["--cwd"]),
        ("worktree.open", at(&home.path("")), "BAD_PARAMS", "", &["worktree"]),
        ("worktree.list", at(Path::new(&gone)), "GIT_FAILED", "", &[&gone, "No such file"]),
        ("worktree.list", at(Path::new("rel")), "BAD_PARAMS", "", &["absolute"]),
        ("worktree.list", no_git, "GIT_MISSING", "", &["install it"]),
        (
            "worktree.create",
            repository.params(json!({"branch": "-f"})),
            "BAD_PARAMS",
            "",
            &["-f", "branch"],
        ),
        (
            "worktree.create",
            repository.params(json!({"branch": "open", "path": home.path("other")})),
            "GIT_FAILED",
            "",
            &["open", "already"],
        ),
    ];
    check(home, &server, &cases);
    for dir in [&changed, &new, &locked, &open, &visited] {
        assert!(dir.join("file").exists(), "{}", dir.display());
    }
    assert!(!home.path("other").exists());
}

#[test]
fn a_branch_of_a_remote_is_followed_and_a_start_is_taken() {
    let repository = Repository::new();
    let server = Server::start(&repository.home);
    let first = repository.git(&["rev-parse", "HEAD"]);
    repository.git(&["update-ref", "refs/remotes/origin/theirs", "HEAD"]);
    repository.git(&["remote", "add", "origin", "/nowhere"]);
    repository.git(&["commit", "-q", "--allow-empty", "-m", "second"]);
    repository.create(&server, "theirs");
    assert_eq!(repository.git(&["rev-parse", "theirs"]), first);
    assert_eq!(repository.git(&["config", "branch.theirs.remote"]), "origin\n");
    let path = repository.home.path("old");
    let ask = json!({"branch": "old", "from": "main~1", "path": path});
    server.ask("worktree.create", repository.params(ask));
    assert_eq!(repository.git(&["rev-parse", "old"]), first);
    assert_eq!(repository.git(&["log", "-1", "--format=%s", "main"]), "second\n");
    // Git's own variables of another repository do not lead astray.
    let mut env = environment(&repository.home);
    env.insert("GIT_DIR".into(), "/nowhere".into());
    let found = server.ask("worktree.list", json!({"cwd": path, "env": env}));
    assert_eq!(found["worktrees"].as_array().unwrap().len(), 3);
}

#[test]
fn the_verbs_speak_to_people() {
    let repository = Repository::new();
    let home = &repository.home;
    let server = Server::start(home);
    let run = |words: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_signaltty"));
        command.env_clear().envs(environment(home)).current_dir(&repository.dir);
        command.args(["--no-start", "--socket"]).arg(home.socket());
        let done = command.arg("worktree").args(words).output().unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        (done.status.code().unwrap(), text(done.stdout), text(done.stderr))
    };
    let made = repository.dir.with_file_name("api.fix");
    let at = |path: &Path| path.display().to_string();
    assert_eq!(run(&["create", "fix"]), (0, format!("{}\n", at(&made)), String::new()));
    let (code, pane, _) = run(&["open", "../api.fix"]);
    assert_eq!((code, pane.trim()), (0, server.panes()[0]["id"].as_str().unwrap()));
    let listed = format!("{}  main\n{}  fix  in api-fix\n", at(&repository.dir), at(&made));
    assert_eq!(run(&["list"]), (0, listed, String::new()));
    let (code, _, said) = run(&["remove", "fix"]);
    assert_eq!(code, 1);
    assert!(said.contains("in use by api-fix"), "{said}");
    let (code, _, said) = run(&["remove", "fiks"]);
    assert_eq!(code, 1);
    assert!(said.contains("did you mean fix?"), "{said}");
    server.ask("workspace.close", json!({"workspace": "api-fix"}));
    assert_eq!(run(&["remove", "fix"]), (0, String::new(), String::new()));
    assert!(!made.exists());
}

#[test]
fn every_way_to_be_refused_is_told() {
    let repository = Repository::new();
    let home = &repository.home;
    let server = Server::start(home);
    for branch in ["locked", "dirty", "used", "a/same", "b/same"] {
        repository.create(&server, branch);
    }
    let place = |branch: &str| {
        let list = repository.list(&server);
        let node = list.iter().find(|node| node["branch"] == branch).unwrap();
        PathBuf::from(node["path"].as_str().unwrap())
    };
    repository.git(&["worktree", "lock", place("locked").to_str().unwrap()]);
    fs::write(place("dirty").join("new"), "text").unwrap();
    repository.open(&server, "used");
    let mut said = Said::new(home);
    said.hide(&fs::canonicalize(home.path("")).unwrap().display().to_string(), "HOME");
    let mut refused = |method: &str, more: Value| {
        let params = repository.params(more.clone());
        let answer = server.call(method, params);
        // What Git says is Git's.
        if let Err(failure) = &answer
            && let Some(stderr) = failure.details["stderr"].as_str()
        {
            said.hide(stderr, "WHAT GIT SAID");
            said.hide(&json!(stderr).to_string(), "\"WHAT GIT SAID\"");
        }
        said.refused(&format!("{method} {more}"), answer);
    };
    for worktree in ["main", "locked", "dirty", "used", "usd"] {
        refused("worktree.remove", json!({"worktree": worktree}));
    }
    refused("worktree.open", json!({"worktree": "used"}));
    refused("worktree.create", json!({"branch": "a..b"}));
    refused("worktree.create", json!({"branch": "used", "from": "main"}));
    refused("worktree.create", json!({"branch": "new", "path": "relative"}));
    refused("worktree.create", json!({"branch": "new", "path": place("used")}));
    refused("worktree.list", json!({"cwd": home.path("")}));
    refused("worktree.list", json!({"cwd": repository.dir, "env": {"PATH": "/nowhere"}}));
    crate::codes::compare("checkouts", &said);
}

#[test]
fn a_refused_checkout_leaves_no_branch_behind() {
    let repository = Repository::new();
    let server = Server::start(&repository.home);
    let there = repository.dir.with_file_name("api.zz");
    fs::create_dir(&there).unwrap();
    fs::write(there.join("precious"), "").unwrap();
    let before = repository.branches();
    let ask = repository.params(json!({"branch": "zz"}));
    let refused = server.call("worktree.create", ask).unwrap_err();
    assert_eq!(refused.code, "GIT_FAILED", "{refused:?}");
    assert_eq!(repository.branches(), before);
    // One that was there stays.
    repository.git(&["branch", "zz"]);
    let ask = repository.params(json!({"branch": "zz"}));
    assert_eq!(server.call("worktree.create", ask).unwrap_err().code, "GIT_FAILED");
    assert!(repository.branches().contains("zz"));
    assert!(there.join("precious").exists());
}

#[test]
fn s0_44_a_checkout_whose_hook_fails_is_there_and_says_so() {
    let repository = Repository::new();
    let server = Server::start(&repository.home);
    let hook = repository.dir.join(".git/hooks/post-checkout");
    fs::create_dir_all(hook.parent().unwrap()).unwrap();
    fs::write(&hook, "#!/bin/sh\necho no lfs here >&2; exit 1\n").unwrap();
    fs::set_permissions(&hook, fs::Permissions::from_mode(0o755)).unwrap();
    let made = server.ask("worktree.create", repository.params(json!({"branch": "hooked"})));
    assert_eq!((&made["branch"], &made["locked"]), (&json!("hooked"), &Value::Null), "{made}");
    assert!(made["remark"].as_str().unwrap().contains("no lfs here"), "{made}");
    assert!(Path::new(made["path"].as_str().unwrap()).join("file").exists());
    assert!(repository.list(&server).iter().any(|node| node["path"] == made["path"]));
    // Once more it is there already, and stays.
    let again = repository.params(json!({"branch": "hooked"}));
    assert_eq!(server.call("worktree.create", again).unwrap_err().code, "GIT_FAILED");
    assert!(repository.branches().contains("hooked"));
    assert!(Path::new(made["path"].as_str().unwrap()).join("file").exists());
}
