//! Fleets of growing size: what one more target costs in processor time and memory, and whether all are asked in time.

use std::fmt::Write as _;
use std::io;
use std::time::{Duration, Instant};

use tokio::time::sleep;

use super::{ALL_ASKED, per_answer};
use crate::aggregator::Aggregator;
use crate::goal::{Bound, Goal, Outcome};
use crate::mock::Answers;
use crate::mocked::{Count, Mocked};
use crate::plan::Plan;
use crate::temporary::Directory;

/// Poll intervals that are extrapolated to.
const FAR: f64 = 50_000.0;

#[derive(Debug, Clone, Copy)]
struct Measured {
    count: u32,
    interval: Duration,
    per_second: f64,
    /// Of one core.
    share: f64,
    cpu_us: f64,
    resident: f64,
    /// Upper bound of the bucket that holds the 99th percentile, in seconds; by the aggregator's own metrics.
    late: f64,
    counted: Count,
}

pub(super) async fn run(plan: &Plan, directory: &Directory) -> io::Result<Outcome> {
    let mut measured = Vec::new();
    let [small, middle, most] = plan.fleets;
    for (count, interval) in [
        (small, plan.interval),
        (middle, plan.interval),
        (most, plan.interval),
        (most, plan.short_interval),
    ] {
        measured.push(measure(count, interval, plan, directory).await?);
    }
    let [first, .., most_usual, fast] = measured[..] else {
        return Err(io::Error::other("four fleets were measured"));
    };
    let mut table = format!(
        "fleets: windows of {:?}, once everybody was asked\n\
         {:>7} {:>8} {:>9} {:>10} {:>7} {:>8} {:>12} {:>24} {:>14}\n",
        plan.large_window,
        "targets",
        "interval",
        "polls/s",
        "% core",
        "CPU us",
        "RSS MiB",
        "late p99 <=",
        "gap p1/p50/p99/max ms",
        "connections"
    );
    for one in &measured {
        let [low, half, high, max] = one.counted.gaps;
        // Writing to a string does not fail.
        let _ = writeln!(
            table,
            "{:>7} {:>8} {:>9.0} {:>10.1} {:>7.1} {:>8.1} {:>12} {:>24} {:>14}",
            one.count,
            format!("{:?}", one.interval),
            one.per_second,
            one.share * 100.0,
            one.cpu_us,
            one.resident / 1024.0,
            format!("{:.0} ms", one.late * 1e3),
            format!("{low:.0}/{half:.0}/{high:.0}/{max:.0}"),
            one.counted.connections
        );
    }
    let more = f64::from(most_usual.count - first.count);
    let memory = (most_usual.resident - first.resident) / more;
    let slope = (most_usual.share - first.share) / more;
    let far = first.share + slope * (FAR - f64::from(first.count));
    let _ = writeln!(
        table,
        "one more target: {memory:.1} KiB, {:.4} % of a core at one poll every {:?}; {FAR:.0} of them, extrapolated: {:.0} % of a core",
        slope * 100.0,
        plan.interval,
        far * 100.0
    );
    let interval_ms = fast.interval.as_secs_f64() * 1e3;
    let asked = f64::from(fast.count) / fast.interval.as_secs_f64();
    let goals = vec![
        Goal::new(
            "A6",
            "memory of one more target, in KiB (the aim is 8)",
            Bound::AtMost(25.0),
            Ok(memory),
        ),
        Goal::new(
            "A8",
            format!(
                "CPU of {FAR:.0} targets every {:?}, extrapolated, of a core",
                plan.interval
            ),
            Bound::AtMost(0.5),
            Ok(far),
        ),
        Goal::new(
            "A9",
            format!(
                "polls a second of {} targets every {:?}, over what was asked for",
                fast.count, fast.interval
            ),
            Bound::AtLeast(0.99),
            Ok(fast.per_second / asked),
        ),
        Goal::new(
            "A9",
            "lateness of those, p99 in ms, at most this by the aggregator's own metrics",
            Bound::AtMost(200.0),
            Ok(fast.late * 1e3),
        ),
        Goal::new(
            "A9",
            "between two polls of one of those as the fleet saw them, p99 over the interval, in ms",
            Bound::AtMost(200.0),
            Ok(fast.counted.gaps[2] - interval_ms),
        ),
    ];
    Ok(Outcome { table, goals })
}

