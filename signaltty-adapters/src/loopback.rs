//! Asks the HTTP server of an agent on the loopback interface.
//!
//! Small on purpose: one request per connection, a deadline for all of it, bounded
//! heads and bodies. What makes a general client unfit is the order: the caller
//! looks whose socket it is connected to before a password is sent.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4, TcpStream};
use std::time::{Duration, Instant};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

/// Where to ask, and as whom.
pub(crate) struct Endpoint<'a> {
    pub(crate) port: u16,
    pub(crate) user: &'a str,
    pub(crate) password: &'a str,
}

/// What one question may cost.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Bounds {
    /// For everything from connecting to the end of the body.
    pub(crate) time: Duration,
    /// Of the body.
    pub(crate) bytes: u64,
}

/// Why nothing was learned.
#[derive(Debug, thiserror::Error)]
pub(crate) enum AskError {
    #[error("nobody answered on port {port}: {source}")]
    Connect { port: u16, source: io::Error },
    #[error("port {port} is not held by this process")]
    NotOurs { port: u16 },
    #[error("the answer on port {port} was cut: {source}")]
    Io { port: u16, source: io::Error },
    #[error("the answer on port {port} is not HTTP that is understood: {what}")]
    Protocol { port: u16, what: String },
}

/// Whether a part of a request that is acted on may have reached the server.
pub(crate) type MayHaveArrived = bool;

/// An answer whose body is still to be read.
pub(crate) struct Answer {
    pub(crate) status: u16,
    body: Body,
}

impl Answer {
    pub(crate) fn body(self) -> impl BufRead {
        BufReader::new(self.body)
    }

    /// The body of an answer that has no end, without a deadline and a bound:
    /// it ends with the process at the other end.
    pub(crate) fn stream(mut self) -> impl BufRead {
        self.body.left = u64::MAX;
        self.body.from.get_mut().until += ENDLESS;
        BufReader::new(self.body)
    }
}

impl Endpoint<'_> {
    /// Asks for `path`. Sends no password unless `ours` says that the connection,
    /// given as its own and the server's address, leads to the right process.
    pub(crate) fn get(
        &self,
        path: &str,
        bounds: Bounds,
        ours: &dyn Fn(SocketAddrV4, SocketAddrV4) -> bool,
    ) -> Result<Answer, AskError> {
        self.ask("GET", path, None, bounds, ours).map_err(|(error, _)| error)
    }

    /// Sends `body`, JSON, to `path`, as [`get`](Self::get) asks. Whether any of
    /// it may have arrived comes with an error.
    pub(crate) fn post(
        &self,
        path: &str,
        body: &str,
        bounds: Bounds,
        ours: &dyn Fn(SocketAddrV4, SocketAddrV4) -> bool,
    ) -> Result<Answer, (AskError, MayHaveArrived)> {
        self.ask("POST", path, Some(body), bounds, ours)
    }

    fn ask(
        &self,
        method: &str,
        path: &str,
        content: Option<&str>,
        bounds: Bounds,
        ours: &dyn Fn(SocketAddrV4, SocketAddrV4) -> bool,
    ) -> Result<Answer, (AskError, MayHaveArrived)> {
        let mut timed = self.connect(method, path, bounds, ours).map_err(|error| (error, false))?;
        let port = self.port;
        let cut = |source| (AskError::Io { port, source }, true);
        let account = STANDARD.encode(format!("{}:{}", self.user, self.password));
        let mut end = format!("Authorization: Basic {account}\r\n");
        if let Some(content) = content {
            let length = content.len();
            end.push_str("Content-Type: application/json\r\n");
            end.push_str(&format!("Content-Length: {length}\r\n\r\n{content}"));
        } else {
            end.push_str("\r\n");
        }
        timed.get_mut().send(end.as_bytes()).map_err(cut)?;
        let head = read_head(&mut timed).map_err(cut)?;
        let (status, frame) =
            read_frame(&head).map_err(|what| (AskError::Protocol { port, what }, true))?;
        let body = Body { from: timed, frame, left: bounds.bytes };
        Ok(Answer { status, body })
    }

    /// Begins a request, up to where only the password and what follows it are
    /// missing.
    fn connect(
        &self,
        method: &str,
        path: &str,
        bounds: Bounds,
        ours: &dyn Fn(SocketAddrV4, SocketAddrV4) -> bool,
    ) -> Result<BufReader<Timed>, AskError> {
        let port = self.port;
        let server = SocketAddrV4::new(Ipv4Addr::LOCALHOST, port);
        let until = Instant::now() + bounds.time;
        let connect = |source| AskError::Connect { port, source };
        let stream = TcpStream::connect_timeout(&server.into(), CONNECT.min(bounds.time))
            .map_err(connect)?;
        let client = match stream.local_addr().map_err(connect)? {
            SocketAddr::V4(client) => client,
            SocketAddr::V6(_) => return Err(AskError::NotOurs { port }),
        };
        let mut timed = BufReader::new(Timed { stream, until });
        let cut = |source| AskError::Io { port, source };
        // A server may accept a connection only once something arrives, and
        // until it does nobody holds the other end.
        let begin = format!(
            "{method} {path} HTTP/1.1\r\nHost: {server}\r\nAccept: application/json\r\n\
             Connection: close\r\n"
        );
        timed.get_mut().send(begin.as_bytes()).map_err(cut)?;
        while !ours(client, server) {
            if Instant::now() >= until {
                return Err(AskError::NotOurs { port });
            }
            std::thread::sleep(ACCEPT_STEP);
        }
        Ok(timed)
    }
}

