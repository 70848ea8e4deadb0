//! `integration`: hooks in a person's own files, and what they add for an agent
//! that is typed into a shell.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

use crate::support::home::files_below;
use crate::support::{Home, Server, wait_for, wait_until};

const SETTINGS: &str = ".claude/settings.json";

/// A person's settings with hooks of other tools.
const FOREIGN: &str = r#"{
    "zeta": 1.50, "hooks": {
        "SessionStart": [
            {"hooks": [{"type": "command", "command": "echo a"}]},
            {"matcher": "startup", "hooks": [{"command": "echo b", "type": "command"}]}
        ],
        "PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "guard"}]}]
    },
    "model": "x"}
"#;

/// What `signaltty integration` says, and how it ended.
fn integration(home: &Home, words: &[&str]) -> (i32, Value) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_signaltty"));
    command.arg("--json").arg("integration").args(words);
    command.env_clear().env("HOME", home.path("")).env("PATH", "/usr/bin:/bin");
    let ended = command.output().unwrap();
    let said = serde_json::from_slice(&ended.stdout)
        .unwrap_or_else(|error| panic!("{error}: {:?}", String::from_utf8_lossy(&ended.stdout)));
    (ended.status.code().unwrap(), said)
}

/// As [`integration`] for one agent, where it must do.
fn done(home: &Home, verb: &str, agent: &str) -> Value {
    let (code, said) = integration(home, &[verb, agent]);
    assert_eq!(code, 0, "{said}");
    said["integrations"][0].clone()
}

fn with_settings(text: &str) -> (Home, PathBuf) {
    let home = Home::new();
    let path = home.path(SETTINGS);
    fs::create_dir(home.path(".claude")).unwrap();
    fs::write(&path, text).unwrap();
    (home, path)
}

/// Everything by which a write would show.
fn look(dir: &Path) -> BTreeMap<PathBuf, (u64, u32, Vec<u8>)> {
    let files = files_below(dir).into_iter();
    let about = |path: &Path| fs::symlink_metadata(path).unwrap();
    files
        .map(|(path, bytes)| {
            let found = about(&dir.join(&path));
            (path, (found.ino(), found.mode(), bytes))
        })
        .collect()
}

#[test]
fn d12_settings_that_turn_all_hooks_off_are_named() {
    let (home, path) = with_settings("{\"disableAllHooks\": true}\n");
    for (verb, what) in [("status", "before"), ("install", "after"), ("status", "later")] {
        let said = done(&home, verb, "claude");
        assert_eq!(said["state"], "turned_off", "{what}: {said}");
        assert!(said["detail"].as_str().unwrap().contains("disableAllHooks"), "{said}");
        assert_eq!(said["file"], path.display().to_string());
    }
}

#[test]
fn c109_an_install_keeps_what_is_there_and_a_second_one_writes_nothing() {
    let (home, path) = with_settings(FOREIGN);
    let said = done(&home, "install", "claude");
    assert_eq!((&said["state"], &said["done"]), (&json!("installed"), &json!("installed")));
    let backup = said["backup"].as_str().unwrap();
    assert_eq!(fs::read_to_string(backup).unwrap(), FOREIGN);
    let text = fs::read_to_string(&path).unwrap();
    let mut value: Value = serde_json::from_str(&text).unwrap();
    let hooks = value["hooks"].as_object_mut().unwrap();
    for event in ["SessionEnd", "UserPromptSubmit", "PermissionRequest", "Notification", "Stop"] {
        let ours = hooks.remove(event).unwrap();
        let command = ours[0]["hooks"][0]["command"].as_str().unwrap();
        assert!(command.contains(" hook claude "), "{command}");
    }
    assert_eq!(
        hooks["SessionStart"].as_array_mut().unwrap().pop().unwrap()["hooks"][0]["type"],
        "command"
    );
    assert_eq!(value, serde_json::from_str::<Value>(FOREIGN).unwrap());

    let before = look(&home.path(".claude"));
    let said = done(&home, "install", "claude");
    assert_eq!(said["done"], "was installed already");
    assert_eq!(look(&home.path(".claude")), before);
    assert_eq!(done(&home, "status", "claude")["state"], "installed");
}

