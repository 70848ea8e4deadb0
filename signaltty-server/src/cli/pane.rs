//! `pane`.

use std::ffi::OsString;

use clap::{Args, Subcommand, ValueEnum};
use serde_json::Value;

use super::create::{SpawnArgs, pane_id};
use super::failure::Exit;
use super::spawn::{self, SpawnByArgs};
use super::text::Colours;
use super::{Context, Failure, place, safe, screen, words};
use crate::protocol::{
    Answer, PaneAgain, PaneAnswer, PaneInfo, PaneKeys, PaneMove, PaneRead, PaneRef, PaneRename,
    PaneSend, PaneSignal, PaneSplit, PaneSwap, PaneText, PaneWeight, SplitDirection, WireOs, code,
    key_bytes,
};

// Arguments of `answer`.
#[derive(Debug, Args)]
pub(super) struct AnswerArgs {
    /// The pane whose agent asks: its id, or the start of it
    pane: String,
    /// Yes, this once, or no
    answer: Word,
    /// Which question, as `ls` and `pane info` show it; where the agent asks
    /// something else by now, nothing is decided
    #[arg(long, value_name = "ID")]
    question: Option<String>,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Word {
    Allow,
    Deny,
}

/// Decides what the agent in a pane asks a permission for.
pub(super) async fn answer(context: &Context, args: AnswerArgs) -> Result<(), Failure> {
    let answer = match args.answer {
        Word::Allow => Answer::Allow,
        Word::Deny => Answer::Deny,
    };
    let Some(decision_id) = args.question else {
        // An answer is for what its person saw, which nobody knows here.
        return Err(unseen(context, args.pane, answer).await?);
    };
    let ask = PaneAnswer { pane: args.pane, decision_id, answer };
    context.order("pane.answer", &ask).await
}

/// What to do where an answer does not say for which question it is.
async fn unseen(context: &Context, pane: String, answer: Answer) -> Result<Failure, Failure> {
    let mut client = context.client().await?;
    let info: PaneInfo = client.call("pane.info", &PaneRef { pane }).await?;
    let id = safe(&info.pane.id);
    Ok(match (&info.pane.decision_id, &info.pane.decision) {
        (Some(question), Some(text)) => {
            let word = if answer == Answer::Allow { "allow" } else { "deny" };
            Failure::Usage(format!(
                "an answer says which question it is for; {id} asks now: {}; answer that with: \
                 signaltty answer {id} {word} --question {}",
                safe(text),
                safe(question)
            ))
        }
        _ => Failure::new(
            code::NO_SUCH_DECISION,
            format!("nothing in pane {id} waits for a decision"),
        ),
    })
}

/// Verbs about panes. PANE is an id or the start of one.
#[derive(Debug, Subcommand)]
#[command(defer = true)]
pub(super) enum PaneVerb {
    /// Print what a pane shows, or what was saved of it
    Read {
        /// The pane's id, or the start of it
        pane: String,
        /// Only the last so many lines
        #[arg(long, value_name = "N")]
        lines: Option<usize>,
        /// With colours and styles
        #[arg(long)]
        ansi: bool,
        /// Only the lines that ended since CURSOR, which --json shows
        #[arg(long, value_name = "CURSOR")]
        after: Option<String>,
    },
    /// Send text as it is; nothing is added, not even Enter
    Send {
        /// The pane's id, or the start of it
        pane: String,
        /// The text
        #[arg(allow_hyphen_values = true)]
        text: OsString,
    },
    /// Press keys: Enter, C-c, Up, or single characters
    Keys {
        /// The pane's id, or the start of it
        pane: String,
        /// Names of keys
        #[arg(required = true, allow_hyphen_values = true)]
        keys: Vec<String>,
    },
    /// Start something in a tab of its own; prints the new pane's id
    Spawn(SpawnByArgs),
    /// Split a pane; prints the new pane's id
    Split(SplitArgs),
    /// Move a pane beside another one of its workspace
    Move {
        /// The pane's id, or the start of it
        pane: String,
        /// The pane that it goes beside
        beside: String,
        #[command(flatten)]
        side: Side,
    },
    /// Exchange the places of two panes
    Swap {
        /// The pane's id, or the start of it
        pane: String,
        /// The other pane
        other: String,
    },
    /// Set a pane's share of the space, beside those of its neighbours
    Weight {
        /// The pane's id, or the start of it
        pane: String,
        /// Its share; panes begin with 1
        #[arg(value_parser = clap::value_parser!(u16).range(1..))]
        weight: u16,
    },
    /// Make a pane the active one of its tab and workspace
    Focus {
        /// The pane's id, or the start of it
        pane: String,
    },
    /// Close a pane and end what runs in it
    Close {
        /// The pane's id, or the start of it
        pane: String,
    },
    /// Give a pane a title; an empty one gives it back to the program
    Rename {
        /// The pane's id, or the start of it
        pane: String,
        /// Its new title
        title: String,
    },
    /// Send a signal to a pane's program: HUP, INT, QUIT, KILL, TERM, USR1, USR2,
    /// WINCH or CONT
    Signal {
        /// The pane's id, or the start of it
        pane: String,
        /// Its name, with SIG before it or not
        signal: String,
    },
    /// Show what is known of a pane
    Info {
        /// The pane's id, or the start of it
        pane: String,
    },
    /// Run the saved command of a pane without a process again
    Restart {
        /// The pane's id, or the start of it
        pane: String,
    },
}

// Arguments of `pane split`.
#[derive(Debug, Args)]
pub(super) struct SplitArgs {
    /// The pane's id, or the start of it
    pane: String,
    #[command(flatten)]
    side: Side,
    #[command(flatten)]
    spawn: SpawnArgs,
}

// On which side the pane goes.
#[derive(Debug, Args)]
#[group(multiple = false)]
pub(super) struct Side {
    /// To its right, as without an option
    #[arg(long)]
    right: bool,
    /// Below it
    #[arg(long)]
    down: bool,
    /// To its left
    #[arg(long)]
    left: bool,
    /// Above it
    #[arg(long)]
    up: bool,
}

impl Side {
    fn direction(&self) -> SplitDirection {
        match self {
            Self { down: true, .. } => SplitDirection::Down,
            Self { left: true, .. } => SplitDirection::Left,
            Self { up: true, .. } => SplitDirection::Up,
            _ => SplitDirection::Right,
        }
    }
}

/// Runs one.
pub(super) async fn run(context: &Context, verb: PaneVerb) -> Result<Exit, Failure> {
    match verb {
        PaneVerb::Spawn(args) => return spawn::run(context, args).await,
        PaneVerb::Read { pane, lines, ansi, after } => {
            read(context, PaneRead { pane, lines, ansi, after }).await?;
        }
        PaneVerb::Send { pane, text } => {
            let text = WireOs(text);
            context.order("pane.send", &PaneSend { pane, text }).await?;
        }
        PaneVerb::Keys { pane, keys } => {
            for key in &keys {
                key_bytes(key, false).map_err(|error| Failure::Usage(error.to_string()))?;
            }
            context.order("pane.keys", &PaneKeys { pane, keys }).await?;
        }
        PaneVerb::Signal { pane, signal } => {
            context.order("pane.signal", &PaneSignal { pane, signal }).await?;
        }
        PaneVerb::Split(args) => {
            let params = PaneSplit {
                direction: args.side.direction(),
                pane: args.pane,
                spawn: args.spawn.into_params()?,
            };
            context.ask("pane.split", &params, pane_id).await?;
        }
        PaneVerb::Move { pane, beside, side } => {
            let direction = side.direction();
            let params = PaneMove { pane, beside, direction };
            context.order("pane.move", &params).await?;
        }
        PaneVerb::Swap { pane, other } => {
            context.order("pane.swap", &PaneSwap { pane, other }).await?;
        }
        PaneVerb::Weight { pane, weight } => {
            let params = PaneWeight { pane, weight, axis: None };
            context.order("pane.weight", &params).await?;
        }
        PaneVerb::Focus { pane } => context.order("pane.focus", &PaneRef { pane }).await?,
        PaneVerb::Close { pane } => context.order("pane.close", &PaneRef { pane }).await?,
        PaneVerb::Rename { pane, title } => {
            let params = PaneRename { pane, title };
            context.order("pane.rename", &params).await?;
        }
        PaneVerb::Info { pane } => context.ask("pane.info", &PaneRef { pane }, info).await?,
        PaneVerb::Restart { pane } => {
            let params = PaneAgain { pane, env: place::environment() };
            context.order("pane.restart", &params).await?;
        }
    }
    Ok(Exit::Done)
}

async fn read(context: &Context, params: PaneRead) -> Result<(), Failure> {
    let colours = if params.ansi { Colours::Keep } else { Colours::Escape };
    let value: Value = context.client().await?.call("pane.read", &params).await?;
    if params.after.is_some() && value.get("lost").is_none() {
        context.remark("the server is older and does not know --after; this is all there is\n");
    }
    if !context.json && value.get("source").and_then(Value::as_str) == Some("none") {
        context.remark("no output of this pane was saved\n");
    }
    if !context.json {
        if let Some(lost) = value.get("lost").and_then(Value::as_u64).filter(|lost| *lost > 0) {
            context.remark(&format!("{lost} lines before these are not kept any more\n"));
        }
        if value.get("changed") == Some(&Value::Bool(true)) {
            context.remark("lines that were read before were changed, and come again\n");
        }
    }
    context.answer("pane.read", value, |text: &PaneText| screen(&text.text, colours))
}

fn info(info: &PaneInfo) -> String {
    let pane = &info.pane;
    let mut lines = words::facts(pane);
    let places = [("workspace", safe(&info.workspace_id)), ("tab", safe(&info.tab_id))];
    lines.splice(3..3, places);
    if let (Some(pid), Some(instance)) = (info.pid, &info.instance) {
        lines.push(("process", format!("{pid}, instance {}", safe(instance))));
    }
    lines.extend(info.baseline.iter().map(|baseline| ("baseline", safe(baseline))));
    lines.extend(info.leftover.iter().map(|leftover| ("leftover", safe(leftover))));
    let now = jiff::Timestamp::now();
    lines.extend(words::remarks(pane, now).into_iter().map(|note| ("note", note)));
    lines.into_iter().map(|(name, value)| format!("{name:<13} {value}\n")).collect()
}
