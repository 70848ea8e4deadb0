//! One resume, as a server does it.

use signaltty_core::agent::{
    AgentSessionId, Conversation, Fingerprint, Moment, RecordRead, Relation, Verdict, Witness,
    WitnessSource, judge,
};
use signaltty_core::id::InstanceId;

use super::played::Played;
use super::{Failure, Mode, Stage, Start, fault};
use crate::testing::{FakeHost, block_on};
use crate::{AgentAdapter, HookReport, InstanceView};

/// Lets the agent do this when it is asked to resume, and returns the verdict
/// at the deadline, or the contradiction that came before.
///
/// # Errors
///
/// When the stage's own record is refused before the start, or when the adapter
/// goes wrong in a way that is no verdict, such as not naming the process that
/// has a conversation open.
pub fn play(stage: &mut impl Stage, mode: Mode) -> Result<Verdict, Failure> {
    play_whole(stage, mode).map(|played| played.verdict)
}

/// The same, with what led to it.
pub(super) fn play_whole(stage: &mut impl Stage, mode: Mode) -> Result<Played, Failure> {
    let mut scene = Scene::set(stage, mode)?;
    let (pid, ticks) = (scene.view.pid, scene.view.start_ticks);
    let id = scene.saved.id.clone();
    let other = scene.stage.other_id();
    let start = |id: &AgentSessionId, resumed, loaded| Start { id: id.clone(), resumed, loaded };
    let opened = start(&id, true, HISTORY);
    let thrown_away = start(&other, false, 0);
    match mode {
        Mode::Good => {
            scene.stage.list(pid, ticks, &id, HISTORY);
            scene.gather(&[opened]);
        }
        Mode::DoubleStart => {
            scene.stage.list(pid, ticks, &id, HISTORY);
            scene.gather(&[thrown_away, opened]);
        }
        Mode::LateDoubleStart => {
            scene.stage.list(pid, ticks, &id, HISTORY);
            scene.gather(&[opened, thrown_away]);
        }
        Mode::LateReport => {
            scene.gather(&[]);
            if scene.verdict(Moment::Waiting) != Verdict::Unconfirmed {
                return Err(fault(mode, "something was proven before anything was shown"));
            }
            scene.stage.list(pid, ticks, &id, HISTORY);
            scene.gather(&[opened]);
        }
        Mode::Echo => {
            scene.stage.echo(pid, ticks, &id);
            scene.gather(&[start(&id, true, 0)]);
        }
        Mode::IgnoresId => {
            scene.stage.turn(&other, "first of a neighbour");
            scene.stage.turn(&other, "second of a neighbour");
            scene.stage.list(pid, ticks, &other, HISTORY);
            scene.gather(&[start(&other, true, HISTORY)]);
        }
        Mode::SameIdEmpty => {
            scene.stage.remove(&id);
            scene.stage.turn(&id, "begun anew");
            scene.stage.list(pid, ticks, &id, 0);
            scene.gather(&[start(&id, false, 0)]);
        }
        Mode::RotatesWithHistory => {
            scene.stage.copy(&id, &other);
            scene.stage.turn(&other, "third");
            scene.stage.list(pid, ticks, &other, HISTORY);
            scene.gather(&[start(&other, true, HISTORY)]);
        }
        Mode::RotatesWithout => {
            scene.stage.turn(&other, "begun anew");
            scene.stage.list(pid, ticks, &other, 0);
            scene.gather(&[thrown_away]);
        }
        Mode::NoReport => scene.gather(&[]),
        Mode::NestedAgent => {
            scene.stage.list(pid, ticks, &id, HISTORY);
            scene.stage.turn(&other, "of the agent inside");
            scene.stage.list(pid + NESTED, ticks + 1, &other, HISTORY);
            scene.nested = true;
            scene.gather(&[opened]);
        }
        Mode::StaleSecret => scene.play_an_earlier_launch(&opened),
        Mode::NotFoundExit => {
            scene.stage.list(pid, ticks, &id, 0);
            scene.ended = true;
            let said = scene.stage.failure_reports(&id);
            scene.gather_payloads(&said);
        }
        Mode::TrustScreen => {
            let said = scene.stage.failure_reports(&id);
            scene.gather_payloads(&said);
        }
        Mode::WriterLocked | Mode::OrphanSurvives | Mode::WrongProcess => {
            scene.stage.list(pid + FOREIGN, ticks, &id, HISTORY);
            if mode == Mode::OrphanSurvives {
                scene.stage.turn(&id, "of the one that survived");
            }
            scene.gather(&[]);
            scene.the_holder_is_named(mode)?;
        }
        Mode::StaleStart => {
            scene.stage.list(pid, ticks.saturating_sub(1), &id, HISTORY);
            scene.gather(&[]);
        }
        Mode::RecordLost => {
            scene.stage.list(pid, ticks, &id, HISTORY);
            scene.stage.remove(&id);
            scene.gather(&[opened]);
        }
        Mode::ClearMidSession => {
            scene.stage.list(pid, ticks, &id, HISTORY);
            scene.gather(&[opened]);
            let verdict = scene.verdict(Moment::Deadline);
            if matches!(verdict, Verdict::Verified(_)) {
                scene.stage.turn(&other, "begun anew");
                scene.stage.switch(pid, ticks, &other);
                scene.gather(&[start(&other, false, 0)]);
                scene.is_followed(mode, &other)?;
            }
            return Ok(Played { verdict, witnesses: scene.witnesses });
        }
    }
    let so_far = scene.contradiction.take();
    let verdict = so_far.unwrap_or_else(|| scene.verdict(Moment::Deadline));
    Ok(Played { verdict, witnesses: scene.witnesses })
}

