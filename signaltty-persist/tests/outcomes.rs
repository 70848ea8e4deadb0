//! What a load makes of damaged and of edited files.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a failed step fails the test"
)]

mod common;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use signaltty_persist::fault::FaultFs;
use signaltty_persist::tail::{self, Tail};
use signaltty_persist::{Loaded, Problem, StateDir, load};

use common::files::{saved, tree};
use common::{open, open_fault, owner, pane_id, session, synced};

#[test]
fn d5_s0_33_a_missing_file_is_a_fresh_start() {
    let temporary = tempfile::tempdir().unwrap();
    assert_eq!(open(&temporary.path().join("a/b/state")).loaded, Loaded::Missing);
}

#[test]
fn d5_c004_an_empty_file_is_set_aside_and_named() {
    let (_temporary, path) = saved();
    fs::write(path.join("snapshot.json"), "").unwrap();
    let Loaded::EmptyFile { backup } = open(&path).loaded else { panic!("not noticed") };
    assert_eq!(fs::read(backup).unwrap(), b"");
    assert!(!path.join("snapshot.json").exists());
    assert_eq!(open(&path).loaded, Loaded::Missing);
}

#[test]
fn d5_s0_34_c007_damaged_files_are_kept_and_never_overwritten() {
    let (_temporary, path) = saved();
    let whole = fs::read(path.join("snapshot.json")).unwrap();
    let mut damaged: Vec<Vec<u8>> = vec![
        br#"{"version":1,"workspaces":["#.to_vec(),
        whole[..whole.len() / 2].to_vec(),
        vec![0; 4096],
        b"\xff\xfe\x00".to_vec(),
        b"[]".to_vec(),
        b"{}".to_vec(),
        b"null".to_vec(),
        br#"{"snapshot_version":1,"panes":7}"#.to_vec(),
        br#"{"snapshot_version":"one"}"#.to_vec(),
        br#"{"snapshot_version":0}"#.to_vec(),
        br#"{"snapshot_version":1,"workspaces":[1,2],"panes":[3]}"#.to_vec(),
        "[".repeat(200_000).into_bytes(),
        format!("{{\"snapshot_version\":1,\"x\":{}", "[".repeat(200_000)).into_bytes(),
    ];
    damaged.extend_from_within(..2);
    let mut backups = Vec::new();
    for bytes in &damaged {
        fs::write(path.join("snapshot.json"), bytes).unwrap();
        let mut opened = open(&path);
        let Loaded::Corrupt { backup, .. } = opened.loaded else {
            panic!("{:?} for {}", opened.loaded, String::from_utf8_lossy(&bytes[..20]))
        };
        assert_eq!(&fs::read(&backup).unwrap(), bytes);
        assert!(!backups.contains(&backup), "a new name each time");
        backups.push(backup);
        opened.store.save(synced(&session("fresh", &[2]))).unwrap();
        assert_eq!(
            tail::read(opened.store.dir(), pane_id(1)).unwrap(),
            Tail::Saved(b"tail\n".into())
        );
    }
    for (backup, bytes) in backups.iter().zip(&damaged) {
        assert_eq!(&fs::read(backup).unwrap(), bytes);
    }
}

#[test]
fn d5_an_edited_file_is_loaded_and_a_copy_is_kept_once() {
    let (_temporary, path) = saved();
    let file = path.join("snapshot.json");
    let edited = fs::read_to_string(&file).unwrap().replace("\"name\":\"api\"", "\"name\":\"API\"");
    fs::write(&file, &edited).unwrap();
    for _ in 0..3 {
        let Loaded::Snapshot { session, problems, kept, .. } = open(&path).loaded else {
            panic!("not loaded")
        };
        assert_eq!(&*session.workspaces[0].name, "API");
        assert_eq!(problems, [Problem::EditedOrDamaged]);
        assert_eq!(fs::read_to_string(kept.unwrap()).unwrap(), edited);
    }
    assert_eq!(fs::read_dir(path.join("corrupt")).unwrap().count(), 1);
    let mut opened = open(&path);
    opened.store.save(synced(&session("later", &[1]))).unwrap();
    let copy = path.join("corrupt/1-1.json");
    assert_eq!(fs::read_to_string(copy).unwrap(), edited, "the copy is not the live file");
}

#[test]
fn loading_twice_needs_no_store() {
    let (_temporary, path) = saved();
    let dir = StateDir::open(&path, &owner()).unwrap();
    let loaded = load(&dir).unwrap();
    assert_eq!(loaded, load(&dir).unwrap());
    assert!(matches!(loaded, Loaded::Snapshot { generation: 1, .. }));
}

#[test]
fn generations_stay_above_those_set_aside() {
    let fs = FaultFs::new();
    fs.put("snapshot.json", br#"{"snapshot_version":1,"generation":41,"panes":"#);
    let mut opened = open_fault(&fs);
    assert!(matches!(opened.loaded, Loaded::Corrupt { .. }));
    assert_eq!(opened.store.save(synced(&session("a", &[1]))).unwrap().generation, 42);
}

#[test]
fn s0_12_everything_is_for_its_owner_only() {
    let (_temporary, path) = saved();
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o7777;
    assert_eq!(mode(&path), 0o700);
    assert_eq!(mode(&path.join("history")), 0o700);
    for file in tree(&path).keys().filter(|path| path.is_file()) {
        assert_eq!(mode(file), 0o600, "{}", file.display());
    }
    assert_eq!(mode(&path.join("server.lock")), 0o600);
}
