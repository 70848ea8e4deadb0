//! The program: prompts, answers, remembers.
//!
//! It leaves the terminal to gather lines, so a line is a prompt. What it answers
//! depends on the conversation alone. It keeps its conversation in a record
//! from the first prompt on, and lists itself while it runs.
//!
//! A file `behaviour` in its home makes it misbehave the way real agents do:
//! see [`Behaviour`](super::Behaviour). It then really does, and nothing else in this crate looks
//! at that file.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, BufRead, Read, Write};
use std::path::PathBuf;

use rustix::termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcsetattr};

use super::record::{self, By, Live, Message, Status};
use super::world::{Behaviour, World};
use crate::IdForm;

/// Runs the agent on this process's terminal; the program's exit code.
/// `args` are those after the verb.
pub fn run_here(args: &[OsString]) -> u8 {
    let world = match World::of_this_process() {
        Ok(world) => world,
        Err(error) => {
            let _ = writeln!(io::stderr(), "demo agent: {error}");
            return 1;
        }
    };
    let plain = PlainEcho::begin();
    let code = run(args, &world, &mut io::stdin().lock(), &mut io::stdout());
    drop(plain);
    code
}

/// While this exists, the terminal shows what is typed as it is, and not control
/// characters as `^[`: the brackets of a paste are for the program and not for its
/// person. Other programs find the terminal as it was.
struct PlainEcho(Termios);

impl PlainEcho {
    fn begin() -> Option<Self> {
        // Whose input is no terminal has no echo.
        let before = tcgetattr(io::stdin()).ok()?;
        let mut plain = before.clone();
        plain.local_modes.remove(LocalModes::ECHOCTL);
        tcsetattr(io::stdin(), OptionalActions::Now, &plain).ok()?;
        Some(Self(before))
    }
}

impl Drop for PlainEcho {
    fn drop(&mut self) {
        // There is nobody to tell where the terminal is gone.
        let _ = tcsetattr(io::stdin(), OptionalActions::Now, &self.0);
        let _ = write!(io::stdout(), "\x1b[?2004l");
    }
}

/// Runs the agent until its input ends; the program's exit code.
pub fn run(
    args: &[OsString],
    world: &World,
    input: &mut dyn BufRead,
    output: &mut dyn Write,
) -> u8 {
    match talk(args, world, input, output) {
        Ok(code) => code,
        // The terminal is gone.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => 0,
        Err(error) => {
            let _ = writeln!(output, "demo agent: {error}");
            1
        }
    }
}

const USAGE: &str = "[--resume ID] [--model NAME] [--skip-permissions]";

/// What a command line says.
#[derive(Default)]
struct Asked {
    resume: Option<String>,
    /// As they were given.
    options: Vec<String>,
}

impl Asked {
    fn of(args: &[OsString]) -> Option<Self> {
        let mut asked = Self::default();
        let mut args = args.iter();
        while let Some(arg) = args.next() {
            let arg = arg.to_str()?;
            match arg {
                "--resume" if asked.resume.is_none() => {
                    asked.resume = Some(args.next()?.to_string_lossy().into_owned());
                }
                "--model" | "-m" => {
                    asked.options.push(format!("{arg} {}", args.next()?.to_string_lossy()));
                }
                "--skip-permissions" => asked.options.push(arg.to_owned()),
                _ if arg.starts_with("--model=") => asked.options.push(arg.to_owned()),
                _ => return None,
            }
        }
        Some(asked)
    }
}

fn talk(
    args: &[OsString],
    world: &World,
    input: &mut dyn BufRead,
    output: &mut dyn Write,
) -> io::Result<u8> {
    let Some(Asked { resume, options }) = Asked::of(args) else {
        writeln!(output, "usage: {} {USAGE}", super::VERB)?;
        return Ok(2);
    };
    let mut agent = match resume {
        None => Agent::begin(world)?,
        Some(id) => match Agent::resume(world, &id)? {
            Some(agent) => agent,
            None => {
                writeln!(output, "no conversation {id}: not found")?;
                return Ok(1);
            }
        },
    };
    if !options.is_empty() {
        writeln!(output, "started with {}", options.join(" "))?;
    }
    agent.list(Status::Idle)?;
    let short: String = agent.id.chars().take(8).collect();
    let earlier = agent.messages.len();
    // Pastes come in brackets from here on.
    write!(output, "\x1b[?2004h")?;
    writeln!(output, "demo agent, conversation {short}, {earlier} earlier messages")?;
    loop {
        write!(output, "you> ")?;
        output.flush()?;
        let mut line = String::new();
        if input.read_line(&mut line)? == 0 {
            writeln!(output)?;
            let _ = fs::remove_file(record::live_path(&world.home, world.pid));
            return Ok(0);
        }
        let pasted = line.replace("\x1b[200~", "").replace("\x1b[201~", "");
        let prompt = pasted.trim();
        if !prompt.is_empty() && Behaviour::of(&world.home) != Behaviour::Deaf {
            agent.turn(prompt, input, output)?;
        }
    }
}

