//! Agents that a person types into a shell (D-22), with scripted programs whose
//! names and records are those of the real ones.

mod carried;
mod wrapped;

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::support::{Home, Server, wait_for, wait_until};

const A: &str = "11111111-1111-4111-8111-111111111111";
const B: &str = "22222222-2222-4222-8222-222222222222";

/// Keeps a list of what runs and a record as Claude does, and reports its start
/// through the hook command of its plugin where it was given one. `quit`
/// ends it, `run LINE` runs a command, `clear NEXT` begins another conversation, `die` is a crash.
const CLAUDE: &str = r#"
id=${FAKE_ID:-} source=startup loaded= plugin=
while [ $# -gt 0 ]; do
    case $1 in
        --resume) id=$2 source=resume loaded=', "context_tokens": 9'; shift 2 ;;
        --plugin-dir) plugin=$2; shift 2 ;;
        *) shift ;;
    esac
done
read -r -a stat <<<"$(sed 's/.*) //' /proc/$$/stat)"
mkdir -p "$CLAUDE_CONFIG_DIR/sessions"
list() {
    printf '{"pid": %s, "sessionId": "%s", "cwd": "%s", "procStart": "%s", "kind": "interactive", "status": "%s"}' \
        $$ "$id" "$PWD" "${stat[19]}" "$1" >"$CLAUDE_CONFIG_DIR/new.$$"
    mv "$CLAUDE_CONFIG_DIR/new.$$" "$CLAUDE_CONFIG_DIR/sessions/$$.json"
}
place() {
    dir=$CLAUDE_CONFIG_DIR/projects/${PWD//[^a-zA-Z0-9]/-}
    mkdir -p "$dir"
    record=$dir/$id.jsonl
}
add() {
    n=$((n + 1))
    printf '{"type":"%s","uuid":"%08d-0000-4000-8000-%012d","parentUuid":%s,"message":{"role":"%s","content":"%s"},"cwd":"%s","sessionId":"%s","version":"0"}\n' \
        "$1" $$ "$n" "$parent" "$1" "$2" "$PWD" "$id" >>"$record"
    parent=$(printf '"%08d-0000-4000-8000-%012d"' $$ "$n")
}
n=0 parent=null
place
[ ! -f "$record" ] || parent=$(tail -n 1 "$record" | sed 's/.*"uuid":\("[^"]*"\).*/\1/')
list idle
if [ -f "$plugin/.claude-plugin/plugin.json" ]; then
    printf '{"hook_event_name": "SessionStart", "session_id": "%s", "source": "%s", "cwd": "%s"%s}' \
        "$id" "$source" "$PWD" "$loaded" | CLAUDE_PID=$$ "$SIGNALTTY" hook claude
fi
echo "claude $source"
while read -r line; do
    case $line in
        quit) rm "$CLAUDE_CONFIG_DIR/sessions/$$.json"; exit 0 ;;
        die) kill -9 $$ ;;
        run\ *) eval "${line#run }" ;;
        clear*) id=${line#clear } parent=null; place; list idle; echo cleared ;;
        *) list busy; add user "$line"; add assistant "heard"; list idle; echo "heard $line" ;;
    esac
done
"#;

/// Holds the lock of its conversation and keeps its rollout as Codex does. As a
/// client of a shared server it does neither; the server, which is its child in
/// a session of its own, holds the lock.
const CODEX: &str = r#"
id=$FAKE_ID
case " $* " in
    *' --no-daemon '*) ;;
    *)
        mkdir -p "$CODEX_HOME/thread-writer-locks"
        exec 8>"$CODEX_HOME/thread-writer-locks/$id.lock"
        flock -n 8
        setsid /bin/bash -c 'exec -a "$0" /bin/bash -c "while [ -d $HOME ]; do sleep 0.1; done"' "$CODEX_HOME/packages/app-server-daemon/codex" &
        exec 8>&-
        echo 'codex elsewhere'; while read -r line; do [ "$line" != quit ] || exit 0; echo "heard $line"; done; exit ;;
