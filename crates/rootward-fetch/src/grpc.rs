//! One unary call of gRPC: HTTP/2, one message there and one back, one deadline over the whole of it.
//!
//! The framing is that of <https://github.com/grpc/grpc/blob/master/doc/PROTOCOL-HTTP2.md>. Each call has a connection of its
//! own, which is closed behind it. Nothing runs in the background: the connection moves only while somebody waits.

use std::fmt;
use std::net::SocketAddr;
use std::pin::{Pin, pin};
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::{BufMut, Bytes, BytesMut};
use h2::client::{self, Connection};
use http::header::{CONTENT_TYPE, USER_AGENT};
use http::{HeaderMap, HeaderName, HeaderValue, Method, Request, Version};
use tokio::time::{Instant, timeout_at};

use crate::connect::{Remembered, connect_remembering};
use crate::error::{Kind, Phase, Trace};
use crate::exchange::OUR_NAME;
use crate::seen::{Io, Seen, Watched};
use crate::tls::Speaks;
use crate::{FetchError, Limits, Target, settle};

/// The longest list of headers or trailers that is read, in bytes as HTTP/2 counts them.
const MAX_HEADER_LIST: u32 = 16 * 1024;

/// What stands in front of a message: whether it is compressed, and its length.
const PREFIX_BYTES: usize = 5;

/// Calls one server, on a connection of its own each time.
///
/// The name is looked up for each. Where it does not resolve, or not within a third of the time, the addresses that it had
/// last are asked.
#[derive(Debug)]
pub struct GrpcCaller {
    target: Target,
    remembered: Remembered,
}

/// What to call, and with what.
#[derive(Debug, Clone, Copy)]
pub struct GrpcCall<'a> {
    /// The method: `/grpc.health.v1.Health/Check`.
    pub method: &'static str,
    /// The message, as protobuf writes it.
    pub message: &'a [u8],
    /// Metadata beside what gRPC wants.
    pub headers: &'a [(HeaderName, HeaderValue)],
}

/// What came back.
#[derive(Clone)]
pub struct GrpcAnswer {
    /// The status of HTTP: 200, unless somebody else than a gRPC server has answered.
    pub http_status: u16,
    /// The number of the status of gRPC. `None` if the answer has none, which is no answer of gRPC's.
    pub code: Option<u16>,
    /// The message, where there is one.
    pub message: Option<Bytes>,
    /// The address that answered.
    pub remote: SocketAddr,
    /// Time of the whole call.
    pub took: Duration,
}

impl fmt::Debug for GrpcAnswer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GrpcAnswer")
            .field("http_status", &self.http_status)
            .field("code", &self.code)
            .field("message_bytes", &self.message.as_ref().map(Bytes::len))
            .field("remote", &self.remote)
            .finish_non_exhaustive()
    }
}

impl GrpcCaller {
    /// Calls this host and port; the path means nothing here.
    #[must_use]
    pub fn new(target: Target) -> Self {
        Self {
            target,
            remembered: Remembered::default(),
        }
    }

    /// Calls once. A status of gRPC is an answer, whatever it is.
    ///
    /// # Errors
    /// When there is no complete answer within the limits.
    ///
    /// ```no_run
    /// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
    /// use rootward_fetch::{GrpcCall, GrpcCaller, Limits, Target};
    /// use std::time::Duration;
    ///
    /// let mut stock = GrpcCaller::new(Target::parse("http://stock:50051")?);
    /// let whole_server = GrpcCall { method: "/grpc.health.v1.Health/Check", message: b"", headers: &[] };
    /// let limits = Limits { deadline: Duration::from_secs(2), max_body_bytes: 64 * 1024 };
    /// let answer = stock.call(whole_server, &limits).await?;
    /// println!("{:?} from {}", answer.code, answer.remote);
    /// # Ok(())
    /// # }
    /// ```
    pub async fn call(
        &mut self,
        call: GrpcCall<'_>,
        limits: &Limits,
    ) -> Result<GrpcAnswer, FetchError> {
        let begun = Instant::now();
        let ends = begun + limits.deadline;
        let mut trace = Trace::default();
        let (target, remembered) = (&self.target, &mut self.remembered);
        let asked = async {
            let (stream, remote) =
                connect_remembering(target, remembered, ends, &mut trace).await?;
            let stream: Box<dyn Io> = match target.secured() {
                None => Box::new(stream),
                Some(secured) => {
                    trace.phase = Phase::Securing;
                    secured.handshake(stream, Speaks::Http2).await?.0
                }
            };
            trace.phase = Phase::Waiting;
            let (stream, seen) = Watched::new(stream);
            let parts = exchange(
                stream,
                request(target, call, limits),
                call,
                limits,
                &mut trace,
            )
            .await
            .map_err(|wrong| wrong.kind(&seen, trace.phase))?;
            Ok(GrpcAnswer {
                took: begun.elapsed(),
                remote,
                ..parts
            })
        };
        let outcome = timeout_at(ends, asked).await;
        settle(outcome, limits.deadline, trace)
    }
}

/// Why there is no answer.
enum Wrong {
    /// HTTP/2 says so.
    Http2(h2::Error),
    /// We do.
    Ours(Kind),
}

impl From<h2::Error> for Wrong {
    fn from(error: h2::Error) -> Self {
        Self::Http2(error)
    }
}

impl Wrong {
    /// What it means, by what was seen on the stream.
    fn kind(self, seen: &Seen, phase: Phase) -> Kind {
        match self {
            Self::Ours(kind) => kind,
            // Ended by the other side, in order or not.
            Self::Http2(error) if error.is_remote() || error.is_io() => Kind::Broken {
                phase,
                source: error.into(),
            },
            Self::Http2(error) if seen.has_ended() && !error.is_library() => Kind::Broken {
                phase,
                source: error.into(),
            },
            Self::Http2(error) => Kind::NotHttp2(error.into()),
        }
    }
}

