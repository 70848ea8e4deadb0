//! A pretended logind for a server in a process of its own.

use std::future::Future;
use std::process::Command;

use signaltty_logind::testing::{Answer, Event, FakeLogind};
use tokio::runtime::Runtime;
use tokio::time::timeout;

use super::{Home, PATIENCE, Server};

/// A logind, and the runtime that it lives in.
pub struct Logind {
    runtime: Runtime,
    fake: FakeLogind,
    address: String,
}

impl Logind {
    /// One that waits for clients in the test's directory.
    pub fn new(home: &Home) -> Self {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .unwrap();
        let path = home.path("bus");
        let fake = runtime.block_on(async { FakeLogind::listen(&path) }).unwrap();
        let address = format!("unix:path={}", path.display());
        Self { runtime, fake, address }
    }

    /// Its address, as the variable has it.
    pub fn address(&self) -> &str {
        &self.address
    }

    /// Lets a server's command find it.
    pub fn be_found(&self, command: &mut Command) {
        command.env_remove("SIGNALTTY_LOGIND").env("DBUS_SYSTEM_BUS_ADDRESS", &self.address);
    }

    /// A server that holds the lock.
    pub fn armed(&mut self, home: &Home) -> Server {
        let server = Server::start_with(home, |command| self.be_found(command));
        server.wait_logind("armed");
        assert_eq!(self.held(), 1);
        server
    }

    pub fn answer(&self, answer: Answer) {
        self.fake.answer(answer);
    }

    pub fn fake(&self) -> &FakeLogind {
        &self.fake
    }

    pub fn held(&self) -> usize {
        self.fake.held()
    }

    /// Announces a shutdown of the host, or takes it back.
    pub fn prepare(&self, begins: bool) {
        self.run(self.fake.prepare(begins));
    }

    pub fn run<T>(&self, what: impl Future<Output = T>) -> T {
        self.runtime.block_on(async { timeout(PATIENCE, what).await }).expect("it happens in time")
    }

    /// Waits for the next event that is one of these.
    pub fn wait(&mut self, mut wanted: impl FnMut(&Event) -> bool) -> Event {
        loop {
            let event = self.next();
            if wanted(&event) {
                return event;
            }
        }
    }

    /// Waits until the lock is given up.
    pub fn released(&mut self) {
        self.wait(|event| *event == Event::Released);
    }

    /// What a client did next.
    pub fn next(&mut self) -> Event {
        let next = async { timeout(PATIENCE, self.fake.event()).await };
        self.runtime.block_on(next).expect("it happens in time").expect("the fake goes on")
    }
}
