//! A logind to test against, on a bus of its own.
//!
//! [`FakeLogind`] plays the message bus as well as logind, so a test needs
//! neither, nor any right. It behaves as logind was measured to: it refuses
//! the lock once a shutdown is under way, and its locks outlive its restarts.
//! It never ends a shutdown by itself, and it does not stop waiting.

use std::io::{self, ErrorKind, Read};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::mpsc;
use zbus::Connection;

pub(crate) mod serve;
mod wire;

/// What a client did.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Event {
    /// It subscribed to this signal.
    Subscribed(String),
    /// It asked for a lock.
    Inhibit {
        /// The four arguments: what, who, why and mode.
        arguments: [String; 4],
        /// How many locks were held at that moment.
        held: usize,
    },
    /// It read this property.
    Read(String),
    /// It closed a lock.
    Released,
    /// Its connection ended.
    Gone,
}

/// How a request for the lock is answered while no shutdown is under way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Answer {
    /// With a lock.
    Grant,
    /// With `AccessDenied`, as without polkit.
    Deny,
    /// Not at all, and neither is any other call to logind.
    Silence,
}

/// A logind and its bus. It ends with the runtime that it was made in.
#[derive(Debug)]
pub struct FakeLogind {
    world: Arc<World>,
    events: mpsc::UnboundedReceiver<Event>,
}

#[derive(Debug)]
pub(crate) struct World {
    state: Mutex<State>,
    /// Unbounded: only the calls of a test's own clients are in it.
    events: mpsc::UnboundedSender<Event>,
}

#[derive(Debug)]
struct State {
    present: bool,
    generation: u32,
    answer: Answer,
    preparing: bool,
    limit: Duration,
    locks: Vec<UnixStream>,
    peers: Vec<Connection>,
    /// Calls that were met with silence.
    unanswered: Vec<(Connection, zbus::Message)>,
}

impl FakeLogind {
    pub(crate) fn new() -> Self {
        let (sender, events) = mpsc::unbounded_channel();
        let state = State {
            present: true,
            generation: 0,
            answer: Answer::Grant,
            preparing: false,
            limit: Duration::from_secs(5),
            locks: Vec::new(),
            peers: Vec::new(),
            unanswered: Vec::new(),
        };
        Self { world: Arc::new(World { state: Mutex::new(state), events: sender }), events }
    }

    /// Waits for clients on a socket; its address is `unix:path=` and the path.
    ///
    /// # Errors
    ///
    /// The socket cannot be made, or this is not inside of a runtime.
    pub fn listen(path: &Path) -> io::Result<Self> {
        let listener = tokio::net::UnixListener::bind(path)?;
        let fake = Self::new();
        tokio::spawn(serve::accept(listener, fake.world.clone()));
        Ok(fake)
    }

    /// Takes logind's name on a real bus.
    #[cfg(test)]
    pub(crate) async fn join(address: &str) -> zbus::Result<Self> {
        use zbus::connection::Builder;

        let fake = Self::new();
        let name = Builder::address(address).name(crate::proxy::LOGIN1);
        let mut calls = name.build_message_stream().await?;
        let connection = Connection::from(&calls);
        let world = fake.world();
        world.state().peers.push(connection.clone());
        tokio::spawn(async move { serve::answer_all(&mut calls, &connection, &world).await });
        Ok(fake)
    }

    #[cfg(test)]
    pub(crate) fn world(&self) -> Arc<World> {
        self.world.clone()
    }

    /// Says how the lock is answered from now on.
    pub fn answer(&self, answer: Answer) {
        self.world.state().answer = answer;
    }

    /// Says for how long logind claims to wait.
    pub fn limit(&self, limit: Duration) {
        self.world.state().limit = limit;
    }

    /// Changes the property without a signal, as if the signal was sent earlier.
    pub fn set_preparing(&self, preparing: bool) {
        self.world.state().preparing = preparing;
    }

    /// Says whether logind is on the bus, without telling anybody.
    pub fn set_present(&self, present: bool) {
        self.world.state().present = present;
    }

    /// Changes the property and sends the signal.
    pub async fn prepare(&self, begins: bool) {
        self.set_preparing(begins);
        self.signal(begins).await;
    }

    /// Sends the signal alone.
    pub async fn signal(&self, begins: bool) {
        let sender = self.world.logind();
        self.world.broadcast(wire::prepare_for_shutdown(&sender, begins)).await;
    }

    /// Sends the signal as another program on the bus would.
    pub async fn forge(&self, begins: bool) {
        self.world.broadcast(wire::prepare_for_shutdown(":1.666", begins)).await;
    }

    /// Claims, as another program on the bus would, that it is logind now.
    pub async fn forge_owner(&self) {
        let old = self.world.logind();
        self.world.broadcast(wire::name_owner_changed(":1.666", &old, ":1.666")).await;
    }

    /// Leaves the bus. The locks stay.
    pub async fn leave(&self) {
        let old = self.world.logind();
        self.world.state().present = false;
        self.world.broadcast(wire::name_owner_changed(wire::DBUS, &old, "")).await;
    }

    /// Comes back to the bus under another unique name.
    pub async fn arrive(&self) {
        {
            let mut state = self.world.state();
            state.present = true;
            state.generation += 1;
        }
        let new = self.world.logind();
        self.world.broadcast(wire::name_owner_changed(wire::DBUS, "", &new)).await;
    }

    /// Answers the calls that were met with silence, as they would be answered now.
    pub async fn answer_late(&self) {
        let unanswered = std::mem::take(&mut self.world.state().unanswered);
        for (connection, call) in unanswered {
            serve::answer(&call, &connection, &self.world).await;
        }
    }

    /// Ends all connections, as a restart of the bus does.
    pub async fn drop_connections(&self) {
        let peers = std::mem::take(&mut self.world.state().peers);
        for peer in peers {
            // It may be closed already.
            let _ = peer.close().await;
        }
    }

    /// How many locks are held now.
    pub fn held(&self) -> usize {
        self.world.state().held()
    }

    /// What a client did next.
    pub async fn event(&mut self) -> Option<Event> {
        self.events.recv().await
    }

    /// Passes over events until one of this kind; true if it came.
    pub async fn until(&mut self, wanted: impl Fn(&Event) -> bool) -> bool {
        while let Some(event) = self.event().await {
            if wanted(&event) {
                return true;
            }
        }
        false
    }
}

impl World {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn tell(&self, event: Event) {
        // A test may have stopped listening.
        let _ = self.events.send(event);
    }

    fn logind(&self) -> String {
        format!(":1.{}", 100 + self.state().generation)
    }

    async fn broadcast(&self, message: zbus::Result<zbus::Message>) {
        let peers = self.state().peers.clone();
        if let Ok(message) = message {
            for peer in peers {
                // A client that is gone misses it.
                let _ = peer.send(&message).await;
            }
        }
    }
}

impl State {
    fn held(&mut self) -> usize {
        self.locks.retain_mut(|lock| match lock.read(&mut [0]) {
            Ok(_) => false,
            Err(error) => error.kind() == ErrorKind::WouldBlock,
        });
        self.locks.len()
    }
}
