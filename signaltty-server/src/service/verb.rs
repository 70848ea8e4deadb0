//! `signaltty-server service`: the unit of the user's own systemd.

use std::io::{self, Write as _};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use serde_json::{Value, json};

use super::unit::{self, Found};
use super::write::{self, UnitError};
use super::{logout, systemctl};
use crate::config::Paths;
use crate::output;
use crate::protocol::WireError;

const PROGRAM: &str = "signaltty-server";

/// Arguments of `service`.
#[derive(Debug, Args)]
pub(crate) struct ServiceArgs {
    /// Print JSON
    #[arg(long, global = true)]
    json: bool,
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// Write the unit; starts nothing
    Install,
    /// Remove the unit; ends nothing
    Uninstall,
    /// Say what is installed, what runs, and what a logout does
    Status,
}

/// What was done, and what is left to the person.
#[derive(Debug)]
struct Report {
    json: Value,
    lines: Vec<String>,
}

/// Runs the verb; the result is the exit code.
pub(crate) fn run(args: &ServiceArgs, paths: &Paths) -> u8 {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let report = match runtime {
        Ok(runtime) => runtime.block_on(perform(&args.verb, paths)),
        Err(source) => {
            Err(UnitError::Io { operation: "start", path: PathBuf::from("a runtime"), source })
        }
    };
    let exit = u8::from(report.is_err());
    let text = match (&report, args.json) {
        (Ok(report), true) => report.json.to_string(),
        (Ok(report), false) => report.lines.join("\n"),
        (Err(error), true) => {
            let code = match error {
                UnitError::Foreign { .. } => "UNIT_FOREIGN",
                _ => "UNIT_FAILED",
            };
            let error = WireError::new(code, error.to_string()).with_details(json!({}));
            json!({ "error": error }).to_string()
        }
        (Err(error), false) => {
            // Whoever reads this may have gone.
            let _ = writeln!(io::stderr(), "{PROGRAM}: {error}");
            return exit;
        }
    };
    output::printed(PROGRAM, &format!("{text}\n"), exit)
}

async fn perform(verb: &Verb, paths: &Paths) -> Result<Report, UnitError> {
    let at = unit::path(|name| std::env::var_os(name)).ok_or(UnitError::NoHome)?;
    match verb {
        Verb::Install => install(&at, paths).await,
        Verb::Uninstall => uninstall(&at).await,
        Verb::Status => status(&at, paths).await,
    }
}

async fn install(at: &Path, paths: &Paths) -> Result<Report, UnitError> {
    let changed = write::install(at, &text(paths)?)?;
    let mut lines = vec![if changed {
        format!("wrote {}", at.display())
    } else {
        format!("{} is there already, as it should be", at.display())
    }];
    let mut to_run = Vec::new();
    if let Some(why) = reload().await {
        lines.push(format!("the user's systemd was not told ({why})"));
        to_run.push("systemctl --user daemon-reload".to_owned());
    }
    if runs(paths) {
        lines.push(format!(
            "a server runs already; the service starts only after it has ended, and its panes end \
             with it: {} listens",
            paths.socket.display()
        ));
        to_run.push("signaltty shutdown --force".to_owned());
    }
    to_run.push(format!("systemctl --user enable --now {}", unit::NAME));
    let lingers = logout::lingers();
    if lingers != Some(true) {
        to_run.push("loginctl enable-linger".to_owned());
    }
    lines.push("to be run by you:".to_owned());
    lines.extend(to_run.iter().map(|command| format!("  {command}")));
    lines.extend(ABOUT_LOGOUT.map(str::to_owned));
    let json = json!({"unit": at, "changed": changed, "to_run": to_run, "linger": lingers});
    Ok(Report { json, lines })
}

