//! Who asks, as far as the server that hosts the mounted service says.

use std::net::SocketAddr;

use http::Extensions;

/// The address of the peer of a connection, put into the extensions of each request by the server that hosts
/// [`HealthService`](crate::HealthService).
///
/// The detailed report is for callers on this machine, so the service must know who asks. An axum application says it
/// with `into_make_service_with_connect_info::<SocketAddr>()` and needs no `Peer`; if both are there, `Peer` counts.
/// Without either nobody is taken for a caller on this machine.
///
/// Put in the address that the socket has, never one that a header names.
///
/// ```
/// use rootward::Peer;
///
/// let peer = std::net::SocketAddr::from(([127, 0, 0, 1], 51234));
/// let mut request = http::Request::get("/health").body(())?;
/// request.extensions_mut().insert(Peer(peer));
/// # Ok::<_, http::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Peer(pub SocketAddr);

pub(super) fn peer_of(extensions: &Extensions) -> Option<SocketAddr> {
    let said = extensions.get::<Peer>().map(|Peer(address)| *address);
    #[cfg(feature = "axum")]
    let said = said.or_else(|| {
        use axum::extract::ConnectInfo;
        let connection = extensions.get::<ConnectInfo<SocketAddr>>();
        connection.map(|ConnectInfo(address)| *address)
    });
    said
}