#[test]
fn c110_an_uninstall_gives_back_the_original_and_takes_nothing_of_others() {
    let (home, path) = with_settings(FOREIGN);
    done(&home, "install", "claude");
    assert_eq!(done(&home, "uninstall", "claude")["done"], "removed");
    assert_eq!(fs::read_to_string(&path).unwrap(), FOREIGN);
    assert_eq!(look(&home.path(".claude")).len(), 1, "the backup is of no use any more");
    assert_eq!(done(&home, "uninstall", "claude")["done"], "was not installed");

    // What a person changed meanwhile stays, and a backup is kept.
    done(&home, "install", "claude");
    let changed =
        fs::read_to_string(&path).unwrap().replace("\"model\": \"x\"", "\"model\": \"y\"");
    fs::write(&path, &changed).unwrap();
    let said = done(&home, "uninstall", "claude");
    assert_eq!(fs::read_to_string(said["backup"].as_str().unwrap()).unwrap(), changed);
    let expected = FOREIGN.replace("\"model\": \"x\"", "\"model\": \"y\"");
    let value = |text: &str| serde_json::from_str::<Value>(text).unwrap();
    assert_eq!(value(&fs::read_to_string(&path).unwrap()), value(&expected));

    // What was made is removed, and a file of somebody else in its place is not.
    for (agent, file) in
        [("cursor", ".cursor/hooks.json"), ("opencode", ".config/opencode/plugin/signaltty.js")]
    {
        let file = home.path(file);
        done(&home, "install", agent);
        assert!(file.is_file());
        done(&home, "uninstall", agent);
        assert!(!file.exists(), "{agent}");
    }
    let plugin = home.path(".config/opencode/plugin/signaltty.js");
    fs::write(&plugin, "// mine").unwrap();
    assert_eq!(integration(&home, &["install", "opencode"]).0, 1);
    assert_eq!(done(&home, "uninstall", "opencode")["done"], "was not installed");
    assert_eq!(fs::read_to_string(&plugin).unwrap(), "// mine");
}

#[test]
fn c112_an_entry_that_a_person_gave_another_path_is_ours_still() {
    let (home, path) = with_settings(FOREIGN);
    done(&home, "install", "claude");
    let installed = fs::read_to_string(&path).unwrap();
    let ours = format!("'{}'", env!("CARGO_BIN_EXE_signaltty"));
    for other in ["$HOME/bin/signaltty", "~/bin/signaltty"] {
        let edited = installed.replace(&ours, other);
        assert_ne!(edited, installed);
        fs::write(&path, &edited).unwrap();
        assert_eq!(done(&home, "status", "claude")["state"], "changed");
        assert_eq!(done(&home, "install", "claude")["done"], "was installed already");
        assert_eq!(fs::read_to_string(&path).unwrap(), edited);
    }
    done(&home, "uninstall", "claude");
    assert!(!fs::read_to_string(&path).unwrap().contains("signaltty"));
}

#[test]
fn c113_links_modes_comments_and_line_ends_stay() {
    let text = "\u{feff}// mine\r\n{\r\n  \"a\": 1, // one\r\n}\r\n";
    let (home, path) = with_settings(text);
    let target = home.path("dotfiles/claude.json");
    fs::create_dir(home.path("dotfiles")).unwrap();
    fs::rename(&path, &target).unwrap();
    fs::set_permissions(&target, fs::Permissions::from_mode(0o640)).unwrap();
    symlink("../dotfiles/claude.json", &path).unwrap();
    done(&home, "install", "claude");
    let is_as_before = || {
        assert_eq!(fs::read_link(&path).unwrap(), Path::new("../dotfiles/claude.json"));
        assert_eq!(fs::metadata(&target).unwrap().mode() & 0o7777, 0o640);
        assert_eq!(files_below(&home.path("dotfiles")).len(), 1, "nothing is left beside it");
    };
    is_as_before();
    let installed = fs::read_to_string(&target).unwrap();
    assert!(installed.starts_with("\u{feff}// mine\r\n"), "{installed:?}");
    assert!(installed.contains("\"a\": 1, // one\r\n") && installed.contains("hook claude"));
    assert_eq!(installed.matches('\n').count(), installed.matches("\r\n").count());
    done(&home, "uninstall", "claude");
    is_as_before();
    assert_eq!(fs::read_to_string(&target).unwrap(), text);
}

