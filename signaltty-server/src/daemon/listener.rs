//! The socket: only for this user, and only ours.

use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use rustix::fs::Mode;
use serde_json::json;
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::{Semaphore, mpsc};

use super::connection;
use super::event::{Event, Peer};
use super::pace::Pace;
use super::replies::Replies;
use crate::config::LimitSettings;
use crate::protocol::{WireError, code};

/// Why there is no socket to listen on.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ListenError {
    /// The directory for the socket could not be made or is not safe.
    #[error("the socket's directory {} cannot be used: {source}", path.display())]
    Directory {
        /// Which.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// Another server answers there.
    #[error(
        "another server listens on {} already, with another state directory; pass another --socket",
        .0.display()
    )]
    InUse(PathBuf),
    /// Something else is where the socket should be.
    #[error(
        "cannot listen on {}: {what} is in its place, which was left alone; move it away, or pass \
         another --socket", path.display()
    )]
    Occupied {
        /// Where.
        path: PathBuf,
        /// What is there.
        what: &'static str,
    },
    /// The socket could not be made.
    #[error("cannot listen on {}: {source}", path.display())]
    Bind {
        /// Where.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
}

/// A bound socket, unlinked when dropped.
#[derive(Debug)]
pub(crate) struct Socket {
    path: PathBuf,
    bound: Mutex<Bound>,
    /// Listeners, each in the place of the one before; there are as many as times
    /// that the file was removed.
    listeners: mpsc::UnboundedSender<StdListener>,
    incoming: Mutex<Option<mpsc::UnboundedReceiver<StdListener>>>,
    /// The lock on the state directory, as it was taken.
    lock: (PathBuf, Option<FileId>),
}

type StdListener = std::os::unix::net::UnixListener;

/// Device and inode.
type FileId = (u64, u64);

#[derive(Debug)]
struct Bound {
    /// The socket file that we made.
    file: Option<FileId>,
}

/// What is where the socket should be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    Ours,
    /// Something else.
    Taken,
    Missing,
}

impl Socket {
    /// Binds. The lock on the state directory is held already, so a socket file
    /// that nobody answers on is a leftover; one that somebody answers on
    /// belongs to a server with another state directory.
    pub(crate) fn bind(path: &Path, lock: PathBuf) -> Result<Self, ListenError> {
        if let Some(parent) = path.parent() {
            private_dir(parent)
                .map_err(|source| ListenError::Directory { path: parent.to_owned(), source })?;
        }
        let failed = |source| ListenError::Bind { path: path.to_owned(), source };
        match std::os::unix::net::UnixStream::connect(path) {
            Ok(_) => return Err(ListenError::InUse(path.to_owned())),
            // The system refuses a connection to any other file, too: such a
            // file is somebody's, and `bind` says that it is in the way (C098).
            Err(error) if error.kind() == io::ErrorKind::ConnectionRefused && is_socket(path) => {
                std::fs::remove_file(path).map_err(failed)?;
            }
            Err(_) => {}
        }
        if let Some(what) = in_the_way(path) {
            return Err(ListenError::Occupied { path: path.to_owned(), what });
        }
        // Nobody else may connect between bind and chmod.
        let before = rustix::process::umask(Mode::from_raw_mode(0o177));
        let bound = StdListener::bind(path);
        rustix::process::umask(before);
        let listener = bound.map_err(failed)?;
        listener.set_nonblocking(true).map_err(failed)?;
        let lock = (lock.clone(), identity(&lock));
        let (listeners, incoming) = mpsc::unbounded_channel();
        let _ = listeners.send(listener);
        Ok(Self {
            path: path.to_owned(),
            bound: Mutex::new(Bound { file: identity(path) }),
            listeners,
            incoming: Mutex::new(Some(incoming)),
            lock,
        })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// What is where the socket should be.
    pub(crate) fn place(&self) -> Place {
        match identity(&self.path) {
            None => Place::Missing,
            found if found == self.bound().file => Place::Ours,
            Some(_) => Place::Taken,
        }
    }

    /// Makes the socket again where nothing is in its place. Binding takes the
    /// place of nothing, so another server that was faster keeps it.
    ///
    /// # Errors
    ///
    /// When the state directory is not this server's any more, so that another
    /// one may serve it, or the system refuses.
    pub(crate) fn bind_again(&self) -> io::Result<()> {
        let (lock, held) = &self.lock;
        if identity(lock) != *held {
            let message = format!("the lock {} is another server's", lock.display());
            return Err(io::Error::other(message));
        }
        if let Some(parent) = self.path.parent() {
            private_dir(parent)?;
        }
        // Not with a umask of its own: other threads make files meanwhile. Who
        // connects is asked for its user in any case.
        let listener = StdListener::bind(&self.path)?;
        std::fs::set_permissions(&self.path, std::fs::Permissions::from_mode(0o600))?;
        listener.set_nonblocking(true)?;
        self.bound().file = identity(&self.path);
        self.listeners.send(listener).map_err(|_| io::Error::other("nobody accepts any more"))
    }

    fn bound(&self) -> MutexGuard<'_, Bound> {
        locked(&self.bound)
    }

