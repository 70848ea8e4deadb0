use super::*;
use crate::Trouble;

#[tokio::test(start_paused = true)]
async fn s0_29_c106_after_a_restart_of_logind_the_new_lock_comes_before_the_old_one_goes() {
    let mut lab = Lab::armed().await;
    tokio::time::advance(Duration::from_secs(5)).await;
    lab.fake.leave().await;
    let status = lab.reach(|status| matches!(status, Status::Retrying { .. })).await;
    assert!(matches!(status, Status::Retrying { trouble: Trouble::NoLogind, .. }), "{status:?}");
    lab.fake.arrive().await;
    assert_eq!(lab.inhibit().await, 1, "the old lock is still held");
    lab.read("InhibitDelayMaxUSec").await;
    assert_eq!((lab.watch.status(), lab.fake.held()), (Status::Armed, 1));
    lab.fake.prepare(true).await;
    assert!(within(lab.watch.next()).await.hold.is_some());
    assert_eq!(lab.tries.len(), 1, "it keeps its connection");
}

#[tokio::test(start_paused = true)]
async fn s0_29_a_shutdown_that_began_while_logind_restarted_is_found() {
    let mut lab = Lab::armed().await;
    tokio::time::advance(Duration::from_secs(5)).await;
    lab.fake.leave().await;
    lab.fake.set_preparing(true);
    lab.fake.arrive().await;
    let shutdown = within(lab.watch.next()).await;
    assert!(shutdown.hold.is_some(), "the old lock still makes the host wait");
}

#[tokio::test(start_paused = true)]
async fn c106_inv_g3_a_logind_that_comes_and_goes_is_asked_once_a_second() {
    let mut lab = Lab::armed().await;
    let begun = Instant::now();
    for _ in 0..50 {
        lab.fake.leave().await;
        lab.fake.arrive().await;
    }
    assert_eq!(lab.inhibit().await, 1);
    assert!(begun.elapsed() >= Duration::from_secs(1));
    lab.read("InhibitDelayMaxUSec").await;
    assert_eq!((lab.watch.status(), lab.fake.held()), (Status::Armed, 1));
}

#[tokio::test(start_paused = true)]
async fn s0_29_c106_after_a_restart_of_the_bus_it_connects_again() {
    let mut lab = Lab::armed().await;
    lab.fake.drop_connections().await;
    let status = lab.reach(|status| matches!(status, Status::Retrying { .. })).await;
    assert!(
        matches!(status, Status::Retrying { trouble: Trouble::Disconnected, .. }),
        "{status:?}"
    );
    assert_eq!(lab.inhibit().await, 1, "the old lock is still held");
    lab.read("InhibitDelayMaxUSec").await;
    assert_eq!((lab.watch.status(), lab.fake.held()), (Status::Armed, 1));
    let times = [lab.tries.recv().await.unwrap(), lab.tries.recv().await.unwrap()];
    assert_eq!(gaps(&times), [1]);
}

#[tokio::test(start_paused = true)]
async fn a_logind_that_is_not_there_yet_is_found_when_it_comes() {
    let mut lab = Lab::with(|fake| fake.set_present(false));
    lab.reach(|status| *status == Status::Armed).await;
    // The request itself starts logind, which then has a name to be believed by.
    lab.fake.arrive().await;
    lab.read("InhibitDelayMaxUSec").await;
    lab.fake.prepare(true).await;
    assert!(within(lab.watch.next()).await.hold.is_some());
}
