//! The edge: the terminal, the server's connections, files and the clock. It
//! feeds the model and does what comes out of it.

mod calls;
pub(crate) mod files;
mod input;
mod link;
mod out;
mod pace;
mod paint;
mod reach;
mod streams;
#[cfg(test)]
mod tests;

use std::io;
use std::time::{Duration, Instant};

use tokio::sync::mpsc;

use self::calls::Calls;
use self::link::Links;
use self::out::Out;
use self::pace::Pace;
use self::paint::Painter;
use self::streams::Streams;
use super::model::{Dirty, Model};
use super::msg::{BEAT, Effect, Msg};
use super::update::{update, waits};
use crate::cli::{self, Asked, Context, Failure, JobControl, RawTerminal, Signals};

/// Messages of tasks that may wait for the loop; a task that finds no room waits.
const WAITING: usize = 256;

/// How many times as long as it worked for panes without the focus the loop
/// leaves them alone: a fifth of its time is theirs.
const REST: u32 = 4;

/// The same while somebody types, who waits for echoes: a hundredth. What it
/// takes beyond that the kernel's scheduler takes from the keys: with a twentieth,
/// each of this process's turns began 175 us after it was due beside a flood, and
/// 30 to 100 us where the flood was hidden.
const REST_FROM_TYPING: u32 = 99;

/// How long after a key somebody types.
const TYPES: Duration = Duration::from_millis(500);

/// Why the client ended.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Ended {
    /// The person left.
    Left,
    /// The terminal is gone.
    Closed,
    /// A signal asked for it.
    Signal(&'static str),
}

/// Runs until something ends it. The terminal is itself again afterwards.
pub(crate) async fn run(context: &Context, model: Model) -> Result<Ended, Failure> {
    // Signals first: from here on none may end the process by itself.
    let mut signals = Signals::new().map_err(|error| Failure::Io("wait for signals", error))?;
    let raw = RawTerminal::enter().map_err(|error| Failure::Io("set the terminal", error))?;
    end_with_a_panic();
    let result = App::new(context, model)
        .map_err(|error| Failure::Io("use the terminal", error))?
        .run(&mut signals, &raw)
        .await;
    drop(raw);
    result.map_err(|error| Failure::Io("use the terminal", error))
}

/// A panic of any task or thread ends the process, once the terminal is itself
/// again: a client that has lost a part of itself must not go on.
fn end_with_a_panic() {
    let restore_and_tell = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        restore_and_tell(panic);
        std::process::exit(101);
    }));
}

struct App {
    model: Model,
    started: Instant,
    messages: mpsc::Receiver<Msg>,
    input: mpsc::Receiver<io::Result<Msg>>,
    streams: Streams,
    calls: Calls,
    links: Links,
    painter: Painter,
    pace: Pace,
    out: Out,
    ended: Option<Ended>,
    /// Until then, panes without the focus wait.
    rest: Instant,
    /// Until then, somebody types.
    types: Instant,
}

impl App {
    fn new(context: &Context, model: Model) -> io::Result<Self> {
        let (sender, messages) = mpsc::channel(WAITING);
        let mut out = Out::open()?;
        let mut painter = Painter::new(&model.gui);
        out.push(painter.enter(model.gui.mouse).as_bytes());
        Ok(Self {
            started: Instant::now(),
            input: input::start()?,
            messages,
            streams: Streams::new(context.clone()),
            calls: Calls::new(context.clone(), sender.clone()),
            links: Links::start(context.clone(), sender),
            painter,
            pace: Pace::new(Instant::now()),
            out,
            model,
            ended: None,
            rest: Instant::now(),
            types: Instant::now(),
        })
    }

