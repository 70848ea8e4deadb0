//! The server as a service of the user's own systemd.
//!
//! signaltty owns exactly one file: the user unit `signaltty.service`. Whether
//! it is ours is said by its first line; anything else at that place is left
//! alone. Nothing here enables, starts or stops a service by itself: a start
//! belongs to the person or to a client that needs a server.

#[cfg(feature = "daemon")]
pub(crate) mod logout;
#[cfg(feature = "daemon")]
pub(crate) mod notify;
mod systemctl;
pub(crate) mod unit;
#[cfg(feature = "daemon")]
pub(crate) mod verb;
#[cfg(feature = "daemon")]
mod write;

pub(crate) use systemctl::systemctl;
