//! Conditions of this instance alone: a pool, a worker, a check that cannot be. What they do to readiness.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::Duration;

use rootward::{Check, ErrorCategory, Failure, Health, Progress, Unlabelled};
use tokio::time::sleep;

use crate::support::{Dependency, cart};

/// What the pool or the connection beside it does.
const GIVES: u8 = 0;
const HANGS: u8 = 1;
const REFUSES: u8 = 2;

/// A pool and a connection beside it, each of which does as it is told.
#[derive(Clone, Default)]
struct Pool {
    lends: Arc<AtomicU8>,
    beside: Arc<AtomicU8>,
}

impl Pool {
    fn does(&self, lends: u8, beside: u8) {
        self.lends.store(lends, Ordering::SeqCst);
        self.beside.store(beside, Ordering::SeqCst);
    }

    fn check(&self) -> Check<Unlabelled> {
        let (lends, beside) = (Arc::clone(&self.lends), Arc::clone(&self.beside));
        Check::pool(
            "orders-pool",
            move || does(lends.load(Ordering::SeqCst)),
            move || does(beside.load(Ordering::SeqCst)),
        )
    }
}

async fn does(what: u8) -> Result<(), Failure> {
    match what {
        GIVES => Ok(()),
        REFUSES => Err(Failure::new(ErrorCategory::ConnectionRefused)),
        _ => std::future::pending().await,
    }
}

/// What the only component says, and whether the instance is ready.
fn says(health: &Health) -> String {
    let report = health.report();
    let component = &report.components[0];
    format!(
        "{} {} {:?} ready={}",
        component.status,
        component
            .error_category
            .as_ref()
            .map_or("-".to_owned(), ToString::to_string),
        component.error.as_deref().unwrap_or_default(),
        health.is_ready()
    )
}

/// Long enough for a status to have changed, whatever the damping.
const AFTER: Duration = Duration::from_secs(30);

#[tokio::test(start_paused = true)]
async fn an_empty_pool_takes_the_instance_out_only_while_its_target_answers() {
    let pool = Pool::default();
    let health = cart()
        .check(pool.check().hard())
        .start()
        .expect("it starts");
    sleep(AFTER).await;
    assert_eq!(says(&health), r#"up - "" ready=true"#);
    pool.does(HANGS, GIVES);
    sleep(AFTER).await;
    assert_eq!(
        says(&health),
        r#"down resource_exhausted "no connection within 250 ms while one beside the pool answers" ready=false"#
    );
    pool.does(HANGS, HANGS);
    sleep(AFTER).await;
    assert_eq!(
        says(&health),
        r#"degraded resource_exhausted "no connection within 250 ms and none beside the pool answers: the target is slow" ready=true"#
    );
    pool.does(REFUSES, REFUSES);
    sleep(AFTER).await;
    assert_eq!(
        says(&health),
        r#"degraded resource_exhausted "the pool gave no connection and none beside the pool answers: the target is slow" ready=true"#
    );
    pool.does(GIVES, HANGS);
    sleep(AFTER).await;
    assert_eq!(says(&health), r#"up - "" ready=true"#);
    let report = health.report();
    assert_eq!(
        report.components[0].target, None,
        "no evidence against the target"
    );
    drop(report);
    health.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_worker_with_a_backlog_and_no_progress_is_down_and_a_green_process_is_not_enough() {
    let progress = Progress::new();
    let within = Duration::from_secs(60);
    let health = cart()
        .check(Check::progress("mail-worker", &progress, within).hard())
        .start()
        .expect("it starts");
    sleep(Duration::from_secs(600)).await;
    assert_eq!(says(&health), r#"up - "" ready=true"#, "idle");
    progress.set_backlog(7);
    sleep(Duration::from_secs(120)).await;
    let stuck = says(&health);
    assert!(
        stuck.starts_with("down timeout \"nothing was completed for "),
        "{stuck}"
    );
    assert!(
        stuck.ends_with(" with a backlog of 7\" ready=false"),
        "{stuck}"
    );
    assert!(
        health.is_alive(),
        "whether a restart helps is another question"
    );
    progress.completed();
    sleep(AFTER).await;
    assert_eq!(says(&health), r#"up - "" ready=true"#);
    health.stop().await;
}

/// KF-105: bad settings of one check took the whole endpoint down.
#[tokio::test(start_paused = true)]
async fn kf_105_a_check_that_cannot_be_built_is_listed_as_failed_and_the_others_run() {
    let db = Dependency::default();
    let broken = Dependency::default();
    let health = cart()
        .check(
            broken
                .check("stock")
                .problem("the URL names no host")
                .hard(),
        )
        .check(db.check("orders-db").hard())
        .start()
        .expect("it starts");
    sleep(Duration::from_millis(100)).await;
    assert_eq!(
        says(&health),
        r#"down unknown "configuration: the URL names no host" ready=true"#
    );
    assert_eq!(db.asked(), 1);
    assert_eq!(broken.asked(), 0, "it is not run");
    health.stop().await;
}
