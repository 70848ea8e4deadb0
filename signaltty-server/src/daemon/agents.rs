//! Runs adapters: preflight, looks, records. Decides nothing.
//!
//! Adapters read files and may block while they do, so they run on the blocking
//! pool. Every result goes back into the loop.

use std::sync::Arc;

use signaltty_adapters::{AgentAdapter, AgentHost, InstanceView, ProcHost};
use signaltty_core::agent::{AgentReport, Conversation, Fingerprint, WitnessSource};
use signaltty_core::id::{InstanceId, PaneId, RequestId};
use signaltty_core::restore::{FailureCode, Refusal};
use tokio::sync::mpsc;
use tokio::time::{Instant, MissedTickBehavior, interval};

use super::event::Event;

type Adapter = Arc<dyn AgentAdapter>;

/// Preflight: whatever the adapter looks at, and who else has the conversation.
pub(crate) fn preflight(
    adapter: Adapter,
    host: Arc<ProcHost>,
    conversation: Conversation,
    pane: PaneId,
    request: RequestId,
    events: mpsc::Sender<Event>,
) {
    run(events, move |runtime| {
        let result = runtime.block_on(check(&*adapter, &host, &conversation));
        Event::Preflighted { pane, request, result }
    });
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
                "conversation {} is open elsewhere: {holder}; end it there, then resume again",
                conversation.id
            ),
        )),
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
    run(events, move |runtime| {
        let result = runtime.block_on(adapter.read_record(&named, source, &view, &*host));
        Event::RecordRead { instance: view.instance, witness, named: named.id, result }
    });
}

/// Anchors a live conversation.
pub(crate) fn anchor(
    adapter: Adapter,
    host: Arc<ProcHost>,
    conversation: Conversation,
    instance: InstanceId,
    events: mpsc::Sender<Event>,
) {
    run(events, move |runtime| {
        let result = runtime.block_on(adapter.anchor(&conversation, &*host));
        Event::Anchored { instance, id: conversation.id, result }
    });
}

/// Looks at an agent once.
pub(crate) fn look(
    adapter: Adapter,
    host: Arc<ProcHost>,
    view: InstanceView,
    events: mpsc::Sender<Event>,
) {
    run(events, move |runtime| {
        let reports = runtime.block_on(adapter.inspect(&view, &*host));
        Event::Looked { instance: view.instance, reports }
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
        let runtime = tokio::runtime::Handle::current();
        let instance = view.instance;
        let look = tokio::task::spawn_blocking(move || {
            let alive = host.process(view.pid).is_some_and(|p| p.start_ticks == view.start_ticks);
            (alive, runtime.block_on(adapter.inspect(&view, &*host)))
        });
        let Ok((alive, reports)) = look.await else {
            return;
        };
        if !alive {
            return;
        }
        if reports != last {
            last.clone_from(&reports);
            if events.send(Event::Looked { instance, reports }).await.is_err() {
                return;
            }
        }
    }
}

fn run<F>(events: mpsc::Sender<Event>, job: F)
where
    F: FnOnce(&tokio::runtime::Handle) -> Event + Send + 'static,
{
    let runtime = tokio::runtime::Handle::current();
    tokio::task::spawn_blocking(move || {
        let event = job(&runtime);
        // The loop is gone: nothing is left to be told.
        let _ = events.blocking_send(event);
    });
}
