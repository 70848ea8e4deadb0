//! The clients that look at one pane, and which of them drives it.

use std::collections::VecDeque;

use bytes::Bytes;
use signaltty_pty::Screen;

use super::client_queue::{ClientQueue, NotSent};
use super::handover::Handover;
use super::pane_input::Lost;
use super::terminal_reply::without_replies;
use crate::protocol::frame::Frame;

/// Replies of history that may wait for room in a client's queue.
const OWED: usize = 16;

/// A client that looks at a pane.
pub(crate) struct AttachedClient {
    pub(crate) id: u64,
    queue: ClientQueue,
    looks: Looks,
    /// The beginning of what may be a terminal's reply.
    unfinished: Vec<u8>,
    /// Lines of history that it asked for while its queue was full, an entry for
    /// each reply. One over the bound takes the place of the newest.
    owed: VecDeque<usize>,
    /// Its terminal, where it came while the queue was full.
    terminal: Option<Handover>,
}

/// How a client looks at a pane.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Looks {
    /// Its terminal shows the pane, and answers what the program asks.
    Terminal,
    /// It draws the pane itself, among others, and passes on what its person
    /// types. No terminal ever sees what the program asks.
    Among,
    /// It only looks.
    Only,
}

impl Looks {
    pub(crate) fn new(read_only: bool, background: bool) -> Self {
        match (read_only, background) {
            (true, _) => Self::Only,
            (false, true) => Self::Among,
            (false, false) => Self::Terminal,
        }
    }
}

impl AttachedClient {
    pub(crate) fn new(id: u64, queue: ClientQueue, looks: Looks) -> Self {
        let (unfinished, owed) = (Vec::new(), VecDeque::new());
        Self { id, queue, looks, unfinished, owed, terminal: None }
    }

    fn is_behind(&self) -> bool {
        self.queue.is_behind()
    }
}

/// Everyone who looks at a pane, in the order in which they came or last typed.
/// The last terminal that may type drives: it speaks to the program.
#[derive(Default)]
pub(super) struct Clients {
    list: Vec<AttachedClient>,
}

impl Clients {
    pub(super) fn add(&mut self, client: AttachedClient) {
        self.list.push(client);
    }

    pub(super) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    pub(super) fn remove(&mut self, id: u64) {
        self.list.retain(|client| client.id != id);
    }

    fn driver(&self) -> Option<&AttachedClient> {
        self.list.iter().rev().find(|client| client.looks == Looks::Terminal)
    }

    /// Whether what a client says by itself is for the program: answers of the
    /// terminal that drives, and focus and mouse of one that draws the pane
    /// itself where nobody came or typed after it.
    fn speaks(&self, client: &AttachedClient) -> bool {
        let last = match client.looks {
            Looks::Terminal => self.driver(),
            Looks::Among => self.list.iter().rev().find(|other| other.looks != Looks::Only),
            Looks::Only => None,
        };
        last.is_some_and(|last| last.id == client.id)
    }

    /// Whether a client's terminal answers the program: it drives, and sees what
    /// the program asks.
    pub(super) fn answer(&self) -> bool {
        self.driver().is_some_and(|driver| !driver.is_behind())
    }

    /// What of a client's input is for the program. What the terminal of one
    /// that does not drive says by itself is not; its person typing makes it
    /// drive, if it has one.
    pub(super) fn typed(&mut self, id: u64, bytes: Bytes) -> Bytes {
        let Some(at) = self.list.iter().position(|client| client.id == id) else {
            return bytes;
        };
        let speaks = self.list.get(at).is_some_and(|client| self.speaks(client));
        let typing = self.list.get_mut(at).filter(|client| client.looks != Looks::Only);
        let Some(client) = typing else {
            return Bytes::new();
        };
        let bytes = if client.unfinished.is_empty() {
            bytes
        } else {
            let begun = std::mem::take(&mut client.unfinished);
            Bytes::from([begun.as_slice(), &bytes].concat())
        };
        if speaks {
            return bytes;
        }
        let found = without_replies(&bytes);
        client.unfinished = found.unfinished.to_vec();
        if !found.typed.is_empty() {
            let client = self.list.remove(at);
            self.list.push(client);
        }
        Bytes::from(found.typed)
    }

    /// Hands out what the program printed. Gives the clients that are to be
    /// repainted already.
    pub(super) fn output(&mut self, chunk: &[u8]) -> Vec<u64> {
        let mut drained = Vec::new();
        if self.list.is_empty() {
            return drained;
        }
        let mut copy = None;
        self.list.retain_mut(|client| {
            if client.is_behind() {
                return !client.queue.is_gone();
            }
            match client.queue.output(chunk, &mut copy) {
                Ok(()) => true,
                Err(NotSent::Full) => {
                    if client.queue.falls_behind() {
                        drained.push(client.id);
                    }
                    true
                }
                Err(NotSent::Gone) => false,
            }
        });
        drained
    }

    /// Shows everybody the screen anew.
    pub(super) fn repaint_all(&mut self, screen: &Screen) {
        let ids: Vec<_> = self.list.iter().map(|client| client.id).collect();
        for id in ids {
            self.repaint(id, screen);
        }
    }

    /// Sends the history that is owed and the whole screen, after which live
    /// output goes on.
    pub(super) fn repaint(&mut self, id: u64, screen: &Screen) {
        let Some(client) = self.list.iter_mut().find(|client| client.id == id) else {
            return;
        };
        while let Some(lines) = client.owed.front() {
            if client.queue.send(history(screen, *lines)).is_err() {
                break;
            }
            client.owed.pop_front();
        }
        if let Some(terminal) = client.terminal.take_if(|_| client.owed.is_empty()) {
            client.terminal = client.queue.hand_over(&terminal).err().map(|_| terminal);
        }
        let repaint = Frame::Repaint(Bytes::from(screen.repaint()));
        let sent = client.owed.is_empty() && client.queue.send(repaint).is_ok();
        client.queue.caught_up(sent);
    }

