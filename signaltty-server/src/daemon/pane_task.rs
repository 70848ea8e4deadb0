//! One task per pane with a process: terminal bytes in and out.
//!
//! Bytes go to attached clients before they are parsed, so the emulator is never
//! between a key and its echo. The task owns the screen; nothing is locked. A
//! client that cannot keep up loses its backlog and gets a repaint, and never
//! slows the pane or another client (T4).

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use signaltty_core::id::{InstanceId, NotificationId};
use signaltty_core::session::PaneFact;
use signaltty_pty::{AsyncPty, Child, ExitStatus, Screen, ScreenEvent, Size};
use tokio::sync::{OwnedSemaphorePermit, mpsc, oneshot, watch};
use tokio::time::{Instant, sleep_until};

use super::event::Event;
use super::handover::Handover;
use super::pane_clients::{AttachedClient, Clients};
use super::pane_input::{Done, InputQueue, write};
use super::pane_screen::{PaneScreen, READ_AT_ONCE, READ_UNSEEN, with_buffer};
use super::random;
use super::reading::{Ask, Lines};
use super::terminal_reply::without_replies;
use super::typing_guard::{Guard, Look, Typed};
use crate::protocol::frame::Frame;

/// Messages that may wait for a pane. Senders wait.
pub(crate) const MESSAGES: usize = 256;

/// What runs in a pane is looked at once it was quiet for so long.
const QUIET: Duration = Duration::from_millis(250);

/// One that goes on printing is looked at so often all the same: an agent at
/// work moves a spinner, and some show what they work on only meanwhile.
const LOOK_AT_LEAST: Duration = Duration::from_millis(750);

/// After the process ended, what is still in the terminal is read, but no
/// longer than this: something else may hold it open.
const DRAIN: Duration = Duration::from_millis(500);

/// How long each step of the stop ladder takes for the process of such a pane.
const BUG_GRACE: Duration = Duration::from_millis(1_500);

/// A round that read so much may be followed by another one at once.
const A_LOT: usize = 2 * 1024;

/// What is said where a pane's task failed.
pub(crate) const BUG: &str = "a bug: what served this pane failed, and its process was ended";

/// What a pane's task is asked to do.
pub(crate) enum PaneMessage {
    /// Bytes from a script; answered when the terminal has them.
    Input {
        bytes: Bytes,
        done: Done,
    },
    /// Bytes from a client's terminal.
    Typed {
        id: u64,
        bytes: Bytes,
        /// Held until the program has read it.
        room: OwnedSemaphorePermit,
    },
    Attach {
        client: Box<AttachedClient>,
        history: usize,
    },
    /// A client lends its terminal.
    HandOver {
        id: u64,
        terminal: Handover,
    },
    /// A client took everything that waited for it.
    Drained(u64),
    Detach(u64),
    /// Lines as text, or with styles.
    Read {
        ask: Ask,
        done: oneshot::Sender<Lines>,
    },
    /// The tail to be saved, of at most so many bytes.
    Tail {
        max: usize,
        done: oneshot::Sender<Vec<u8>>,
    },
    History {
        id: u64,
        lines: usize,
    },
    /// What was printed so far is to be forgotten.
    Forget,
    /// A prompt to be typed for a person, when that may be.
    Prompt {
        text: String,
        /// Its person asked for it.
        by_hand: bool,
        done: Typed,
    },
    /// The process is being stopped: type nothing for anybody.
    NoPrompt,
    /// Whether arrows are sent in application mode.
    CursorMode(oneshot::Sender<bool>),
    /// As a bug would.
    #[cfg(test)]
    Fail,
}

/// Everything of one pane's process.
pub(crate) struct PaneTask {
    pub(crate) instance: InstanceId,
    pub(crate) pty: AsyncPty,
    pub(crate) child: Arc<Child>,
    pub(crate) screen: Screen,
    pub(crate) messages: mpsc::Receiver<PaneMessage>,
    pub(crate) size: watch::Receiver<Size>,
    pub(crate) events: mpsc::Sender<Event>,
    pub(crate) tail_bytes: usize,
}

