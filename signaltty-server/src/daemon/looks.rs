//! When the loop has agents and shells looked at, and what comes of it.
//!
//! A pane is looked at when it prints. Only a prompt of ours that an agent has
//! not taken yet is a reason to look by the clock.

use std::sync::Arc;

use signaltty_core::agent::{AgentReport, FoundAgent, ProcessMark};
use signaltty_core::id::InstanceId;
use signaltty_core::session::Input;

use super::event_loop::Daemon;
use super::{agents, scout};

impl Daemon {
    /// The processes of a pane without an agent of its own were looked at.
    pub(super) fn scouted(&mut self, instance: InstanceId, found: Option<Vec<FoundAgent>>) {
        if let Some(handle) = self.panes.of_mut(instance) {
            handle.looking = false;
        }
        if let Some(found) = found {
            self.input(Input::AgentsFound { instance, found });
        }
        self.look_at_agent(instance);
    }

    /// An agent was looked at.
    pub(super) fn looked(
        &mut self,
        instance: InstanceId,
        process: ProcessMark,
        reports: Vec<AgentReport>,
    ) {
        if let Some(handle) = self.panes.of_mut(instance) {
            handle.looking = false;
        }
        // What another process showed is not of this pane any more.
        if self.launches.of(instance).is_none_or(|launch| launch.mark() != process) {
            return;
        }
        for report in reports {
            self.input(Input::Report { instance, report });
        }
        self.look_on(instance);
    }

    /// It is time to look for the sign that an agent took a prompt.
    pub(super) fn sign_is_due(&mut self, instance: InstanceId) {
        if let Some(handle) = self.panes.of_mut(instance) {
            handle.looks_again = false;
        }
        self.look(instance);
    }

    /// Looks at what runs in a pane once, unless somebody does already.
    pub(super) fn look(&mut self, instance: InstanceId) {
        let Some(launch) = self.launches.of(instance) else {
            return;
        };
        let Some(shell) = &launch.shell else {
            return self.look_at_agent(instance);
        };
        let (root, followed) = (scout::mark(&shell.view), launch.kind.is_some());
        let Some(handle) = self.panes.of_mut(instance).filter(|handle| !handle.looking) else {
            return;
        };
        handle.looking = true;
        let adapters = self.adapters.clone();
        agents::scout(adapters, (instance, root), followed, self.events.clone());
    }

    /// Looks at an agent once, unless somebody does already.
    fn look_at_agent(&mut self, instance: InstanceId) {
        let Some(launch) = self.launches.of(instance) else {
            return;
        };
        let Some(adapter) = launch.kind.as_ref().and_then(|kind| self.adapters.of(kind)) else {
            return;
        };
        let (adapter, host) = (Arc::clone(adapter), Arc::clone(&launch.host));
        let view = launch.view.clone();
        let Some(handle) = self.panes.of_mut(instance).filter(|handle| !handle.looking) else {
            return;
        };
        handle.looking = true;
        agents::look(adapter, host, view, self.events.clone());
    }

    /// Looks at an agent again and again until it took a prompt of ours or its
    /// time is over: what it writes then need not come with anything that it
    /// prints, and the looks after its start may be over.
    pub(super) fn look_on(&mut self, instance: InstanceId) {
        if !self.session.awaits_sign(instance) {
            return;
        }
        let kind = self.launches.of(instance).and_then(|launch| launch.kind.as_ref());
        let Some(adapter) = kind.and_then(|kind| self.adapters.of(kind)) else {
            return;
        };
        let pause = adapter.spec().look_every;
        if let Some(handle) = self.panes.of_mut(instance).filter(|handle| !handle.looks_again) {
            handle.looks_again = true;
            agents::look_later(instance, pause, self.events.clone());
        }
    }
}
