//! Bodies of fuzz targets, as plain functions that a test can run too.

use std::io;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use bytes::BytesMut;

use super::Request;
use super::frame::{Frame, FrameReader};

/// Reads the bytes after the first as frames, cut in two where the first says,
/// and as the line of a request.
///
/// # Panics
///
/// If the place of the cut matters, if a frame that was read is not read again
/// from what it is written as, or if a request does not survive writing.
pub fn fuzz_wire(data: &[u8]) {
    let Some((&cut, wire)) = data.split_first() else {
        return;
    };
    let (start, rest) = wire.split_at(wire.len() * usize::from(cut) / 255);
    let whole = frames(&[], wire);
    assert_eq!(frames(start, rest), whole, "cut at {}", start.len());

    let known: Vec<_> = whole.into_iter().filter(|f| !matches!(f, Frame::Unknown(_))).collect();
    let mut again = BytesMut::new();
    known.iter().for_each(|frame| frame.encode(&mut again));
    assert_eq!(frames(&[], &again), known);

    if let Ok(request) = serde_json::from_slice::<Request>(wire) {
        let written = serde_json::to_vec(&request).unwrap_or_default();
        let read = serde_json::from_slice::<Request>(&written).ok();
        // Not the parameters: a number with a fraction may change in its last
        // digit, and none of the protocol has one.
        let named = |request: Request| (request.v, request.id, request.method);
        assert_eq!(read.map(named), Some(named(request)));
    }
}

/// The frames up to the end or the first that is none.
fn frames(buffered: &[u8], rest: &[u8]) -> Vec<Frame> {
    let mut reader = FrameReader::new(rest, BytesMut::from(buffered));
    std::iter::from_fn(|| ready(reader.next()).ok().flatten()).collect()
}

/// Bytes in memory are never waited for.
fn ready<T>(future: impl Future<Output = io::Result<T>>) -> io::Result<T> {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(result) => result,
        Poll::Pending => Err(io::ErrorKind::WouldBlock.into()),
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn every_line_and_frame_of_the_corpus_is_read_or_refused() {
        let dir = concat!(env!("CARGO_MANIFEST_DIR"), "/../fuzz/corpus/wire");
        let inputs = std::fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path());
        let tried = inputs.map(|path| super::fuzz_wire(&std::fs::read(path).unwrap())).count();
        assert!(tried > 4, "only {tried} inputs");
    }
}
