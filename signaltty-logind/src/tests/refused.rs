use super::*;
use crate::Trouble;
use crate::testing::Answer;

#[tokio::test(start_paused = true)]
async fn s0_29_c106_a_denied_lock_is_asked_for_again_with_backoff() {
    let mut lab = Lab::with(|fake| fake.answer(Answer::Deny));
    let mut times = Vec::new();
    for _ in 0..9 {
        assert_eq!(lab.inhibit().await, 0);
        times.push(Instant::now());
    }
    assert_eq!(gaps(&times), [1, 2, 4, 8, 16, 32, 60, 60]);
    assert_eq!(lab.reach(|status| *status == Status::Denied).await.as_str(), "denied");
    lab.fake.answer(Answer::Grant);
    lab.reach(|status| *status == Status::Armed).await;
    assert_eq!(lab.fake.held(), 1);
    assert_eq!(lab.tries.len(), 1, "it keeps its connection");
}

#[tokio::test(start_paused = true)]
async fn s0_29_a_notice_still_arrives_while_the_lock_is_denied() {
    let mut lab = Lab::with(|fake| fake.answer(Answer::Deny));
    lab.reach(|status| *status == Status::Denied).await;
    lab.fake.signal(true).await;
    assert!(within(lab.watch.next()).await.hold.is_none());
    assert_eq!(lab.watch.status(), Status::Preparing);
}

#[tokio::test(start_paused = true)]
async fn s0_29_no_bus_is_tried_again_with_backoff() {
    let mut lab = Lab::new();
    lab.off.store(true, Ordering::Relaxed);
    let mut times = Vec::new();
    for _ in 0..9 {
        times.push(within(lab.tries.recv()).await.unwrap());
    }
    assert_eq!(gaps(&times), [1, 2, 4, 8, 16, 32, 60, 60]);
    let status = lab.reach(|status| matches!(status, Status::Retrying { .. })).await;
    assert_eq!(status.detail().unwrap(), "the system bus cannot be reached: no bus");
    lab.off.store(false, Ordering::Relaxed);
    lab.reach(|status| *status == Status::Armed).await;
}

#[tokio::test(start_paused = true)]
async fn s0_29_c106_a_logind_that_never_answers_is_given_five_seconds() {
    let mut lab = Lab::with(|fake| fake.answer(Answer::Silence));
    let mut times = Vec::new();
    for _ in 0..5 {
        assert_eq!(lab.inhibit().await, 0);
        times.push(Instant::now());
    }
    assert_eq!(gaps(&times), [6, 7, 9, 13]);
    let status = lab.watch.status();
    assert!(
        matches!(status, Status::Retrying { trouble: Trouble::Silent(CALL_TIMEOUT), .. }),
        "{status:?}"
    );
    lab.fake.answer(Answer::Grant);
    lab.reach(|status| *status == Status::Armed).await;
    assert_eq!(lab.fake.held(), 1);
}

#[tokio::test(start_paused = true)]
async fn inv_g1_a_lock_that_is_granted_after_the_timeout_is_closed() {
    let mut lab = Lab::with(|fake| fake.answer(Answer::Silence));
    lab.reach(|status| matches!(status, Status::Retrying { .. })).await;
    lab.fake.answer(Answer::Grant);
    lab.fake.answer_late().await;
    lab.reach(|status| *status == Status::Armed).await;
    lab.read("InhibitDelayMaxUSec").await;
    assert_eq!(lab.fake.held(), 1);
}
