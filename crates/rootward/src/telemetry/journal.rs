//! What is to be written to the log, by a thread that may wait for it.
//!
//! A log may block: its pipe is full, its disk is slow, its collector hangs. The probe thread must not, so it leaves what
//! it has to say here, and the observer's thread writes it.

use std::collections::VecDeque;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::Notify;

/// The most entries that wait to be written. What comes on top is dropped and counted.
const MAX_WAITING: usize = 64;

/// Cheap to clone; all clones are one.
#[derive(Clone, Default)]
pub(crate) struct Journal(Arc<Entries>);

#[derive(Default)]
struct Entries {
    waiting: Mutex<VecDeque<Entry>>,
    dropped: AtomicU64,
    /// There is something to write, or to look at.
    rung: Notify,
}

impl fmt::Debug for Journal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Journal").finish_non_exhaustive()
    }
}

type Entry = Box<dyn FnOnce() + Send>;

impl Journal {
    /// Leaves an entry: a function that emits an event.
    pub(crate) fn say(&self, entry: impl FnOnce() + Send + 'static) {
        let mut waiting = self.waiting();
        if waiting.len() < MAX_WAITING {
            waiting.push_back(Box::new(entry));
        } else {
            self.0.dropped.fetch_add(1, Ordering::Relaxed);
        }
        drop(waiting);
        self.ring();
    }

    /// Asks the observer to look.
    pub(super) fn ring(&self) {
        self.0.rung.notify_one();
    }

    /// Until there is something to write or to look at.
    pub(super) async fn rung(&self) {
        self.0.rung.notified().await;
    }

    /// Writes what waits. The side of the observer.
    pub(crate) fn write(&self) {
        loop {
            // Not while it is being written: whoever leaves an entry does not wait for the log.
            let entry = self.waiting().pop_front();
            match entry {
                Some(entry) => entry(),
                None => break,
            }
        }
        let dropped = self.0.dropped.swap(0, Ordering::Relaxed);
        if dropped > 0 {
            tracing::warn!(target: "rootward", dropped, "the log is slow: events were dropped");
        }
    }

    fn waiting(&self) -> std::sync::MutexGuard<'_, VecDeque<Entry>> {
        self.0
            .waiting
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_written_once_in_their_order_and_bounded() {
        let journal = Journal::default();
        let written = Arc::new(Mutex::new(Vec::new()));
        for number in 0..MAX_WAITING + 3 {
            let written = Arc::clone(&written);
            journal.say(move || written.lock().expect("nobody panicked").push(number));
        }
        journal.write();
        journal.write();
        let written = written.lock().expect("nobody panicked");
        assert_eq!(*written, (0..MAX_WAITING).collect::<Vec<_>>());
    }

    #[test]
    fn an_entry_may_leave_another() {
        let journal = Journal::default();
        let (again, written) = (journal.clone(), Arc::new(AtomicU64::new(0)));
        let count = Arc::clone(&written);
        journal.say(move || {
            again.say(move || {
                let _ = count.fetch_add(1, Ordering::Relaxed);
            });
        });
        journal.write();
        assert_eq!(written.load(Ordering::Relaxed), 1);
    }
}