async fn exchange(
    stream: Watched,
    request: Request<()>,
    call: GrpcCall<'_>,
    limits: &Limits,
    trace: &mut Trace,
) -> Result<GrpcAnswer, Wrong> {
    let mut builder = client::Builder::new();
    builder
        .enable_push(false)
        .max_header_list_size(MAX_HEADER_LIST)
        .initial_max_send_streams(1);
    let (sender, connection) = builder.handshake::<_, Bytes>(stream).await?;
    let mut driver = Driver(Some(connection));
    let mut sender = driver.drive(sender.ready()).await?;
    let (answer, mut body) = sender.send_request(request, false)?;
    body.send_data(framed(call.message), true)?;
    let answer = driver.drive(answer).await?;
    trace.phase = Phase::Reading;
    let (head, mut body) = answer.into_parts();
    let http_status = head.status.as_u16();
    let nobody = SocketAddr::from(([0, 0, 0, 0], 0));
    let mut came = GrpcAnswer {
        http_status,
        code: None,
        message: None,
        remote: nobody,
        took: Duration::ZERO,
    };
    let is_grpc = head
        .headers
        .get(CONTENT_TYPE)
        .is_some_and(|value| value.as_bytes().starts_with(b"application/grpc"));
    if !is_grpc {
        return Ok(came);
    }
    // An answer of trailers alone has its status here.
    if let Some(code) = code(&head.headers) {
        came.code = Some(code);
        return Ok(came);
    }
    let mut whole = BytesMut::new();
    while let Some(chunk) = driver
        .drive(std::future::poll_fn(|c| body.poll_data(c)))
        .await
    {
        let chunk = chunk?;
        if whole.len() + chunk.len() > limits.max_body_bytes {
            let max = limits.max_body_bytes;
            return Err(Wrong::Ours(Kind::LongBody { max }));
        }
        body.flow_control().release_capacity(chunk.len())?;
        whole.extend_from_slice(&chunk);
    }
    let trailers = driver
        .drive(std::future::poll_fn(|c| body.poll_trailers(c)))
        .await?;
    came.code = trailers.as_ref().and_then(code);
    came.message = message(&whole.freeze()).map_err(Wrong::Ours)?;
    Ok(came)
}

fn request(target: &Target, call: GrpcCall<'_>, limits: &Limits) -> Request<()> {
    let mut request = Request::new(());
    *request.method_mut() = Method::POST;
    *request.version_mut() = Version::HTTP_2;
    *request.uri_mut() = target.uri_of(call.method);
    let headers = request.headers_mut();
    headers.insert(USER_AGENT, HeaderValue::from_static(OUR_NAME));
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/grpc"));
    headers.insert("te", HeaderValue::from_static("trailers"));
    // At most eight digits.
    let millis = limits.deadline.as_millis().clamp(1, 99_999_999);
    if let Ok(value) = HeaderValue::try_from(format!("{millis}m")) {
        headers.insert("grpc-timeout", value);
    }
    for (name, value) in call.headers {
        headers.insert(name.clone(), value.clone());
    }
    request
}

/// A message with what stands in front of it.
fn framed(message: &[u8]) -> Bytes {
    let mut framed = BytesMut::with_capacity(PREFIX_BYTES + message.len());
    framed.put_u8(0);
    framed.put_u32(u32::try_from(message.len()).unwrap_or(u32::MAX));
    framed.put_slice(message);
    framed.freeze()
}

/// The one message of a body; none in an empty one.
fn message(body: &Bytes) -> Result<Option<Bytes>, Kind> {
    if body.is_empty() {
        return Ok(None);
    }
    let Some((prefix, rest)) = body.split_at_checked(PREFIX_BYTES) else {
        return Err(Kind::BadMessage);
    };
    let length = u32::from_be_bytes([prefix[1], prefix[2], prefix[3], prefix[4]]);
    match (prefix[0], u32::try_from(rest.len()) == Ok(length)) {
        (0, true) => Ok(Some(body.slice(PREFIX_BYTES..))),
        (1, _) => Err(Kind::Encoded),
        (_, _) => Err(Kind::BadMessage),
    }
}

/// The status of gRPC among headers or trailers.
fn code(headers: &HeaderMap) -> Option<u16> {
    headers.get("grpc-status")?.to_str().ok()?.parse().ok()
}

/// The half of a connection that reads and writes; gone once it is over.
struct Driver(Option<Connection<Watched, Bytes>>);

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
        std::future::poll_fn(|context| {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_body_is_one_message_and_nothing_else() {
        let read = |bytes: &'static [u8]| message(&Bytes::from_static(bytes));
        assert!(matches!(read(b""), Ok(None)));
        assert!(matches!(read(b"\0\0\0\0\0"), Ok(Some(empty)) if empty.is_empty()));
        assert!(matches!(read(b"\0\0\0\0\x02\x08\x01"), Ok(Some(whole)) if *whole == *b"\x08\x01"));
        for bad in [
            &b"\0\0\0"[..],
            b"\0\0\0\0\x03\x08\x01",
            b"\0\0\0\0\x01\x08\x01",
            b"\x02\0\0\0\0",
        ] {
            assert!(matches!(
                message(&Bytes::copy_from_slice(bad)),
                Err(Kind::BadMessage)
            ));
        }
        assert!(matches!(read(b"\x01\0\0\0\0"), Err(Kind::Encoded)));
        assert_eq!(
            message(&framed(b"\x08\x01")).ok().flatten().as_deref(),
            Some(&b"\x08\x01"[..])
        );
    }
}
