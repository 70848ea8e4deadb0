//! What a program prints, written to its end.
//!
//! Whoever redirects it to a file believes the exit code, so a full disk must
//! show there. A reader that has gone had enough, which is no failure.

use std::io::{self, Write as _};

/// Writes all of it to standard output, and leaves nothing in a buffer, whose
/// loss at the end of the process nobody would notice.
///
/// # Errors
///
/// Those of the system.
pub(crate) fn write_out(bytes: &[u8]) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(bytes).and_then(|()| out.flush())
}

/// Prints what `program` has to say before it ends with `exit`. Where that cannot
/// be written it says so on standard error, and does not end with 0.
#[cfg(feature = "daemon")]
pub(crate) fn printed(program: &str, text: &str, exit: u8) -> u8 {
    written(program, write_out(text.as_bytes()), exit)
}

/// The same for what was written already.
pub(crate) fn written(program: &str, result: io::Result<()>, exit: u8) -> u8 {
    match result {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            let line = format!("{program}: cannot write to standard output: {error}\n");
            // Where this fails too, the exit code says it.
            let _ = io::stderr().write_all(line.as_bytes());
            exit.max(FAILED)
        }
        _ => exit,
    }
}

/// The exit code of a failure that is of no special kind.
const FAILED: u8 = 1;