#[test]
fn c113_what_cannot_be_merged_is_refused_and_not_touched() {
    let cases: [(&str, &[u8], &str); 6] = [
        ("no bytes", b"", "is empty; remove it"),
        ("no JSON", b"{\"a\": ", "is not valid JSON"),
        ("a list", b"[]\n", "has a list where an object belongs"),
        ("not UTF-8", b"{\"a\": \"\xff\"}", "is not UTF-8"),
        ("hooks of another shape", b"{\"hooks\": []}", "where an object belongs"),
        ("read-only", b"{}\n", "is read-only; make it writable"),
    ];
    for (what, bytes, says) in cases {
        let (home, path) = with_settings("");
        fs::write(&path, bytes).unwrap();
        if what == "read-only" {
            fs::set_permissions(&path, fs::Permissions::from_mode(0o444)).unwrap();
        }
        let before = look(&home.path(".claude"));
        let (code, said) = integration(&home, &["install", "claude"]);
        assert_eq!(code, 1, "{what}: {said}");
        let message = said["error"]["message"].as_str().unwrap();
        assert!(message.contains(says) && message.contains(SETTINGS), "{what}: {message}");
        assert_eq!(look(&home.path(".claude")), before, "{what}");
    }
    // A link to nothing, and what is no file.
    let home = Home::new();
    fs::create_dir(home.path(".claude")).unwrap();
    symlink("nowhere", home.path(SETTINGS)).unwrap();
    assert_eq!(integration(&home, &["install", "claude"]).0, 1);
    assert!(!home.path(".claude/nowhere").exists());
    fs::create_dir_all(home.path(".cursor/hooks.json")).unwrap();
    assert_eq!(integration(&home, &["install", "cursor"]).0, 1);
    let (code, said) = integration(&home, &["status"]);
    assert_eq!((code, said["integrations"].as_array().unwrap().len()), (0, 5));
    assert_eq!(said["integrations"][0]["state"], "unreadable");
}

#[test]
fn status_says_what_works_without_hooks_and_what_nobody_ran() {
    let home = Home::new();
    let codex = done(&home, "status", "codex");
    assert_eq!(codex["state"], "nothing_to_install");
    assert!(codex["without"].as_str().unwrap().contains("codex --no-daemon"));
    let cursor = done(&home, "status", "cursor");
    assert!(cursor["note"].as_str().unwrap().contains("not run"));
    let (code, said) = integration(&home, &["install", "nonsense"]);
    assert_eq!(code, 2);
    assert!(said["error"]["message"].as_str().unwrap().contains("opencode"));
    assert!(files_below(&home.path("")).keys().all(|file| !file.starts_with(".claude")));
}

/// An agent without a list of what runs: it passes each line that it reads to
/// the hook that was installed for it.
const AGENT: &str = r#"
case $1 in
    opencode) hook="$(sed -n 's/^const PROGRAM = \(.*\);$/\1/p' "$HOME/.config/opencode/plugin/signaltty.js") hook opencode --owner=signaltty-integration" ;;
    cursor-agent) file=$HOME/.cursor/hooks.json ;;
    claude) file=$HOME/.claude/settings.json CLAUDE_PID=$$; export CLAUDE_PID ;;
esac
[ -z "$file" ] || hook=$(sed -n 's/.*"command": "\(.*\)",\{0,1\}$/\1/p' "$file" | head -n 1)
echo "agent ready"
n=0
while read -r line; do
    case $line in
        debug\ *) printf '%s' "${line#debug }" | "$SIGNALTTY" hook "$1" --owner=signaltty-integration --debug ;;
        *) printf '%s' "$line" | /bin/sh -c "$hook" ;;
    esac
    n=$((n + 1)); echo "told $n: $?"
done
"#;

struct Stage {
    home: Home,
    server: Server,
}

impl Stage {
    fn new(program: &str) -> Self {
        let home = Home::new();
        fs::create_dir(home.path("bin")).unwrap();
        let body = home.path("bin/agent.bash");
        fs::write(&body, AGENT).unwrap();
        let start =
            format!("#!/bin/bash\nexec -a {program} /bin/bash {} {program}\n", body.display());
        fs::write(home.path("bin").join(program), start).unwrap();
        let executable = fs::Permissions::from_mode(0o755);
        fs::set_permissions(home.path("bin").join(program), executable).unwrap();
        let server = Server::start(&home);
        Self { home, server }
    }

