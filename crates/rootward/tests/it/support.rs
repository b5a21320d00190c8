//! What several tests need: a switchable dependency, a plain HTTP client, a log that can be read.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use rootward::{Builder, Check, ErrorCategory, Failure, Health, Unlabelled};
use tokio::time::Instant;

/// Where a listener may be: this machine, any free port.
pub(crate) fn any_port() -> SocketAddr {
    SocketAddr::from(([127, 0, 0, 1], 0))
}

/// A service whose wall clock follows the clock of the runtime, so that paused time is the only time. The lag of the
/// runtime is measured in real time all the same: a machine that is busy with other tests must not make it unready.
pub(crate) fn cart() -> Builder {
    let began = Instant::now();
    let origin = SystemTime::UNIX_EPOCH + Duration::from_millis(1_796_008_360_120);
    Health::builder("cart")
        .instance("cart-0")
        .lag_budget(Duration::from_secs(10))
        .wall_clock(move || origin + began.elapsed())
}

/// A dependency that can be broken, and that counts how often it was asked.
#[derive(Clone, Default)]
pub(crate) struct Dependency(Arc<Parts>);

#[derive(Default)]
struct Parts {
    broken: AtomicBool,
    hangs: AtomicBool,
    asked: AtomicUsize,
    at: Mutex<Vec<Duration>>,
}

impl Dependency {
    pub(crate) fn broken() -> Self {
        let dependency = Self::default();
        dependency.breaks();
        dependency
    }

    pub(crate) fn breaks(&self) {
        self.0.broken.store(true, Ordering::SeqCst);
    }

    pub(crate) fn hangs(&self) {
        self.0.hangs.store(true, Ordering::SeqCst);
    }

    pub(crate) fn recovers(&self) {
        self.0.broken.store(false, Ordering::SeqCst);
        self.0.hangs.store(false, Ordering::SeqCst);
    }

    pub(crate) fn asked(&self) -> usize {
        self.0.asked.load(Ordering::SeqCst)
    }

    /// When it was asked, since the first test of this dependency was made.
    pub(crate) fn asked_at(&self) -> Vec<Duration> {
        self.0.at.lock().expect("nobody panicked with it").clone()
    }

    pub(crate) fn check(&self, name: &str) -> Check<Unlabelled> {
        let parts = Arc::clone(&self.0);
        let began = Instant::now();
        Check::new(name, move || {
            let parts = Arc::clone(&parts);
            async move {
                parts.asked.fetch_add(1, Ordering::SeqCst);
                parts
                    .at
                    .lock()
                    .expect("nobody panicked with it")
                    .push(began.elapsed());
                if parts.hangs.load(Ordering::SeqCst) {
                    std::future::pending::<()>().await;
                }
                if parts.broken.load(Ordering::SeqCst) {
                    return Err(Failure::new(ErrorCategory::ConnectionRefused));
                }
                Ok(())
            }
        })
    }
}

/// Waits until something is so, at most this long by the clock of the runtime.
pub(crate) async fn until(limit: Duration, mut is_so: impl FnMut() -> bool) {
    let began = Instant::now();
    while !is_so() {
        assert!(began.elapsed() < limit, "not so within {limit:?}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// The statuses of the components, in order, by name.
pub(crate) fn statuses(health: &Health) -> Vec<(String, String)> {
    let report = health.report();
    let components = report.components.iter();
    components
        .map(|component| (component.name.to_string(), component.status.to_string()))
        .collect()
}

/// An answer, read to its end.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) code: u16,
    pub(crate) head: String,
    pub(crate) body: String,
}

impl Answer {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().find_map(|line| {
            let (field, value) = line.split_once(": ")?;
            field.eq_ignore_ascii_case(name).then_some(value)
        })
    }

    /// The body without what differs from run to run: how fast the runtime of the test answers.
    pub(crate) fn body_without_lag(&self) -> String {
        let Some((before, lag)) = self.body.split_once(r#","loop_lag_ms":"#) else {
            return self.body.clone();
        };
        let rest = lag.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
        format!("{before}{rest}")
    }

    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.body).expect("a JSON body")
    }
}

/// Asks over a new connection, from this thread: it needs no runtime, so it may be asked while one is blocked.
pub(crate) fn ask(address: SocketAddr, method: &str, path: &str, headers: &str) -> Answer {
    try_ask(address, method, path, headers).expect("an answer")
}

pub(crate) fn get(address: SocketAddr, path: &str) -> Answer {
    ask(address, "GET", path, "")
}

pub(crate) fn try_ask(
    address: SocketAddr,
    method: &str,
    path: &str,
    headers: &str,
) -> io::Result<Answer> {
    let mut stream = TcpStream::connect_timeout(&address, Duration::from_secs(5))?;
    stream.set_read_timeout(Some(Duration::from_secs(5)))?;
    // In one write: a request in pieces would wait for the delayed acknowledgement of its first piece.
    let request =
        format!("{method} {path} HTTP/1.1\r\nhost: probe\r\nconnection: close\r\n{headers}\r\n");
    stream.write_all(request.as_bytes())?;
    let mut text = String::new();
    stream.read_to_string(&mut text)?;
    let (head, body) = text
        .split_once("\r\n\r\n")
        .ok_or_else(|| io::Error::other(format!("no answer but {text:?}")))?;
    let code = head
        .get(9..12)
        .and_then(|code| code.parse().ok())
        .ok_or_else(|| io::Error::other(format!("no code in {head:?}")))?;
    Ok(Answer {
        code,
        head: head.to_owned(),
        body: body.to_owned(),
    })
}

/// A log that a test reads. Only for the thread that holds the guard.
#[derive(Clone, Default)]
pub(crate) struct Log(Arc<Mutex<Vec<u8>>>);

impl Log {
    pub(crate) fn capture() -> (Self, tracing::subscriber::DefaultGuard) {
        let log = Self::default();
        let writer = log.clone();
        let subscriber = tracing_subscriber::fmt()
            .with_max_level(tracing::Level::TRACE)
            .without_time()
            .with_ansi(false)
            .with_writer(move || writer.clone())
            .finish();
        (log, tracing::subscriber::set_default(subscriber))
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8(self.0.lock().expect("nobody panicked with it").clone()).expect("UTF-8")
    }

    /// The lines of this crate.
    pub(crate) fn lines(&self) -> Vec<String> {
        let text = self.text();
        let lines = text.lines().map(str::trim);
        lines
            .filter(|line| line.contains("rootward: "))
            .map(str::to_owned)
            .collect()
    }
}

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0
            .lock()
            .expect("nobody panicked with it")
            .extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
