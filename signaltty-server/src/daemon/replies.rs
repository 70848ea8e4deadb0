//! Replies that the server still owes.

use std::sync::Arc;

use tokio::sync::watch;

/// Counts requests that the server took and did not answer yet, so that a server
/// that ends can wait for its last replies to be written.
#[derive(Debug, Clone)]
pub(crate) struct Replies(Arc<watch::Sender<usize>>);

/// One request that is to be answered.
pub(super) struct Due(Replies);

impl Replies {
    pub(crate) fn new() -> Self {
        Self(Arc::new(watch::Sender::new(0)))
    }

    pub(super) fn due(&self) -> Due {
        self.0.send_modify(|count| *count += 1);
        Due(self.clone())
    }

    /// Waits until every request was answered.
    pub(crate) async fn written(&self) {
        let _ = self.0.subscribe().wait_for(|count| *count == 0).await;
    }
}

impl Drop for Due {
    fn drop(&mut self) {
        self.0.0.send_modify(|count| *count -= 1);
    }
}
