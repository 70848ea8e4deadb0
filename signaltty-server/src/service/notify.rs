//! What the service manager is told: that the server is ready, and that it stops.
//!
//! It goes where `NOTIFY_SOCKET` says and nowhere without it. Nothing waits for
//! a manager that does not read, and one that is gone is no error.

/// The state is loaded and requests are answered.
pub(crate) fn ready() {
    tell(sd_notify::NotifyState::Ready);
}

/// The last save begins.
pub(crate) fn stopping() {
    tell(sd_notify::NotifyState::Stopping);
}

fn tell(state: sd_notify::NotifyState<'static>) {
    tokio::task::spawn_blocking(move || {
        if let Err(error) = sd_notify::notify(&[state]) {
            tracing::debug!("the service manager cannot be told: {error}");
        }
    });
}
