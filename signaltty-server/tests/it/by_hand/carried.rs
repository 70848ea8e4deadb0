//! What an agent brings along to its next start, and what it may ask for.

use super::*;

#[test]
fn c065_a_resumed_pane_says_which_variables_of_its_launch_were_not_kept() {
    let mut stage = Stage::new();
    let mut env = stage.env();
    env["API_TOKEN"] = "canary-zz".into();
    env["FAKE_ID"] = A.into();
    let ask = json!({"cwd": stage.home.work(), "argv": ["claude"], "env": env});
    let made = stage.server.ask("workspace.new", ask);
    let pane = made["pane_id"].as_str().unwrap().to_owned();
    stage.say(&pane, "hello", "heard hello");
    let missing = |stage: &Stage| stage.server.pane(&pane)["missing_env"].clone();
    assert_eq!(missing(&stage), Value::Null, "it has them all");
    stage.crash(&[&pane]);
    assert_eq!(stage.resume(&pane)["verdict"], "verified");
    assert_eq!(missing(&stage), json!(["API_TOKEN", "FAKE_ID"]));
    let to = stage.home.path("env");
    let line = format!("run env > {0}.new; mv {0}.new {0}", to.display());
    stage.server.type_line(&pane, &line);
    let found = wait_for("the environment", || fs::read_to_string(&to).ok());
    let config = format!("CLAUDE_CONFIG_DIR={}", stage.home.path("claude").display());
    assert!(found.lines().any(|line| line == config), "{found}");
    assert!(!found.contains("API_TOKEN"), "{found}");
    stage.server.wait_saved();
    assert_eq!(stage.home.files_with("canary-zz"), Vec::<std::path::PathBuf>::new());
    assert!(!stage.server.status().to_string().contains("API_TOKEN"));

    stage.crash(&[&pane]);
    stage.server.ask("pane.resume", json!({"pane": pane, "env": env}));
    assert_eq!(missing(&stage), Value::Null, "who resumed it gave them");
}

#[test]
fn d29_a_resume_by_itself_widens_nothing_unless_it_was_allowed() {
    for carries in [false, true] {
        let config = format!("[resume]\ncarry_bypass = {carries}\n");
        let mut stage = Stage::configured(&config);
        let env = stage.env();
        // What starts by itself has the login shell's environment.
        let exports = ["PATH", "SIGNALTTY"].map(|name| format!("export {name}={}\n", env[name]));
        fs::write(stage.home.path(".profile"), exports.concat()).unwrap();
        let mut first = env;
        first["FAKE_ID"] = A.into();
        let bypass = "--dangerously-skip-permissions";
        let argv = ["claude", "--model", "m", bypass];
        let ask = json!({"cwd": stage.home.work(), "argv": argv, "env": first});
        let made = stage.server.ask("workspace.new", ask);
        let pane = made["pane_id"].as_str().unwrap().to_owned();
        let on = json!({"workspace": made["workspace_id"], "auto_resume": true});
        stage.server.ask("workspace.set", on);
        stage.say(&pane, "hello", "heard hello");
        let file = stage.home.path("config.toml");
        stage.crash_into(&[&pane], |command| {
            command.arg("--config").arg(file);
        });
        let resumed = stage.server.wait_state(&pane, "live");
        assert_eq!(resumed["agent"]["verdict"], "verified", "{resumed}");
        let command = fs::read(format!("/proc/{}/cmdline", resumed["pid"])).unwrap();
        let command = String::from_utf8(command).unwrap();
        assert!(command.contains("--model=m"), "{command}");
        assert_eq!(command.contains(bypass), carries, "{command}");
    }
}

#[test]
fn d12_an_agent_that_cannot_report_since_our_program_is_gone_says_so() {
    let stage = Stage::started_from("moved/signaltty");
    fs::remove_file(stage.home.path("moved/signaltty")).unwrap();
    let mut env = stage.env();
    env["FAKE_ID"] = A.into();
    let ask = json!({"cwd": stage.home.work(), "argv": ["claude"], "env": env});
    let made = stage.server.ask("workspace.new", ask);
    let pane = made["pane_id"].as_str().unwrap();
    stage.server.wait_text(pane, "claude startup");
    let said = stage.agent(pane)["integration"].clone();
    let said = said.as_str().unwrap();
    assert!(said.contains("moved/signaltty") && said.contains("is not there"), "{said}");
    // With none of ours Claude complains of nothing.
    let pid = stage.server.pane(pane)["pid"].as_u64().unwrap();
    let command = fs::read_to_string(format!("/proc/{pid}/cmdline")).unwrap();
    assert!(!command.contains("--plugin-dir"), "{command}");
}

