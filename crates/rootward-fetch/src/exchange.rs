//! One question and one answer on an open connection, within the caps.

use std::future::poll_fn;
use std::net::SocketAddr;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::SystemTime;

use bytes::{Bytes, BytesMut};
use http::header::{ACCEPT_ENCODING, CONNECTION, CONTENT_ENCODING, HOST, USER_AGENT};
use http::{HeaderName, HeaderValue, StatusCode, Version, response};
use http_body_util::{BodyExt, Full};
use hyper::body::{Body, Incoming};
use hyper::client::conn::http1::{self, SendRequest};
use hyper_util::rt::TokioIo;
use tokio::time::Instant;

use crate::Target;
use crate::error::{Kind, Phase, Trace};
use crate::seen::{Io, Seen, Watched};
use crate::tls;

/// The longest head of an answer (status line and headers) that is read, in bytes.
pub const MAX_HEAD_BYTES: usize = 64 * 1024;

/// The most headers that an answer may have.
pub const MAX_HEADERS: usize = 100;

/// What we call ourselves, unless the caller knows better.
pub(crate) const OUR_NAME: &str = concat!("rootward/", env!("CARGO_PKG_VERSION"));

pub(crate) type Message = http::Request<Full<Bytes>>;

/// The question as it is sent.
pub(crate) fn message(
    target: &Target,
    method: http::Method,
    headers: &[(HeaderName, HeaderValue)],
    body: Bytes,
) -> Message {
    let mut message = Message::new(Full::new(body));
    *message.method_mut() = method;
    *message.uri_mut() = target.path_and_query().into();
    let sent = message.headers_mut();
    sent.insert(HOST, target.host_header());
    sent.insert(USER_AGENT, HeaderValue::from_static(OUR_NAME));
    sent.insert(ACCEPT_ENCODING, HeaderValue::from_static("identity"));
    for (name, value) in headers {
        sent.insert(name.clone(), value.clone());
    }
    message
}

/// An open connection. Nothing runs in the background: it moves only while somebody waits for its answer.
pub(crate) struct Live {
    sender: SendRequest<Full<Bytes>>,
    driver: Driver,
    seen: Arc<Seen>,
    pub(crate) remote: SocketAddr,
    pub(crate) certificate_expires: Option<SystemTime>,
    pub(crate) opened: Instant,
}

impl Live {
    pub(crate) async fn new(
        stream: Box<dyn Io>,
        remote: SocketAddr,
        certificate_expires: Option<SystemTime>,
    ) -> Result<Self, Kind> {
        let (watched, seen) = Watched::new(stream);
        let (sender, connection) = http1::Builder::new()
            .max_header_size(MAX_HEAD_BYTES)
            .max_headers(MAX_HEADERS)
            .handshake(TokioIo::new(watched))
            .await
            .map_err(Kind::NotHttp)?;
        Ok(Self {
            sender,
            driver: Driver(Some(connection)),
            seen,
            remote,
            certificate_expires,
            opened: Instant::now(),
        })
    }

    /// Bytes received so far.
    pub(crate) fn received(&self) -> u64 {
        self.seen.received()
    }

    /// Whether another question can be sent, as far as anybody can know before sending it.
    pub(crate) async fn is_idle(&mut self) -> bool {
        poll_fn(|context| {
            self.driver.poll(context);
            Poll::Ready(self.driver.0.is_some() && self.sender.is_ready())
        })
        .await
    }

    /// Sends the question and reads the whole answer.
    pub(crate) async fn exchange(
        &mut self,
        message: Message,
        max_body_bytes: usize,
        trace: &mut Trace,
    ) -> Result<(response::Parts, Bytes), Kind> {
        let without_body = message.method() == http::Method::HEAD;
        trace.phase = Phase::Waiting;
        let answer = self
            .driver
            .drive(self.sender.send_request(message))
            .await
            .map_err(|error| classify(error, &self.seen, trace.phase))?;
        trace.phase = Phase::Reading;
        let (head, body) = answer.into_parts();
        if !without_body && is_encoded(&head) {
            return Err(Kind::Encoded);
        }
        let body = self.body(body, max_body_bytes, trace.phase).await?;
        Ok((head, body))
    }

    async fn body(&mut self, mut body: Incoming, max: usize, phase: Phase) -> Result<Bytes, Kind> {
        let announced = body.size_hint().lower();
        if announced > max as u64 {
            return Err(Kind::LongBody { max });
        }
        let mut first = Bytes::new();
        let mut whole = BytesMut::new();
        while let Some(frame) = self.driver.drive(body.frame()).await {
            let frame = frame.map_err(|error| classify(error, &self.seen, phase))?;
            // Trailers are nobody's business here.
            let Ok(chunk) = frame.into_data() else {
                continue;
            };
            if first.len() + whole.len() + chunk.len() > max {
                return Err(Kind::LongBody { max });
            }
            // Most answers come in one piece, which is then not copied.
            if whole.is_empty() && first.is_empty() {
                first = chunk;
            } else {
                whole.extend_from_slice(&std::mem::take(&mut first));
                whole.extend_from_slice(&chunk);
            }
        }
        Ok(if whole.is_empty() {
            first
        } else {
            whole.freeze()
        })
    }
}

/// Whether the other side agreed to another question on the same connection.
pub(crate) fn keeps_alive(head: &response::Parts) -> bool {
    let closes = head
        .headers
        .get_all(CONNECTION)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .any(|token| token.trim().eq_ignore_ascii_case("close"));
    head.version == Version::HTTP_11 && head.status != StatusCode::SWITCHING_PROTOCOLS && !closes
}

fn is_encoded(head: &response::Parts) -> bool {
    head.headers
        .get_all(CONTENT_ENCODING)
        .iter()
        .any(|value| !value.is_empty() && !value.as_bytes().eq_ignore_ascii_case(b"identity"))
}

/// What a failure of the protocol library means, by what was seen on the stream.
fn classify(error: hyper::Error, seen: &Seen, phase: Phase) -> Kind {
    if let Some(fault) = tls::fault_of(&error) {
        Kind::Tls {
            fault,
            source: error.into(),
        }
    } else if error.is_parse_too_large() {
        Kind::LongHead(error)
    } else if error.is_parse() {
        Kind::NotHttp(error)
    } else if seen.has_ended() {
        Kind::Broken {
            phase,
            source: error.into(),
        }
    } else if phase == Phase::Reading {
        Kind::BadBody(error)
    } else {
        Kind::NotHttp(error)
    }
}

/// The half of a connection that reads and writes; gone once it is over.
struct Driver(Option<http1::Connection<TokioIo<Watched>, Full<Bytes>>>);

impl Driver {
    fn poll(&mut self, context: &mut Context<'_>) {
        if let Some(connection) = &mut self.0
            && Pin::new(connection).poll(context).is_ready()
        {
            // How it ended is told to whoever waits for the answer.
            self.0 = None;
        }
    }

    /// Waits for `wanted` while moving the connection.
    async fn drive<T>(&mut self, wanted: impl Future<Output = T>) -> T {
        let mut wanted = pin!(wanted);
        poll_fn(|context| {
            if let Poll::Ready(result) = wanted.as_mut().poll(context) {
                return Poll::Ready(result);
            }
            self.poll(context);
            // What the connection brought is here now, and a connection that is over wakes nobody again.
            wanted.as_mut().poll(context)
        })
        .await
    }
}
