//! Reading the operating system commands that the emulator ignores: OSC 7 for
//! the working directory, OSC 9, 99 and 777 for notifications.
//!
//! An OSC 99 may come in parts, of which one notification is put together at a
//! time. Of OSC 9 the progress reports that share its number are not read.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::events::ScreenEvent;

/// The event that a payload (what stands between `ESC ]` and its end) means.
pub(super) fn event(payload: &[u8], begun: &mut Begun) -> Option<ScreenEvent> {
    let (number, rest) = split(payload, b';')?;
    match number {
        b"7" => directory(rest),
        b"9" => {
            let progress = split(rest, b';').is_some_and(|(kind, _)| is_number(kind));
            if progress { None } else { notification(None, rest) }
        }
        b"99" => begun.take(rest),
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

/// A notification (OSC 99) of which more is to come.
#[derive(Debug, Default)]
pub(super) struct Begun {
    id: Vec<u8>,
    title: Vec<u8>,
    body: Vec<u8>,
}

impl Begun {
    /// Takes a part: `metadata;text`. The metadata are `key=value` between colons:
    /// `i` names the notification, `p` says what the text is, `e=1` that it is in
    /// base64, `d=0` that more comes.
    fn take(&mut self, part: &[u8]) -> Option<ScreenEvent> {
        let (metadata, text) = split(part, b';')?;
        let (mut id, mut kind, mut encoded, mut last) = (&b""[..], &b"title"[..], false, true);
        for pair in metadata.split(|&byte| byte == b':') {
            match split(pair, b'=').unwrap_or((pair, b"")) {
                (b"i", value) => id = value,
                (b"p", value) => kind = value,
                (b"e", value) => encoded = value == b"1",
                (b"d", value) => last = value != b"0",
                _ => {}
            }
        }
        let into = match kind {
            b"title" | b"" => Some(true),
            b"body" => Some(false),
            // Pictures, buttons, sounds.
            b"icon" | b"buttons" => None,
            // Questions, and what takes one back.
            _ => return None,
        };
        if self.id != id {
            *self = Self { id: id.iter().take(MAX_ID).copied().collect(), ..Self::default() };
        }
        if let Some(title) = into {
            let decoded =
                if encoded { STANDARD.decode(text).unwrap_or_default() } else { text.to_vec() };
            let into = if title { &mut self.title } else { &mut self.body };
            let room = MAX_TEXT.saturating_sub(into.len());
            into.extend(decoded.into_iter().take(room));
        }
        if !last {
            return None;
        }
        let Self { title, body, .. } = std::mem::take(self);
        if body.is_empty() { notification(None, &title) } else { notification(Some(&title), &body) }
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
const MAX_ID: usize = 64;
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
            ("99;e=1;ZG9uZQ==", note(None, "done")),
            ("99;d=0;part", None),
            ("777;notify;Title;Body\u{7}", note(Some("Title"), "Body")),
            ("777;other;Title;Body", None),
            ("0;title", None),
        ] {
            assert_eq!(event(payload.as_bytes(), &mut Begun::default()), expected, "{payload}");
        }
    }

    #[test]
    fn a_notification_in_parts_is_put_together_and_bounded() {
        let told = |parts: &[&str]| -> Vec<ScreenEvent> {
            let mut begun = Begun::default();
            parts.iter().filter_map(|part| event(part.as_bytes(), &mut begun)).collect()
        };
        let note = |title: Option<&str>, body: &str| ScreenEvent::Notification {
            title: title.map(Into::into),
            body: body.into(),
        };
        let whole = [
            "99;i=7:d=0;Build ",
            "99;i=7:d=0;ready",
            "99;i=7:d=0:p=body;in 3 s",
            "99;i=7:a=focus;",
        ];
        assert_eq!(told(&whole), [note(Some("Build ready"), "in 3 s")]);
        assert_eq!(told(&["99;i=1:d=0;lost", "99;i=2;kept"]), [note(None, "kept")]);
        assert_eq!(told(&["99;i=1:p=close;", "99;i=1:p=?;", "99;i=1:p=alive;"]), []);
        assert_eq!(told(&["99;i=1:d=0;t\u{1b}[2J", "99;i=1:p=icon;AAAA"]), [note(None, "t[2J")]);
        assert_eq!(told(&["99;e=1;no base64!"]), []);
        let long = format!("99;d=0;{}", "x".repeat(2_000));
        let Some(ScreenEvent::Notification { body, .. }) =
            told(&[&long, &long, &long, "99;;"]).pop()
        else {
            panic!()
        };
        assert_eq!(body.len(), MAX_TEXT);
    }
}
