//! OpenCode's own server, in the process of the pane.
//!
//! Nothing is believed, and no password sent, before the connection was seen to
//! end in a process of the instance. Whose record is read is said by the core,
//! and only after the channel was reported; a look names no conversation but
//! those that a turn runs in.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::io::Read;
use std::net::SocketAddrV4;
use std::sync::Arc;
use std::time::Duration;

use serde::de::{DeserializeOwned, DeserializeSeed, IgnoredAny, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use signaltty_core::agent::{
    AgentReport, AgentSessionId, Conversation, Fingerprint, RecordRead, Witness, WitnessSource,
};
use signaltty_core::pane::{Attention, Lifecycle};
use signaltty_core::restore::{FailureCode, Refusal};
use signaltty_core::session::{ContinueFailure, Delivery};

use super::events::Events;
use super::launch::{PASSWORD, PORT, USER};
use super::record;
use crate::anchor::{MAX_MESSAGES, Rows};
use crate::loopback::{Answer, AskError, Bounds, Endpoint};
use crate::preflight;
use crate::{AgentHost, AgentSpec, InstanceView};

/// What the instance shows: that its channel is there, and in which
/// conversations a turn runs.
pub(super) fn inspect(
    spec: &AgentSpec,
    events: &Arc<Events>,
    view: &InstanceView,
    host: &dyn AgentHost,
) -> Vec<AgentReport> {
    let Some(channel) = Channel::of(view, host) else {
        return Vec::new();
    };
    // What cannot be asked now is asked at the next look.
    let Ok(statuses) = channel.json::<BTreeMap<String, Status>>("/session/status") else {
        return Vec::new();
    };
    let working: Vec<_> = statuses
        .iter()
        .filter(|(_, status)| status.kind != "idle")
        .filter_map(|(id, _)| spec.id_form.parse(id).ok())
        .take(MAX_TURNS)
        .collect();
    let turns = channel.turns_of_persons(&working).unwrap_or_default();
    let last = events.front(
        view.instance,
        spec.id_form,
        || channel.ask("/event", LOOK),
        |id| channel.turns_of_persons(std::slice::from_ref(id)).ok(),
    );
    let Ok(last) = last else {
        return Vec::new();
    };
    let asked = channel.json::<Vec<IgnoredAny>>("/permission").is_ok_and(|all| !all.is_empty());
    let (lifecycle, attention) = match (asked, working.is_empty()) {
        (true, _) => (Lifecycle::Blocked, Some(Attention::PermissionRequired)),
        (false, false) => (Lifecycle::Working, Some(Attention::None)),
        // Being idle does not say that nothing new is to be seen.
        (false, true) => (Lifecycle::Idle, None),
    };
    let witness = |source, sessions, detail: String| Witness {
        instance: view.instance,
        source,
        sessions,
        loaded: None,
        detail: detail.into(),
        record: RecordRead::Pending,
    };
    let detail = format!(
        "the server of process {} on port {} answers; which conversation its screen or another \
         opencode has taken from a list is not seen",
        view.pid,
        channel.port()
    );
    let mut reports = vec![AgentReport {
        witness: Some(witness(WitnessSource::Channel, [].into(), detail)),
        lifecycle: Some(lifecycle),
        attention,
        accepted_prompt: !working.is_empty() || last.is_some(),
        // Idle is what it was before as well, so the turn is told by its number.
        finished: last
            .as_ref()
            .filter(|_| lifecycle == Lifecycle::Idle)
            .and_then(|last| Some(format!("{} {}", last.id, last.ended?).into())),
        ..AgentReport::default()
    }];
    // A turn that is over belongs to this process as well.
    let over = turns.is_empty() && working.is_empty();
    let (turns, works) = match last {
        Some(last) if over => ([last.id].into(), "worked last"),
        _ => (turns, "works"),
    };
    if !turns.is_empty() {
        let ids: Vec<_> = turns.iter().map(AgentSessionId::as_str).collect();
        let detail = format!("process {} {works} on {}", view.pid, ids.join(", "));
        let witness = Some(witness(WitnessSource::Turn, turns, detail));
        reports.push(AgentReport { witness, ..AgentReport::default() });
    }
    reports
}

/// Reads a conversation's record as this process has it.
pub(super) fn read(
    named: &Conversation,
    view: &InstanceView,
    host: &dyn AgentHost,
) -> Result<Fingerprint, Refusal> {
    let anchor = preflight::anchor_of(named)?;
    let Some(channel) = Channel::of(view, host) else {
        return Err(silent("this launch of opencode has no server of ours, or has ended"));
    };
    let place = format!("process {}", view.pid);
    let about = channel.ask(&format!("/session/{}", named.id), LOOK).map_err(silent)?;
    let about: Session = match about.status {
        200 => parse(about).map_err(silent)?,
        404 => return Err(record::gone(named, &place)),
        status => return Err(silent(format!("opencode's server answers {status}"))),
    };
    if about.id != named.id.as_str() {
        let other = crate::text::one_line(&about.id).unwrap_or_default();
        return Err(Refusal::new(
            FailureCode::Damaged,
            format!("asked for {}, opencode gave {other}", named.id),
        ));
    }
    record::in_its_directory(named, &about.directory)?;
    let messages = channel.ask(&format!("/session/{}/message", named.id), RECORD);
    let messages = messages.map_err(silent)?;
    if messages.status != 200 {
        return Err(silent(format!("opencode's server answers {}", messages.status)));
    }
    let mut rows = Rows::new(format!("of {} in {place}", named.id), named.anchor.as_ref());
    let mut input = serde_json::Deserializer::from_reader(messages.body());
    Messages(&mut rows).deserialize(&mut input).map_err(silent)?;
    rows.compare(anchor, anchor.record.clone(), anchor.file)
}

/// Gives the conversation our prompt, addressed to it by its id. What cannot
/// have arrived is an error; what may have is waited for.
pub(super) fn prompt(
    id: &AgentSessionId,
    view: &InstanceView,
    host: &dyn AgentHost,
) -> Result<Delivery, ContinueFailure> {
    let Some(channel) = Channel::of(view, host) else {
        return Err(ContinueFailure::Ended);
    };
    let part = serde_json::json!({"type": "text", "text": crate::PROMPT});
    let body = serde_json::json!({ "parts": [part] }).to_string();
    let path = format!("/session/{id}/prompt_async");
    let ours = |client: SocketAddrV4, server: SocketAddrV4| {
        channel.host.holds_connection(&channel.pids, client, server)
    };
    match channel.endpoint.post(&path, &body, RECORD, &ours) {
        Ok(answer) if (200..300).contains(&answer.status) => Ok(Delivery::Accepted),
        Ok(answer) => {
            let why = format!("opencode's server refused the prompt with {}", answer.status);
            Err(ContinueFailure::Refused(why.into()))
        }
        Err((_, true)) => Ok(Delivery::Sent),
        Err((error, false)) => Err(ContinueFailure::Refused(error.to_string().into())),
    }
}

/// The channel of one instance.
struct Channel<'a> {
    endpoint: Endpoint<'a>,
    pids: Vec<u32>,
    host: &'a dyn AgentHost,
}

