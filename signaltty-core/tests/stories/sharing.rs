//! One conversation, one pane: whatever its place is called, and said at once
//! where an agent opens it a second time.

use std::path::Path;

use signaltty_core::agent::{Anchor, FileIdentity, Fingerprint, Relation};
use signaltty_core::env::ConfigEnv;
use signaltty_core::pane::Attention;
use signaltty_core::session::{Command, Input};

use crate::support::facts::{anchor, id};
use crate::support::words::{deeds, words};
use crate::support::{World, agent, pane, resume};

/// An agent that keeps its records in `home`, with a conversation of that file.
fn kept_in(world: &mut World, n: u8, home: &str, inode: u64) {
    let mut spec = agent("claude");
    spec.config_env =
        ConfigEnv::filter([("CLAUDE_CONFIG_DIR", home)], &["CLAUDE_CONFIG_DIR"], Path::new("/"));
    let instance = world.workspace(n, spec);
    world.shows(instance, "A");
    let result = Ok(in_file(home, inode));
    world.input(Input::Anchored { instance, id: id("A"), result });
    assert_eq!(world.conversation(n), "A");
}

fn in_file(home: &str, inode: u64) -> Anchor {
    let record = format!("{home}/A.jsonl").into();
    Anchor { record, file: Some(FileIdentity { device: 1, inode }), ..anchor("A", 1) }
}

fn found(home: &str, inode: u64) -> Fingerprint {
    Fingerprint::new(Relation::Extends, in_file(home, inode))
}

#[test]
fn d13_a_home_that_is_spelled_in_two_ways_is_one_home() {
    let mut world = World::new();
    kept_in(&mut world, 1, "/data", 7);
    kept_in(&mut world, 2, "/link-to-data", 7);
    world.crash();
    world.ask(resume(1));
    assert_eq!(deeds(&world.ask(resume(2))), ["err RESUME_REFUSED duplicate"]);
}

#[test]
fn d13_a_copied_home_holds_another_conversation() {
    let mut world = World::new();
    kept_in(&mut world, 1, "/data", 7);
    kept_in(&mut world, 2, "/copy", 8);
    world.crash();
    world.ask(resume(1));
    assert_eq!(deeds(&world.ask(resume(2))), ["preflight A"]);
}

#[test]
fn d13_a_file_whose_numbers_changed_is_told_by_the_look_before_the_start() {
    let mut world = World::new();
    kept_in(&mut world, 1, "/data", 7);
    kept_in(&mut world, 2, "/link-to-data", 8);
    world.crash();
    // Saved before and after the disk got another number.
    world.ask(resume(1));
    let started = world.preflight(1, Ok(found("/data", 9)));
    assert_eq!(deeds(&started).len(), 1);
    assert_eq!(deeds(&world.ask(resume(2))), ["preflight A"]);
    let effects = deeds(&world.preflight(2, Ok(found("/link-to-data", 9))));
    assert_eq!(effects, ["err RESUME_REFUSED duplicate"]);
    assert_eq!(world.conversation(2), "A");
}

#[test]
fn d13_a_second_pane_that_opens_a_conversation_is_told_of_at_once() {
    let mut world = World::new();
    let first = world.talking(1, "claude", "A");
    let second = world.talking(2, "claude", "B");
    let shared = |world: &World, n| world.pane(pane(n)).shared_with;
    assert_eq!((shared(&world, 1), shared(&world, 2)), (None, None));
    world.ask(Command::MarkSeen(pane(1)));
    // Picked from inside the agent.
    let told = words(&world.shows(second, "A"));
    assert!(told.contains(&"~conversation.shared".into()), "{told:?}");
    assert_eq!(shared(&world, 1), Some(pane(2)));
    assert_eq!(shared(&world, 2), Some(pane(1)));
    for n in [1, 2] {
        assert_eq!(world.pane(pane(n)).record.attention, Attention::Warning);
    }
    let again = words(&world.shows(second, "A"));
    assert!(!again.contains(&"~conversation.shared".into()), "once: {again:?}");
    world.anchored(second, "A", 2);
    assert_eq!(shared(&world, 1), Some(pane(2)));
    world.exit(first, 0);
    assert_eq!((shared(&world, 1), shared(&world, 2)), (None, None));
}