/// A stream with one deadline for all that is done with it.
struct Timed {
    stream: TcpStream,
    until: Instant,
}

impl Timed {
    fn left(&self) -> io::Result<Duration> {
        match self.until.checked_duration_since(Instant::now()) {
            Some(left) if !left.is_zero() => Ok(left),
            _ => Err(io::ErrorKind::TimedOut.into()),
        }
    }

    fn send(&mut self, request: &[u8]) -> io::Result<()> {
        self.stream.set_write_timeout(Some(self.left()?))?;
        self.stream.write_all(request)
    }
}

impl Read for Timed {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        self.stream.set_read_timeout(Some(self.left()?))?;
        self.stream.read(into)
    }
}

/// How the end of a body is told.
#[derive(Debug, PartialEq, Eq)]
enum Frame {
    /// So many bytes are to come.
    Length(u64),
    /// In chunks, of the current of which so many bytes are to come; `None`
    /// before the first one.
    Chunks(Option<u64>),
    /// The connection ends.
    Close,
}

/// A body, with its frame taken off.
struct Body {
    from: BufReader<Timed>,
    frame: Frame,
    /// How much more is taken.
    left: u64,
}

impl Read for Body {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if let Frame::Chunks(at) = &mut self.frame
            && !matches!(at, Some(1..))
        {
            let size = next_chunk(&mut self.from, at.is_some())?;
            self.frame = if size == 0 { Frame::Length(0) } else { Frame::Chunks(Some(size)) };
        }
        let framed = match self.frame {
            Frame::Length(left) | Frame::Chunks(Some(left)) => left,
            Frame::Chunks(None) | Frame::Close => u64::MAX,
        };
        if framed == 0 || into.is_empty() {
            return Ok(0);
        }
        if self.left == 0 {
            return Err(io::Error::other("more bytes than are read"));
        }
        let most = usize::try_from(framed.min(self.left)).unwrap_or(usize::MAX);
        let most = into.len().min(most);
        let read = self.from.read(into.get_mut(..most).unwrap_or_default())?;
        let count = read as u64;
        self.left = self.left.saturating_sub(count);
        match &mut self.frame {
            Frame::Length(left) | Frame::Chunks(Some(left)) if read > 0 => *left -= count,
            Frame::Length(_) | Frame::Chunks(_) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Frame::Close => {}
        }
        Ok(read)
    }
}

/// The size of the next chunk, after the line end of the one before.
fn next_chunk(from: &mut impl BufRead, after_one: bool) -> io::Result<u64> {
    let mut line = Vec::new();
    if after_one {
        from.take(2).read_until(b'\n', &mut line)?;
        line.clear();
    }
    from.take(MAX_CHUNK_LINE).read_until(b'\n', &mut line)?;
    match httparse::parse_chunk_size(&line) {
        Ok(httparse::Status::Complete((_, size))) => Ok(size),
        _ => Err(io::Error::other("a chunk without a size")),
    }
}

fn read_head(from: &mut impl BufRead) -> io::Result<Vec<u8>> {
    let mut head = Vec::new();
    let mut from = from.take(MAX_HEAD);
    loop {
        let before = head.len();
        if from.read_until(b'\n', &mut head)? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        if matches!(head.get(before..), Some(b"\r\n" | b"\n")) {
            return Ok(head);
        }
    }
}

fn read_frame(head: &[u8]) -> Result<(u16, Frame), String> {
    let mut headers = [httparse::EMPTY_HEADER; MAX_HEADERS];
    let mut response = httparse::Response::new(&mut headers);
    match response.parse(head) {
        Ok(httparse::Status::Complete(_)) => {}
        Ok(httparse::Status::Partial) => return Err("its head has no end".to_owned()),
        Err(error) => return Err(error.to_string()),
    }
    let status = response.code.unwrap_or_default();
    let mut frame = Frame::Close;
    for header in response.headers.iter() {
        let value = std::str::from_utf8(header.value).unwrap_or_default().trim();
        if header.name.eq_ignore_ascii_case("transfer-encoding") {
            if !value.eq_ignore_ascii_case("chunked") {
                return Err(format!("its encoding is {value:?}"));
            }
            frame = Frame::Chunks(None);
        } else if header.name.eq_ignore_ascii_case("content-length") && frame == Frame::Close {
            let length = value.parse().map_err(|_| "its length is no number".to_owned())?;
            frame = Frame::Length(length);
        }
    }
    Ok((status, frame))
}

/// Ten years.
const ENDLESS: Duration = Duration::from_secs(10 * 365 * 24 * 60 * 60);

const CONNECT: Duration = Duration::from_millis(500);

const ACCEPT_STEP: Duration = Duration::from_millis(10);

const MAX_HEAD: u64 = 32 << 10;

const MAX_HEADERS: usize = 64;

const MAX_CHUNK_LINE: u64 = 256;

#[cfg(test)]
mod tests;
