//! The server and the service manager that runs it.

pub(crate) mod notify;
