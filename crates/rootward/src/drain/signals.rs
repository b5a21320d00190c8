//! SIGTERM and SIGINT: the first begins the drain, the second ends the process.
//!
//! What ends the process is in the signal handler itself. It needs no thread of ours and no runtime, so it works
//! however badly the process hangs.

use std::io;
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use signal_hook::SigId;
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::{flag, low_level};

use super::Drain;

const SIGNALS: [i32; 2] = [SIGTERM, SIGINT];

/// What a process has once, however many instances are in it: handlers stay for as long as it lives.
static PROCESS: Mutex<Option<Process>> = Mutex::new(None);

struct Process {
    /// The next signal is acted on as if nobody had a handler.
    is_default: Arc<AtomicBool>,
    /// How many listen.
    listeners: usize,
}

impl Process {
    fn lock() -> MutexGuard<'static, Option<Self>> {
        PROCESS.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// One more listens.
    fn join() -> io::Result<Arc<AtomicBool>> {
        let mut process = Self::lock();
        let process = match &mut *process {
            Some(process) => {
                if process.listeners == 0 {
                    process.is_default.store(false, Ordering::SeqCst);
                }
                process
            }
            none => none.insert(Self::install()?),
        };
        process.listeners += 1;
        Ok(Arc::clone(&process.is_default))
    }

    fn leave(&mut self) {
        self.listeners -= 1;
        if self.listeners == 0 {
            // Nobody would act on a signal, and a process that cannot be asked to end is worse than none.
            self.is_default.store(true, Ordering::SeqCst);
        }
    }

    /// With nobody listening yet.
    fn install() -> io::Result<Self> {
        let is_default = Arc::new(AtomicBool::new(false));
        for signal in SIGNALS {
            // Handlers run in the order in which they were installed: the first signal finds the flag unset.
            flag::register_conditional_default(signal, Arc::clone(&is_default))?;
            flag::register(signal, Arc::clone(&is_default))?;
        }
        Ok(Self {
            is_default,
            listeners: 0,
        })
    }
}

/// A subscription to the signals that end a process. While one is there, the first signal does not.
pub(crate) struct Signals {
    is_default: Arc<AtomicBool>,
    heard: UnixStream,
    ids: Vec<SigId>,
}

impl Signals {
    pub(crate) fn subscribe() -> io::Result<Self> {
        let (heard, tell) = UnixStream::pair()?;
        heard.set_nonblocking(true)?;
        // From here on its drop undoes what was done.
        let mut signals = Self {
            is_default: Process::join()?,
            heard,
            ids: Vec::new(),
        };
        for signal in SIGNALS {
            let id = low_level::pipe::register(signal, tell.try_clone()?)?;
            signals.ids.push(id);
        }
        Ok(signals)
    }

    /// Begins the drain with the first signal. Never returns: while it is polled or held, it is this that listens.
    pub(crate) async fn drive(self, drain: Drain) {
        if let Err(error) = self.heard().await {
            drain.0.journal.say(move || {
                tracing::error!(target: "rootward", %error, "cannot hear SIGTERM and SIGINT: draining now");
            });
        }
        drain.begin_because("SIGTERM or SIGINT");
        std::future::pending::<()>().await;
    }

    async fn heard(&self) -> io::Result<()> {
        // It came to another instance of this process, or while this one began to listen.
        if self.is_default.load(Ordering::SeqCst) {
            return Ok(());
        }
        let heard = tokio::net::UnixStream::from_std(self.heard.try_clone()?)?;
        heard.readable().await
    }
}

impl Drop for Signals {
    fn drop(&mut self) {
        for id in self.ids.drain(..) {
            low_level::unregister(id);
        }
        if let Some(process) = &mut *Process::lock() {
            process.leave();
        }
    }
}
