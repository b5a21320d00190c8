//! The newest snapshot, for everybody who reads: one pointer, swapped; readers never see half an update.

use std::sync::Arc;

use rootward_core::snapshot::Snapshot;
use tokio::sync::watch;

use crate::clock::{Clock, Reading};

/// Reads the newest snapshot, in this process.
#[derive(Debug, Clone)]
pub struct SnapshotReader {
    snapshots: watch::Receiver<Arc<Snapshot>>,
    clock: Arc<Clock>,
}

impl SnapshotReader {
    pub(crate) fn new(snapshots: watch::Receiver<Arc<Snapshot>>, clock: Arc<Clock>) -> Self {
        Self { snapshots, clock }
    }

    /// The newest snapshot. There is one from the start: everything unknown.
    #[must_use]
    pub fn current(&self) -> Arc<Snapshot> {
        Arc::clone(&self.snapshots.borrow())
    }

    /// Waits for a snapshot that this reader has not been given by `changed` yet, and returns the newest; `None` when
    /// the aggregator has ended and there will be no other.
    pub async fn changed(&mut self) -> Option<Arc<Snapshot>> {
        self.snapshots.changed().await.ok()?;
        Some(Arc::clone(&self.snapshots.borrow_and_update()))
    }

    /// The clock of the snapshots' moments: what time they are, how long ago they were.
    #[must_use]
    pub fn reading(&self) -> Reading {
        self.clock.read()
    }
}
