//! `pane spawn`: one pane, or as many as standard input names.

use std::ffi::OsString;
use std::io::{self, BufRead, Read as _};
use std::path::PathBuf;

use clap::Args;
use serde::Deserialize;
use serde_json::Value;

use super::create::pane_id;
use super::failure::Exit;
use super::{Context, Failure, place, safe};
use crate::client::{Client, ClientError};
use crate::protocol::{MAX_REQUEST, PaneSpawn, PaneSpawnBy, WireError, WireOs, code};

/// Arguments of `pane spawn`.
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
        return batch(context, &mut io::stdin().lock()).await;
    };
    let base = place::working_directory();
    let spawn = PaneSpawn {
        argv: args.argv.into_iter().map(WireOs).collect(),
        cwd: args.cwd.map(|dir| WireOs(place::absolute(&base, &dir).into())),
        env: place::environment(),
    };
    context.ask("pane.spawn", &PaneSpawnBy { pane, spawn }, pane_id).await?;
    Ok(Exit::Done)
}

/// Answers each line before the next is read, all over one connection. A line
/// that cannot be done is answered with its error, and the next one goes on; the
/// exit code then says that not everything was done.
async fn batch(context: &Context, input: &mut impl BufRead) -> Result<Exit, Failure> {
    let mut client = context.client().await?;
    let env = place::environment();
    let base = place::working_directory();
    let mut exit = Exit::Done;
    while let Some(line) = next_line(input)? {
        let answer = match serde_json::from_slice::<Line>(&line) {
            Ok(Line { pane, argv, cwd }) => {
                let cwd = cwd.map(|dir| WireOs(place::absolute(&base, &dir.into_path()).into()));
                let spawn = PaneSpawn { argv, cwd, env: env.clone() };
                one(&mut client, &PaneSpawnBy { pane, spawn }).await?
            }
            Err(error) => {
                let message = format!(
                    "the line is no request: {error}; it needs `pane`, and may have `argv` and \
                     `cwd`"
                );
                Err(WireError::new(code::BAD_PARAMS, message))
            }
        };
        match answer {
            Ok(made) if context.json => context.print_json(&made)?,
            Ok(made) => {
                let pane = made.get("pane_id").and_then(Value::as_str).unwrap_or_default();
                context.print(&format!("{}\n", safe(pane)))?;
            }
            Err(error) => {
                exit = Exit::Failed;
                let failure = Failure::Failed(error);
                if context.json {
                    context.print_json(&failure.json())?;
                } else {
                    // Its place in the output is kept, so that answers can be
                    // told apart by their number.
                    context.print("\n")?;
                    context.remark(&failure.human());
                }
            }
        }
    }
    Ok(exit)
}

/// The server's answer; an error of the connection ends the batch.
async fn one(
    client: &mut Client,
    params: &PaneSpawnBy,
) -> Result<Result<Value, WireError>, Failure> {
    match client.call("pane.spawn", params).await {
        Ok(made) => Ok(Ok(made)),
        Err(ClientError::Wire(error)) => Ok(Err(error)),
        Err(error) => Err(error.into()),
    }
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
