//! TLS to Redis, always verified: the driver's connection on a stream of our own, so that roots and words are those of
//! everything else here.

use std::time::Duration;

use redis::aio::MultiplexedConnection;
use redis::{AsyncConnectionConfig, RedisConnectionInfo};
use rootward::{ErrorCategory, Failure};
use rootward_fetch::{FetchError, Target, Tls, dial};
use tokio::task::JoinSet;

use super::redis_nodes::Node;
use super::{Roots, Unusable};
use crate::redis::of_driver;

/// Longer than any check may take: it is the run that is cut off.
const LIMIT: Duration = Duration::from_secs(60);

/// Who vouches for the servers.
#[derive(Debug, Clone)]
pub(crate) struct Authority(Tls);

impl Authority {
    pub(crate) fn read(roots: &Roots) -> Result<Self, Unusable> {
        roots.load().map(Self)
    }

    /// Whether a certificate can be for this host.
    pub(crate) fn target(&self, (host, port): &Node) -> Result<Target, Unusable> {
        let host = match host.contains(':') {
            true => format!("[{host}]"),
            false => host.clone(),
        };
        Target::parse_with(&format!("https://{host}:{port}"), &self.0)
            .map_err(|_| Unusable::because(&["no certificate can be for the host of the URL"]))
    }

    /// The driver's task ends with the set.
    pub(crate) async fn connect(
        &self,
        node: &Node,
        info: &RedisConnectionInfo,
    ) -> Result<(MultiplexedConnection, JoinSet<()>), Failure> {
        let target = self.target(node).map_err(|_| {
            Failure::new(ErrorCategory::Tls).because("no certificate can be for the host")
        })?;
        let plain = dial(&target, LIMIT).await.map_err(no_connection)?;
        let secured = plain.secure(&target, LIMIT).await.map_err(no_connection)?;
        // The check's own time limit is the only one.
        let config = AsyncConnectionConfig::new()
            .set_connection_timeout(None)
            .set_response_timeout(None);
        let made = MultiplexedConnection::new_with_config(info, secured, config).await;
        let (connection, driver) = made.map_err(of_driver)?;
        let mut driving = JoinSet::new();
        driving.spawn(driver);
        Ok((connection, driving))
    }
}

fn no_connection(error: FetchError) -> Failure {
    let failure = Failure::new(error.category());
    let failure = match error.tls_fault() {
        Some(fault) => failure.because(fault.phrase()),
        None => failure,
    };
    failure.caused_by(error)
}
