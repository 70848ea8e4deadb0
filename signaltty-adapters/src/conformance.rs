//! The suite that an adapter of an agent must pass.
//!
//! A [`Stage`] lets a scripted agent do what the real one does: write its
//! record, list itself, report. [`play`] starts it as one of the [`Part`]s,
//! gathers evidence through the adapter the way a server does, and returns the
//! verdict of the core. [`check`] plays all of them: only the agent that opens
//! the saved conversation with its history may be verified (S1-28).
//!
//! Nothing here knows an agent. The suite judges no timing.

use signaltty_core::agent::{
    AgentReport, AgentSessionId, Conversation, Fingerprint, Moment, RecordRead, Relation, Verdict,
    Witness, judge,
};
use signaltty_core::id::InstanceId;

use crate::testing::{FakeHost, block_on};
use crate::{AgentAdapter, InstanceView};

/// A scripted agent with its files in a directory of its own.
pub trait Stage {
    /// The adapter under test.
    fn adapter(&self) -> &dyn AgentAdapter;

    /// The conversation to resume, without an anchor.
    fn saved(&self) -> Conversation;

    /// An id of this agent's form that names no conversation.
    fn other_id(&self) -> AgentSessionId;

    /// The process that the suite started, as the adapter sees it.
    fn view(&self, instance: InstanceId) -> InstanceView;

    /// Writes one turn of a person to the end of a record, which is made where
    /// it is not there.
    fn turn(&mut self, id: &AgentSessionId, text: &str);

    /// Gives one conversation a record with the same bytes as another's.
    fn copy(&mut self, from: &AgentSessionId, to: &AgentSessionId);

    /// Takes a conversation's record away.
    fn remove(&mut self, id: &AgentSessionId);

    /// The process with this id and start time lists itself with a
    /// conversation, of which it loaded so many messages.
    fn list(&mut self, pid: u32, start_ticks: u64, id: &AgentSessionId, loaded: u64);

    /// The process repeats an id that it was asked for, wherever the agent
    /// could, and opened nothing. By default it lists itself with no history,
    /// as an agent that says what it loaded would.
    fn echo(&mut self, pid: u32, start_ticks: u64, id: &AgentSessionId) {
        self.list(pid, start_ticks, id, 0);
    }

    /// Puts what the system shows of the agent's processes onto the machine,
    /// such as files that they have open.
    fn show(&self, _host: &mut FakeHost) {}

    /// Whether the agent can go on under another id with the same history. One
    /// that never does need not be recognised when it does.
    fn rotates(&self) -> bool {
        true
    }

    /// What the agent reports of its start through its hook, as read by the
    /// adapter; empty for one without hooks.
    fn report(&mut self, instance: InstanceId, start: &Start) -> Vec<AgentReport>;
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

/// What the agent does when it is asked to resume.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Part {
    /// Opens the conversation.
    Good,
    /// Opens it, after a report of a throw-away start (C032).
    DoubleStart,
    /// Opens it, before a report of a throw-away start (C032).
    LateDoubleStart,
    /// Repeats the id that was asked for and loaded nothing (S1-28, C043).
    Echo,
    /// Begins anew under the same id, over the record (D-3).
    FreshSameId,
    /// Goes on under a new id, with a record that extends the saved one.
    RotatesWithHistory,
    /// Begins anew under a new id (C044).
    RotatesWithout,
    /// Shows nothing (S1-14).
    Silent,
    /// Another process than ours has the conversation open.
    WrongProcess,
    /// A process with our number had it open before (a leftover of a kill).
    StaleStart,
    /// Opens it, and its record is gone afterwards.
    RecordLost,
}

impl Part {
    /// Every part.
    pub const ALL: [Self; 11] = [
        Self::Good,
        Self::DoubleStart,
        Self::LateDoubleStart,
        Self::Echo,
        Self::FreshSameId,
        Self::RotatesWithHistory,
        Self::RotatesWithout,
        Self::Silent,
        Self::WrongProcess,
        Self::StaleStart,
        Self::RecordLost,
    ];

    /// Whether this verdict at the deadline is right.
    pub fn allows(self, verdict: &Verdict) -> bool {
        match self {
            Self::Good | Self::DoubleStart | Self::LateDoubleStart | Self::RotatesWithHistory => {
                matches!(verdict, Verdict::Verified(_))
            }
            Self::FreshSameId | Self::RotatesWithout | Self::RecordLost => {
                matches!(verdict, Verdict::Contradicted(_))
            }
            Self::Silent | Self::WrongProcess | Self::StaleStart => {
                *verdict == Verdict::Unconfirmed
            }
            // Depends on whether the agent says that it loaded nothing, or says
            // nothing of it.
            Self::Echo => !matches!(verdict, Verdict::Verified(_)),
        }
    }
}

