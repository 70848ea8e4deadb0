//! Files that must stay as they are, and files that are none.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a failed step fails the test"
)]

mod common;

use std::fs;
use std::os::unix::fs::symlink;

use signaltty_persist::schema::MAX_BYTES;
use signaltty_persist::{Corruption, LoadError, Loaded};

use common::files::{saved, tree, try_open};
use common::open;

#[test]
fn d5_s0_35_c026_a_future_version_leaves_every_file_as_it_is() {
    let (_temporary, path) = saved();
    let bodies = [
        r#"{"snapshot_version":999,"universe":{"panes":{"a":[1,{"b":null}]}}}"#,
        r#"{"universe":[[[]]],"snapshot_version":999}"#,
        r#"{"snapshot_version":999,"generation":"text", broken"#,
        r#"{"snapshot_version":1,"snapshot_version":999}"#,
        // A later program may count otherwise.
        r#"{"snapshot_version":999.0,"panes":[]}"#,
        r#"{"snapshot_version":998.5}"#,
        r#"{"snapshot_version":"999"}"#,
    ];
    fs::write(path.join(".tmp-1-1"), "left behind").unwrap();
    for body in bodies {
        fs::write(path.join("snapshot.json"), body).unwrap();
        let before = tree(&path);
        let error = try_open(&path).unwrap_err();
        let text = error.to_string();
        assert!(matches!(error, LoadError::FutureVersion { found: 999, supported: 1, .. }));
        for part in ["999", "1", path.join("snapshot.json").to_str().unwrap()] {
            assert!(text.contains(part), "{text}");
        }
        assert_eq!(tree(&path), before);
    }
    fs::write(path.join("snapshot.json"), r#"{"snapshot_version":99999999999999999999999}"#)
        .unwrap();
    let before = tree(&path);
    let error = try_open(&path).unwrap_err();
    assert!(matches!(error, LoadError::FutureVersion { found: u64::MAX, .. }), "{error:?}");
    assert_eq!(tree(&path), before);
}

#[test]
fn d5_c026_a_file_of_another_program_leaves_every_file_as_it_is() {
    let (_temporary, path) = saved();
    fs::write(path.join("snapshot.json"), r#"{"version":9999,"workspaces":[{"panes":[1,2]}]}"#)
        .unwrap();
    let before = tree(&path);
    let error = try_open(&path).unwrap_err();
    assert!(matches!(error, LoadError::Foreign { .. }), "{error}");
    assert_eq!(tree(&path), before);
}

#[test]
fn c019_a_huge_file_is_set_aside_without_being_parsed() {
    let (_temporary, path) = saved();
    let file = fs::File::create(path.join("snapshot.json")).unwrap();
    file.set_len(300 << 20).unwrap();
    drop(file);
    let Loaded::Corrupt { backup, reason } = open(&path).loaded else { panic!("not noticed") };
    assert_eq!(reason, Corruption::TooLarge { limit: MAX_BYTES });
    assert_eq!(fs::metadata(backup).unwrap().len(), 300 << 20);

    // Its version counts all the same.
    let mut future = br#"{"snapshot_version":2,"x":""#.to_vec();
    future.resize(MAX_BYTES + 10, b' ');
    fs::write(path.join("snapshot.json"), &future).unwrap();
    assert!(matches!(try_open(&path), Err(LoadError::FutureVersion { found: 2, .. })));
}

#[test]
fn s0_34_things_that_are_no_files_neither_hang_nor_disappear() {
    let (_temporary, path) = saved();
    let file = path.join("snapshot.json");
    let good = path.join("elsewhere.json");
    fs::rename(&file, &good).unwrap();
    let fifo = || {
        let cwd = rustix::fs::CWD;
        let mode = rustix::fs::Mode::from_raw_mode(0o600);
        rustix::fs::mknodat(cwd, &file, rustix::fs::FileType::Fifo, mode, 0).unwrap();
    };
    let places: [(&str, &dyn Fn()); 3] = [
        ("fifo", &fifo),
        ("directory", &|| fs::create_dir(&file).unwrap()),
        // Made after the start, so that it is not the person's way of keeping it.
        ("link to a device", &|| symlink("/dev/zero", &file).unwrap()),
    ];
    for (what, place) in places {
        place();
        let before = tree(&path);
        let error = try_open(&path).unwrap_err();
        assert!(matches!(error, LoadError::Unreadable(_)), "{what}: {error}");
        assert!(error.to_string().contains("snapshot.json"), "{what}: {error}");
        assert_eq!(tree(&path), before, "{what}");
        assert!(file.symlink_metadata().is_ok(), "{what} is still there");
        if what == "directory" {
            fs::remove_dir(&file).unwrap();
        } else {
            fs::remove_file(&file).unwrap();
        }
    }
}
