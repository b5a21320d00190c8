//! How far it is to a server, without asking it anything.

use std::net::SocketAddr;
use std::time::{Duration, SystemTime};

use tokio::time::{Instant, timeout_at};

use crate::connect::{addresses, connect};
use crate::error::{Phase, Trace};
use crate::tls::Speaks;
use crate::{FetchError, Target, settle};

/// Resolves the name of a target, for protocols that are not asked here.
///
/// # Errors
/// When there is no address within the deadline.
pub async fn resolve(target: &Target, deadline: Duration) -> Result<Vec<SocketAddr>, FetchError> {
    let outcome = timeout_at(Instant::now() + deadline, addresses(target)).await;
    settle(outcome, deadline, Trace::default())
}

/// A server that can be reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reached {
    /// The address that was reached.
    pub remote: SocketAddr,
    /// When the certificate that it showed ends; `None` where no TLS was spoken.
    pub certificate_expires: Option<SystemTime>,
    /// Time until it was reached: name, connection, handshake.
    pub took: Duration,
}

/// Makes a connection, with a `https` target also the handshake of TLS, and closes it. The path of the target is of no
/// interest. Nothing is said about HTTP in the handshake, so it can be any server that begins with TLS.
///
/// # Errors
/// When it is not reached within the deadline, which covers the whole.
///
/// ```no_run
/// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
/// use rootward_fetch::{Target, reach};
/// use std::time::Duration;
///
/// let reached = reach(&Target::parse("http://mail:25")?, Duration::from_secs(2)).await?;
/// println!("{} in {:?}", reached.remote, reached.took);
/// # Ok(())
/// # }
/// ```
pub async fn reach(target: &Target, deadline: Duration) -> Result<Reached, FetchError> {
    let begun = Instant::now();
    let mut trace = Trace::default();
    let reaching = async {
        let (stream, remote) = connect(target, begun + deadline, &mut trace).await?;
        let certificate_expires = match target.secured() {
            None => None,
            Some(secured) => {
                trace.phase = Phase::Securing;
                secured.handshake(stream, Speaks::Whatever).await?.1
            }
        };
        Ok(Reached {
            remote,
            certificate_expires,
            took: begun.elapsed(),
        })
    };
    let outcome = timeout_at(begun + deadline, reaching).await;
    settle(outcome, deadline, trace)
}