esac
[ "$1" != resume ] || for id; do :; done
mkdir -p "$CODEX_HOME/thread-writer-locks" "$CODEX_HOME/sessions/2026/01/01"
exec 8>"$CODEX_HOME/thread-writer-locks/$id.lock"
flock -n 8 || { echo 'in use'; exit 1; }
record=$CODEX_HOME/sessions/2026/01/01/rollout-2026-01-01T00-00-00-$id.jsonl
exec 9>>"$record"
n=$(wc -l <"$record")
add() { printf '{"timestamp":"2026-01-01T00:00:%02d.000Z","ordinal":%d,"type":"%s","payload":%s}\n' $n $n "$1" "$2" >&9; n=$((n + 1)); }
[ "$n" -gt 0 ] || add session_meta "{\"session_id\":\"$id\",\"id\":\"$id\",\"timestamp\":\"2026-01-01T00:00:00.000Z\",\"cwd\":\"$PWD\",\"originator\":\"codex-tui\",\"cli_version\":\"0\",\"source\":\"cli\"}"
echo 'codex here'
while read -r line; do
    [ "$line" != quit ] || exit 0
    add event_msg '{"type":"task_started","turn_id":"t"}'
    add response_item "{\"type\":\"message\",\"role\":\"user\",\"content\":[{\"type\":\"input_text\",\"text\":\"$line\"}]}"
    add event_msg "{\"type\":\"user_message\",\"message\":\"$line\"}"
    add event_msg '{"type":"task_complete","turn_id":"t","last_agent_message":"heard"}'
    echo "heard $line"
done
"#;

pub struct Stage {
    pub home: Home,
    pub server: Server,
}

impl Stage {
    pub fn new() -> Self {
        Self::configured("")
    }

    pub fn configured(config: &str) -> Self {
        Self::made(config, None)
    }

    fn made(config: &str, program: Option<&str>) -> Self {
        let home = Home::new();
        fs::write(home.path("config.toml"), config).unwrap();
        fs::create_dir(home.path("bin")).unwrap();
        for (name, script) in [("claude", CLAUDE), ("codex", CODEX)] {
            let body = home.path(&format!("bin/{name}.bash"));
            fs::write(&body, script).unwrap();
            // As a program that is no script shows itself.
            let start =
                format!("#!/bin/bash\nexec -a {name} /bin/bash {} \"$@\"\n", body.display());
            let program = home.path(&format!("bin/{name}"));
            fs::write(&program, start).unwrap();
            fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        }
        let server = Server::start_with(&home, |command| {
            command.arg("--config").arg(home.path("config.toml"));
            if let Some(program) = program {
                from_elsewhere(command, &home.path(program));
            }
        });
        Self { home, server }
    }

    /// With a server whose program is somewhere else.
    pub fn started_from(program: &str) -> Self {
        Self::made("", Some(program))
    }

    /// What `signaltty` says inside of a pane, in JSON.
    pub fn ask_inside(&self, pane: &str, prefix: &str, words: &str) -> Value {
        let (to, new) = (self.home.path("said"), self.home.path("said.new"));
        let (to, new) = (to.display(), new.display());
        let line =
            format!("{prefix}\"$SIGNALTTY\" --json --no-start {words} >{new} 2>&1; mv {new} {to}");
        self.server.type_line(pane, &line);
        let said = wait_for("what it says", || fs::read_to_string(self.home.path("said")).ok());
        fs::remove_file(self.home.path("said")).unwrap();
        serde_json::from_str(&said).unwrap_or_else(|error| panic!("{error}: {said}"))
    }

    pub fn env(&self) -> Value {
        json!({
            "PATH": format!("{}:/usr/bin:/bin", self.home.path("bin").display()),
            "HOME": self.home.path(""),
            "CLAUDE_CONFIG_DIR": self.home.path("claude"),
            "CODEX_HOME": self.home.path("codex"),
            "SIGNALTTY": env!("CARGO_BIN_EXE_signaltty"),
            "PS1": "ready> ",
        })
    }

