//! The stop ladder: hangup, terminate, kill.
//!
//! Each step goes to the child's process group and to every process of its
//! session, found anew, and then waits for all of them up to the grace period.
//! A step that finds nobody left is not taken.
//!
//! Descendants that called `setsid` are not signalled, since they asked to live
//! on; they are reported. One that also lost its parent before the first step
//! is no longer recognisable as a descendant and is not reported.
//!
//! Stops that go on at the same time share their looks through `/proc`. Where
//! looking is not possible, as without a free descriptor, the child and its group
//! are signalled all the same.

use std::collections::BTreeSet;
use std::io;
use std::time::Duration;

use tokio::io::Interest;
use tokio::time::{Instant, timeout_at};

use crate::child::{Child, ExitStatus};
use crate::process::{self, Member, ProcessId, Stat};
use crate::signal::Signal;
use crate::sys::Watched;

/// The furthest step that was needed to end a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum StopStep {
    /// Nobody was left when the ladder began.
    Nothing,
    /// The hangup was enough.
    Hangup,
    /// Some process wanted to be asked to terminate.
    Terminate,
    /// Some process had to be killed.
    Kill,
}

/// What became of a session that was stopped.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct StopReport {
    /// The child's status; `None` only if it survived even SIGKILL for now.
    pub status: Option<ExitStatus>,
    /// How far the ladder was climbed.
    pub needed: StopStep,
    /// Processes of the session that are still there, such as one in an
    /// uninterruptible system call.
    pub remaining: Vec<ProcessId>,
    /// Living descendants that left the session.
    pub escaped: Vec<ProcessId>,
}

impl Child {
    /// Ends the child and all processes of its session.
    ///
    /// Takes at most about three times `grace`; a session that is killed gets at
    /// least a second to be gone.
    ///
    /// # Errors
    ///
    /// When the child goes on and nothing can be looked at, or its status was taken
    /// by someone else.
    ///
    /// # Panics
    ///
    /// Outside a tokio runtime with IO and time enabled.
    pub async fn stop(&self, grace: Duration) -> io::Result<StopReport> {
        let mut needed = StopStep::Nothing;
        let mut escaped = BTreeSet::new();
        for (step, signal) in LADDER {
            let patience = if signal == Signal::Kill { grace.max(KILL_PATIENCE) } else { grace };
            let deadline = Instant::now() + patience;
            let Ok(members) = self.members(&mut escaped).await else {
                // Nothing can be looked at. The child is still this one's to signal.
                if self.try_wait()?.is_some() {
                    break;
                }
                needed = step;
                self.tell_group(signal);
                if self.ended(deadline).await? { break } else { continue }
            };
            if members.is_empty() {
                break;
            }
            needed = step;
            // The group can have members that the list has just missed.
            self.tell_group(signal);
            for member in &members {
                tell(member, signal);
            }
            let gone = match self.gone(members, signal, deadline, &mut escaped).await {
                Ok(gone) => gone,
                Err(_) => self.ended(deadline).await?,
            };
            if gone {
                break;
            }
        }
        let status = self.try_wait()?;
        let remaining = match self.members(&mut escaped).await {
            Ok(members) => members,
            // It ended, and what it left cannot be seen now.
            Err(_) if status.is_some() => Vec::new(),
            Err(error) => return Err(error),
        };
        // Those that a look which failed did not show. For others this is one more
        // signal of the last kind.
        if needed != StopStep::Nothing {
            remaining.iter().for_each(|member| member.signal(Signal::Kill));
        }
        let remaining = remaining.iter().map(|member| member.id).collect();
        let lives = |id: &ProcessId| {
            let stat = process::stat(id.pid).ok().flatten();
            stat.is_some_and(|stat| stat.id == *id && !stat.ended)
        };
        let escaped = escaped.into_iter().filter(lives).collect();
        Ok(StopReport { status, needed, remaining, escaped })
    }

    /// Signals the child's group, and the child where that is in another one.
    fn tell_group(&self, signal: Signal) {
        let _ = self.signal_group(signal);
        if signal != Signal::Kill {
            let _ = self.signal_group(Signal::Continue);
        }
    }

    /// Waits for the child's end without a descriptor.
    async fn ended(&self, deadline: Instant) -> io::Result<bool> {
        loop {
            if self.try_wait()?.is_some() {
                return Ok(true);
            }
            if Instant::now() >= deadline {
                return Ok(false);
            }
            tokio::time::sleep(LOOK_AGAIN).await;
        }
    }

    /// Waits until no member is left, following forks, or until `deadline`.
    async fn gone(
        &self,
        mut members: Vec<Member>,
        signal: Signal,
        deadline: Instant,
        escaped: &mut BTreeSet<ProcessId>,
    ) -> io::Result<bool> {
        let mut told: BTreeSet<ProcessId> = members.iter().map(|member| member.id).collect();
        while !members.is_empty() {
            for member in members {
                let watched = Watched::new(member.pidfd, Interest::READABLE)?;
                match timeout_at(deadline, watched.get().readable()).await {
                    Ok(ready) => drop(ready?),
                    Err(_elapsed) => return Ok(false),
                }
            }
            members = self.members(escaped).await?;
            for member in &members {
                // Forked between the look and the signal.
                if told.insert(member.id) {
                    member.signal(signal);
                }
            }
        }
        Ok(true)
    }

    /// The living processes of the session; notes descendants outside of it.
    async fn members(&self, escaped: &mut BTreeSet<ProcessId>) -> io::Result<Vec<Member>> {
        let all = process::all().await?;
        let leader = all.iter().find(|stat| stat.id.pid == self.pid());
        // With the child reaped, its number can be a stranger's by now. It is
        // not as long as the old session has members, which keep it taken.
        if self.is_reaped() && leader.is_some() {
            return Ok(Vec::new());
        }
        let session: Vec<&Stat> = all.iter().filter(|stat| stat.session == self.pid()).collect();
        for root in &session {
            let family = process::descendants(&all, root.id.pid);
            escaped.extend(
                family.iter().filter(|stat| stat.session != self.pid()).map(|stat| stat.id),
            );
        }
        let living = session.into_iter().filter(|stat| !stat.ended);
        living.filter_map(|stat| process::hold(stat).transpose()).collect()
    }
}

fn tell(member: &Member, signal: Signal) {
    member.signal(signal);
    if signal != Signal::Kill {
        // A stopped process acts on a signal only when it goes on.
        member.signal(Signal::Continue);
    }
}

const LADDER: [(StopStep, Signal); 3] = [
    (StopStep::Hangup, Signal::Hangup),
    (StopStep::Terminate, Signal::Terminate),
    (StopStep::Kill, Signal::Kill),
];

/// How often a child is looked at that cannot be waited for.
const LOOK_AGAIN: Duration = Duration::from_millis(10);

/// Even a killed process needs a moment to be gone.
const KILL_PATIENCE: Duration = Duration::from_secs(1);
