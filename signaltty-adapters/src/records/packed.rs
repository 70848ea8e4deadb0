//! Records that their agent packed: the same lines in a frame of zstd.
//!
//! What comes out is bounded as a plain record is, and so is the memory for it: a
//! small file can stand for any number of bytes.

use std::io::{self, Read};
use std::path::Path;

use ruzstd::decoding::{FrameDecoder, StreamingDecoder};

use super::{MAX_RECORD_BYTES, ReadError, Record};

impl Record {
    /// Opens the packed record at `path`. Only its [`contents`](Self::contents)
    /// are unpacked: there is no way to its end but from its beginning.
    pub(crate) fn open_packed(path: &Path) -> Result<Self, ReadError> {
        Ok(Self { is_packed: true, ..Self::open(path)? })
    }
}

/// The contents of a record, unpacked where it is packed.
pub(super) enum Contents<R: Read> {
    Plain(R),
    Packed(Packed<R>),
}

pub(super) enum Packed<R: Read> {
    Unread(Option<R>),
    Read { decoder: Box<StreamingDecoder<R, FrameDecoder>>, left: u64 },
}

impl<R: Read> Contents<R> {
    pub(super) fn new(contents: R, is_packed: bool) -> Self {
        if is_packed { Self::Packed(Packed::Unread(Some(contents))) } else { Self::Plain(contents) }
    }
}

impl<R: Read> Read for Contents<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Plain(contents) => contents.read(buffer),
            Self::Packed(packed) => packed.read(buffer),
        }
    }
}

impl<R: Read> Read for Packed<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if let Self::Unread(contents) = self {
            let contents = contents.take().ok_or_else(|| unsound(&"it was not readable before"))?;
            let decoder = StreamingDecoder::new_with_max_window_size(contents, MAX_WINDOW);
            let decoder = Box::new(decoder.map_err(|error| unsound(&error))?);
            *self = Self::Read { decoder, left: MAX_RECORD_BYTES };
        }
        let Self::Read { decoder, left } = self else {
            return Ok(0);
        };
        let read = decoder.read(buffer).map_err(|error| unsound(&error))?;
        *left =
            left.checked_sub(read as u64).ok_or_else(|| unsound(&"it holds more than 1 GiB"))?;
        // Its agent packs a record into one frame.
        if read == 0 && !buffer.is_empty() && decoder.get_mut().read(&mut [0])? > 0 {
            return Err(unsound(&"something follows its end"));
        }
        Ok(read)
    }
}

fn unsound(why: &dyn std::fmt::Display) -> io::Error {
    io::Error::new(
        io::ErrorKind::InvalidData,
        format!("it is packed and cannot be unpacked: {why}"),
    )
}

/// The most that is kept to unpack what follows: 32 MiB. What Codex packs needs 2.
const MAX_WINDOW: u64 = 32 << 20;

#[cfg(test)]
mod tests {
    use ruzstd::encoding::{CompressionLevel, compress_to_vec};

    use super::*;

    fn read(bytes: &[u8]) -> io::Result<Vec<u8>> {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("record");
        std::fs::write(&path, bytes).unwrap();
        let record = Record::open_packed(&path).unwrap();
        let mut contents = Vec::new();
        record.contents().read_to_end(&mut contents).map(|_| contents)
    }

    #[test]
    fn a_packed_record_is_read_whole_or_not_at_all() {
        let text = "one line\n".repeat(100_000).into_bytes();
        let packed = compress_to_vec(&text[..], CompressionLevel::Fastest);
        assert!(packed.len() < text.len() / 10);
        assert_eq!(read(&packed).unwrap(), text);
        for (what, bytes) in [
            ("cut", packed[..packed.len() - 5].to_vec()),
            ("empty", Vec::new()),
            ("not packed", text.clone()),
            ("twice", [&packed[..], &packed[..]].concat()),
        ] {
            let error = read(&bytes).unwrap_err();
            assert!(error.to_string().contains("cannot be unpacked"), "{what}: {error}");
        }
    }

    #[test]
    fn what_a_small_file_stands_for_is_bounded() {
        // A frame of raw repetitions: each block of four bytes stands for 128 KiB.
        let mut bomb = vec![0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x58];
        for _ in 0..(MAX_RECORD_BYTES + 2 * MAX_WINDOW) >> 17 {
            bomb.extend([0x02, 0x00, 0x10, b'x']);
        }
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("record");
        std::fs::write(&path, bomb).unwrap();
        let record = Record::open_packed(&path).unwrap();
        let error = io::copy(&mut record.contents(), &mut io::sink()).unwrap_err();
        assert!(error.to_string().contains("more than 1 GiB"), "{error}");
        // And what would be kept to unpack it.
        std::fs::write(&path, [0x28, 0xb5, 0x2f, 0xfd, 0x00, 0xa8, 0x01, 0x00, 0x00]).unwrap();
        let record = Record::open_packed(&path).unwrap();
        let error = record.contents().read(&mut [0; 9]).unwrap_err();
        assert!(error.to_string().contains("cannot be unpacked"), "{error}");
    }
}