async fn measure(
    count: u32,
    interval: Duration,
    plan: &Plan,
    directory: &Directory,
) -> io::Result<Measured> {
    let mock = Mocked::start("fleet-large", Answers::Fresh, None, directory).await?;
    let ours = Aggregator::start("large", count, mock.port, interval, None, directory).await?;
    mock.asked(count, interval + ALL_ASKED).await?;
    // A whole round more: the first is the one in which everybody is connected to.
    sleep(interval).await;
    let before = Lateness::read(&ours.metrics().await?);
    let (begin, spent) = (Instant::now(), ours.spent()?);
    let answers = mock.reset().await?.answers;
    sleep(plan.large_window).await;
    let spent = ours.spent()?.saturating_sub(spent);
    let took = begin.elapsed().as_secs_f64();
    let counted = mock.count().await?;
    let answers = counted.answers - answers;
    let after = Lateness::read(&ours.metrics().await?);
    Ok(Measured {
        count,
        interval,
        per_second: answers / took,
        share: spent.as_secs_f64() / took,
        cpu_us: per_answer(spent, answers),
        resident: ours.resident()?,
        late: after.since(&before).percentile(0.99),
        counted,
    })
}

/// The histogram of how late polls began: upper bounds of its buckets, and how many were not later.
#[derive(Debug, Clone, PartialEq)]
struct Lateness(Vec<(f64, f64)>);

impl Lateness {
    fn read(metrics: &str) -> Self {
        let buckets = metrics.lines().filter_map(|line| {
            let rest = line.strip_prefix("rootward_poll_lateness_seconds_bucket{le=\"")?;
            let (bound, count) = rest.split_once("\"} ")?;
            let bound = match bound {
                "+Inf" => f64::INFINITY,
                bound => bound.parse().ok()?,
            };
            let count = count.split_whitespace().next()?;
            Some((bound, count.parse().ok()?))
        });
        Self(buckets.collect())
    }

    fn since(&self, before: &Self) -> Self {
        let pairs = self.0.iter().zip(&before.0);
        Self(
            pairs
                .map(|((bound, now), (_, then))| (*bound, now - then))
                .collect(),
        )
    }

    /// The bound that this share was not above. Of none: not a number.
    fn percentile(&self, share: f64) -> f64 {
        let all = self.0.last().map_or(0.0, |(_, count)| *count);
        let mut reached = self.0.iter().filter(|(_, count)| *count >= all * share);
        match reached.next() {
            Some((bound, _)) if all > 0.0 => *bound,
            Some(_) | None => f64::NAN,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lateness_of_a_window_is_read_from_two_looks_at_the_metrics() {
        let text = |few: u32, all: u32| {
            format!(
                "# TYPE rootward_poll_lateness_seconds histogram\n\
                 rootward_poll_lateness_seconds_bucket{{le=\"0.05\"}} {few}\n\
                 rootward_poll_lateness_seconds_bucket{{le=\"0.1\"}} {all}\n\
                 rootward_poll_lateness_seconds_bucket{{le=\"+Inf\"}} {all}\n\
                 rootward_poll_lateness_seconds_sum 1.0\n"
            )
        };
        let (before, after) = (
            Lateness::read(&text(10, 1_000)),
            Lateness::read(&text(109, 1_100)),
        );
        assert_eq!(before.0.len(), 3);
        assert!((before.percentile(0.99) - 0.1).abs() < 1e-9);
        assert!((after.since(&before).percentile(0.99) - 0.05).abs() < 1e-9);
        assert!(before.since(&before).percentile(0.99).is_nan());
    }
}
