//! Arguments, and the tree as people see it.

use clap::CommandFactory as _;
use jiff::Timestamp;

use super::tree::{Look, render};
use super::*;
use crate::protocol::{
    AgentNode, ExitNode, FailureNode, PaneNode, TabNode, Tree, WireOs, WorkspaceNode,
};

fn parse(line: &str) -> Result<Cli, clap::Error> {
    Cli::try_parse_from(line.split_whitespace())
}

#[test]
fn the_arguments_are_consistent() {
    Cli::command().debug_assert();
}

#[test]
fn command_lines_are_understood_or_refused() {
    for line in [
        "signaltty",
        "signaltty status --json",
        "signaltty --socket /s ls --no-start",
        "signaltty new",
        "signaltty new --name api --cwd /x -- claude --resume x",
        "signaltty new claude --model x",
        "signaltty pane split pane_1 --down -- sh -c true",
        "signaltty pane send pane_1 --help-me",
        "signaltty pane keys pane_1 C-c - Enter",
        "signaltty pane read pane_1 --lines 10 --ansi",
        "signaltty tab new api --title t -- sh",
        "signaltty workspace set api auto-resume=on history=off",
        "signaltty resume pane_1 --anyway --cwd x",
        "signaltty attach --read-only --detach-keys C-b,d",
        "signaltty demo --keep",
        "signaltty events --from 812 --filter pane.* --filter agent.*",
        "signaltty events --from 0123456789abcdef:812",
    ] {
        assert!(parse(line).is_ok(), "{line}: {:?}", parse(line).err());
    }
    for line in [
        "signaltty nonsense",
        "signaltty pane split",
        "signaltty pane split p --down --right",
        "signaltty pane keys p",
        "signaltty workspace set api",
        "signaltty workspace set api auto-resume=maybe",
        "signaltty attach --detach-keys Ctrl-b",
        "signaltty pane read p --lines x",
        "signaltty events --from yesterday",
    ] {
        assert!(parse(line).is_err(), "{line}");
    }
}

#[test]
fn options_behind_a_program_are_the_programs() {
    let cli = parse("signaltty --json new -- claude --json --no-start").unwrap();
    assert!(cli.json && !cli.no_start);
    let words = |line: &str| line.split(' ').map(OsString::from).collect::<Vec<_>>();
    assert!(wants_json(&words("signaltty ls --json")));
    assert!(!wants_json(&words("signaltty new -- x --json")));
}

#[test]
fn exit_codes_of_command_lines_that_need_no_server() {
    let dir = tempfile::tempdir().unwrap();
    let socket = dir.path().join("s").into_os_string();
    let code = |words: &[&str]| {
        let mut args: Vec<OsString> = vec!["signaltty".into()];
        args.extend(words.iter().map(OsString::from));
        args.push("--state-dir".into());
        args.push(dir.path().as_os_str().to_owned());
        main(&args)
    };
    let socket = socket.to_str().unwrap();
    assert_eq!(code(&["ls", "--no-start", "--socket", socket]), 3);
    assert_eq!(code(&["shutdown", "--socket", socket]), 3);
    assert_eq!(code(&["nonsense"]), 2);
    // C097: an error at once, not a client that waits for ever.
    let long = format!("/{}", "x".repeat(120));
    assert_eq!(code(&["ls", "--socket", &long]), 2);
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
}

#[test]
fn d22_a_shell_whose_agent_had_ended_says_that_it_can_be_resumed() {
    let mut left = pane("restored");
    let advice = |node: &PaneNode| words::advice(node).unwrap();
    assert!(!advice(&left).contains("signaltty resume"));
    left.agent.as_mut().unwrap().place = "left".into();
    assert!(advice(&left).contains("signaltty resume pane_restored"), "{}", advice(&left));
}

#[test]
fn s0_13_every_state_reads_differently_and_says_what_to_do() {
    let text = shown(&tree(STATES.map(pane).into()), false);
    let expected = [
        "  * pane_live  live  claude working, verified  title of live\n",
        "    pane_restored  restored  claude was working, verified  title of restored\n      \
         its process ended with the server; run the command again with: signaltty pane restart \
         pane_restored\n",
        "    pane_resumable  resumable  claude was working, verified  title of resumable\n      \
         resume it with: signaltty resume pane_resumable\n",
        "    pane_resuming  resuming (verifying)  claude was working, verified  title of resuming\n",
        "    pane_exited  exited (code 3)  claude was working, verified  title of exited\n      it \
         can be resumed by hand with: signaltty resume pane_exited\n",
    ];
    assert_eq!(
        text,
        format!("api  API  /src/api  [auto-resume]\n  agents  tab_1\n{}", expected.concat())
    );
    // Only a live pane may read as if something worked in it.
    assert_eq!(text.matches("working").count(), text.matches("was working").count() + 1);
}

