//! The examples that `--help` and the manual pages show, in one table.

use clap::{Command, CommandFactory as _};

use super::Cli;

/// The arguments, with examples for each verb.
pub(super) fn command() -> Command {
    EXAMPLES.iter().fold(Cli::command(), |command, (path, lines)| {
        let words: Vec<_> = path.split(' ').collect();
        add(command, &words, lines)
    })
}

fn add(command: Command, path: &[&'static str], lines: &[&str]) -> Command {
    match path.split_first() {
        None => {
            let lines: String = lines.iter().map(|line| format!("  {line}\n")).collect();
            command.after_help(format!("Examples:\n{}", lines.trim_end()))
        }
        Some((verb, rest)) => command.mut_subcommand(verb, |inner| add(inner, rest, lines)),
    }
}

/// By verb. A test has each of them understood, and misses no verb.
const EXAMPLES: &[(&str, &[&str])] = &[
    ("status", &["signaltty status", "signaltty status --json"]),
    ("new", &["signaltty new --name api --cwd src/api -- claude", "signaltty new"]),
    ("ls", &["signaltty ls", "signaltty ls --json"]),
    (
        "attach",
        &[
            "signaltty attach api",
            "signaltty attach api --read-only",
            "signaltty attach --history 200",
        ],
    ),
    ("continue", &["signaltty continue api"]),
    ("restore", &["signaltty restore --plan", "signaltty restore --plan --json"]),
    (
        "pane read",
        &["signaltty pane read api --lines 20", "signaltty --json pane read api --after CURSOR"],
    ),
    ("pane send", &["signaltty pane send api 'make test'"]),
    ("pane keys", &["signaltty pane keys api Enter", "signaltty pane keys api C-c Up Enter"]),
    (
        "pane spawn",
        &["signaltty pane spawn api -- htop", "signaltty pane spawn --batch < requests.jsonl"],
    ),
    ("pane split", &["signaltty pane split api --down -- make test", "signaltty pane split api"]),
    ("pane move", &["signaltty pane move pane_abc pane_def --down"]),
    ("pane swap", &["signaltty pane swap pane_abc pane_def"]),
    ("pane weight", &["signaltty pane weight pane_abc 2"]),
    ("pane focus", &["signaltty pane focus pane_abc"]),
    ("pane close", &["signaltty pane close pane_abc"]),
    ("pane rename", &["signaltty pane rename pane_abc tests", "signaltty pane rename pane_abc ''"]),
    ("pane signal", &["signaltty pane signal pane_abc TERM", "signaltty pane signal api USR1"]),
    ("pane info", &["signaltty pane info api", "signaltty pane info api --json"]),
    (
        "report-session",
        &[
            "signaltty report-session --id 7f3a --argv my-agent --resume 7f3a",
            "signaltty report-session --agent claude --argv my-claude -r",
        ],
    ),
    ("pane restart", &["signaltty pane restart pane_abc"]),
    ("tab new", &["signaltty tab new api --title logs -- tail -f log"]),
    ("tab rename", &["signaltty tab rename tab_abc logs"]),
    (
        "tab layout",
        &["signaltty tab layout api", "signaltty tab layout api --set v1:[pane_abc*2/pane_def]"],
    ),
    ("tab equalise", &["signaltty tab equalise api"]),
    ("tab move", &["signaltty tab move tab_abc 0"]),
    ("tab close", &["signaltty tab close tab_abc"]),
    ("workspace rename", &["signaltty workspace rename api 'The API'"]),
    ("workspace close", &["signaltty workspace close api"]),
    ("workspace archive", &["signaltty workspace archive api"]),
    ("workspace unarchive", &["signaltty workspace unarchive api"]),
    ("workspace move", &["signaltty workspace move api 0"]),
    ("workspace set", &["signaltty workspace set api auto-resume=on history=off"]),
    ("worktree list", &["signaltty worktree list", "signaltty worktree list --cwd src/api --json"]),
    (
        "worktree create",
        &[
            "signaltty worktree create fix/login",
            "signaltty worktree create fix/login --from origin/main --path ../login",
        ],
    ),
    ("worktree open", &["signaltty worktree open fix/login"]),
    ("worktree remove", &["signaltty worktree remove fix/login"]),
    ("forget", &["signaltty forget pane_abc", "signaltty forget api"]),
    ("answer", &["signaltty answer api allow --question q1f09ac27"]),
    ("resume", &["signaltty resume api", "signaltty resume api --cwd src/moved"]),
    (
        "wait",
        &[
            "signaltty wait api --until idle,blocked --timeout 10m",
            "signaltty wait api --until done --after \"$BASELINE\"",
        ],
    ),
    (
        "events",
        &[
            "signaltty events --filter pane.*",
            "signaltty events --from 812 --filter agent.* --filter attention.*",
        ],
    ),
    (
        "notify",
        &[
            "signaltty notify 'the build is done'",
            "signaltty notify --severity error --pane api 'tests failed' '3 of 120'",
        ],
    ),
    ("notifications", &["signaltty notifications --unread", "signaltty notifications --read all"]),
    ("next", &["signaltty attach \"$(signaltty next)\""]),
    (
        "integration install",
        &["signaltty integration install cursor", "signaltty integration install"],
    ),
    ("integration uninstall", &["signaltty integration uninstall cursor"]),
    (
        "integration status",
        &["signaltty integration status", "signaltty integration status codex --json"],
    ),
    ("shutdown", &["signaltty shutdown", "signaltty shutdown --force"]),
    ("demo", &["signaltty demo", "signaltty demo --keep"]),
    (
        "completions",
        &["signaltty completions bash > ~/.local/share/bash-completion/completions/signaltty"],
    ),
    ("man", &["signaltty man ~/.local/share/man/man1"]),
];

#[cfg(test)]
mod tests {
    use super::*;

    fn leaves(command: &Command, before: &str, found: &mut Vec<String>) {
        for inner in command.get_subcommands().filter(|inner| !inner.is_hide_set()) {
            let path = format!("{before}{}", inner.get_name());
            if inner.has_subcommands() {
                leaves(inner, &format!("{path} "), found);
            } else {
                found.push(path);
            }
        }
    }

    #[test]
    fn every_verb_has_an_example() {
        let mut verbs = Vec::new();
        leaves(&Cli::command(), "", &mut verbs);
        verbs.retain(|verb| verb != "help");
        let shown: Vec<_> = EXAMPLES.iter().map(|(verb, _)| (*verb).to_owned()).collect();
        let missing: Vec<_> = verbs.iter().filter(|verb| !shown.contains(verb)).collect();
        assert!(missing.is_empty(), "add an example to EXAMPLES for {missing:?}");
        assert!(shown.iter().all(|verb| verbs.contains(verb)), "{shown:?}");
    }

    #[test]
    fn arguments_do_not_change_what_a_verb_says_it_does() {
        fn abouts(command: &Command, found: &mut Vec<String>) {
            for inner in command.get_subcommands().filter(|inner| inner.get_name() != "help") {
                let about = inner.get_about().map(ToString::to_string);
                found.push(format!("{}: {}", inner.get_name(), about.unwrap_or_default()));
                abouts(inner, found);
            }
        }
        let (mut before, mut after) = (Vec::new(), Vec::new());
        let mut command = Cli::command();
        abouts(&command, &mut before);
        command.build();
        abouts(&command, &mut after);
        assert_eq!(before, after);
        assert!(!before.iter().any(|line| line.ends_with(": ")), "{before:?}");
    }

    #[test]
    fn every_example_is_understood() {
        for line in EXAMPLES.iter().flat_map(|(_, lines)| *lines) {
            // As a shell would: quotes hold words together, and a redirection
            // is not the program's.
            let line = line.split(" > ").next().unwrap().split(" < ").next().unwrap();
            let line = line.replace("$(signaltty next)", "pane_abc");
            let mut words = Vec::new();
            for (at, part) in line.split(['\'', '"']).enumerate() {
                match at % 2 {
                    0 => words.extend(part.split_whitespace().map(str::to_owned)),
                    _ => words.push(part.to_owned()),
                }
            }
            let parsed = command().try_get_matches_from(&words);
            assert!(parsed.is_ok(), "{line}: {:?}", parsed.err());
        }
    }

    #[test]
    fn help_shows_them() {
        let mut command = command();
        let pane = command.find_subcommand_mut("pane").unwrap();
        let help = pane.find_subcommand_mut("split").unwrap().render_help().to_string();
        assert!(
            help.contains("Examples:\n  signaltty pane split api --down -- make test"),
            "{help}"
        );
    }
}
