//! Bytes to the terminal, which may be slow: nothing else waits for it.
//!
//! The terminal is opened a second time, so that writing without waiting does
//! not change how the shell's own descriptor behaves. Where that cannot be done,
//! writes wait.

use std::fs::OpenOptions;
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;

use rustix::fs::OFlags;
use tokio::net::unix::pipe::Sender;

/// The terminal's end of this client.
#[derive(Debug)]
pub(super) struct Out {
    terminal: Option<Sender>,
    pending: Vec<u8>,
    written: usize,
}

impl Out {
    pub(super) fn open() -> io::Result<Self> {
        let flags = OFlags::NONBLOCK | OFlags::NOCTTY;
        let flags = i32::try_from(flags.bits()).unwrap_or(0);
        let again = OpenOptions::new().write(true).custom_flags(flags).open("/proc/self/fd/1");
        // It need not be a pipe, only something that can be waited for.
        let terminal = again.ok().and_then(|file| Sender::from_file_unchecked(file).ok());
        Ok(Self { terminal, pending: Vec::new(), written: 0 })
    }

    /// Adds bytes and writes as many as the terminal takes now.
    pub(super) fn push(&mut self, bytes: &[u8]) {
        self.pending.extend_from_slice(bytes);
        // What cannot be written now is written later; a terminal that is gone
        // is noticed by whoever reads from it.
        let _ = self.write_some();
    }

    /// Whether bytes wait for the terminal.
    pub(super) fn waits(&self) -> bool {
        !self.pending.is_empty()
    }

    /// Drops what waits.
    pub(super) fn forget(&mut self) {
        self.pending.clear();
        self.written = 0;
    }

    /// Waits for the terminal and goes on.
    pub(super) async fn flush(&mut self) -> io::Result<()> {
        if let Some(terminal) = &self.terminal {
            terminal.writable().await?;
        }
        match self.write_some() {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(()),
            other => other,
        }
    }

    fn write_some(&mut self) -> io::Result<()> {
        while let Some(rest) = self.pending.get(self.written..).filter(|rest| !rest.is_empty()) {
            let wrote = match &self.terminal {
                Some(terminal) => terminal.try_write(rest),
                None => {
                    let mut out = io::stdout().lock();
                    out.write_all(rest).and_then(|()| out.flush()).map(|()| rest.len())
                }
            };
            match wrote {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(count) => self.written += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        self.forget();
        Ok(())
    }
}
