//! The command line. With the server built in, also the server that it starts
//! and the agent of its demonstration, as verbs that no help shows.

use std::ffi::OsString;
use std::process::ExitCode;

fn main() -> ExitCode {
    let args: Vec<_> = std::env::args_os().collect();
    let code = built_in(&args).unwrap_or_else(|| signaltty_server::cli::main(&args));
    ExitCode::from(code)
}

#[cfg(feature = "daemon")]
fn built_in(args: &[OsString]) -> Option<u8> {
    let (verb, rest) = args.get(1..)?.split_first()?;
    match verb.to_str()? {
        "__server" => {
            // A server outlives its client: it must not keep open what that had
            // open, such as a pipe whose reader waits for its end.
            signaltty_pty::close_inherited();
            // Nor does the terminal end it that it was started from. Where this
            // process leads a group already, it has a session of its own.
            let _ = rustix::process::setsid();
            let name = OsString::from("signaltty-server");
            let args: Vec<_> = std::iter::once(name).chain(rest.iter().cloned()).collect();
            Some(signaltty_server::serve::main(&args))
        }
        "__demo-agent" => Some(signaltty_adapters::demo::run_here(rest)),
        _ => None,
    }
}

#[cfg(not(feature = "daemon"))]
fn built_in(_: &[OsString]) -> Option<u8> {
    None
}
