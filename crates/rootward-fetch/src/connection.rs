//! One connection to one target, kept open between questions.

use std::fmt;
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderName, HeaderValue, Method, response};
use tokio::time::{Instant, timeout_at};

use crate::connect::{Remembered, connect_remembering};
use crate::error::{Kind, Trace};
use crate::exchange::{Live, Message, keeps_alive, message};
use crate::{Answer, FetchError, Limits, Target, TargetError, live, settle};

/// An older connection is replaced before the next question, so that a name that moved is followed.
pub const MAX_CONNECTION_AGE: Duration = Duration::from_secs(60);

/// A connection to one target: opened when needed, used again after a complete answer and only then.
///
/// A connection that failed, timed out, or whose future was dropped is closed, so that packets lost on it fail at most
/// one question. If a connection that was kept turns out to be closed before any byte of the answer, the question is
/// asked once more on a fresh one, within the same deadline.
///
/// The name is looked up whenever a connection is opened. Where it does not resolve, or not within a third of the time, the
/// addresses that it had last are asked: an outage of the name service is none of the target's.
pub struct Connection {
    target: Target,
    max_age: Duration,
    idle: Option<Live>,
    remembered: Remembered,
    by_memory: bool,
}

impl Connection {
    /// No connection yet.
    #[must_use]
    pub fn new(target: Target) -> Self {
        Self {
            target,
            max_age: MAX_CONNECTION_AGE,
            idle: None,
            remembered: Remembered::default(),
            by_memory: false,
        }
    }

    /// With another age than [`MAX_CONNECTION_AGE`]; zero means a fresh connection for each question.
    #[must_use]
    pub fn max_age(self, max_age: Duration) -> Self {
        Self { max_age, ..self }
    }

    /// Whom it asks for what.
    #[must_use]
    pub const fn target(&self) -> &Target {
        &self.target
    }

    /// From now on it asks the same host for this.
    ///
    /// # Errors
    /// When the path cannot be sent.
    pub fn set_path(&mut self, path: &str) -> Result<(), TargetError> {
        self.target = self.target.with_path(path)?;
        Ok(())
    }

    /// Whether a connection is held open at the moment.
    #[must_use]
    pub const fn is_open(&self) -> bool {
        self.idle.is_some()
    }

    /// Whether the name did not resolve when a connection was opened last, so that the addresses of before were tried.
    #[must_use]
    pub const fn is_by_memory(&self) -> bool {
        self.by_memory
    }

    /// Closes what is open; the next question opens a fresh one.
    pub fn close(&mut self) {
        self.idle = None;
    }

    /// Asks. The headers are as in [`Request`](crate::Request).
    ///
    /// # Errors
    /// When there is no complete answer within the limits.
    pub async fn get(
        &mut self,
        headers: &[(HeaderName, HeaderValue)],
        limits: &Limits,
    ) -> Result<Answer, FetchError> {
        self.within(Method::GET, headers, Bytes::new(), limits)
            .await
    }

    /// Asks for the headers alone.
    ///
    /// # Errors
    /// When there is no complete answer within the limits.
    pub async fn head(
        &mut self,
        headers: &[(HeaderName, HeaderValue)],
        limits: &Limits,
    ) -> Result<Answer, FetchError> {
        self.within(Method::HEAD, headers, Bytes::new(), limits)
            .await
    }

    /// Asks with a body, for interfaces that want even their questions in one. The question must change nothing at
    /// the other end: it may be asked twice, as any other here.
    ///
    /// # Errors
    /// When there is no complete answer within the limits.
    pub async fn post(
        &mut self,
        headers: &[(HeaderName, HeaderValue)],
        body: Bytes,
        limits: &Limits,
    ) -> Result<Answer, FetchError> {
        self.within(Method::POST, headers, body, limits).await
    }

    async fn within(
        &mut self,
        method: Method,
        headers: &[(HeaderName, HeaderValue)],
        body: Bytes,
        limits: &Limits,
    ) -> Result<Answer, FetchError> {
        let begun = Instant::now();
        let deadline = begun + limits.deadline;
        let mut trace = Trace::default();
        let message = message(&self.target, method, headers, body);
        let asked = self.ask(message, limits, begun, &mut trace);
        let outcome = timeout_at(deadline, asked).await;
        settle(outcome, limits.deadline, trace)
    }

    async fn ask(
        &mut self,
        message: Message,
        limits: &Limits,
        begun: Instant,
        trace: &mut Trace,
    ) -> Result<Answer, Kind> {
        // Taken out: whatever happens from here on, only a complete answer puts it back.
        if let Some(mut live) = self.idle.take()
            && live.opened.elapsed() < self.max_age
            && live.is_idle().await
        {
            trace.remote = Some(live.remote);
            let before = live.received();
            match live
                .exchange(message.clone(), limits.max_body_bytes, trace)
                .await
            {
                Ok(answer) => return Ok(self.keep(live, answer, begun, None)),
                Err(Kind::Broken { .. }) if live.received() == before => {}
                Err(failure) => return Err(failure),
            }
        }
        let deadline = begun + limits.deadline;
        let connected = connect_remembering(&self.target, &mut self.remembered, deadline, trace);
        let connected = connected.await;
        self.by_memory = trace.remembered;
        let (stream, remote) = connected?;
        let mut live = live(&self.target, stream, remote, trace).await?;
        let connected = begun.elapsed();
        let answer = live.exchange(message, limits.max_body_bytes, trace).await?;
        Ok(self.keep(live, answer, begun, Some(connected)))
    }

    fn keep(
        &mut self,
        live: Live,
        (head, body): (response::Parts, Bytes),
        begun: Instant,
        connected: Option<Duration>,
    ) -> Answer {
        let (remote, certificate_expires) = (live.remote, live.certificate_expires);
        if keeps_alive(&head) {
            self.idle = Some(live);
        }
        Answer {
            status: head.status.as_u16(),
            headers: head.headers,
            body,
            remote,
            certificate_expires,
            connected,
            took: begun.elapsed(),
        }
    }
}

impl fmt::Debug for Connection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Connection")
            .field("target", &self.target)
            .field("open", &self.is_open())
            .finish_non_exhaustive()
    }
}
