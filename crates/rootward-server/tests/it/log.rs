//! What the aggregator of this test writes to the log, at the level of an operator.
//!
//! The subscriber is one for the process: one for each thread would miss events that another thread met first. Lines
//! are kept by thread, and a test with a runtime of one thread hears its own aggregator and no other.

use std::collections::HashMap;
use std::io::Write;
use std::sync::{Mutex, OnceLock};
use std::thread::{self, ThreadId};

use tracing_subscriber::filter::LevelFilter;

type Bytes = Mutex<HashMap<ThreadId, Vec<u8>>>;

fn kept() -> &'static Bytes {
    static KEPT: OnceLock<Bytes> = OnceLock::new();
    KEPT.get_or_init(Bytes::default)
}

/// Begins to keep what is logged.
pub(crate) fn listen() {
    static LISTENING: OnceLock<()> = OnceLock::new();
    LISTENING.get_or_init(|| {
        tracing_subscriber::fmt()
            .with_max_level(LevelFilter::INFO)
            .with_ansi(false)
            .without_time()
            .with_target(false)
            .with_writer(|| OfThisThread)
            .init();
    });
}

/// What was logged on this thread.
pub(crate) fn lines() -> Vec<String> {
    let bytes = kept().lock().unwrap().remove(&thread::current().id());
    let text = String::from_utf8(bytes.unwrap_or_default()).unwrap();
    text.lines().map(|line| line.trim().to_owned()).collect()
}

struct OfThisThread;

impl Write for OfThisThread {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let mut kept = kept().lock().unwrap();
        let own = kept.entry(thread::current().id()).or_default();
        own.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}
