//! Programs of others that some tests walk through.

use std::process::{Command, Stdio};

/// Whether a program is installed. Where it is not, the test says so and shows
/// nothing; with `SIGNALTTY_NOTHING_SKIPPED=1`, as in `.ci/run`, it fails.
pub fn has(program: &str) -> bool {
    // Every one of them knows `-V` or takes it for a wrong option; it is found
    // either way.
    let mut look = Command::new(program);
    look.arg("-V").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let found = look.status().is_ok();
    if !found {
        let forbidden =
            std::env::var_os("SIGNALTTY_NOTHING_SKIPPED").is_some_and(|value| value == "1");
        assert!(!forbidden, "{program} is missing; install the Debian package of that name");
        println!("skipped: {program} is missing");
    }
    found
}
