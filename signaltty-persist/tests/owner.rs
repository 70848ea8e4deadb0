//! One owner for a state directory.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a failed step fails the test"
)]

mod common;

use std::fs;
use std::os::unix::fs::{PermissionsExt, chown, symlink};
use std::path::Path;

use signaltty_core::time::UnixMillis;
use signaltty_persist::{Durability, Loaded, OpenError, Owner, Save, StateDir, Unsafe};

use common::{files, open, owner, session, synced};

#[test]
fn c011_inv_p7_a_second_opener_learns_who_has_it_and_changes_nothing() {
    let temporary = tempfile::tempdir().unwrap();
    let path = temporary.path().join("state");
    let mut first = open(&path);
    first.store.save(synced(&session("api", &[1]))).unwrap();
    let before: Vec<_> = fs::read_dir(&path)
        .unwrap()
        .map(|entry| fs::read(entry.unwrap().path()).unwrap_or_default())
        .collect();
    let second = Owner { pid: 1, started_at: UnixMillis(2), socket: None };
    let error = StateDir::open(&path, &second).unwrap_err();
    assert!(matches!(error, OpenError::Held { .. }), "{error}");
    let text = error.to_string();
    assert!(text.contains("process 4242") && text.contains("/run/user/1/signaltty.sock"), "{text}");
    let after: Vec<_> = fs::read_dir(&path)
        .unwrap()
        .map(|entry| fs::read(entry.unwrap().path()).unwrap_or_default())
        .collect();
    assert_eq!(before, after);
    drop(first);
    assert!(matches!(open(&path).loaded, Loaded::Snapshot { .. }));
}

#[test]
fn inv_p7_a_lock_file_that_was_removed_excludes_as_well() {
    let temporary = tempfile::tempdir().unwrap();
    let _first = StateDir::open(temporary.path(), &owner()).unwrap();
    fs::remove_file(temporary.path().join("server.lock")).unwrap();
    let second = StateDir::open(temporary.path(), &owner());
    assert!(matches!(second, Err(OpenError::Held { .. })));
}

#[test]
fn rubbish_in_the_lock_file_is_not_believed() {
    let temporary = tempfile::tempdir().unwrap();
    let _first = StateDir::open(temporary.path(), &owner()).unwrap();
    fs::write(temporary.path().join("server.lock"), "not what it was").unwrap();
    let OpenError::Held { holder, .. } = StateDir::open(temporary.path(), &owner()).unwrap_err()
    else {
        panic!("not held")
    };
    assert_eq!(holder.pid, None);
}

#[test]
fn directories_that_others_could_change_are_refused() {
    let temporary = tempfile::tempdir().unwrap();
    let parent = temporary.path().join("parent");
    let path = parent.join("state");
    fs::create_dir_all(&path).unwrap();
    let set = |path: &Path, mode| {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    };
    let cases = [
        (0o700, 0o770, false),
        (0o700, 0o702, false),
        (0o700, 0o1777, false),
        (0o770, 0o770, false),
        (0o777, 0o700, false),
        (0o1777, 0o700, true),
        (0o755, 0o755, true),
    ];
    for (above, below, safe) in cases {
        set(&parent, above);
        set(&path, below);
        match StateDir::open(&path, &owner()) {
            Ok(_) => assert!(safe, "{above:o} {below:o}"),
            Err(OpenError::Unsafe { why: Unsafe::Writable { .. }, .. }) => {
                assert!(!safe, "{above:o} {below:o}");
            }
            Err(error) => panic!("{above:o} {below:o}: {error}"),
        }
    }
}

#[test]
fn a_directory_above_may_be_writable_for_the_users_own_group() {
    let temporary = tempfile::tempdir().unwrap();
    let parent = temporary.path().join(".local");
    fs::create_dir(&parent).unwrap();
    fs::set_permissions(&parent, fs::Permissions::from_mode(0o775)).unwrap();
    let own = rustix::process::getegid().as_raw();
    chown(&parent, None, Some(own)).unwrap();
    StateDir::open(&parent.join("made/state"), &owner()).unwrap();

    // Only who belongs to another group, or root, can give a directory to it.
    let mut others = rustix::process::getgroups().unwrap().into_iter().map(|group| group.as_raw());
    let real = rustix::process::getgid().as_raw();
    let other = others.find(|group| *group != own && *group != real).unwrap_or(own + 1);
    if chown(&parent, None, Some(other)).is_ok() {
        let error = StateDir::open(&parent.join("made/state"), &owner()).unwrap_err().to_string();
        let parent = parent.canonicalize().unwrap();
        let remedy = format!("run `chmod g-w {}`, or choose another directory", parent.display());
        assert!(error.contains("mode 775") && error.contains(&remedy), "{error}");
    }
}

