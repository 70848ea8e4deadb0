//! The server, in the foreground.

use std::process::ExitCode;

fn main() -> ExitCode {
    let args: Vec<_> = std::env::args_os().collect();
    ExitCode::from(signaltty_server::serve::main(&args))
}