/// A conversation that is open.
struct Agent<'a> {
    world: &'a World,
    id: String,
    messages: Vec<Message>,
    loaded: usize,
    prompts: u64,
    listed: bool,
    /// Where messages go; nowhere for one who only claims the id.
    path: Option<PathBuf>,
}

impl<'a> Agent<'a> {
    fn begin(world: &'a World) -> io::Result<Self> {
        let id = random_uuid()?;
        Ok(Self {
            path: Some(record::path_of(&world.home, &world.cwd, &id)),
            world,
            id,
            messages: Vec::new(),
            loaded: 0,
            prompts: 0,
            listed: Behaviour::of(&world.home) != Behaviour::Silent,
        })
    }

    fn resume(world: &'a World, id: &str) -> io::Result<Option<Self>> {
        let path = record::path_of(&world.home, &world.cwd, id);
        let behaviour = Behaviour::of(&world.home);
        if IdForm::Uuid.parse(id).is_err() || !path.is_file() || behaviour == Behaviour::Exit {
            return Ok(None);
        }
        let mut agent = Self { id: id.to_owned(), path: Some(path.clone()), ..Self::begin(world)? };
        match behaviour {
            Behaviour::Other => return Self::begin(world).map(Some),
            Behaviour::Fresh => fs::write(&path, "")?,
            Behaviour::Echo => agent.path = None,
            _ => {
                record::end_last_line(&path)?;
                if behaviour == Behaviour::Forks {
                    agent.id = random_uuid()?;
                    let copy = record::path_of(&world.home, &world.cwd, &agent.id);
                    fs::copy(&path, &copy)?;
                    agent.path = Some(copy);
                }
                agent.messages = record::load(&path)?;
                agent.loaded = agent.messages.len();
            }
        }
        Ok(Some(agent))
    }

    fn turn(
        &mut self,
        prompt: &str,
        input: &mut dyn BufRead,
        output: &mut dyn Write,
    ) -> io::Result<()> {
        let mute = Behaviour::of(&self.world.home) == Behaviour::Mute;
        self.say(By::Person, prompt.to_owned())?;
        if !mute {
            self.prompts += 1;
            self.list(Status::Busy)?;
        }
        if prompt == "work" || mute {
            writeln!(output, "working; press Enter to let me finish")?;
            output.flush()?;
            if input.read_line(&mut String::new())? == 0 {
                return Ok(());
            }
        }
        let answer = self.answer(prompt);
        writeln!(output, "{answer}")?;
        self.say(By::Agent, answer)?;
        self.list(Status::Idle)
    }

    fn answer(&self, prompt: &str) -> String {
        if let Some(what) = prompt.strip_prefix("remember ") {
            return format!("noted: {what}");
        }
        if prompt == "what did I say?" {
            let said = self.messages.iter().filter(|message| message.by == By::Person);
            let earlier = said.clone().count().saturating_sub(1);
            let lines: Vec<_> = said
                .take(earlier)
                .enumerate()
                .map(|(at, message)| format!("{}. {}", at + 1, message.text))
                .collect();
            return if lines.is_empty() { "nothing yet".to_owned() } else { lines.join("\n") };
        }
        format!("you said: {prompt} (message {})", self.messages.len())
    }

    fn say(&mut self, by: By, text: String) -> io::Result<()> {
        let message = Message {
            by,
            uuid: random_uuid()?,
            parent: self.messages.last().map(|message| message.uuid.clone()),
            text,
        };
        if let Some(path) = &self.path {
            record::append(path, std::slice::from_ref(&message))?;
        }
        self.messages.push(message);
        Ok(())
    }

    fn list(&self, status: Status) -> io::Result<()> {
        if !self.listed {
            return Ok(());
        }
        Live {
            pid: self.world.pid,
            start_ticks: self.world.start_ticks,
            session_id: self.id.clone(),
            cwd: self.world.cwd.to_string_lossy().into_owned(),
            status,
            loaded: self.loaded as u64,
            prompts: self.prompts,
        }
        .write(&self.world.home)
    }
}

/// A random UUID, version 4.
fn random_uuid() -> io::Result<String> {
    let mut bytes = [0; 16];
    File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    let bits = u128::from_be_bytes(bytes) & !(0xf << 76 | 0x3 << 62) | 0x4 << 76 | 0x2 << 62;
    let hex = format!("{bits:032x}");
    let (a, rest) = hex.split_at(8);
    let (b, rest) = rest.split_at(4);
    let (c, rest) = rest.split_at(4);
    let (d, e) = rest.split_at(4);
    Ok(format!("{a}-{b}-{c}-{d}-{e}"))
}
