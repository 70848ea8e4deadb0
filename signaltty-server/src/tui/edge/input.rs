//! What the person does at the terminal, read by a thread of its own.

use std::io;

use crossterm::event::{self, Event, KeyEventKind};
use tokio::sync::mpsc;

use crate::tui::msg::Msg;

/// Events that may wait; the terminal keeps what comes after them.
const WAITING: usize = 64;

/// Begins to read. The channel ends with the terminal.
pub(super) fn start() -> io::Result<mpsc::Receiver<io::Result<Msg>>> {
    let (sender, receiver) = mpsc::channel(WAITING);
    let read = move || {
        loop {
            let msg = match event::read() {
                Ok(event) => match understood(event) {
                    Some(msg) => Ok(msg),
                    None => continue,
                },
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => Err(error),
            };
            let over = msg.is_err();
            if sender.blocking_send(msg).is_err() || over {
                return;
            }
        }
    };
    std::thread::Builder::new().name("terminal".to_owned()).spawn(read)?;
    Ok(receiver)
}

fn understood(event: Event) -> Option<Msg> {
    Some(match event {
        Event::Key(key) if key.kind == KeyEventKind::Release => return None,
        Event::Key(key) => Msg::Key(key),
        Event::Mouse(mouse) => Msg::Mouse(mouse),
        Event::Paste(text) => Msg::Paste(text),
        Event::Resize(cols, rows) => Msg::Resized(cols, rows),
        Event::FocusGained => Msg::Watched(true),
        Event::FocusLost => Msg::Watched(false),
    })
}
