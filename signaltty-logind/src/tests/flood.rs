use super::*;

const MANY: usize = 100_000;

#[tokio::test(start_paused = true)]
async fn c106_a_flood_of_false_is_taken_in_and_changes_nothing() {
    let mut lab = Lab::armed().await;
    for _ in 0..MANY {
        lab.fake.signal(false).await;
    }
    lab.fake.prepare(true).await;
    assert!(within(lab.watch.next()).await.hold.is_some());
}

#[tokio::test(start_paused = true)]
async fn c106_a_flood_of_notices_for_a_busy_server_is_kept_in_bounds() {
    let mut lab = Lab::armed().await;
    for _ in 0..MANY / 2 {
        lab.fake.signal(true).await;
        lab.fake.signal(false).await;
        assert!(lab.fake.held() <= 2);
    }
    lab.fake.signal(true).await;
    // One is in the channel and one beside it; the rest is what the streams still
    // hold, and their queues have 64 places.
    let mut shutdowns = Vec::new();
    let idle = Duration::from_secs(600);
    while let Ok(shutdown) = tokio::time::timeout(idle, lab.watch.next()).await {
        shutdowns.push(shutdown);
    }
    assert!(shutdowns.len() < 100, "{}", shutdowns.len());
    assert!(shutdowns[0].hold.is_some(), "the lock was not lost in the flood");
}

#[tokio::test(start_paused = true)]
async fn c106_a_flood_during_the_request_for_the_lock_does_not_block_its_answer() {
    let mut lab = Lab::new();
    assert_eq!(lab.inhibit().await, 0);
    for _ in 0..1000 {
        lab.fake.forge(true).await;
        lab.fake.signal(false).await;
    }
    lab.reach(|status| *status == Status::Armed).await;
}

#[tokio::test(start_paused = true)]
async fn a_notice_that_replaces_an_untaken_one_keeps_its_lock() {
    let mut lab = Lab::armed().await;
    for _ in 0..2 {
        lab.fake.signal(true).await;
        lab.reach(|status| *status == Status::Preparing).await;
        lab.fake.signal(false).await;
        lab.reach(|status| *status == Status::Armed).await;
    }
    lab.fake.signal(true).await;
    lab.reach(|status| *status == Status::Preparing).await;
    // Too soon for another lock: the last notice comes without one.
    lab.fake.signal(false).await;
    lab.reach(|status| *status != Status::Preparing).await;
    lab.fake.signal(true).await;
    lab.reach(|status| *status == Status::Preparing).await;
    assert!(within(lab.watch.next()).await.hold.is_some());
    assert!(within(lab.watch.next()).await.hold.is_some());
    never(lab.watch.next()).await;
}
