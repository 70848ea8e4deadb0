//! Programs that have an agent's name and are somebody's scripts around it.

use super::*;

impl Stage {
    /// A script called `claude` in a directory of its own. `$CLAUDE` is the agent.
    fn wrapper(&self, dir: &str, body: &str) -> String {
        let path = self.home.path(dir).join("claude");
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let agent = self.home.path("bin/claude");
        let text = format!("#!/bin/sh\nCLAUDE={}\n{body}\n", agent.display());
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        path.to_str().unwrap().to_owned()
    }

    /// A pane that is started with a program.
    fn started(&self, program: &str) -> String {
        let mut env = self.env();
        env["FAKE_ID"] = A.into();
        let ask = json!({"cwd": self.home.work(), "argv": [program], "env": env});
        let pane = self.server.ask("workspace.new", ask)["pane_id"].as_str().unwrap().to_owned();
        self.say(&pane, "hello", "heard hello");
        pane
    }
}

#[test]
fn d29_a_program_that_was_named_by_its_path_is_resumed_by_it() {
    let mut stage = Stage::new();
    let wrapper = stage.wrapper("company", "echo by the company; exec \"$CLAUDE\" \"$@\"");
    let pane = stage.started(&wrapper);
    stage.crash(&[&pane]);
    // Also where the search path has none.
    let mut env = stage.env();
    env["PATH"] = "/usr/bin:/bin".into();
    let resumed = stage.server.ask("pane.resume", json!({"pane": pane, "env": env}));
    assert_eq!(resumed["verdict"], "verified", "{resumed}");
    assert_eq!(resumed["not_carried"], json!([]), "{resumed}");
    stage.say(&pane, "again", "heard again");
    let shown = stage.server.text(&pane);
    assert_eq!(shown.matches("by the company").count(), 2, "{shown}");

    // One that is there no more is said, and the search path has the agent.
    stage.crash(&[&pane]);
    fs::remove_file(&wrapper).unwrap();
    let resumed = stage.resume(&pane);
    assert_eq!(resumed["verdict"], "verified", "{resumed}");
    assert_eq!(resumed["not_carried"], json!([format!("{wrapper} (not there)")]), "{resumed}");
}

#[test]
fn d2_what_a_wrapper_sets_for_its_agent_is_where_the_conversation_lives() {
    let mut stage = Stage::new();
    let work = stage.home.path("work-account");
    for forks in [false, true] {
        let run = if forks { "\"$CLAUDE\" \"$@\"; exit" } else { "exec \"$CLAUDE\" \"$@\"" };
        let export = format!("export CLAUDE_CONFIG_DIR={}", work.display());
        let wrapper = stage.wrapper("account", &format!("{export}\n{run}"));
        let pane = stage.started(&wrapper);
        let found = stage.wait_agent(&pane, "it", |agent| agent["agent_session_id"] == A);
        assert_eq!(found["integration"], Value::Null, "{found}");
        stage.crash(&[&pane]);
        let resumed = stage.resume(&pane);
        assert_eq!(resumed["verdict"], "verified", "forks: {forks}: {resumed}");
        stage.say(&pane, "again", "heard again");
        stage.server.ask("pane.close", json!({"pane": pane}));
        fs::remove_dir_all(&work).unwrap();
    }
}
