use super::*;
use crate::testing::Answer;

#[tokio::test(start_paused = true)]
async fn s0_25_subscribe_then_lock_then_read() {
    let mut lab = Lab::new();
    let mut seen = Vec::new();
    while seen.len() < 5 {
        seen.push(within(lab.fake.event()).await.unwrap());
    }
    let arguments = ["shutdown", "signaltty", "Saving terminal sessions", "delay"];
    assert_eq!(
        seen,
        [
            Event::Subscribed("NameOwnerChanged".to_owned()),
            Event::Subscribed("PrepareForShutdown".to_owned()),
            Event::Inhibit { arguments: arguments.map(str::to_owned), held: 0 },
            Event::Read("PreparingForShutdown".to_owned()),
            Event::Read("InhibitDelayMaxUSec".to_owned()),
        ]
    );
    assert_eq!(lab.watch.status(), Status::Armed);
}

#[tokio::test]
async fn s0_25_c104_a_notice_comes_with_the_delay_lock_and_dropping_it_releases_it() {
    let mut lab = Lab::armed().await;
    lab.fake.prepare(true).await;
    let shutdown = within(lab.watch.next()).await;
    assert_eq!(shutdown.delay_limit, Some(Duration::from_secs(5)));
    assert_eq!(shutdown.save_budget(), Duration::from_millis(3750));
    assert_eq!(lab.watch.status(), Status::Preparing);
    assert_eq!(lab.fake.held(), 1);
    drop(shutdown);
    assert!(within(lab.fake.until(|event| *event == Event::Released)).await);
    assert_eq!(lab.fake.held(), 0);
}

#[tokio::test(start_paused = true)]
async fn s0_25_the_limit_is_the_one_logind_tells() {
    let mut lab = Lab::with(|fake| fake.limit(Duration::from_secs(30)));
    lab.reach(|status| *status == Status::Armed).await;
    lab.read("InhibitDelayMaxUSec").await;
    lab.fake.prepare(true).await;
    let shutdown = within(lab.watch.next()).await;
    assert_eq!(shutdown.save_budget(), Duration::from_millis(22_500));
}

#[tokio::test(start_paused = true)]
async fn s0_26_a_shutdown_already_under_way_is_reported_at_once_without_a_lock() {
    let mut lab = Lab::with(|fake| fake.set_preparing(true));
    let begun = Instant::now();
    let shutdown = within(lab.watch.next()).await;
    assert!(shutdown.hold.is_none());
    assert_eq!(begun.elapsed(), Duration::ZERO);
    assert_eq!((lab.watch.status(), lab.fake.held()), (Status::Preparing, 0));
}

#[tokio::test(start_paused = true)]
async fn s0_26_a_refused_lock_does_not_hide_a_shutdown_under_way() {
    let mut lab = Lab::with(|fake| {
        fake.answer(Answer::Deny);
        fake.set_preparing(true);
    });
    let shutdown = within(lab.watch.next()).await;
    assert!(shutdown.hold.is_none());
    assert_eq!(lab.watch.status(), Status::Preparing);
}

#[tokio::test]
async fn s0_27_false_changes_nothing_and_a_later_true_counts() {
    let mut lab = Lab::armed().await;
    lab.fake.signal(false).await;
    lab.fake.signal(false).await;
    lab.fake.prepare(true).await;
    let shutdown = within(lab.watch.next()).await;
    assert!(shutdown.hold.is_some());
    // The first event after arming would be the release or a second request.
    assert_eq!(lab.fake.held(), 1);
    drop(shutdown);
    assert_eq!(within(lab.fake.event()).await, Some(Event::Released));
}

#[tokio::test(start_paused = true)]
async fn s0_27_a_server_that_goes_on_after_false_gets_a_new_lock() {
    let mut lab = Lab::armed().await;
    lab.fake.prepare(true).await;
    drop(within(lab.watch.next()).await);
    lab.fake.prepare(false).await;
    assert_eq!(lab.inhibit().await, 0);
    lab.reach(|status| *status == Status::Armed).await;
    lab.fake.prepare(true).await;
    assert!(within(lab.watch.next()).await.hold.is_some());
}

#[tokio::test(start_paused = true)]
async fn only_the_owner_of_the_name_is_believed() {
    let mut lab = Lab::armed().await;
    lab.fake.forge(true).await;
    never(lab.watch.next()).await;
    lab.fake.forge_owner().await;
    // Another owner would have been asked for a lock.
    never(lab.fake.event()).await;
    lab.fake.forge(true).await;
    never(lab.watch.next()).await;
    assert_eq!(lab.watch.status(), Status::Armed);
    lab.fake.prepare(true).await;
    assert!(within(lab.watch.next()).await.hold.is_some());
}
