//! What OpenCode takes, as `opencode --help` of 1.18.33 has it.
//!
//! `--port`, `--hostname` and what belongs to them are left out: a resume opens
//! a server of its own, on the loopback interface and with a password.

use crate::options::AtResume::{Carried, Implied, LeftOut, Widens};
use crate::options::OptionRule;
use crate::options::Takes::{Many, Nothing, One};

pub(super) static OPTIONS: &[OptionRule] = &[
    OptionRule::new("--model", One, Carried).alias(&["-m"]),
    // A definition may bring permissions of its own.
    OptionRule::new("--agent", One, Widens),
    OptionRule::new("--auto", Nothing, Widens),
    OptionRule::new("--pure", Nothing, Carried),
    OptionRule::new("--log-level", One, Carried),
    OptionRule::new("--session", One, Implied).alias(&["-s"]),
    OptionRule::new("--continue", Nothing, Implied).alias(&["-c"]),
    OptionRule::new("--fork", Nothing, Implied),
    OptionRule::new("--prompt", One, LeftOut),
    OptionRule::new("--print-logs", Nothing, LeftOut),
    OptionRule::new("--port", One, LeftOut),
    OptionRule::new("--hostname", One, LeftOut),
    OptionRule::new("--mdns", Nothing, LeftOut),
    OptionRule::new("--mdns-domain", One, LeftOut),
    OptionRule::new("--cors", Many, LeftOut),
    OptionRule::new("--mini", Nothing, LeftOut),
    OptionRule::new("--no-replay", Nothing, LeftOut),
    OptionRule::new("--replay-limit", One, LeftOut),
];
