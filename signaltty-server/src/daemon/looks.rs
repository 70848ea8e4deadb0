//! When the loop has agents and shells looked at, and what comes of it.
//!
//! A pane is looked at when it prints and when it falls silent, and then some more
//! times: see [`looking`](super::looking). A prompt of ours that an agent has not
//! taken yet is a reason to look by the clock.

use std::sync::Arc;
use std::time::Duration;

use signaltty_core::agent::{AgentReport, FoundAgent, ProcessMark};
use signaltty_core::id::InstanceId;
use signaltty_core::pane::Lifecycle;
use signaltty_core::session::Input;

use super::event_loop::Daemon;
use super::looking::{Left, Looking};
use super::{agents, scout};

impl Daemon {
    /// A pane printed, and is silent or prints on.
    pub(super) fn look_at_output(&mut self, instance: InstanceId) {
        if let Some(looking) = self.looking(instance) {
            looking.printed();
        }
        self.look(instance);
    }

    /// The processes of a pane without an agent of its own were looked at.
    pub(super) fn scouted(
        &mut self,
        instance: InstanceId,
        found: Option<Vec<FoundAgent>>,
        gone: Option<ProcessMark>,
    ) {
        if let Some(looking) = self.looking(instance) {
            looking.ended();
        }
        if let Some(process) = gone {
            self.input(Input::ReporterGone { instance, process });
        }
        if let Some(found) = found {
            self.input(Input::AgentsFound { instance, found });
        }
        if !self.look_at_agent(instance) {
            // One that reported itself may end after what it printed last.
            let reported = self.session.reporter(instance).is_some();
            self.look_on(instance, if reported { Left::Little } else { Left::Nothing });
        }
    }

    /// An agent was looked at.
    pub(super) fn looked(
        &mut self,
        instance: InstanceId,
        process: ProcessMark,
        reports: Vec<AgentReport>,
    ) {
        if let Some(looking) = self.looking(instance) {
            looking.ended();
        }
        let left = self.observed(instance, process, reports);
        self.look_on(instance, left);
    }

    /// Looks where the agent of a pane that was started with it keeps its records,
    /// until that is known: a wrapper may set it, or exchange itself for the agent
    /// later.
    pub(super) fn settle(&mut self, instance: InstanceId) {
        let pane = self.session.pane_of(instance);
        let record = pane.and_then(|pane| self.session.pane(pane)).map(|view| view.record);
        let known = record.and_then(|record| record.agent.as_ref()?.conversation.as_ref());
        let known = known.is_some();
        let Some(launch) = self.launches.of_mut(instance) else {
            return;
        };
        if launch.shell.is_some() || launch.seen && known {
            return;
        }
        let Some(adapter) = launch.kind.as_ref().and_then(|kind| self.adapters.of(kind)) else {
            return;
        };
        let Some(agent) = scout::own(&**adapter, launch.mark()) else {
            return;
        };
        let (moved, needed) = launch.settle(&**adapter, agent);
        let env = launch.view.config_env.clone();
        if let (Some(pane), Some(needed)) = (pane, needed) {
            self.notes.entry(pane).or_default().integration = Some(needed);
        }
        if moved {
            self.input(Input::AgentMoved { instance, env });
        }
    }

    /// An agent shows this, whoever looked.
    pub(super) fn observed(
        &mut self,
        instance: InstanceId,
        process: ProcessMark,
        reports: Vec<AgentReport>,
    ) -> Left {
        // What another process showed is not of this pane any more.
        if self.launches.of(instance).is_none_or(|launch| launch.mark() != process) {
            return Left::Nothing;
        }
        self.settle(instance);
        let told = reports.iter().any(|report| report.lifecycle.is_some());
        for report in reports {
            self.input(Input::Report { instance, report });
        }
        let pane = self.session.pane_of(instance).and_then(|pane| self.session.pane(pane));
        let works = pane.is_some_and(|pane| pane.record.lifecycle == Lifecycle::Working);
        if told && !works { Left::Little } else { Left::Much }
    }

    /// It is time for a look, printing or not.
    pub(super) fn look_is_due(&mut self, instance: InstanceId) {
        if let Some(looking) = self.looking(instance) {
            looking.comes_with(None);
        }
        self.look(instance);
    }

    /// Looks at what runs in a pane once; after the present look where there is
    /// one.
    fn look(&mut self, instance: InstanceId) {
        let Some(launch) = self.launches.of(instance) else {
            return;
        };
        let Some(shell) = &launch.shell else {
            self.look_at_agent(instance);
            return;
        };
        let (root, followed) = (scout::mark(&shell.view), launch.kind.is_some());
        let reporter = self.session.reporter(instance);
        if self.looking(instance).is_some_and(Looking::begin) {
            let adapters = self.adapters.clone();
            let known = (followed, reporter);
            agents::scout(adapters, (instance, root), known, self.events.clone());
        }
    }

    /// Looks at an agent once, as [`look`](Self::look) does. Whether there is one.
    fn look_at_agent(&mut self, instance: InstanceId) -> bool {
        let Some(launch) = self.launches.of(instance) else {
            return false;
        };
        let Some(adapter) = launch.kind.as_ref().and_then(|kind| self.adapters.of(kind)) else {
            return false;
        };
        let (adapter, host) = (Arc::clone(adapter), Arc::clone(&launch.host));
        let view = launch.view.clone();
        if self.looking(instance).is_some_and(Looking::begin) {
            agents::look(adapter, host, view, self.events.clone());
        }
        true
    }

    /// Has a pane looked at again, where there may be more to be seen.
    fn look_on(&mut self, instance: InstanceId, left: Left) {
        let pause = match self.sign_pause(instance) {
            None => self.looking(instance).and_then(|looking| looking.next(left)),
            pause => pause,
        };
        if let Some(pause) = pause {
            self.look_after(instance, pause);
        }
    }

    /// A prompt of ours went out, for all that is known.
    pub(super) fn look_for_sign(&mut self, instance: InstanceId) {
        if let Some(pause) = self.sign_pause(instance) {
            self.look_after(instance, pause);
        }
    }

    /// From one look for the sign that an agent took a prompt to the next, until
    /// it took it or its time is over: what it writes then need not come with
    /// anything that it prints, and the looks after its start may be over.
    fn sign_pause(&self, instance: InstanceId) -> Option<Duration> {
        let kind = self.launches.of(instance).and_then(|launch| launch.kind.as_ref());
        let adapter = kind.and_then(|kind| self.adapters.of(kind))?;
        self.session.awaits_sign(instance).then_some(adapter.spec().look_every)
    }

    fn look_after(&mut self, instance: InstanceId, pause: Duration) {
        let events = self.events.clone();
        if let Some(looking) = self.looking(instance) {
            looking.comes_with(Some(agents::look_later(instance, pause, events)));
        }
    }

    fn looking(&mut self, instance: InstanceId) -> Option<&mut Looking> {
        self.panes.of_mut(instance).map(|handle| &mut handle.looking)
    }
}
