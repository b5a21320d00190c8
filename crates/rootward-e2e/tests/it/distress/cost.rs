//! What the crate costs its host (P3): processor and memory, beside the same process without it.

use std::time::Duration;

use rootward_e2e::{Error, Run};
use tokio::time::{Instant, sleep};

use super::client::{Connections, Prober};
use super::lasting;
use super::service::{Service, Settings};
use crate::alone::alone;

/// Half a percent of a core.
const PROMISED_SHARE: f64 = 0.005;

/// Tests are built without optimisation, which takes several times as much; the promise is for what is shipped, and
/// the benchmarks hold it against that.
const UNOPTIMISED: f64 = if cfg!(debug_assertions) { 4.0 } else { 1.0 };

const PROMISED_KIB: u64 = 10 * 1024;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ten_checks_every_ten_seconds_cost_half_a_percent_of_a_core_and_ten_mebibytes_at_most()
-> Result<(), Error> {
    let run = Run::from_environment()?;
    let _alone = alone().await;
    let settings = Settings {
        interval: Duration::from_secs(10),
        ..Settings::of("good:6,socket:2,hang:2")
    };
    let (with, without) = (
        Service::start(&run, settings).await?,
        Service::start(
            &run,
            Settings {
                checks: None,
                ..settings
            },
        )
        .await?,
    );
    // What an orchestrator asks.
    let probers = ["/livez", "/readyz"]
        .map(|path| Prober::start(with.probes, path, Duration::from_secs(10), Connections::New));
    // The first failures are damped: checks come more often for some seconds.
    sleep(Duration::from_secs(5)).await;
    let (began, before) = (Instant::now(), [with.cpu(), without.cpu()]);
    sleep(lasting(Duration::from_secs(20))).await;
    let (took, after) = (began.elapsed(), [with.cpu(), without.cpu()]);
    for prober in probers {
        prober.stop();
    }
    let share = |at: usize| (after[at] - before[at]).as_secs_f64() / took.as_secs_f64();
    let resident = [with.resident_kib(), without.resident_kib()];
    println!(
        "10 checks every 10 s, over {took:.1?}: {:.3} % of a core (without the crate {:.3} %), {} KiB resident (without {} KiB)",
        share(0) * 100.0,
        share(1) * 100.0,
        resident[0],
        resident[1],
    );
    assert!(
        share(0) <= PROMISED_SHARE * UNOPTIMISED,
        "{:.3} % of a core",
        share(0) * 100.0
    );
    let added = resident[0].saturating_sub(resident[1]);
    assert!(added <= PROMISED_KIB, "{added} KiB");
    Ok(())
}
