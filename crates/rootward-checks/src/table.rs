//! A table or registry in this process without which no request can be answered: routes, prices, feature flags.
//!
//! It is looked at inline, on the application's runtime, so the look has a budget, and passing it is a failure of its
//! own: what holds up the check holds up requests as well.

use std::future::ready;
use std::time::{Duration, Instant};

use rootward::{Check, ErrorCategory, Failure, Reason, Unlabelled};

/// How long a look at a table may hold its thread: 1 ms.
///
/// ```
/// assert_eq!(rootward_checks::TABLE_BUDGET.as_millis(), 1);
/// ```
pub const TABLE_BUDGET: Duration = Duration::from_millis(1);

/// A table that must not be empty.
///
/// | what it finds | result |
/// | --- | --- |
/// | entries | up |
/// | none | down, `not_ready` |
/// | the look took longer than [`TABLE_BUDGET`], whatever it found | down, `timeout`, with the time it took |
///
/// The function runs on a worker of the application's runtime and cannot be interrupted: it counts and does nothing
/// else, with `try_read` rather than `read` where a writer may hold the lock for long. A worker that the machine puts
/// aside meanwhile counts as time, so a single long look is damped like any other failure ([`Check::fall`]).
///
/// It is local: hard, it takes the instance out of rotation while its table is empty, and another one serves. Where all
/// instances fill their tables from one source that can be empty, make it soft or [`shared`](Check::shared).
///
/// ```
/// use std::collections::HashMap;
/// use std::sync::{Arc, RwLock};
/// use rootward::Health;
/// use rootward_checks::table;
///
/// let routes: Arc<RwLock<HashMap<String, String>>> = Arc::default();
/// let look = Arc::clone(&routes);
/// let check = table("routes", move || look.read().map_or(0, |routes| routes.len()));
/// Health::builder("gateway").check(check.hard());
/// ```
pub fn table<F>(name: impl Into<String>, entries: F) -> Check<Unlabelled>
where
    F: Fn() -> usize + Send + Sync + 'static,
{
    of(name.into(), move || match entries() {
        0 => Err(Failure::new(ErrorCategory::NotReady).because("the table is empty")),
        _ => Ok(()),
    })
}

/// A table or registry that must have a certain entry.
///
/// | what it finds | result |
/// | --- | --- |
/// | the entry | up |
/// | not the entry | down, `not_found` |
/// | the look took longer than [`TABLE_BUDGET`], whatever it found | down, `timeout`, with the time it took |
///
/// For the function and for what it means to a fleet, see [`table()`].
///
/// ```
/// use std::collections::HashSet;
/// use rootward::Health;
/// use rootward_checks::table_entry;
///
/// let currencies = HashSet::from(["EUR", "USD"]);
/// let check = table_entry("home-currency", move || currencies.contains("EUR"));
/// Health::builder("prices").check(check.hard());
/// ```
pub fn table_entry<F>(name: impl Into<String>, has_entry: F) -> Check<Unlabelled>
where
    F: Fn() -> bool + Send + Sync + 'static,
{
    of(name.into(), move || {
        if has_entry() {
            Ok(())
        } else {
            Err(Failure::new(ErrorCategory::NotFound).because("the table has no such entry"))
        }
    })
}

fn of<F>(name: String, look: F) -> Check<Unlabelled>
where
    F: Fn() -> Result<(), Failure> + Send + Sync + 'static,
{
    let check = Check::new(name, move || {
        // Real time, also where the clock of the runtime stands still: it is the thread's time that is judged.
        let began = Instant::now();
        let found = look();
        ready(judge(found, began.elapsed()))
    });
    check.local().kind("table")
}

fn judge(found: Result<(), Failure>, took: Duration) -> Result<(), Failure> {
    if took <= TABLE_BUDGET {
        return found;
    }
    let micros = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
    let reason = Reason::new("a look at the table took")
        .number(micros)
        .text("us, expected within 1000 us");
    Err(Failure::new(ErrorCategory::Timeout).because(reason))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_look_over_the_budget_is_a_failure_of_its_own_whatever_it_found() {
        let over = TABLE_BUDGET + Duration::from_micros(1);
        let empty = || Err(Failure::new(ErrorCategory::NotReady));
        let say = |found, took| {
            let result = judge(found, took);
            result
                .err()
                .map(|failure| format!("{}, {failure}", failure.category()))
        };
        assert_eq!(say(Ok(()), TABLE_BUDGET), None);
        assert_eq!(
            say(empty(), TABLE_BUDGET).as_deref(),
            Some("not_ready, not ready")
        );
        let wanted = Some("timeout, a look at the table took 1001 us, expected within 1000 us");
        assert_eq!(say(Ok(()), over).as_deref(), wanted);
        assert_eq!(say(empty(), over).as_deref(), wanted);
    }
}
