//! A number that only grows and that a test can wait on instead of sleeping.

use tokio::sync::watch;

/// A shared count. Clones count together.
#[derive(Clone, Debug)]
pub(crate) struct Counter(watch::Sender<u64>);

impl Counter {
    pub(crate) fn new() -> Self {
        Self(watch::Sender::new(0))
    }

    pub(crate) fn add(&self, more: u64) {
        self.0.send_modify(|seen| *seen += more);
    }

    pub(crate) fn seen(&self) -> u64 {
        *self.0.borrow()
    }

    /// Returns when the count is at least `goal`. It has no deadline of its own.
    pub(crate) async fn reached(&self, goal: u64) {
        self.0
            .subscribe()
            .wait_for(|seen| *seen >= goal)
            .await
            .expect("the counter that is waited on holds the sender");
    }
}