impl PaneTask {
    /// Runs until the process ended and was waited for, also where a bug ends
    /// what serves it (D-31).
    pub(crate) async fn run(self) {
        let (instance, child, events) =
            (self.instance, Arc::clone(&self.child), self.events.clone());
        let Err(error) = tokio::spawn(self.serve()).await else {
            return;
        };
        if !error.is_panic() {
            return;
        }
        tracing::error!(pane = %instance, "{BUG}: {error}");
        if let Err(error) = child.stop(BUG_GRACE).await {
            tracing::error!(pid = child.pid(), "stopping a process failed: {error}");
        }
        let status = known(instance, child.wait().await);
        let (taken, _) = oneshot::channel();
        let last_line = Some(BUG.into());
        let ended = Event::Ended { instance, status, last_line, tail: None, lines: 0, taken };
        let _ = events.send(ended).await;
    }

    async fn serve(self) {
        let Self { instance, pty, child, screen, mut messages, size, events, tail_bytes } = self;
        let mut pane = Pane {
            instance,
            pty,
            screen: PaneScreen::new(screen),
            size,
            events,
            clients: Clients::default(),
            input: InputQueue::default(),
            dirty: false,
            quiet_at: None,
            look_by: None,
            leader: child.pid(),
            guard: Guard::new(Instant::now()),
        };
        let status = pane.serve(&child, &mut messages).await;
        pane.drain().await;
        pane.input.close();
        let status = known(instance, status);
        let exit = serde_json::json!({"code": status.code, "signal": status.signal});
        let exit = Frame::Exit(Bytes::from(exit.to_string()));
        pane.clients.farewell(pane.screen.awake(), &exit);
        let lines = pane.screen.awake().lines(40);
        let last_line = lines.iter().rev().map(|line| line.trim()).find(|line| !line.is_empty());
        let (taken, until_taken) = oneshot::channel();
        let ended = Event::Ended {
            instance,
            status,
            last_line: last_line.map(Into::into),
            tail: Some(pane.screen.awake().tail(tail_bytes).into()),
            lines: pane.screen.awake().line_count(),
            taken,
        };
        let _ = pane.events.send(ended).await;
        pane.answer_late(messages, until_taken, &exit).await;
    }
}

fn known(instance: InstanceId, status: std::io::Result<ExitStatus>) -> ExitStatus {
    status.unwrap_or_else(|error| {
        tracing::error!(pane = %instance, "waiting for a process failed: {error}");
        ExitStatus { code: None, signal: None }
    })
}

pub(super) struct Pane {
    instance: InstanceId,
    pub(super) pty: AsyncPty,
    screen: PaneScreen,
    pub(super) size: watch::Receiver<Size>,
    events: mpsc::Sender<Event>,
    clients: Clients,
    pub(super) input: InputQueue,
    dirty: bool,
    quiet_at: Option<Instant>,
    look_by: Option<Instant>,
    /// Its process, which leads the group that the agent is in.
    leader: u32,
    guard: Guard,
}

impl Pane {
    async fn serve(
        &mut self,
        child: &Child,
        messages: &mut mpsc::Receiver<PaneMessage>,
    ) -> std::io::Result<ExitStatus> {
        let mut open = true;
        let mut listening = true;
        let mut sized = true;
        let exit = child.wait();
        tokio::pin!(exit);
        // One for everything, and moved only when it is over or too late: output
        // puts these times off, and setting a timer can wake another thread.
        let timer = sleep_until(Instant::now());
        tokio::pin!(timer);
        let mut armed: Option<Instant> = None;
        loop {
            let front = self.input.front();
            let look_at = self.guard.look_at();
            let next = [self.input.deadline(), look_at, self.quiet_at, self.screen.sleep_at()];
            let next = next.into_iter().flatten().min();
            if let Some(at) = next.filter(|next| armed.is_none_or(|armed| *next < armed)) {
                timer.as_mut().reset(at);
                armed = Some(at);
            }
            tokio::select! {
                status = &mut exit => return status,
                message = messages.recv(), if listening => match message {
                    Some(message) => self.message(message).await,
                    None => listening = false,
                },
                ready = self.pty.readable(), if open => match ready.and_then(|()| self.read()) {
                    Ok(Some(0)) => open = false,
                    Ok(Some(count)) => {
                        if count >= A_LOT {
                            self.read_on(messages).await;
                        }
                        self.tell().await;
                    }
                    Ok(None) => {}
                    Err(error) => {
                        tracing::error!(pane = %self.instance, "reading a terminal failed: {error}");
                        open = false;
                    }
                },
                written = write(&self.pty, front.as_ref()), if front.is_some() => {
                    if let Some(lost) = self.input.written(written) {
                        self.clients.lost(lost);
                    }
                }
                changed = self.size.changed(), if sized => {
                    sized = changed.is_ok();
                    self.resize();
                }
                () = &mut timer, if armed.is_some() => {
                    armed = None;
                    self.due(Instant::now()).await;
                }
            }
        }
    }

