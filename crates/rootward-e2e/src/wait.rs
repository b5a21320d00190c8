//! Waiting for a state, with a bound, in place of sleeping and hoping.

use std::fmt::Debug;
use std::time::Duration;

use crate::error::{Error, Kind};

/// Time between two looks.
const PAUSE: Duration = Duration::from_millis(25);

/// Looks until what is seen is what is wanted, and returns that.
///
/// The limit covers everything: a look that hangs ends with it, too.
///
/// # Errors
///
/// When the limit is reached: names what was waited for and the last state that was seen.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), rootward_e2e::Error> {
/// use std::time::Duration;
///
/// let mut count = 0;
/// let limit = Duration::from_secs(5);
/// let seen = rootward_e2e::until("three looks", limit, async || { count += 1; count }, |n| *n == 3).await?;
/// assert_eq!(seen, 3);
///
/// let limit = Duration::from_millis(1);
/// let error = rootward_e2e::until("a pig to fly", limit, async || "on the ground", |_| false).await.unwrap_err();
/// assert_eq!(
///     error.to_string(),
///     r#"waited 1ms for this in vain: a pig to fly; last seen: "on the ground""#
/// );
/// # Ok(()) }
/// ```
pub async fn until<T: Debug>(
    what: &str,
    limit: Duration,
    mut look: impl AsyncFnMut() -> T,
    mut is_wanted: impl FnMut(&T) -> bool,
) -> Result<T, Error> {
    let mut last = None;
    let looking = async {
        loop {
            let seen = look().await;
            if is_wanted(&seen) {
                return seen;
            }
            last = Some(seen);
            tokio::time::sleep(PAUSE).await;
        }
    };
    let found = tokio::time::timeout(limit, looking).await;
    found.map_err(|_| {
        let last = last.map_or_else(|| "nothing yet".to_owned(), |seen| format!("{seen:#?}"));
        Kind::InVain {
            what: what.to_owned(),
            limit,
            last,
        }
        .into()
    })
}