impl<'a> Channel<'a> {
    /// The channel, if the launch has one and its process still lives.
    fn of(view: &'a InstanceView, host: &'a dyn AgentHost) -> Option<Self> {
        let endpoint = Endpoint {
            port: view.facts.get(PORT)?.parse().ok()?,
            user: view.facts.get(USER)?,
            password: view.facts.get(PASSWORD)?,
        };
        let tree = host.tree(view.pid);
        // Else the process is not the one that was started: its number came
        // again.
        let ours = tree.first().is_some_and(|root| root.start_ticks == view.start_ticks);
        let pids = tree.iter().map(|process| process.pid).collect();
        ours.then_some(Self { endpoint, pids, host })
    }

    fn port(&self) -> u16 {
        self.endpoint.port
    }

    fn ask(&self, path: &str, bounds: Bounds) -> Result<Answer, AskError> {
        let ours = |client: SocketAddrV4, server: SocketAddrV4| {
            self.host.holds_connection(&self.pids, client, server)
        };
        self.endpoint.get(path, bounds, &ours)
    }

    /// Those of the conversations that are a person's: a turn of a subagent runs
    /// in a conversation of its own, below the person's. All or nothing, since
    /// one that is left out would make another the only one.
    fn turns_of_persons(
        &self,
        working: &[AgentSessionId],
    ) -> Result<BTreeSet<AgentSessionId>, String> {
        let mut persons = BTreeSet::new();
        for id in working {
            let about: Session = self.json(&format!("/session/{id}"))?;
            if about.parent.is_none() {
                persons.insert(id.clone());
            }
        }
        Ok(persons)
    }

    fn json<T: DeserializeOwned>(&self, path: &str) -> Result<T, String> {
        let answer = self.ask(path, LOOK).map_err(|error| error.to_string())?;
        match answer.status {
            200 => parse(answer),
            status => Err(format!("opencode's server answers {status}")),
        }
    }
}

fn parse<T: DeserializeOwned>(answer: Answer) -> Result<T, String> {
    let mut text = String::new();
    answer.body().read_to_string(&mut text).map_err(|error| error.to_string())?;
    serde_json::from_str(&text).map_err(|error| error.to_string())
}

/// The refusal for what could not be asked, which says nothing of the record.
fn silent(why: impl fmt::Display) -> Refusal {
    Refusal::new(
        FailureCode::Unreadable,
        format!("opencode's record could not be asked for: {why}"),
    )
}

#[derive(Deserialize)]
struct Status {
    #[serde(rename = "type")]
    kind: String,
}

#[derive(Deserialize)]
struct Session {
    id: String,
    directory: String,
    #[serde(rename = "parentID")]
    parent: Option<String>,
}

/// One message. Its parts, which may be large, are skipped while they arrive.
#[derive(Deserialize)]
struct Message {
    info: Info,
}

#[derive(Deserialize)]
struct Info {
    id: String,
    role: String,
}

/// Walks through a list of messages without keeping them.
struct Messages<'a>(&'a mut Rows);

impl<'de> DeserializeSeed<'de> for Messages<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<(), D::Error> {
        from.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for Messages<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of messages")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        while let Some(Message { info }) = list.next_element()? {
            self.0.message(&info.id, info.role == "user");
            if self.0.messages() > MAX_MESSAGES as u64 {
                return Err(serde::de::Error::custom("too many messages"));
            }
        }
        Ok(())
    }
}

/// Of one question of a look. A busy machine may need seconds, and the answer is
/// then still the one of a moment at which a turn ran.
const LOOK: Bounds = Bounds { time: Duration::from_secs(5), bytes: 1 << 20 };

/// Of a whole record, with the output of every tool in it.
const RECORD: Bounds = Bounds { time: Duration::from_secs(20), bytes: 1 << 30 };

/// The most turns at a time that are looked at.
const MAX_TURNS: usize = 16;
