//! What `ssh` says. It goes to standard error as it comes, but not over a screen
//! that a pane or the full-screen client has: then the last line is kept, and is
//! part of why the link ended.

use std::io::{self, Write as _};
use std::sync::{Mutex, PoisonError};

use crate::cli::attach;

static LAST: Mutex<Option<String>> = Mutex::new(None);

/// Takes one line, without its end.
pub(super) fn line(text: &str) {
    let text = text.trim_end();
    // A connection of its own follows, which says more where it fails, too.
    if text.is_empty() || ["mux_client", "ControlSocket"].iter().any(|own| text.starts_with(own)) {
        return;
    }
    if attach::has_terminal() {
        *LAST.lock().unwrap_or_else(PoisonError::into_inner) = Some(text.to_owned());
    } else {
        // There is nobody left to tell where this fails.
        let _ = writeln!(io::stderr(), "{text}");
    }
}

/// The last line that was kept; it is given once.
pub(super) fn last() -> Option<String> {
    LAST.lock().unwrap_or_else(PoisonError::into_inner).take()
}
