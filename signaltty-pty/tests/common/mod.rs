//! What the tests with real children share.

#![allow(dead_code)]

use std::ffi::OsString;
use std::future::Future;
use std::time::Duration;

use signaltty_pty::{AsyncPty, Child, READ_BUFFER, Size, SpawnSpec, spawn};
use tokio::time::{Instant, timeout};

/// Long enough for a loaded machine; no passing test waits this long.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// Runs `test` on a runtime of its own.
pub(crate) fn run<T>(test: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async { timeout(PATIENCE, test).await.expect("the test hangs") })
}

pub(crate) fn spec(argv: &[&str]) -> SpawnSpec {
    SpawnSpec {
        argv: argv.iter().map(OsString::from).collect(),
        cwd: "/".into(),
        env: vec![("PATH".into(), "/usr/bin:/bin:/usr/sbin:/sbin".into())],
        size: Size::new(93, 31),
    }
}

pub(crate) fn sh(script: &str) -> SpawnSpec {
    spec(&["sh", "-c", script])
}

/// Starts a child and registers its terminal; needs a runtime.
pub(crate) fn start(spec: &SpawnSpec) -> (AsyncPty, Child) {
    let (pty, child) = spawn(spec).unwrap();
    (pty.register().unwrap(), child)
}

/// Reads until `needle` was seen, and returns all that was read.
pub(crate) async fn read_until(pty: &AsyncPty, needle: &str) -> String {
    let mut seen = Vec::new();
    let mut buffer = vec![0; READ_BUFFER];
    loop {
        let text = String::from_utf8_lossy(&seen);
        if text.contains(needle) {
            return text.into_owned();
        }
        let count = pty.read(&mut buffer).await.unwrap();
        assert!(count > 0, "end of file before {needle:?}: {text:?}");
        seen.extend_from_slice(&buffer[..count]);
    }
}

/// Reads to the end of file.
pub(crate) async fn read_all(pty: &AsyncPty) -> String {
    let mut seen = Vec::new();
    let mut buffer = vec![0; READ_BUFFER];
    loop {
        match pty.read(&mut buffer).await.unwrap() {
            0 => return String::from_utf8(seen).unwrap(),
            count => seen.extend_from_slice(&buffer[..count]),
        }
    }
}

/// Runs a script to its end and returns the lines it wrote.
pub(crate) async fn output(spec: &SpawnSpec) -> Vec<String> {
    let (pty, child) = start(spec);
    let text = read_all(&pty).await;
    assert!(child.wait().await.unwrap().success(), "{text}");
    text.lines().map(str::to_owned).collect()
}

pub(crate) async fn write(pty: &AsyncPty, text: &str) {
    pty.write_all_with(text.as_bytes(), Instant::now() + PATIENCE).await.unwrap();
}
