//! Witnesses to verdict, a table per rule of [`judge`].
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    missing_docs,
    unreachable_pub,
    dead_code
)]

mod support;

use std::time::Duration;

use signaltty_core::agent::{
    AgentPolicy, Contradiction, Conversation, Fingerprint, LoadedRule, Moment, RecordRead,
    Relation, Verdict, Witness, WitnessSource, judge,
};
use signaltty_core::env::ConfigEnv;
use signaltty_core::id::InstanceId;
use signaltty_core::restore::{FailureCode, Refusal};

use Moment::{Deadline, Waiting};
use WitnessSource::{Channel, HeldLock, LiveRegistry, StartReport};
use support::facts::{anchor, extends, id, refusal, witness};
use support::{World, new_workspace, shell, spawn_of};

/// Two instances, which only a session can name.
fn instances() -> (InstanceId, InstanceId) {
    let mut world = World::new();
    let ours = spawn_of(&world.ask(new_workspace(1, shell())));
    let other = spawn_of(&world.ask(new_workspace(2, shell())));
    (ours, other)
}

fn saved() -> Conversation {
    Conversation {
        id: id("A"),
        cwd: "/work".into(),
        config_env: ConfigEnv::default(),
        anchor: Some(anchor("A", 1)),
        previous: None,
    }
}

fn policy(required: &[WitnessSource], loaded: LoadedRule) -> AgentPolicy {
    AgentPolicy::new(required.to_vec(), loaded, Duration::from_secs(10))
}

fn seen(source: WitnessSource, shows: &[&str]) -> Witness {
    witness(instances().0, source, shows)
}

fn read(witness: Witness, named: &str, result: Result<Fingerprint, Refusal>) -> Witness {
    let named = id(named);
    Witness { record: RecordRead::Done { named, result }, ..witness }
}

/// A witness whose record extends the saved one.
fn sound(source: WitnessSource, name: &str) -> Witness {
    read(seen(source, &[name]), name, Ok(extends(name, 1)))
}

fn loaded(witness: Witness, loaded: u64) -> Witness {
    Witness { loaded: Some(loaded), ..witness }
}

fn rewritten() -> Fingerprint {
    Fingerprint { relation: Relation::Rewritten, ..extends("A", 1) }
}

/// One source is required and the preflight was sound.
fn check(witnesses: &[Witness], waiting: &str, deadline: &str) {
    let one = policy(&[LiveRegistry], LoadedRule::NotReported);
    check_with(&one, Some(&extends("A", 1)), witnesses, waiting, deadline);
}

#[track_caller]
fn check_with(
    policy: &AgentPolicy,
    before: Option<&Fingerprint>,
    witnesses: &[Witness],
    waiting: &str,
    deadline: &str,
) {
    let running = instances().0;
    for (moment, expected) in [(Waiting, waiting), (Deadline, deadline)] {
        let verdict = judge(&saved(), before, policy, running, witnesses, moment);
        let word = match verdict {
            Verdict::Verified(session) => {
                assert_eq!(session.instance(), running);
                format!("verified {}", session.id())
            }
            Verdict::Unconfirmed => "unconfirmed".into(),
            Verdict::Contradicted(Contradiction::Other { seen }) => {
                let seen: Vec<_> = seen.iter().map(|id| id.as_str()).collect();
                format!("other {}", seen.join(" "))
            }
            Verdict::Contradicted(Contradiction::EmptyHistory) => "empty".into(),
            Verdict::Contradicted(Contradiction::Record(refusal)) => {
                format!("record {}", refusal.code)
            }
            Verdict::Contradicted(other) => panic!("{other}"),
        };
        assert_eq!(word, expected, "{moment:?}");
    }
}

#[test]
fn s1_13_a_witness_and_its_record_prove_the_conversation() {
    check(&[sound(LiveRegistry, "A")], "verified A", "verified A");
}

#[test]
fn s1_13_nothing_is_proven_before_the_record_is_read_again() {
    check(&[seen(LiveRegistry, &["A"])], "unconfirmed", "unconfirmed");
}

#[test]
fn s1_13_no_witness_no_verdict() {
    check(&[], "unconfirmed", "unconfirmed");
    check(&[seen(LiveRegistry, &[])], "unconfirmed", "unconfirmed");
}

#[test]
fn s1_14_an_agent_without_required_sources_is_never_judged() {
    let none = AgentPolicy::unprovable(Duration::from_secs(10));
    let before = extends("A", 1);
    for shown in ["A", "Z"] {
        let witnesses = [sound(LiveRegistry, shown), sound(StartReport, shown)];
        check_with(&none, Some(&before), &witnesses, "unconfirmed", "unconfirmed");
    }
}