    /// Accepts until the loop is gone.
    pub(crate) async fn accept(
        self: Arc<Self>,
        events: mpsc::Sender<Event>,
        replies: Replies,
        limits: LimitSettings,
    ) -> io::Result<()> {
        let Some(mut incoming) = locked(&self.incoming).take() else {
            return Ok(());
        };
        let Some(mut next) = incoming.recv().await else {
            return Ok(());
        };
        let mut welcome = Welcome::new(events, replies, limits);
        loop {
            let listener = UnixListener::from_std(next)?;
            next = loop {
                tokio::select! {
                    accepted = listener.accept() => match accepted {
                        Ok((stream, _)) => welcome.take(stream),
                        Err(error) => {
                            // Out of descriptors, most likely: give others time to end.
                            tracing::error!("accepting a connection failed: {error}");
                            tokio::time::sleep(Duration::from_millis(100)).await;
                        }
                    },
                    newer = incoming.recv() => match newer {
                        Some(newer) => break newer,
                        None => return Ok(()),
                    },
                }
            };
            // Whoever reached the old one before its file went away.
            let waiting = listener.into_std()?;
            while let Ok((stream, _)) = waiting.accept() {
                if stream.set_nonblocking(true).is_ok()
                    && let Ok(stream) = UnixStream::from_std(stream)
                {
                    welcome.take(stream);
                }
            }
        }
    }
}

/// Who may come in.
struct Welcome {
    events: mpsc::Sender<Event>,
    replies: Replies,
    limits: LimitSettings,
    room: Arc<Semaphore>,
    euid: u32,
    pace: Pace,
}

impl Welcome {
    fn new(events: mpsc::Sender<Event>, replies: Replies, limits: LimitSettings) -> Self {
        let room = Arc::new(Semaphore::new(limits.connections));
        let euid = rustix::process::geteuid().as_raw();
        let pace = Pace::new(limits.connections_per_s);
        Self { events, replies, limits, room, euid, pace }
    }

    /// Serves a connection, or tells it why not.
    fn take(&mut self, stream: UnixStream) {
        let Ok(cred) = stream.peer_cred() else {
            return;
        };
        if cred.uid() != self.euid {
            tracing::warn!("a connection of user {} was refused", cred.uid());
            tokio::spawn(refuse(stream, foreign(cred.uid(), self.euid)));
            return;
        }
        let wait = self.pace.take(Instant::now());
        if !wait.is_zero() {
            tokio::spawn(refuse(stream, too_fast(self.limits.connections_per_s, wait)));
            return;
        }
        let Ok(permit) = Arc::clone(&self.room).try_acquire_owned() else {
            // One more is told so and closed (W18).
            tokio::spawn(refuse(stream, too_many(self.limits.connections)));
            return;
        };
        let pid = cred.pid().and_then(|pid| u32::try_from(pid).ok());
        let (events, replies) = (self.events.clone(), self.replies.clone());
        let (peer, limits) = (Peer { pid }, self.limits.clone());
        tokio::spawn(async move {
            if let Err(error) = connection::serve(stream, peer, events, replies, &limits).await {
                tracing::debug!("a connection ended: {error}");
            }
            drop(permit);
        });
    }
}

