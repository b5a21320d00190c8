//! What a user of the stand-ins sees, with real clients and on real sockets.

#![expect(clippy::unwrap_used, reason = "a step that fails is a test that fails")]

mod http;
mod lifecycle;
mod moods;
mod postgres;
mod raw;
mod redis;
mod wire;

use std::error::Error;
use std::io;
use std::time::Duration;

use deadpool_postgres::{Manager, ManagerConfig, Pool, RecyclingMethod};
use rootward_testkit::postgres::StandInPostgres;
use tokio_postgres::NoTls;

/// Waits for something that must happen, and fails when it takes absurdly long.
async fn within<T>(expected: impl Future<Output = T>) -> T {
    tokio::time::timeout(Duration::from_secs(20), expected)
        .await
        .expect("it happens in time")
}

/// Waits for something that must not happen. Short, because it is always waited for entirely.
async fn stalls<T>(unexpected: impl Future<Output = T>) -> bool {
    tokio::time::timeout(Duration::from_millis(200), unexpected)
        .await
        .is_err()
}

/// A pool as an application has it.
fn pool(database: &StandInPostgres, recycling_method: RecyclingMethod) -> Pool {
    let config = database
        .url()
        .parse()
        .expect("the URL of a stand-in is a client configuration");
    let manager = Manager::from_config(config, NoTls, ManagerConfig { recycling_method });
    Pool::builder(manager)
        .max_size(4)
        .build()
        .expect("a pool of four")
}

/// The I/O error at the bottom of a client's error.
fn io_kind(error: &(dyn Error + 'static)) -> Option<io::ErrorKind> {
    let mut error = Some(error);
    while let Some(this) = error {
        if let Some(io) = this.downcast_ref::<io::Error>() {
            return Some(io.kind());
        }
        error = this.source();
    }
    None
}
