//! Completions and manual pages in the programs that they are made for.

use std::fs;
use std::process::{Command, Output};

use crate::support::{Home, programs};

fn signaltty(home: &Home, args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_signaltty"));
    let output = command.args(args).env("HOME", home.path("")).output().unwrap();
    assert!(output.status.success(), "{args:?}: {output:?}");
    output
}

/// Runs a shell's script in which `$1` is the file with the completions.
fn run(home: &Home, shell: &str, options: &[&str], script: &str) -> Option<String> {
    if !programs::has(shell) {
        return None;
    }
    let file = home.path("completions");
    fs::write(&file, signaltty(home, &["completions", shell]).stdout).unwrap();
    let script = script.replace("$1", &file.display().to_string());
    let mut command = Command::new(shell);
    command.args(options).arg("-c").arg(script).env("HOME", home.path(""));
    let output = command.current_dir(home.work()).env("TERM", "dumb").output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
    Some(said)
}

#[test]
fn bash_completes_verbs_and_options() {
    let script = "source '$1'\n\
        complete -p signaltty\n\
        ask() { COMP_WORDS=(\"$@\"); COMP_CWORD=$(($# - 1)); COMPREPLY=(); \
                _signaltty signaltty \"${@: -1}\" \"${@: -2:1}\"; echo \"${COMPREPLY[*]}\"; }\n\
        ask signaltty pane sp\n\
        ask signaltty notif\n\
        ask signaltty attach --re\n";
    let home = Home::new();
    let Some(said) = run(&home, "bash", &["--noprofile", "--norc"], script) else { return };
    let lines: Vec<_> = said.lines().collect();
    assert!(lines[0].contains("-F _signaltty"), "{said}");
    assert_eq!(lines[1..], ["spawn split", "notify notifications", "--read-only"], "{said}");
}

#[test]
fn zsh_knows_what_completes_signaltty() {
    // Without its own files, and without asking whether directories are safe.
    let script = "autoload -Uz compinit && compinit -u -d ./dump\n\
        source '$1'\n\
        print -r -- ${_comps[signaltty]}\n\
        whence -w _signaltty\n\
        true\n";
    let home = Home::new();
    let Some(said) = run(&home, "zsh", &["-f"], script) else { return };
    assert!(said.starts_with("_signaltty\n"), "{said}");
    assert!(said.contains("_signaltty: function"), "{said}");
}

#[test]
fn fish_completes_verbs_and_options() {
    let script = "source '$1'\n\
        complete -C 'signaltty pane sp'\n\
        complete -C 'signaltty attach --read'\n";
    let home = Home::new();
    let Some(said) = run(&home, "fish", &["--no-config"], script) else { return };
    let words: Vec<_> = said.lines().filter_map(|line| line.split('\t').next()).collect();
    assert_eq!(words, ["spawn", "split", "--read-only"], "{said}");
}

#[test]
fn manual_pages_are_what_groff_understands() {
    if !programs::has_file("/usr/bin/groff", "groff-base") {
        return;
    }
    let home = Home::new();
    let dir = home.path("man");
    signaltty(&home, &["man", dir.to_str().unwrap()]);
    let pages: Vec<_> = fs::read_dir(&dir).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert!(pages.len() > 40, "{pages:?}");
    for page in pages {
        let formatted = Command::new("/usr/bin/groff")
            .args(["-Kutf8", "-man", "-Tutf8", "-ww", "-P-cbou"])
            .arg(&page)
            .output()
            .unwrap();
        let warnings = String::from_utf8_lossy(&formatted.stderr).into_owned();
        assert!(formatted.status.success() && warnings.is_empty(), "{page:?}: {warnings}");
        let text = String::from_utf8_lossy(&formatted.stdout).into_owned();
        assert!(text.contains("SYNOPSIS") && text.contains("signaltty"), "{page:?}: {text}");
    }
}
