//! A snapshot that is a link to a file elsewhere (C022).
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)]

mod common;

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::time::Duration;

use signaltty_persist::inspect::{SnapshotFound, inspect};
use signaltty_persist::schema::from_json;
use signaltty_persist::{Loaded, OpenError, Save, StateDir, Unsafe, history, restore};

use common::{open, owner, session, synced};

/// A state directory whose snapshot is a link, and where it leads.
fn linked(temporary: &Path) -> (PathBuf, PathBuf) {
    let (state, dot) = (temporary.join("state"), temporary.join("dot"));
    for dir in [&state, &dot] {
        fs::create_dir(dir).unwrap();
        fs::set_permissions(dir, fs::Permissions::from_mode(0o700)).unwrap();
    }
    symlink("../dot/s.json", state.join("snapshot.json")).unwrap();
    (state, dot.join("s.json"))
}

fn name_in(file: &Path) -> String {
    let session = from_json(&fs::read(file).unwrap()).unwrap().session;
    session.workspaces[0].name.to_string()
}

#[test]
fn c022_a_linked_snapshot_is_replaced_where_it_is_and_the_link_is_kept() {
    let temporary = tempfile::tempdir().unwrap();
    let (state, target) = linked(temporary.path());
    // One that a person moved there.
    let elsewhere = temporary.path().join("before");
    open(&elsewhere).store.save(synced(&session("moved", &[1]))).unwrap();
    fs::copy(elsewhere.join("snapshot.json"), &target).unwrap();

    let mut opened = open(&state);
    let Loaded::Snapshot { session: found, problems, .. } = &opened.loaded else {
        panic!("{:?}", opened.loaded);
    };
    assert_eq!((&*found.workspaces[0].name, problems.len()), ("moved", 0));
    let before = fs::metadata(&target).unwrap().ino();
    for (at, name) in ["one", "two"].into_iter().enumerate() {
        let session = session(name, &[1]);
        let now = Duration::from_secs(at as u64 * 3_600);
        opened.store.save(Save { now, ..synced(&session) }).unwrap();
    }
    assert!(state.join("snapshot.json").is_symlink(), "the link is kept");
    assert_eq!(name_in(&target), "two");
    assert_ne!(fs::metadata(&target).unwrap().ino(), before, "it was replaced, not written over");
    assert_eq!(fs::metadata(&target).unwrap().permissions().mode() & 0o777, 0o600);
    // Nothing else is left there, and the older ones are where they belong.
    assert_eq!(fs::read_dir(target.parent().unwrap()).unwrap().count(), 1);
    let kept = history(opened.store.dir()).unwrap();
    assert_eq!(kept.iter().map(|entry| name_in(&entry.path)).collect::<Vec<_>>(), ["moved", "one"]);
    let number = kept[1].generation;
    drop(opened);

    // Looking at it and going back work through the link, too.
    assert!(matches!(inspect(&state).unwrap().snapshot, SnapshotFound::Loaded { .. }));
    restore(&StateDir::open(&state, &owner()).unwrap(), number).unwrap();
    assert_eq!(name_in(&target), "one");
    assert!(state.join("snapshot.json").is_symlink());
}

#[test]
fn c022_the_first_save_through_a_link_makes_its_target() {
    let temporary = tempfile::tempdir().unwrap();
    let (state, target) = linked(temporary.path());
    fs::write(target.with_file_name(".s.json.tmp-1-1"), "of a killed server").unwrap();
    fs::write(target.with_file_name(".tmp-1-1"), "somebody else's").unwrap();
    let mut opened = open(&state);
    assert_eq!(opened.loaded, Loaded::Missing);
    opened.store.save(synced(&session("first", &[1]))).unwrap();
    assert_eq!(name_in(&target), "first");
    let mut names: Vec<_> = fs::read_dir(target.parent().unwrap())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    assert_eq!(names, [".tmp-1-1", "s.json"]);
}

#[test]
fn c022_a_damaged_target_is_set_aside_with_the_state() {
    let temporary = tempfile::tempdir().unwrap();
    let (state, target) = linked(temporary.path());
    fs::write(&target, "{\"snapshot_version\":1,").unwrap();
    let mut opened = open(&state);
    let Loaded::Corrupt { backup, .. } = &opened.loaded else { panic!("{:?}", opened.loaded) };
    assert!(backup.starts_with(state.canonicalize().unwrap().join("corrupt")));
    assert_eq!(fs::read(backup).unwrap(), b"{\"snapshot_version\":1,");
    opened.store.save(synced(&session("next", &[1]))).unwrap();
    assert_eq!(name_in(&target), "next");
}

#[test]
fn c022_links_in_a_circle_or_to_where_others_write_are_refused() {
    let temporary = tempfile::tempdir().unwrap();
    let (state, target) = linked(temporary.path());
    symlink(state.join("snapshot.json"), &target).unwrap();
    let error = StateDir::open(&state, &owner()).unwrap_err();
    assert!(error.to_string().contains("snapshot.json"), "{error}");
    assert!(error.to_string().contains("circle"), "{error}");

    fs::remove_file(&target).unwrap();
    fs::set_permissions(target.parent().unwrap(), fs::Permissions::from_mode(0o777)).unwrap();
    let error = StateDir::open(&state, &owner()).unwrap_err();
    assert!(matches!(error, OpenError::Unsafe { why: Unsafe::Writable { .. }, .. }), "{error}");

    fs::remove_dir(target.parent().unwrap()).unwrap();
    let error = StateDir::open(&state, &owner()).unwrap_err();
    assert!(error.to_string().contains("snapshot.json"), "{error}");
    assert_eq!(fs::read_dir(&state).unwrap().count(), 1, "nothing was made");
}
