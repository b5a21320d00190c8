//! The tasks of one HTTP/2 connection: hyper runs each request in one of its own, and none may outlive it.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use hyper::rt::Executor;
use tokio::task::JoinSet;

/// Owns the tasks. Dropped, it cancels them.
pub(super) struct Streams(Spawn);

/// Spawns them; hyper keeps copies of it, in the tasks as well. None within: they were cancelled.
#[derive(Clone)]
pub(super) struct Spawn(Arc<Mutex<Option<JoinSet<()>>>>);

impl Streams {
    pub(super) fn new() -> Self {
        Self(Spawn(Arc::new(Mutex::new(Some(JoinSet::new())))))
    }

    pub(super) fn spawn(&self) -> Spawn {
        self.0.clone()
    }

    /// Cancels them, and returns when none is left.
    pub(super) async fn end(self) {
        let tasks = self.0.lock().take();
        if let Some(mut tasks) = tasks {
            tasks.shutdown().await;
        }
    }
}

impl Drop for Streams {
    fn drop(&mut self) {
        drop(self.0.lock().take());
    }
}

impl Spawn {
    fn lock(&self) -> MutexGuard<'_, Option<JoinSet<()>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<F> Executor<F> for Spawn
where
    F: Future + Send + 'static,
    F::Output: Send,
{
    fn execute(&self, task: F) {
        if let Some(tasks) = &mut *self.lock() {
            // Those that have ended are forgotten here, so that there are never more than were at work at a time.
            while tasks.try_join_next().is_some() {}
            tasks.spawn(async move {
                task.await;
            });
        }
    }
}
