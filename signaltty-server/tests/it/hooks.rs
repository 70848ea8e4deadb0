//! Reports of agents: taken from the process that the pane runs, and from
//! nobody else.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::support::home::files_below;
use crate::support::{Client, Home, Server, cli, wait_for, wait_until};

const ID: &str = "11111111-1111-4111-8111-111111111111";

/// Not a test: what the agent below runs to report, as itself or as its hook.
#[test]
#[ignore = "a part of the agent below"]
fn reports_what_the_environment_says() {
    let var = |name: &str| std::env::var(name).unwrap();
    let launch = std::env::var("USE_LAUNCH").unwrap_or_else(|_| var("SIGNALTTY_LAUNCH"));
    let mut hook = json!({"agent": "claude", "launch": launch, "payload": var("PAYLOAD")});
    if std::env::var_os("NESTED").is_some() {
        hook["agent_pid"] = std::process::id().into();
    }
    let answer =
        Client::connect(Path::new(&var("SIGNALTTY_SOCKET"))).call("agent.hook", hook).unwrap();
    let to = var("ANSWER_TO");
    fs::write(format!("{to}.new"), answer.to_string()).unwrap();
    fs::rename(format!("{to}.new"), to).unwrap();
}

/// A `claude` that reports with every line that it reads. The line is shell
/// text that sets variables of the report.
const CLAUDE: &str = r#"#!/bin/sh
echo "$@" > "$OUT/args"
echo "$SIGNALTTY_LAUNCH" > "$OUT/launch"
echo ready
while read -r line; do
    (eval "export $line"; [ -n "$RUN" ] && eval "$RUN" && exit
    "$REPORT" --exact hooks::reports_what_the_environment_says --ignored) >/dev/null
done
"#;

/// The files of launches, wherever they are.
fn launch_files(home: &Home) -> Vec<PathBuf> {
    let named = |path: &PathBuf| path.to_string_lossy().contains("claude-");
    files_below(&home.state().join("run")).into_keys().filter(named).collect()
}

#[test]
fn no_file_of_a_launch_outlives_its_server() {
    let mut claude = Claude::start();
    assert_eq!(launch_files(&claude.home).len(), 1);
    assert!(claude.server.term().success());
    assert_eq!(launch_files(&claude.home), Vec::<PathBuf>::new());

    let mut claude = Claude::start();
    claude.server.ask("server.shutdown", json!({"force": true}));
    claude.server.wait_exit();
    assert_eq!(launch_files(&claude.home), Vec::<PathBuf>::new());

    let mut claude = Claude::start();
    claude.server.kill9();
    assert_eq!(launch_files(&claude.home).len(), 1);
    let _next = Server::start(&claude.home);
    assert_eq!(launch_files(&claude.home), Vec::<PathBuf>::new());
}

struct Claude {
    home: Home,
    server: Server,
    pane: String,
}

impl Claude {
    fn start() -> Self {
        Self::start_as(&["claude"])
    }

    fn start_as(argv: &[&str]) -> Self {
        let home = Home::new();
        let server = Server::start(&home);
        fs::create_dir(home.path("bin")).unwrap();
        let program = home.path("bin/claude");
        fs::write(&program, CLAUDE).unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        let path = format!("{}:/usr/bin:/bin", home.path("bin").display());
        let env = json!({
            "PATH": path,
            "HOME": home.path(""),
            "OUT": home.path(""),
            "REPORT": std::env::current_exe().unwrap(),
            "HOOK": env!("CARGO_BIN_EXE_signaltty"),
            "ANSWER_TO": home.path("answer"),
        });
        let made =
            server.ask("workspace.new", json!({"cwd": home.work(), "argv": argv, "env": env}));
        let pane = made["pane_id"].as_str().unwrap().to_owned();
        server.wait_text(&pane, "ready");
        Self { home, server, pane }
    }

