//! Keeps a session on disk with `signaltty-persist`, and takes it back.
//!
//! Run it with `cargo run -p signaltty-persist --example keep_state -- DIR`.

use std::error::Error;
use std::path::PathBuf;
use std::time::Duration;

use signaltty_core::saved::SavedSession;
use signaltty_core::time::UnixMillis;
use signaltty_persist::{Durability, Loaded, Owner, Program, Save, StateDir, Store};

fn main() -> Result<(), Box<dyn Error>> {
    let path = PathBuf::from(std::env::args_os().nth(1).ok_or("say in which directory")?);
    let owner = Owner { pid: std::process::id(), started_at: UnixMillis(0), socket: None };
    // Locked from here on; a second one is refused and changes nothing.
    let dir = StateDir::open(&path, &owner)?;
    let program = Program { version: "1.0".to_owned(), protocol: 1 };
    let mut opened = Store::open(dir, program)?;
    let session = match opened.loaded {
        Loaded::Missing => {
            say("nothing was saved yet");
            SavedSession::default()
        }
        Loaded::Snapshot { session, generation, problems, .. } => {
            say(&format!("generation {generation}, {} problems", problems.len()));
            session
        }
        other => {
            say(&format!("set aside: {other:?}"));
            SavedSession::default()
        }
    };
    let session = SavedSession { saved_at: UnixMillis(1_800_000_000_000), ..session };
    let report = opened.store.save(Save {
        session: &session,
        durability: Durability::Synced,
        tails: &[],
        closed: &[],
        now: Duration::ZERO,
    })?;
    say(&format!("saved as generation {}, durable: {}", report.generation, report.durable));
    Ok(())
}

#[expect(clippy::print_stdout, reason = "an example shows what it does")]
fn say(line: &str) {
    println!("{line}");
}
