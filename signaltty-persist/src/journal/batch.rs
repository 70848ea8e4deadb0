//! Events with their numbers, as the bytes of one write.

use super::writer::Entry;

/// Entries with their numbers.
pub(super) struct Batch {
    pub(super) numbers: Vec<u64>,
    pub(super) bytes: Vec<u8>,
    /// The last record.
    pub(super) last: u64,
    /// The last number.
    pub(super) head: u64,
}

impl Batch {
    pub(super) fn new(entries: &[Entry], first: u64, prev: u64) -> Self {
        let room = entries.iter().map(|entry| match entry {
            Entry::State(draft) => draft.size_hint(),
            Entry::Passing => 0,
        });
        let mut batch = Self {
            numbers: Vec::with_capacity(entries.len()),
            bytes: Vec::with_capacity(room.sum()),
            last: prev,
            head: 0,
        };
        for (seq, entry) in (first..).zip(entries) {
            if let Entry::State(draft) = entry {
                draft.encode(seq, batch.last, &mut batch.bytes);
                batch.last = seq;
            }
            batch.numbers.push(seq);
            batch.head = seq;
        }
        batch
    }
}

/// How many there are.
pub(super) fn size<T>(all: &[T]) -> u64 {
    u64::try_from(all.len()).unwrap_or(u64::MAX)
}
