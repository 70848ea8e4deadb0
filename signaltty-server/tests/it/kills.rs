//! SIGKILL at random moments: whatever the server was doing, the next one loads
//! without a problem, and nothing that is older than the promised window is
//! lost.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use serde_json::json;

use crate::support::process::wait_gone;
use crate::support::random::Random;
use crate::support::{Home, Server};

/// A change is on the disk two seconds after it was made, plus one save: a save
/// that starts later than that would be late. One save may wait a second for the
/// output of busy panes, and its writes and syncs share a loaded machine with
/// this test's other servers; two seconds are far beyond both, and far below
/// what a lost debounce would cost, as the changes go on without a pause.
const WINDOW: Duration = Duration::from_secs(4);

/// The longest life of one server: some changes of its own are beyond the
/// window, and many kills fall into its first saves.
const LIFE: Duration = Duration::from_millis(5_500);

/// Panes at most; then changes are renames only.
const PANES: usize = 10;

/// States that are worked on at the same time.
const LANES: usize = 3;

/// What a pane was called, and when that was acknowledged. The first entry says
/// that the pane exists.
type Titles = Vec<(Option<Instant>, String)>;

#[test]
fn d6_inv_p1_a_kill_at_any_moment_loses_only_the_last_window() {
    let rounds = std::env::var("SIGNALTTY_KILL_ROUNDS").map_or(12, |text| text.parse().unwrap());
    let mut random = Random::from_env("SIGNALTTY_KILL_SEED");
    // Most of a round is waiting, so a few run at a time, each on its own state.
    std::thread::scope(|scope| {
        for lane in 0..LANES {
            let random = random.another();
            let rounds = (rounds + lane) / LANES;
            scope.spawn(move || kill_again_and_again(rounds, random));
        }
    });
}

fn kill_again_and_again(rounds: usize, mut random: Random) {
    let home = Home::new();
    let mut known: BTreeMap<String, Titles> = BTreeMap::new();
    for round in 0..rounds {
        let mut server = Server::start(&home);
        check(&home, &server, &mut known, round);
        // Changes of earlier rounds were checked: they are on the disk.
        let end = Instant::now() + random.up_to(LIFE);
        let mut step = 0;
        while Instant::now() < end {
            step += 1;
            change(&server, &home, &mut known, &mut random, &format!("{round}.{step}"));
        }
        let children = server.children();
        let killed = Instant::now();
        server.kill9();
        wait_gone(&children);
        for titles in known.values_mut() {
            forget_late(titles, killed);
        }
    }
    let server = Server::start(&home);
    check(&home, &server, &mut known, rounds);
}

/// Renames a pane, or splits one.
fn change(
    server: &Server,
    home: &Home,
    known: &mut BTreeMap<String, Titles>,
    random: &mut Random,
    title: &str,
) {
    let argv = json!(["/bin/sleep", "1000"]);
    if known.is_empty() {
        let made = server.ask("workspace.new", json!({"cwd": home.work(), "argv": argv}));
        let pane = made["pane_id"].as_str().unwrap().to_owned();
        known.insert(pane, vec![(Some(Instant::now()), "sleep".to_owned())]);
        return;
    }
    let pane = known.keys().nth(random.below(known.len())).unwrap().clone();
    if known.len() < PANES && random.below(4) == 0 {
        let direction = ["left", "right", "up", "down"][random.below(4)];
        let ask = json!({"pane": pane, "direction": direction, "argv": argv, "cwd": home.work()});
        match server.call("pane.split", ask) {
            Ok(made) => {
                let pane = made["pane_id"].as_str().unwrap().to_owned();
                known.insert(pane, vec![(Some(Instant::now()), "sleep".to_owned())]);
            }
            Err(failure) => assert_eq!(failure.code, "NO_ROOM", "{}", failure.message),
        }
    } else {
        server.ask("pane.rename", json!({"pane": pane, "title": title}));
        let titles = known.get_mut(&pane).unwrap();
        titles.push((Some(Instant::now()), title.to_owned()));
    }
}

/// Marks what had its time to be saved: such entries lose their moment.
fn forget_late(titles: &mut Titles, killed: Instant) {
    for (at, _) in titles {
        if at.is_some_and(|at| killed.saturating_duration_since(at) > WINDOW) {
            *at = None;
        }
    }
}

/// Compares a server that just started with what is known, and takes over what
/// it has.
fn check(home: &Home, server: &Server, known: &mut BTreeMap<String, Titles>, round: usize) {
    let status = server.status();
    assert_eq!(status["problems"], json!([]), "round {round}");
    assert!(server.children().is_empty(), "round {round}");
    // S0-2: what a save left behind half-written is swept away.
    for path in home.files().keys() {
        let name = path.file_name().unwrap().to_string_lossy();
        assert!(!name.starts_with(".tmp-"), "round {round}: {name} stayed");
    }
    let found: BTreeMap<String, String> = server
        .panes()
        .iter()
        .map(|pane| {
            assert_eq!(pane["state"], "restored", "round {round}");
            let text = |key: &str| pane[key].as_str().unwrap().to_owned();
            (text("id"), text("title"))
        })
        .collect();
    for (pane, titles) in &*known {
        let saved = titles.iter().rposition(|(at, _)| at.is_none());
        match (found.get(pane), saved) {
            (None, None) => {}
            (None, Some(_)) => panic!("round {round}: {pane} is lost"),
            (Some(title), saved) => {
                let allowed = &titles[saved.unwrap_or(0)..];
                assert!(
                    allowed.iter().any(|(_, allowed)| allowed == title),
                    "round {round}: {pane} is called {title:?}, not one of {allowed:?}"
                );
            }
        }
    }
    for pane in found.keys() {
        assert!(known.contains_key(pane), "round {round}: {pane} came from nowhere");
    }
    *known = found.into_iter().map(|(pane, title)| (pane, vec![(None, title)])).collect();
}
