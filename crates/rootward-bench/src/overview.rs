//! `overview`: a large fleet as its readers see it: how soon it is there, how fast the overview comes, what readers cost
//! those who are polled, and how a changed configuration is taken up.

use std::fmt::Write as _;
use std::io;
use std::time::{Duration, Instant};

use tokio::time::sleep;

use crate::aggregator::{self, Aggregator};
use crate::client::Connection;
use crate::goal::{Bound, Goal, Outcome};
use crate::load::Load;
use crate::mock::Answers;
use crate::mocked::Mocked;
use crate::plan::Plan;
use crate::statistics::Latencies;
use crate::temporary::Directory;

const PATH: &str = "/api/v1/overview";

/// How long everybody may take to be asked once, beyond one interval.
const ALL_ASKED: Duration = Duration::from_secs(60);

pub(crate) async fn run(plan: &Plan) -> io::Result<Outcome> {
    let before = Load::now();
    let directory = Directory::create()?;
    let (count, interval) = (plan.overview_services, plan.interval);
    let fleet = Mocked::start("fleet-overview", Answers::Fresh, None, &directory).await?;
    let begin = Instant::now();
    let ours = Aggregator::start("overview", count, fleet.port, interval, None, &directory).await?;
    let alive = begin.elapsed();
    let mut connection = Connection::open(ours.address, PATH, 200).await?;
    connection.ask().await?;
    let ready = begin.elapsed();
    fleet.asked(count, interval + ALL_ASKED).await?;
    sleep(interval).await;

    // One reader, at a pace. The aggregator has closed the connection from before, on which nothing was asked meanwhile.
    let mut connection = Connection::open(ours.address, PATH, 200).await?;
    let mut taken = Vec::new();
    let mut size = 0;
    for _ in 0..plan.overviews {
        sleep(plan.overview_pace).await;
        let begin = Instant::now();
        size = connection.ask().await?.body;
        taken.push(begin.elapsed());
    }
    let latencies = Latencies::new(taken);

    // The same time without and with readers: polls, as the fleet counts them.
    let quiet = polls_during(&fleet, async {
        sleep(plan.overview_window).await;
        Ok(0)
    })
    .await?;
    let busy = polls_during(&fleet, viewers(&ours, plan)).await?;
    let rate = |(polls, took, _): (f64, Duration, u32)| polls / took.as_secs_f64();
    let mut table = format!(
        "overview of {count} services of {}; each polled every {interval:?}\n\
         load average {before} before, {} after\n\n",
        aggregator::measured(),
        Load::now()
    );
    // Writing to a string does not fail.
    let _ = writeln!(
        table,
        "started: alive after {alive:.2?}, the first overview after {ready:.2?}\n\
         overview: {size} bytes, {} asked one every {:?}: p50 {:.1} ms, p99 {:.1} ms\n\
         viewers: {} overviews on a connection each; polls a second {:.1} meanwhile, {:.1} without",
        latencies.count(),
        plan.overview_pace,
        latencies.percentile(500),
        latencies.percentile(990),
        busy.2,
        rate(busy),
        rate(quiet)
    );
    let goals = vec![
        Goal::new(
            "O1",
            format!("from the start to the first overview of {count} services, in s"),
            Bound::AtMost(2.0),
            Ok(ready.as_secs_f64()),
        ),
        Goal::new(
            "O2",
            format!("the overview of {count} services, p99 in ms"),
            Bound::AtMost(50.0),
            Ok(latencies.percentile(990)),
        ),
        Goal::new(
            "O3",
            format!("polls a second with {} viewers / without", busy.2),
            Bound::AtMost(1.02),
            Ok(rate(busy) / rate(quiet)),
        ),
    ];
    Ok(Outcome { table, goals })
}

/// What the fleet answered while something went on, how long that took, and what it returned.
async fn polls_during(
    fleet: &Mocked,
    what: impl Future<Output = io::Result<u32>>,
) -> io::Result<(f64, Duration, u32)> {
    let (begin, before) = (Instant::now(), fleet.count().await?.answers);
    let returned = what.await?;
    let after = fleet.count().await?.answers;
    Ok((after - before, begin.elapsed(), returned))
}

/// People who look: each on a connection of its own, a few at the same time, until there were enough or time is up.
async fn viewers(ours: &Aggregator, plan: &Plan) -> io::Result<u32> {
    let begin = Instant::now();
    let mut seen = 0;
    while seen < plan.viewers && begin.elapsed() < plan.viewers_within {
        let mut looking = tokio::task::JoinSet::new();
        for _ in 0..plan.viewers_at_once.min(plan.viewers - seen) {
            let address = ours.address;
            looking.spawn(async move {
                let mut connection = Connection::open(address, PATH, 200).await?;
                connection.ask().await
            });
        }
        while let Some(looked) = looking.join_next().await {
            looked.map_err(io::Error::other)??;
            seen += 1;
        }
    }
    Ok(seen)
}
