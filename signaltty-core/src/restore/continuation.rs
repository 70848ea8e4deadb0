//! Is the turn that a restart interrupted to be continued?
//!
//! [`eligibility`] is a total function of saved facts, with a named reason for
//! every no. It is asked at a server's start for each pane by itself, and again
//! before the prompt is sent. The rows `D1` to `D19` of its table are those of
//! the design; they are adapted to one record, where others kept two that could
//! disagree. Each has a test of its name.

use crate::agent::{AgentPolicy, Conversation, Marker, MarkerOrigin, SavedAgent, TurnId};
use crate::id::PaneId;
use crate::pane::{EndCause, PaneEnd};
use crate::restore::PaneState;
use crate::workspace::Switches;

/// The most automatic attempts at one turn, over all starts, that a configuration
/// may allow; and of automatic starts in a row that do not last (D-14).
pub const MOST_ATTEMPTS: u8 = 3;

/// What is known of a pane and its workspace.
#[derive(Debug, Clone, Copy)]
pub struct Facts<'a> {
    /// The pane's state.
    pub state: &'a PaneState,
    /// The agent in it.
    pub agent: Option<&'a SavedAgent>,
    /// How its last process ended.
    pub end: Option<&'a PaneEnd>,
    /// Its workspace is archived.
    pub archived: bool,
    /// Its workspace's switches.
    pub switches: Switches,
    /// What its agent can show.
    pub policy: Option<&'a AgentPolicy>,
    /// Another pane that has the conversation open.
    pub holder: Option<PaneId>,
    /// It was tried since the server started (D-14).
    pub tried: bool,
    /// How often one turn may be tried, up to [`MOST_ATTEMPTS`].
    pub max_attempts: u8,
}

/// A turn that may be continued. Has no public constructor: only
/// [`eligibility`] makes one.
///
/// ```compile_fail,E0451
/// use signaltty_core::{agent::{MarkerOrigin, TurnId}, restore::Recovery};
/// fn forge(turn: TurnId) {
///     let _ = Recovery { turn, origin: MarkerOrigin::Planned };
/// }
/// ```
#[derive(Debug, PartialEq, Eq)]
pub struct Recovery {
    turn: TurnId,
    origin: MarkerOrigin,
}

impl Recovery {
    /// The interrupted turn.
    pub fn turn(&self) -> TurnId {
        self.turn
    }

    /// Who wants it continued.
    pub fn origin(&self) -> MarkerOrigin {
        self.origin
    }

    /// By hand: a person wants the interrupted turn of this agent to go on,
    /// whatever the switches say. `None` where none was interrupted.
    pub fn by_hand(agent: &SavedAgent) -> Option<Self> {
        let marked = agent.turns.marker().map(|marker| marker.turn);
        let newest = TurnId::new(agent.turns.newest());
        let turn = marked.or(agent.turns.active()).or(newest)?;
        agent.interrupted.then_some(Self { turn, origin: MarkerOrigin::Planned })
    }
}

/// A conversation that may be reopened without a person. Has no public
/// constructor: only [`resumption`] makes one.
///
/// ```compile_fail,E0451
/// use signaltty_core::restore::Resumption;
/// let _ = Resumption { _proof: () };
/// ```
#[derive(Debug, PartialEq, Eq)]
pub struct Resumption {
    _proof: (),
}

