//! A real file that ages, comes from the future, goes, and may not be looked at.

use std::fs::{self, File};
use std::path::Path;
use std::time::{Duration, SystemTime};

use rootward::{Check, Health, Unlabelled};
use rootward_checks::{FreshnessSettings, open};

use tokio::time::{Instant, sleep};

use crate::disk::Mounted;
use crate::every::{LONG, alone, beside_others, leaves_nothing, run};

const MINUTE: Duration = Duration::from_secs(60);

fn of(path: &Path) -> Check<Unlabelled> {
    let settings = FreshnessSettings::new(path, 10 * MINUTE).warn_older(5 * MINUTE);
    open::freshness("planted-name", settings).expect("usable")
}

fn touch(path: &Path, time: SystemTime) {
    let file = File::create(path).expect("a file");
    file.set_modified(time).expect("its time is set");
}

#[tokio::test]
async fn a_file_is_fresh_then_late_then_stale_then_gone_and_fresh_again() {
    let _turn = beside_others().await;
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("planted-backup");
    let check = of(&path);
    let missing = "down, not_found, the file is not there";
    assert_eq!(run(&check, LONG).await, missing);
    let now = SystemTime::now();
    touch(&path, now);
    assert_eq!(run(&check, LONG).await, "up");
    touch(&path, now - 7 * MINUTE);
    let seen = run(&check, LONG).await;
    assert!(
        seen.starts_with("degraded, stale, the file was changed 4")
            && seen.ends_with(" s ago, expected within 300 s"),
        "{seen}"
    );
    touch(&path, now - 90 * MINUTE);
    let seen = run(&check, LONG).await;
    assert!(
        seen.starts_with("down, stale, the file was changed 54")
            && seen.ends_with(" s ago, expected within 600 s"),
        "{seen}"
    );
    fs::remove_file(&path).expect("it was there");
    assert_eq!(run(&check, LONG).await, missing);
    touch(&path, SystemTime::now());
    assert_eq!(run(&check, LONG).await, "up");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_file_of_a_file_system_that_hangs_costs_its_time_limit_and_no_more() {
    let _turn = beside_others().await;
    let Some((server, mounted)) = Mounted::silent() else {
        return;
    };
    // By the runner: a check that blocks is cut off by nobody else.
    let check = of(mounted.path()).hard().rise(1).fall(1);
    let check = check.interval(Duration::from_millis(200));
    let check = check.timeout(Duration::from_millis(100));
    let health = Health::builder("cart").instance("cart-0").check(check);
    let health = health.start().expect("it starts");
    let until = async |wanted: &str| {
        let began = Instant::now();
        loop {
            let report = health.report();
            let seen = report.components[0].error.as_deref().unwrap_or("-");
            if seen.contains(wanted) {
                return;
            }
            assert!(began.elapsed() < LONG, "{seen:?} and never {wanted:?}");
            drop(report);
            sleep(Duration::from_millis(10)).await;
        }
    };
    until("timed out after 100 ms").await;
    // Its server ends: whoever waits is told.
    drop(server);
    until("cannot be looked at").await;
    health.stop().await;
}

#[tokio::test]
async fn a_file_from_the_future_is_of_no_known_age() {
    let _turn = beside_others().await;
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("planted-index");
    touch(&path, SystemTime::now() + 100 * MINUTE);
    let seen = run(&of(&path), LONG).await;
    assert!(
        seen.starts_with("degraded, unknown, the file's time lies 59")
            && seen.ends_with(" s in the future and nobody knows how old it is"),
        "{seen}"
    );
}

#[tokio::test]
async fn a_path_through_a_file_is_not_there_and_a_loop_of_links_cannot_be_looked_at() {
    let _turn = beside_others().await;
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("planted-file");
    touch(&path, SystemTime::now());
    assert_eq!(
        run(&of(&path.join("below")), LONG).await,
        "down, not_found, the file is not there"
    );
    let turning = directory.path().join("planted-loop");
    std::os::unix::fs::symlink(&turning, &turning).expect("a link");
    assert_eq!(
        run(&of(&turning), LONG).await,
        "degraded, unknown, the file cannot be looked at and nobody knows how old it is"
    );
}

#[tokio::test]
async fn a_thousand_looks_at_a_file_leave_nothing() {
    let _turn = alone().await;
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("planted-file");
    touch(&path, SystemTime::now());
    leaves_nothing(&of(&path), "up").await;
}
