//! Bodies of fuzz targets, as plain functions that a test can run too.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use signaltty_core::agent::{Anchor, Relation};
use signaltty_core::env::ConfigEnv;
use signaltty_core::id::InstanceId;

use crate::anchor::{Line, Scan};
use crate::{Adapters, HookReport, InstanceView, LaunchFacts, claude, codex, grok};

type ReadLine = fn(&[u8]) -> Line;

/// Takes the bytes as the record of an agent: the first says which agent, the
/// next two where it is damaged.
///
/// # Panics
///
/// If a record does not extend its own anchor, with and without more lines; if a
/// shorter one, or one with another byte before the anchored end, is taken for
/// the same; or if the scratch file cannot be written.
#[expect(clippy::expect_used, reason = "without its scratch file it can show nothing")]
pub fn fuzz_record(data: &[u8]) {
    let [agent, high, low, record @ ..] = data else {
        return;
    };
    let read_line: ReadLine = match agent % 3 {
        0 => claude::line::read,
        1 => codex::line::read,
        _ => grok::line::read,
    };
    let mut file = tempfile::NamedTempFile::new().expect("a scratch file");
    let mut put = |bytes: &[&[u8]]| {
        file.as_file().set_len(0).expect("the scratch file is emptied");
        std::io::Seek::rewind(&mut file).expect("the scratch file is rewound");
        for part in bytes {
            file.write_all(part).expect("the scratch file is written");
        }
        file.path().to_owned()
    };
    let path = put(&[record]);
    let Ok(anchor) = Scan::read(&path, None, read_line).map(Scan::first_anchor) else {
        return;
    };
    let Ok(anchor) = anchor else {
        return;
    };
    assert_eq!(compare(&path, &anchor, read_line), Some(Relation::Extends), "unchanged");

    let complete = record.iter().rposition(|&byte| byte == b'\n').map_or(0, |at| at + 1);
    let (kept, _) = record.split_at(complete);
    let path = put(&[kept, b"{}\n{"]);
    assert_eq!(compare(&path, &anchor, read_line), Some(Relation::Extends), "with another line");

    let at = usize::from(u16::from_be_bytes([*high, *low])) % kept.len().max(1);
    let (start, rest) = kept.split_at(at);
    let path = put(&[start]);
    assert_eq!(compare(&path, &anchor, read_line), None, "cut after {at} bytes");

    if let Some((byte, end)) = rest.split_first() {
        let path = put(&[start, &[byte ^ 1], end]);
        let relation = compare(&path, &anchor, read_line);
        assert_ne!(relation, Some(Relation::Extends), "byte {at} changed");
    }
}

fn compare(path: &Path, anchor: &Anchor, read_line: ReadLine) -> Option<Relation> {
    let scan = Scan::read(path, Some(anchor), read_line).ok()?;
    Some(scan.compare(anchor).ok()?.relation)
}

/// Takes the bytes as what an agent writes to its hook: the first says which
/// agent.
///
/// # Panics
///
/// If a report is not read the same way twice.
pub fn fuzz_hook(data: &[u8]) {
    let Some((agent, payload)) = data.split_first() else {
        return;
    };
    let adapters = Adapters::builtin();
    let count = adapters.iter().count().max(1);
    let Some(adapter) = adapters.iter().nth(usize::from(*agent) % count) else {
        return;
    };
    let view = InstanceView {
        instance: InstanceId::fake(1),
        pid: 100,
        start_ticks: 1,
        cwd: PathBuf::from("/work"),
        config_env: ConfigEnv::default(),
        facts: LaunchFacts::default(),
    };
    let report = HookReport { payload, view: &view };
    let first = adapter.read_report(view.instance, &report);
    let second = adapter.read_report(view.instance, &report);
    assert_eq!(format!("{first:?}"), format!("{second:?}"));
}
