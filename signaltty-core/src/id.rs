//! Identifiers.
//!
//! An id is a short prefix and 16 base-32 characters that the shell draws at
//! random (D-21). The core never makes one up: randomness is an input. Ids are
//! `Copy`, so they can be leaves of a [`Layout`](crate::layout::Layout), and
//! they are never reused, also not after a lost snapshot.
//!
//! An [`InstanceId`] is different: it names one run of a process in a pane,
//! consists of the server's epoch and a counter, and is never saved.

use std::fmt;
use std::str::FromStr;

/// Characters of the random part: lower-case base 32 (RFC 4648, section 6).
const ALPHABET: &[u8; 32] = b"abcdefghijklmnopqrstuvwxyz234567";

/// Length of the random part in characters.
pub const RANDOM_CHARS: usize = 16;

/// Random bytes that one id takes: 80 bits.
pub const RANDOM_BYTES: usize = 10;

/// Why a text is not an id.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is not a {kind} id: expected {prefix} and 16 characters of a-z and 2-7")]
pub struct IdError {
    /// What was expected, for example `pane`.
    pub kind: &'static str,
    /// The prefix that such an id has.
    pub prefix: &'static str,
    /// The text that was given, cut to 80 characters.
    pub text: String,
}

fn encode(random: [u8; RANDOM_BYTES]) -> [u8; RANDOM_CHARS] {
    let mut out = [b'a'; RANDOM_CHARS];
    let mut bits = random.iter().flat_map(|byte| (0..8).rev().map(move |bit| (byte >> bit) & 1));
    for slot in &mut out {
        let mut index = 0usize;
        for _ in 0..5 {
            index = (index << 1) | usize::from(bits.next().unwrap_or(0));
        }
        *slot = ALPHABET.get(index).copied().unwrap_or(b'a');
    }
    out
}

fn decode(text: &str, prefix: &str) -> Option<[u8; RANDOM_CHARS]> {
    let random: [u8; RANDOM_CHARS] = text.strip_prefix(prefix)?.as_bytes().try_into().ok()?;
    random.iter().all(|byte| ALPHABET.contains(byte)).then_some(random)
}

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident, $kind:literal, $prefix:literal;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name([u8; RANDOM_CHARS]);

        impl $name {
            /// The prefix of the text form.
            pub const PREFIX: &'static str = $prefix;

            /// Makes an id from 80 random bits, which the caller draws.
            pub fn from_random(random: [u8; RANDOM_BYTES]) -> Self {
                Self(encode(random))
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str($prefix)?;
                self.0.iter().try_for_each(|byte| fmt::Write::write_char(f, char::from(*byte)))
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(self, f)
            }
        }

        impl FromStr for $name {
            type Err = IdError;

            fn from_str(text: &str) -> Result<Self, IdError> {
                decode(text, $prefix).map(Self).ok_or_else(|| IdError {
                    kind: $kind,
                    prefix: $prefix,
                    text: text.chars().take(80).collect(),
                })
            }
        }
    )*};
}

ids! {
    /// Names a workspace.
    WorkspaceId, "workspace", "ws_";
    /// Names a tab.
    TabId, "tab", "tab_";
    /// Names a pane: one terminal slot, which outlives its process.
    PaneId, "pane", "pane_";
    /// Names a notification.
    NotificationId, "notification", "notif_";
}

impl TabId {
    /// The id for a tab that has to be made for a pane whose own is lost.
    /// Always the same for the same pane.
    pub fn named_after(pane: PaneId) -> Self {
        Self(pane.0)
    }

    /// Another id, for the case that the one before is taken.
    pub(crate) fn next(self) -> Self {
        let mut random = self.0;
        for byte in random.iter_mut().rev() {
            let at = ALPHABET.iter().position(|c| c == byte).unwrap_or(0);
            *byte = ALPHABET.get(at + 1).copied().unwrap_or(b'a');
            if *byte != b'a' {
                break;
            }
        }
        Self(random)
    }
}

impl WorkspaceId {
    /// The id for a workspace that has to be made for a tab whose own is lost.
    /// Always the same for the same tab.
    pub fn named_after(tab: TabId) -> Self {
        Self(tab.0)
    }
}

/// One start of the server, drawn at random by the shell.
///
/// Instance ids of an earlier start never match those of this one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ServerEpoch(pub u64);

/// One run of a process in a pane. Never saved (S0-53).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct InstanceId {
    epoch: ServerEpoch,
    serial: u64,
}

impl InstanceId {
    pub(crate) fn new(epoch: ServerEpoch, serial: u64) -> Self {
        Self { epoch, serial }
    }

    /// Makes an instance that no session made, for tests of what takes one.
    #[cfg(feature = "testing")]
    pub fn fake(serial: u64) -> Self {
        Self::new(ServerEpoch(0), serial)
    }
}

impl fmt::Display for InstanceId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}-{}", self.epoch.0, self.serial)
    }
}

/// Ties a reply to the command that asked for it. Given by the shell, which
/// keeps it unique while the request is open.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RequestId(pub u64);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn d21_ids_print_and_parse() {
        for random in [[0; 10], [255; 10], [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]] {
            let id = PaneId::from_random(random);
            assert_eq!(id.to_string().parse::<PaneId>(), Ok(id));
            assert_eq!(id.to_string().len(), "pane_".len() + RANDOM_CHARS);
        }
        assert_eq!(PaneId::from_random([0; 10]).to_string(), "pane_aaaaaaaaaaaaaaaa");
        assert_eq!(PaneId::from_random([255; 10]).to_string(), "pane_7777777777777777");
    }

    #[test]
    fn c101_ids_that_could_be_paths_are_refused() {
        let bad = [
            "",
            "pane_",
            "pane_../../../../etc/p",
            "pane_aaaaaaaaaaaaaaa/",
            "tab_aaaaaaaaaaaaaaaa",
            "pane_AAAAAAAAAAAAAAAA",
            "pane_aaaaaaaaaaaaaaaaa",
            "\u{0}",
        ];
        for text in bad {
            let error = text.parse::<PaneId>().unwrap_err();
            assert!(error.to_string().contains("is not a pane id"), "{error}");
        }
    }
}
