//! Other checks while the service runs: those that are kept go on as if nothing had happened.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use rootward::{Check, ErrorCategory, Failure, Health, Labelled, NextCheck, ReportBody};
use tokio::time::{Instant, sleep};

const fn s(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

/// A check that counts its runs and fails when it is told to.
#[derive(Clone, Default)]
struct Told {
    runs: Arc<AtomicU64>,
    fails: Arc<AtomicBool>,
}

impl Told {
    fn check(&self, name: &str) -> Check<Labelled> {
        let told = self.clone();
        let check = Check::new(name, move || {
            told.runs.fetch_add(1, Ordering::SeqCst);
            let fails = told.fails.load(Ordering::SeqCst);
            async move {
                match fails {
                    true => Err(Failure::new(ErrorCategory::ConnectionRefused)),
                    false => Ok(()),
                }
            }
        });
        check.hard()
    }

    fn runs(&self) -> u64 {
        self.runs.load(Ordering::SeqCst)
    }
}

fn names(report: &ReportBody<'_>) -> Vec<String> {
    let components = report.components.iter();
    components
        .map(|component| component.name.to_string())
        .collect()
}

/// What must not change about a check that is kept.
fn state(health: &Health, name: &str) -> (String, Option<u64>, Option<u8>, Option<String>) {
    let report = health.report();
    let mut components = report.components.iter();
    let component = components
        .find(|component| component.name == name)
        .expect("it is in the report");
    (
        component.status.as_str().to_owned(),
        component.seq,
        component.pending,
        component.since.map(|since| since.to_string()),
    )
}

#[tokio::test(start_paused = true)]
async fn a_kept_check_keeps_its_status_its_streak_and_its_phase_and_a_new_one_runs_at_once() {
    let (db, other, new) = (Told::default(), Told::default(), Told::default());
    let health = Health::builder("cart")
        .instance("cart-0")
        .check(db.check("orders-db"))
        .check(other.check("cache"))
        .start()
        .expect("it starts");
    sleep(s(25)).await;
    // One failure of three: it is still up, and two more are awaited.
    db.fails.store(true, Ordering::SeqCst);
    let before = db.runs();
    while db.runs() == before {
        sleep(Duration::from_millis(50)).await;
    }
    sleep(Duration::from_millis(1)).await;
    let known = state(&health, "orders-db");
    assert_eq!((known.0.as_str(), known.2), ("up", Some(2)));
    db.fails.store(false, Ordering::SeqCst);

    health
        .replace_checks([
            NextCheck::begin(new.check("rates")),
            NextCheck::keep("orders-db"),
        ])
        .await
        .expect("nothing is wrong with it");
    assert_eq!(names(&health.report()), ["rates", "orders-db"]);
    assert_eq!(
        state(&health, "orders-db"),
        known,
        "nothing has happened to it"
    );
    sleep(Duration::from_millis(10)).await;
    assert_eq!(new.runs(), 1, "it runs at once");
    assert_eq!(state(&health, "rates").0, "up");

    // The retry of the pending change comes as it would have, and not at once or an interval later.
    let (replaced, ran) = (Instant::now(), db.runs());
    while db.runs() == ran {
        sleep(Duration::from_millis(10)).await;
    }
    let waited = replaced.elapsed();
    assert!(
        waited > Duration::from_millis(500) && waited < s(2),
        "{waited:?}"
    );
    let gone = other.runs();
    sleep(s(60)).await;
    assert_eq!(
        other.runs(),
        gone,
        "a check that was taken out runs no more"
    );
    assert!((5..=7).contains(&(new.runs() - 1)), "{}", new.runs());
    health.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_check_that_began_anew_knows_nothing_of_the_one_before_it() {
    let (first, second) = (Told::default(), Told::default());
    first.fails.store(true, Ordering::SeqCst);
    let health = Health::builder("cart")
        .instance("cart-0")
        .check(first.check("orders-db"))
        .start()
        .expect("it starts");
    sleep(s(30)).await;
    assert_eq!(state(&health, "orders-db").0, "down");
    health
        .replace_checks([NextCheck::begin(second.check("orders-db"))])
        .await
        .expect("nothing is wrong with it");
    assert!(health.is_started(), "a start that is over stays over");
    sleep(Duration::from_millis(10)).await;
    let (status, seq, ..) = state(&health, "orders-db");
    assert_eq!(
        (status.as_str(), seq),
        ("up", Some(1)),
        "its first result counts at once"
    );
    health.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_run_of_a_check_that_is_taken_out_is_ended_and_one_of_a_check_that_is_kept_goes_on() {
    struct Ended(Arc<AtomicU64>);
    impl Drop for Ended {
        fn drop(&mut self) {
            self.0.fetch_add(1, Ordering::SeqCst);
        }
    }
    let ended = Arc::<AtomicU64>::default();
    let slow = |name: &str| {
        let ended = Arc::clone(&ended);
        let check = Check::new(name, move || {
            let ended = Ended(Arc::clone(&ended));
            async move {
                sleep(Duration::from_millis(400)).await;
                drop(ended);
                Ok(())
            }
        });
        check.soft()
    };
    let health = Health::builder("cart")
        .instance("cart-0")
        .check(slow("kept"))
        .check(slow("out"))
        .start()
        .expect("it starts");
    sleep(Duration::from_millis(100)).await;
    health
        .replace_checks([NextCheck::keep("kept")])
        .await
        .expect("nothing is wrong with it");
    sleep(Duration::from_millis(1)).await;
    assert_eq!(
        ended.load(Ordering::SeqCst),
        1,
        "the one that was taken out"
    );
    sleep(Duration::from_millis(400)).await;
    assert_eq!(state(&health, "kept").0, "up");
    assert_eq!(state(&health, "kept").1, Some(1));
    health.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_run_of_all_checks_is_completed_by_those_that_there_are_now() {
    let (old, new) = (Told::default(), Told::default());
    let slow = Check::new("slow", || async {
        sleep(Duration::from_millis(300)).await;
        Ok(())
    });
    let health = Arc::new(
        Health::builder("cart")
            .instance("cart-0")
            .check(old.check("old"))
            .check(slow.soft())
            .start()
            .expect("it starts"),
    );
    sleep(s(2)).await;
    let asked = tokio::spawn({
        let health = Arc::clone(&health);
        async move { health.check_now().await }
    });
    sleep(Duration::from_millis(50)).await;
    health
        .replace_checks([NextCheck::begin(new.check("new")), NextCheck::keep("slow")])
        .await
        .expect("nothing is wrong with it");
    let all = asked.await.expect("it ends").expect("nobody asked before");
    assert!(all, "each check has a result of this run");
    assert_eq!(state(&health, "slow").1, Some(2));
    assert_eq!(new.runs(), 1);
}

#[tokio::test(start_paused = true)]
async fn what_makes_no_sense_changes_nothing_and_is_said_all_at_once() {
    let told = Told::default();
    let health = Health::builder("cart")
        .instance("cart-0")
        .check(told.check("orders-db"))
        .start()
        .expect("it starts");
    sleep(s(1)).await;
    let error = health
        .replace_checks([
            NextCheck::keep("orders-db"),
            NextCheck::begin(told.check("orders-db")),
            NextCheck::keep("rates"),
            NextCheck::begin(told.check("cache").timeout(s(20))),
        ])
        .await
        .expect_err("three problems");
    insta::assert_snapshot!(error, @r#"
    the health of "cart" has 3 problems
      check "orders-db": another check has this name
      check "rates": it cannot be kept: no check has this name
      check "cache": the timeout (20 s) must be shorter than the interval (10 s)
    "#);
    assert_eq!(names(&health.report()), ["orders-db"]);
    assert_eq!(state(&health, "orders-db").1, Some(1));
    health.stop().await;
}

#[tokio::test(start_paused = true)]
async fn probes_and_queries_see_the_checks_that_there_are_now() {
    let told = Told::default();
    told.fails.store(true, Ordering::SeqCst);
    let health = Health::builder("cart")
        .instance("cart-0")
        .check(told.check("disk").local())
        .start()
        .expect("it starts");
    sleep(s(5)).await;
    assert!(!health.is_ready(), "its disk is full");
    health
        .replace_checks(Vec::new())
        .await
        .expect("none is allowed");
    assert!(health.is_ready(), "nobody asks about the disk any more");
    assert_eq!(
        health.report().status,
        rootward::InstanceStatus::Healthy.into()
    );
    assert!(health.report().components.is_empty());
    health.stop().await;
}

#[tokio::test(start_paused = true)]
async fn findings_of_the_application_are_in_the_report_within_their_bounds() {
    let health = Health::builder("cart")
        .instance("cart-0")
        .start()
        .expect("it starts");
    for number in 0..=rootward::MAX_FINDINGS {
        health.set_finding(&format!("found_{number:02}"), &"x".repeat(2_000));
    }
    health.set_finding("found_00", "another\u{1b}[31m sentence");
    let report = health.report();
    assert_eq!(report.findings.len(), rootward::MAX_FINDINGS);
    assert_eq!(
        report.findings[0].text.as_deref(),
        Some("another [31m sentence")
    );
    let longest = report
        .findings
        .iter()
        .filter_map(|finding| finding.text.as_ref());
    assert_eq!(longest.map(|text| text.len()).max(), Some(512));
    drop(report);
    health.clear_finding("found_00");
    assert_eq!(health.report().findings.len(), rootward::MAX_FINDINGS - 1);
    health.stop().await;
}
