//! The application's functions that are told about changes: a thread and a bounded queue for each.
//!
//! They are foreign code. One that panics has its panic logged and is called again for the next change. One that
//! blocks fills its own queue; what does not fit is dropped and counted, and nobody else waits.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};
use std::{io, thread};

use arc_swap::ArcSwapOption;
use tokio::sync::mpsc;

use crate::runner::panic_text;

use super::Change;

/// The most hooks of one service: each has a thread.
pub(crate) const MAX_HOOKS: usize = 8;

/// How many changes wait for one hook. What comes on top is dropped and counted.
pub(crate) const MAX_QUEUED_CHANGES: usize = 256;

/// How long a stop waits for hooks to take what is queued.
const STOP_GRACE: Duration = Duration::from_secs(1);

/// A function of the application's.
pub(crate) type Hook = Arc<dyn Fn(&Change) + Send + Sync>;

/// Who wants to be told: what a builder collects.
#[derive(Default)]
pub(crate) struct Listeners {
    pub(crate) hooks: Vec<Hook>,
    #[cfg(feature = "otel")]
    pub(crate) meter: Option<opentelemetry::metrics::Meter>,
}

type Queue = mpsc::Sender<Arc<Change>>;

/// The queues of the hooks.
#[derive(Default)]
pub(crate) struct Hooks {
    /// None before the start and after the stop.
    queues: ArcSwapOption<Vec<Queue>>,
    dropped: AtomicU64,
}

impl Hooks {
    /// Starts the threads.
    pub(super) fn start(&self, hooks: Vec<Hook>) -> io::Result<HookThreads> {
        let mut threads = HookThreads::none();
        let mut queues = Vec::with_capacity(hooks.len());
        for hook in hooks {
            let (queue, waiting) = mpsc::channel(MAX_QUEUED_CHANGES);
            threads.spawn("rootward-hook", move || call(&hook, waiting))?;
            queues.push(queue);
        }
        if !queues.is_empty() {
            self.queues.store(Some(Arc::new(queues)));
        }
        Ok(threads)
    }

    /// Tells everybody, at once or never.
    pub(crate) fn tell(&self, change: impl FnOnce() -> Change) {
        let queues = self.queues.load();
        let Some(queues) = queues.as_deref() else {
            return;
        };
        let change = Arc::new(change());
        for queue in queues {
            if queue.try_send(Arc::clone(&change)).is_err() {
                self.dropped.fetch_add(1, Ordering::Relaxed);
            }
        }
    }

    /// How many changes a hook was not told about because its queue was full.
    pub(crate) fn dropped(&self) -> u64 {
        self.dropped.load(Ordering::Relaxed)
    }

    /// Takes no more changes. The threads end when their queues are empty.
    pub(super) fn close(&self) {
        self.queues.store(None);
    }
}

/// The threads of the hooks.
pub(super) struct HookThreads {
    running: usize,
    ending: Sender<()>,
    ended: Receiver<()>,
}

impl HookThreads {
    fn none() -> Self {
        let (ending, ended) = channel();
        Self {
            running: 0,
            ending,
            ended,
        }
    }

    /// One more, which ends when its queue is closed.
    pub(super) fn spawn(
        &mut self,
        name: &str,
        run: impl FnOnce() + Send + 'static,
    ) -> io::Result<()> {
        let ending = self.ending.clone();
        let run = move || {
            run();
            // Nobody waits any more: it took too long.
            let _ = ending.send(());
        };
        thread::Builder::new().name(name.to_owned()).spawn(run)?;
        self.running += 1;
        Ok(())
    }

    /// Waits a moment for threads whose queues were closed.
    pub(super) fn wait(mut self) {
        let until = Instant::now() + STOP_GRACE;
        while self.running > 0 {
            match self
                .ended
                .recv_timeout(until.saturating_duration_since(Instant::now()))
            {
                Ok(()) => self.running -= 1,
                // It is we who hold the last sender.
                Err(RecvTimeoutError::Disconnected | RecvTimeoutError::Timeout) => {
                    let hooks = self.running;
                    tracing::warn!(target: "rootward", hooks, "hooks on changes still run");
                    return;
                }
            }
        }
    }
}

/// Until the queue is closed and empty.
fn call(hook: &Hook, mut waiting: mpsc::Receiver<Arc<Change>>) {
    while let Some(change) = waiting.blocking_recv() {
        if let Err(payload) = catch_unwind(AssertUnwindSafe(|| hook(&change))) {
            let detail = panic_text(payload);
            tracing::error!(target: "rootward", detail, "a hook on changes panicked");
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;
    use std::time::SystemTime;

    use super::*;
    use crate::telemetry::ReadinessChange;

    fn change() -> Change {
        Change::Readiness(ReadinessChange {
            ready: true,
            reasons: Vec::new(),
            at: SystemTime::UNIX_EPOCH,
        })
    }

    #[test]
    fn what_a_blocked_hook_has_no_room_for_is_dropped_and_counted() {
        let (release, blocked) = channel::<()>();
        let blocked = Mutex::new(blocked);
        let (told, heard) = channel();
        let told = Mutex::new(told);
        let hooks = Hooks::default();
        let threads = hooks
            .start(vec![
                Arc::new(move |_: &Change| {
                    // Until the test lets it go.
                    let _ = blocked.lock().expect("only here").recv();
                }),
                Arc::new(move |_: &Change| {
                    told.lock().expect("only here").send(()).expect("heard");
                }),
            ])
            .expect("threads");
        for _ in 0..MAX_QUEUED_CHANGES + 50 {
            hooks.tell(change);
            heard.recv().expect("the other one is told all the same");
        }
        // One is in the hands of the hook, if its thread has come that far.
        let dropped = hooks.dropped();
        assert!((49..=50).contains(&dropped), "{dropped}");
        drop(release);
        hooks.close();
        threads.wait();
        hooks.tell(|| unreachable!("nobody is told any more"));
    }
}
