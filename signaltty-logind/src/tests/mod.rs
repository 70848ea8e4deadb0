//! The watch against a pretended logind, in memory, without a bus.
//!
//! Where time matters it is tokio's paused clock: it jumps to the next deadline
//! when nothing else can happen, so no test waits.

use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use futures_util::future::BoxFuture;
use tokio::sync::mpsc;
use tokio::time::Instant;
use zbus::connection::{Builder, socket::Channel};
use zbus::{Connection, Guid};

use crate::link::Connect;
use crate::proxy::CALL_TIMEOUT;
use crate::testing::{Event, FakeLogind, serve};
use crate::watch::watch_through;
use crate::{ShutdownWatch, Status, WatchConfig};

mod away;
mod bus;
mod flood;
mod limits;
mod notices;
mod refused;
mod release;

/// Connects in memory to a fake, or fails while it is switched off.
struct InMemory {
    world: Arc<crate::testing::World>,
    off: Arc<AtomicBool>,
    tries: mpsc::UnboundedSender<Instant>,
}

impl Connect for InMemory {
    fn connect(&self) -> BoxFuture<'static, zbus::Result<Connection>> {
        self.tries.send(Instant::now()).unwrap();
        if self.off.load(Ordering::Relaxed) {
            return Box::pin(async { Err(zbus::Error::Failure("no bus".to_owned())) });
        }
        let (ours, theirs) = Channel::pair();
        let guid = Guid::generate();
        let server = Builder::authenticated_socket(theirs, guid.clone()).p2p();
        tokio::spawn(serve::serve(server, self.world.clone()));
        let client = Builder::authenticated_socket(ours, guid).method_timeout(CALL_TIMEOUT);
        Box::pin(client.build())
    }
}

struct Lab {
    fake: FakeLogind,
    watch: ShutdownWatch,
    off: Arc<AtomicBool>,
    tries: mpsc::UnboundedReceiver<Instant>,
}

impl Lab {
    /// A watch that has not run yet; the fake can be prepared first.
    fn new() -> Self {
        Self::with(|_| {})
    }

    fn with(prepare: impl FnOnce(&FakeLogind)) -> Self {
        let fake = FakeLogind::new();
        prepare(&fake);
        let (sender, tries) = mpsc::unbounded_channel();
        let off = Arc::new(AtomicBool::new(false));
        let connector = InMemory { world: fake.world(), off: off.clone(), tries: sender };
        let watch = watch_through(connector, WatchConfig::new(true), || 0);
        Self { fake, watch, off, tries }
    }

    async fn armed() -> Self {
        let mut lab = Self::new();
        lab.reach(|status| *status == Status::Armed).await;
        lab.read("InhibitDelayMaxUSec").await;
        lab
    }

    async fn reach(&self, wanted: impl FnMut(&Status) -> bool) -> Status {
        let mut statuses = self.watch.statuses();
        within(statuses.wait_for(wanted)).await.unwrap().clone()
    }

    async fn read(&mut self, property: &str) {
        let read = |event: &Event| *event == Event::Read(property.to_owned());
        assert!(within(self.fake.until(read)).await);
    }

    /// Waits for the next request for the lock; how many were held then.
    async fn inhibit(&mut self) -> usize {
        loop {
            match within(self.fake.event()).await {
                Some(Event::Inhibit { held, .. }) => return held,
                Some(_) => {}
                None => panic!("the fake ended"),
            }
        }
    }
}

/// Long enough for every backoff; on the real clock it is never reached.
async fn within<T>(future: impl Future<Output = T>) -> T {
    tokio::time::timeout(Duration::from_secs(70), future).await.expect("it happens in time")
}

/// For a paused clock: whatever can happen has happened without this.
async fn never<T>(future: impl Future<Output = T>) {
    assert!(tokio::time::timeout(Duration::from_secs(600), future).await.is_err());
}

/// Whole seconds between neighbours.
fn gaps(times: &[Instant]) -> Vec<u64> {
    times.windows(2).map(|pair| (pair[1] - pair[0]).as_secs()).collect()
}
