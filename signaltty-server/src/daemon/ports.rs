//! Ports of the loopback interface for the servers of agents.
//!
//! A port is found by binding it, and given up before the agent binds it some
//! seconds later. So that nothing else takes it meanwhile, ports are handed out
//! in turn, and from below the range from which the kernel gives ports to
//! outgoing connections. Whoever takes one all the same is not the agent: the
//! adapter checks whose socket it talks to.

use std::net::{Ipv4Addr, TcpListener};

use super::random;

/// Hands out ports.
#[derive(Debug)]
pub(crate) struct Ports {
    next: u16,
}

impl Ports {
    /// Begins anywhere, so that two servers of one machine rarely meet.
    pub(crate) fn new() -> Self {
        let offset = u16::from_le_bytes(random::bytes()) % (LAST - FIRST);
        Self { next: FIRST + offset }
    }

    /// A port on which nobody listens, and which was not handed out lately.
    pub(crate) fn next(&mut self) -> Option<u16> {
        (0..TRIES).find_map(|_| {
            let port = self.next;
            self.next = if port >= LAST { FIRST } else { port + 1 };
            TcpListener::bind((Ipv4Addr::LOCALHOST, port)).ok().map(|_| port)
        })
    }
}

/// Below it are registered services.
const FIRST: u16 = 20_000;

/// Above it is the range of outgoing connections, where it was not changed.
const LAST: u16 = 32_000;

/// How many ports are tried.
const TRIES: usize = 64;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ports_are_free_and_handed_out_once() {
        let mut ports = Ports { next: LAST - 1 };
        let first = ports.next().unwrap();
        let taken = TcpListener::bind((Ipv4Addr::LOCALHOST, first + 1));
        let all: Vec<_> = (0..10).filter_map(|_| ports.next()).collect();
        let mut distinct = all.clone();
        distinct.sort_unstable();
        distinct.dedup();
        assert_eq!(distinct.len(), 10);
        assert!(!all.contains(&first));
        assert!(taken.is_err() || !all.contains(&(first + 1)));
        assert!(all.iter().all(|port| (FIRST..=LAST).contains(port)));
    }
}
