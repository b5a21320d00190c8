//! How full a pool is, from the numbers that any pool has: in use, size, waiting.
//!
//! Numbers cannot tell a pool that leaked its connections from one whose target is slow. The rule that can, with a
//! connection beside the pool, is [`Check::pool`]'s, and is asked here, not repeated.

use std::future::{Future, ready};
use std::sync::Arc;

use rootward::{Check, ErrorCategory, Failure, Outcome, Reason, Unlabelled};

/// From which share on a pool is called nearly full where nothing else is said: 90 percent.
const WARN_PERCENT: u8 = 90;

/// What a pool says of itself.
///
/// ```
/// use rootward_checks::PoolUse;
///
/// # let pool = deadpool_postgres_status();
/// # struct Status { max_size: usize, size: usize, available: usize, waiting: usize }
/// # fn deadpool_postgres_status() -> Status { Status { max_size: 10, size: 10, available: 2, waiting: 0 } }
/// // Of deadpool: `let status = pool.status();`
/// # let status = pool;
/// let now = PoolUse {
///     in_use: (status.size - status.available) as u64,
///     size: status.max_size as u64,
///     waiting: status.waiting as u64,
/// };
/// assert_eq!(now.in_use, 8);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PoolUse {
    /// How many connections are lent.
    pub in_use: u64,
    /// How many can be lent at the same time.
    pub size: u64,
    /// How many callers wait for one; 0 where the pool does not say, and then it is never called saturated.
    pub waiting: u64,
}

/// When a pool is nearly full, and when it is saturated.
///
/// ```
/// use rootward_checks::PoolLevels;
///
/// // Degraded from 75 percent on; saturated when none is free and twenty wait.
/// let levels = PoolLevels::new().warn_percent(75).saturated_at(20);
/// ```
#[derive(Debug, Clone, Copy)]
pub struct PoolLevels {
    warn_percent: u8,
    saturated_at: u64,
}

impl Default for PoolLevels {
    fn default() -> Self {
        Self {
            warn_percent: WARN_PERCENT,
            saturated_at: 1,
        }
    }
}

impl PoolLevels {
    /// Nearly full at 90 percent, saturated when none is free and one caller waits.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// From which share on it is nearly full, in percent of the size: 1 to 100.
    #[must_use]
    pub fn warn_percent(mut self, percent: u8) -> Self {
        self.warn_percent = percent;
        self
    }

    /// How many callers wait when a pool without a free connection is saturated; at least 1.
    #[must_use]
    pub fn saturated_at(mut self, waiting: u64) -> Self {
        self.saturated_at = waiting;
        self
    }

    fn problem(&self) -> Option<&'static str> {
        if !(1..=100).contains(&self.warn_percent) {
            return Some("the pool's level for a warning is not from 1 to 100 percent");
        }
        (self.saturated_at == 0).then_some("a pool is saturated when at least one waits")
    }

    fn judge(&self, pool: PoolUse) -> Fullness {
        let words = || {
            Reason::new("in use are")
                .number(pool.in_use)
                .text("of")
                .number(pool.size)
                .text("connections and waiting are")
                .number(pool.waiting)
        };
        if pool.in_use >= pool.size && pool.waiting >= self.saturated_at {
            return Fullness::Saturated(words());
        }
        let share = u128::from(pool.in_use) * 100;
        if share >= u128::from(self.warn_percent) * u128::from(pool.size) && pool.in_use > 0 {
            return Fullness::NearlyFull(words());
        }
        Fullness::Room
    }
}

enum Fullness {
    Room,
    NearlyFull(Reason),
    Saturated(Reason),
}

