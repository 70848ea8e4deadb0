//! `workspace`.

use std::str::FromStr;

use clap::Subcommand;

use super::{Context, Failure, safe};
use crate::protocol::{Remarks, WorkspaceMove, WorkspaceRef, WorkspaceRename, WorkspaceSet};

/// Verbs about workspaces.
#[derive(Debug, Subcommand)]
#[command(defer = true)]
pub(super) enum WorkspaceVerb {
    /// Give a workspace a name; its handle stays
    Rename {
        /// The workspace: its handle, its id, or the start of one
        workspace: String,
        /// Its new name
        name: String,
    },
    /// Close a workspace and end everything in it; its directory is left alone
    Close {
        /// The workspace: its handle, its id, or the start of one
        workspace: String,
    },
    /// Hide a workspace and leave it out of everything automatic
    Archive {
        /// The workspace: its handle, its id, or the start of one
        workspace: String,
    },
    /// Show an archived workspace again
    Unarchive {
        /// The workspace: its handle, its id, or the start of one
        workspace: String,
    },
    /// Give a workspace another place in the list
    Move {
        /// The workspace: its handle, its id, or the start of one
        workspace: String,
        /// Its new place, from 0
        position: usize,
    },
    /// Set what may happen by itself: auto-resume=on|off auto-continue=on|off history=on|off
    Set {
        /// The workspace: its handle, its id, or the start of one
        workspace: String,
        /// What to set
        #[arg(required = true, value_name = "SWITCH=on|off")]
        switches: Vec<Setting>,
    },
}

/// One switch and its position.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Setting {
    switch: Switch,
    on: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Switch {
    AutoResume,
    AutoContinue,
    History,
}

impl FromStr for Setting {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (name, value) = text
            .split_once('=')
            .ok_or_else(|| format!("expected SWITCH=on or SWITCH=off, not {text:?}"))?;
        let switch = match name {
            "auto-resume" => Switch::AutoResume,
            "auto-continue" => Switch::AutoContinue,
            "history" => Switch::History,
            _ => {
                return Err(format!(
                    "there is no switch {name:?}; there are auto-resume, auto-continue and history"
                ));
            }
        };
        match value {
            "on" => Ok(Self { switch, on: true }),
            "off" => Ok(Self { switch, on: false }),
            _ => Err(format!("{name} can be on or off, not {value:?}")),
        }
    }
}

/// Runs one.
pub(super) async fn run(context: &Context, verb: WorkspaceVerb) -> Result<(), Failure> {
    match verb {
        WorkspaceVerb::Rename { workspace, name } => {
            let params = WorkspaceRename { workspace, name };
            context.order("workspace.rename", &params).await
        }
        WorkspaceVerb::Close { workspace } => {
            let params = WorkspaceRef { workspace };
            context.order("workspace.close", &params).await
        }
        WorkspaceVerb::Move { workspace, position } => {
            let params = WorkspaceMove { workspace, position };
            context.order("workspace.move", &params).await
        }
        WorkspaceVerb::Archive { workspace } => {
            let archived = Some(true);
            set(context, WorkspaceSet { archived, ..unchanged(workspace) }).await
        }
        WorkspaceVerb::Unarchive { workspace } => {
            let archived = Some(false);
            set(context, WorkspaceSet { archived, ..unchanged(workspace) }).await
        }
        WorkspaceVerb::Set { workspace, switches } => {
            set(context, change(workspace, &switches)).await
        }
    }
}

async fn set(context: &Context, params: WorkspaceSet) -> Result<(), Failure> {
    let human = |answer: &Remarks| {
        answer.remarks.iter().map(|remark| format!("{}\n", safe(remark))).collect()
    };
    context.ask("workspace.set", &params, human).await
}

/// Later ones win.
fn change(workspace: String, settings: &[Setting]) -> WorkspaceSet {
    let mut params = unchanged(workspace);
    for setting in settings {
        let place = match setting.switch {
            Switch::AutoResume => &mut params.auto_resume,
            Switch::AutoContinue => &mut params.auto_continue,
            Switch::History => &mut params.history,
        };
        *place = Some(setting.on);
    }
    params
}

fn unchanged(workspace: String) -> WorkspaceSet {
    WorkspaceSet {
        workspace,
        auto_resume: None,
        auto_continue: None,
        history: None,
        archived: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn switches_are_read_and_wrong_ones_named() {
        let read = |text: &str| text.parse::<Setting>();
        let settings = [read("auto-resume=on").unwrap(), read("history=off").unwrap()];
        let params = change("api".into(), &settings);
        assert_eq!((params.auto_resume, params.history), (Some(true), Some(false)));
        assert_eq!((params.auto_continue, params.archived), (None, None));
        for (text, says) in [
            ("auto-resume", "SWITCH=on"),
            ("auto=on", "there are auto-resume"),
            ("history=yes", "on or off"),
        ] {
            assert!(read(text).unwrap_err().contains(says), "{text}");
        }
    }
}