/// How many messages a start loads that loads the history.
const HISTORY: u64 = 4;

/// Added to our process's id: a process of somebody else.
const FOREIGN: u32 = 1;

/// An agent that our agent started.
const NESTED: u32 = 2;

/// The process of an earlier launch.
const EARLIER: u32 = 3;

struct Scene<'a, S> {
    stage: &'a mut S,
    saved: Conversation,
    before: Fingerprint,
    view: InstanceView,
    command: Vec<String>,
    host: FakeHost,
    nested: bool,
    ended: bool,
    witnesses: Vec<Witness>,
    /// What the last look and the last reports showed.
    newest: Vec<Witness>,
    contradiction: Option<Verdict>,
}

impl<'a, S: Stage> Scene<'a, S> {
    /// A conversation of two turns, saved, looked at, and its agent started.
    fn set(stage: &'a mut S, mode: Mode) -> Result<Self, Failure> {
        let mut saved = stage.saved();
        stage.turn(&saved.id, "first");
        stage.turn(&saved.id, "second");
        let view = stage.view(InstanceId::fake(1));
        let mut host = FakeHost::with_programs(&[&stage.adapter().spec().program]);
        let adapter = stage.adapter();
        let anchor = block_on(adapter.anchor(&saved, &host));
        saved.anchor = Some(anchor.map_err(|why| fault(mode, format!("no anchor: {why}")))?);
        let before = block_on(adapter.preflight(&saved, &host))
            .map_err(|why| fault(mode, format!("preflight refused: {why}")))?;
        if before.relation != Relation::Extends {
            return Err(fault(mode, "an unchanged record does not extend its anchor"));
        }
        let official = adapter
            .resume_command(&saved)
            .map_err(|error| fault(mode, format!("no command to resume: {error}")))?;
        let command: Vec<_> =
            official.argv().iter().map(|arg| arg.to_string_lossy().into_owned()).collect();
        start_process(&mut host, view.pid, 1, view.start_ticks, &command);
        Ok(Self {
            stage,
            saved,
            before,
            view,
            command,
            host,
            nested: false,
            ended: false,
            witnesses: Vec::new(),
            newest: Vec::new(),
            contradiction: None,
        })
    }

    /// The agent reports these starts, and then one looks at it.
    fn gather(&mut self, starts: &[Start]) {
        let payloads: Vec<_> = starts.iter().flat_map(|start| self.stage.reports(start)).collect();
        self.gather_payloads(&payloads);
    }

    fn gather_payloads(&mut self, payloads: &[Vec<u8>]) {
        self.show();
        let shown = evidence(self.stage.adapter(), &self.view, &self.host, payloads);
        self.newest.clear();
        for witness in shown {
            let read = self.read_again(&witness);
            self.witnesses.extend(read.clone());
            self.newest.extend(read);
            let so_far = self.verdict(Moment::Waiting);
            if matches!(so_far, Verdict::Contradicted(_)) {
                self.contradiction.get_or_insert(so_far);
                return;
            }
        }
    }

