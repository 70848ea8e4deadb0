//! From the records of the file to the core's.

use std::fmt;
use std::path::PathBuf;

use signaltty_core::env::SavedEnv;
use signaltty_core::id::{IdError, PaneId, TabId};
use signaltty_core::layout::{Layout, Limits, Size};
use signaltty_core::notification::{Notification, Severity};
use signaltty_core::pane::{Attention, EndCause, ExitStatus, Lifecycle, PaneEnd, SavedPane};
use signaltty_core::restore::TabDraft;
use signaltty_core::time::UnixMillis;
use signaltty_core::workspace::{DEFAULT_AREA, Naming, SavedWorkspace, Switches};

use super::super::part::Part;
use super::super::problem::Problem;
use super::super::records::{
    EndV1, NotificationV1, PaneV1, SizeV1, SwitchesV1, TabV1, WorkspaceV1,
};
use super::super::salvage::LeftOut;
use super::write::{PROCESS, SHUTDOWN, USER};
use crate::os_text::OsText;

/// Reads records and notes what it had to replace.
pub(in super::super) struct Reader<'a> {
    problems: &'a mut Vec<Problem>,
}

impl<'a> Reader<'a> {
    pub(in super::super) fn new(problems: &'a mut Vec<Problem>) -> Self {
        Self { problems }
    }

    pub(in super::super) fn workspace(
        &mut self,
        found: WorkspaceV1,
    ) -> Result<SavedWorkspace, IdError> {
        let record = found.id;
        let id = record.parse()?;
        let naming =
            found.naming.and_then(|text| self.word(&record, "the naming", &text, Naming::parse));
        let active_tab =
            found.active_tab.and_then(|tab| self.value(&record, "the active tab", tab.parse()));
        Ok(SavedWorkspace {
            id,
            handle: found.handle.into(),
            name: found.name.into(),
            naming: naming.unwrap_or(Naming::Manual),
            cwd: self.cwd(&record, found.cwd),
            active_tab,
            switches: self.switches(&record, found.switches),
            archived: found.archived,
            created_at: UnixMillis(found.created_at),
        })
    }

    /// A tab, whose place and layout are settled together with others.
    pub(in super::super) fn tab(&mut self, found: TabV1) -> Result<TabDraft, IdError> {
        let mut changes = Vec::new();
        let layout = match Layout::<PaneId>::parse_lenient(&found.layout, &Limits::default()) {
            Ok(repaired) => {
                changes.extend(repaired.problems.iter().map(ToString::to_string));
                repaired.layout
            }
            Err(error) => {
                changes.push(error.to_string());
                None
            }
        };
        let active_pane = match found.active_pane.as_str() {
            "" => None,
            text => self.value(&found.id, "the active pane", text.parse()),
        };
        Ok(TabDraft {
            id: found.id.parse()?,
            workspace: found.workspace.parse().ok(),
            title: found.title.into(),
            layout,
            changes,
            active_pane,
            area: size(found.area),
            created_at: UnixMillis(found.created_at),
        })
    }

    pub(in super::super) fn pane(&mut self, found: PaneV1) -> Result<SavedPane, IdError> {
        let record = found.id;
        let id: PaneId = record.parse()?;
        let tab = self.value(&record, "the tab", found.tab.parse::<TabId>());
        let saved = found.env.len();
        let env = SavedEnv::filter(found.env.into_iter().map(|(name, value)| (name, value.0)));
        if env.iter().count() != saved {
            self.replaced(&record, "the environment", "a variable is not one to be saved");
        }
        let env = env.with_left_out(found.env_left_out);
        let lifecycle = found
            .lifecycle
            .and_then(|text| self.word(&record, "the lifecycle", &text, Lifecycle::parse));
        // A word that is not known may have been an alarm.
        let attention = match found.attention {
            Some(text) => self
                .word(&record, "the attention", &text, Attention::parse)
                .unwrap_or(Attention::Warning),
            None => Attention::None,
        };
        Ok(SavedPane {
            id,
            tab: tab.unwrap_or_else(|| TabId::named_after(id)),
            title: found.title.into(),
            titled_by_user: found.titled_by_user,
            cwd: self.cwd(&record, found.cwd),
            argv: found.argv.into_iter().map(|text| text.0).collect(),
            env,
            size: size(found.size),
            agent: found.agent.and_then(|agent| self.agent(&record, agent)),
            lifecycle: lifecycle.unwrap_or(Lifecycle::Unknown),
            attention,
            last_message: found.last_message.map(Into::into),
            end: found.end.map(|end| self.end(&record, end)),
            created_at: UnixMillis(found.created_at),
        })
    }

