//! A service in distress: what the crate promises about probes, checks and cost holds while the application's runtime
//! is blocked or busy, while its dependencies hang, while its checks panic, and under more questions than anybody has.
//!
//! Each test runs a real process, prints what it measured, and holds it against the promise. A promise about time is
//! judged by the 99th percentile of many answers, since the machine has other work to do; what is printed beside it is
//! the slowest. `ROOTWARD_TEST_LONG=1` makes the same last for half an hour.

mod churn;
pub(crate) mod client;
mod cost;
mod dependency;
mod life;
mod probes;
mod quota;
mod runs;
mod service;

use std::time::Duration;

/// How many times as long everything lasts in the long form.
const LONG: u32 = 15;

/// A time for which something is watched, in the form that was asked for.
fn lasting(short: Duration) -> Duration {
    short * factor()
}

fn factor() -> u32 {
    if std::env::var_os("ROOTWARD_TEST_LONG").is_some() {
        LONG
    } else {
        1
    }
}