    /// Has the agent report; the server's answer.
    fn report(&self, payload: &Value, more: &str) -> Value {
        let line = format!("PAYLOAD='{payload}' {more}");
        self.server.type_line(&self.pane, &line);
        let answer = wait_for("the answer", || fs::read(self.home.path("answer")).ok());
        fs::remove_file(self.home.path("answer")).unwrap();
        serde_json::from_slice(&answer).unwrap()
    }

    /// Has the agent's hook ask for a permission, and waits until it does. What
    /// the hook prints and how it ended is in files once it ended; its process
    /// is the one that it names first.
    fn asks(&self, command: &str) -> u32 {
        let payload = json!({
            "hook_event_name": "PermissionRequest", "session_id": ID, "cwd": "/",
            "tool_name": "Bash", "tool_input": {"command": command},
        });
        fs::write(self.home.path("payload"), payload.to_string()).unwrap();
        for old in ["printed", "hook-pid"] {
            let _ = fs::remove_file(self.home.path(old));
        }
        let hook = "sh -c \"echo \\$\\$ > $OUT/hook-pid; exec $HOOK hook claude\"";
        let run = format!(
            "RUN='{hook} < $OUT/payload > $OUT/new; echo $? >> $OUT/new; mv $OUT/new $OUT/printed'"
        );
        self.server.type_line(&self.pane, &run);
        wait_until("the question", || !self.server.pane(&self.pane)["decision"].is_null());
        let pid = wait_for("the hook", || fs::read_to_string(self.home.path("hook-pid")).ok());
        pid.trim().parse().unwrap()
    }

    /// Has it ask for one permission, and for another once that is seen and
    /// `$OUT/go` was written to.
    fn asks_twice(&self, commands: [&str; 2]) {
        for (command, name) in commands.iter().zip(["first", "second"]) {
            let payload = json!({
                "hook_event_name": "PermissionRequest", "session_id": ID, "cwd": "/",
                "tool_name": "Bash", "tool_input": {"command": command},
            });
            fs::write(self.home.path(name), payload.to_string()).unwrap();
        }
        let run = "RUN='mkfifo $OUT/go; $HOOK hook claude < $OUT/first > $OUT/first.out & \
                   read x < $OUT/go; $HOOK hook claude < $OUT/second > $OUT/second.out'";
        self.server.type_line(&self.pane, run);
    }

    /// The id of that question, once it is asked.
    fn question(&self, text: &str) -> String {
        wait_until("the question", || self.server.pane(&self.pane)["decision"] == *text);
        self.server.pane(&self.pane)["decision_id"].as_str().unwrap().to_owned()
    }

    /// What the hook printed, and its exit code as the last line.
    fn printed(&self) -> String {
        wait_for("the end of the hook", || fs::read_to_string(self.home.path("printed")).ok())
    }

    /// Decides; the code of what went wrong.
    fn decide(&self, server: &Server, answer: &str) -> Result<(), String> {
        let seen = server.pane(&self.pane)["decision_id"].clone();
        let seen = seen.as_str().unwrap_or("q00000000").to_owned();
        let ask = json!({"pane": self.pane, "decision_id": seen, "answer": answer});
        server.call("pane.answer", ask).map(drop).map_err(|failure| failure.code)
    }

    fn secret(&self) -> String {
        let text = fs::read_to_string(self.home.path("launch")).unwrap();
        text.trim().to_owned()
    }
}

fn event(name: &str) -> Value {
    json!({"hook_event_name": name, "session_id": ID, "source": "startup", "cwd": "/"})
}

#[test]
fn what_an_agent_lacks_to_report_is_in_the_tree_and_in_the_details() {
    let claude = Claude::start_as(&["claude", "--bare"]);
    let (server, pane) = (&claude.server, &claude.pane);
    let info = server.pane(pane);
    let needed = info["agent"]["integration"].as_str().expect("something is needed");
    assert!(needed.contains("--bare"), "{needed}");
    assert_eq!(server.panes()[0]["agent"]["integration"], needed);
    // It is about the process that runs.
    server.ask("pane.terminate", json!({"pane": pane}));
    server.wait_state(pane, "exited");
    assert_eq!(server.panes()[0]["agent"]["integration"], Value::Null);
}

