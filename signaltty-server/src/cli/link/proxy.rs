//! The other end of a link.

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd as _, BorrowedFd};
use std::os::unix::net::UnixStream;

use crate::cli::{Context, Exit, Failure};

/// `proxy`: standard input and output become a connection to the server of this
/// machine, which is started where none runs.
pub(crate) async fn proxy(context: &Context) -> Result<Exit, Failure> {
    drop(context.client().await?);
    let failed = |error| Failure::Io("connect to the server", error);
    let socket = UnixStream::connect(&context.paths.socket).map_err(failed)?;
    let asked = socket.try_clone().map_err(failed)?;
    let input = unbuffered(io::stdin().as_fd()).map_err(failed)?;
    let output = unbuffered(io::stdout().as_fd()).map_err(failed)?;
    std::thread::spawn(move || {
        pass_on(&input, &asked);
        // The server sees the client leave.
        let _ = asked.shutdown(std::net::Shutdown::Write);
    });
    // Ends with the server's side; a client that left makes it end, too.
    pass_on(&socket, &output);
    Ok(Exit::Done)
}

/// Frames are not lines: nothing may wait in a buffer for a newline.
fn unbuffered(fd: BorrowedFd<'_>) -> io::Result<File> {
    Ok(File::from(fd.try_clone_to_owned()?))
}

/// Copies until either side ends. Not `io::copy`: from a socket to a pipe that
/// calls splice(2), which holds the pipe's lock while it waits for the socket,
/// so that `sshd` cannot take out of the pipe what is in it.
fn pass_on(mut from: impl Read, mut to: impl Write) {
    let mut buffer = vec![0; 64 * 1024];
    loop {
        let piece = match from.read(&mut buffer) {
            Ok(count @ 1..) => buffer.get(..count).unwrap_or_default(),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Ok(_) | Err(_) => return,
        };
        if to.write_all(piece).is_err() {
            return;
        }
    }
}
