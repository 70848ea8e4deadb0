//! What of a launch's options goes along with a resume, for each agent.
#![cfg(all(
    feature = "claude",
    feature = "codex",
    feature = "cursor",
    feature = "grok",
    feature = "opencode"
))]
#![allow(clippy::unwrap_used, reason = "test code")]

use std::ffi::OsString;

use signaltty_adapters::{
    AgentAdapter, ClaudeAdapter, CodexAdapter, CursorAdapter, GrokAdapter, OpenCodeAdapter,
};
use signaltty_core::agent::{LaunchOption, LaunchOptions, Widening};

fn words(line: &str) -> Vec<OsString> {
    line.split(' ').map(OsString::from).collect()
}

/// Launch, what a person's resume has, what one by itself has, what is named.
type Row = (&'static str, &'static str, &'static str, &'static str);

fn check(adapter: &dyn AgentAdapter, rows: &[Row]) {
    let spec = adapter.spec();
    let join = |args: &[OsString]| args.join(" ".as_ref()).into_string().unwrap();
    for (launch, by_hand, by_itself, dropped) in rows {
        let saved = spec.launch_options(&words(launch));
        let person = spec.carry(&saved, Widening::Carried);
        assert_eq!(join(person.args()), *by_hand, "{launch}");
        assert_eq!(person.dropped().join(" "), *dropped, "{launch}");
        let alone = spec.carry(&saved, Widening::LeftOut);
        assert_eq!(join(alone.args()), *by_itself, "{launch}");
    }
}

#[test]
fn t3_p7_d29_claude_carries_what_its_table_has() {
    check(
        &ClaudeAdapter::new(),
        &[
            ("claude", "", "", ""),
            ("claude --model opus fix it", "--model=opus", "--model=opus", ""),
            ("claude --model a --model=b", "--model=b", "--model=b", ""),
            (
                "claude --dangerously-skip-permissions --model x",
                "--dangerously-skip-permissions --model=x",
                "--model=x",
                "",
            ),
            (
                "claude --permission-mode plan",
                "--permission-mode=plan",
                "--permission-mode=plan",
                "",
            ),
            (
                "claude --permission-mode bypassPermissions",
                "--permission-mode=bypassPermissions",
                "",
                "",
            ),
            (
                "claude --add-dir /a /b --verbose",
                "--add-dir=/a --add-dir=/b --verbose",
                "--verbose",
                "",
            ),
            ("claude -c --resume x --session-id y --fork-session", "", "", ""),
            ("claude --settings s --model x", "--settings=s --model=x", "--model=x", ""),
            ("claude --settings {} --name x", "", "", "--settings --name"),
            ("claude --unheard-of=sk-1 -q", "", "", "--unheard-of -q"),
            ("claude --mcp-config {\"key\":1}", "", "", "--mcp-config"),
            ("claude --model", "", "", "--model"),
            ("claude --verbose=x", "", "", "--verbose"),
            ("claude -- --model x", "", "", ""),
        ],
    );
}

#[test]
fn d29_codex_carries_what_its_table_has() {
    check(
        &CodexAdapter::new(),
        &[
            ("codex -m x --sandbox y", "--model=x --sandbox=y", "--model=x", ""),
            (
                "codex -mx -s=read-only",
                "--model=x --sandbox=read-only",
                "--model=x --sandbox=read-only",
                "",
            ),
            ("codex --yolo go", "--dangerously-bypass-approvals-and-sandbox", "", ""),
            ("codex -c model=\"o3\"", "--config=model=\"o3\"", "--config=model=\"o3\"", ""),
            ("codex -c sandbox_mode=x", "--config=sandbox_mode=x", "", ""),
            ("codex -c model_providers.x.experimental_bearer_token=sk", "", "", "--config"),
            ("codex resume --no-daemon --last -C /x", "", "", ""),
            ("codex -p work --add-dir /a", "--profile=work --add-dir=/a", "", ""),
            ("codex -i a.png b.png", "", "", "--image"),
        ],
    );
}

#[test]
fn d29_opencode_grok_and_cursor_carry_what_their_tables_have() {
    check(
        &OpenCodeAdapter::new(),
        &[
            ("opencode -m a/b --auto", "--model=a/b --auto", "--model=a/b", ""),
            ("opencode -s ses_1 --port 1 --prompt x", "", "", "--port --prompt"),
        ],
    );
    check(
        &GrokAdapter::new(),
        &[
            ("grok -m x --always-approve", "--model=x --always-approve", "--model=x", ""),
            ("grok --sandbox strict -s id", "--sandbox=strict", "--sandbox=strict", ""),
            ("grok --sandbox off --cwd /x", "--sandbox=off", "", ""),
        ],
    );
    check(
        &CursorAdapter::new(),
        &[
            ("cursor-agent --model x -f", "--model=x --force", "--model=x", ""),
            ("cursor-agent --api-key sk-1 -H a", "", "", "--api-key --header"),
        ],
    );
}

