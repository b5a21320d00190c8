//! What stands in the place of TLS where the feature is off: nothing that could exist.

use std::time::SystemTime;

use tokio::net::TcpStream;

use crate::TlsFault;
use crate::error::Kind;
use crate::seen::Io;

/// Nothing is secured without the feature.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Secured {}

impl Secured {
    #[expect(clippy::unused_async, reason = "as with the feature")]
    pub(crate) async fn handshake(
        &self,
        _stream: TcpStream,
        _for_http: bool,
    ) -> Result<(Box<dyn Io>, Option<SystemTime>), Kind> {
        match *self {}
    }
}

pub(crate) fn fault_of(_error: &hyper::Error) -> Option<TlsFault> {
    None
}
