//! The members of `org.freedesktop.login1` that are needed, and what their
//! errors mean.

use std::time::Duration;

use zbus::names::ErrorName;

use crate::machine::Input;
use crate::status::{Trouble, clipped};

/// logind's name on the bus.
pub(crate) const LOGIN1: &str = "org.freedesktop.login1";
/// The object that everything is on.
pub(crate) const PATH: &str = "/org/freedesktop/login1";
/// Its interface.
pub(crate) const MANAGER: &str = "org.freedesktop.login1.Manager";
/// The signal. It is subscribed to by hand, see `link`.
pub(crate) const PREPARE_FOR_SHUTDOWN: &str = "PrepareForShutdown";

/// How long a call may take, and how long a connection may take to be ready.
pub(crate) const CALL_TIMEOUT: Duration = Duration::from_secs(5);

/// logind never reports changes of these properties, so none may be cached.
#[zbus::proxy(
    interface = "org.freedesktop.login1.Manager",
    default_service = "org.freedesktop.login1",
    default_path = "/org/freedesktop/login1"
)]
pub(crate) trait Login1 {
    /// Takes a lock; it is released when the last copy of the descriptor is closed.
    fn inhibit(&self, what: &str, who: &str, why: &str, mode: &str) -> zbus::Result<zbus::OwnedFd>;

    /// Whether a shutdown is under way.
    #[zbus(property(emits_changed_signal = "false"))]
    fn preparing_for_shutdown(&self) -> zbus::Result<bool>;

    /// For how many microseconds at most a shutdown waits for its delay locks.
    #[zbus(property(emits_changed_signal = "false"), name = "InhibitDelayMaxUSec")]
    fn inhibit_delay_max_usec(&self) -> zbus::Result<u64>;
}

/// What a refused request for the lock means.
pub(crate) fn refused_lock<L>(error: &zbus::Error) -> Input<L> {
    match error {
        zbus::Error::MethodError(name, ..) if is_in_progress(name) => Input::LockTooLate,
        zbus::Error::FDO(error) if matches!(**error, zbus::fdo::Error::AccessDenied(_)) => {
            Input::LockDenied
        }
        other => Input::LockFailed(trouble_of_call(other)),
    }
}

/// What a failed call to logind means.
pub(crate) fn trouble_of_call(error: &zbus::Error) -> Trouble {
    match error {
        zbus::Error::InputOutput(error) if error.kind() == std::io::ErrorKind::TimedOut => {
            Trouble::Silent(CALL_TIMEOUT)
        }
        other => Trouble::Refused(clipped(&other.to_string())),
    }
}

fn is_in_progress(name: &ErrorName<'_>) -> bool {
    name.as_str() == "org.freedesktop.login1.OperationInProgress"
}