/// Modes do not bind root, so this thread becomes somebody else for it.
#[test]
fn a_directory_that_cannot_be_written_to_is_refused_and_stays_as_it_is() {
    let temporary = tempfile::tempdir().unwrap();
    let path = temporary.path().join("state");
    let mut saved = open(&path);
    saved.store.save(synced(&session("api", &[1]))).unwrap();
    drop(saved);
    if rustix::process::geteuid().is_root() {
        const NOBODY: u32 = 65_534;
        let below = files::tree(&path).into_keys();
        for path in below.chain([path.clone(), path.join("server.lock")]) {
            chown(&path, Some(NOBODY), Some(NOBODY)).unwrap();
        }
        let (root, nobody) = (rustix::process::Uid::ROOT, rustix::process::Uid::from_raw(NOBODY));
        fs::set_permissions(temporary.path(), fs::Permissions::from_mode(0o755)).unwrap();
        rustix::thread::set_thread_res_uid(root, nobody, root).unwrap();
    }
    fs::set_permissions(&path, fs::Permissions::from_mode(0o500)).unwrap();
    let before = files::tree(&path);
    let error = StateDir::open(&path, &owner()).unwrap_err();
    assert!(matches!(error, OpenError::ReadOnly(_)), "{error:?}");
    let text = error.to_string();
    assert!(text.contains("write to") && text.contains("make it writable"), "{text}");
    assert_eq!(files::tree(&path), before);
    fs::set_permissions(&path, fs::Permissions::from_mode(0o700)).unwrap();
    StateDir::open(&path, &owner()).unwrap();
}

#[test]
fn nothing_is_made_where_others_can_write() {
    let temporary = tempfile::tempdir().unwrap();
    let open_to_all = temporary.path().join("open");
    fs::create_dir(&open_to_all).unwrap();
    fs::set_permissions(&open_to_all, fs::Permissions::from_mode(0o777)).unwrap();
    let error = StateDir::open(&open_to_all.join("a/b"), &owner()).unwrap_err();
    assert!(matches!(error, OpenError::Unsafe { why: Unsafe::Writable { .. }, .. }), "{error}");
    assert_eq!(fs::read_dir(&open_to_all).unwrap().count(), 0);
}

#[test]
fn c022_a_link_to_the_directory_is_resolved_once_and_kept() {
    let temporary = tempfile::tempdir().unwrap();
    let real = temporary.path().join("real");
    let link = temporary.path().join("link");
    fs::create_dir(&real).unwrap();
    fs::set_permissions(&real, fs::Permissions::from_mode(0o700)).unwrap();
    symlink("real", &link).unwrap();
    let mut opened = open(&link);
    opened.store.save(synced(&session("api", &[1]))).unwrap();
    assert_eq!(opened.store.dir().path(), real.canonicalize().unwrap());
    assert!(link.is_symlink() && real.join("snapshot.json").is_file());

    // Later changes of the link have no effect.
    fs::remove_file(&link).unwrap();
    symlink("elsewhere", &link).unwrap();
    let changed = session("changed", &[1]);
    opened.store.save(Save { durability: Durability::Relaxed, ..synced(&changed) }).unwrap();
    assert!(fs::read_to_string(real.join("snapshot.json")).unwrap().contains("changed"));
}

#[test]
fn c022_links_that_lead_nowhere_are_errors() {
    let temporary = tempfile::tempdir().unwrap();
    let dangling = temporary.path().join("dangling");
    symlink("nowhere", &dangling).unwrap();
    let circle = temporary.path().join("circle");
    symlink("circle", &circle).unwrap();
    for path in [dangling, circle] {
        let error = StateDir::open(&path, &owner()).unwrap_err();
        assert!(matches!(error, OpenError::Path(_)), "{error}");
        assert!(error.to_string().contains(path.to_str().unwrap()), "{error}");
    }
    assert_eq!(fs::read_dir(temporary.path()).unwrap().count(), 2, "nothing was made");
}

#[test]
fn a_path_that_is_too_long_is_said_to_be() {
    let temporary = tempfile::tempdir().unwrap();
    let long = temporary.path().join("x".repeat(300));
    assert!(matches!(StateDir::open(&long, &owner()), Err(OpenError::TooLong(_))));
}

#[test]
fn a_file_in_the_place_of_the_directory_is_an_error() {
    let temporary = tempfile::tempdir().unwrap();
    let path = temporary.path().join("state");
    fs::write(&path, "mine").unwrap();
    assert!(matches!(StateDir::open(&path, &owner()), Err(OpenError::Path(_))));
    assert_eq!(fs::read(&path).unwrap(), b"mine");
}
