//! One connection to the bus, subscribed and ready for calls.
//!
//! Any program on the bus may send a signal straight to this connection, past
//! the subscriptions, and a match rule cannot compare the sender with a name
//! such as logind's. So the owner of the name is followed here, and only what
//! it sent counts: nobody else can stop the server with a forged notice.
//!
//! zbus stops reading from the socket while a stream's queue of 64 is full.
//! That bounds the memory, and it obliges the driver to poll [`Link::next`]
//! while a call is under way.

use futures_util::StreamExt;
use futures_util::future::BoxFuture;
use zbus::connection::Builder;
use zbus::message::{Message, Type};
use zbus::proxy::CacheProperties;
use zbus::{Connection, MatchRule, MessageStream};

use crate::inhibitor::Inhibitor;
use crate::machine::Input;
use crate::proxy::{
    CALL_TIMEOUT, LOGIN1, Login1Proxy, MANAGER, PATH, PREPARE_FOR_SHUTDOWN, refused_lock,
    trouble_of_call,
};

/// Makes connections. Tests have one that needs no bus.
pub(crate) trait Connect: Send + 'static {
    /// One connection, not subscribed to anything.
    fn connect(&self) -> BoxFuture<'static, zbus::Result<Connection>>;
}

/// Connects to an address, or to the system bus.
#[derive(Debug)]
pub(crate) struct ToBus {
    pub(crate) address: Option<String>,
}

impl Connect for ToBus {
    fn connect(&self) -> BoxFuture<'static, zbus::Result<Connection>> {
        let address = self.address.clone();
        Box::pin(async move {
            let builder = match address.as_deref() {
                Some(address) => Builder::address(address),
                None => Builder::system(),
            };
            builder.method_timeout(CALL_TIMEOUT).build().await
        })
    }
}

/// A connection and its two subscriptions.
#[derive(Debug)]
pub(crate) struct Link {
    login1: Login1Proxy<'static>,
    owners: MessageStream,
    notices: MessageStream,
    /// Who is logind now, by the name that the bus gave it.
    owner: Option<String>,
}

impl Link {
    /// Subscribes. Everything that is asked later is asked after this.
    pub(crate) async fn open(connection: Connection) -> zbus::Result<Self> {
        let owners = MessageStream::for_match_rule(owner_rule()?, &connection, None).await?;
        let owner = owner_of_login1(&connection).await?;
        let login1 =
            Login1Proxy::builder(&connection).cache_properties(CacheProperties::No).build().await?;
        // Last, since nobody reads the streams before this returns.
        let notices = MessageStream::for_match_rule(notice_rule()?, &connection, None).await?;
        Ok(Self { login1, owners, notices, owner })
    }

    /// The next fact that nobody asked for. May be dropped at any time.
    pub(crate) async fn next(&mut self) -> Input<Inhibitor> {
        loop {
            tokio::select! {
                biased;
                message = self.owners.next() => match message {
                    Some(Ok(message)) => if let Some(owner) = new_owner(&message) {
                        self.owner = owner;
                        return match self.owner {
                            Some(_) => Input::OwnerGained,
                            None => Input::OwnerLost,
                        };
                    },
                    Some(Err(_)) | None => return Input::Disconnected,
                },
                message = self.notices.next() => match message {
                    Some(Ok(message)) => if let Some(begins) = self.notice(&message) {
                        return Input::Signal(begins);
                    },
                    Some(Err(_)) | None => return Input::Disconnected,
                },
            }
        }
    }

    /// Asks for the lock.
    pub(crate) fn lock(&self, who: &str, why: &str) -> BoxFuture<'static, Input<Inhibitor>> {
        let (login1, who, why) = (self.login1.clone(), who.to_owned(), why.to_owned());
        Box::pin(async move {
            match login1.inhibit("shutdown", &who, &why, "delay").await {
                Ok(lock) => Input::Locked(Inhibitor::new(lock.into())),
                Err(error) => refused_lock(&error),
            }
        })
    }

    /// Reads whether a shutdown is under way.
    pub(crate) fn read(&self) -> BoxFuture<'static, Input<Inhibitor>> {
        let login1 = self.login1.clone();
        Box::pin(async move {
            match login1.preparing_for_shutdown().await {
                Ok(preparing) => Input::Read(preparing),
                Err(error) => Input::ReadFailed(trouble_of_call(&error)),
            }
        })
    }

    /// Reads how long the host waits; empty where logind does not say.
    pub(crate) fn read_limit(&self) -> BoxFuture<'static, Option<Input<Inhibitor>>> {
        let login1 = self.login1.clone();
        Box::pin(async move {
            let micros = login1.inhibit_delay_max_usec().await.ok()?;
            Some(Input::Limit(std::time::Duration::from_micros(micros)))
        })
    }

    fn notice(&self, message: &Message) -> Option<bool> {
        let header = message.header();
        let sender = header.sender()?;
        if self.owner.as_deref() != Some(sender.as_str()) {
            return None;
        }
        message.body().deserialize().ok()
    }
}

/// logind's owner after a change that the bus itself reported. The match rule
/// sees to the sender as well, since the bus's own name is a unique one.
#[expect(clippy::option_option, reason = "no news, or news that may be empty")]
fn new_owner(message: &Message) -> Option<Option<String>> {
    if message.header().sender()?.as_str() != DBUS {
        return None;
    }
    let body = message.body();
    let (name, _old, new): (&str, &str, &str) = body.deserialize().ok()?;
    (name == LOGIN1).then(|| (!new.is_empty()).then(|| new.to_owned()))
}

/// Asks without starting logind.
async fn owner_of_login1(connection: &Connection) -> zbus::Result<Option<String>> {
    let reply = connection.call_method(Some(DBUS), DBUS_PATH, Some(DBUS), "GetNameOwner", &LOGIN1);
    match reply.await {
        Ok(reply) => Ok(Some(reply.body().deserialize()?)),
        Err(zbus::Error::FDO(error)) if matches!(*error, zbus::fdo::Error::NameHasNoOwner(_)) => {
            Ok(None)
        }
        Err(error) => Err(error),
    }
}

fn owner_rule() -> zbus::Result<MatchRule<'static>> {
    MatchRule::builder()
        .msg_type(Type::Signal)
        .sender(DBUS)
        .path(DBUS_PATH)
        .interface(DBUS)
        .member("NameOwnerChanged")
        .add_arg(LOGIN1)
        .build()
}

fn notice_rule() -> zbus::Result<MatchRule<'static>> {
    MatchRule::builder()
        .msg_type(Type::Signal)
        .sender(LOGIN1)
        .path(PATH)
        .interface(MANAGER)
        .member(PREPARE_FOR_SHUTDOWN)
        .build()
}

const DBUS: &str = "org.freedesktop.DBus";
const DBUS_PATH: &str = "/org/freedesktop/DBus";
