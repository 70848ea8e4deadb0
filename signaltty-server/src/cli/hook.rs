//! `hook`: an agent's report to the server.
//!
//! It runs inside an agent, at the agent's cost. So it prints nothing, always
//! ends with 0 (what a hook prints goes into the agent's context, and an exit
//! code of 2 blocks its prompt), takes a second at most, and starts nothing. A
//! report that does not get through is lost; the server has other ways to see.
//!
//! Only a report that asks a person for a decision waits longer, and prints
//! what the person decided. Whatever else happens prints nothing, which grants
//! nothing: the agent asks in its own terminal.

use std::ffi::OsString;
use std::io::{self, Read as _, Write as _};
use std::path::PathBuf;
use std::sync::mpsc;
use std::time::Duration;

use clap::{Args, Parser as _};

use super::{Cli, Verb};
use crate::client::{Client, ClientError};
use crate::config::Paths;
use crate::protocol::{AgentHook, Decided, HookAnswer};

// Arguments of `hook`.
#[derive(Debug, Args)]
pub(super) struct HookArgs {
    /// Whose hook it is
    agent: String,
    /// Who put the hook into a file of a person
    #[arg(long, hide = true)]
    owner: Option<String>,
    /// Show the server's answer on standard error
    #[arg(long)]
    debug: bool,
}

/// Whether the verb is `hook`. Asked before anything is parsed, since not even
/// an error in the arguments may show.
pub(super) fn is_asked_for(args: &[OsString]) -> bool {
    let mut args = args.iter().skip(1);
    while let Some(arg) = args.next() {
        match arg.to_str() {
            Some("--socket" | "--state-dir") => drop(args.next()),
            Some(option) if option.starts_with('-') => {}
            verb => return verb == Some("hook"),
        }
    }
    false
}

/// Runs `hook`, whatever the arguments are.
pub(super) fn run(args: &[OsString]) {
    let debug = args.iter().any(|arg| arg == "--debug");
    if !debug {
        std::panic::set_hook(Box::new(|_| {}));
    }
    let args = args.to_vec();
    let ended = within(LIMIT, PATIENCE, move |waits| {
        let cli = Cli::try_parse_from(args).map_err(|error| error.to_string())?;
        let Some(Verb::Hook(args)) = cli.verb else {
            return Err("another verb than hook".to_owned());
        };
        let mut report = Report::of(args.agent, |name| std::env::var_os(name))?;
        report.installed = args.owner.is_some();
        report.send(io::stdin(), waits)
    });
    if let Some(output) = &ended.output {
        // Nobody reads it any more where this fails.
        let _ = writeln!(io::stdout(), "{output}");
    }
    if debug {
        let said = &ended.said;
        let _ = writeln!(io::stderr(), "{}", super::text::safe_lines(said.trim_end()));
    }
}

/// What a report came to.
#[derive(Debug, Default, PartialEq, Eq)]
struct Ended {
    /// In words.
    said: String,
    /// What the agent is to read.
    output: Option<String>,
}

impl From<String> for Ended {
    fn from(said: String) -> Self {
        Self { said, output: None }
    }
}

/// What `work` came to, or that it took too long or panicked. It is left
/// behind then, and ends with the process. Work that says that it waits for a
/// person gets `patience` from then on.
fn within(
    limit: Duration,
    patience: Duration,
    work: impl FnOnce(&dyn Fn()) -> Result<Ended, String> + Send + 'static,
) -> Ended {
    let (done, progress) = mpsc::channel();
    let thread = std::thread::Builder::new().name("hook".to_owned());
    let started = thread.spawn(move || {
        // Nobody may be waiting any more.
        let waits = || drop(done.send(None));
        let ended = work(&waits).unwrap_or_else(Ended::from);
        let _ = done.send(Some(ended));
    });
    if let Err(error) = started {
        return format!("cannot start a thread: {error}").into();
    }
    let mut limit = limit;
    loop {
        match progress.recv_timeout(limit) {
            Ok(Some(ended)) => return ended,
            Ok(None) => limit = patience,
            Err(mpsc::RecvTimeoutError::Timeout) => {
                return format!("gave up after {limit:?}").into();
            }
            Err(mpsc::RecvTimeoutError::Disconnected) => return "panicked".to_owned().into(),
        }
    }
}