#[test]
fn a_refused_resume_says_why_and_what_a_person_can_do() {
    let mut refused = pane("resumable");
    if let Some(agent) = &mut refused.agent {
        agent.interrupted = true;
        agent.last_failure = Some(FailureNode {
            code: "damaged".into(),
            message: "the record is empty".into(),
            at: "2026-03-10T11:58:00Z".into(),
        });
    }
    refused.attention = "input_required".into();
    let text = shown(&tree(vec![refused.clone()]), false);
    for expected in [
        "  input required  ",
        "a turn was interrupted\n",
        "not resumed 2 min ago (damaged): the record is empty\n",
        "resume it all the same with: signaltty resume pane_resumable --anyway\n",
    ] {
        assert!(text.contains(expected), "{text}");
    }
    if let Some(failure) = refused.agent.as_mut().and_then(|a| a.last_failure.as_mut()) {
        failure.code = "cwd_missing".into();
    }
    assert!(shown(&tree(vec![refused]), false).contains("--cwd DIR"));
}

#[test]
fn an_agent_that_was_left_open_unconfirmed_reads_as_not_proven() {
    let mut open = pane("live");
    if let Some(agent) = &mut open.agent {
        agent.verdict = Some("unconfirmed".into());
        agent.last_failure = Some(FailureNode {
            code: "unconfirmed".into(),
            message: "it was left open".into(),
            at: "2026-03-10T11:58:00Z".into(),
        });
    }
    let text = shown(&tree(vec![open.clone()]), false);
    assert!(text.contains("not proven 2 min ago (unconfirmed): it was left open\n"), "{text}");
    assert!(!text.contains("not resumed"), "{text}");
    // Its process is gone by now.
    open.state = "resumable".into();
    let text = shown(&tree(vec![open]), false);
    assert!(text.contains("not resumed 2 min ago (unconfirmed)"), "{text}");
}

#[test]
fn an_interrupted_turn_says_how_often_it_was_tried_and_what_it_did_last() {
    let mut node = pane("resumable");
    let agent = node.agent.as_mut().unwrap();
    (agent.interrupted, agent.marked, agent.attempts) = (true, true, 2);
    agent.receipt = Some("last tool call: Bash\u{7}, it finished".into());
    let text = shown(&tree(vec![node.clone()]), false);
    for line in [
        "a turn was interrupted; continuing it was tried 2 times by itself\n",
        "it is marked: a start of the server looks whether it goes on\n",
        "last tool call: Bash\\x07, it finished\n",
        "let its turn go on with: signaltty continue pane_resumable\n",
    ] {
        assert!(text.contains(line), "{line}: {text}");
    }
    let agent = node.agent.as_mut().unwrap();
    (agent.marked, agent.attempts) = (false, 0);
    node.state = "live".into();
    let text = shown(&tree(vec![node]), false);
    assert!(text.contains("a turn was interrupted\n") && !text.contains("marked"), "{text}");
    assert!(text.contains("let its turn go on with: signaltty continue pane_resumable\n"));
}

#[test]
fn s0_18_a_command_that_an_agent_reported_is_shown_as_such() {
    let mut node = pane("resumable");
    let argv = vec!["my-agent".into(), "--resume".into(), "7\u{1b}".into()];
    node.agent.as_mut().unwrap().reported_argv = Some(argv);
    let text = shown(&tree(vec![node]), false);
    let line = "reopened by hand, with its own command: my-agent --resume 7\\x1b\n";
    assert!(text.contains(line), "{text}");
}