#[test]
fn s1_15_a_missing_required_source_waits_and_then_stays_unconfirmed() {
    let two = policy(&[HeldLock, StartReport], LoadedRule::NotReported);
    let before = extends("A", 1);
    let lock = sound(HeldLock, "A");
    let wait = [lock.clone()];
    check_with(&two, Some(&before), &wait, "unconfirmed", "unconfirmed");
    let both = [lock.clone(), sound(StartReport, "A")];
    check_with(&two, Some(&before), &both, "verified A", "verified A");
    // Twice the same source is one witness.
    let twice = [lock.clone(), lock];
    check_with(&two, Some(&before), &twice, "unconfirmed", "unconfirmed");
}

#[test]
fn s1_15_a_source_that_the_policy_does_not_ask_for_says_nothing() {
    check(&[sound(Channel, "A")], "unconfirmed", "unconfirmed");
    let gone = read(seen(Channel, &["Z"]), "Z", Err(refusal(FailureCode::Gone)));
    check(&[gone], "unconfirmed", "unconfirmed");
}

#[test]
fn t3_c2_s1_20_only_other_ids_contradict_at_the_deadline_and_not_before() {
    let fresh = read(seen(LiveRegistry, &["Z"]), "Z", Err(refusal(FailureCode::Gone)));
    check(&[fresh], "unconfirmed", "other Z");
    let mut two = seen(LiveRegistry, &["Y", "Z"]);
    two.record = RecordRead::Done { named: id("Y"), result: Err(refusal(FailureCode::Gone)) };
    check(&[two], "unconfirmed", "other Y Z");
}

#[test]
fn s1_20_an_unread_record_at_the_deadline_contradicts_nothing() {
    check(&[seen(LiveRegistry, &["Z"])], "unconfirmed", "unconfirmed");
}

#[test]
fn s1_28_an_echo_over_an_empty_history_is_contradicted() {
    // The id and the record are right, and the agent loaded nothing.
    let rule = policy(&[LiveRegistry], LoadedRule::Required);
    let before = extends("A", 1);
    let echo = [loaded(sound(LiveRegistry, "A"), 0)];
    check_with(&rule, Some(&before), &echo, "empty", "empty");
    check(&echo, "empty", "empty");
    // The record is read first, since it says more, but not for ever.
    let unread = [loaded(seen(LiveRegistry, &["A"]), 0)];
    check(&unread, "unconfirmed", "empty");
}

#[test]
fn s1_28_an_agent_that_must_say_what_it_loaded_is_waited_for() {
    let rule = policy(&[LiveRegistry], LoadedRule::Required);
    let before = extends("A", 1);
    let silent = [sound(LiveRegistry, "A")];
    check_with(&rule, Some(&before), &silent, "unconfirmed", "unconfirmed");
    let says = [loaded(sound(LiveRegistry, "A"), 3)];
    check_with(&rule, Some(&before), &says, "verified A", "verified A");
}

#[test]
fn s1_01_of_a_record_without_an_answer_nothing_need_be_said_to_be_loaded() {
    let rule = policy(&[LiveRegistry], LoadedRule::Required);
    let before = Fingerprint { unanswered: true, ..extends("A", 1) };
    let silent = [sound(LiveRegistry, "A")];
    check_with(&rule, Some(&before), &silent, "verified A", "verified A");
    // The record is what proves it then, and it is needed.
    let unread = [seen(LiveRegistry, &["A"])];
    check_with(&rule, Some(&before), &unread, "unconfirmed", "unconfirmed");
    let empty = [loaded(sound(LiveRegistry, "A"), 0)];
    check_with(&rule, Some(&before), &empty, "empty", "empty");
}

#[test]
fn s1_28_a_rotated_id_over_an_empty_history_is_not_verified() {
    let empty = [loaded(sound(LiveRegistry, "B"), 0)];
    check(&empty, "unconfirmed", "other B");
}

#[test]
fn s1_28_the_right_id_over_a_record_that_is_gone_or_damaged_is_contradicted() {
    for code in [FailureCode::Gone, FailureCode::Damaged, FailureCode::Rewritten] {
        let bad = read(seen(LiveRegistry, &["A"]), "A", Err(refusal(code)));
        let word = format!("record {code}");
        check(&[bad], &word, &word);
    }
}

#[test]
fn s1_28_a_record_that_cannot_be_read_decides_nothing() {
    for code in [FailureCode::Unreadable, FailureCode::Busy] {
        let unread = read(seen(LiveRegistry, &["A"]), "A", Err(refusal(code)));
        check(&[unread], "unconfirmed", "unconfirmed");
    }
    let by_hand = read(seen(LiveRegistry, &["A"]), "A", Ok(rewritten()));
    check(&[by_hand], "unconfirmed", "unconfirmed");
}

#[test]
fn s1_28_a_record_that_the_witness_does_not_name_proves_nothing() {
    let foreign = read(seen(LiveRegistry, &["Z"]), "A", Ok(extends("A", 1)));
    check(&[foreign], "unconfirmed", "other Z");
}

