//! What the documentation must not keep quiet about.

#[test]
fn s0_32_the_limits_are_documented() {
    let page = include_str!("../../../docs/service.md");
    let section = page.split("\n## Host shutdown\n").nth(1).unwrap();
    let section = section.split("\n## ").next().unwrap();
    let limits = section.split("\n### Limits\n").nth(1).unwrap();
    for limit in [
        "loss of power",
        "SIGKILL",
        "--force poweroff",
        "InhibitDelayMaxSec",
        "logout",
        "KillUserProcesses",
        "TimeoutStopSec",
        "Processes do not survive",
    ] {
        assert!(limits.contains(limit), "{limit}");
    }
}