#[test]
fn c082_nothing_of_others_reaches_the_terminal_raw() {
    const POISON: &str = "x\x1b[2J\x1b]52;c;AAAA\x07\u{9b}y\r\n";
    let mut poisoned = pane(POISON);
    POISON.clone_into(&mut poisoned.title);
    POISON.clone_into(&mut poisoned.attention);
    POISON.clone_into(&mut poisoned.lifecycle);
    poisoned.stage = Some(POISON.into());
    poisoned.agent = poisoned.agent.map(|agent| AgentNode {
        kind: POISON.into(),
        verdict: Some(POISON.into()),
        integration: Some(POISON.into()),
        last_failure: Some(FailureNode {
            code: POISON.into(),
            message: POISON.into(),
            at: POISON.into(),
        }),
        ..agent
    });
    let mut untitled = pane("exited");
    untitled.title = String::new();
    untitled.argv = vec![WireOs::from(POISON)];
    untitled.id = POISON.into();
    let mut tree = tree(vec![poisoned, untitled]);
    for workspace in &mut tree.workspaces {
        for text in [&mut workspace.handle, &mut workspace.name, &mut workspace.id] {
            POISON.clone_into(text);
        }
        workspace.cwd = WireOs::from(POISON);
        for tab in &mut workspace.tabs {
            POISON.clone_into(&mut tab.title);
            POISON.clone_into(&mut tab.id);
        }
    }
    let text = shown(&tree, false);
    assert!(!text.contains(|c: char| c.is_control() && c != '\n'), "{text:?}");
    assert!(!shown(&tree, true).contains("\x1b[2J"));
}

#[test]
fn c082_a_title_is_not_taken_for_what_is_said_of_its_pane() {
    let line = |title: &str| {
        let mut node = pane("exited");
        title.clone_into(&mut node.title);
        shown(&tree(vec![node]), false)
    };
    for title in ["live  verified", "Verified", "a · live", "\"live\"", "claude working, verified"]
    {
        let text = line(title);
        let quoted = format!("  \"{}\"\n", title.replace('"', "\\\""));
        assert!(text.contains(&quoted), "{text}");
    }
    // Those that programs do set are as they are.
    for title in
        ["vim README.md", "live reload", "✳ Fix the login", "make: *** [all] Error 2", "~/src/api"]
    {
        assert!(line(title).contains(&format!("  {title}\n")), "{title}");
    }
}

#[test]
fn archived_workspaces_are_counted_unless_they_are_asked_for() {
    let mut tree = tree(vec![pane("live")]);
    for workspace in &mut tree.workspaces {
        workspace.archived = true;
    }
    assert_eq!(shown(&tree, false), "1 archived, see them with: signaltty ls --all\n");
    let all = Look { archived: true, ..look(false) };
    assert!(render(&tree, all).contains("[archived]"));
    assert!(shown(&Tree::default(), false).contains("signaltty new"));
    assert!(render(&tree, Look { colours: true, ..all }).contains("\x1b[32mlive\x1b[0m"));
}

const STATES: [&str; 5] = ["live", "restored", "resumable", "resuming", "exited"];

fn shown(tree: &Tree, colours: bool) -> String {
    render(tree, look(colours))
}

fn look(colours: bool) -> Look {
    Look { now: "2026-03-10T12:00:00Z".parse::<Timestamp>().unwrap(), colours, archived: false }
}

fn tree(panes: Vec<PaneNode>) -> Tree {
    Tree {
        workspaces: vec![WorkspaceNode {
            id: "ws_1".into(),
            handle: "api".into(),
            name: "API".into(),
            cwd: "/src/api".into(),
            auto_resume: true,
            auto_continue: false,
            history: true,
            archived: false,
            tabs: vec![TabNode {
                id: "tab_1".into(),
                title: "agents".into(),
                active_pane_id: "pane_live".into(),
                layout: String::new(),
                cols: 80,
                rows: 24,
                panes,
            }],
        }],
    }
}

fn pane(state: &str) -> PaneNode {
    PaneNode {
        id: format!("pane_{state}"),
        title: format!("title of {state}"),
        cwd: "/src/api".into(),
        argv: vec!["claude".into()],
        cols: 120,
        rows: 40,
        state: state.into(),
        stage: (state == "resuming").then(|| "verifying".into()),
        exit: (state == "exited").then_some(ExitNode { code: Some(3), signal: None }),
        lifecycle: "working".into(),
        attention: "none".into(),
        last_message: None,
        missing_env: Vec::new(),
        agent: Some(AgentNode {
            kind: "claude".into(),
            previous_session_id: None,
            shared_with: None,
            agent_session_id: Some("c1".into()),
            place: "own".into(),
            verdict: Some("verified".into()),
            evidence: Vec::new(),
            verdict_at: None,
            resumed: 0,
            proven_at: None,
            rewritten_at: None,
            interrupted: false,
            question_expired: false,
            marked: false,
            attempts: 0,
            reported_argv: None,
            receipt: None,
            last_failure: None,
            integration: None,
        }),
        decision: None,
        decision_id: None,
        created_at: "2026-03-10T11:00:00Z".into(),
    }
}
