//! One automatic attempt at an interrupted turn, as types that cannot be had in
//! another order: [`Marking`] → [`Marked`] → [`AutomaticSpawn`] →
//! [`Continuation`]. A person's own continuation needs no automatic spawn.
//!
//! A resume without a turn goes the same way, and ends before the last of them.
//!
//! None of them can be copied or made from its parts, so there is one prompt for
//! each attempt at most (R5), no spawn before its marker is saved (R4), and none
//! without a preflight (R3).

use crate::agent::{
    AgentKind, Continuity, Conversation, Fingerprint, LaunchOptions, MarkerOrigin, Relation,
    SavedAgent, TurnId, Turns, VerifiedSession, Widening,
};
use crate::id::InstanceId;
use crate::restore::continuation::opted_in;
use crate::restore::{FailureCode, NoContinuation, Recovery, Refusal, Resumption};
use crate::save::SaveFailure;
use crate::workspace::Switches;

/// The command that an agent's adapter builds from a saved conversation. A
/// reported or saved command line cannot become one (S0-15, S0-18).
///
/// The options of the launch go along by name and value; which of them the
/// adapter adds is decided by its own table and by who asked (D-29).
///
/// ```compile_fail,E0451
/// use signaltty_core::agent::{AgentKind, Conversation};
/// use signaltty_core::restore::OfficialCommand;
/// fn forge(kind: AgentKind, conversation: Conversation) {
///     let _ = OfficialCommand { kind, conversation };
/// }
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OfficialCommand {
    kind: AgentKind,
    conversation: Conversation,
    options: LaunchOptions,
    widening: Widening,
}

impl OfficialCommand {
    /// Reopens the conversation of a saved agent, if it can be recognised and the
    /// agent did not report a command of its own, which runs by hand only.
    ///
    /// Nobody asked for it, so options that widen what the agent may do are left
    /// out; see [`carrying`](Self::carrying).
    pub fn of(agent: &SavedAgent) -> Option<Self> {
        if agent.reported_argv.is_some() {
            return None;
        }
        let conversation = agent.resumable()?.clone();
        let options = agent.options.clone();
        Some(Self { options, ..Self::new(agent.kind.clone(), conversation) })
    }

    pub(crate) fn new(kind: AgentKind, conversation: Conversation) -> Self {
        let options = LaunchOptions::default();
        Self { kind, conversation, options, widening: Widening::LeftOut }
    }

    pub(crate) fn with_options(self, options: LaunchOptions) -> Self {
        Self { options, ..self }
    }

    /// The same command, with this said of options that widen what the agent
    /// may do: `Carried` only where a person asked for this very resume, or said
    /// so in `[resume] carry_bypass`.
    #[must_use]
    pub fn carrying(self, widening: Widening) -> Self {
        Self { widening, ..self }
    }

    /// Which agent.
    pub fn kind(&self) -> &AgentKind {
        &self.kind
    }

    /// Which conversation.
    pub fn conversation(&self) -> &Conversation {
        &self.conversation
    }

    /// The options of the launch.
    pub fn options(&self) -> &LaunchOptions {
        &self.options
    }

    /// Whether those that widen what the agent may do are carried over.
    pub fn widening(&self) -> Widening {
        self.widening
    }
}

/// A marker is being saved, or the count of a start that continues nothing.
#[derive(Debug, PartialEq, Eq)]
pub struct Marking {
    turn: Option<(TurnId, MarkerOrigin)>,
    failures: u8,
}

/// What became of a marker.
#[derive(Debug, PartialEq, Eq)]
pub enum MarkerSaved {
    /// It is on the disk.
    Marked(Marked),
    /// It is not; save once more.
    Again(Marking),
    /// It is not, twice: nothing starts (D19).
    Refused(NoContinuation),
}

/// Proof that a marker, or the count of a start, is on the disk.
#[derive(Debug, PartialEq, Eq)]
pub struct Marked {
    turn: Option<(TurnId, MarkerOrigin)>,
}

impl Marked {
    /// The turn that shall go on.
    pub fn turn(&self) -> Option<TurnId> {
        self.turn.map(|(turn, _)| turn)
    }
}

impl Marking {
    /// Notes the attempt in `turns`, which must be saved and synced next.
    #[expect(clippy::needless_pass_by_value, reason = "one recovery is begun once")]
    pub fn begin(recovery: Recovery, turns: &mut Turns) -> Self {
        turns.prepare(recovery.turn(), recovery.origin());
        Self { turn: Some((recovery.turn(), recovery.origin())), failures: 0 }
    }

    /// Counts a start that continues nothing in `continuity`, which must be
    /// saved and synced next.
    #[expect(clippy::needless_pass_by_value, reason = "one permission is one start")]
    pub fn resume(permission: Resumption, continuity: &mut Continuity) -> Self {
        let Resumption { .. } = permission;
        continuity.starts = continuity.starts.saturating_add(1);
        Self { turn: None, failures: 0 }
    }

