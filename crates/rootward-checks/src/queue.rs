//! The depth of a queue, wherever the service learns it: levels, and growth that nobody works off.

use std::future::Future;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rootward::{Check, ErrorCategory, Failure, Outcome, Reason, Unlabelled};
use tokio::time::Instant;

/// From which depth on a queue is too long, and how fast it may grow.
///
/// ```
/// use std::time::Duration;
/// use rootward_checks::QueueLevels;
///
/// let levels = QueueLevels::new()
///     .warn_above(1_000)
///     .fail_above(100_000)
///     .warn_growth(500, Duration::from_secs(300));
/// ```
#[derive(Debug, Clone, Copy, Default)]
pub struct QueueLevels {
    warn: Option<u64>,
    fail: Option<u64>,
    growth: Option<Growth>,
}

#[derive(Debug, Clone, Copy)]
struct Growth {
    by: u64,
    period: Duration,
}

impl QueueLevels {
    /// No level: at least one has to be set.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// A longer queue is degraded.
    #[must_use]
    pub fn warn_above(mut self, depth: u64) -> Self {
        self.warn = Some(depth);
        self
    }

    /// A longer queue is down.
    #[must_use]
    pub fn fail_above(mut self, depth: u64) -> Self {
        self.fail = Some(depth);
        self
    }

    /// Degraded when the queue was at its shortest longer by more than `by` in one period than in the period before.
    ///
    /// A burst that is worked off within the period does not count. Each period is as long as `period`, and at least
    /// one run; it should be several intervals, so that the shortest moment is seen.
    #[must_use]
    pub fn warn_growth(mut self, by: u64, period: Duration) -> Self {
        self.growth = Some(Growth { by, period });
        self
    }

    fn problem(&self) -> Option<&'static str> {
        match self {
            Self {
                warn: None,
                fail: None,
                growth: None,
            } => Some("no level of the queue is set"),
            Self {
                warn: Some(warn),
                fail: Some(fail),
                ..
            } if warn >= fail => Some("the queue's level for a warning is not below the other"),
            Self {
                growth: Some(growth),
                ..
            } if growth.period.is_zero() => Some("the queue's period for growth is zero"),
            Self { .. } => None,
        }
    }
}

/// How long a queue is, from a function of the service's own: the length of a channel, a count that the broker told.
///
/// | what it finds | result |
/// | --- | --- |
/// | longer than [`QueueLevels::fail_above`] | down, `resource_exhausted`, with both numbers |
/// | longer than [`QueueLevels::warn_above`] | degraded, `resource_exhausted`, with both numbers |
/// | growing faster than [`QueueLevels::warn_growth`] | degraded, `resource_exhausted`, with both shortest lengths |
/// | the function fails | down, as the function says |
/// | the function takes too long | down, `timeout` |
///
/// It is shared unless it is said to be [`local`](Check::local): the queue of a broker is as long for every instance,
/// and instances that leave the rotation do not shorten it. A queue inside this process is local; hard and local, it
/// takes the instance out of rotation while it is too long, and all instances if the rush is everywhere.
///
/// A length says nothing about whether anybody works: [`Check::progress`] does, and the two belong together.
///
/// ```
/// use rootward::{Failure, Health};
/// use rootward_checks::{QueueLevels, queue};
/// # async fn count_of_the_broker() -> Result<u64, Failure> { Ok(0) }
///
/// let (sender, _receiver) = tokio::sync::mpsc::channel::<String>(1_000);
/// let mails = queue("mails", QueueLevels::new().warn_above(500).fail_above(900), move || {
///     let waiting = sender.max_capacity() - sender.capacity();
///     async move { Ok(waiting as u64) }
/// });
/// let orders = queue("orders", QueueLevels::new().warn_above(10_000), count_of_the_broker);
/// Health::builder("shop").check(mails.hard().local()).check(orders.soft());
/// ```
pub fn queue<F, Fut>(name: impl Into<String>, levels: QueueLevels, depth: F) -> Check<Unlabelled>
where
    F: Fn() -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<u64, Failure>> + Send + 'static,
{
    let trend = Arc::new(Mutex::new(Trend::default()));
    let check = Check::new(name, move || {
        let depth = depth();
        let trend = Arc::clone(&trend);
        async move {
            let depth = depth.await?;
            let mut trend = trend.lock().unwrap_or_else(PoisonError::into_inner);
            judge(&levels, &mut trend, depth, Instant::now())
        }
    });
    let check = check.kind("queue");
    match levels.problem() {
        Some(problem) => check.problem(problem),
        None => check,
    }
}

