//! A real file that ages, comes from the future, goes, and may not be looked at.

use std::fs::{self, File};
use std::path::Path;
use std::time::{Duration, SystemTime};

use rootward::{Check, Unlabelled};
use rootward_checks::{FreshnessSettings, open};

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