/// A report, but for what the agent wrote.
#[derive(Debug, PartialEq, Eq)]
struct Report {
    socket: PathBuf,
    agent: String,
    launch: String,
    agent_pid: Option<u32>,
    /// Whether `signaltty integration` put the hook there.
    installed: bool,
}

impl Report {
    /// The report of a hook with this environment.
    fn of(agent: String, var: impl Fn(&str) -> Option<OsString>) -> Result<Self, String> {
        let var = |name| var(name).filter(|value| !value.is_empty());
        let (Some(socket), Some(launch)) = (var("SIGNALTTY_SOCKET"), var("SIGNALTTY_LAUNCH"))
        else {
            return Err("not in a pane of signaltty, nothing to do".to_owned());
        };
        let pid = || var("CLAUDE_PID")?.to_str()?.parse().ok();
        let launch = launch.into_string();
        Ok(Self {
            socket: PathBuf::from(socket),
            agent_pid: if agent == "claude" { pid() } else { None },
            launch: launch.map_err(|_| "SIGNALTTY_LAUNCH is not UTF-8".to_owned())?,
            agent,
            installed: false,
        })
    }

    /// Reads what the agent wrote and passes it on.
    fn send(self, input: impl io::Read, waits: &dyn Fn()) -> Result<Ended, String> {
        let mut payload = Vec::new();
        let read = input.take(MAX_PAYLOAD + 1).read_to_end(&mut payload);
        let length = read.map_err(|error| format!("cannot read standard input: {error}"))?;
        if length as u64 > MAX_PAYLOAD {
            return Err(format!("more than {MAX_PAYLOAD} bytes on standard input"));
        }
        let params = AgentHook {
            agent: self.agent,
            launch: self.launch,
            payload: String::from_utf8_lossy(&payload).into_owned(),
            agent_pid: self.agent_pid,
            installed: self.installed,
        };
        let paths =
            Paths { state_dir: PathBuf::new(), runtime_dir: PathBuf::new(), socket: self.socket };
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(|error| error.to_string())?;
        runtime.block_on(async {
            let text = |error: ClientError| error.to_string();
            let mut client = Client::connect(&paths).await.map_err(text)?;
            match client.call("agent.hook", &params).await.map_err(text)? {
                HookAnswer { accepted: true, asks: true, .. } => {}
                HookAnswer { accepted: true, .. } => return Ok("accepted".to_owned().into()),
                HookAnswer { reason, .. } => {
                    return Err(reason.unwrap_or_else(|| "not accepted".to_owned()));
                }
            }
            waits();
            let decided: Decided = client.call("agent.ask", &params).await.map_err(text)?;
            let said = format!("decided: {:?}", decided.answer);
            Ok(Ended { said, output: Some(decided.output) })
        })
    }
}

const LIMIT: Duration = Duration::from_secs(1);

/// How long a hook waits for a person, once the server said that it asks one.
const PATIENCE: Duration = Duration::from_secs(120);

const MAX_PAYLOAD: u64 = 1024 * 1024;

#[cfg(test)]
mod tests {
    use std::io::BufRead as _;
    use std::os::unix::net::UnixListener;

    use super::*;

    fn words(line: &str) -> Vec<OsString> {
        line.split_whitespace().map(OsString::from).collect()
    }

    fn report(vars: &[(&str, &str)], agent: &str) -> Result<Report, String> {
        Report::of(agent.to_owned(), |name| {
            let found = vars.iter().find(|(n, _)| *n == name);
            found.map(|(_, value)| OsString::from(value))
        })
    }

    #[test]
    fn the_verb_is_found_whatever_surrounds_it() {
        for line in [
            "signaltty hook",
            "signaltty hook claude --bogus",
            "signaltty --json --socket ls hook claude",
            "signaltty --socket=x --nonsense hook",
        ] {
            assert!(is_asked_for(&words(line)), "{line}");
        }
        for line in [
            "signaltty",
            "signaltty ls hook",
            "signaltty --socket hook ls",
            "signaltty new -- hook",
        ] {
            assert!(!is_asked_for(&words(line)), "{line}");
        }
    }

    #[test]
    fn without_a_launch_nothing_is_done() {
        assert!(report(&[], "claude").is_err());
        assert!(report(&[("SIGNALTTY_SOCKET", "/s")], "claude").is_err());
        let empty = [("SIGNALTTY_SOCKET", "/s"), ("SIGNALTTY_LAUNCH", "")];
        assert!(report(&empty, "claude").is_err());
    }