#[test]
fn c031_c118_c119_only_the_panes_own_agent_is_heard_over_the_socket() {
    let claude = Claude::start();
    let (server, pane) = (&claude.server, &claude.pane);
    let untouched = server.pane(pane);
    let from_outside = |launch: &str| {
        let payload = event("SessionStart").to_string();
        let hook = json!({"agent": "claude", "launch": launch, "payload": payload});
        server.ask("agent.hook", hook)
    };
    // The right secret from a process that is none of the pane's.
    let secret = claude.secret();
    let answer = from_outside(&secret);
    assert_eq!(answer["accepted"], false);
    assert!(answer["reason"].as_str().unwrap().contains("not one of the pane's"), "{answer}");
    // A wrong one, from there and from the pane.
    for wrong in [&"0".repeat(32), "", &secret[1..], &format!("{secret}0")] {
        assert_eq!(from_outside(wrong)["accepted"], false, "{wrong:?}");
    }
    let start = event("SessionStart");
    let answer = claude.report(&start, "USE_LAUNCH=00000000000000000000000000000000");
    assert_eq!(answer["accepted"], false);
    // Another agent inside the pane's agent.
    let answer = claude.report(&start, "NESTED=1");
    assert_eq!(answer["accepted"], false);
    assert!(answer["reason"].as_str().unwrap().contains("another agent"), "{answer}");
    // Nothing that could be understood.
    for payload in [json!({}), json!([1]), json!({"hook_event_name": "SessionStart"})] {
        assert_eq!(claude.report(&payload, "")["accepted"], false, "{payload}");
    }
    assert_eq!(server.pane(pane)["agent"], untouched["agent"]);

    assert_eq!(claude.report(&start, ""), json!({"accepted": true}));
    let found = server.pane(pane);
    assert_eq!(found["agent"]["agent_session_id"], ID);
    assert_eq!(found["lifecycle"], "idle");
    claude.report(&event("UserPromptSubmit"), "");
    assert_eq!(server.pane(pane)["lifecycle"], "working");

    // Its launch is over with its process.
    server.ask("pane.send", json!({"pane": pane, "text": "\u{4}"}));
    server.wait_state(pane, "exited");
    let answer = from_outside(&secret);
    assert!(answer["reason"].as_str().unwrap().contains("over"), "{answer}");
}

#[test]
fn d12_hooks_are_set_at_the_launch_and_gone_with_it() {
    let claude = Claude::start();
    let args = fs::read_to_string(claude.home.path("args")).unwrap();
    let plugin = args.trim().strip_prefix("--plugin-dir ").expect("our plugin").to_owned();
    let file = format!("{plugin}/.claude-plugin/plugin.json");
    let mode = fs::metadata(&file).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let manifest: Value = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
    let command = &manifest["hooks"]["SessionStart"][0]["hooks"][0]["command"];
    let expected = format!("'{}' hook claude", env!("CARGO_BIN_EXE_signaltty"));
    assert_eq!(*command, *expected);
    assert!(claude.home.files_with(&claude.secret()).is_empty());
    // Neither of them is part of what is saved or shown.
    let shown = claude.server.pane(&claude.pane);
    assert_eq!(shown["argv"], json!(["claude"]));
    claude.server.ask("pane.terminate", json!({"pane": claude.pane}));
    claude.server.wait_state(&claude.pane, "exited");
    wait_until("the end of the plugin", || !Path::new(&plugin).exists());
}

#[test]
fn d30_messages_of_a_workspace_without_history_stay_off_the_disk() {
    let mut claude = Claude::start();
    let workspace = claude.server.pane(&claude.pane)["workspace_id"].clone();
    claude.server.ask("workspace.set", json!({"workspace": workspace, "history": false}));
    let mut stop = event("Stop");
    stop["last_assistant_message"] = "canary of a message".into();
    assert_eq!(claude.report(&stop, ""), json!({"accepted": true}));
    let shown = claude.server.pane(&claude.pane);
    assert_eq!(shown["last_message"], "canary of a message");
    assert!(claude.server.term().success());
    assert_eq!(claude.home.files_with("canary of a message"), Vec::<PathBuf>::new());
}

