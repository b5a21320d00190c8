//! Tests that measure time and make heavy load do so one after the other.

use std::sync::LazyLock;

use tokio::sync::{Mutex, MutexGuard};

static HEAVY: LazyLock<Mutex<()>> = LazyLock::new(|| Mutex::new(()));

/// Waits until no other heavy test runs; none begins while this is held.
pub(crate) async fn alone() -> MutexGuard<'static, ()> {
    HEAVY.lock().await
}
