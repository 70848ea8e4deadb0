//! Randomness for ids, epochs and secrets, from the kernel.

use std::fmt;

use rustix::rand::{GetRandomFlags, getrandom};
use signaltty_core::id::RANDOM_BYTES;

/// Fills an array from the kernel's generator.
///
/// The kernel gives up to 256 bytes whole once it is seeded (getrandom(2)),
/// which is long before a user's server starts; an error would be a kernel
/// without the call, on which nothing of this works.
pub(crate) fn bytes<const N: usize>() -> [u8; N] {
    let mut out = [0; N];
    let mut filled = 0;
    while filled < N {
        let Some(rest) = out.get_mut(filled..) else {
            break;
        };
        match getrandom(&mut *rest, GetRandomFlags::empty()) {
            Ok(count) => filled += count,
            Err(rustix::io::Errno::INTR) => {}
            Err(error) => {
                tracing::error!("the kernel gives no random bytes: {error}");
                std::process::abort();
            }
        }
    }
    out
}

/// Random bits for an id.
pub(crate) fn id() -> [u8; RANDOM_BYTES] {
    bytes()
}

/// The secret of a launch. Not shown by `Debug`, so that no log has it.
#[derive(Clone)]
pub(crate) struct Secret(String);

impl Secret {
    /// 128 bits in hexadecimal.
    pub(crate) fn new() -> Self {
        Self(bytes::<16>().iter().map(|byte| format!("{byte:02x}")).collect())
    }

    #[cfg(test)]
    pub(crate) fn known(text: &str) -> Self {
        Self(text.to_owned())
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret")
    }
}
