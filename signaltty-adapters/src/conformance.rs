//! The suite that an adapter of an agent must pass.
//!
//! A [`Stage`] lets a scripted agent do what the real one does: write its
//! record, list itself, report. [`check`] looks at the adapter's handling of
//! records first, then lets the scripted agent be asked to resume and do each
//! thing that real ones were seen to do, a [`Mode`] each. Evidence is gathered
//! through the adapter the way a server does it, and the core judges: only the
//! agent that opens the saved conversation with its history may be verified
//! (S1-28).
//!
//! Nothing here knows an agent, starts a process or reads a clock. An adapter
//! of another crate runs it in one line, with the feature `testing`:
//!
//! ```ignore
//! signaltty_adapters::conformance::check(MyStage::new).unwrap();
//! ```

mod mode;
mod play;
mod played;
mod records;

use signaltty_core::agent::{AgentSessionId, Conversation, Verdict};
use signaltty_core::id::InstanceId;

pub use mode::Mode;
pub use play::play;

use self::mode::Right;
use self::play::play_whole;

use crate::testing::FakeHost;
use crate::{AgentAdapter, InstanceView};

/// A scripted agent with its files in a directory of its own.
pub trait Stage {
    /// The adapter under test.
    fn adapter(&self) -> &dyn AgentAdapter;

    /// The conversation to resume, without an anchor.
    fn saved(&self) -> Conversation;

    /// An id of this agent's form that names no conversation.
    fn other_id(&self) -> AgentSessionId;

    /// The conversation [`saved`](Self::saved) as it would be in places where
    /// the agent has no such record: in another home of the agent, and, where
    /// the agent opens one from its own directory only, in another directory. At
    /// least one; the directories exist.
    fn elsewhere(&self) -> Vec<Conversation>;

    /// The process that the suite started, as the adapter sees it. Its process
    /// id stays; the next three numbers are free for other processes.
    fn view(&self, instance: InstanceId) -> InstanceView;

    /// Writes one turn of a person to the end of a record, which is made where
    /// it is not there.
    fn turn(&mut self, id: &AgentSessionId, text: &str);

    /// Gives one conversation a record with the same history as another's.
    fn copy(&mut self, from: &AgentSessionId, to: &AgentSessionId);

    /// Takes a conversation's record away.
    fn remove(&mut self, id: &AgentSessionId);

    /// Makes a record that is there and holds no message, as the agent writes
    /// one before anybody spoke, or as damage leaves one. There is none yet.
    fn hollow(&mut self, id: &AgentSessionId);

    /// Forks a conversation, where the fork's record leaves the history before
    /// it in the first one's. By default no record does.
    fn fork(&mut self, _from: &AgentSessionId, _to: &AgentSessionId) -> bool {
        false
    }

    /// The process with this id and start time lists itself with a
    /// conversation, of which it loaded so many messages.
    fn list(&mut self, pid: u32, start_ticks: u64, id: &AgentSessionId, loaded: u64);

    /// The process repeats an id that it was asked for, wherever the agent
    /// could, and opened nothing. By default it lists itself with no history,
    /// as an agent that says what it loaded would.
    fn echo(&mut self, pid: u32, start_ticks: u64, id: &AgentSessionId) {
        self.list(pid, start_ticks, id, 0);
    }

    /// The process goes on with another conversation than the one it has, as
    /// after `/clear`. By default it lists itself with that.
    fn switch(&mut self, pid: u32, start_ticks: u64, id: &AgentSessionId) {
        self.list(pid, start_ticks, id, 0);
    }

    /// Puts what the system shows of the agent's processes onto the machine,
    /// such as files that they have open. May be called again.
    fn show(&self, _host: &mut FakeHost) {}

    /// Whether the agent can go on under another id with the same history. By
    /// default it can, and must then be recognised by its record. Where it never
    /// does, either verdict is right.
    fn rotates(&self) -> bool {
        true
    }

    /// Whether the agent shows who has a conversation open. One that does must
    /// name the process, so that nobody opens it twice (D-13).
    fn shows_holder(&self) -> bool {
        false
    }

    /// What the agent sends through its hook when it starts, one payload each;
    /// nothing for one without hooks.
    fn reports(&mut self, _start: &Start) -> Vec<Vec<u8>> {
        Vec::new()
    }

    /// What it sends where a resume failed, such as an end that names the id
    /// that was asked for.
    fn failure_reports(&mut self, _id: &AgentSessionId) -> Vec<Vec<u8>> {
        Vec::new()
    }
}

/// A start that an agent reports.
#[derive(Debug, Clone)]
pub struct Start {
    /// The conversation that it names.
    pub id: AgentSessionId,
    /// Whether it says that it opened a saved one.
    pub resumed: bool,
    /// How much history it loaded.
    pub loaded: u64,
}

/// What an adapter did wrong.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{during}: {what}")]
pub struct Failure {
    /// In which mode, or while looking at which property of records.
    pub during: String,
    /// What happened.
    pub what: String,
}

/// Runs the whole suite, every part on a stage of its own.
///
/// # Errors
///
/// Names the first thing that is not as it must be; of a wrong verdict also the
/// right one, and what was seen.
pub fn check<S: Stage>(mut stage: impl FnMut() -> S) -> Result<(), Failure> {
    records::check(&mut stage)?;
    for mode in Mode::ALL {
        let mut stage = stage();
        let played = play_whole(&mut stage, mode)?;
        let verdict = &played.verdict;
        // Who can prove nothing proves nothing, whatever happens (S1-14).
        let required = &stage.adapter().spec().policy.required;
        let (is_right, right) = match required.is_empty() {
            false => (mode.allows(verdict, stage.rotates()), mode.right(stage.rotates())),
            true => (*verdict == Verdict::Unconfirmed, Right::Unconfirmed),
        };
        if !is_right {
            let seen = played.seen(required);
            let what = format!("led to {verdict:?}, and {right} would be right; {seen}");
            return Err(fault(mode, what));
        }
    }
    Ok(())
}

fn fault(during: impl std::fmt::Display, what: impl Into<String>) -> Failure {
    Failure { during: during.to_string(), what: what.into() }
}
