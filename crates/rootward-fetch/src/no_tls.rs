//! What stands in the place of TLS where the feature is off: nothing that could exist.

use std::time::SystemTime;

use tokio::net::TcpStream;

use crate::TlsFault;
use crate::error::Kind;
use crate::seen::Io;

/// What is spoken over TLS, as the handshake says it (ALPN, RFC 7301).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Speaks {
    /// HTTP/1.1.
    Http1,
    /// HTTP/2.
    #[cfg(feature = "grpc")]
    Http2,
    /// Something else: nothing is said.
    Whatever,
}

/// Nothing is secured without the feature.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Secured {}

impl Secured {
    #[expect(clippy::unused_async, reason = "as with the feature")]
    pub(crate) async fn handshake(
        &self,
        _stream: TcpStream,
        _speaks: Speaks,
    ) -> Result<(Box<dyn Io>, Option<SystemTime>), Kind> {
        match *self {}
    }
}

pub(crate) fn fault_of(_error: &hyper::Error) -> Option<TlsFault> {
    None
}