#[test]
fn a_permission_is_asked_answered_once_and_printed_by_the_hook() {
    let claude = Claude::start();
    for (answer, behaviour) in [("allow", "allow"), ("deny", "deny")] {
        claude.asks("touch made");
        let shown = claude.server.pane(&claude.pane);
        assert_eq!(shown["decision"], "Bash: touch made");
        assert_eq!(shown["attention"], "permission_required");
        assert_eq!(claude.decide(&claude.server, answer), Ok(()));
        let printed = claude.printed();
        let (output, code) = printed.trim_end().rsplit_once('\n').unwrap();
        assert_eq!(code, "0");
        let output: Value = serde_json::from_str(output).unwrap();
        let specific = &output["hookSpecificOutput"];
        assert_eq!(specific["hookEventName"], "PermissionRequest");
        assert_eq!(specific["decision"]["behavior"], behaviour);
        assert_eq!(claude.server.pane(&claude.pane)["decision"], Value::Null);
        let again = claude.decide(&claude.server, "allow");
        assert_eq!(again, Err("NO_SUCH_DECISION".to_owned()));
    }
}

#[test]
fn s0_42_a_hook_that_went_away_or_was_overtaken_gets_no_yes() {
    let mut claude = Claude::start();
    // Answered in the terminal: the agent ends its hook.
    let hook = claude.asks("touch first");
    let hook = Pid::from_raw(hook.try_into().unwrap()).unwrap();
    kill_process(hook, Signal::KILL).unwrap();
    wait_until("the end of the question", || {
        claude.server.pane(&claude.pane)["decision"].is_null()
    });
    let late = claude.decide(&claude.server, "allow");
    assert_eq!(late, Err("NO_SUCH_DECISION".to_owned()));
    assert_eq!(claude.printed().trim(), "137", "nothing but the exit code");

    // A server that is gone decides nothing, and the next one knows of nothing.
    claude.asks("touch second");
    claude.server.wait_saved();
    claude.server.kill9();
    let next = Server::start(&claude.home);
    let shown = next.pane(&claude.pane);
    assert_eq!(shown["decision"], Value::Null);
    assert_eq!(shown["attention"], "permission_required", "what was asked for is shown");
    assert_eq!(claude.decide(&next, "allow"), Err("NO_SUCH_DECISION".to_owned()));
}

#[test]
fn s0_42_an_answer_to_an_older_question_decides_nothing() {
    let claude = Claude::start();
    claude.asks_twice(["ls -la", "rm -rf home"]);
    let seen = claude.question("Bash: ls -la");
    // While a person reads it, a newer one takes its place.
    fs::write(claude.home.path("go"), "\n").unwrap();
    let newer = claude.question("Bash: rm -rf home");
    let answer = |question: &str| {
        let ask = json!({"pane": claude.pane, "decision_id": question, "answer": "allow"});
        claude.server.call("pane.answer", ask).map(drop).map_err(|failure| failure.code)
    };
    assert_eq!(answer(&seen), Err("QUESTION_CHANGED".to_owned()));
    assert_eq!(claude.server.pane(&claude.pane)["decision"], "Bash: rm -rf home");
    // The command line asks which one is meant, and says what it would be.
    let cli = cli::run(&claude.home, &["answer", &claude.pane, "allow"]);
    let said = String::from_utf8(cli.stderr).unwrap();
    assert_eq!(cli.status.code(), Some(2), "{said}");
    assert!(said.contains("rm -rf home") && said.contains(&newer), "{said}");
    assert_eq!(answer(&newer), Ok(()));
    let printed = |name: &str| fs::read_to_string(claude.home.path(name)).unwrap_or_default();
    wait_until("the second hook's answer", || printed("second.out").contains("allow"));
    assert_eq!(printed("first.out"), "", "nothing was granted to the first");
}
