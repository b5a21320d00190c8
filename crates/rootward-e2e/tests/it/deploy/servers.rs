//! The proof, with real processes and a real HAProxy.

use std::env;
use std::fmt::Write as _;
use std::io::Write as _;
use std::time::{Duration, Instant};

use rootward_e2e::{Error, Run};

use crate::alone::alone;

use super::balancer::Balancer;
use super::instance::{Instance, Timing};
use super::load::{Count, Load, Protocol};

/// How many instances there are.
const INSTANCES: usize = 3;

/// How many restarts there are, if `ROOTWARD_TEST_RESTARTS` says nothing.
const RESTARTS: usize = 20;

/// HAProxy asks every 100 ms, so it knows after 200 ms at the latest; the rest is for a busy machine.
const DRAINS: Timing = Timing {
    delay: Duration::from_millis(600),
    grace: Duration::from_secs(2),
};

/// Finishes what is in flight, and tells nobody before it stops accepting.
const NO_DELAY: Timing = Timing {
    delay: Duration::ZERO,
    grace: DRAINS.grace,
};

/// Ends with the signal.
const ENDS_AT_ONCE: Timing = Timing {
    delay: Duration::ZERO,
    grace: Duration::ZERO,
};

/// For ending a process on a busy machine.
const SLACK: Duration = Duration::from_secs(1);

/// What a deploy did.
struct Deploy {
    name: &'static str,
    http1: Count,
    http2: Count,
    /// The longest that an instance took to end.
    longest_end: Duration,
    took: Duration,
}

impl Deploy {
    fn failures(&self) -> u64 {
        self.http1.failures() + self.http2.failures()
    }
}

async fn deploy(name: &'static str, run: &Run, timing: Timing) -> Result<Deploy, Error> {
    let mut instances = Vec::new();
    for number in 0..INSTANCES {
        let name = format!("orders-{number}");
        instances.push(Instance::start(run, name, timing).await?);
    }
    let balancer = Balancer::start(run, &instances).await?;
    let http1 = Load::start(Protocol::Http1, balancer.http1);
    let http2 = Load::start(Protocol::Http2, balancer.http2);
    let began = Instant::now();
    let mut longest_end = Duration::ZERO;
    for restart in 0..restarts() {
        let instance = &mut instances[restart % INSTANCES];
        longest_end = longest_end.max(instance.restart().await?);
        balancer.sees_up(instance.name()).await?;
    }
    let took = began.elapsed();
    Ok(Deploy {
        name,
        http1: http1.end().await,
        http2: http2.end().await,
        longest_end,
        took,
    })
}

fn restarts() -> usize {
    let restarts = env::var("ROOTWARD_TEST_RESTARTS").ok();
    let restarts = restarts.map(|text| text.parse().expect("ROOTWARD_TEST_RESTARTS is a number"));
    restarts.unwrap_or(RESTARTS)
}

/// Side by side, for a person.
fn table(deploys: &[&Deploy]) -> String {
    let mut text = format!("\n{} restarts of {INSTANCES} instances\n", restarts());
    for deploy in deploys {
        let rate = (deploy.http1.sent + deploy.http2.sent) as f64 / deploy.took.as_secs_f64();
        let _ = writeln!(
            text,
            "{}: {:.1} s, {rate:.0} requests/s, an instance ended within {} ms",
            deploy.name,
            deploy.took.as_secs_f64(),
            deploy.longest_end.as_millis()
        );
        for (protocol, count) in [("HTTP/1.1", &deploy.http1), ("HTTP/2", &deploy.http2)] {
            let (sent, answered, failed) = (count.sent, count.answered, count.failures());
            let _ = writeln!(
                text,
                "    {protocol:8}  sent {sent:6}  answered {answered:6}  failed {failed:6}"
            );
            for (why, times) in &count.failed {
                let _ = writeln!(text, "        {times:6} {why}");
            }
        }
    }
    text
}

/// With `ROOTWARD_TEST_RESTARTS=500` in its long form.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn kf_090_a_rolling_deploy_fails_no_request_and_without_a_delay_it_fails_some() {
    let _alone = alone().await;
    let run = Run::from_environment().unwrap();
    let drained = deploy("with a drain", &run, DRAINS).await.unwrap();
    let sudden = deploy("without a delay", &run, NO_DELAY).await.unwrap();
    let naive = deploy("ended at once", &run, ENDS_AT_ONCE).await.unwrap();
    let table = table(&[&drained, &sudden, &naive]);
    writeln!(std::io::stderr(), "{table}").unwrap();
    for count in [&drained.http1, &drained.http2] {
        assert_eq!(
            (count.answered, count.failures()),
            (count.sent, 0),
            "{table}"
        );
        assert!(count.sent > 0, "{table}");
    }
    for deploy in [&sudden, &naive] {
        assert!(deploy.failures() > 0, "it cannot fail: {table}");
    }
    assert!(drained.longest_end >= DRAINS.delay, "{table}");
    assert!(
        drained.longest_end <= DRAINS.delay + DRAINS.grace + SLACK,
        "{table}"
    );
}
