//! The signals that are sent to a program from outside: Ctrl-C and SIGTERM end it, SIGHUP has it read its files again.

use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::trouble::Trouble;

/// Hears SIGHUP: read the configuration again. From here on it does not end the process.
pub(crate) fn hangup() -> Result<Signal, Trouble> {
    signal(SignalKind::hangup()).map_err(|error| Trouble::of_runtime(&error))
}

/// Hears the signals.
#[derive(Debug)]
pub(crate) struct Signals {
    interrupt: Signal,
    terminate: Signal,
}

impl Signals {
    /// From here on the signals do not end the process by themselves.
    pub(crate) fn listen() -> Result<Self, Trouble> {
        let listen = |kind| signal(kind).map_err(|error| Trouble::of_runtime(&error));
        Ok(Self {
            interrupt: listen(SignalKind::interrupt())?,
            terminate: listen(SignalKind::terminate())?,
        })
    }

    /// Waits for the next one and returns its number.
    pub(crate) async fn next(&mut self) -> u8 {
        const SIGINT: u8 = 2;
        const SIGTERM: u8 = 15;
        tokio::select! {
            _ = self.interrupt.recv() => SIGINT,
            _ = self.terminate.recv() => SIGTERM,
        }
    }
}