    #[test]
    fn the_process_id_goes_along_for_the_agent_that_says_it() {
        let vars =
            [("SIGNALTTY_SOCKET", "/s"), ("SIGNALTTY_LAUNCH", "secret"), ("CLAUDE_PID", "77")];
        assert_eq!(report(&vars, "claude").unwrap().agent_pid, Some(77));
        assert_eq!(report(&vars, "grok").unwrap().agent_pid, None);
        let mut vars = vars;
        vars[2].1 = "x";
        assert_eq!(report(&vars, "claude").unwrap().agent_pid, None);
    }

    #[test]
    fn slow_and_panicking_work_is_given_up() {
        const LONG: Duration = Duration::from_secs(9);
        const SHORT: Duration = Duration::from_millis(1);
        for waits_first in [false, true] {
            let (_never, waits) = mpsc::channel::<()>();
            let slow = move |says: &dyn Fn()| {
                if waits_first {
                    says();
                }
                let _ = waits.recv();
                Ok(Ended::default())
            };
            let (limit, patience) = if waits_first { (LONG, SHORT) } else { (SHORT, LONG) };
            let ended = within(limit, patience, slow);
            assert!(ended.said.contains("gave up after 1ms"), "{ended:?}");
            assert_eq!(ended.output, None, "nothing is granted");
        }
        let ended = within(LONG, LONG, |_| panic!("on purpose"));
        assert_eq!(ended, "panicked".to_owned().into());
        assert_eq!(within(LONG, LONG, |_| Err("e".into())).said, "e");
    }

    #[test]
    fn a_decision_is_waited_for_and_printed_and_nothing_else_is() {
        let ask = r#"{"id":"1","result":{"accepted":true,"asks":true}}"#;
        for (second, output) in [
            (Some(r#"{"id":"2","result":{"answer":"allow","output":"YES"}}"#), Some("YES")),
            (Some(r#"{"id":"2","error":{"code":"TIMEOUT","message":"nobody"}}"#), None),
            (None, None),
        ] {
            let dir = tempfile::tempdir().unwrap();
            let socket = dir.path().join("s");
            let listener = UnixListener::bind(&socket).unwrap();
            let server = std::thread::spawn(move || {
                let (mut stream, _) = listener.accept().unwrap();
                let mut lines = io::BufReader::new(stream.try_clone().unwrap()).lines();
                lines.next().unwrap().unwrap();
                writeln!(stream, "{ask}").unwrap();
                let asked = lines.next().unwrap().unwrap();
                if let Some(second) = second {
                    writeln!(stream, "{second}").unwrap();
                }
                asked
            });
            let report = Report {
                socket: socket.clone(),
                agent: "claude".into(),
                launch: "secret".into(),
                agent_pid: None,
                installed: false,
            };
            let told = std::cell::Cell::new(false);
            let ended = report.send(&b"{}"[..], &|| told.set(true));
            let ended = ended.unwrap_or_else(Ended::from);
            assert_eq!(ended.output.as_deref(), output, "{ended:?}");
            assert!(told.get());
            assert!(server.join().unwrap().contains("agent.ask"));
        }
    }

    #[test]
    fn garbage_is_passed_on_and_too_much_is_not() {
        let dir = tempfile::tempdir().unwrap();
        let socket = dir.path().join("s");
        let listener = UnixListener::bind(&socket).unwrap();
        let make = || Report {
            socket: socket.clone(),
            agent: "claude".into(),
            launch: "secret".into(),
            agent_pid: None,
            installed: false,
        };
        let server = std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let mut line = String::new();
            io::BufReader::new(&stream).read_line(&mut line).unwrap();
            let answer = b"{\"id\":\"1\",\"result\":{\"accepted\":false,\"reason\":\"no JSON\"}}\n";
            stream.write_all(answer).unwrap();
            line
        });
        assert_eq!(make().send(&b"\xffgarbage"[..], &|| {}).unwrap_err(), "no JSON");
        let request = server.join().unwrap();
        assert!(request.contains("\u{fffd}garbage"), "{request}");
        // Nobody listens any more, and that is found out only for a payload
        // that would be sent.
        let huge = io::repeat(b'x').take(MAX_PAYLOAD + 1);
        assert!(make().send(huge, &|| {}).unwrap_err().contains("more than"));
        assert!(make().send(&b"{}"[..], &|| {}).unwrap_err().contains("no server"));
    }
}
