//! A pane: one terminal slot, which outlives its process.

use std::ffi::OsString;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use crate::agent::SavedAgent;
use crate::env::SavedEnv;
use crate::id::{PaneId, TabId};
use crate::layout::Size;
use crate::time::UnixMillis;

/// Everything of a pane that may be saved. Holds no descriptor, no process id
/// and no free environment (S0-12).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SavedPane {
    /// Its id.
    pub id: PaneId,
    /// The tab that it is in.
    pub tab: TabId,
    /// Its title: the program's name, what the program set, or what a person
    /// set.
    pub title: Arc<str>,
    /// A person set the title, so programs no longer change it.
    pub titled_by_user: bool,
    /// The last working directory of its process (D-23).
    pub cwd: PathBuf,
    /// What was started in it. Never run again by itself (S0-15).
    pub argv: Vec<OsString>,
    /// The environment that may be kept.
    pub env: SavedEnv,
    /// Its size in cells.
    pub size: Size,
    /// The agent in it.
    pub agent: Option<SavedAgent>,
    /// What the process was doing.
    pub lifecycle: Lifecycle,
    /// Whether a person is needed.
    pub attention: Attention,
    /// The last thing that the agent said of itself, one line.
    pub last_message: Option<Arc<str>>,
    /// How its last process ended. Empty while it runs, and so after a crash of
    /// the server.
    pub end: Option<PaneEnd>,
    /// When it was made.
    pub created_at: UnixMillis,
}

/// How a process ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PaneEnd {
    /// Who ended it.
    pub cause: EndCause,
    /// With what status; empty where nobody saw it.
    pub status: Option<ExitStatus>,
    /// When.
    pub at: UnixMillis,
}

/// Who ended a process (D-8).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EndCause {
    /// A person: by closing or signalling the pane, or the program exited with
    /// 0 or 130.
    User,
    /// It ended by itself, or something outside ended it.
    Process,
    /// It ended in the seconds around a shutdown.
    Shutdown,
}

/// The status of a process that ended: a code or a signal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ExitStatus {
    /// The exit code, 0 to 255.
    pub code: Option<i32>,
    /// The signal that ended it.
    pub signal: Option<i32>,
}

impl fmt::Display for ExitStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.code, self.signal) {
            (Some(code), _) => write!(f, "exit code {code}"),
            (None, Some(signal)) => write!(f, "signal {signal}"),
            (None, None) => f.write_str("unknown status"),
        }
    }
}

macro_rules! words {
    ($(#[$doc:meta])* $name:ident { $($(#[$vdoc:meta])* $variant:ident = $text:literal,)* }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $name { $($(#[$vdoc])* $variant,)* }

        impl $name {
            /// Every value, in order.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// The text form.
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $text,)* }
            }

            /// Reads the text form.
            pub fn parse(text: &str) -> Option<Self> {
                match text { $($text => Some(Self::$variant),)* _ => None }
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(self.as_str())
            }
        }
    };
}

words! {
    /// What a pane's process is doing. Adapters drive it, and any value may
    /// follow any other, except that a pane which is done stays that when its
    /// agent is idle.
    Lifecycle {
        /// Nobody said.
        Unknown = "unknown",
        /// A turn is being worked on.
        Working = "working",
        /// It waits for a person.
        Blocked = "blocked",
        /// A turn ended.
        Done = "done",
        /// Nothing to do.
        Idle = "idle",
        /// It failed.
        Failed = "failed",
        /// The process ended.
        Exited = "exited",
    }
}

words! {
    /// A signal for what runs in a pane.
    PaneSignal {
        /// The terminal is gone.
        Hangup = "HUP",
        /// As typed by Ctrl-C.
        Interrupt = "INT",
        /// As typed by Ctrl-\\.
        Quit = "QUIT",
        /// Cannot be refused.
        Kill = "KILL",
        /// Please end.
        Terminate = "TERM",
        /// Of the program's own meaning.
        User1 = "USR1",
        /// Of the program's own meaning.
        User2 = "USR2",
        /// The size changed.
        WindowChange = "WINCH",
        /// Go on after a stop.
        Continue = "CONT",
    }
}

impl PaneSignal {
    /// Whether a program that knows nothing of it ends by it, so that a person
    /// who sends it means that end (D-8). An interrupt is left out: agents and
    /// shells go on after it.
    pub fn ends(self) -> bool {
        matches!(self, Self::Hangup | Self::Quit | Self::Kill | Self::Terminate)
    }
}

words! {
    /// How much a pane wants a person. Independent of [`Lifecycle`]; raising it
    /// takes the greater of both.
    Attention {
        /// Not at all.
        None = "none",
        /// Something new is there.
        Unread = "unread",
        /// Something may be wrong.
        Warning = "warning",
        /// It waits for input.
        InputRequired = "input_required",
        /// It waits for a permission.
        PermissionRequired = "permission_required",
        /// Something is wrong.
        Error = "error",
    }
}

impl Lifecycle {
    /// One word for several panes: what concerns people most. Blocked, failed,
    /// working, done, idle, and then the rest.
    pub fn roll_up(panes: impl IntoIterator<Item = Self>) -> Self {
        let rank = |lifecycle: &Self| match lifecycle {
            Self::Blocked => 6,
            Self::Failed => 5,
            Self::Working => 4,
            Self::Done => 3,
            Self::Idle => 2,
            Self::Exited => 1,
            Self::Unknown => 0,
        };
        panes.into_iter().max_by_key(rank).unwrap_or(Self::Unknown)
    }
}
