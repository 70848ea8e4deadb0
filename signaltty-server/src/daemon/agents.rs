//! Runs adapters: preflight, looks, records. Decides nothing.
//!
//! Adapters read files and may block while they do, so they run on the blocking
//! pool. Every job ends in an event for the loop: one that panics or takes too
//! long in the event that says so, since the loop waits for it.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use signaltty_adapters::{Adapters, AgentAdapter, AgentHost, AgentInput, InstanceView, ProcHost};
use signaltty_core::agent::{
    AgentReport, Anchor, Conversation, Fingerprint, ProcessMark, TurnRecord, WitnessSource,
};
use signaltty_core::id::{InstanceId, PaneId, RequestId};
use signaltty_core::restore::{Continuation, FailureCode, Refusal};
use signaltty_core::session::{ContinueFailure, Delivery};
use tokio::runtime::Handle;
use tokio::sync::{Semaphore, mpsc, oneshot};
use tokio::task::AbortHandle;
use tokio::time::{Instant, MissedTickBehavior, interval, timeout};

use super::event::Event;
use super::pane_task::PaneMessage;
use super::scout::{self, mark};

type Adapter = Arc<dyn AgentAdapter>;

/// How long reading an agent's record may take.
const READ_LIMIT: Duration = Duration::from_secs(30);

/// How long sending a continuation may take, the wait for a quiet screen
/// included.
const SEND_LIMIT: Duration = Duration::from_secs(40);

/// How long one look at an agent may take. Some are asked several questions, and
/// on a busy machine each answer takes seconds.
const LOOK_LIMIT: Duration = Duration::from_secs(30);

/// Jobs that may run at a time. A job that hangs keeps its thread, and saves
/// must still find one in the pool.
static ROOM: Semaphore = Semaphore::const_new(64);

/// Preflight: whatever the adapter looks at, and who else has the conversation.
pub(crate) fn preflight(
    adapter: Adapter,
    host: Arc<ProcHost>,
    conversation: Conversation,
    pane: PaneId,
    request: Option<RequestId>,
    events: mpsc::Sender<Event>,
) {
    let name = adapter.spec().kind.to_string();
    run(
        events,
        READ_LIMIT,
        move |runtime| {
            let result = runtime.block_on(check(&*adapter, &host, &conversation));
            Event::Preflighted { pane, request, result }
        },
        move |why| Event::Preflighted { pane, request, result: Err(why.refusal(&name)) },
    );
}

async fn check(
    adapter: &dyn AgentAdapter,
    host: &ProcHost,
    conversation: &Conversation,
) -> Result<Fingerprint, Refusal> {
    let found = adapter.preflight(conversation, host).await?;
    match adapter.holder(conversation, host).await {
        None => Ok(found),
        Some(holder) => Err(Refusal::new(
            FailureCode::Busy,
            format!(
                "conversation {} is open elsewhere: {holder}; end it there and ask again",
                conversation.id
            ),
        )),
    }
}

/// Reads what a record says of its newest turn. Nothing is known where that
/// fails.
pub(crate) fn read_turn(
    adapter: Adapter,
    host: Arc<ProcHost>,
    conversation: Conversation,
    pane: PaneId,
    events: mpsc::Sender<Event>,
) {
    run(
        events,
        READ_LIMIT,
        move |runtime| {
            let record = runtime.block_on(adapter.read_turn(&conversation, &*host));
            Event::TurnRead { pane, record }
        },
        move |_| Event::TurnRead { pane, record: TurnRecord::default() },
    );
}

/// Lets an interrupted turn go on. What is typed goes through the pane's task,
/// which knows when it may be.
pub(crate) fn continue_turn(
    adapter: Adapter,
    host: Arc<ProcHost>,
    view: InstanceView,
    continuation: Arc<Continuation>,
    mut input: PaneTyping,
    events: mpsc::Sender<Event>,
) {
    let instance = view.instance;
    run(
        events,
        SEND_LIMIT,
        move |runtime| {
            let sent = adapter.continue_turn(&continuation, &view, &mut input, &*host);
            Event::Continued { instance, result: runtime.block_on(sent) }
        },
        // It may have gone out before the time was over.
        move |_| Event::Continued { instance, result: Ok(Delivery::Sent) },
    );
}

/// A pane's terminal, for one prompt.
pub(crate) struct PaneTyping {
    pub(crate) messages: mpsc::Sender<PaneMessage>,
    pub(crate) by_hand: bool,
}

