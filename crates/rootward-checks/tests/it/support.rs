//! Running a check as the runner would, and saying what came out in one line.

use std::time::Duration;

use rootward::{Check, CheckContext, Failure, Health, Name, Outcome, ReportBody};
use tokio::time::{Instant, sleep, timeout};

/// Far longer than anything takes that is not meant to hang.
pub(crate) const LONG: Duration = Duration::from_secs(10);

pub(crate) fn name(text: &str) -> Name {
    Name::parse(text).expect("a name")
}

pub(crate) fn context(limit: Duration) -> CheckContext {
    CheckContext::new(name("cart"), name("cart-0"), name("it"), limit)
}

/// Runs the check once, under its time limit, as the runner does: `up`, `degraded, category, words` or
/// `down, category, words`; `cut off` where the runner would say `timed out`.
pub(crate) async fn run<L>(check: &Check<L>, limit: Duration) -> String {
    let say = |status, failure: &Failure| {
        let text = format!("{failure:?}{failure}");
        for foreign in ["hunter2", "alice", "127.0.0.1"] {
            assert!(!text.contains(foreign), "{text}");
        }
        format!("{status}, {}, {failure}", failure.category())
    };
    match timeout(limit, check.run_once(context(limit))).await {
        Err(_) => "cut off".to_owned(),
        Ok(Ok(Outcome::Up)) => "up".to_owned(),
        Ok(Ok(Outcome::Degraded(failure))) => say("degraded", &failure),
        Ok(Err(failure)) => say("down", &failure),
    }
}

/// Runs the check until this comes out.
pub(crate) async fn run_until<L>(check: &Check<L>, limit: Duration, wanted: &str) {
    let began = Instant::now();
    loop {
        let last = run(check, limit).await;
        if last == wanted {
            return;
        }
        assert!(began.elapsed() < LONG, "{last:?} and never {wanted:?}");
        sleep(Duration::from_millis(10)).await;
    }
}

/// Waits until a report is as it should be.
pub(crate) async fn report_until(health: &Health, is_so: impl Fn(&ReportBody<'_>) -> bool) {
    let began = Instant::now();
    while !is_so(&health.report()) {
        assert!(began.elapsed() < LONG, "{:?}", health.report());
        sleep(Duration::from_millis(5)).await;
    }
}

/// A check that runs often.
pub(crate) fn often<L>(check: Check<L>) -> Check<L> {
    check
        .interval(Duration::from_millis(300))
        .timeout(Duration::from_millis(200))
}

pub(crate) fn tasks() -> usize {
    tokio::runtime::Handle::current()
        .metrics()
        .num_alive_tasks()
}