    /// Takes the result of the save.
    #[must_use]
    pub fn saved(self, result: Result<(), SaveFailure>) -> MarkerSaved {
        match (result, self.failures) {
            (Ok(()), _) => MarkerSaved::Marked(Marked { turn: self.turn }),
            (Err(_), 0) => MarkerSaved::Again(Self { failures: 1, ..self }),
            (Err(_), _) => MarkerSaved::Refused(NoContinuation::MarkerNotSaved),
        }
    }
}

/// A start without a person: an official command, its marker on the disk, and
/// the agent's record found sound.
///
/// ```compile_fail,E0451
/// use signaltty_core::restore::{AutomaticSpawn, Marked, OfficialCommand};
/// use signaltty_core::agent::Fingerprint;
/// fn forge(command: OfficialCommand, marked: Marked, before: Fingerprint) {
///     let _ = AutomaticSpawn { command, marked, before };
/// }
/// ```
#[derive(Debug, PartialEq, Eq)]
pub struct AutomaticSpawn {
    command: OfficialCommand,
    marked: Marked,
    before: Fingerprint,
}

impl AutomaticSpawn {
    /// After a preflight.
    ///
    /// # Errors
    ///
    /// The record is not there or no longer the saved one. Only a person may
    /// override that.
    pub fn new(
        command: OfficialCommand,
        marked: Marked,
        preflight: Result<Fingerprint, Refusal>,
    ) -> Result<Self, Refusal> {
        let before = preflight?;
        if before.relation != Relation::Extends {
            let message = "the agent's record was rewritten since it was saved";
            return Err(Refusal::new(FailureCode::Rewritten, message));
        }
        Ok(Self { command, marked, before })
    }

    /// What to run.
    pub fn command(&self) -> &OfficialCommand {
        &self.command
    }

    /// What to judge its witnesses against.
    pub fn before(&self) -> &Fingerprint {
        &self.before
    }

    /// The turn that shall go on once the conversation is proven.
    pub fn turn(&self) -> Option<TurnId> {
        self.marked.turn()
    }

    /// The same start, which continues nothing any more.
    #[must_use]
    pub fn without_turn(self) -> Self {
        Self { marked: Marked { turn: None }, ..self }
    }

    /// The marker that it was started with.
    pub fn into_marked(self) -> Marked {
        self.marked
    }
}

/// A prompt that may be sent: the right conversation was proven to be open in
/// the process that runs.
///
/// Cannot be made without a [`VerifiedSession`], which only
/// [`judge`](crate::agent::judge) makes (S1-25):
///
/// ```compile_fail,E0451
/// use signaltty_core::{agent::TurnId, agent::VerifiedSession, restore::Continuation};
/// fn forge(verified: VerifiedSession, turn: TurnId) {
///     let _ = Continuation { verified, turn };
/// }
/// ```
///
/// ```compile_fail,E0308
/// use signaltty_core::{agent::*, id::InstanceId, restore::*, workspace::Switches};
/// fn forge(id: AgentSessionId, marked: Marked, i: InstanceId, agent: &SavedAgent) {
///     let _ = Continuation::new(id, marked, i, agent, Switches::default());
/// }
/// ```
#[derive(Debug, PartialEq, Eq)]
pub struct Continuation {
    verified: VerifiedSession,
    turn: TurnId,
}

impl Continuation {
    /// Looks once more at what may have changed since the start.
    ///
    /// # Errors
    ///
    /// The proof is about another process or another conversation, the switches
    /// were turned off, or the marker was cleared or replaced meanwhile.
    pub fn new(
        verified: VerifiedSession,
        marked: Marked,
        running: InstanceId,
        agent: &SavedAgent,
        switches: Switches,
    ) -> Result<Self, NoContinuation> {
        let (turn, origin) = marked.turn.ok_or(NoContinuation::NoTurn)?;
        let saved = agent.conversation.as_ref().map(|conversation| &conversation.id);
        if verified.instance() != running || saved != Some(verified.id()) {
            return Err(NoContinuation::OtherInstance);
        }
        if origin == MarkerOrigin::Automatic && !opted_in(switches) {
            return Err(NoContinuation::NotOptedIn);
        }
        if agent.turns.marker().map(|marker| marker.turn) != Some(turn)
            || agent.turns.newest() > turn.get()
        {
            return Err(NoContinuation::Superseded);
        }
        Ok(Self { verified, turn })
    }

    /// Where to send it.
    pub fn verified(&self) -> &VerifiedSession {
        &self.verified
    }

    /// The turn that it continues.
    pub fn turn(&self) -> TurnId {
        self.turn
    }
}

/// A session is copied as a whole, to be another world; within one world none
/// of these can be.
impl Marking {
    pub(crate) fn in_another_world(&self) -> Self {
        Self { ..*self }
    }
}

impl Marked {
    pub(crate) fn in_another_world(&self) -> Self {
        Self { ..*self }
    }
}

impl AutomaticSpawn {
    pub(crate) fn in_another_world(&self) -> Self {
        Self {
            command: self.command.clone(),
            marked: self.marked.in_another_world(),
            before: self.before.clone(),
        }
    }
}