#[test]
fn c032_t3_c3_transient_ids_while_starting_are_no_mismatch() {
    let start = read(seen(LiveRegistry, &["Z"]), "Z", Err(refusal(FailureCode::Gone)));
    let then = [start.clone(), sound(LiveRegistry, "A")];
    check(&then, "verified A", "verified A");
    // The noise of hooks does not count where the registry is asked.
    let noise = Witness { source: StartReport, ..start };
    for order in [[noise.clone(), sound(LiveRegistry, "A")], [sound(LiveRegistry, "A"), noise]] {
        check(&order, "verified A", "verified A");
    }
}

#[test]
fn c032_the_latest_look_of_a_source_counts() {
    // It had the conversation open and went on to another one.
    let left = read(seen(LiveRegistry, &["Z"]), "Z", Err(refusal(FailureCode::Gone)));
    check(&[sound(LiveRegistry, "A"), left], "unconfirmed", "other Z");
}

#[test]
fn c043_what_another_instance_shows_says_nothing() {
    let other = Witness { instance: instances().1, ..sound(LiveRegistry, "A") };
    check(std::slice::from_ref(&other), "unconfirmed", "unconfirmed");
    let bad = read(other, "A", Err(refusal(FailureCode::Damaged)));
    check(&[bad], "unconfirmed", "unconfirmed");
}

#[test]
fn c043_an_override_is_never_verified() {
    let one = policy(&[LiveRegistry], LoadedRule::NotReported);
    let right = [sound(LiveRegistry, "A")];
    check_with(&one, None, &right, "unconfirmed", "unconfirmed");
    let rewritten = rewritten();
    check_with(&one, Some(&rewritten), &right, "unconfirmed", "unconfirmed");
    // Nor contradicted by what the person was shown and wanted all the same.
    let empty = [loaded(sound(LiveRegistry, "A"), 0)];
    check_with(&one, None, &empty, "unconfirmed", "unconfirmed");
}

#[test]
fn d2_a_set_with_the_saved_id_supports() {
    let two = read(seen(LiveRegistry, &["A", "Z"]), "A", Ok(extends("A", 1)));
    check(&[two], "verified A", "verified A");
    let bad = read(seen(LiveRegistry, &["A", "Z"]), "A", Err(refusal(FailureCode::Damaged)));
    check(&[bad], "record damaged", "record damaged");
    // Which of two strange ids is in front is not known.
    let strange = read(seen(LiveRegistry, &["B", "C"]), "B", Ok(extends("B", 1)));
    check(&[strange], "unconfirmed", "other B C");
}

#[test]
fn d2_a_record_that_extends_the_saved_one_proves_it_under_a_new_id() {
    check(&[sound(LiveRegistry, "B")], "verified B", "verified B");
}

#[test]
fn d2_sources_that_name_different_ids_prove_nothing() {
    let two = policy(&[HeldLock, StartReport], LoadedRule::NotReported);
    let before = extends("A", 1);
    let split = [sound(HeldLock, "A"), sound(StartReport, "B")];
    check_with(&two, Some(&before), &split, "unconfirmed", "unconfirmed");
}

#[test]
fn d2_one_source_against_stops_what_another_supports() {
    let two = policy(&[HeldLock, StartReport], LoadedRule::NotReported);
    let before = extends("A", 1);
    let mixed = [
        sound(HeldLock, "A"),
        read(seen(StartReport, &["A"]), "A", Err(refusal(FailureCode::Damaged))),
    ];
    check_with(&two, Some(&before), &mixed, "record damaged", "record damaged");
}

#[test]
fn d2_an_addressed_channel_is_judged_by_the_record_of_the_saved_id() {
    let rule = policy(&[Channel], LoadedRule::NotReported);
    let before = extends("A", 1);
    let asked = |named: &str, result| [read(seen(Channel, &[]), named, result)];
    for (witnesses, word) in [
        (asked("A", Ok(extends("A", 1))), "verified A"),
        // Another conversation's record is no answer, whatever it holds.
        (asked("Z", Ok(extends("A", 1))), "unconfirmed"),
        (asked("A", Ok(rewritten())), "unconfirmed"),
        (asked("A", Err(refusal(FailureCode::Unreadable))), "unconfirmed"),
        (asked("A", Err(refusal(FailureCode::Gone))), "record gone"),
        (asked("A", Err(refusal(FailureCode::Damaged))), "record damaged"),
        ([seen(Channel, &[])], "unconfirmed"),
    ] {
        check_with(&rule, Some(&before), &witnesses, word, word);
    }
    // Only a channel may show nothing.
    let registry = [read(seen(LiveRegistry, &[]), "A", Ok(extends("A", 1)))];
    check(&registry, "unconfirmed", "unconfirmed");
}
