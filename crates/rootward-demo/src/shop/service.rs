//! One instance of a service: the clients that its work would use, its checks through them, its probes on a port.
//!
//! A service outside of the demo does the same with its own clients; see the example in the crate `rootward`.

use std::net::{Ipv4Addr, SocketAddr};

use deadpool_postgres::{Manager, ManagerConfig, Pool, RecyclingMethod};
use redis::aio::ConnectionManager;
use rootward::{Check, Criticality, Health, Unlabelled};
use tokio_postgres::NoTls;

use super::configuration::Addresses;
use super::plan::{DependencyPlan, ResourceKind, ServicePlan, resource};
use super::speed;
use crate::error::{Error, Kind};

/// Connections of one pool. The shop has no other work for them.
const POOL_SIZE: usize = 2;

/// A running instance.
#[derive(Debug)]
pub(crate) struct RunningService {
    health: Health,
    address: SocketAddr,
}

impl RunningService {
    /// Starts an instance, whose dependencies are at these addresses.
    pub(crate) async fn start(
        plan: &ServicePlan,
        number: usize,
        addresses: &Addresses,
    ) -> Result<Self, Error> {
        let name = plan.name;
        let mut builder = Health::builder(name)
            .instance(number.to_string())
            .version("1.0.0")
            .environment("demo")
            .interval(speed::CHECK_INTERVAL)
            .timeout(speed::CHECK_TIMEOUT)
            .listen(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)));
        for dependency in plan.dependencies {
            let check = check(dependency, number, addresses).await?;
            builder = builder.check(match dependency.criticality {
                Criticality::Hard => check.hard(),
                Criticality::Soft => check.soft(),
                Criticality::Informational => check.informational(),
            });
        }
        let health = builder
            .start()
            .map_err(|source| Kind::Service { name, source })?;
        let address = health.listen_addr().ok_or(Kind::NoAddress { name })?;
        Ok(Self { health, address })
    }

    /// Where its probes are answered.
    pub(crate) const fn address(&self) -> SocketAddr {
        self.address
    }

    /// Stops its checks and its probes.
    pub(crate) async fn stop(self) {
        self.health.stop().await;
    }
}

/// The check of one dependency. Of a service with several instances, each caller is given one, as by a load balancer.
async fn check(
    dependency: &DependencyPlan,
    caller: usize,
    addresses: &Addresses,
) -> Result<Check<Unlabelled>, Error> {
    let name = dependency.on;
    if let Some(resource) = resource(name) {
        let address = addresses
            .resources
            .get(name)
            .ok_or(Kind::NoAddress { name })?;
        return Ok(match resource.kind {
            ResourceKind::PostgreSql => {
                rootward_checks::postgresql(name, pool(name, &address.url)?)
            }
            ResourceKind::Redis => rootward_checks::redis(name, cache(name, &address.url).await?),
        }
        .target(&address.target));
    }
    let instances = addresses
        .services
        .get(name)
        .filter(|instances| !instances.is_empty());
    let instances = instances.ok_or(Kind::NoAddress { name })?;
    let address = instances[caller % instances.len()];
    Ok(rootward_checks::service(
        name,
        &format!("http://{address}/readyz"),
    ))
}

fn pool(name: &'static str, url: &str) -> Result<Pool, Error> {
    let config = url.parse().map_err(|error| client(name, error))?;
    let recycling = ManagerConfig {
        recycling_method: RecyclingMethod::Fast,
    };
    let manager = Manager::from_config(config, NoTls, recycling);
    let built = Pool::builder(manager).max_size(POOL_SIZE).build();
    Ok(built.map_err(|error| client(name, error))?)
}

async fn cache(name: &'static str, url: &str) -> Result<(ConnectionManager, redis::Client), Error> {
    let failed = |error| client(name, error);
    let cache = redis::Client::open(url).map_err(failed)?;
    let manager = ConnectionManager::new(cache.clone())
        .await
        .map_err(failed)?;
    Ok((manager, cache))
}

fn client(name: &'static str, error: impl std::error::Error + Send + Sync + 'static) -> Kind {
    Kind::Client {
        name,
        source: Box::new(error),
    }
}
