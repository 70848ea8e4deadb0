//! The same over a real message bus, in a process of its own.

use std::path::Path;
use std::process::Stdio;

use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};
use zbus::fdo::DBusProxy;
use zbus::message::Message;

use super::*;
use crate::proxy::{MANAGER, PATH, PREPARE_FOR_SHUTDOWN};
use crate::watch;

/// Starts a bus that ends with the test; nothing where there is no `dbus-daemon`.
async fn start_bus(address: &str) -> Option<Child> {
    let child = Command::new("dbus-daemon")
        .args(["--session", "--nofork", "--nopidfile", "--print-address"])
        .arg(format!("--address={address}"))
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .kill_on_drop(true)
        .spawn();
    let mut child = match child {
        Ok(child) => child,
        Err(error) => {
            eprintln!("skipped: dbus-daemon cannot be started: {error}");
            return None;
        }
    };
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let line = within(lines.next_line()).await.unwrap();
    assert!(line.is_some_and(|line| line.starts_with("unix:")), "the bus did not start");
    Some(child)
}

fn address(folder: &Path) -> String {
    format!("unix:path={}", folder.join("bus").display())
}

async fn reach(watch: &ShutdownWatch, wanted: &Status) {
    let mut statuses = watch.statuses();
    within(statuses.wait_for(|status| status == wanted)).await.unwrap();
}

/// Sends the notice straight to everybody, as any program on the bus may.
async fn forge(address: &str) {
    let forger = Builder::address(address).build().await.unwrap();
    let names = DBusProxy::new(&forger).await.unwrap().list_names().await.unwrap();
    for name in names.iter().filter(|name| name.as_str().starts_with(':')) {
        let notice = Message::signal(PATH, MANAGER, PREPARE_FOR_SHUTDOWN)
            .destination(name.as_str())
            .build(&true)
            .unwrap();
        forger.send(&notice).await.unwrap();
    }
    // An answer from the bus: it has passed everything on that came before.
    DBusProxy::new(&forger).await.unwrap().get_id().await.unwrap();
}

fn is_close_on_exec(descriptor: i32) -> bool {
    let info = std::fs::read_to_string(format!("/proc/self/fdinfo/{descriptor}")).unwrap();
    let flags = info.lines().find_map(|line| line.strip_prefix("flags:")).unwrap();
    u32::from_str_radix(flags.trim(), 8).unwrap() & 0o2_000_000 != 0
}

#[tokio::test]
async fn s0_25_on_a_real_bus_the_lock_is_held_until_it_is_dropped() {
    let folder = tempfile::tempdir().unwrap();
    let address = address(folder.path());
    let Some(_bus) = start_bus(&address).await else { return };
    let mut fake = FakeLogind::join(&address).await.unwrap();
    let mut watch = watch(WatchConfig::new(true).with_address(address.clone()));
    reach(&watch, &Status::Armed).await;
    assert_eq!(fake.held(), 1);

    forge(&address).await;
    fake.signal(false).await;
    assert_eq!(watch.status(), Status::Armed);

    fake.prepare(true).await;
    let shutdown = within(watch.next()).await;
    let hold = shutdown.hold.as_ref().expect("the forged notice did not take the lock");
    assert!(is_close_on_exec(hold.number()), "a child would keep the host waiting");
    assert_eq!(fake.held(), 1);
    drop(shutdown);
    assert!(within(fake.until(|event| *event == Event::Released)).await);
}

#[tokio::test]
async fn s0_29_on_a_real_bus_a_restart_of_the_bus_is_survived() {
    let folder = tempfile::tempdir().unwrap();
    let address = address(folder.path());
    let Some(mut bus) = start_bus(&address).await else { return };
    let before = FakeLogind::join(&address).await.unwrap();
    let mut watch = watch(WatchConfig::new(true).with_address(address.clone()));
    reach(&watch, &Status::Armed).await;

    within(bus.kill()).await.unwrap();
    let mut statuses = watch.statuses();
    within(statuses.wait_for(|status| matches!(status, Status::Retrying { .. }))).await.unwrap();
    assert_eq!(before.held(), 1);
    std::fs::remove_file(folder.path().join("bus")).unwrap();
    let _bus = start_bus(&address).await.unwrap();
    let after = FakeLogind::join(&address).await.unwrap();
    reach(&watch, &Status::Armed).await;
    assert_eq!((before.held(), after.held()), (0, 1));

    after.prepare(true).await;
    assert!(within(watch.next()).await.hold.is_some());
}