    /// A shell with job control, as a person has it.
    pub fn shell(&self) -> String {
        let argv = ["/bin/bash", "--norc", "--noprofile", "-i"];
        let ask = json!({"cwd": self.home.work(), "argv": argv, "env": self.env()});
        let made = self.server.ask("workspace.new", ask);
        let pane = made["pane_id"].as_str().unwrap().to_owned();
        self.server.wait_text(&pane, "ready>");
        pane
    }

    /// Types a line and waits for what it leads to.
    pub fn say(&self, pane: &str, line: &str, answer: &str) {
        self.server.type_line(pane, line);
        self.server.wait_text(pane, answer);
    }

    pub fn agent(&self, pane: &str) -> Value {
        self.server.pane(pane)["agent"].clone()
    }

    pub fn wait_agent(&self, pane: &str, what: &str, is: impl Fn(&Value) -> bool) -> Value {
        wait_for(what, || Some(self.agent(pane)).filter(|agent| is(agent)))
    }

    pub fn wait_conversation(&self, pane: &str, kind: &str, id: &str) {
        self.wait_agent(pane, &format!("{kind} {id}"), |agent| {
            agent["kind"] == kind && agent["agent_session_id"] == id && agent["place"] == "shell"
        });
    }

    /// Kills the server and starts another, once everything is saved.
    pub fn crash(&mut self, panes: &[&str]) {
        self.crash_into(panes, |_| {});
    }

    /// As [`crash`](Self::crash), into a server that the test changes.
    pub fn crash_into(&mut self, panes: &[&str], change: impl FnOnce(&mut Command)) {
        for pane in panes {
            wait_until("the anchor", || {
                let found = fs::read(self.home.snapshot_path()).ok();
                let found: Value =
                    found.map_or(Value::Null, |b| serde_json::from_slice(&b).unwrap());
                let panes = found["panes"].as_array().cloned().unwrap_or_default();
                let anchored = |one: &Value| !one["agent"]["conversation"]["anchor"].is_null();
                panes.iter().any(|one| one["id"] == *pane && anchored(one))
            });
        }
        self.server.wait_saved();
        self.server.kill9();
        self.server = Server::start_with(&self.home, change);
    }

    pub fn resume(&self, pane: &str) -> Value {
        self.server.ask("pane.resume", json!({"pane": pane, "env": self.env()}))
    }
}

/// Has a command run a copy of its program.
fn from_elsewhere(command: &mut Command, program: &Path) {
    fs::create_dir_all(program.parent().unwrap()).unwrap();
    if fs::hard_link(command.get_program(), program).is_err() {
        fs::copy(command.get_program(), program).unwrap();
    }
    let mut other = Command::new(program);
    let set = command.get_envs().filter_map(|(name, value)| Some((name, value?)));
    other.args(command.get_args()).current_dir("/").env_clear().envs(set);
    other.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
    *command = other;
}

#[test]
fn d22_claude_typed_by_hand_is_found_and_comes_back_verified() {
    let mut stage = Stage::new();
    let pane = stage.shell();
    stage.say(&pane, &format!("FAKE_ID={A} claude"), "claude startup");
    stage.wait_agent(&pane, "claude", |agent| agent["kind"] == "claude");
    stage.say(&pane, "hello", "heard hello");
    stage.wait_conversation(&pane, "claude", A);
    stage.crash(&[&pane]);
    assert_eq!(stage.server.pane(&pane)["state"], "resumable");
    let resumed = stage.resume(&pane);
    assert_eq!(resumed["verdict"], "verified", "{resumed}");
    stage.say(&pane, "again", "heard again");
    // It runs in the slot itself. At its end the shell is offered, not started.
    stage.server.type_line(&pane, "quit");
    stage.server.wait_state(&pane, "exited");
    let restarted = json!({"pane": pane, "env": stage.env()});
    stage.server.ask("pane.restart", restarted);
    stage.say(&pane, "echo a-$((1+1))-b", "a-2-b");
    assert_eq!(stage.agent(&pane)["place"], "left");
}

