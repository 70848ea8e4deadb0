//! `pane spawn`: one pane, or as many as standard input names.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::io::{self, BufRead, Read as _};
use std::path::PathBuf;

use clap::Args;
use serde::Deserialize;
use serde_json::Value;
use tokio::sync::mpsc;

use super::create::pane_id;
use super::failure::{Exit, NO_SERVER};
use super::{Context, Failure, place, safe};
use crate::protocol::{MAX_REQUEST, PaneSpawn, PaneSpawnBy, WireError, WireOs, code};

// Arguments of `pane spawn`.
#[derive(Debug, Args)]
pub(super) struct SpawnByArgs {
    /// A pane of the workspace that gets the new one
    #[arg(required_unless_present = "batch", conflicts_with = "batch")]
    pane: Option<String>,
    /// Read one request a line from standard input, as
    /// {"pane":…,"argv":[…],"cwd":…}, and answer each in order
    #[arg(long, conflicts_with_all = ["cwd", "argv"])]
    batch: bool,
    /// Where to run it
    #[arg(long, value_name = "DIR")]
    cwd: Option<PathBuf>,
    /// Program and arguments; the login shell where there are none
    #[arg(trailing_var_arg = true, value_name = "ARGV")]
    argv: Vec<OsString>,
}

/// One line of a batch.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    pane: String,
    #[serde(default)]
    argv: Vec<WireOs>,
    #[serde(default)]
    cwd: Option<WireOs>,
}

/// Runs it.
pub(super) async fn run(context: &Context, args: SpawnByArgs) -> Result<Exit, Failure> {
    let Some(pane) = args.pane else {
        return batch(context).await;
    };
    let cwd = args.cwd.map(|dir| place::from_here(&dir)).transpose()?;
    let spawn = PaneSpawn {
        argv: args.argv.into_iter().map(WireOs).collect(),
        cwd: cwd.map(|dir| WireOs(dir.into())),
        env: place::environment(),
    };
    context.ask("pane.spawn", &PaneSpawnBy { pane, spawn }, pane_id).await?;
    Ok(Exit::Done)
}

/// Answers each line, in order, over one connection; the server starts several at
/// a time. A line that cannot be done is answered with its error, and the next one
/// goes on; the exit code then says that not everything was done.
async fn batch(context: &Context) -> Result<Exit, Failure> {
    let (mut requests, mut replies) = context.client().await?.pipeline();
    let mut lines = standard_input();
    let env = place::environment();
    let mut owed: VecDeque<Owed> = VecDeque::new();
    let (mut exit, mut open) = (Exit::Done, true);
    loop {
        while matches!(owed.front(), Some(Owed::Said(_))) {
            if let Some(Owed::Said(error)) = owed.pop_front() {
                exit = answer(context, Err(error))?.unwrap_or(exit);
            }
        }
        if !open && owed.is_empty() {
            return Ok(exit);
        }
        tokio::select! {
            line = lines.recv(), if open && owed.len() < AHEAD => match line {
                None => open = false,
                Some(line) => match serde_json::from_slice::<Line>(&line?) {
                    Ok(Line { pane, argv, cwd }) => {
                        let cwd = cwd.map(|dir| place::from_here(&dir.into_path())).transpose()?;
                        let cwd = cwd.map(|dir| WireOs(dir.into()));
                        let spawn = PaneSpawn { argv, cwd, env: env.clone() };
                        requests.send("pane.spawn", &PaneSpawnBy { pane, spawn }).await?;
                        owed.push_back(Owed::Server);
                    }
                    Err(error) => {
                        let message = format!(
                            "the line is no request: {error}; it needs `pane`, and may have \
                             `argv` and `cwd`"
                        );
                        owed.push_back(Owed::Said(WireError::new(code::BAD_PARAMS, message)));
                    }
                },
            },
            reply = replies.next(), if !owed.is_empty() => {
                let Some(reply) = reply? else {
                    return Err(Failure::new(NO_SERVER, "the server went away"));
                };
                owed.pop_front();
                exit = answer(context, reply)?.unwrap_or(exit);
            }
        }
    }
}

/// Who answers a line.
enum Owed {
    Server,
    /// It is no request, which is said in its turn.
    Said(WireError),
}

/// Lines that may wait for their answers; as many as a server takes at once.
const AHEAD: usize = 64;

/// Prints an answer; the exit code, where it is an error.
fn answer(context: &Context, reply: Result<Value, WireError>) -> Result<Option<Exit>, Failure> {
    match reply {
        Ok(made) if context.json => context.print_json(&made)?,
        Ok(made) => {
            let pane = made.get("pane_id").and_then(Value::as_str).unwrap_or_default();
            context.print(&format!("{}\n", safe(pane)))?;
        }
        Err(error) => {
            let failure = Failure::Failed(error);
            if context.json {
                context.print_json(&failure.json())?;
            } else {
                // Its place in the output is kept, so that answers can be told
                // apart by their number.
                context.print("\n")?;
                context.remark(&failure.human());
            }
            return Ok(Some(Exit::Failed));
        }
    }
    Ok(None)
}

/// The lines of standard input, read on a thread of their own: while it waits for
/// a line, answers go on.
fn standard_input() -> mpsc::Receiver<Result<Vec<u8>, Failure>> {
    let (send, receive) = mpsc::channel(1);
    std::thread::spawn(move || {
        let mut input = io::stdin().lock();
        while let Some(line) = next_line(&mut input).transpose() {
            let over = line.is_err();
            if send.blocking_send(line).is_err() || over {
                return;
            }
        }
    });
    receive
}

/// The next line that is not empty, without its end; no longer than a request.
fn next_line(input: &mut impl BufRead) -> Result<Option<Vec<u8>>, Failure> {
    let limit = u64::try_from(MAX_REQUEST).unwrap_or(u64::MAX);
    loop {
        let mut line = Vec::new();
        let read = input.take(limit + 1).read_until(b'\n', &mut line);
        match read.map_err(|error| Failure::Io("read standard input", error))? {
            0 => return Ok(None),
            _ if line.len() > MAX_REQUEST => {
                let message = format!("a line of the batch is longer than {MAX_REQUEST} bytes");
                return Err(Failure::Usage(message));
            }
            _ => {}
        }
        if !line.trim_ascii().is_empty() {
            return Ok(Some(line));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_batch_is_read_line_by_line_with_a_bound() {
        let mut input = io::Cursor::new(b"{\"a\":1}\n\n  \n{}".to_vec());
        assert_eq!(next_line(&mut input).unwrap().unwrap(), b"{\"a\":1}\n");
        assert_eq!(next_line(&mut input).unwrap().unwrap(), b"{}");
        assert!(next_line(&mut input).unwrap().is_none());
        let mut endless = io::repeat(b'x');
        assert!(next_line(&mut io::BufReader::new(&mut endless)).is_err());
    }

    #[test]
    fn a_line_with_a_misspelt_field_is_refused() {
        assert!(serde_json::from_str::<Line>(r#"{"pane":"p","argv":["a"]}"#).is_ok());
        assert!(serde_json::from_str::<Line>(r#"{"pane":"p","args":["a"]}"#).is_err());
    }
}
