//! Bounded queues to threads, whose memory comes with what waits.
//!
//! The standard library's bounded queue takes the memory of all its places when it
//! is made: 1.5 MiB for one of 16,384 that is hardly ever longer than one.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{self, RecvError, RecvTimeoutError, TryRecvError, TrySendError};
use std::time::Duration;

/// Where things are put into the queue.
#[derive(Debug)]
pub(crate) struct Sender<T> {
    queue: mpsc::Sender<T>,
    waiting: Arc<AtomicUsize>,
    most: usize,
}

/// The other end.
#[derive(Debug)]
pub(crate) struct Receiver<T> {
    queue: mpsc::Receiver<T>,
    waiting: Arc<AtomicUsize>,
}

/// A queue in which at most so many things wait.
pub(crate) fn bounded<T>(most: usize) -> (Sender<T>, Receiver<T>) {
    let (send, receive) = mpsc::channel();
    let waiting = Arc::new(AtomicUsize::new(0));
    let receiver = Receiver { queue: receive, waiting: Arc::clone(&waiting) };
    (Sender { queue: send, waiting, most }, receiver)
}

impl<T> Sender<T> {
    /// Puts one more into it, without waiting.
    ///
    /// # Errors
    ///
    /// Gives it back where there is no room, or no receiver any more.
    pub(crate) fn try_send(&self, value: T) -> Result<(), TrySendError<T>> {
        let room = |waiting| (waiting < self.most).then_some(waiting + 1);
        if self.waiting.fetch_update(Ordering::AcqRel, Ordering::Acquire, room).is_err() {
            return Err(TrySendError::Full(value));
        }
        self.queue.send(value).map_err(|mpsc::SendError(value)| TrySendError::Disconnected(value))
    }
}

impl<T> Clone for Sender<T> {
    fn clone(&self) -> Self {
        Self { queue: self.queue.clone(), waiting: Arc::clone(&self.waiting), most: self.most }
    }
}

impl<T> Receiver<T> {
    /// Waits for the next one; an error once nobody can send any more.
    pub(crate) fn recv(&self) -> Result<T, RecvError> {
        self.queue.recv().inspect(|_| self.taken())
    }

    /// The same, for so long at most.
    pub(crate) fn recv_timeout(&self, time: Duration) -> Result<T, RecvTimeoutError> {
        self.queue.recv_timeout(time).inspect(|_| self.taken())
    }

    /// The next one, if there is one.
    pub(crate) fn try_recv(&self) -> Result<T, TryRecvError> {
        self.queue.try_recv().inspect(|_| self.taken())
    }

    fn taken(&self) {
        self.waiting.fetch_sub(1, Ordering::AcqRel);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_fit_comes_back_until_there_is_room() {
        let (send, receive) = bounded(2);
        assert_eq!(send.try_send(1), Ok(()));
        assert_eq!(send.clone().try_send(2), Ok(()));
        assert_eq!(send.try_send(3), Err(TrySendError::Full(3)));
        assert_eq!(receive.recv(), Ok(1));
        assert_eq!(send.try_send(4), Ok(()));
        assert_eq!((receive.try_recv(), receive.recv_timeout(Duration::ZERO)), (Ok(2), Ok(4)));
        assert_eq!(receive.try_recv(), Err(TryRecvError::Empty));
        assert_eq!([send.try_send(5), send.try_send(6)], [Ok(()), Ok(())]);
        drop(receive);
        assert_eq!(send.try_send(7), Err(TrySendError::Full(7)));
        let (send, _) = bounded(1);
        assert_eq!(send.try_send(8), Err(TrySendError::Disconnected(8)));
    }
}