/// Why a turn is not continued by itself. The texts of [`as_str`](Self::as_str)
/// are for scripts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NoContinuation {
    /// D2: a process runs in the pane, or is being started.
    #[error("a process runs in the pane")]
    Live,
    /// D6: the pane holds no agent.
    #[error("the pane holds no agent")]
    NoAgent,
    /// D3: no turn was interrupted.
    #[error("no turn was interrupted")]
    NoTurn,
    /// D14: the marked turn was finished before the restart.
    #[error("the turn was finished before the restart")]
    TurnFinished,
    /// D-14: once for each pane and start.
    #[error("it was tried since the server started")]
    Tried,
    /// D5: the workspace is archived.
    #[error("the workspace is archived")]
    Archived,
    /// D7: no conversation of the agent is known.
    #[error("no conversation of the agent is known")]
    NoConversation,
    /// D8: the conversation has nothing by which to recognise it.
    #[error("nobody had said anything in the conversation")]
    NotAnchored,
    /// S0-18: the agent said how it is reopened, which only a person does.
    #[error("the agent reported a command of its own, which runs by hand only")]
    Reported,
    /// D15: a person ended the process.
    #[error("a person ended the process")]
    EndedByUser,
    /// D18: the process ended by itself, which is offered by hand only (D-8).
    #[error("the process had ended by itself before the restart")]
    EndedByItself,
    /// D12: another turn is marked, which wins and is not continued either.
    #[error("another turn is marked to be continued")]
    OtherTurnMarked,
    /// D11: there was a newer turn than the marked one.
    #[error("there was a newer turn")]
    Superseded,
    /// D18: the turn was not being worked on any more.
    #[error("the turn was not being worked on")]
    NotRunning,
    /// D17: the workspace does not want it.
    #[error("the workspace does not continue turns by itself")]
    NotOptedIn,
    /// S1-14: the agent cannot show which conversation it has open.
    #[error("the agent cannot prove which conversation it has open")]
    Unprovable,
    /// D-13: the conversation is open in another pane.
    #[error("the conversation is open in pane {0}")]
    Duplicate(PaneId),
    /// K11: tried too often, over all starts.
    #[error("it was tried as often as the configuration allows")]
    AttemptsExhausted,
    /// D-14: automatic starts in a row did not last.
    #[error("{MOST_ATTEMPTS} automatic starts in a row did not last")]
    StartsExhausted,
    /// S0-16: the workspace does not want it.
    #[error("the workspace does not resume conversations by itself")]
    NotResuming,
    /// The agent's record shows that the turn had come to its end.
    #[error("the agent's record shows that the turn had come to its end")]
    RecordFinished,
    /// A tool call without a result may have changed something.
    #[error("a tool call had begun that may have changed something, and its result is not known")]
    OpenToolCall,
    /// K6: an earlier attempt had arrived.
    #[error("an earlier attempt had reached the agent before the server stopped again")]
    Arrived,
    /// K6: nobody can say whether an earlier attempt arrived.
    #[error("nobody can say whether an earlier attempt reached the agent")]
    PromptUnclear,
    /// D19: the marker could not be saved.
    #[error("the marker could not be saved")]
    MarkerNotSaved,
    /// The proof is of another process.
    #[error("the proof is about another process")]
    OtherInstance,
}

impl NoContinuation {
    /// The name for scripts.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Live => "live",
            Self::NoAgent => "no_agent",
            Self::NoTurn => "no_turn",
            Self::TurnFinished => "turn_finished",
            Self::Tried => "tried",
            Self::Archived => "archived",
            Self::NoConversation => "no_conversation",
            Self::NotAnchored => "not_anchored",
            Self::Reported => "reported",
            Self::EndedByUser => "ended_by_user",
            Self::EndedByItself => "ended_by_itself",
            Self::OtherTurnMarked => "other_turn_marked",
            Self::Superseded => "superseded",
            Self::NotRunning => "not_running",
            Self::NotOptedIn => "not_opted_in",
            Self::Unprovable => "unprovable",
            Self::Duplicate(_) => "duplicate",
            Self::AttemptsExhausted => "attempts_exhausted",
            Self::StartsExhausted => "starts_exhausted",
            Self::NotResuming => "not_resuming",
            Self::RecordFinished => "record_finished",
            Self::OpenToolCall => "open_tool_call",
            Self::Arrived => "arrived",
            Self::PromptUnclear => "prompt_unclear",
            Self::MarkerNotSaved => "marker_not_saved",
            Self::OtherInstance => "other_instance",
        }
    }

    /// The row of the decision table that it is, or the rule beside the table.
    pub fn rule(self) -> &'static str {
        match self {
            Self::Live => "D2",
            Self::NoTurn => "D3",
            Self::Archived => "D5",
            Self::NoAgent => "D6",
            Self::NoConversation => "D7",
            Self::NotAnchored => "D8",
            Self::Reported => "S0-18",
            Self::Superseded => "D11",
            Self::OtherTurnMarked => "D12",
            Self::TurnFinished | Self::RecordFinished => "D14",
            Self::EndedByUser => "D15",
            Self::NotOptedIn => "D17",
            Self::NotRunning | Self::EndedByItself => "D18",
            Self::MarkerNotSaved => "D19",
            Self::Tried | Self::StartsExhausted => "D-14",
            Self::Unprovable => "S1-14",
            Self::Duplicate(_) => "D-13",
            Self::AttemptsExhausted => "K11",
            Self::NotResuming => "S0-16",
            Self::OpenToolCall => "receipt",
            Self::Arrived | Self::PromptUnclear => "K6",
            Self::OtherInstance => "S1-26",
        }
    }

    /// Whether a turn was left behind that its person should hear of, and that
    /// is then [settled](crate::agent::Turns::settle). Otherwise nothing is
    /// touched.
    pub fn settles(self) -> bool {
        use NoContinuation::{Live, NoAgent, NoTurn, Tried, TurnFinished};
        !matches!(self, Live | NoAgent | NoTurn | Tried | TurnFinished)
    }
}

