//! An attached connection.

use std::io::{BufReader, ErrorKind, Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::time::Instant;

use super::PATIENCE;

pub const OUTPUT: u8 = 1;
pub const INPUT: u8 = 2;
pub const RESIZE: u8 = 3;
pub const REPAINT: u8 = 4;
pub const EXIT: u8 = 5;
pub const HISTORY_REQUEST: u8 = 7;
pub const HISTORY: u8 = 8;
pub const DETACH: u8 = 9;

/// A client that looks at a pane.
pub struct Attached {
    stream: BufReader<UnixStream>,
}

impl Attached {
    pub fn new(stream: BufReader<UnixStream>) -> Self {
        Self { stream }
    }

    pub fn send(&mut self, kind: u8, payload: &[u8]) {
        let mut frame = vec![kind];
        frame.extend(u32::try_from(payload.len()).unwrap().to_le_bytes());
        frame.extend(payload);
        match self.stream.get_mut().write_all(&frame) {
            // The server went away, which the next read says.
            Err(error) if error.kind() == ErrorKind::BrokenPipe => {}
            sent => sent.unwrap(),
        }
    }

    pub fn input(&mut self, text: &str) {
        self.send(INPUT, text.as_bytes());
    }

    pub fn resize(&mut self, cols: u16, rows: u16) {
        let payload = [cols.to_le_bytes(), rows.to_le_bytes()].concat();
        self.send(RESIZE, &payload);
    }

    /// The next frame; `None` at the end of the connection.
    pub fn next(&mut self) -> Option<(u8, Vec<u8>)> {
        let mut header = [0; 5];
        match self.stream.read_exact(&mut header) {
            Ok(()) => {}
            Err(error) if error.kind() == ErrorKind::UnexpectedEof => return None,
            Err(error) if error.kind() == ErrorKind::ConnectionReset => return None,
            Err(error) => panic!("no frame came: {error}"),
        }
        let length = u32::from_le_bytes(header[1..].try_into().unwrap());
        let mut payload = vec![0; usize::try_from(length).unwrap()];
        self.stream.read_exact(&mut payload).unwrap();
        Some((header[0], payload))
    }

    /// Reads until what came, repaints and output together, contains a text;
    /// gives all of it.
    pub fn wait_text(&mut self, wanted: &str) -> String {
        let until = Instant::now() + PATIENCE;
        let mut seen = String::new();
        while Instant::now() < until {
            let (kind, payload) = self.next().expect("the connection goes on");
            if matches!(kind, OUTPUT | REPAINT) {
                seen.push_str(&String::from_utf8_lossy(&payload));
            }
            if seen.contains(wanted) {
                return seen;
            }
        }
        panic!("{wanted:?} did not come, but {seen:?}");
    }

    /// Reads until a frame of that type; gives its payload.
    pub fn wait_kind(&mut self, wanted: u8) -> Vec<u8> {
        let until = Instant::now() + PATIENCE;
        while Instant::now() < until {
            let (kind, payload) = self.next().expect("the connection goes on");
            if kind == wanted {
                return payload;
            }
        }
        panic!("no frame {wanted} came");
    }
}