/// How short the queue was, period by period.
#[derive(Debug, Default)]
struct Trend {
    /// When this period began, and the shortest length in it.
    now: Option<(Instant, u64)>,
    /// The shortest lengths of the last whole periods, the older one first.
    before: [Option<u64>; 2],
}

impl Trend {
    fn look(&mut self, growth: Growth, depth: u64, now: Instant) {
        self.now = match self.now {
            None => Some((now, depth)),
            Some((began, shortest)) if now.duration_since(began) < growth.period => {
                Some((began, shortest.min(depth)))
            }
            Some((_, shortest)) => {
                self.before = [self.before[1], Some(shortest)];
                Some((now, depth))
            }
        };
    }
}

fn judge(
    levels: &QueueLevels,
    trend: &mut Trend,
    depth: u64,
    now: Instant,
) -> Result<Outcome, Failure> {
    if let Some(growth) = levels.growth {
        trend.look(growth, depth, now);
    }
    let above = |level: u64| {
        Reason::new("the queue is")
            .number(depth)
            .text("long, expected at most")
            .number(level)
    };
    if let Some(level) = levels.fail.filter(|level| depth > *level) {
        return Err(Failure::new(ErrorCategory::ResourceExhausted).because(above(level)));
    }
    if let Some(level) = levels.warn.filter(|level| depth > *level) {
        return Ok(Outcome::degraded(
            ErrorCategory::ResourceExhausted,
            above(level),
        ));
    }
    if let (Some(growth), [Some(older), Some(newer)]) = (levels.growth, trend.before)
        && newer.saturating_sub(older) > growth.by
    {
        let reason = Reason::new("the queue is growing: at its shortest it was")
            .number(older)
            .text("long and then")
            .number(newer)
            .text("in periods of")
            .number(growth.period);
        return Ok(Outcome::degraded(ErrorCategory::ResourceExhausted, reason));
    }
    Ok(Outcome::Up)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn say(result: &Result<Outcome, Failure>) -> String {
        match result {
            Ok(Outcome::Up) => "up".to_owned(),
            Ok(Outcome::Degraded(failure)) => format!("degraded, {failure}"),
            Err(failure) => format!("down, {failure}"),
        }
    }

    #[test]
    fn a_queue_above_its_levels_is_said_with_both_numbers() {
        let levels = QueueLevels::new().warn_above(10).fail_above(20);
        let mut trend = Trend::default();
        let mut at = |depth| say(&judge(&levels, &mut trend, depth, Instant::now()));
        assert_eq!(at(0), "up");
        assert_eq!(at(10), "up");
        assert_eq!(
            at(11),
            "degraded, the queue is 11 long, expected at most 10"
        );
        assert_eq!(at(21), "down, the queue is 21 long, expected at most 20");
    }

    #[test]
    fn growth_is_told_from_the_shortest_moments_so_that_a_burst_is_none() {
        let levels = QueueLevels::new().warn_growth(5, Duration::from_secs(60));
        let began = Instant::now();
        let depths = |depths: &[u64]| {
            let mut trend = Trend::default();
            let looks = depths.iter().zip(0..).map(|(depth, look)| {
                let now = began + Duration::from_secs(20 * look);
                say(&judge(&levels, &mut trend, *depth, now))
            });
            looks.last().unwrap_or_default()
        };
        assert_eq!(depths(&[1, 900, 2, 800, 3, 700, 2]), "up", "bursts");
        assert_eq!(depths(&[1, 2, 3, 4, 5, 6, 7]), "up", "slowly");
        assert_eq!(
            depths(&[1, 50, 90, 100, 150, 120, 130]),
            "degraded, the queue is growing: at its shortest it was 1 long and then 100 in periods of 60 s"
        );
        let worked_off = [1, 50, 90, 100, 150, 120, 130, 40, 3, 2];
        assert_eq!(depths(&worked_off), "up");
        assert_eq!(depths(&[1, 50, 90]), "up", "one period tells nothing");
    }

    #[test]
    fn levels_that_make_no_sense_are_named() {
        let cases = [
            (QueueLevels::new(), Some("no level of the queue is set")),
            (
                QueueLevels::new().warn_above(5).fail_above(5),
                Some("the queue's level for a warning is not below the other"),
            ),
            (
                QueueLevels::new().warn_growth(1, Duration::ZERO),
                Some("the queue's period for growth is zero"),
            ),
            (QueueLevels::new().warn_above(5).fail_above(6), None),
        ];
        for (levels, problem) in cases {
            assert_eq!(levels.problem(), problem, "{levels:?}");
        }
    }
}