#[test]
fn d22_an_agent_below_a_script_without_job_control_is_found() {
    let stage = Stage::new();
    let script = format!("FAKE_ID={A} claude; echo ended");
    let argv = json!(["/bin/sh", "-c", script]);
    let ask = json!({"cwd": stage.home.work(), "argv": argv, "env": stage.env()});
    let pane = stage.server.ask("workspace.new", ask)["pane_id"].as_str().unwrap().to_owned();
    stage.server.wait_text(&pane, "claude startup");
    stage.say(&pane, "hello", "heard hello");
    stage.wait_conversation(&pane, "claude", A);
}

#[test]
fn d23_c058_c062_a_conversation_that_went_elsewhere_comes_back_there_or_not_at_all() {
    let mut stage = Stage::new();
    let pane = stage.shell();
    let checkout = stage.home.path("checkout");
    fs::create_dir(&checkout).unwrap();
    stage.say(&pane, &format!("FAKE_ID={A} claude"), "claude startup");
    stage.say(&pane, "hello", "heard hello");
    stage.wait_conversation(&pane, "claude", A);
    stage.server.type_line(&pane, &format!("run cd {}", checkout.display()));
    stage.say(&pane, &format!("clear {B}"), "cleared");
    stage.say(&pane, "anew", "heard anew");
    stage.wait_conversation(&pane, "claude", B);
    stage.crash(&[&pane]);
    let resumed = stage.resume(&pane);
    assert_eq!(resumed["verdict"], "verified", "{resumed}");
    stage.say(&pane, "run echo in $(basename $PWD).", "in checkout.");
    stage.crash(&[&pane]);
    fs::remove_dir(&checkout).unwrap();
    let ask = json!({"pane": pane, "env": stage.env()});
    let refused = stage.server.call("pane.resume", ask).unwrap_err();
    assert_eq!(refused.reason(), "cwd_missing", "{refused:?}");
    assert!(refused.message.contains(checkout.to_str().unwrap()), "{refused:?}");
}

#[test]
fn d22_codex_typed_by_hand_is_found_and_comes_back_verified() {
    let mut stage = Stage::new();
    let pane = stage.shell();
    stage.say(&pane, &format!("FAKE_ID={A} codex --no-daemon"), "codex here");
    stage.say(&pane, "hello", "heard hello");
    stage.wait_conversation(&pane, "codex", A);
    assert_eq!(stage.agent(&pane)["integration"], Value::Null);
    stage.crash(&[&pane]);
    let resumed = stage.resume(&pane);
    assert_eq!(resumed["verdict"], "verified", "{resumed}");
}

#[test]
fn d22_a_codex_with_a_shared_server_gets_no_conversation_and_says_what_to_do() {
    let stage = Stage::new();
    // Another pane holds the lock of a conversation in the same home.
    let other = stage.shell();
    stage.say(&other, &format!("FAKE_ID={A} codex --no-daemon"), "codex here");
    stage.say(&other, "hello", "heard hello");
    stage.wait_conversation(&other, "codex", A);
    let pane = stage.shell();
    stage.say(&pane, &format!("FAKE_ID={B} codex"), "codex elsewhere");
    stage.say(&pane, "hello", "heard hello");
    let shown = stage.wait_agent(&pane, "codex", |agent| agent["kind"] == "codex");
    let remedy = shown["integration"].as_str().unwrap();
    assert!(remedy.contains("codex --no-daemon"), "{remedy}");
    stage.say(&pane, "more", "heard more");
    assert_eq!(stage.agent(&pane)["agent_session_id"], Value::Null);
}

