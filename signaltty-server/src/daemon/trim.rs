//! Giving memory back once it is quiet.
//!
//! Cells of many panes lie between what stays, and the allocator gives back by
//! itself only what is behind everything else. So a moment after panes went to
//! sleep it is asked once for all that is free, and the pages of the program that
//! their start took are let go. That is one timer, and none while nothing goes to
//! sleep.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tokio::runtime::Handle;

/// Panes that were started together go to sleep together.
const AFTER: Duration = Duration::from_millis(300);

static DUE: AtomicBool = AtomicBool::new(false);

/// Asks the allocator in a moment, unless that is due already.
pub(super) fn trim_soon() {
    let Ok(runtime) = Handle::try_current() else {
        return;
    };
    if DUE.swap(true, Ordering::AcqRel) {
        return;
    }
    runtime.spawn(async {
        tokio::time::sleep(AFTER).await;
        DUE.store(false, Ordering::Release);
        signaltty_pty::trim_memory();
        signaltty_pty::release_program();
    });
}
