//! Reading the operating system commands that the emulator ignores: OSC 7 for
//! the working directory, OSC 9, 99 and 777 for notifications.
//!
//! Of OSC 99 only a notification that fits in one unencoded sequence is read;
//! of OSC 9 not the progress reports that share its number.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;

use super::events::ScreenEvent;

/// The event that a payload (what stands between `ESC ]` and its end) means.
pub(super) fn event(payload: &[u8]) -> Option<ScreenEvent> {
    let (number, rest) = split(payload, b';')?;
    match number {
        b"7" => directory(rest),
        b"9" => {
            let progress = split(rest, b';').is_some_and(|(kind, _)| is_number(kind));
            if progress { None } else { notification(None, rest) }
        }
        b"99" => {
            let (metadata, text) = split(rest, b';')?;
            let plain = metadata.split(|&byte| byte == b':').all(|pair| {
                let (key, value) = split(pair, b'=').unwrap_or((pair, b""));
                match key {
                    b"p" => matches!(value, b"title" | b"body"),
                    b"e" | b"d" => value == if key == b"e" { b"0" } else { b"1" },
                    _ => true,
                }
            });
            if plain { notification(None, text) } else { None }
        }
        b"777" => {
            let (b"notify", rest) = split(rest, b';')? else {
                return None;
            };
            let (title, body) = split(rest, b';').unwrap_or((b"", rest));
            notification(Some(title), body)
        }
        _ => None,
    }
}

/// Text for people: no control characters, not longer than `limit` bytes.
pub(super) fn clean(text: &[u8], limit: usize) -> String {
    let mut clean = String::new();
    for c in String::from_utf8_lossy(text).chars().filter(|c| !c.is_control()) {
        if clean.len() + c.len_utf8() > limit {
            break;
        }
        clean.push(c);
    }
    clean
}

fn notification(title: Option<&[u8]>, body: &[u8]) -> Option<ScreenEvent> {
    let title = title.map(|title| clean(title, MAX_TEXT)).filter(|title| !title.is_empty());
    let body = clean(body, MAX_TEXT);
    if title.is_none() && body.is_empty() {
        return None;
    }
    Some(ScreenEvent::Notification { title, body })
}

/// Reads `file://host/path` with percent encoding.
fn directory(url: &[u8]) -> Option<ScreenEvent> {
    let rest = url.strip_prefix(b"file://")?;
    let slash = rest.iter().position(|&byte| byte == b'/')?;
    let (host, path) = rest.split_at(slash);
    let path = percent_decoded(path);
    if path.contains(&0) || path.len() > MAX_PATH {
        return None;
    }
    let path = PathBuf::from(OsString::from_vec(path));
    Some(ScreenEvent::Cwd { host: clean(host, MAX_HOST), path })
}

fn percent_decoded(text: &[u8]) -> Vec<u8> {
    let mut decoded = Vec::with_capacity(text.len());
    let mut rest = text;
    loop {
        rest = match rest {
            [b'%', high, low, after @ ..] => match (hex(*high), hex(*low)) {
                (Some(high), Some(low)) => {
                    decoded.push(high << 4 | low);
                    after
                }
                _ => {
                    decoded.extend([b'%', *high, *low]);
                    after
                }
            },
            [byte, after @ ..] => {
                decoded.push(*byte);
                after
            }
            [] => return decoded,
        };
    }
}

fn hex(digit: u8) -> Option<u8> {
    u8::try_from(char::from(digit).to_digit(16)?).ok()
}

fn is_number(text: &[u8]) -> bool {
    !text.is_empty() && text.iter().all(u8::is_ascii_digit)
}

fn split(text: &[u8], at: u8) -> Option<(&[u8], &[u8])> {
    let position = text.iter().position(|&byte| byte == at)?;
    Some((text.get(..position)?, text.get(position + 1..)?))
}

const MAX_TEXT: usize = 2 * 1024;
const MAX_HOST: usize = 255;
const MAX_PATH: usize = 4 * 1024;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn payloads_become_events() {
        let cwd = |host: &str, path: &str| {
            Some(ScreenEvent::Cwd { host: host.into(), path: path.into() })
        };
        let note = |title: Option<&str>, body: &str| {
            Some(ScreenEvent::Notification { title: title.map(Into::into), body: body.into() })
        };
        for (payload, expected) in [
            ("7;file://box/a%20b/%C3%BC", cwd("box", "/a b/ü")),
            ("7;file:///x%zz", cwd("", "/x%zz")),
            ("7;/no/url", None),
            ("9;hello; you", note(None, "hello; you")),
            ("9;4;1;50", None),
            ("9;", None),
            ("99;i=1:d=1:p=title;done", note(None, "done")),
            ("99;;done", note(None, "done")),
            ("99;e=1;ZG9uZQ==", None),
            ("99;d=0;part", None),
            ("777;notify;Title;Body\u{7}", note(Some("Title"), "Body")),
            ("777;other;Title;Body", None),
            ("0;title", None),
        ] {
            assert_eq!(event(payload.as_bytes()), expected, "{payload}");
        }
    }
}
