//! The pool rule: a pool without a free connection takes this instance out of rotation only while the target itself still
//! answers.
//!
//! A pool that is empty because somebody leaked its connections is this instance's own fault, and another instance can
//! serve. A pool that is empty because the target is slow is everybody's, and an instance that leaves helps nobody. A
//! connection kept in reserve, beside the pool, tells the two apart.

use std::future::Future;
use std::time::Duration;

use rootward_core::ErrorCategory;
use tokio::time::timeout;

use crate::failure::{Failure, Outcome, Reason};

use super::{Check, Unlabelled};

impl Check<Unlabelled> {
    /// Whether the application's pool still has a connection to give.
    ///
    /// `acquire` takes one from the pool and gives it back at once; it may take half of the check's time limit.
    /// `reserved` asks the same target over a connection that is not the pool's; it may take four tenths.
    ///
    /// | `acquire` | `reserved` | result |
    /// | --- | --- | --- |
    /// | gets one in time | is not asked | up |
    /// | gets none | answers | down, `resource_exhausted`: the pool is this instance's trouble |
    /// | gets none | does not answer | degraded, `resource_exhausted`: the target is slow, and that is no reason to leave |
    ///
    /// The check is local. Make it hard, and it takes the instance out of rotation while it is down. Whatever it finds
    /// is said about the pool and never about the target: give it no target.
    ///
    /// ```
    /// use rootward::{Check, Failure, Health};
    /// # #[derive(Clone)] struct Pool;
    /// # impl Pool { async fn get(&self) -> Result<(), Failure> { Ok(()) } }
    /// # async fn ping_beside_the_pool() -> Result<(), Failure> { Ok(()) }
    /// # let pool = Pool;
    /// let check = Check::pool(
    ///     "orders-pool",
    ///     move || {
    ///         let pool = pool.clone();
    ///         async move { pool.get().await }
    ///     },
    ///     || async { ping_beside_the_pool().await },
    /// );
    /// Health::builder("cart").check(check.hard());
    /// ```
    pub fn pool<A, Acquired, R, Reserved>(name: impl Into<String>, acquire: A, reserved: R) -> Self
    where
        A: Fn() -> Acquired + Send + Sync + 'static,
        Acquired: Future<Output = Result<(), Failure>> + Send + 'static,
        R: Fn() -> Reserved + Send + Sync + 'static,
        Reserved: Future<Output = Result<(), Failure>> + Send + 'static,
    {
        let check = Self::with_context(name, move |context| {
            let (acquire, reserved) = (acquire(), reserved());
            let limit = context.timeout();
            async move {
                let patience = limit / 2;
                match timeout(patience, acquire).await {
                    Ok(Ok(())) => Ok(Outcome::Up),
                    Ok(Err(failure)) => judge(reserved, limit, Missing::Refused(failure)).await,
                    Err(_) => judge(reserved, limit, Missing::Late(patience)).await,
                }
            }
        });
        check.local().kind("pool")
    }
}

/// Why there was no connection.
enum Missing {
    Late(Duration),
    Refused(Failure),
}

async fn judge(
    reserved: impl Future<Output = Result<(), Failure>>,
    limit: Duration,
    missing: Missing,
) -> Result<Outcome, Failure> {
    let answers = matches!(timeout(limit * 2 / 5, reserved).await, Ok(Ok(())));
    let (begin, cause) = match missing {
        Missing::Late(patience) => (Reason::new("no connection within").number(patience), None),
        Missing::Refused(failure) => (Reason::new("the pool gave no connection"), Some(failure)),
    };
    let failure = Failure::new(ErrorCategory::ResourceExhausted);
    let failure = if answers {
        failure.because(begin.text("while one beside the pool answers"))
    } else {
        failure.because(begin.text("and none beside the pool answers: the target is slow"))
    };
    let failure = match cause.and_then(Failure::into_cause) {
        Some(cause) => failure.caused_by(cause),
        None => failure,
    };
    if answers {
        Err(failure)
    } else {
        Ok(Outcome::Degraded(failure))
    }
}
