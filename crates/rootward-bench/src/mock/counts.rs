//! What a mock counts: answers, of whom, and the time between two of one.

use std::cell::RefCell;
use std::rc::Rc;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio::time::Instant;

/// The longest gap that is told apart, in milliseconds.
const MAX_GAP_MS: usize = 60_000;

/// Everything that is counted.
#[derive(Debug)]
pub(super) struct Counts {
    start: Instant,
    answers: u64,
    /// Since the start, by service.
    of_service: Vec<u32>,
    /// Since the last reset, by service.
    since_reset: Vec<u32>,
    /// When each was asked last, in milliseconds since the start.
    last: Vec<Option<u32>>,
    /// How many pairs of questions came how many milliseconds after each other.
    gaps: Vec<u32>,
    connections: usize,
    opened: u64,
}

impl Counts {
    pub(super) fn new() -> Self {
        Self {
            start: Instant::now(),
            answers: 0,
            of_service: Vec::new(),
            since_reset: Vec::new(),
            last: Vec::new(),
            gaps: vec![0; MAX_GAP_MS + 1],
            connections: 0,
            opened: 0,
        }
    }

    /// Counts an answer; which of this service it is.
    pub(super) fn answered(&mut self, number: u32) -> u32 {
        self.answers += 1;
        let at = number as usize;
        if self.of_service.len() <= at {
            self.of_service.resize(at + 1, 0);
            self.since_reset.resize(at + 1, 0);
            self.last.resize(at + 1, None);
        }
        let now = u32::try_from(self.start.elapsed().as_millis()).unwrap_or(u32::MAX);
        if let Some(last) = self.last[at].replace(now) {
            let gap = (now - last) as usize;
            self.gaps[gap.min(MAX_GAP_MS)] += 1;
        }
        self.since_reset[at] += 1;
        self.of_service[at] += 1;
        self.of_service[at]
    }

    fn reset(&mut self) {
        self.gaps.fill(0);
        self.since_reset.fill(0);
    }

    /// `answers services least connections opened p1 p50 p99 max`, the last four of the gaps.
    fn told(&self) -> String {
        let asked = self.since_reset.iter().filter(|count| **count > 0);
        let least = self.since_reset.iter().min().copied().unwrap_or_default();
        let gaps: u64 = self.gaps.iter().map(|count| u64::from(*count)).sum();
        let gap = |per_mille: u64| {
            let rank = (gaps * per_mille).div_ceil(1_000).max(1);
            let mut seen = 0;
            let at = self.gaps.iter().position(|count| {
                seen += u64::from(*count);
                seen >= rank
            });
            at.unwrap_or_default()
        };
        format!(
            "{} {} {least} {} {} {} {} {} {}",
            self.answers,
            asked.count(),
            self.connections,
            self.opened,
            gap(10),
            gap(500),
            gap(990),
            gap(1_000)
        )
    }
}

/// A connection that is counted as long as this lives.
#[derive(Debug)]
pub(super) struct Open(Rc<RefCell<Counts>>);

impl Open {
    pub(super) fn new(counts: Rc<RefCell<Counts>>) -> Self {
        {
            let mut counts = counts.borrow_mut();
            counts.connections += 1;
            counts.opened += 1;
        }
        Self(counts)
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        self.0.borrow_mut().connections -= 1;
    }
}

/// Answers `/count` with what was counted, and `/reset` with the same before it begins anew.
pub(super) async fn tell(listener: TcpListener, counts: Rc<RefCell<Counts>>) {
    loop {
        let Ok((mut stream, _)) = listener.accept().await else {
            return;
        };
        let counts = Rc::clone(&counts);
        tokio::task::spawn_local(async move {
            let mut question = [0; 512];
            // A question of ours comes in one piece.
            while let Ok(read @ 1..) = stream.read(&mut question).await {
                let told = counts.borrow().told();
                if question[..read].starts_with(b"GET /reset") {
                    counts.borrow_mut().reset();
                }
                let length = told.len();
                let answer = format!("HTTP/1.1 200 OK\r\ncontent-length: {length}\r\n\r\n{told}");
                if stream.write_all(answer.as_bytes()).await.is_err() {
                    return;
                }
            }
        });
    }
}
