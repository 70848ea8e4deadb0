//! Whose socket is at the other end of a loopback connection.
//!
//! The kernel lists both ends of it; the server's end has an inode once the
//! server accepted it, and whoever holds it has that inode among their
//! descriptors.

use std::net::{Ipv4Addr, SocketAddrV4};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use super::proc_path;
use crate::records::read_small;

/// The inode of the server's end of a connection, once it was accepted.
pub(super) fn server_end(client: SocketAddrV4, server: SocketAddrV4) -> Option<u64> {
    let table = read_small(Path::new("/proc/self/net/tcp"), MAX_TABLE).ok()?;
    let table = String::from_utf8(table).ok()?;
    table.lines().skip(1).find_map(|line| inode_of(line, server, client))
}

/// Whether a process has the socket with this inode open.
pub(super) fn holds(pid: u32, inode: u64) -> bool {
    let wanted = format!("socket:[{inode}]");
    let Ok(descriptors) = std::fs::read_dir(proc_path(pid, "fd")) else {
        return false;
    };
    descriptors.take(MAX_DESCRIPTORS).flatten().any(|descriptor| {
        std::fs::read_link(descriptor.path())
            .is_ok_and(|target| target.as_os_str().as_bytes() == wanted.as_bytes())
    })
}

/// The inode in this line if it is of the socket at `local` whose peer is at
/// `remote`.
fn inode_of(line: &str, local: SocketAddrV4, remote: SocketAddrV4) -> Option<u64> {
    let mut fields = line.split_ascii_whitespace().skip(1);
    let ours = address(fields.next()?)? == local && address(fields.next()?)? == remote;
    // After state, queues, timer, retransmissions, user and timeout.
    let inode = fields.nth(6)?.parse().ok()?;
    (ours && inode != 0).then_some(inode)
}

/// An address as the kernel prints it: the four bytes as one number of the
/// machine, then the port.
fn address(text: &str) -> Option<SocketAddrV4> {
    let (ip, port) = text.split_once(':')?;
    let ip = u32::from_str_radix(ip, 16).ok()?.to_ne_bytes();
    Some(SocketAddrV4::new(Ipv4Addr::from(ip), u16::from_str_radix(port, 16).ok()?))
}

/// The longest table: some fifty thousand connections.
const MAX_TABLE: u64 = 8 << 20;

const MAX_DESCRIPTORS: usize = 1 << 16;

#[cfg(test)]
mod tests {
    use std::net::{SocketAddr, TcpListener, TcpStream};

    use super::*;

    fn v4(address: SocketAddr) -> SocketAddrV4 {
        match address {
            SocketAddr::V4(address) => address,
            SocketAddr::V6(_) => panic!("loopback is IPv4 here"),
        }
    }

    #[test]
    fn d12_the_other_end_is_known_once_it_was_accepted() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let server = v4(listener.local_addr().unwrap());
        let ours = TcpStream::connect(server).unwrap();
        let client = v4(ours.local_addr().unwrap());
        assert_eq!(server_end(client, server), None, "nobody accepted it");
        let accepted = listener.accept().unwrap();
        let inode = server_end(client, server).unwrap();
        assert!(holds(std::process::id(), inode));
        assert!(!holds(1, inode) || std::process::id() == 1);
        assert_ne!(server_end(server, client), Some(inode), "the ends are told apart");
        drop(accepted);
    }

    #[test]
    fn lines_of_another_form_are_left_out() {
        let at = |port| SocketAddrV4::new(Ipv4Addr::LOCALHOST, port);
        let loopback = u32::from_ne_bytes([127, 0, 0, 1]);
        let line = format!(
            "   0: {loopback:08X}:0050 {loopback:08X}:C000 01 00000000:00000000 00:00000000 \
             00000000  1000        0 4711 1 0000000000000000 20 4 30 10 -1"
        );
        assert_eq!(inode_of(&line, at(0x50), at(0xc000)), Some(4711));
        assert_eq!(inode_of(&line, at(0xc000), at(0x50)), None);
        for odd in ["", "0:", "0: x y", &line[..60]] {
            assert_eq!(inode_of(odd, at(0x50), at(0xc000)), None, "{odd:?}");
        }
    }
}
