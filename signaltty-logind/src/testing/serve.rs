//! Answers calls to the bus and to logind.

use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::sync::Arc;

use futures_util::StreamExt;
use zbus::connection::Builder;
use zbus::message::{Header, Message, Type};
use zbus::{Connection, Guid, MessageStream};

use super::{Answer, Event, World, wire};

/// Serves each client that connects.
pub(super) async fn accept(listener: tokio::net::UnixListener, world: Arc<World>) {
    while let Ok((stream, _)) = listener.accept().await {
        if let Ok(stream) = stream.into_std() {
            let builder = Builder::unix_stream(stream).server(Guid::generate()).p2p();
            tokio::spawn(serve(builder, world.clone()));
        }
    }
}

/// Serves one client until it is gone.
pub(crate) async fn serve(builder: Builder<'static>, world: Arc<World>) {
    let Ok(mut calls) = builder.build_message_stream().await else { return };
    let connection = Connection::from(&calls);
    world.state().peers.push(connection.clone());
    answer_all(&mut calls, &connection, &world).await;
    world.tell(Event::Gone);
}

/// Answers calls until the connection ends.
pub(crate) async fn answer_all(
    calls: &mut MessageStream,
    connection: &Connection,
    world: &Arc<World>,
) {
    while let Some(Ok(call)) = calls.next().await {
        if call.message_type() != Type::MethodCall {
            continue;
        }
        answer(&call, connection, world).await;
    }
}

pub(super) async fn answer(call: &Message, connection: &Connection, world: &Arc<World>) {
    // A call that cannot be read is one that the fake does not know.
    match answer_to(call, world) {
        Ok(Some(answer)) => {
            // The client may be gone.
            let _ = connection.send(&answer).await;
        }
        Ok(None) => world.state().unanswered.push((connection.clone(), call.clone())),
        Err(_) => {}
    }
}

fn answer_to(call: &Message, world: &Arc<World>) -> zbus::Result<Option<Message>> {
    let header = call.header();
    let body = call.body();
    match header.member().map(|member| member.as_str()) {
        Some("Hello") => wire::reply(&header, wire::DBUS).build(&":1.7").map(Some),
        Some("GetNameOwner") if world.state().present => {
            wire::reply(&header, wire::DBUS).build(&world.logind()).map(Some)
        }
        Some("GetNameOwner") => {
            wire::error(&header, "org.freedesktop.DBus.Error.NameHasNoOwner", "nobody").map(Some)
        }
        Some("AddMatch") => {
            let rule: &str = body.deserialize()?;
            let member = rule.split("member='").nth(1).and_then(|rest| rest.split('\'').next());
            world.tell(Event::Subscribed(member.unwrap_or_default().to_owned()));
            wire::reply(&header, wire::DBUS).build(&()).map(Some)
        }
        Some("Inhibit") => {
            let arguments = body.deserialize()?;
            inhibit(&header, arguments, world)
        }
        Some("Get") => {
            let (_interface, name): (&str, &str) = body.deserialize()?;
            read(&header, name, world)
        }
        _ => wire::reply(&header, wire::DBUS).build(&()).map(Some),
    }
}

fn inhibit(
    call: &Header<'_>,
    (what, who, why, mode): (String, String, String, String),
    world: &Arc<World>,
) -> zbus::Result<Option<Message>> {
    let held = world.state().held();
    world.tell(Event::Inhibit { arguments: [what, who, why, mode], held });
    let (answer, preparing) = {
        let state = world.state();
        (state.answer, state.preparing)
    };
    match answer {
        Answer::Silence => Ok(None),
        Answer::Deny => {
            wire::error(call, "org.freedesktop.DBus.Error.AccessDenied", "no permission").map(Some)
        }
        Answer::Grant if preparing => {
            let name = "org.freedesktop.login1.OperationInProgress";
            wire::error(call, name, "already running").map(Some)
        }
        Answer::Grant => {
            let lock = zbus::OwnedFd::from(make_lock(world)?);
            wire::reply(call, &world.logind()).build(&lock).map(Some)
        }
    }
}

fn read(call: &Header<'_>, name: &str, world: &Arc<World>) -> zbus::Result<Option<Message>> {
    world.tell(Event::Read(name.to_owned()));
    let (answer, preparing, limit) = {
        let state = world.state();
        (state.answer, state.preparing, state.limit)
    };
    let logind = world.logind();
    match name {
        _ if answer == Answer::Silence => Ok(None),
        "PreparingForShutdown" => {
            wire::reply(call, &logind).build(&zbus::Variant::from(preparing)).map(Some)
        }
        "InhibitDelayMaxUSec" => {
            let micros = u64::try_from(limit.as_micros()).unwrap_or(u64::MAX);
            wire::reply(call, &logind).build(&zbus::Variant::from(micros)).map(Some)
        }
        _ => wire::error(call, "org.freedesktop.DBus.Error.UnknownProperty", name).map(Some),
    }
}

/// One end is the lock; the fake sees the other one end when it is closed.
fn make_lock(world: &Arc<World>) -> io::Result<OwnedFd> {
    let (lock, ours) = UnixStream::pair()?;
    ours.set_nonblocking(true)?;
    let watched = tokio::net::UnixStream::from_std(ours.try_clone()?)?;
    world.state().locks.push(ours);
    let world = world.clone();
    tokio::spawn(async move {
        // Nothing is ever written: this returns when the lock is closed.
        let _ = watched.readable().await;
        world.tell(Event::Released);
    });
    Ok(lock.into())
}
