//! `completions` and `man`: made from the arguments themselves.

use std::path::PathBuf;

use clap::Args;
use clap_complete::Shell;

use super::{Context, Failure, examples};

// Arguments of `completions`.
#[derive(Debug, Args)]
pub(super) struct CompletionsArgs {
    /// For which shell
    #[arg(value_parser = ["bash", "zsh", "fish"])]
    shell: String,
}

// Arguments of `man`.
#[derive(Debug, Args)]
pub(super) struct ManArgs {
    /// Where the pages go; made if it is not there
    dir: PathBuf,
}

/// Runs `completions`: prints a script for the shell.
pub(super) fn completions(context: &Context, args: &CompletionsArgs) -> Result<(), Failure> {
    let shell = match args.shell.as_str() {
        "zsh" => Shell::Zsh,
        "fish" => Shell::Fish,
        _ => Shell::Bash,
    };
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut examples::command(), "signaltty", &mut script);
    context.print(&String::from_utf8_lossy(&script))
}

/// Runs `man`: writes a page for each verb.
pub(super) fn man(args: &ManArgs) -> Result<(), Failure> {
    let failed = |error| Failure::Io("write the manual pages", error);
    std::fs::create_dir_all(&args.dir).map_err(failed)?;
    clap_mangen::generate_to(examples::command(), &args.dir).map_err(failed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_visible_verb_has_a_page() {
        let dir = tempfile::tempdir().unwrap();
        man(&ManArgs { dir: dir.path().join("man1") }).unwrap();
        for page in ["signaltty.1", "signaltty-pane-split.1", "signaltty-wait.1"] {
            let text = std::fs::read_to_string(dir.path().join("man1").join(page)).unwrap();
            assert!(text.contains(".TH"), "{page}");
        }
        assert!(!dir.path().join("man1/signaltty-hook.1").exists());
    }

    #[test]
    fn every_shell_gets_a_script_that_knows_the_verbs() {
        for shell in [Shell::Bash, Shell::Zsh, Shell::Fish] {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut examples::command(), "signaltty", &mut script);
            let script = String::from_utf8(script).unwrap();
            assert!(script.contains("notifications") && script.contains("split"), "{shell}");
        }
    }
}