#[test]
fn d29_a_changed_snapshot_brings_nothing_in_and_makes_nothing_harmless() {
    let spec = ClaudeAdapter::new();
    let spec = spec.spec();
    let mut saved = LaunchOptions::default();
    for (name, value) in [
        ("--debug-file", Some("evil")),
        ("--unheard-of", None),
        ("--dangerously-skip-permissions", Some("no")),
        ("--dangerously-skip-permissions", None),
        ("--model", None),
        ("--resume", Some("other")),
        ("-r", Some("other")),
    ] {
        saved.keep(LaunchOption::new(name, value.map(Into::into)).unwrap());
    }
    let alone = spec.carry(&saved, Widening::LeftOut);
    assert_eq!(alone.args(), [""; 0]);
    let named = [
        "--debug-file",
        "--unheard-of",
        "--dangerously-skip-permissions",
        "--model",
        "--resume",
        "-r",
    ];
    assert_eq!(alone.dropped(), named);
    let person = spec.carry(&saved, Widening::Carried);
    assert_eq!(person.carried(), ["--dangerously-skip-permissions"]);
}

#[test]
fn c050_a_resume_has_its_documented_form_and_options_follow_the_id() {
    let codex = CodexAdapter::new();
    let of = signaltty_core::agent::Conversation {
        id: "11111111-1111-4111-8111-111111111111".parse().unwrap(),
        cwd: "/w".into(),
        config_env: Default::default(),
        anchor: None,
        previous: None,
    };
    let bare = codex.resume_command(&of).unwrap();
    assert_eq!(bare.argv(), ["codex", "resume", "--no-daemon", of.id.as_str()]);
    let launch = words("codex -m x --image a.png --remote unix://y");
    let options = codex.spec().carry(&codex.spec().launch_options(&launch), Widening::LeftOut);
    let argv = bare.with_options(&options);
    assert_eq!(argv.argv(), ["codex", "resume", "--no-daemon", of.id.as_str(), "--model=x"]);
}

#[test]
fn d23_an_agent_that_is_sent_elsewhere_is_started_there() {
    let (codex, grok, claude) = (CodexAdapter::new(), GrokAdapter::new(), ClaudeAdapter::new());
    let opencode = OpenCodeAdapter::new();
    let rows: [(&dyn AgentAdapter, &str, Option<&str>, &str); 18] = [
        (&codex, "codex", None, "codex"),
        (&codex, "codex -C sub fix", Some("/w/sub"), "codex -C /w/sub fix"),
        (&codex, "codex --cd=/x --model m", Some("/x"), "codex --cd=/x --model m"),
        (&codex, "codex -Csub", Some("/w/sub"), "codex -C/w/sub"),
        (&codex, "codex -C a --cd b", Some("/w/b"), "codex -C a --cd /w/b"),
        // A value of another option, a text, and no value.
        (&codex, "codex --model -C", None, "codex --model -C"),
        (&codex, "codex -- -C sub", None, "codex -- -C sub"),
        (&codex, "codex -C", None, "codex -C"),
        (&grok, "grok --cwd sub -m x", Some("/w/sub"), "grok --cwd /w/sub -m x"),
        (&claude, "claude --cwd sub", None, "claude --cwd sub"),
        // The first word, unless it is a command or a value.
        (&opencode, "opencode sub", Some("/w/sub"), "opencode /w/sub"),
        (&opencode, "opencode -m x /srv/run -c", Some("/srv/run"), "opencode -m x /srv/run -c"),
        (&opencode, "opencode --model=x . run", Some("/w/."), "opencode --model=x /w/. run"),
        (&opencode, "opencode", None, "opencode"),
        (&opencode, "opencode -m x", None, "opencode -m x"),
        (&opencode, "opencode serve sub", None, "opencode serve sub"),
        (&opencode, "opencode -- sub", None, "opencode -- sub"),
        (&codex, "codex sub", None, "codex sub"),
    ];
    for (adapter, launch, dir, settled) in rows {
        let mut argv = words(launch);
        let found = adapter.spec().settle_directory(&mut argv, "/w".as_ref());
        assert_eq!(found, dir.map(Into::into), "{launch}");
        assert_eq!(argv, words(settled), "{launch}");
    }
}
