//! One JSON object on a line that ends in its own checksum.

use std::io::Write;

/// Closes the object that starts at `from`: it must lack its closing brace.
pub(super) fn seal(out: &mut Vec<u8>, from: usize) {
    let crc = crc32fast::hash(out.get(from..).unwrap_or_default());
    // A vector takes all that is written.
    let _ = writeln!(out, ",\"crc\":\"{crc:08x}\"}}");
}

/// What a line covers by its checksum, if that is right. `line` has no newline.
pub(super) fn unseal(line: &[u8]) -> Option<&[u8]> {
    let (covered, end) = line.split_at_checked(line.len().checked_sub(SEAL)?)?;
    let digits = end.strip_prefix(b",\"crc\":\"")?.strip_suffix(b"\"}")?;
    let mut crc = 0;
    for digit in digits {
        // Upper case would be another file than the one that was written.
        let value = match digit {
            b'0'..=b'9' => digit - b'0',
            b'a'..=b'f' => digit - b'a' + 10,
            _ => return None,
        };
        crc = crc << 4 | u32::from(value);
    }
    (crc32fast::hash(covered) == crc).then_some(covered)
}

/// The same for a file of one line.
pub(super) fn unseal_file(bytes: &[u8]) -> Option<&[u8]> {
    let line = bytes.strip_suffix(b"\n")?;
    unseal(line).map(|_| line)
}

const SEAL: usize = ",\"crc\":\"00000000\"}".len();
