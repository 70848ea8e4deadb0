//! The table of verdicts.
#![allow(clippy::unwrap_used, clippy::panic, reason = "test code")]

use std::path::PathBuf;
use std::time::Duration;

use signaltty_core::agent::{
    AgentPolicy, AgentSessionId, Anchor, Contradiction, Conversation, Extent, Fingerprint,
    LoadedRule, Moment, RecordRead, Relation, Verdict, Witness, WitnessSource, judge,
};
use signaltty_core::env::ConfigEnv;
use signaltty_core::id::InstanceId;
use signaltty_core::restore::{FailureCode, Refusal};

use Moment::{Deadline, Waiting};
use WitnessSource::{FreshStart, HeldLock, LiveRegistry, StartReport};

const A: &str = "saved";
const Z: &str = "other";

#[derive(Debug, PartialEq)]
enum Short {
    Verified(&'static str),
    Unconfirmed,
    Other,
    Empty,
    Record(FailureCode),
}

/// A witness of our instance: source, shown ids, loaded, and how its record was
/// read.
type Seen<'a> = (WitnessSource, &'a [&'a str], Option<u64>, Read<'a>);

#[derive(Clone, Copy)]
enum Read<'a> {
    Pending,
    Fits(&'a str, Relation),
    Refused(&'a str, FailureCode),
}

const EXTENDS: Read<'static> = Read::Fits(A, Relation::Extends);

const SOUND: Option<Relation> = Some(Relation::Extends);

fn id(text: &str) -> AgentSessionId {
    text.parse().unwrap()
}

fn found(relation: Relation) -> Fingerprint {
    Fingerprint {
        relation,
        now: Anchor {
            record: PathBuf::from("/record"),
            file: None,
            extent: Extent::Lines {
                bytes: 1,
                sha256: [0; 32],
            },
            last_message: None,
            user_messages: 1,
            base: None,
        },
    }
}

fn witness(instance: InstanceId, (source, shown, loaded, read): Seen<'_>) -> Witness {
    Witness {
        instance,
        source,
        sessions: shown.iter().map(|text| id(text)).collect(),
        loaded,
        detail: "".into(),
        record: match read {
            Read::Pending => RecordRead::Pending,
            Read::Fits(named, relation) => RecordRead::Done {
                named: id(named),
                result: Ok(found(relation)),
            },
            Read::Refused(named, code) => RecordRead::Done {
                named: id(named),
                result: Err(Refusal::new(code, "")),
            },
        },
    }
}

fn verdict(policy: &AgentPolicy, before: Option<Relation>, seen: &[Seen<'_>], at: Moment) -> Short {
    let ours = InstanceId::fake(1);
    let witnesses: Vec<_> = seen.iter().map(|one| witness(ours, *one)).collect();
    short(policy, before, &witnesses, at)
}

fn short(
    policy: &AgentPolicy,
    before: Option<Relation>,
    witnesses: &[Witness],
    at: Moment,
) -> Short {
    let saved = Conversation {
        id: id(A),
        cwd: PathBuf::from("/work"),
        config_env: ConfigEnv::default(),
        anchor: Some(found(Relation::Extends).now),
        previous: None,
    };
    let ours = InstanceId::fake(1);
    let before = before.map(found);
    match judge(&saved, before.as_ref(), policy, ours, witnesses, at) {
        Verdict::Verified(session) => {
            assert_eq!(session.instance(), ours);
            Short::Verified(if session.id().as_str() == A { A } else { Z })
        }
        Verdict::Unconfirmed => Short::Unconfirmed,
        Verdict::Contradicted(Contradiction::Other { .. }) => Short::Other,
        Verdict::Contradicted(Contradiction::EmptyHistory) => Short::Empty,
        Verdict::Contradicted(Contradiction::Record(refusal)) => Short::Record(refusal.code),
        Verdict::Contradicted(other) => panic!("{other:?}"),
    }
}

fn policy(required: &[WitnessSource], loaded: LoadedRule) -> AgentPolicy {
    AgentPolicy::new(required.to_vec(), loaded, Duration::from_secs(10))
}

fn claude() -> AgentPolicy {
    policy(&[LiveRegistry, StartReport], LoadedRule::Required)
}

#[test]
fn s1_15_two_sources_and_a_history_are_needed() {
    let listed = (LiveRegistry, &[A][..], None, EXTENDS);
    let reported = (StartReport, &[A][..], Some(15), EXTENDS);
    let no_history = (StartReport, &[A][..], None, EXTENDS);
    let table: &[(&[Seen<'_>], Short)] = &[
        (&[], Short::Unconfirmed),
        (&[listed], Short::Unconfirmed),
        (&[reported], Short::Unconfirmed),
        (&[listed, no_history], Short::Unconfirmed),
        (&[listed, reported], Short::Verified(A)),
        (&[reported, listed], Short::Verified(A)),
        // What it said last counts.
        (&[listed, reported, no_history], Short::Unconfirmed),
        (&[listed, no_history, reported], Short::Verified(A)),
    ];
    for (at, (seen, expected)) in table.iter().enumerate() {
        for moment in [Waiting, Deadline] {
            assert_eq!(
                verdict(&claude(), SOUND, seen, moment),
                *expected,
                "row {at}"
            );
        }
    }
}

#[test]
fn c032_fresh_starts_never_count() {
    let listed = (LiveRegistry, &[A][..], None, EXTENDS);
    let reported = (StartReport, &[A][..], Some(15), EXTENDS);
    let fresh = (
        FreshStart,
        &[Z][..],
        None,
        Read::Refused(Z, FailureCode::Gone),
    );
    let fresh_same = (FreshStart, &[A][..], Some(15), EXTENDS);
    for seen in [
        [fresh, reported, listed],
        [reported, fresh, listed],
        [reported, listed, fresh],
    ] {
        for moment in [Waiting, Deadline] {
            assert_eq!(verdict(&claude(), SOUND, &seen, moment), Short::Verified(A));
        }
    }
    let alone = [fresh_same, listed];
    assert_eq!(
        verdict(&claude(), SOUND, &alone, Deadline),
        Short::Unconfirmed
    );
    assert_eq!(
        verdict(&claude(), SOUND, &[fresh], Deadline),
        Short::Unconfirmed
    );
}

#[test]
fn c043_other_ids_contradict_at_the_deadline_only() {
    let demo = policy(&[LiveRegistry], LoadedRule::Required);
    let other = (
        LiveRegistry,
        &[Z][..],
        Some(0),
        Read::Refused(Z, FailureCode::Gone),
    );
    let unread = (LiveRegistry, &[Z][..], Some(0), Read::Pending);
    let ours = (LiveRegistry, &[A][..], Some(4), EXTENDS);
    let both = (LiveRegistry, &[A, Z][..], Some(4), EXTENDS);
    let table: &[(&[Seen<'_>], Short, Short)] = &[
        (&[other], Short::Unconfirmed, Short::Other),
        // Nobody looked at its record: it may extend the saved one.
        (&[unread], Short::Unconfirmed, Short::Unconfirmed),
        (&[other, ours], Short::Verified(A), Short::Verified(A)),
        (&[ours, other], Short::Unconfirmed, Short::Other),
        (&[both], Short::Verified(A), Short::Verified(A)),
    ];
    for (at, (seen, waiting, deadline)) in table.iter().enumerate() {
        assert_eq!(verdict(&demo, SOUND, seen, Waiting), *waiting, "row {at}");
        assert_eq!(verdict(&demo, SOUND, seen, Deadline), *deadline, "row {at}");
    }
}

#[test]
fn d3_the_same_id_is_not_the_same_conversation() {
    let demo = policy(&[LiveRegistry], LoadedRule::Required);
    let refused = |code| (Read::Refused(A, code), Short::Record(code));
    let reads = [
        refused(FailureCode::Damaged),
        refused(FailureCode::Gone),
        refused(FailureCode::Rewritten),
        (
            Read::Refused(A, FailureCode::Unreadable),
            Short::Unconfirmed,
        ),
        (Read::Fits(A, Relation::Rewritten), Short::Unconfirmed),
        (Read::Fits(Z, Relation::Extends), Short::Unconfirmed),
        (Read::Pending, Short::Unconfirmed),
    ];
    for (at, (read, expected)) in reads.into_iter().enumerate() {
        let seen = [(LiveRegistry, &[A][..], Some(4), read)];
        assert_eq!(verdict(&demo, SOUND, &seen, Waiting), expected, "row {at}");
        assert_eq!(verdict(&demo, SOUND, &seen, Deadline), expected, "row {at}");
    }
    let empty = [(LiveRegistry, &[A][..], Some(0), EXTENDS)];
    assert_eq!(verdict(&demo, SOUND, &empty, Waiting), Short::Empty);
}

#[test]
fn c046_a_new_id_is_the_saved_conversation_only_with_its_record() {
    let demo = policy(&[LiveRegistry], LoadedRule::NotReported);
    let shows = |shown, relation| (LiveRegistry, shown, None, Read::Fits(Z, relation));
    let rotated = [shows(&[Z][..], Relation::Extends)];
    assert_eq!(verdict(&demo, SOUND, &rotated, Waiting), Short::Verified(Z));
    let rewritten = [shows(&[Z][..], Relation::Rewritten)];
    assert_eq!(verdict(&demo, SOUND, &rewritten, Deadline), Short::Other);
    // Among several ids nobody knows which one the record stands for.
    let among = [shows(&["third", Z][..], Relation::Extends)];
    assert_eq!(verdict(&demo, SOUND, &among, Waiting), Short::Unconfirmed);
    // Two sources must mean the same one.
    let split = [
        (LiveRegistry, &[A][..], None, EXTENDS),
        (HeldLock, &[Z][..], None, Read::Fits(Z, Relation::Extends)),
    ];
    let both = policy(&[LiveRegistry, HeldLock], LoadedRule::NotReported);
    assert_eq!(verdict(&both, SOUND, &split, Deadline), Short::Unconfirmed);
}

#[test]
fn s1_14_an_agent_that_shows_nothing_is_never_verified() {
    let unprovable = AgentPolicy::unprovable(Duration::from_secs(1));
    let seen = [(LiveRegistry, &[A][..], Some(4), EXTENDS)];
    assert_eq!(
        verdict(&unprovable, SOUND, &seen, Deadline),
        Short::Unconfirmed
    );
}

#[test]
fn d2_nothing_is_proven_without_a_sound_preflight() {
    let demo = policy(&[LiveRegistry], LoadedRule::Required);
    let seen = [(LiveRegistry, &[A][..], Some(4), EXTENDS)];
    for before in [None, Some(Relation::Rewritten)] {
        assert_eq!(verdict(&demo, before, &seen, Deadline), Short::Unconfirmed);
    }
}

#[test]
fn c118_witnesses_of_another_instance_are_nothing() {
    let demo = policy(&[LiveRegistry], LoadedRule::Required);
    let theirs = InstanceId::fake(2);
    for seen in [
        (LiveRegistry, &[A][..], Some(4), EXTENDS),
        (LiveRegistry, &[A][..], Some(0), EXTENDS),
        (
            LiveRegistry,
            &[Z][..],
            Some(4),
            Read::Refused(Z, FailureCode::Gone),
        ),
    ] {
        let witnesses = [witness(theirs, seen)];
        assert_eq!(
            short(&demo, SOUND, &witnesses, Deadline),
            Short::Unconfirmed
        );
    }
}
