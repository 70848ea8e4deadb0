use super::*;
use crate::{testing::Answer, watch};

#[tokio::test]
async fn inv_g1_dropping_the_watch_closes_the_lock_and_the_connection() {
    let Lab { mut fake, watch, off: _off, tries: _tries } = Lab::armed().await;
    drop(watch);
    let mut last = [within(fake.event()).await, within(fake.event()).await];
    last.sort_by_key(|event| *event == Some(Event::Gone));
    assert_eq!(last, [Some(Event::Released), Some(Event::Gone)]);
}

#[tokio::test]
async fn s0_30_inv_g1_a_notice_that_nobody_took_is_released_with_the_watch() {
    let mut lab = Lab::armed().await;
    lab.fake.prepare(true).await;
    lab.reach(|status| *status == Status::Preparing).await;
    drop(lab.watch);
    assert!(within(lab.fake.until(|event| *event == Event::Released)).await);
}

#[tokio::test]
async fn s0_30_inv_g1_a_panic_during_the_save_releases_the_lock() {
    let mut lab = Lab::armed().await;
    lab.fake.prepare(true).await;
    let shutdown = within(lab.watch.next()).await;
    let save = tokio::spawn(async move {
        let _shutdown = shutdown;
        panic!("the save failed badly");
    });
    assert!(within(save).await.unwrap_err().is_panic());
    assert!(within(lab.fake.until(|event| *event == Event::Released)).await);
}

#[tokio::test]
async fn s0_24_c106_a_bus_that_never_answers_holds_nothing_up() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("bus");
    let listener = tokio::net::UnixListener::bind(&path).unwrap();
    let address = format!("unix:path={}", path.display());
    let begun = std::time::Instant::now();
    let watch = watch(WatchConfig::new(true).with_address(address));
    assert!(begun.elapsed() < Duration::from_millis(100));
    assert_eq!(watch.status(), Status::Connecting);
    let _silent = within(listener.accept()).await.unwrap();
    assert_eq!(watch.status(), Status::Connecting);
}

#[tokio::test]
async fn s0_31_a_switched_off_watch_never_connects() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("bus");
    let mut fake = FakeLogind::listen(&path).unwrap();
    let address = format!("unix:path={}", path.display());
    let off = watch(WatchConfig::new(false).with_address(address.clone()));
    assert_eq!(off.status(), Status::Disabled("switched off"));
    assert_eq!(off.status().as_str(), "disabled");
    // The first client that the fake sees is the one that is switched on.
    let mut on = watch(WatchConfig {
        who: "the other".to_owned(),
        ..WatchConfig::new(true).with_address(address)
    });
    let asked = |event: &Event| matches!(event, Event::Inhibit { .. });
    let mut seen = within(fake.event()).await.unwrap();
    while !asked(&seen) {
        seen = within(fake.event()).await.unwrap();
    }
    let Event::Inhibit { arguments, held: 0 } = seen else { panic!("{seen:?}") };
    assert_eq!(arguments[1], "the other");
    fake.prepare(true).await;
    let shutdown = within(on.next()).await;
    assert!(shutdown.hold.is_some());
    assert_eq!(fake.held(), 1);
}

#[test]
fn s0_24_outside_of_a_runtime_it_says_so_and_does_not_panic() {
    let watch = watch(WatchConfig::new(true));
    assert_eq!(watch.status(), Status::Disabled("started outside of a runtime"));
}

#[tokio::test(start_paused = true)]
async fn a_watch_whose_task_ended_does_not_claim_to_be_armed() {
    let lab = Lab::with(|fake| fake.answer(Answer::Grant));
    lab.reach(|status| *status == Status::Armed).await;
    lab.watch.abort();
    let mut statuses = lab.watch.statuses();
    while within(statuses.changed()).await.is_ok() {}
    assert_eq!(lab.watch.status(), Status::Disabled("the watch ended unexpectedly"));
}
