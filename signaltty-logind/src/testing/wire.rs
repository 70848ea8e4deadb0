//! The messages of the bus and of logind.

use zbus::message::{Builder, Header, Message};

use crate::proxy::{LOGIN1, MANAGER, PATH, PREPARE_FOR_SHUTDOWN};

pub(super) const DBUS: &str = "org.freedesktop.DBus";

pub(super) fn prepare_for_shutdown(sender: &str, begins: bool) -> zbus::Result<Message> {
    Message::signal(PATH, MANAGER, PREPARE_FOR_SHUTDOWN).sender(sender).build(&begins)
}

pub(super) fn name_owner_changed(sender: &str, old: &str, new: &str) -> zbus::Result<Message> {
    Message::signal("/org/freedesktop/DBus", DBUS, "NameOwnerChanged")
        .sender(sender)
        .build(&(LOGIN1, old, new))
}

/// An answer that waits for its body.
pub(super) fn reply(call: &Header<'_>, sender: &str) -> Builder<'static> {
    Message::method_return(call).sender(sender.to_owned())
}

pub(super) fn error(call: &Header<'_>, name: &str, text: &str) -> zbus::Result<Message> {
    Message::error(call, name).sender(DBUS).build(&text)
}
