//! Notices when the socket's file goes away, and makes it again (C098).
//!
//! Cleaners of temporary files remove sockets of running servers; everybody who
//! is connected goes on, and nobody new can come. So the directory is watched.
//! What took the file's place is somebody's and is left alone.

use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use rustix::fs::inotify::{self, CreateFlags, WatchFlags};
use tokio::net::unix::pipe::Receiver;
use tokio::sync::mpsc;

use super::clock::{rfc3339, wall};
use super::event::Event;
use super::listener::{Place, Socket, private_dir};
use crate::protocol::Health;

/// Whoever removes a directory is not done when the first file is gone.
const SETTLE: Duration = Duration::from_millis(100);

/// Where something is in the way, or the directory cannot be watched.
const AGAIN: Duration = Duration::from_secs(5);

/// Keeps the socket where clients look for it, until the server ends.
pub(crate) async fn keep(socket: Arc<Socket>, events: mpsc::Sender<Event>) {
    let mut watch = Watch::new();
    if let Err(error) = &watch {
        tracing::warn!("the socket's directory is looked at now and then: {error}");
    }
    let mut told = "ok".to_owned();
    loop {
        // Watched before it is looked at, so that nothing happens in between.
        let watching = watch.as_mut().is_ok_and(|watch| watch.on(socket.path()));
        let health = settle(&socket);
        if health.state != told {
            tracing::warn!("the socket: {}", health.detail.as_deref().unwrap_or_default());
            told.clone_from(&health.state);
            if events.send(Event::Listening(health)).await.is_err() {
                return;
            }
        }
        if told == "restored" {
            told = "ok".to_owned();
        }
        let pause = tokio::time::sleep(AGAIN);
        match &mut watch {
            Ok(watch) if watching && told == "ok" => tokio::select! {
                () = events.closed() => return,
                () = watch.happened() => {}
            },
            Ok(watch) if watching => tokio::select! {
                () = events.closed() => return,
                () = watch.happened() => {}
                () = pause => {}
            },
            _ => tokio::select! {
                () = events.closed() => return,
                () = pause => {}
            },
        }
        tokio::time::sleep(SETTLE).await;
    }
}

/// Puts the socket back where that is possible; says how it is.
fn settle(socket: &Socket) -> Health {
    let shown = socket.path().display();
    match socket.place() {
        Place::Ours => Health::ok(),
        Place::Taken => Health::with(
            "taken",
            format!(
                "{shown} is not this server's any more: something else is there, which is left \
                 alone; who is connected goes on, nobody new can connect until it is gone"
            ),
        ),
        Place::Missing => match socket.bind_again() {
            Ok(()) => Health::with(
                "restored",
                format!(
                    "{shown} was removed and made again at {}; who was connected went on",
                    rfc3339(wall())
                ),
            ),
            Err(error) => Health::with(
                "missing",
                format!(
                    "{shown} was removed and cannot be made again: {error}; it is tried again, \
                     and who is connected goes on"
                ),
            ),
        },
    }
}

/// Events of one directory.
struct Watch {
    inotify: Receiver,
}

impl Watch {
    fn new() -> io::Result<Self> {
        let fd: OwnedFd = inotify::init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK)?;
        // It is read like a pipe, and only whether something happened counts.
        Ok(Self { inotify: Receiver::from_owned_fd_unchecked(fd)? })
    }

    /// Watches the directory that a file is in, which is made where it is gone.
    fn on(&mut self, file: &Path) -> bool {
        let Some(dir) = file.parent().map(PathBuf::from) else {
            return false;
        };
        let what = WatchFlags::CREATE
            | WatchFlags::DELETE
            | WatchFlags::MOVED_FROM
            | WatchFlags::MOVED_TO
            | WatchFlags::DELETE_SELF
            | WatchFlags::MOVE_SELF
            | WatchFlags::ONLYDIR;
        // Twice the same directory is watched once.
        private_dir(&dir).is_ok() && inotify::add_watch(&self.inotify, &dir, what).is_ok()
    }

    /// Waits for any of it.
    async fn happened(&mut self) {
        let mut ignored = [0; 4_096];
        if self.inotify.readable().await.is_err() {
            return tokio::time::sleep(AGAIN).await;
        }
        while self.inotify.try_read(&mut ignored).is_ok_and(|count| count > 0) {}
    }
}
