//! What Cursor's command line takes, from its public documentation. Not run
//! against the real program.
//!
//! `--api-key` and `--header` hold keys, so their values are never kept.

use crate::options::AtResume::{Carried, Implied, LeftOut, Widens, WidensUnless};
use crate::options::OptionRule;
use crate::options::Takes::{Maybe, Nothing, One};

pub(super) static OPTIONS: &[OptionRule] = &[
    OptionRule::new("--model", One, Carried),
    OptionRule::new("--mode", One, WidensUnless(&["plan", "ask"])),
    OptionRule::new("--plan", Nothing, Carried),
    OptionRule::new("--sandbox", One, WidensUnless(&["enabled"])),
    OptionRule::new("--force", Nothing, Widens).alias(&["-f", "--yolo"]),
    OptionRule::new("--approve-mcps", Nothing, Widens),
    OptionRule::new("--trust", Nothing, Widens),
    OptionRule::new("--resume", Maybe, Implied),
    OptionRule::new("--continue", Nothing, Implied),
    OptionRule::new("--api-key", One, LeftOut),
    OptionRule::new("--header", One, LeftOut).alias(&["-H"]),
    OptionRule::new("--name", One, LeftOut).alias(&["-n"]),
    OptionRule::new("--workspace", One, LeftOut),
    OptionRule::new("--worktree", Maybe, LeftOut).alias(&["-w"]),
    OptionRule::new("--worktree-base", One, LeftOut),
    OptionRule::new("--output-format", One, LeftOut),
];