/// How full the application's pool is, by its own numbers, and whether that is this instance's own trouble.
///
/// `usage` reads the numbers and does not wait; `reserved` asks the same target over a connection that is not the
/// pool's, and only when the pool is saturated. It may take four tenths of the time limit.
///
/// | the pool | beside it | result |
/// | --- | --- | --- |
/// | has room | is not asked | up |
/// | is nearly full ([`PoolLevels::warn_percent`]) | is not asked | degraded, `resource_exhausted` |
/// | none is free and callers wait ([`PoolLevels::saturated_at`]) | answers | down, `resource_exhausted`: leaked, or too small |
/// | the same | does not answer | degraded, `resource_exhausted`: the target is slow, for everybody |
///
/// It is local: hard, it takes the instance out of rotation while it is down. It cannot tell a leak from a rush: when
/// every instance is full at the same time, every instance would leave, so make it soft where pools run full by load
/// (`docs/local-or-shared.md`). Give it no target: it says nothing about the database.
///
/// [`Check::pool`] takes a connection instead of reading numbers. Use that one where the pool has no numbers.
///
/// ```
/// use rootward::{Failure, Health};
/// use rootward_checks::{PoolLevels, PoolUse, pool_saturation};
/// # #[derive(Clone)] struct Pool;
/// # impl Pool { fn lent(&self) -> u64 { 3 } fn waiting(&self) -> u64 { 0 } }
/// # async fn ping_beside_the_pool() -> Result<(), Failure> { Ok(()) }
/// # let pool = Pool;
///
/// let usage = move || PoolUse { in_use: pool.lent(), size: 10, waiting: pool.waiting() };
/// let check = pool_saturation("orders-pool", PoolLevels::new(), usage, ping_beside_the_pool);
/// Health::builder("cart").check(check.hard());
/// ```
pub fn pool_saturation<U, R, Reserved>(
    name: impl Into<String>,
    levels: PoolLevels,
    usage: U,
    reserved: R,
) -> Check<Unlabelled>
where
    U: Fn() -> PoolUse + Send + Sync + 'static,
    R: Fn() -> Reserved + Send + Sync + 'static,
    Reserved: Future<Output = Result<(), Failure>> + Send + 'static,
{
    let name = name.into();
    let refused = || ready(Err(Failure::new(ErrorCategory::ResourceExhausted)));
    let rule = Arc::new(Check::pool(name.clone(), refused, reserved));
    let check = Check::with_context(name, move |context| {
        let fullness = levels.judge(usage());
        let rule = Arc::clone(&rule);
        async move {
            match fullness {
                Fullness::Room => Ok(Outcome::Up),
                Fullness::NearlyFull(reason) => Ok(nearly_full(reason)),
                Fullness::Saturated(reason) => match rule.run_once(context).await {
                    Err(_) => {
                        let reason = reason.text("while one beside the pool answers");
                        Err(Failure::new(ErrorCategory::ResourceExhausted).because(reason))
                    }
                    Ok(Outcome::Up | Outcome::Degraded(_)) => Ok(nearly_full(
                        reason.text("and none beside the pool answers: the target is slow"),
                    )),
                },
            }
        }
    });
    described(check, &levels)
}

/// How full the application's pool is, by its numbers alone. Never worse than degraded: nobody can tell from numbers
/// whether the pool leaked its connections or its target is slow for everybody; [`pool_saturation`] can.
///
/// | the pool | result |
/// | --- | --- |
/// | has room | up |
/// | is nearly full, or none is free and callers wait | degraded, `resource_exhausted` |
///
/// ```
/// use rootward::Health;
/// use rootward_checks::{PoolLevels, PoolUse, pool_use};
///
/// let usage = || PoolUse { in_use: 3, size: 10, waiting: 0 };
/// Health::builder("cart").check(pool_use("orders-pool", PoolLevels::new(), usage).soft());
/// ```
pub fn pool_use<U>(name: impl Into<String>, levels: PoolLevels, usage: U) -> Check<Unlabelled>
where
    U: Fn() -> PoolUse + Send + Sync + 'static,
{
    let check = Check::new(name, move || {
        ready(Ok::<_, Failure>(match levels.judge(usage()) {
            Fullness::Room => Outcome::Up,
            Fullness::NearlyFull(reason) | Fullness::Saturated(reason) => nearly_full(reason),
        }))
    });
    described(check, &levels)
}

fn described(check: Check<Unlabelled>, levels: &PoolLevels) -> Check<Unlabelled> {
    let check = check.local().kind("pool");
    match levels.problem() {
        Some(problem) => check.problem(problem),
        None => check,
    }
}

fn nearly_full(reason: Reason) -> Outcome {
    Outcome::degraded(ErrorCategory::ResourceExhausted, reason)
}