    async fn run(mut self, signals: &mut Signals, raw: &RawTerminal) -> io::Result<Ended> {
        let mut jobs = JobControl::new()?;
        let mut beat = tokio::time::interval(BEAT);
        beat.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Skip);
        loop {
            if let Some(ended) = self.ended.take() {
                return Ok(ended);
            }
            let draw = self.draw(Instant::now());
            let list = self.calls.pump(Instant::now());
            let (focused, others) = self.streams.ready(self.model.focus());
            let resting = Some(self.rest).filter(|rest| others && *rest > Instant::now());
            let busy = focused || (others && resting.is_none());
            // Whoever types comes before what panes print; the pane with the
            // focus before the others, which are served a piece at a time.
            tokio::select! {
                biased;
                name = signals.next() => return Ok(Ended::Signal(name)),
                asked = jobs.next() => self.job(asked, &mut jobs, raw).await?,
                typed = self.input.recv() => match typed {
                    Some(Ok(msg)) => self.typed(msg),
                    Some(Err(_)) | None => return Ok(Ended::Closed),
                },
                written = self.out.flush(), if self.out.waits() => written?,
                Some(msg) = self.messages.recv() => self.take(msg),
                () = self.streams.wait(), if !busy => self.pieces().await,
                () = std::future::ready(()), if busy => self.pieces().await,
                () = until(draw), if draw.is_some() => {}
                () = until(list), if list.is_some() => {}
                () = until(resting), if resting.is_some() => {}
                _ = beat.tick(), if self.model.gui.animation && waits(&self.model) => {
                    self.take(Msg::Beat);
                }
            }
        }
    }

    /// Stops where that is asked, with the terminal given back, and takes it again
    /// afterwards. A terminal that the shell had looks and behaves as it left it.
    async fn job(
        &mut self,
        asked: Asked,
        jobs: &mut JobControl,
        raw: &RawTerminal,
    ) -> io::Result<()> {
        // All is drawn anew.
        self.out.forget();
        if asked == Asked::Stop {
            raw.leave();
        }
        jobs.obey(asked).await;
        raw.take()?;
        self.out.push(self.painter.enter(self.model.gui.mouse).as_bytes());
        // Whoever is in the background is not told of another size.
        let (cols, rows) = cli::terminal_size()?;
        self.take(Msg::Resized(cols, rows));
        Ok(())
    }

    /// What a person did; its echo may be drawn at once.
    fn typed(&mut self, msg: Msg) {
        if matches!(msg, Msg::Key(_) | Msg::Paste(_) | Msg::Mouse(_)) {
            self.pace.bought();
            self.types = Instant::now() + TYPES;
        }
        self.take(msg);
    }

    /// What panes printed: all of the focused one, one piece of each other. For
    /// the time that those took the loop then rests from them, several times
    /// over: a pane that floods gets a part of the client, and the server drops
    /// what was not shown. A process that is never done loses its turns to
    /// others, and with them the quick echo of a key.
    async fn pieces(&mut self) {
        let focus = self.model.focus();
        let mut echoed = false;
        for (pane, number, what) in self.streams.focused(focus) {
            self.take(Msg::Stream { pane, number, what });
            echoed = true;
        }
        let start = Instant::now();
        // What may be an echo is drawn before anything else is done.
        let first = echoed && start < self.types;
        if start >= self.rest && !first {
            for (pane, number, what) in self.streams.others(focus) {
                self.take(Msg::Stream { pane, number, what });
            }
            let now = Instant::now();
            let times = if now < self.types { REST_FROM_TYPING } else { REST };
            self.rest = now + (now - start) * times;
        }
        // Sockets and the keyboard have their turn.
        tokio::task::yield_now().await;
    }

    fn take(&mut self, msg: Msg) {
        self.model.now = jiff::Timestamp::now();
        self.model.clock = self.started.elapsed();
        for effect in update(&mut self.model, msg) {
            self.perform(effect);
        }
    }

    fn perform(&mut self, effect: Effect) {
        match effect {
            Effect::List => self.calls.list(),
            Effect::Open { pane, number, size } => self.streams.open(pane, number, size),
            Effect::Shut { pane } => self.streams.shut(pane),
            Effect::Type { pane, bytes } => self.streams.send(pane, bytes),
            Effect::History { pane } => self.streams.history(pane),
            Effect::ReadTail { pane } => self.calls.tail(pane),
            Effect::Call { method, params, env, after } => {
                self.calls.call(method, params, env, after);
            }
            Effect::Copy(text) => self.out.push(reach::clipboard(&text).as_bytes()),
            Effect::Reach { title, body } => {
                let bytes = reach::reach(&self.model.gui.reach, &title, &body);
                self.out.push(bytes.as_bytes());
            }
            Effect::SaveScope(scope) => self.calls.save_scope(scope),
            Effect::Connect { start } => self.links.connect(start),
            Effect::Clear => self.painter.clear(),
            Effect::Quit => self.ended = Some(Ended::Left),
        }
    }

    /// Draws what changed, if it is time for it; else says when it is. While
    /// somebody types, the pane with the focus is drawn alone, and what others print
    /// beside it with their next frame: it is no part of the way of an echo.
    fn draw(&mut self, now: Instant) -> Option<Instant> {
        if self.model.dirty == Dirty::No || self.out.waits() {
            return None;
        }
        let typing = now < self.types;
        if let Some(later) = self.pace.when(self.model.dirty, now, typing) {
            return Some(later);
        }
        let alone = typing && self.model.beside && self.model.dirty == Dirty::Foreground;
        let only = self.model.focus().filter(|_| alone && !self.model.whole);
        let only = only.filter(|_| self.pace.when(Dirty::Background, now, typing).is_some());
        let bytes = self.painter.draw(&self.model, only);
        self.out.push(&bytes);
        self.pace.drawn(now, only.is_none());
        self.model.whole = false;
        if only.is_some() {
            self.model.dirty = Dirty::Background;
            return self.pace.when(Dirty::Background, now, typing);
        }
        (self.model.dirty, self.model.beside) = (Dirty::No, false);
        None
    }
}

async fn until(at: Option<Instant>) {
    let left = at.map(|at| at.saturating_duration_since(Instant::now()));
    tokio::time::sleep(left.unwrap_or(Duration::ZERO)).await;
}