    /// Does what its time has come for.
    async fn due(&mut self, now: Instant) {
        if self.input.deadline().is_some_and(|at| at <= now) {
            self.input.expire(now);
        }
        if self.guard.look_at().is_some_and(|at| at <= now) {
            self.type_prompt();
        }
        if self.quiet_at.is_some_and(|at| at <= now) {
            self.quiet_at = None;
            self.look_by = None;
            let _ = self.events.send(Event::Quiet { instance: self.instance }).await;
        }
        if self.screen.sleep_at().is_some_and(|at| at <= now) {
            // What a client looks at is about to change.
            self.screen.sleep(self.clients.is_empty());
        }
    }

    /// What the process printed before it ended.
    async fn drain(&mut self) {
        let until = Instant::now() + DRAIN;
        while Instant::now() < until {
            // Asks the kernel: what the runtime has heard of may be older.
            let read = with_buffer(|buffer| {
                let count = self.pty.try_read(buffer).unwrap_or(0);
                self.output(buffer.get(..count).unwrap_or_default());
                count
            });
            if read == 0 {
                return;
            }
            self.tell().await;
        }
    }

    /// Takes what the process printed; says how much, 0 at the end, or that there
    /// was nothing after all.
    fn read(&mut self) -> std::io::Result<Option<usize>> {
        with_buffer(|buffer| {
            let most = if self.clients.is_empty() { READ_UNSEEN } else { READ_AT_ONCE };
            let room = buffer.len().min(most);
            let buffer = buffer.get_mut(..room).unwrap_or_default();
            match self.pty.read_ready(buffer) {
                Ok(count) => {
                    self.output(buffer.get(..count).unwrap_or_default());
                    Ok(Some(count))
                }
                Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => Ok(None),
                Err(error) => Err(error),
            }
        })
    }

    /// Whoever asks before the loop knows of the end is answered as before it.
    async fn answer_late(
        mut self,
        mut messages: mpsc::Receiver<PaneMessage>,
        mut taken: oneshot::Receiver<Infallible>,
        exit: &Frame,
    ) {
        loop {
            let message = tokio::select! {
                _ = &mut taken, if !messages.is_closed() => {
                    messages.close();
                    continue;
                }
                message = messages.recv() => message,
            };
            let Some(message) = message else { return };
            self.message(message).await;
            self.input.close();
            self.clients.farewell(self.screen.awake(), exit);
        }
    }

    /// Types the prompt that waits, if this is the moment.
    fn type_prompt(&mut self) {
        let look = Look {
            foreground: self.pty.foreground_group() == Some(self.leader),
            takes_pastes: self.screen.awake().bracketed_paste(),
        };
        if let Some(bytes) = self.guard.due(Instant::now(), look) {
            self.input.terminal(bytes);
        }
    }

    pub(super) fn output(&mut self, chunk: &[u8]) {
        if chunk.is_empty() {
            return;
        }
        self.guard.printed(Instant::now());
        let drained = self.clients.output(chunk);
        self.settle_who_answers();
        let screen = self.screen.awake();
        screen.advance(chunk);
        for id in drained {
            self.clients.repaint(id, screen);
        }
        let answers = screen.take_answers();
        self.input.terminal(Bytes::from(answers));
        self.screen.printed(Instant::now());
    }

