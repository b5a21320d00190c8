//! The shop: stand-ins, services that use them, and the wire in front of one of them. Everything answers on a port of
//! its own of 127.0.0.1.

use std::collections::BTreeMap;
use std::io;

use rootward_fetch::Target;
use rootward_testkit::postgres::StandInPostgres;
use rootward_testkit::redis::StandInRedis;
use rootward_testkit::wire::{CuttableWire, WireState};
use rootward_testkit::{Control, Mood};

use crate::error::{Error, Kind};
use crate::probes::Instance;

pub(crate) mod configuration;
pub(crate) mod plan;
mod service;
pub(crate) mod speed;

use configuration::{Addresses, ResourceAddress};
use plan::{BEHIND_THE_WIRE, RESOURCES, ResourceKind, ResourcePlan, SERVICES};
use service::RunningService;

/// A running shop.
#[derive(Debug)]
pub(crate) struct Shop {
    stand_ins: BTreeMap<&'static str, StandIn>,
    services: Vec<RunningService>,
    wire: CuttableWire,
    /// As the aggregator is configured with them: one of them is the wire's.
    addresses: Addresses,
    /// As an orchestrator would reach them.
    instances: Vec<Instance>,
}

impl Shop {
    /// Starts everything, callees before callers.
    pub(crate) async fn start() -> Result<Self, Error> {
        let mut stand_ins = BTreeMap::new();
        for resource in RESOURCES {
            stand_ins.insert(resource.name, StandIn::start(resource)?);
        }
        let resources = stand_ins
            .iter()
            .map(|(name, stand_in)| (*name, stand_in.address()));
        let mut own = Addresses {
            resources: resources.collect(),
            services: BTreeMap::new(),
        };
        let mut services = Vec::new();
        let mut instances = Vec::new();
        for plan in SERVICES {
            for number in 0..plan.instances {
                let service = RunningService::start(plan, number, &own).await?;
                let address = service.address();
                own.services.entry(plan.name).or_default().push(address);
                instances.push(Instance {
                    id: format!("{}#{number}", plan.name),
                    base: Target::parse(&format!("http://{address}/")).map_err(Kind::Address)?,
                });
                services.push(service);
            }
        }
        let wire = lay_wire(&own)?;
        let mut addresses = own;
        addresses
            .services
            .insert(BEHIND_THE_WIRE, vec![wire.addr()]);
        Ok(Self {
            stand_ins,
            services,
            wire,
            addresses,
            instances,
        })
    }

    /// Where the aggregator finds everything.
    pub(crate) const fn addresses(&self) -> &Addresses {
        &self.addresses
    }

    /// Every instance, at its own port.
    pub(crate) fn instances(&self) -> &[Instance] {
        &self.instances
    }

    /// Changes how a database or a cache behaves, and waits until it does.
    pub(crate) async fn set_mood(&self, resource: &str, mood: Mood) -> io::Result<()> {
        match self.stand_ins.get(resource) {
            Some(stand_in) => stand_in.mood().change(mood).await,
            None => Err(io::Error::other(format!("the shop has no {resource}"))),
        }
    }

    /// Changes what the wire in front of one service does with what it carries, and waits until it does.
    pub(crate) async fn set_wire(&self, state: WireState) -> io::Result<()> {
        self.wire.control().change(state).await
    }

    /// Ends everything, callers before callees, and returns when no task and no thread is left.
    pub(crate) async fn stop(self) {
        self.wire.stop().await;
        for service in self.services.into_iter().rev() {
            service.stop().await;
        }
        for stand_in in self.stand_ins.into_values() {
            stand_in.stop().await;
        }
    }
}

/// The aggregator's way to one service. The service and its callers know nothing of it.
fn lay_wire(own: &Addresses) -> Result<CuttableWire, Error> {
    let name = BEHIND_THE_WIRE;
    let failed = |source| Kind::Wire { name, source };
    let target = own
        .services
        .get(name)
        .and_then(|instances| instances.first());
    let target = target.ok_or_else(|| failed(io::Error::other("it does not run")))?;
    Ok(CuttableWire::start(0, *target).map_err(failed)?)
}

/// A database or a cache that is none.
#[derive(Debug)]
enum StandIn {
    PostgreSql(StandInPostgres),
    Redis(StandInRedis),
}

impl StandIn {
    fn start(plan: &ResourcePlan) -> Result<Self, Error> {
        let failed = |source| Kind::StandIn {
            name: plan.name,
            source,
        };
        Ok(match plan.kind {
            ResourceKind::PostgreSql => {
                Self::PostgreSql(StandInPostgres::start(0).map_err(failed)?)
            }
            ResourceKind::Redis => Self::Redis(StandInRedis::start(0).map_err(failed)?),
        })
    }

    fn address(&self) -> ResourceAddress {
        match self {
            Self::PostgreSql(stand_in) => ResourceAddress {
                url: stand_in.url(),
                target: format!("postgresql://{}/stand_in", stand_in.addr()),
            },
            Self::Redis(stand_in) => ResourceAddress {
                url: stand_in.url(),
                target: format!("redis://{}/0", stand_in.addr()),
            },
        }
    }

    fn mood(&self) -> Control<Mood> {
        match self {
            Self::PostgreSql(stand_in) => stand_in.mood(),
            Self::Redis(stand_in) => stand_in.mood(),
        }
    }

    async fn stop(self) {
        match self {
            Self::PostgreSql(stand_in) => stand_in.stop().await,
            Self::Redis(stand_in) => stand_in.stop().await,
        }
    }
}