#[async_trait]
impl AgentInput for PaneTyping {
    async fn type_prompt(&mut self, text: &str) -> Result<(), ContinueFailure> {
        let (done, answer) = oneshot::channel();
        let (text, by_hand) = (text.to_owned(), self.by_hand);
        let ask = PaneMessage::Prompt { text, by_hand, done };
        if self.messages.send(ask).await.is_err() {
            return Err(ContinueFailure::Ended);
        }
        answer.await.unwrap_or(Err(ContinueFailure::Ended))
    }
}

/// Reads the record that a witness named, after it.
pub(crate) fn read_record(
    adapter: Adapter,
    host: Arc<ProcHost>,
    view: InstanceView,
    named: Conversation,
    (witness, source): (usize, WitnessSource),
    events: mpsc::Sender<Event>,
) {
    let name = adapter.spec().kind.to_string();
    let (instance, id) = (view.instance, named.id.clone());
    run(
        events,
        READ_LIMIT,
        move |runtime| {
            let result = runtime.block_on(adapter.read_record(&named, source, &view, &*host));
            Event::RecordRead { instance, witness, named: named.id, result }
        },
        move |why| {
            let result = Err(why.refusal(&name));
            Event::RecordRead { instance, witness, named: id, result }
        },
    );
}

/// Anchors a live conversation.
pub(crate) fn anchor(
    adapter: Adapter,
    host: Arc<ProcHost>,
    conversation: Conversation,
    instance: InstanceId,
    events: mpsc::Sender<Event>,
) {
    let (name, id) = (adapter.spec().kind.to_string(), conversation.id.clone());
    run(
        events,
        READ_LIMIT,
        move |runtime| {
            let id = conversation.id.clone();
            let (cwd, result) =
                runtime.block_on(anchor_where_it_is(&*adapter, &host, conversation));
            Event::Anchored { instance, id, cwd, result }
        },
        move |why| Event::Anchored { instance, id, cwd: None, result: Err(why.refusal(&name)) },
    );
}

/// The agent may have opened a conversation of another directory, have made a
/// checkout for it, or have moved it. The saved spelling is kept where it is the
/// same one.
async fn anchor_where_it_is(
    adapter: &dyn AgentAdapter,
    host: &ProcHost,
    mut conversation: Conversation,
) -> (Option<PathBuf>, Result<Anchor, Refusal>) {
    let same = |a: &Path, b: &Path| {
        a == b || matches!((a.canonicalize(), b.canonicalize()), (Ok(a), Ok(b)) if a == b)
    };
    let said = adapter.directory(&conversation, host).await;
    let own = said.filter(|cwd| cwd.is_absolute() && !same(cwd, &conversation.cwd));
    if let Some(cwd) = &own {
        conversation.cwd.clone_from(cwd);
    }
    (own, adapter.anchor(&conversation, host).await)
}

/// Looks at an agent once.
pub(crate) fn look(
    adapter: Adapter,
    host: Arc<ProcHost>,
    view: InstanceView,
    events: mpsc::Sender<Event>,
) {
    let (instance, process) = (view.instance, mark(&view));
    run(
        events,
        LOOK_LIMIT,
        move |runtime| {
            let reports = runtime.block_on(adapter.inspect(&view, &*host));
            Event::Looked { instance, process, reports }
        },
        move |_| Event::Looked { instance, process, reports: Vec::new() },
    );
}

/// Has an agent looked at after a pause.
pub(crate) fn look_later(
    instance: InstanceId,
    pause: Duration,
    events: mpsc::Sender<Event>,
) -> AbortHandle {
    let later = tokio::spawn(async move {
        tokio::time::sleep(pause).await;
        let _ = events.send(Event::LookAgain { instance }).await;
    });
    later.abort_handle()
}

/// Looks for agents in a shell, without one that is known or with one, and for
/// the process that reported a session.
pub(crate) fn scout(
    adapters: Adapters,
    (instance, root): (InstanceId, ProcessMark),
    (followed, reporter): (bool, Option<ProcessMark>),
    events: mpsc::Sender<Event>,
) {
    tokio::spawn(async move {
        let look = attempt(LOOK_LIMIT, move |_| {
            let gone = reporter.filter(|process| !scout::runs(*process));
            (scout::look(&adapters, root, followed), gone)
        });
        // Without an answer nothing is known; the next look comes with the next
        // output.
        let (found, gone) = match look.await {
            Ok((found, gone)) => (Some(found), gone),
            Err(why) => {
                tracing::warn!("a look at the processes of a pane {why}");
                (None, None)
            }
        };
        let _ = events.send(Event::Scouted { instance, found, gone }).await;
    });
}