    fn pane(&self, argv: &[&str], shows: &str) -> String {
        let env = json!({
            "PATH": format!("{}:/usr/bin:/bin", self.home.path("bin").display()),
            "HOME": self.home.path(""),
            "SIGNALTTY": env!("CARGO_BIN_EXE_signaltty"),
            "PS1": "ready> ",
        });
        let ask = json!({"cwd": self.home.work(), "argv": argv, "env": env});
        let made = self.server.ask("workspace.new", ask);
        let pane = made["pane_id"].as_str().unwrap().to_owned();
        self.server.wait_text(&pane, shows);
        pane
    }

    /// The agent, typed into a shell.
    fn typed(&self, program: &str) -> String {
        let pane = self.pane(&["/bin/bash", "--norc", "--noprofile", "-i"], "ready>");
        self.server.type_line(&pane, program);
        self.server.wait_text(&pane, "agent ready");
        pane
    }

    fn wait_agent(&self, pane: &str, what: &str, is: impl Fn(&Value) -> bool) -> Value {
        wait_for(what, || Some(self.server.pane(pane)).filter(|pane| is(pane)))
    }
}

#[test]
fn d22_the_installed_hooks_show_the_conversation_of_an_agent_in_a_shell() {
    const OPENCODE: &str = "ses_aaaaaaaaaaaaaaaaaaaaaaaaaa";
    const CURSOR: &str = "aaaaaaaa-0000-4000-8000-000000000001";
    for (program, kind, id, begins, ends) in [
        (
            "opencode",
            "opencode",
            OPENCODE,
            json!({"hook_event_name": "session.status", "session_id": OPENCODE, "status": "busy"}),
            json!({"hook_event_name": "session.idle", "session_id": OPENCODE}),
        ),
        (
            "cursor-agent",
            "cursor",
            CURSOR,
            json!({"hook_event_name": "beforeSubmitPrompt", "conversation_id": CURSOR}),
            json!({"hook_event_name": "stop", "conversation_id": CURSOR}),
        ),
    ] {
        let stage = Stage::new(program);
        done(&stage.home, "install", kind);
        let pane = stage.typed(program);
        let seen = stage.wait_agent(&pane, "the agent", |pane| pane["agent"]["kind"] == kind);
        assert_eq!(seen["agent"]["agent_session_id"], Value::Null);
        let remedy = seen["agent"]["integration"].as_str().unwrap();
        assert!(remedy.contains(&format!("signaltty integration install {kind}")), "{remedy}");
        stage.server.type_line(&pane, &begins.to_string());
        stage.server.wait_text(&pane, "told 1: 0");
        let shown = stage
            .wait_agent(&pane, "the conversation", |pane| pane["agent"]["agent_session_id"] == id);
        assert_eq!(shown["lifecycle"], "working", "{shown}");
        assert_eq!(shown["agent"]["integration"], Value::Null, "{shown}");
        stage.server.type_line(&pane, &ends.to_string());
        stage.wait_agent(&pane, "the end of the turn", |pane| pane["lifecycle"] == "done");
    }
}

#[test]
fn d12_a_permission_of_a_claude_in_a_shell_is_answered_and_of_a_launch_asked_once() {
    let ask = json!({
        "hook_event_name": "PermissionRequest", "session_id": "11111111-1111-4111-8111-111111111111",
        "cwd": "/", "tool_name": "Bash", "tool_input": {"command": "touch made"},
    });
    let stage = Stage::new("claude");
    done(&stage.home, "install", "claude");
    let pane = stage.typed("claude");
    stage.server.type_line(&pane, &ask.to_string());
    wait_until("the question", || !stage.server.pane(&pane)["decision"].is_null());
    let asked = stage.server.pane(&pane)["decision_id"].clone();
    let answer = json!({"pane": pane, "decision_id": asked, "answer": "allow"});
    stage.server.ask("pane.answer", answer);
    let text = stage.server.wait_text(&pane, "told 1: 0");
    assert!(text.contains("\"behavior\":\"allow\""), "{text}");

    // One that is the pane's own program has hooks for its launch.
    let pane = stage.pane(&["claude"], "agent ready");
    stage.server.type_line(&pane, &format!("debug {ask}"));
    let text = stage.server.wait_text(&pane, "told 1: 0");
    assert!(text.replace('\n', "").contains("hooks of its own"), "{text}");
    assert_eq!(stage.server.pane(&pane)["decision"], Value::Null);
}