    /// Tells the loop what the output meant.
    async fn tell(&mut self) {
        for event in self.screen.take_events() {
            if let Some(fact) = fact(event) {
                let _ = self.events.send(Event::Fact { instance: self.instance, fact }).await;
            }
        }
        if !self.dirty {
            self.dirty = true;
            let fact = PaneFact::Printed;
            let _ = self.events.send(Event::Fact { instance: self.instance, fact }).await;
        }
        let now = Instant::now();
        let look_by = *self.look_by.get_or_insert(now + LOOK_AT_LEAST);
        self.quiet_at = Some(look_by.min(now + QUIET));
    }

    /// The program's questions have one answer: of the terminal that drives, or
    /// of the server where none does or it does not see them.
    fn settle_who_answers(&mut self) {
        let answered = self.clients.answer();
        self.screen.awake().set_attached(answered);
    }

    async fn message(&mut self, message: PaneMessage) {
        // Whoever saw a new size finds it in the terminal.
        if self.size.has_changed().unwrap_or(false) {
            self.resize();
        }
        match message {
            PaneMessage::Input { bytes, done } => {
                self.guard.person_typed(&bytes);
                self.input.script(bytes, done);
            }
            PaneMessage::Prompt { text, by_hand, done } => {
                self.guard.ask(text, by_hand, done, Instant::now());
            }
            PaneMessage::NoPrompt => self.guard.cancel(),
            PaneMessage::Typed { id, bytes, room } => {
                let bytes = self.clients.typed(id, bytes);
                // A terminal that answers is not a person.
                let by_hand = without_replies(&bytes).typed;
                if !by_hand.is_empty() {
                    self.guard.person_typed(&by_hand);
                }
                self.input.typed(id, bytes, room);
            }
            PaneMessage::Attach { client, history } => self.attach(*client, history),
            PaneMessage::HandOver { id, terminal } => {
                self.clients.hand_over(id, terminal, self.screen.awake());
            }
            PaneMessage::Drained(id) => self.clients.repaint(id, self.screen.awake()),
            PaneMessage::Detach(id) => {
                self.clients.remove(id);
                self.screen.left();
            }
            PaneMessage::Read { ask, done } => {
                let _ = done.send(ask.of(self.screen.awake()));
            }
            PaneMessage::Tail { max, done } => {
                self.dirty = false;
                let _ = done.send(self.screen.awake().tail(max).into());
            }
            PaneMessage::History { id, lines } => {
                self.clients.history(id, lines, self.screen.awake());
            }
            PaneMessage::Forget => {
                self.screen.awake().forget();
                self.clients.repaint_all(self.screen.awake());
            }
            PaneMessage::CursorMode(done) => {
                let _ = done.send(self.screen.awake().application_cursor());
            }
            #[cfg(test)]
            PaneMessage::Fail => std::panic::resume_unwind(Box::new("as asked")),
        }
    }

    /// Takes the size that was asked for last. The same one again changes
    /// nothing.
    fn resize(&mut self) {
        let size = *self.size.borrow_and_update();
        self.screen.awake().resize(size);
        if let Err(error) = self.pty.resize(size) {
            tracing::warn!(pane = %self.instance, "resizing a terminal failed: {error}");
        }
    }

    fn attach(&mut self, client: AttachedClient, history: usize) {
        let id = client.id;
        self.clients.add(client);
        if history > 0 {
            self.clients.history(id, history, self.screen.awake());
        }
        self.clients.repaint(id, self.screen.awake());
    }
}

fn fact(event: ScreenEvent) -> Option<PaneFact> {
    match event {
        ScreenEvent::Title(title) => Some(PaneFact::Title(title.unwrap_or_default().into())),
        ScreenEvent::Bell => Some(PaneFact::Bell),
        ScreenEvent::Notification { title, body } => Some(PaneFact::Notification {
            id: NotificationId::from_random(random::id()),
            title: title.map(Into::into),
            body: body.into(),
        }),
        // A shell on another machine speaks of that machine's directories.
        ScreenEvent::Cwd { host, path } if is_here(&host) => Some(PaneFact::Cwd(path)),
        _ => None,
    }
}

fn is_here(host: &str) -> bool {
    host.is_empty()
        || host == "localhost"
        || rustix::system::uname().nodename().to_str().is_ok_and(|name| name == host)
}
