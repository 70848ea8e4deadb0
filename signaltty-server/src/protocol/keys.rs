//! Names of keys, as `pane keys` takes them, to what a terminal sends.

/// Why a name is not that of a key.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "{0:?} is not a key: expected one character, a name such as Enter, Tab, S-Tab, Escape, Space, \
     Backspace, Delete, Up, Down, Left, Right, Home, End, PageUp, PageDown, F1 to F12, or one of \
     these after C- (control) or M- (alt)"
)]
pub struct KeyError(pub String);

/// What a terminal in its normal mode sends for a key. `application` is the
/// cursor key mode, in which arrows, Home and End differ.
///
/// # Errors
///
/// When the name is not that of a key.
pub fn key_bytes(name: &str, application: bool) -> Result<Vec<u8>, KeyError> {
    let unknown = || KeyError(name.chars().take(40).collect());
    if let Some(rest) = name.strip_prefix("M-")
        && !rest.is_empty()
    {
        let mut bytes = vec![0x1b];
        bytes.extend(key_bytes(rest, application).map_err(|_| unknown())?);
        return Ok(bytes);
    }
    if let Some(rest) = name.strip_prefix("C-")
        && !rest.is_empty()
    {
        let mut chars = rest.chars();
        return match (chars.next(), chars.next()) {
            (Some(c), None) => control(c).map(|byte| vec![byte]).ok_or_else(unknown),
            _ if rest.eq_ignore_ascii_case("space") => Ok(vec![0]),
            _ => Err(unknown()),
        };
    }
    let mut chars = name.chars();
    if let (Some(only), None) = (chars.next(), chars.next()) {
        return Ok(only.to_string().into_bytes());
    }
    let cursor = |letter: u8| vec![0x1b, if application { b'O' } else { b'[' }, letter];
    let bytes = match name.to_ascii_lowercase().as_str() {
        "enter" | "return" => b"\r".to_vec(),
        "tab" => b"\t".to_vec(),
        "escape" | "esc" => b"\x1b".to_vec(),
        "space" => b" ".to_vec(),
        "backspace" | "bspace" => b"\x7f".to_vec(),
        "delete" | "dc" => b"\x1b[3~".to_vec(),
        "insert" | "ic" => b"\x1b[2~".to_vec(),
        "up" => cursor(b'A'),
        "down" => cursor(b'B'),
        "right" => cursor(b'C'),
        "left" => cursor(b'D'),
        "home" => cursor(b'H'),
        "end" => cursor(b'F'),
        "pageup" | "ppage" => b"\x1b[5~".to_vec(),
        "pagedown" | "npage" => b"\x1b[6~".to_vec(),
        "btab" | "s-tab" => b"\x1b[Z".to_vec(),
        "f1" => b"\x1bOP".to_vec(),
        "f2" => b"\x1bOQ".to_vec(),
        "f3" => b"\x1bOR".to_vec(),
        "f4" => b"\x1bOS".to_vec(),
        "f5" => b"\x1b[15~".to_vec(),
        "f6" => b"\x1b[17~".to_vec(),
        "f7" => b"\x1b[18~".to_vec(),
        "f8" => b"\x1b[19~".to_vec(),
        "f9" => b"\x1b[20~".to_vec(),
        "f10" => b"\x1b[21~".to_vec(),
        "f11" => b"\x1b[23~".to_vec(),
        "f12" => b"\x1b[24~".to_vec(),
        _ => return Err(unknown()),
    };
    Ok(bytes)
}

fn control(c: char) -> Option<u8> {
    let byte = u8::try_from(c.to_ascii_uppercase()).ok()?;
    match byte {
        b'@'..=b'_' => Some(byte & 0x1f),
        b'?' => Some(0x7f),
        b' ' => Some(0),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_become_what_terminals_send() {
        let cases: [(&str, &[u8]); 10] = [
            ("Enter", b"\r"),
            ("C-c", b"\x03"),
            ("C-]", b"\x1d"),
            ("M-x", b"\x1bx"),
            ("Up", b"\x1b[A"),
            ("a", b"a"),
            ("é", "é".as_bytes()),
            ("F12", b"\x1b[24~"),
            ("C-Space", b"\0"),
            ("S-Tab", b"\x1b[Z"),
        ];
        for (name, bytes) in cases {
            assert_eq!(key_bytes(name, false).as_deref(), Ok(bytes), "{name}");
        }
        assert_eq!(key_bytes("Up", true).as_deref(), Ok(&b"\x1bOA"[..]));
        for name in ["", "Entr", "C-", "C-é", "F13"] {
            assert!(key_bytes(name, false).is_err(), "{name}");
        }
    }
}