/// Plays every part on a stage of its own.
///
/// # Errors
///
/// Names the first part whose verdict is not what it must be.
pub fn check<S: Stage>(instance: InstanceId, mut stage: impl FnMut() -> S) -> Result<(), String> {
    for part in Part::ALL {
        let mut stage = stage();
        let verdict = play(&mut stage, instance, part)?;
        let right = match part {
            Part::RotatesWithHistory if !stage.rotates() => {
                !matches!(verdict, Verdict::Verified(_))
            }
            _ => part.allows(&verdict),
        };
        if !right {
            return Err(format!("{part:?} led to {verdict:?}"));
        }
    }
    Ok(())
}

/// Plays one part and returns the verdict at the deadline, or the contradiction
/// that came before.
///
/// # Errors
///
/// When the stage's own record is refused before the start.
pub fn play(stage: &mut impl Stage, instance: InstanceId, part: Part) -> Result<Verdict, String> {
    let mut saved = stage.saved();
    stage.turn(&saved.id, "first");
    stage.turn(&saved.id, "second");
    let view = stage.view(instance);
    let mut host = FakeHost::with_programs(&[&stage.adapter().spec().program]);
    let anchor = block_on(stage.adapter().anchor(&saved, &host));
    saved.anchor = Some(anchor.map_err(|refusal| format!("no anchor: {refusal}"))?);
    let before = block_on(stage.adapter().preflight(&saved, &host))
        .map_err(|refusal| format!("preflight refused: {refusal}"))?;
    if before.relation != Relation::Extends {
        return Err("an unchanged record does not extend its anchor".to_owned());
    }
    host.start(view.pid, 1, view.start_ticks, &["agent"]);
    let reports = act(stage, &view, part, &saved.id);
    stage.show(&mut host);

    let adapter = stage.adapter();
    let verdict = |witnesses: &[Witness], moment| {
        let policy = &adapter.spec().policy;
        judge(&saved, Some(&before), policy, instance, witnesses, moment)
    };
    let mut witnesses = Vec::new();
    let shown = block_on(adapter.inspect(&view, &host));
    let gathered = reports.into_iter().chain(shown);
    for witness in gathered.filter_map(|report| report.witness) {
        witnesses.extend(read_again(adapter, &saved, &before, &host, &view, &witness));
        let so_far = verdict(&witnesses, Moment::Waiting);
        if matches!(so_far, Verdict::Contradicted(_)) {
            return Ok(so_far);
        }
    }
    Ok(verdict(&witnesses, Moment::Deadline))
}

fn act(
    stage: &mut impl Stage,
    view: &InstanceView,
    part: Part,
    id: &AgentSessionId,
) -> Vec<AgentReport> {
    let (pid, ticks) = (view.pid, view.start_ticks);
    let other = stage.other_id();
    let start = |id: &AgentSessionId, resumed, loaded| Start { id: id.clone(), resumed, loaded };
    let mut starts = vec![start(id, true, 4)];
    match part {
        Part::Good => stage.list(pid, ticks, id, 4),
        Part::DoubleStart => {
            stage.list(pid, ticks, id, 4);
            starts.insert(0, start(&other, false, 0));
        }
        Part::LateDoubleStart => {
            stage.list(pid, ticks, id, 4);
            starts.push(start(&other, false, 0));
        }
        Part::Echo => {
            stage.echo(pid, ticks, id);
            starts = vec![start(id, true, 0)];
        }
        Part::FreshSameId => {
            stage.remove(id);
            stage.turn(id, "begun anew");
            stage.list(pid, ticks, id, 0);
            starts = vec![start(id, false, 0)];
        }
        Part::RotatesWithHistory => {
            stage.copy(id, &other);
            stage.turn(&other, "third");
            stage.list(pid, ticks, &other, 4);
            starts = vec![start(&other, true, 4)];
        }
        Part::RotatesWithout => {
            stage.turn(&other, "begun anew");
            stage.list(pid, ticks, &other, 0);
            starts = vec![start(&other, false, 0)];
        }
        Part::Silent => starts.clear(),
        Part::WrongProcess => {
            stage.list(pid.saturating_add(1), ticks, id, 4);
            starts.clear();
        }
        Part::StaleStart => {
            stage.list(pid, ticks.saturating_sub(1), id, 4);
            starts.clear();
        }
        Part::RecordLost => {
            stage.list(pid, ticks, id, 4);
            stage.remove(id);
        }
    }
    starts.iter().flat_map(|one| stage.report(view.instance, one)).collect()
}

/// Reads the record that a witness names, after the witness.
fn read_again(
    adapter: &dyn AgentAdapter,
    saved: &Conversation,
    before: &Fingerprint,
    host: &FakeHost,
    view: &InstanceView,
    witness: &Witness,
) -> Option<Witness> {
    let addressed = witness.is_addressed().then_some(&saved.id);
    let named = addressed
        .or_else(|| witness.sessions.get(&saved.id))
        .or_else(|| witness.sessions.first())?;
    let conversation =
        Conversation { id: named.clone(), anchor: Some(before.now.clone()), ..saved.clone() };
    let record = RecordRead::Done {
        named: named.clone(),
        result: block_on(adapter.read_record(&conversation, witness.source, view, host)),
    };
    Some(Witness { record, ..witness.clone() })
}
