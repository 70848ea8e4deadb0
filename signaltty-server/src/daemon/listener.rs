//! The socket: only for this user, and only ours.

use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustix::fs::Mode;
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::{Semaphore, mpsc};

use super::connection;
use super::event::{Event, Peer};
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
    listener: std::os::unix::net::UnixListener,
    path: PathBuf,
    /// Device and inode of the socket file that we made.
    file: Option<(u64, u64)>,
}

impl Socket {
    /// Binds. The lock on the state directory is held already, so a socket file
    /// that nobody answers on is a leftover; one that somebody answers on
    /// belongs to a server with another state directory.
    pub(crate) fn bind(path: &Path) -> Result<Self, ListenError> {
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
        // Nobody else may connect between bind and chmod.
        let before = rustix::process::umask(Mode::from_raw_mode(0o177));
        let bound = std::os::unix::net::UnixListener::bind(path);
        rustix::process::umask(before);
        let listener = bound.map_err(failed)?;
        listener.set_nonblocking(true).map_err(failed)?;
        Ok(Self { listener, path: path.to_owned(), file: identity(path) })
    }

    /// Accepts until the loop is gone.
    pub(crate) async fn accept(
        self: Arc<Self>,
        events: mpsc::Sender<Event>,
        replies: Replies,
        limits: LimitSettings,
    ) -> io::Result<()> {
        let listener = UnixListener::from_std(self.listener.try_clone()?)?;
        let room = Arc::new(Semaphore::new(limits.connections));
        let euid = rustix::process::geteuid().as_raw();
        loop {
            let stream = match listener.accept().await {
                Ok((stream, _)) => stream,
                Err(error) => {
                    // Out of descriptors, most likely: give others time to end.
                    tracing::error!("accepting a connection failed: {error}");
                    tokio::time::sleep(std::time::Duration::from_millis(100)).await;
                    continue;
                }
            };
            let Ok(cred) = stream.peer_cred() else {
                continue;
            };
            if cred.uid() != euid {
                tracing::warn!("a connection of user {} was refused", cred.uid());
                continue;
            }
            let Ok(permit) = Arc::clone(&room).try_acquire_owned() else {
                // One more is told so and closed (W18).
                tokio::spawn(refuse(stream, limits.connections));
                continue;
            };
            let pid = cred.pid().and_then(|pid| u32::try_from(pid).ok());
            let (events, replies) = (events.clone(), replies.clone());
            let (peer, max) = (Peer { pid }, limits.request_bytes);
            tokio::spawn(async move {
                if let Err(error) = connection::serve(stream, peer, events, replies, max).await {
                    tracing::debug!("a connection ended: {error}");
                }
                drop(permit);
            });
        }
    }
}

impl Drop for Socket {
    fn drop(&mut self) {
        // Somebody may have removed ours and put another server's there (C098).
        if self.file.is_some() && identity(&self.path) == self.file {
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

fn is_socket(path: &Path) -> bool {
    use std::os::unix::fs::FileTypeExt as _;
    std::fs::symlink_metadata(path).is_ok_and(|found| found.file_type().is_socket())
}

fn identity(path: &Path) -> Option<(u64, u64)> {
    use std::os::unix::fs::MetadataExt as _;
    std::fs::symlink_metadata(path).ok().map(|found| (found.dev(), found.ino()))
}

async fn refuse(mut stream: UnixStream, limit: usize) {
    let message = format!(
        "{limit} connections are open already, which is the limit; close some, or raise \
         limits.connections in config.toml"
    );
    let error = WireError::new(code::RATE_LIMITED, message);
    let _ = connection::write_error(&mut stream, "?", error).await;
}

/// Makes a directory for this user alone, or checks that it is one.
pub(crate) fn private_dir(path: &Path) -> io::Result<()> {
    use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _};
    match std::fs::DirBuilder::new().mode(0o700).recursive(true).create(path) {
        Ok(()) => {}
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
        Err(error) => return Err(error),
    }
    let found = std::fs::symlink_metadata(path)?;
    let mode = found.permissions().mode();
    let ours = found.uid() == rustix::process::geteuid().as_raw();
    if !found.is_dir() || !ours || mode & 0o022 != 0 {
        let message = format!(
            "it must be a directory of this user that nobody else can write to (mode {:o})",
            mode & 0o7777
        );
        return Err(io::Error::new(io::ErrorKind::PermissionDenied, message));
    }
    Ok(())
}