impl Drop for Socket {
    fn drop(&mut self) {
        // Somebody may have removed ours and put another server's there (C098).
        if self.place() == Place::Ours {
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

/// Nothing can panic while one of these is held.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What is where a socket should be, if that is no socket.
fn in_the_way(path: &Path) -> Option<&'static str> {
    let kind = std::fs::symlink_metadata(path).ok()?.file_type();
    if kind.is_symlink() {
        return Some("a symbolic link");
    }
    let what = if kind.is_dir() { "a directory" } else { "a file" };
    (!is_socket(path)).then_some(what)
}

fn is_socket(path: &Path) -> bool {
    use std::os::unix::fs::FileTypeExt as _;
    std::fs::symlink_metadata(path).is_ok_and(|found| found.file_type().is_socket())
}

fn identity(path: &Path) -> Option<(u64, u64)> {
    use std::os::unix::fs::MetadataExt as _;
    std::fs::symlink_metadata(path).ok().map(|found| (found.dev(), found.ino()))
}

pub(super) fn foreign(user: u32, owner: u32) -> WireError {
    let message = format!(
        "this server is user {owner}'s and serves nobody else, and this is user {user}; run the \
         command as that user, or without --socket and SIGNALTTY_SOCKET for a server of your own"
    );
    WireError::new(code::FOREIGN_USER, message)
}

fn too_many(limit: usize) -> WireError {
    let message = format!(
        "{limit} connections are open already, which is the limit; close some, or raise \
         limits.connections in config.toml"
    );
    WireError::new(code::RATE_LIMITED, message)
}

fn too_fast(limit: u32, wait: Duration) -> WireError {
    let message = format!(
        "more than {limit} connections a second are opened; keep one open and ask over it, or \
         raise limits.connections_per_s in config.toml"
    );
    let wait = u64::try_from(wait.as_millis()).unwrap_or(u64::MAX).max(1);
    WireError::new(code::RATE_LIMITED, message).with_details(json!({"retry_after_ms": wait}))
}

async fn refuse(mut stream: UnixStream, error: WireError) {
    let _ = connection::write_error(&mut stream, "?", error).await;
}

/// Makes a directory for this user alone, or checks that it is one.
pub(crate) fn private_dir(path: &Path) -> io::Result<()> {
    use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _};
    let euid = rustix::process::geteuid().as_raw();
    // What root made in the directory of another user would be in their way.
    let above = path.ancestors().skip(1).find_map(|above| above.metadata().ok());
    if let Some(above) = above.filter(|found| found.uid() != euid && found.uid() != 0)
        && !path.exists()
    {
        let message = format!("it is in a directory of user {}, and this is {euid}", above.uid());
        return Err(io::Error::new(io::ErrorKind::PermissionDenied, message));
    }
    match std::fs::DirBuilder::new().mode(0o700).recursive(true).create(path) {
        Ok(()) => {}
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
        Err(error) => return Err(error),
    }
    let found = std::fs::symlink_metadata(path)?;
    let mode = found.permissions().mode();
    let ours = found.uid() == euid;
    if !found.is_dir() || !ours || mode & 0o022 != 0 {
        let message = format!(
            "it must be a directory of this user that nobody else can write to (mode {:o})",
            mode & 0o7777
        );
        return Err(io::Error::new(io::ErrorKind::PermissionDenied, message));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    #[test]
    fn another_user_is_told_whose_server_it_is() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let (events, _receive) = mpsc::channel(8);
            let mut welcome = Welcome::new(events, Replies::new(), LimitSettings::default());
            let user = welcome.euid;
            welcome.euid = user + 1;
            let (theirs, ours) = UnixStream::pair().unwrap();
            welcome.take(theirs);
            let mut said = String::new();
            let mut ours = tokio::io::BufReader::new(ours);
            tokio::io::AsyncReadExt::read_to_string(&mut ours, &mut said).await.unwrap();
            for part in ["FOREIGN_USER".to_owned(), format!("user {}'s", user + 1)] {
                assert!(said.contains(&part), "{part}: {said}");
            }
        });
    }

    #[test]
    fn c098_what_is_in_the_place_of_the_socket_is_named_and_left_alone() {
        let dir = tempfile::tempdir().unwrap();
        let (path, lock) = (dir.path().join("s"), dir.path().join("lock"));
        let refused = || Socket::bind(&path, lock.clone()).unwrap_err().to_string();
        std::fs::write(&path, "somebody's").unwrap();
        assert!(refused().contains("a file is in its place"), "{}", refused());
        assert_eq!(std::fs::read(&path).unwrap(), b"somebody's");
        std::fs::remove_file(&path).unwrap();
        std::fs::create_dir(&path).unwrap();
        assert!(refused().contains("a directory is in its place"), "{}", refused());
        std::fs::remove_dir(&path).unwrap();
        std::os::unix::fs::symlink("nowhere", &path).unwrap();
        assert!(refused().contains("a symbolic link is in its place"), "{}", refused());
        std::fs::remove_file(&path).unwrap();
        Socket::bind(&path, lock).unwrap();
    }

    #[test]
    fn c098_who_waited_at_a_removed_socket_is_served_and_nobody_is_robbed() {
        let dir = tempfile::tempdir().unwrap();
        let (path, lock) = (dir.path().join("s"), dir.path().join("lock"));
        std::fs::write(&lock, "").unwrap();
        let socket = Arc::new(Socket::bind(&path, lock.clone()).unwrap());
        let ask = || {
            let mut stream = std::os::unix::net::UnixStream::connect(&path).unwrap();
            let line = br#"{"v":"signaltty/1","id":"1","method":"server.status"}"#;
            stream.write_all(&[line, &b"\n"[..]].concat()).unwrap();
            stream
        };
        let mut asked = vec![ask(), ask(), ask()];
        std::fs::remove_file(&path).unwrap();
        assert_eq!(socket.place(), Place::Missing);
        socket.bind_again().unwrap();
        assert_eq!(socket.place(), Place::Ours);
        asked.push(ask());
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let (events, mut receive) = mpsc::channel(8);
            let limits = LimitSettings::default();
            tokio::spawn(Arc::clone(&socket).accept(events, Replies::new(), limits));
            for _ in &asked {
                let event = tokio::time::timeout(Duration::from_secs(30), receive.recv()).await;
                assert!(matches!(event, Ok(Some(Event::Request { .. }))));
            }
        });
        // Another server's, by now.
        std::fs::remove_file(&path).unwrap();
        std::fs::write(&path, "somebody's").unwrap();
        assert_eq!(socket.place(), Place::Taken);
        assert!(socket.bind_again().is_err());
        assert_eq!(std::fs::read(&path).unwrap(), b"somebody's");
        // The state directory is another server's.
        std::fs::remove_file(&path).unwrap();
        std::fs::remove_file(&lock).unwrap();
        std::fs::write(&lock, "").unwrap();
        let other = std::fs::File::create(dir.path().join("other")).unwrap();
        std::fs::rename(dir.path().join("other"), &lock).unwrap();
        let error = socket.bind_again().unwrap_err().to_string();
        assert!(error.contains("another server's"), "{error}");
        drop(other);
        drop(socket);
        assert!(!path.exists());
    }
}
