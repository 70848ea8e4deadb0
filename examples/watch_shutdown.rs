//! Says what it knows about a shutdown of this host, and "saves" when one comes.
//!
//! ```sh
//! cargo run -p signaltty-logind --example watch_shutdown -- [MILLISECONDS]
//! ```
//!
//! The number is how long the pretended save takes; it is cut to what the host
//! allows. `SIGNALTTY_LOGIND=0` switches the watch off, and
//! `DBUS_SYSTEM_BUS_ADDRESS` names another bus. SIGTERM saves in the same way,
//! as a host can also go down without a notice.
#![expect(clippy::print_stdout, reason = "it is there to be read")]

use std::error::Error;
use std::time::{Duration, Instant};

use signaltty_logind::{WatchConfig, watch};
use tokio::signal::unix::{SignalKind, signal};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let save_time = std::env::args().nth(1).map_or(Ok(300), |text| text.parse())?;
    let save_time = Duration::from_millis(save_time);
    let on = std::env::var_os("SIGNALTTY_LOGIND").is_none_or(|value| value != "0");

    let begun = Instant::now();
    let mut watch = watch(WatchConfig::new(on));
    let mut terminate = signal(SignalKind::terminate())?;
    let say = |text: &str| println!("{:7.3} {text}", begun.elapsed().as_secs_f64());
    say("ready");
    say(watch.status().as_str());

    let mut statuses = watch.statuses();
    let mut watched = true;
    loop {
        tokio::select! {
            changed = statuses.changed(), if watched => {
                watched = changed.is_ok();
                let status = watch.status();
                let detail = status.detail().unwrap_or_default();
                say(format!("{} {detail}", status.as_str()).trim_end());
            }
            shutdown = watch.next() => {
                let budget = shutdown.save_budget();
                let lock = if shutdown.hold.is_some() { "with" } else { "without" };
                say(&format!("the host goes down; saving {lock} a lock, for {budget:?} at most"));
                tokio::time::sleep(save_time.min(budget)).await;
                drop(shutdown);
                say("saved and released");
                return Ok(());
            }
            _ = terminate.recv() => {
                say("terminated; saving");
                return Ok(());
            }
        }
    }
}