    pub(in super::super) fn notification(
        &mut self,
        found: NotificationV1,
    ) -> Result<Notification, IdError> {
        let record = found.id;
        let severity = found
            .severity
            .and_then(|text| self.word(&record, "the severity", &text, Severity::parse));
        Ok(Notification {
            id: record.parse()?,
            pane: found.pane.and_then(|pane| self.value(&record, "the pane", pane.parse())),
            title: found.title.into(),
            body: found.body.into(),
            severity: severity.unwrap_or(Severity::Warning),
            created_at: UnixMillis(found.created_at),
            read_at: found.read_at.map(UnixMillis),
            from_program: found.from_program,
        })
    }

    /// What cannot be read counts as ended by a person: the one reading after
    /// which nothing is started by itself.
    fn end(&mut self, record: &str, part: Part<EndV1>) -> PaneEnd {
        let careful = PaneEnd { cause: EndCause::User, status: None, at: UnixMillis(0) };
        let Some(found) = self.part(record, "the end of its process", part) else {
            return careful;
        };
        let cause = match found.cause.as_str() {
            USER => EndCause::User,
            PROCESS => EndCause::Process,
            SHUTDOWN => EndCause::Shutdown,
            _ => {
                self.replaced(record, "the end of its process", "the cause is not known");
                EndCause::User
            }
        };
        let status = found.status.map(|s| ExitStatus { code: s.code, signal: s.signal });
        PaneEnd { cause, status, at: UnixMillis(found.at) }
    }

    /// One that cannot be read is off: nothing starts by itself, and nothing of
    /// what panes print gets to the disk.
    fn switches(&mut self, record: &str, found: SwitchesV1) -> Switches {
        let usual = Switches::default();
        let mut switch = |name, found: Option<Part<bool>>, usual| match found {
            Some(part) => self.part(record, name, part).unwrap_or(false),
            None => usual,
        };
        Switches {
            auto_resume: switch("auto_resume", found.auto_resume, usual.auto_resume),
            auto_continue: switch("auto_continue", found.auto_continue, usual.auto_continue),
            history: switch("history", found.history, usual.history),
        }
    }

    fn cwd(&mut self, record: &str, found: Option<OsText>) -> PathBuf {
        found.map(OsText::into_path).unwrap_or_else(|| {
            self.replaced(record, "the directory", "it is missing");
            "/".into()
        })
    }

    /// A word, unless it is not known.
    fn word<T>(
        &mut self,
        record: &str,
        part: &'static str,
        text: &str,
        parse: impl Fn(&str) -> Option<T>,
    ) -> Option<T> {
        self.value(record, part, parse(text).ok_or_else(|| format!("{:?} is not known", cut(text))))
    }

    pub(super) fn part<T>(&mut self, record: &str, name: &'static str, part: Part<T>) -> Option<T> {
        match part {
            Part::Read(value) => Some(value),
            Part::Salvaged(value, members) => {
                self.left_out(record, members);
                Some(value)
            }
            Part::Unreadable(why) => {
                self.replaced(record, name, why);
                None
            }
        }
    }

    /// Members that could not be read.
    pub(in super::super) fn left_out(&mut self, record: &str, members: Vec<LeftOut>) {
        for LeftOut { member, why } in members {
            let known = MEMBERS.iter().find(|known| **known == member);
            self.replaced(record, known.copied().unwrap_or("a member"), why);
        }
    }

    pub(super) fn value<T, E: fmt::Display>(
        &mut self,
        record: &str,
        part: &'static str,
        value: Result<T, E>,
    ) -> Option<T> {
        value.map_err(|error| self.replaced(record, part, error)).ok()
    }

    pub(in super::super) fn replaced(
        &mut self,
        record: &str,
        part: &'static str,
        why: impl fmt::Display,
    ) {
        let why = why.to_string();
        self.problems.push(Problem::PartReplaced { record: cut(record), part, why });
    }
}

fn size(found: Option<SizeV1>) -> Size {
    found.map_or(DEFAULT_AREA, |SizeV1 { cols, rows }| Size { cols, rows })
}

fn cut(text: &str) -> String {
    text.chars().take(80).collect()
}

/// Members that may be left out, as they are called in the file.
const MEMBERS: [&str; 40] = [
    "active_pane",
    "active_tab",
    "archived",
    "area",
    "argv",
    "attention",
    "body",
    "created_at",
    "cwd",
    "env",
    "env_left_out",
    "from_program",
    "generation",
    "handle",
    "interrupted",
    "journal_seq",
    "last_failure",
    "last_message",
    "layout",
    "lifecycle",
    "name",
    "naming",
    "notifications",
    "pane",
    "place",
    "protocol",
    "question_expired",
    "read_at",
    "reported_argv",
    "saved_at",
    "server_version",
    "severity",
    "size",
    "switches",
    "tab",
    "tabs",
    "title",
    "titled_by_user",
    "workspace",
    "workspaces",
];
