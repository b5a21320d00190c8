//! A stand-in for a service that others ask over HTTP/1.1: whatever the path, it gives the answer that it was told to give.
//!
//! What it understands: requests without a body, one after another on a connection or several at once. What it does not:
//! bodies, upgrades, HTTP/2, TLS.

use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};

use bytes::BytesMut;
use tokio::net::TcpStream;

use crate::control::Control;
use crate::conversation::{Dialect, Malformed, Next, Pace, converse};
use crate::counter::Counter;
use crate::front::{Front, Serve};
use crate::gate::Gate;
use crate::mood::Mood;

/// The longest head of a request.
const MAX_HEAD: usize = 16 * 1024;

/// What a service says about its readiness when all is well.
const READY: &str = r#"{"ready":true,"reasons":[],"serving":true}"#;

/// A stand-in for a service, listening on 127.0.0.1. It answers 200 and `ready` until it is told otherwise.
///
/// Dropping it aborts its tasks; [`StandInHttp::stop`] also waits for them.
#[derive(Debug)]
pub struct StandInHttp {
    front: Front<Mood>,
    queries: Counter,
    said: Arc<Mutex<Said>>,
}

/// What it answers, and what it was asked with.
#[derive(Debug)]
struct Said {
    status: u16,
    body: String,
    /// Requests with the header `rootward-check-from`.
    from_checks: u64,
}

impl StandInHttp {
    /// Starts on `port` of 127.0.0.1, or on a free one for 0, in [`Mood::Healthy`].
    ///
    /// # Errors
    ///
    /// The port cannot be listened on, or there is no tokio runtime here.
    pub fn start(port: u16) -> io::Result<Self> {
        let queries = Counter::new();
        let said = Arc::new(Mutex::new(Said {
            status: 200,
            body: READY.to_owned(),
            from_checks: 0,
        }));
        let serve = ServeHttp {
            queries: queries.clone(),
            said: Arc::clone(&said),
        };
        Ok(Self {
            front: Front::start(port, Mood::Healthy, serve)?,
            queries,
            said,
        })
    }

    /// Where it listens.
    #[must_use]
    pub fn addr(&self) -> SocketAddr {
        self.front.addr()
    }

    /// The handle that changes its mood.
    #[must_use]
    pub fn mood(&self) -> Control<Mood> {
        self.front.control()
    }

    /// From here on every question gets this status and this body, as JSON.
    pub fn answer_with(&self, status: u16, body: impl Into<String>) {
        let mut said = self.said.lock().unwrap_or_else(PoisonError::into_inner);
        said.status = status;
        said.body = body.into();
    }

    /// From here on every question gets 200 and a body that says `ready`, as at the start.
    pub fn answer_ready(&self) {
        self.answer_with(200, READY);
    }

    /// Connections accepted so far.
    #[must_use]
    pub fn connections_seen(&self) -> u64 {
        self.front.connections().seen()
    }

    /// Requests received so far, answered or not.
    #[must_use]
    pub fn queries_seen(&self) -> u64 {
        self.queries.seen()
    }

    /// Requests answered so far that said with `Rootward-Check-From` that they are checks.
    #[must_use]
    pub fn checks_seen(&self) -> u64 {
        let said = self.said.lock().unwrap_or_else(PoisonError::into_inner);
        said.from_checks
    }

    /// Closes the port, resets the connections, and returns when none of its tasks is left.
    pub async fn stop(self) {
        self.front.stop().await;
    }
}

#[derive(Clone, Debug)]
struct ServeHttp {
    queries: Counter,
    said: Arc<Mutex<Said>>,
}

impl Serve for ServeHttp {
    type Condition = Mood;

    async fn serve(
        &self,
        stream: &mut TcpStream,
        _number: u64,
        gate: &Gate<Mood>,
    ) -> io::Result<()> {
        let session = Session(Arc::clone(&self.said));
        converse(stream, session, gate, &self.queries).await
    }
}

struct Session(Arc<Mutex<Said>>);

/// What matters of a request.
#[derive(Clone, Copy)]
struct Asked {
    without_body: bool,
    is_check: bool,
    is_last: bool,
}

impl Dialect for Session {
    type Request = Asked;

    fn decode(&mut self, inbox: &mut BytesMut) -> Result<Option<Asked>, Malformed> {
        let Some(end) = inbox.windows(4).position(|four| four == b"\r\n\r\n") else {
            return if inbox.len() > MAX_HEAD {
                Err(Malformed("the head is longer than 16 KiB"))
            } else {
                Ok(None)
            };
        };
        let head = inbox.split_to(end + 4);
        let Ok(head) = std::str::from_utf8(&head) else {
            return Err(Malformed("the head is not text"));
        };
        let mut lines = head.split("\r\n");
        let request = lines.next().unwrap_or_default();
        if !request.ends_with(" HTTP/1.1") && !request.ends_with(" HTTP/1.0") {
            return Err(Malformed("this is not HTTP/1.1"));
        }
        let mut asked = Asked {
            without_body: request.starts_with("HEAD "),
            is_check: false,
            is_last: request.ends_with("1.0"),
        };
        for line in lines {
            let (name, value) = line.split_once(':').unwrap_or((line, ""));
            match name.to_ascii_lowercase().as_str() {
                "rootward-check-from" => asked.is_check = true,
                "connection" => asked.is_last |= value.trim().eq_ignore_ascii_case("close"),
                "transfer-encoding" => return Err(Malformed("requests have no body here")),
                "content-length" if value.trim() != "0" => {
                    return Err(Malformed("requests have no body here"));
                }
                _ => {}
            }
        }
        Ok(Some(asked))
    }

    fn pace(_request: &Asked) -> Pace {
        Pace::Query
    }

    fn answer(&mut self, asked: Asked, outbox: &mut BytesMut) -> Next {
        let mut said = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        said.from_checks += u64::from(asked.is_check);
        let connection = if asked.is_last { "close" } else { "keep-alive" };
        let (status, length) = (said.status, said.body.len());
        let head = format!(
            "HTTP/1.1 {status} Stand-In\r\ncontent-type: application/json\r\ncontent-length: {length}\r\nconnection: {connection}\r\n\r\n"
        );
        outbox.extend_from_slice(head.as_bytes());
        if !asked.without_body {
            outbox.extend_from_slice(said.body.as_bytes());
        }
        if asked.is_last {
            Next::Close
        } else {
            Next::Send
        }
    }

    fn answer_malformed(&mut self, malformed: Malformed, outbox: &mut BytesMut) {
        let text = malformed.0;
        let length = text.len();
        let answer = format!(
            "HTTP/1.1 400 Stand-In\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{text}"
        );
        outbox.extend_from_slice(answer.as_bytes());
    }
}