/// Looks at an agent again and again until it had its time, and passes on what
/// is new. Ends with the process, or when the receiver of events is gone.
pub(crate) async fn observe(
    adapter: Adapter,
    host: Arc<ProcHost>,
    view: InstanceView,
    events: mpsc::Sender<Event>,
) {
    let until = Instant::now() + adapter.spec().policy.deadline;
    let mut ticks = interval(adapter.spec().look_every);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut last: Vec<AgentReport> = Vec::new();
    while Instant::now() < until {
        ticks.tick().await;
        let (adapter, host, view) = (Arc::clone(&adapter), Arc::clone(&host), view.clone());
        let (instance, process) = (view.instance, mark(&view));
        let look = attempt(LOOK_LIMIT, move |runtime| {
            let alive = host.process(view.pid).is_some_and(|p| p.start_ticks == view.start_ticks);
            (alive, runtime.block_on(adapter.inspect(&view, &*host)))
        });
        let (alive, reports) = match look.await {
            Ok(found) => found,
            // It may answer the next time.
            Err(Failed::TookTooLong(_)) => continue,
            Err(Failed::Panicked) => return,
        };
        if !alive {
            return;
        }
        if reports != last {
            last.clone_from(&reports);
            if events.send(Event::Observed { instance, process, reports }).await.is_err() {
                return;
            }
        }
    }
}

/// Why a job has no result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
enum Failed {
    #[error("failed; the server's log has its panic")]
    Panicked,
    #[error("did not answer within {0:?}")]
    TookTooLong(Duration),
}

impl Failed {
    fn refusal(self, agent: &str) -> Refusal {
        let message = format!(
            "the record could not be read: the adapter for {agent} {self}; the conversation is \
             kept, try again"
        );
        Refusal::new(FailureCode::Unreadable, message)
    }
}

/// Runs a job and passes its event on, or the one that stands for it.
fn run<J, I>(events: mpsc::Sender<Event>, limit: Duration, job: J, instead: I)
where
    J: FnOnce(&Handle) -> Event + Send + 'static,
    I: FnOnce(Failed) -> Event + Send + 'static,
{
    tokio::spawn(async move {
        let event = attempt(limit, job).await.unwrap_or_else(|why| {
            tracing::warn!("a job of an adapter {why}");
            instead(why)
        });
        // The loop is gone: nothing is left to be told.
        let _ = events.send(event).await;
    });
}

async fn attempt<T, J>(limit: Duration, job: J) -> Result<T, Failed>
where
    T: Send + 'static,
    J: FnOnce(&Handle) -> T + Send + 'static,
{
    let done = async {
        // Never closed.
        let room = ROOM.acquire().await.ok();
        let runtime = Handle::current();
        let job = move || {
            // Kept by the thread, also when nobody waits for it any more.
            let _room = room;
            job(&runtime)
        };
        tokio::task::spawn_blocking(job).await.map_err(|_| Failed::Panicked)
    };
    timeout(limit, done).await.unwrap_or(Err(Failed::TookTooLong(limit)))
}

#[cfg(test)]
mod tests {
    use signaltty_core::id::PaneId;

    use super::*;

    /// The event that a job ends in.
    fn end_of(limit: Duration, job: impl FnOnce(&Handle) -> Event + Send + 'static) -> Event {
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
        let (send, mut receive) = mpsc::channel(1);
        let (pane, request) = (PaneId::from_random([0; 10]), Some(RequestId(1)));
        let event = runtime.block_on(async move {
            run(send, limit, job, move |why| {
                let result = Err(why.refusal("claude"));
                Event::Preflighted { pane, request, result }
            });
            receive.recv().await.unwrap()
        });
        // What hangs goes on.
        runtime.shutdown_background();
        event
    }

    fn message(event: Event) -> String {
        let Event::Preflighted { result: Err(refusal), .. } = event else {
            panic!("not refused");
        };
        assert_eq!(refusal.code, FailureCode::Unreadable);
        refusal.message.to_string()
    }

    #[test]
    fn an_adapter_that_panics_is_answered_for() {
        let event = end_of(READ_LIMIT, |_| panic!("as the test wants"));
        let text = message(event);
        assert!(text.contains("claude failed; the server's log has its panic"), "{text}");
    }

    #[test]
    fn an_adapter_that_hangs_is_answered_for_in_time() {
        let (release, hang) = std::sync::mpsc::channel::<()>();
        let limit = Duration::from_millis(20);
        let event = end_of(limit, move |_| {
            let _ = hang.recv();
            Event::Terminate
        });
        let text = message(event);
        assert!(text.contains("claude did not answer within 20ms"), "{text}");
        drop(release);
    }
}
