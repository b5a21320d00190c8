//! The depth of a queue, of a real channel and of a function that hangs or fails.

use std::future::pending;
use std::time::Duration;

use rootward::{Check, ErrorCategory, Failure, Health, ReportBody};
use rootward_checks::{QueueLevels, queue};
use tokio::sync::mpsc;

use crate::every::{LONG, SHORT, alone, beside_others, leaves_nothing, run};

fn of(sender: mpsc::Sender<u8>, levels: QueueLevels) -> Check<rootward::Unlabelled> {
    queue("mails", levels, move || {
        let waiting = sender.max_capacity() - sender.capacity();
        async move { Ok(waiting as u64) }
    })
}

#[tokio::test]
async fn a_channel_that_fills_is_degraded_then_down_and_up_again_when_it_is_worked_off() {
    let _turn = beside_others().await;
    let (sender, mut receiver) = mpsc::channel(10);
    let levels = QueueLevels::new().warn_above(2).fail_above(5);
    let check = of(sender.clone(), levels);
    let mut seen = Vec::new();
    for item in 0..7 {
        seen.push(run(&check, LONG).await);
        sender.send(item).await.expect("a receiver");
    }
    assert_eq!(seen[..3], ["up"; 3]);
    assert_eq!(
        seen[3],
        "degraded, resource_exhausted, the queue is 3 long, expected at most 2"
    );
    assert_eq!(
        seen[6],
        "down, resource_exhausted, the queue is 6 long, expected at most 5"
    );
    while receiver.try_recv().is_ok() {}
    assert_eq!(run(&check, LONG).await, "up");
}

#[tokio::test]
async fn a_queue_whose_depth_nobody_tells_is_cut_off_and_one_that_fails_says_why() {
    let _turn = beside_others().await;
    let levels = QueueLevels::new().warn_above(2);
    let hangs = queue("mails", levels, pending);
    assert_eq!(run(&hangs, SHORT).await, "cut off");
    let fails = queue("mails", levels, || async {
        Err(Failure::new(ErrorCategory::Auth))
    });
    assert_eq!(run(&fails, LONG).await, "down, auth, credentials refused");
}

#[tokio::test]
async fn a_queue_without_levels_is_said_to_be_configured_wrong() {
    let _turn = beside_others().await;
    let check = queue("mails", QueueLevels::new(), || async { Ok(0) });
    assert_eq!(
        run(&check, LONG).await,
        "down, unknown, configuration: no level of the queue is set"
    );
}

#[tokio::test]
async fn a_long_queue_of_a_broker_takes_no_instance_out_of_rotation_and_a_local_one_does() {
    let _turn = beside_others().await;
    let levels = QueueLevels::new().fail_above(2);
    let long = || queue("orders", levels, || async { Ok(3) });
    for (check, ready) in [(long().hard(), true), (long().hard().local(), false)] {
        let health = Health::builder("cart").instance("cart-0").check(check);
        let health = health.start().expect("it starts");
        health.check_now().await.expect("nobody asked before");
        let report: ReportBody<'_> = health.report();
        assert_eq!(report.ready, Some(ready));
        drop(report);
        health.stop().await;
    }
}

#[tokio::test]
async fn a_thousand_looks_at_a_queue_leave_nothing() {
    let _turn = alone().await;
    let (sender, _receiver) = mpsc::channel(10);
    let levels = QueueLevels::new()
        .warn_above(2)
        .warn_growth(1, Duration::from_millis(1));
    leaves_nothing(&of(sender, levels), "up").await;
}
