//! A bare connection, for a question that is not HTTP.

use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::{Instant, timeout_at};

use crate::connect::connect;
use crate::error::{Phase, Trace};
use crate::seen::Io;
use crate::tls::Speaks;
use crate::{FetchError, Target, settle};

/// A connection on which nothing has been asked yet.
pub struct Dialed {
    stream: Stream,
    remote: SocketAddr,
}

enum Stream {
    Plain(TcpStream),
    Secured(Box<dyn Io>),
}

impl fmt::Debug for Dialed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Dialed")
            .field("remote", &self.remote)
            .field("is_secured", &matches!(self.stream, Stream::Secured(_)))
            .finish_non_exhaustive()
    }
}

/// Opens a plain connection to the target's host and port and asks nothing on it: what [`fetch`](crate::fetch) does
/// before it asks, for checks that speak another protocol. The path of the target means nothing here.
///
/// Every address of the name gets a share of the time; dropping the future closes the socket.
///
/// # Errors
/// When no address accepts within the deadline.
///
/// ```no_run
/// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
/// use rootward_fetch::{Target, dial};
/// use std::time::Duration;
///
/// let connection = dial(&Target::parse("http://cache:11211")?, Duration::from_secs(1)).await?;
/// # Ok(())
/// # }
/// ```
pub async fn dial(target: &Target, deadline: Duration) -> Result<Dialed, FetchError> {
    let ends = Instant::now() + deadline;
    let mut trace = Trace::default();
    let outcome = timeout_at(ends, connect(target, ends, &mut trace)).await;
    let (stream, remote) = settle(outcome, deadline, trace)?;
    Ok(Dialed {
        stream: Stream::Plain(stream),
        remote,
    })
}

impl Dialed {
    /// The address that accepted.
    #[must_use]
    pub const fn remote(&self) -> SocketAddr {
        self.remote
    }

    /// Makes the handshake of TLS, at once or after what a protocol says before it (STARTTLS). For a target that is not
    /// `https`, and on a connection that has made it, nothing happens.
    ///
    /// # Errors
    /// When it is not made within the deadline, or the certificate is not to be trusted.
    pub async fn secure(self, target: &Target, deadline: Duration) -> Result<Self, FetchError> {
        let (secured, stream) = match (target.secured(), self.stream) {
            (Some(secured), Stream::Plain(stream)) => (secured, stream),
            (_, stream) => {
                let remote = self.remote;
                return Ok(Self { stream, remote });
            }
        };
        let trace = Trace {
            phase: Phase::Securing,
            remote: Some(self.remote),
            ..Trace::default()
        };
        let outcome =
            tokio::time::timeout(deadline, secured.handshake(stream, Speaks::Whatever)).await;
        let (stream, _) = settle(outcome, deadline, trace)?;
        Ok(Self {
            stream: Stream::Secured(stream),
            remote: self.remote,
        })
    }
}

impl AsyncRead for Dialed {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        match &mut self.stream {
            Stream::Plain(stream) => Pin::new(stream).poll_read(context, buffer),
            Stream::Secured(stream) => Pin::new(stream).poll_read(context, buffer),
        }
    }
}

impl AsyncWrite for Dialed {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        match &mut self.stream {
            Stream::Plain(stream) => Pin::new(stream).poll_write(context, bytes),
            Stream::Secured(stream) => Pin::new(stream).poll_write(context, bytes),
        }
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &mut self.stream {
            Stream::Plain(stream) => Pin::new(stream).poll_flush(context),
            Stream::Secured(stream) => Pin::new(stream).poll_flush(context),
        }
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &mut self.stream {
            Stream::Plain(stream) => Pin::new(stream).poll_shutdown(context),
            Stream::Secured(stream) => Pin::new(stream).poll_shutdown(context),
        }
    }
}
