//! Files of a person.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;

use rustix::fs::{Mode, OFlags};

/// Bytes that are read of one; what has more is refused.
const MAX_BYTES: u64 = 1024 * 1024;

/// Reads a text that a person keeps, so not a pipe that nobody writes to and not a
/// file without an end. A link is followed.
///
/// # Errors
///
/// What the system says, and where it is no regular file, too long or no text.
pub(crate) fn read(path: &Path) -> io::Result<String> {
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let file = File::from(rustix::fs::open(path, flags, Mode::empty())?);
    if !file.metadata()?.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is no regular file"));
    }
    let mut text = String::new();
    if file.take(MAX_BYTES + 1).read_to_string(&mut text)? as u64 > MAX_BYTES {
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, "it has more than 1 MiB"));
    }
    Ok(text)
}
