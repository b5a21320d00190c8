//! From a target to an open connection: the name looked up, every address given a share of the time.

use std::io;
use std::net::{SocketAddr, ToSocketAddrs};
use std::sync::Arc;
use std::time::Duration;

use tokio::net::TcpStream;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::spawn_blocking;
use tokio::time::{Instant, timeout};

use crate::Target;
use crate::error::{Kind, Phase, Trace};

/// The most addresses of one name that are tried.
pub const MAX_ADDRESSES: usize = 8;

/// The most name lookups at the same time in this process. The resolver of the operating system cannot be cancelled:
/// a lookup that hangs keeps its place until the resolver gives up, and never more than this many threads.
pub const MAX_LOOKUPS: usize = 64;

/// How much of the time a lookup may take where addresses are remembered that can be asked instead, as a divisor.
const LOOKUP_SHARE: u32 = 3;

/// Opens a connection. The caller holds the deadline; it is known here to divide the time between addresses.
pub(crate) async fn connect(
    target: &Target,
    deadline: Instant,
    trace: &mut Trace,
) -> Result<(TcpStream, SocketAddr), Kind> {
    trace.phase = Phase::Resolving;
    let found = addresses(target).await?;
    connect_to(found, deadline, trace).await
}

/// The addresses that a name resolved to last; empty before the first time.
#[derive(Debug, Default)]
pub(crate) struct Remembered(Vec<SocketAddr>);

/// As [`connect`]; where the name does not resolve, or not in its share of the time, the addresses of before are tried.
pub(crate) async fn connect_remembering(
    target: &Target,
    remembered: &mut Remembered,
    deadline: Instant,
    trace: &mut Trace,
) -> Result<(TcpStream, SocketAddr), Kind> {
    if remembered.0.is_empty() {
        trace.phase = Phase::Resolving;
        remembered.0 = addresses(target).await?;
        return connect_to(remembered.0.clone(), deadline, trace).await;
    }
    trace.phase = Phase::Resolving;
    let left = deadline.saturating_duration_since(Instant::now());
    match timeout(left / LOOKUP_SHARE, addresses(target)).await {
        Ok(Ok(found)) => remembered.0 = found,
        Ok(Err(Kind::Lookup(_))) | Err(_) => trace.remembered = true,
        Ok(Err(other)) => return Err(other),
    }
    connect_to(remembered.0.clone(), deadline, trace).await
}

async fn connect_to(
    addresses: Vec<SocketAddr>,
    deadline: Instant,
    trace: &mut Trace,
) -> Result<(TcpStream, SocketAddr), Kind> {
    trace.phase = Phase::Connecting;
    let mut failure = None;
    let mut silent = false;
    let count = addresses.len().min(MAX_ADDRESSES);
    for (index, address) in addresses.into_iter().take(MAX_ADDRESSES).enumerate() {
        trace.remote = Some(address);
        let left = deadline.saturating_duration_since(Instant::now());
        let attempt = timeout(share(left, count - index), TcpStream::connect(address));
        match attempt.await {
            Ok(Ok(stream)) => {
                // A question is one small packet; waiting to fill it would only add latency.
                stream.set_nodelay(true).map_err(Kind::Connect)?;
                return Ok((stream, address));
            }
            Ok(Err(error)) => match connect_error(address, error) {
                Kind::Refused(error) => trace.refused = Some(error),
                other => failure = failure.or(Some(other)),
            },
            Err(_) => silent = true,
        }
    }
    match (trace.refused.take(), failure) {
        (Some(refused), _) => Err(Kind::Refused(refused)),
        (None, Some(failure)) if !silent => Err(failure),
        // The caller's deadline, which passes with the last share, knows the number for the sentence.
        (None, _) => std::future::pending().await,
    }
}

/// Those that are known, or those that the resolver knows.
pub(crate) async fn addresses(target: &Target) -> Result<Vec<SocketAddr>, Kind> {
    let found = match target.addresses() {
        Some(known) => known,
        None => look_up(target).await.map_err(Kind::Lookup)?,
    };
    let allowed = target.allowed(found);
    if allowed.is_empty() {
        return Err(Kind::LinkLocal);
    }
    Ok(allowed)
}