#[test]
fn d8_d22_a_pane_whose_agent_ended_is_a_shell_again() {
    for end in ["quit", "die"] {
        let mut stage = Stage::new();
        let pane = stage.shell();
        stage.say(&pane, &format!("FAKE_ID={A} claude"), "claude startup");
        stage.say(&pane, "hello", "heard hello");
        stage.wait_conversation(&pane, "claude", A);
        stage.server.type_line(&pane, end);
        stage.wait_agent(&pane, "the end", |agent| agent["place"] == "left");
        assert_eq!(stage.server.pane(&pane)["lifecycle"], "unknown", "{end}");
        stage.crash(&[&pane]);
        // Nothing of it was open: not by itself, but by hand (D-9).
        assert_eq!(stage.server.pane(&pane)["state"], "restored", "{end}");
        let resumed = stage.resume(&pane);
        assert_eq!(resumed["verdict"], "verified", "{end}: {resumed}");
    }
}

#[test]
fn c028_c029_d22_the_id_is_followed_and_a_second_agent_takes_over() {
    let stage = Stage::new();
    let pane = stage.shell();
    stage.say(&pane, &format!("FAKE_ID={A} claude"), "claude startup");
    stage.say(&pane, "hello", "heard hello");
    stage.wait_conversation(&pane, "claude", A);
    stage.say(&pane, &format!("clear {B}"), "cleared");
    stage.say(&pane, "anew", "heard anew");
    stage.wait_conversation(&pane, "claude", B);
    stage.server.type_line(&pane, "quit");
    stage.wait_agent(&pane, "the end", |agent| agent["place"] == "left");
    stage.say(&pane, &format!("FAKE_ID={A} codex --no-daemon"), "codex here");
    stage.say(&pane, "to codex", "heard to codex");
    stage.wait_conversation(&pane, "codex", A);
}

#[test]
fn c031_d22_agents_in_the_background_or_inside_another_are_nobodys() {
    let stage = Stage::new();
    let pane = stage.shell();
    // It never had the terminal.
    let silent = "while [ -d $HOME ]; do sleep 0.1; done";
    stage.server.type_line(&pane, &format!("FAKE_ID={B} claude < <({silent}) &"));
    wait_until("it to be listed", || listed(&stage.home.path("claude"), B));
    stage.say(&pane, "echo x-$((1+1))-y", "x-2-y");
    // The looks at all this are over when the next agent is seen.
    let mut events = stage.server.events();
    stage.say(&pane, &format!("FAKE_ID={A} codex --no-daemon"), "codex here");
    stage.say(&pane, "to codex", "heard to codex");
    let bound = events.wait("agent.bound", |_| true);
    assert_eq!(bound["agent_session_id"], A, "{bound}");
}

#[test]
fn d22_an_agent_on_another_terminal_or_in_another_session_is_not_the_panes() {
    let stage = Stage::new();
    let config = stage.home.path("claude");
    for wrapped in [
        format!("script -qec 'FAKE_ID={B} exec claude' /dev/null"),
        format!("FAKE_ID={B} setsid -w claude"),
    ] {
        let pane = stage.shell();
        stage.say(&pane, &format!("{wrapped}; echo over-$((1+1))"), "claude startup");
        wait_until("it to be listed", || listed(&config, B));
        let mut events = stage.server.events();
        stage.say(&pane, "hello", "heard hello");
        stage.say(&pane, "quit", "over-2");
        // The looks at all this are over when the next agent is seen.
        stage.say(&pane, &format!("FAKE_ID={A} codex --no-daemon"), "codex here");
        stage.say(&pane, "to codex", "heard to codex");
        let bound = events.wait("agent.bound", |_| true);
        assert_eq!(bound["agent_session_id"], A, "{wrapped}: {bound}");
        stage.server.ask("pane.close", json!({"pane": pane}));
        let _ = fs::remove_dir_all(config.join("sessions"));
    }
}

fn listed(config: &Path, id: &str) -> bool {
    let entries = fs::read_dir(config.join("sessions")).into_iter().flatten().flatten();
    entries
        .into_iter()
        .any(|entry| fs::read_to_string(entry.path()).is_ok_and(|text| text.contains(id)))
}