    /// Sends the last lines with their styles, now or once there is room.
    pub(super) fn history(&mut self, id: u64, lines: usize, screen: &Screen) {
        let Some(client) = self.list.iter_mut().find(|client| client.id == id) else {
            return;
        };
        if client.owed.is_empty() && client.queue.send(history(screen, lines)).is_ok() {
            return;
        }
        client.owed.truncate(OWED - 1);
        client.owed.push_back(lines);
        // It catches up as after output that it could not take.
        if client.queue.falls_behind() {
            self.repaint(id, screen);
        }
    }

    /// Writes a client's terminal from here on, or once there is room to say so.
    pub(super) fn hand_over(&mut self, id: u64, terminal: Handover, screen: &Screen) {
        let Some(client) = self.list.iter_mut().find(|client| client.id == id) else {
            return;
        };
        if client.queue.hand_over(&terminal).is_ok() {
            return;
        }
        client.terminal = Some(terminal);
        // It catches up as after output that it could not take.
        if client.queue.falls_behind() {
            self.repaint(id, screen);
        }
    }

    /// Tells a client that what its person typed did not arrive.
    pub(super) fn lost(&mut self, lost: Lost) {
        let text = format!("{} typed bytes were lost: the terminal was closed", lost.bytes);
        tracing::debug!(client = lost.client, "{text}");
        if let Some(client) = self.list.iter_mut().find(|client| client.id == lost.client) {
            let _ = client.queue.send(Frame::Notice(Bytes::from(text)));
        }
    }

    /// Tells everybody the end, and forgets them.
    pub(super) fn farewell(&mut self, screen: &Screen, exit: &Frame) {
        for client in std::mem::take(&mut self.list) {
            let repaint = || Frame::Repaint(Bytes::from(screen.repaint()));
            let owed = client.owed.iter().map(|lines| history(screen, *lines));
            let behind = client.is_behind().then(repaint);
            let last = owed.chain(behind).chain([exit.clone()]).collect();
            tokio::spawn(tell(client, last));
        }
    }
}

/// Tells a client the last frames, however slow it is; over with its connection.
async fn tell(client: AttachedClient, frames: Vec<Frame>) {
    for frame in frames {
        if !client.queue.send_later(frame).await {
            return;
        }
    }
}

fn history(screen: &Screen, lines: usize) -> Frame {
    // What is on the screen is not: the client gets that as a repaint.
    let newest_first: Vec<&str> = screen.history().lines().rev().take(lines).collect();
    let mut text = String::new();
    for line in newest_first.iter().rev() {
        text.push_str(line);
        text.push('\n');
    }
    Frame::HistoryReply(Bytes::from(text))
}

#[cfg(test)]
mod tests {
    use signaltty_pty::{HistoryLimit, Size};

    use super::super::client_queue::{CLIENT_FRAMES, ClientSocket, Piece, client_queue};
    use super::*;

    fn client(id: u64, looks: Looks) -> (AttachedClient, ClientSocket) {
        let (queue, socket) = client_queue(true);
        (AttachedClient::new(id, queue, looks), socket)
    }

    fn flood(clients: &mut Clients) {
        for _ in 0..=CLIENT_FRAMES {
            assert_eq!(clients.output(b"x"), [0; 0]);
        }
    }

    #[test]
    fn a_terminal_answers_while_it_drives_and_sees_the_questions() {
        let screen = Screen::new(Size::default(), HistoryLimit::default());
        let mut clients = Clients::default();
        assert!(!clients.answer());
        let (watcher, _watched) = client(1, Looks::Only);
        clients.add(watcher);
        assert!(!clients.answer(), "one that only looks");
        let (among, _drawn) = client(3, Looks::Among);
        clients.add(among);
        assert!(!clients.answer(), "one that draws the pane itself");
        let (driver, mut queue) = client(2, Looks::Terminal);
        clients.add(driver);
        assert!(clients.answer());
        flood(&mut clients);
        assert!(!clients.answer(), "one that is behind");
        while queue.another().is_some() {}
        clients.repaint(2, &screen);
        assert!(clients.answer(), "it has caught up");
        drop(queue);
        clients.output(b"x");
        assert!(!clients.answer(), "it is gone");
    }

    #[test]
    fn history_that_was_asked_for_comes_once_there_is_room() {
        let mut screen = Screen::new(Size::default(), HistoryLimit::default());
        screen.advance(b"a line\r\n");
        screen.advance("\r\n".repeat(23).as_bytes());
        let mut clients = Clients::default();
        let (driver, mut queue) = client(1, Looks::Terminal);
        clients.add(driver);
        // Full, and nothing was dropped yet.
        for _ in 0..CLIENT_FRAMES {
            clients.output(b"x");
        }
        clients.history(1, 10, &screen);
        clients.history(1, 20, &screen);
        assert!(clients.list[0].is_behind(), "its writer says when there is room");
        for _ in 0..CLIENT_FRAMES {
            assert!(matches!(queue.another(), Some(Piece::Frame(Frame::Output(_)))));
        }
        clients.repaint(1, &screen);
        for _ in 0..2 {
            let Some(Piece::Frame(Frame::HistoryReply(text))) = queue.another() else {
                panic!("lost")
            };
            assert_eq!(text, "a line\n");
        }
        assert!(matches!(queue.another(), Some(Piece::Frame(Frame::Repaint(_)))));
        assert!(queue.another().is_none() && !clients.list[0].is_behind());
    }
}