/// The time for one of `addresses` that are left: with one, everything; with more, one share stays for the exchange.
fn share(left: Duration, addresses: usize) -> Duration {
    match u32::try_from(addresses) {
        Ok(0 | 1) | Err(_) => left,
        Ok(addresses) => left / (addresses + 1),
    }
}

async fn look_up(target: &Target) -> io::Result<Vec<SocketAddr>> {
    static LOOKUPS: std::sync::LazyLock<Arc<Semaphore>> =
        std::sync::LazyLock::new(|| Arc::new(Semaphore::new(MAX_LOOKUPS)));
    let place = LOOKUPS
        .clone()
        .acquire_owned()
        .await
        .map_err(io::Error::other)?;
    let (host, port) = (target.host().to_owned(), target.port());
    let found = spawn_blocking(move || resolve(&place, &host, port)).await;
    let addresses = alternate(found.map_err(io::Error::other)??);
    if addresses.is_empty() {
        return Err(io::Error::other("the name has no address"));
    }
    Ok(addresses)
}

/// Asks the operating system. Holds its place until the answer, however long its caller has been gone.
fn resolve(_place: &OwnedSemaphorePermit, host: &str, port: u16) -> io::Result<Vec<SocketAddr>> {
    Ok((host, port).to_socket_addrs()?.collect())
}

/// Families in turn, beginning with the resolver's first choice, so that the other one is always the second try.
fn alternate(addresses: Vec<SocketAddr>) -> Vec<SocketAddr> {
    let Some(first) = addresses.first().map(SocketAddr::is_ipv4) else {
        return addresses;
    };
    let (mut preferred, mut others): (Vec<_>, Vec<_>) = addresses
        .into_iter()
        .rev()
        .partition(|address| address.is_ipv4() == first);
    let mut ordered = Vec::with_capacity(preferred.len() + others.len());
    loop {
        match (preferred.pop(), others.pop()) {
            (None, None) => return ordered,
            (one, other) => ordered.extend(one.into_iter().chain(other)),
        }
    }
}

fn connect_error(address: SocketAddr, error: io::Error) -> Kind {
    /// Too many open files: in this process, in this machine. The standard library has no stable kind for them.
    const NO_DESCRIPTOR: [i32; 2] = [24, 23];
    if error
        .raw_os_error()
        .is_some_and(|code| NO_DESCRIPTOR.contains(&code))
    {
        return Kind::Exhausted(error);
    }
    match error.kind() {
        io::ErrorKind::ConnectionRefused => Kind::Refused(error),
        io::ErrorKind::HostUnreachable | io::ErrorKind::NetworkUnreachable => Kind::NoRoute(error),
        // For IPv4 every local port is taken; for IPv6 it is how a machine without the family says so.
        io::ErrorKind::AddrNotAvailable if address.is_ipv4() => Kind::Exhausted(error),
        io::ErrorKind::AddrNotAvailable => Kind::NoRoute(error),
        _ => Kind::Connect(error),
    }
}

#[cfg(test)]
mod tests {
    use super::{Kind, alternate, connect_error, share};
    use std::io;
    use std::time::Duration;

    #[test]
    fn a_silent_address_leaves_time_for_the_next_and_for_the_answer() {
        let second = Duration::from_secs(1);
        assert_eq!(share(second, 1), second);
        assert_eq!(share(second, 3), Duration::from_millis(250));
    }

    #[test]
    fn the_second_try_is_the_other_family() {
        let given = ["[::1]:1", "[::2]:1", "[::3]:1", "10.0.0.1:1"].map(|a| a.parse().unwrap());
        let tried: Vec<String> = alternate(given.to_vec())
            .iter()
            .map(ToString::to_string)
            .collect();
        assert_eq!(tried, ["[::1]:1", "10.0.0.1:1", "[::2]:1", "[::3]:1"]);
    }

    #[test]
    fn running_out_of_descriptors_or_ports_is_our_own_failure() {
        let v4 = "127.0.0.1:1".parse().unwrap();
        for error in [
            io::Error::from_raw_os_error(24),
            io::Error::from_raw_os_error(23),
            io::ErrorKind::AddrNotAvailable.into(),
        ] {
            assert!(matches!(connect_error(v4, error), Kind::Exhausted(_)));
        }
    }
}
