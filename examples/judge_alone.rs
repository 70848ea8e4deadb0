//! Judges evidence without a session: which conversation does a process have
//! open?
//!
//! Run it with `cargo run -p signaltty-core --features testing --example judge_alone`.
//! The feature makes a process id that no session gave; everything else is the
//! ordinary interface.

use std::time::Duration;

use signaltty_core::agent::{
    AgentPolicy, AgentSessionId, Anchor, Conversation, Extent, Fingerprint, LoadedRule, Moment,
    NameError, RecordRead, Relation, Verdict, Witness, WitnessSource, judge,
};
use signaltty_core::env::ConfigEnv;
use signaltty_core::id::InstanceId;
use signaltty_core::restore::{FailureCode, Refusal};

fn main() -> Result<(), NameError> {
    let running = InstanceId::fake(7);
    let saved = Conversation {
        id: "11111111-aaaa".parse()?,
        cwd: "/home/me/api".into(),
        config_env: ConfigEnv::default(),
        anchor: Some(record(3)),
        previous: None,
    };
    let policy = AgentPolicy::new(
        vec![WitnessSource::LiveRegistry],
        LoadedRule::NotReported,
        Duration::from_secs(10),
    );
    // What a preflight found before the process was started.
    let before = Fingerprint::new(Relation::Extends, record(3));

    let mut witness = Witness {
        instance: running,
        source: WitnessSource::LiveRegistry,
        sessions: [saved.id.clone()].into(),
        loaded: None,
        detail: "the agent lists the session as running".into(),
        record: RecordRead::Pending,
    };
    let ask = |what: &str, witness: &Witness, moment| {
        let witnesses = std::slice::from_ref(witness);
        let verdict = judge(&saved, Some(&before), &policy, running, witnesses, moment);
        say(&format!("{what:<38} {}", word(&verdict)));
    };
    ask("it names the saved conversation", &witness, Moment::Waiting);
    let read = Fingerprint::new(Relation::Extends, record(4));
    witness.record = RecordRead::Done { named: saved.id.clone(), result: Ok(read) };
    ask("and its record extends the saved one", &witness, Moment::Waiting);

    let other: AgentSessionId = "22222222-bbbb".parse()?;
    let unlike = Refusal::new(FailureCode::Damaged, "its record does not begin with the saved one");
    witness.sessions = [other.clone()].into();
    witness.record = RecordRead::Done { named: other, result: Err(unlike) };
    ask("it names another one", &witness, Moment::Waiting);
    ask("and still does at the deadline", &witness, Moment::Deadline);
    Ok(())
}

fn word(verdict: &Verdict) -> String {
    match verdict {
        Verdict::Verified(session) => format!("verified: {}", session.id()),
        Verdict::Unconfirmed => "unconfirmed".to_owned(),
        Verdict::Contradicted(why) => format!("contradicted: {why}"),
    }
}

/// An agent's record with so many messages of the person.
fn record(user_messages: u64) -> Anchor {
    Anchor {
        record: "/home/me/.agent/11111111-aaaa.jsonl".into(),
        file: None,
        extent: Extent::Lines { bytes: user_messages * 512, sha256: [0; 32] },
        last_message: None,
        user_messages,
        base: None,
    }
}

#[expect(clippy::print_stdout, reason = "an example shows what it does")]
fn say(line: &str) {
    println!("{line}");
}