async fn uninstall(at: &Path) -> Result<Report, UnitError> {
    // Asked first: whatever is not ours is not disabled either.
    if let Found::Foreign(why) = write::looked(at)? {
        return Err(UnitError::Foreign { path: at.to_owned(), why });
    }
    let there = write::looked(at)? != Found::Absent;
    let disabled = !there || systemctl(&["disable", unit::NAME]).await.is_ok();
    let changed = write::uninstall(at)?;
    let mut lines = vec![if changed {
        format!("removed {}; a server that runs goes on until it is stopped", at.display())
    } else {
        format!("nothing is at {}", at.display())
    }];
    let mut to_run = Vec::new();
    if changed && reload().await.is_some() {
        to_run.push("systemctl --user daemon-reload".to_owned());
    }
    if !disabled {
        to_run.push(format!("systemctl --user disable {}", unit::NAME));
    }
    if !to_run.is_empty() {
        lines.push("the user's systemd was not told; to be run by you:".to_owned());
        lines.extend(to_run.iter().map(|command| format!("  {command}")));
    }
    Ok(Report { json: json!({"unit": at, "changed": changed, "to_run": to_run}), lines })
}

async fn status(at: &Path, paths: &Paths) -> Result<Report, UnitError> {
    let (state, detail) = match write::looked(at)? {
        Found::Absent => ("absent", "`signaltty-server service install` writes it"),
        Found::Foreign(why) => ("foreign", why),
        Found::Ours(there) if !unit::serves(&there, paths) => {
            ("other", "it serves another socket or state directory")
        }
        Found::Ours(there) if there != text(paths)? => {
            ("outdated", "another install would write it differently")
        }
        Found::Ours(_) => ("installed", ""),
    };
    let shown = ["LoadState", "ActiveState", "UnitFileState", "MainPID", "FragmentPath"];
    let asked = systemctl(&["show", unit::NAME, &format!("--property={}", shown.join(","))]).await;
    let (manager, said) = match asked {
        Ok(said) => {
            let value =
                |key: &str| said.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix('='));
            let pairs = shown.map(|key| (key, value(key).unwrap_or_default()));
            let text = pairs.map(|(key, value)| format!("{key}={value}")).join(" ");
            (json!(pairs.into_iter().collect::<std::collections::BTreeMap<_, _>>()), text)
        }
        Err(error) => (Value::Null, format!("cannot be asked: {error}")),
    };
    let (lingers, listens) = (logout::lingers(), runs(paths));
    let lines = vec![
        format!("unit      {state}: {}{}", at.display(), suffix(detail)),
        format!("manager   {said}"),
        format!(
            "server    {}: {}",
            if listens { "listens" } else { "none" },
            paths.socket.display()
        ),
        format!(
            "linger    {}",
            match lingers {
                Some(true) => "yes: the user's services go on after the last logout",
                Some(false) => "no: they end soon after it; `loginctl enable-linger` changes that",
                None => "cannot be made out; ask `loginctl show-user`",
            }
        ),
    ];
    let json = json!({
        "unit": {"path": at, "state": state, "detail": detail},
        "manager": manager,
        "server": {"listens": listens, "socket": paths.socket},
        "linger": lingers,
    });
    Ok(Report { json, lines })
}

/// The unit that this program would be.
fn text(paths: &Paths) -> Result<String, UnitError> {
    let program = std::env::current_exe().map_err(|source| UnitError::Io {
        operation: "find",
        path: PathBuf::from("/proc/self/exe"),
        source,
    })?;
    write::text(&program, paths)
}

/// Tells the user's systemd of the change; why not, where that failed.
async fn reload() -> Option<String> {
    systemctl(&["daemon-reload"]).await.err().map(|error| error.to_string())
}

fn runs(paths: &Paths) -> bool {
    UnixStream::connect(&paths.socket).is_ok()
}

fn suffix(detail: &str) -> String {
    if detail.is_empty() { String::new() } else { format!(" ({detail})") }
}

const ABOUT_LOGOUT: [&str; 3] = [
    "Without lingering, the user's services end soon after the last logout.",
    "With it, they go on, and start with the host. KillUserProcesses=yes in logind's",
    "configuration ends what runs in a login session, not this service.",
];
