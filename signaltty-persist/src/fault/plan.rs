//! Counts operations and decides which of them go wrong.

use std::io;

use super::Fault;

/// What has happened and what is going to.
#[derive(Debug, Clone, Default)]
pub(super) struct Plan {
    log: Vec<&'static str>,
    fault: Option<(u64, Fault)>,
    killed: bool,
}

impl Plan {
    pub(super) fn operations(&self) -> u64 {
        u64::try_from(self.log.len()).unwrap_or(u64::MAX)
    }

    pub(super) fn log(&self) -> &[&'static str] {
        &self.log
    }

    pub(super) fn set(&mut self, fault: Option<(u64, Fault)>) {
        self.fault = fault;
    }

    /// Counts an operation and fails if it is its turn. Gives faults that are
    /// more than an error to whoever can make them.
    pub(super) fn turn(&mut self, operation: &'static str) -> io::Result<Option<Fault>> {
        if self.killed {
            return Err(self.kill());
        }
        self.log.push(operation);
        let now = self.operations();
        match self.fault {
            Some((at, Fault::Once(errno))) if at == now => Err(io::Error::from_raw_os_error(errno)),
            Some((at, Fault::Forever(errno))) if at <= now => {
                Err(io::Error::from_raw_os_error(errno))
            }
            Some((at, Fault::Crash)) if at == now => Ok(Some(Fault::Crash)),
            Some((at, short @ Fault::Short(_))) if at <= now => Ok(Some(short)),
            _ => Ok(None),
        }
    }

    /// The end of the process. It hears of it, but can do nothing more.
    pub(super) fn kill(&mut self) -> io::Error {
        self.killed = true;
        io::Error::other("the process was killed")
    }
}