#[test]
fn d26_an_agent_reads_its_own_pane_and_nothing_else() {
    let stage = Stage::new();
    let other = stage.shell();
    let launched = stage.server.ask(
        "workspace.new",
        json!({"cwd": stage.home.work(), "argv": ["claude"], "env": stage.env()}),
    );
    let launched = launched["pane_id"].as_str().unwrap().to_owned();
    stage.server.wait_text(&launched, "claude startup");
    let typed = stage.shell();
    stage.say(&typed, &format!("FAKE_ID={A} claude"), "claude startup");
    for pane in [&launched, &typed] {
        let ask = |words: &str| stage.ask_inside(pane, "run ", words);
        assert_eq!(ask(&format!("pane info {pane}"))["id"], **pane);
        assert_eq!(ask(&format!("pane read {pane}"))["error"], Value::Null);
        for words in [
            format!("pane read {other}"),
            format!("pane send {pane} yes"),
            format!("pane close {other}"),
            format!("resume {other} --anyway"),
            "ls".to_owned(),
            "shutdown --force".to_owned(),
        ] {
            let said = ask(&words);
            assert_eq!(said["error"]["code"], "FORBIDDEN", "{words}: {said}");
            let message = said["error"]["message"].as_str().unwrap();
            assert!(message.contains(&**pane), "{message}");
        }
    }
    // The shell that it was typed into is the person's, again once it ended.
    assert_eq!(stage.ask_inside(&other, "", "ls")["error"], Value::Null);
    stage.say(&typed, "quit", "ready>");
    stage.wait_agent(&typed, "the end", |agent| agent.is_null());
    assert_eq!(stage.ask_inside(&typed, "", "ls")["error"], Value::Null);
}

#[test]
fn d26_the_configuration_may_let_agents_control_everything() {
    let stage = Stage::configured("[agents]\ncontrol = \"all\"\n");
    let pane = stage.shell();
    stage.say(&pane, &format!("FAKE_ID={A} claude"), "claude startup");
    let said = stage.ask_inside(&pane, "run ", "ls");
    assert_eq!(said["error"], Value::Null, "{said}");
}

#[test]
fn d27_an_agent_that_only_the_login_shell_finds_comes_back_under_a_bare_server() {
    let mut stage = Stage::new();
    let made = stage.server.ask(
        "workspace.new",
        json!({"cwd": stage.home.work(), "argv": ["claude"], "env": {
            "PATH": format!("{}:/usr/bin:/bin", stage.home.path("bin").display()),
            "FAKE_ID": A,
            "HOME": stage.home.path(""),
            "CLAUDE_CONFIG_DIR": stage.home.path("claude"),
            "SIGNALTTY": env!("CARGO_BIN_EXE_signaltty"),
        }}),
    );
    let pane = made["pane_id"].as_str().unwrap().to_owned();
    stage.say(&pane, "hello", "heard hello");
    wait_until("the id", || stage.agent(&pane)["agent_session_id"] == A);
    let profile = format!(
        "PATH={}:$PATH\nexport CLAUDECODE=1\n. ~/.bashrc\n",
        stage.home.path("bin").display()
    );
    fs::write(stage.home.path(".bash_profile"), profile).unwrap();
    let bashrc = format!(
        "case $- in *i*) ;; *) return ;; esac\nexport ONLY_HERE=secret-of-bashrc SIGNALTTY={}\n",
        env!("CARGO_BIN_EXE_signaltty")
    );
    fs::write(stage.home.path(".bashrc"), bashrc).unwrap();
    let home = stage.home.path("").into_os_string();
    stage.crash_into(&[&pane], |command| {
        // As a unit of the user's systemd.
        command.env_clear().envs([
            ("HOME", home),
            ("SHELL", "/bin/bash".into()),
            ("PATH", "/usr/bin:/bin".into()),
            ("LANG", "C.UTF-8".into()),
            ("SIGNALTTY_LOGIND", "0".into()),
        ]);
    });
    let resumed = stage.server.ask("pane.resume", json!({"pane": pane}));
    assert_eq!(resumed["verdict"], "verified", "{resumed}");
    stage.say(&pane, "run echo key=$ONLY_HERE,$CLAUDECODE.", "key=secret-of-bashrc,.");
    assert_eq!(stage.home.files_with("secret-of-bashrc"), Vec::<std::path::PathBuf>::new());
    assert_eq!(stage.server.status()["problems"], json!([]));
}