/// Decides. The first reason that holds is given.
///
/// # Errors
///
/// Why the turn is not continued by itself.
pub fn eligibility(facts: &Facts<'_>) -> Result<Recovery, NoContinuation> {
    let PaneState::Tombstone(_) = facts.state else {
        return Err(NoContinuation::Live);
    };
    let agent = facts.agent.ok_or(NoContinuation::NoAgent)?;
    let (active, marker) = (agent.turns.active(), agent.turns.marker());
    if active.is_none() && marker.is_none() {
        return Err(NoContinuation::NoTurn);
    }
    if facts.archived {
        return Err(NoContinuation::Archived);
    }
    anchored(agent)?;
    ended(facts.end)?;
    let recovery = interrupted(agent, active, marker)?;
    if recovery.origin == MarkerOrigin::Automatic && !opted_in(facts.switches) {
        return Err(NoContinuation::NotOptedIn);
    }
    // One that shows nothing before a prompt is never prompted by itself (D-2).
    let silent = |policy: &AgentPolicy| policy.silent_until_prompt;
    if facts.policy.is_none_or(|policy| policy.required.is_empty() || silent(policy)) {
        return Err(NoContinuation::Unprovable);
    }
    if let Some(holder) = facts.holder {
        return Err(NoContinuation::Duplicate(holder));
    }
    if agent.turns.attempts() >= facts.max_attempts.min(MOST_ATTEMPTS) {
        return Err(NoContinuation::AttemptsExhausted);
    }
    if agent.continuity.starts >= MOST_ATTEMPTS {
        return Err(NoContinuation::StartsExhausted);
    }
    if facts.tried { Err(NoContinuation::Tried) } else { Ok(recovery) }
}

/// Whether a conversation may be reopened when a server starts, without its
/// turn. The first reason that holds is given (S0-16).
///
/// # Errors
///
/// Why it is not.
pub fn resumption(facts: &Facts<'_>) -> Result<Resumption, NoContinuation> {
    let PaneState::Tombstone(_) = facts.state else {
        return Err(NoContinuation::Live);
    };
    let agent = facts.agent.ok_or(NoContinuation::NoAgent)?;
    if facts.archived {
        return Err(NoContinuation::Archived);
    }
    anchored(agent)?;
    ended(facts.end)?;
    if !facts.switches.auto_resume {
        return Err(NoContinuation::NotResuming);
    }
    if facts.policy.is_none_or(|policy| policy.required.is_empty()) {
        return Err(NoContinuation::Unprovable);
    }
    if let Some(holder) = facts.holder {
        return Err(NoContinuation::Duplicate(holder));
    }
    if agent.continuity.starts >= MOST_ATTEMPTS {
        return Err(NoContinuation::StartsExhausted);
    }
    if facts.tried { Err(NoContinuation::Tried) } else { Ok(Resumption { _proof: () }) }
}

/// Only what a restart took away is taken up again without a person (D-8).
fn ended(end: Option<&PaneEnd>) -> Result<(), NoContinuation> {
    match end.map(|end| end.cause) {
        Some(EndCause::User) => Err(NoContinuation::EndedByUser),
        Some(EndCause::Process) => Err(NoContinuation::EndedByItself),
        Some(EndCause::Shutdown) | None => Ok(()),
    }
}

/// The turn that was interrupted, and who wants it continued.
fn interrupted(
    agent: &SavedAgent,
    active: Option<TurnId>,
    marker: Option<Marker>,
) -> Result<Recovery, NoContinuation> {
    let superseded = |turn: TurnId| turn.get() < agent.turns.newest();
    match (active, marker) {
        (Some(turn), Some(marker)) if turn != marker.turn => Err(NoContinuation::OtherTurnMarked),
        (None, Some(marker)) if !marker.prepared => Err(NoContinuation::TurnFinished),
        (Some(turn), _) | (None, Some(Marker { turn, .. })) if superseded(turn) => {
            Err(NoContinuation::Superseded)
        }
        (Some(_), Some(marker)) if agent.interrupted || marker.prepared => Ok(marker.into()),
        (Some(turn), None) if agent.interrupted => {
            Ok(Recovery { turn, origin: MarkerOrigin::Automatic })
        }
        (Some(_), _) => Err(NoContinuation::NotRunning),
        (None, Some(marker)) => Ok(marker.into()),
        (None, None) => Err(NoContinuation::NoTurn),
    }
}

fn anchored(agent: &SavedAgent) -> Result<&Conversation, NoContinuation> {
    if agent.reported_argv.is_some() {
        return Err(NoContinuation::Reported);
    }
    let conversation = agent.conversation.as_ref().ok_or(NoContinuation::NoConversation)?;
    conversation.anchor.as_ref().map(|_| conversation).ok_or(NoContinuation::NotAnchored)
}

/// Both switches: continuing goes on top of resuming.
pub(super) fn opted_in(switches: Switches) -> bool {
    switches.auto_resume && switches.auto_continue
}

impl From<Marker> for Recovery {
    fn from(marker: Marker) -> Self {
        Self { turn: marker.turn, origin: marker.origin }
    }
}