    /// Puts the processes onto the machine.
    fn show(&mut self) {
        self.stage.show(&mut self.host);
        let (pid, ticks) = (self.view.pid, self.view.start_ticks);
        // Holds something only where the stage says so.
        start_process(&mut self.host, pid + FOREIGN, 1, ticks, &self.command);
        if self.nested {
            start_process(&mut self.host, pid + NESTED, pid, ticks + 1, &self.command);
        }
        if self.ended {
            self.host.end(pid);
        }
    }

    fn verdict(&self, moment: Moment) -> Verdict {
        let policy = &self.stage.adapter().spec().policy;
        let instance = self.view.instance;
        judge(&self.saved, Some(&self.before), policy, instance, &self.witnesses, moment)
    }

    /// Reads the record that a witness names, after the witness.
    fn read_again(&self, witness: &Witness) -> Option<Witness> {
        let addressed = witness.is_addressed().then_some(&self.saved.id);
        let named = addressed
            .or_else(|| witness.sessions.get(&self.saved.id))
            .or_else(|| witness.sessions.first())?
            .clone();
        let conversation = Conversation {
            id: named.clone(),
            anchor: Some(self.before.now.clone()),
            ..self.saved.clone()
        };
        let adapter = self.stage.adapter();
        let read = adapter.read_record(&conversation, witness.source, &self.view, &self.host);
        let record = RecordRead::Done { named, result: block_on(read) };
        Some(Witness { record, ..witness.clone() })
    }

    /// An earlier launch opens the conversation, shows it, and ends; ours shows
    /// nothing.
    fn play_an_earlier_launch(&mut self, opened: &Start) {
        let mut earlier = self.stage.view(InstanceId::fake(2));
        earlier.pid += EARLIER;
        self.stage.list(earlier.pid, earlier.start_ticks, &opened.id, HISTORY);
        let payloads = self.stage.reports(opened);
        self.show();
        start_process(&mut self.host, earlier.pid, 1, earlier.start_ticks, &self.command);
        let shown = evidence(self.stage.adapter(), &earlier, &self.host, &payloads);
        self.witnesses.extend(shown);
        self.host.end(earlier.pid);
        let still = evidence(self.stage.adapter(), &self.view, &self.host, &[]);
        for witness in still {
            let read = self.read_again(&witness);
            self.witnesses.extend(read);
        }
    }

    fn the_holder_is_named(&self, mode: Mode) -> Result<(), Failure> {
        let holder = block_on(self.stage.adapter().holder(&self.saved, &self.host));
        let pid = (self.view.pid + FOREIGN).to_string();
        match holder {
            None if self.stage.shows_holder() => {
                Err(fault(mode, format!("process {pid} has it open, and nobody is named")))
            }
            Some(who) if !who.contains(&pid) => {
                Err(fault(mode, format!("process {pid} has it open, and {who:?} is named")))
            }
            _ => Ok(()),
        }
    }

    /// The last look shows the conversation that the agent went on with, and no
    /// source still insists on the old one alone.
    fn is_followed(&self, mode: Mode, other: &AgentSessionId) -> Result<(), Failure> {
        let shows = |witness: &Witness| witness.sessions.contains(other);
        if !self.newest.iter().any(shows) {
            return Err(fault(mode, format!("nothing shows that it went on with {other}")));
        }
        let stale = self.newest.iter().find(|witness| {
            witness.source != WitnessSource::Channel
                && witness.sessions.contains(&self.saved.id)
                && !shows(witness)
        });
        match stale {
            Some(witness) => Err(fault(mode, format!("still said: {}", witness.detail))),
            None => Ok(()),
        }
    }
}

/// What an instance reports and shows, as an adapter reads it.
fn evidence(
    adapter: &dyn AgentAdapter,
    view: &InstanceView,
    host: &FakeHost,
    payloads: &[Vec<u8>],
) -> Vec<Witness> {
    // A payload that is not understood is dropped, as by a server.
    let reports = payloads.iter().filter_map(|payload| {
        adapter.read_report(view.instance, &HookReport { payload, view }).ok()
    });
    let shown = block_on(adapter.inspect(view, host));
    reports.chain(shown).filter_map(|report| report.witness).collect()
}

fn start_process(host: &mut FakeHost, pid: u32, parent: u32, ticks: u64, command: &[String]) {
    let argv: Vec<_> = command.iter().map(String::as_str).collect();
    host.start(pid, parent, ticks, &argv);
}
