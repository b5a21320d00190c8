//! Checks that hang, block and panic (P2).

use std::time::Duration;

use rootward_e2e::{Error, Run, until};
use serde_json::Value;
use tokio::time::sleep;

use super::lasting;
use super::service::{Service, Settings};
use crate::alone::alone;

const SOON: Duration = Duration::from_secs(15);

fn component<'r>(report: &'r Value, name: &str) -> &'r Value {
    let components = report["components"]
        .as_array()
        .expect("a report has components");
    components
        .iter()
        .find(|component| component["name"] == name)
        .unwrap_or(&Value::Null)
}

/// What a component says: its status, and why.
fn says<'r>(report: &'r Value, name: &str) -> [&'r str; 2] {
    ["status", "error_category"].map(|field| component(report, name)[field].as_str().unwrap_or(""))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn twenty_hanging_checks_are_cut_off_in_time_and_run_one_at_a_time_each() -> Result<(), Error>
{
    let run = Run::from_environment()?;
    let _alone = alone().await;
    let service = Service::start(&run, Settings::of("good:2,hang:20,socket:4,blocking:2")).await?;
    sleep(lasting(Duration::from_secs(8))).await;
    let told = service.tell("");
    let timed: Vec<_> = told
        .checks
        .iter()
        .filter(|(name, _)| !name.starts_with("blocking"))
        .collect();
    let runs: u64 = timed.iter().map(|(_, tally)| tally.runs).sum();
    let late: u64 = timed.iter().map(|(_, tally)| tally.late).sum();
    let longest = timed
        .iter()
        .map(|(_, tally)| tally.longest)
        .max()
        .unwrap_or_default();
    println!(
        "{runs} runs with a time limit of 500 ms: {late} took longer than 600 ms, the longest {longest:.1?}"
    );
    assert!(runs > 100, "only {runs} runs");
    assert!(
        late * 100 <= runs,
        "{late} of {runs} runs took longer than promised"
    );
    for (name, tally) in &told.checks {
        assert_eq!(tally.most_at_once, 1, "{name} ran beside itself");
        assert!(tally.runs > 1, "{name} ran {} times", tally.runs);
    }
    // The good ones are not starved: once a second, whatever the others do.
    let (good, hanging) = (told.checks["good-0"].runs, told.checks["hang-0"].runs);
    assert!(
        good + 2 >= hanging,
        "the good one ran {good} times, a hanging one {hanging} times"
    );
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn kf_012_kf_015_kf_104_every_way_to_fail_is_the_checks_own_and_a_late_result_changes_nothing()
-> Result<(), Error> {
    let run = Run::from_environment()?;
    let _alone = alone().await;
    let service = Service::start(&run, Settings::of("good:1,hang:1,blocking:1,panic")).await?;
    let panics = [
        "panic-in-poll",
        "panic-in-drop",
        "panic-when-cancelled",
        "panic-on-a-thread",
        "panic-with-a-lock",
    ];
    let seq = |report: &Value, name: &str| component(report, name)["seq"].as_u64().unwrap_or(0);
    let report = until(
        "every panicking check to have run five times",
        SOON,
        async || service.report(),
        |report| panics.iter().all(|name| seq(report, name) >= 5),
    )
    .await?;
    for name in panics {
        assert_eq!(says(&report, name), ["down", "panic"], "{name}: {report}");
    }
    assert_eq!(says(&report, "good-0"), ["up", ""]);
    assert_eq!(says(&report, "hang-0"), ["down", "timeout"]);
    // It returns Ok each time, too late each time.
    assert_eq!(says(&report, "blocking-0"), ["down", "timeout"]);
    let told = service.tell("");
    println!("{told:#?}");
    for (name, tally) in &told.checks {
        assert_eq!(tally.most_at_once, 1, "{name} ran beside itself");
    }
    assert!(
        told.checks["blocking-0"].runs >= 2,
        "it is started again when it has returned"
    );
    for path in ["/livez", "/readyz"] {
        assert_eq!(
            service.ask(path).map(|answer| answer.code),
            Some(200),
            "{path}"
        );
    }
    assert!(
        service.process.is_alive(),
        "a panic of a check ended the process"
    );
    Ok(())
}
