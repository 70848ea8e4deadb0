//! Programs of others that some tests walk through.

use std::path::Path;
use std::process::{Command, Stdio};

/// Whether a program is installed. Where it is not, the test says so and shows
/// nothing; with `SIGNALTTY_NOTHING_SKIPPED=1`, as in `.ci/run`, it fails.
pub fn has(program: &str) -> bool {
    // Every one of them knows `-V` or takes it for a wrong option; it is found
    // either way.
    let mut look = Command::new(program);
    look.arg("-V").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    there_or_skipped(program, program, look.status().is_ok())
}

/// The same for one that is not on the search path, of this Debian package.
pub fn has_file(path: &str, package: &str) -> bool {
    there_or_skipped(path, package, Path::new(path).exists())
}

/// Whether `env` starts programs with signals blocked (coreutils 8.31).
pub fn env_blocks_signals() -> bool {
    let done = Command::new("env").args(["--block-signal=TERM", "true"]).output();
    let can = done.is_ok_and(|done| done.status.success());
    there_or_skipped("env --block-signal", "coreutils", can)
}

fn there_or_skipped(what: &str, package: &str, found: bool) -> bool {
    if !found {
        let forbidden =
            std::env::var_os("SIGNALTTY_NOTHING_SKIPPED").is_some_and(|value| value == "1");
        assert!(!forbidden, "{what} is missing; install the Debian package {package}");
        println!("skipped: {what} is missing");
    }
    found
}
