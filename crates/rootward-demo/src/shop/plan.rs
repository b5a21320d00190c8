//! The shop on paper: who is in it, who depends on whom, and what that means. Everything else is made from this: the
//! checks of the services and the map of the aggregator.

use rootward_core::Criticality::{self, Hard, Informational, Soft};

/// A service of the shop.
#[derive(Debug)]
pub(crate) struct ServicePlan {
    pub(crate) name: &'static str,
    pub(crate) owner: &'static str,
    pub(crate) instances: usize,
    pub(crate) dependencies: &'static [DependencyPlan],
}

/// What a service depends on.
#[derive(Debug)]
pub(crate) struct DependencyPlan {
    pub(crate) on: &'static str,
    pub(crate) criticality: Criticality,
    pub(crate) reason: &'static str,
}

/// A database or a cache: a stand-in with a port of its own.
#[derive(Debug)]
pub(crate) struct ResourcePlan {
    pub(crate) name: &'static str,
    pub(crate) owner: &'static str,
    pub(crate) kind: ResourceKind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ResourceKind {
    PostgreSql,
    Redis,
}

impl ResourceKind {
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::PostgreSql => "postgresql",
            Self::Redis => "redis",
        }
    }
}

/// The database that the stories are about.
pub(crate) const ORDERS_DB: &str = "orders-db";

/// The cache that nobody needs badly.
pub(crate) const CACHE: &str = "cache";

/// The service that the aggregator reaches through a wire that can be cut.
pub(crate) const BEHIND_THE_WIRE: &str = "payments";

pub(crate) const RESOURCES: &[ResourcePlan] = &[
    ResourcePlan {
        name: ORDERS_DB,
        owner: "team-orders",
        kind: ResourceKind::PostgreSql,
    },
    ResourcePlan {
        name: "carts-db",
        owner: "team-shop",
        kind: ResourceKind::PostgreSql,
    },
    ResourcePlan {
        name: "catalogue-db",
        owner: "team-catalogue",
        kind: ResourceKind::PostgreSql,
    },
    ResourcePlan {
        name: "payments-db",
        owner: "team-payments",
        kind: ResourceKind::PostgreSql,
    },
    ResourcePlan {
        name: CACHE,
        owner: "team-platform",
        kind: ResourceKind::Redis,
    },
];

/// Callees before callers: a service is started when those it checks have a port.
pub(crate) const SERVICES: &[ServicePlan] = &[
    ServicePlan {
        name: "mail",
        owner: "team-platform",
        instances: 1,
        dependencies: &[],
    },
    ServicePlan {
        name: "orders",
        owner: "team-orders",
        instances: 2,
        dependencies: &[hard(ORDERS_DB, "every order is a row in it")],
    },
    ServicePlan {
        name: "invoices",
        owner: "team-orders",
        instances: 1,
        dependencies: &[
            hard(ORDERS_DB, "an invoice is written from its order"),
            soft("mail", "invoices that cannot be mailed wait"),
        ],
    },
    ServicePlan {
        name: "shipping",
        owner: "team-logistics",
        instances: 1,
        dependencies: &[hard(ORDERS_DB, "a parcel needs the address of its order")],
    },
    ServicePlan {
        name: "returns",
        owner: "team-logistics",
        instances: 1,
        dependencies: &[hard(ORDERS_DB, "nothing is taken back without its order")],
    },
    ServicePlan {
        name: BEHIND_THE_WIRE,
        owner: "team-payments",
        instances: 1,
        dependencies: &[hard("payments-db", "no payment without its ledger")],
    },
    ServicePlan {
        name: "catalogue",
        owner: "team-catalogue",
        instances: 1,
        dependencies: &[
            hard("catalogue-db", "articles and prices are in it"),
            soft(CACHE, "slower without it"),
        ],
    },
    ServicePlan {
        name: "search",
        owner: "team-catalogue",
        instances: 1,
        dependencies: &[
            hard("catalogue-db", "the index is read from it"),
            soft(CACHE, "slower without it"),
        ],
    },
    ServicePlan {
        name: "cart",
        owner: "team-shop",
        instances: 1,
        dependencies: &[
            hard("carts-db", "no cart can be read without it"),
            hard("catalogue", "a cart shows prices"),
            soft(CACHE, "slower without it"),
        ],
    },
    ServicePlan {
        name: "checkout",
        owner: "team-shop",
        instances: 1,
        dependencies: &[
            hard("cart", "there is nothing to buy without a cart"),
            hard("orders", "the order is placed there"),
            hard("payments", "nobody buys without paying"),
            informational("mail", "the confirmation is sent later"),
        ],
    },
    ServicePlan {
        name: "back-office",
        owner: "team-orders",
        instances: 1,
        dependencies: &[
            hard("invoices", "accounting is what it is for"),
            hard("shipping", "parcels are handed over with it"),
            hard("returns", "returns are decided in it"),
        ],
    },
    ServicePlan {
        name: "front",
        owner: "team-shop",
        instances: 1,
        dependencies: &[
            hard("checkout", "a shop must sell"),
            hard("catalogue", "there is nothing to look at without it"),
            soft("search", "people can browse instead"),
        ],
    },
];

/// The resource of this name; a dependency that is none is a service.
pub(crate) fn resource(name: &str) -> Option<&'static ResourcePlan> {
    RESOURCES.iter().find(|resource| resource.name == name)
}

/// How many instances there are.
pub(crate) fn instance_count() -> usize {
    SERVICES.iter().map(|service| service.instances).sum()
}

const fn hard(on: &'static str, reason: &'static str) -> DependencyPlan {
    DependencyPlan {
        on,
        criticality: Hard,
        reason,
    }
}

const fn soft(on: &'static str, reason: &'static str) -> DependencyPlan {
    DependencyPlan {
        on,
        criticality: Soft,
        reason,
    }
}

const fn informational(on: &'static str, reason: &'static str) -> DependencyPlan {
    DependencyPlan {
        on,
        criticality: Informational,
        reason,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_service_comes_after_what_it_calls() {
        let mut known: Vec<&str> = RESOURCES.iter().map(|resource| resource.name).collect();
        for service in SERVICES {
            for dependency in service.dependencies {
                assert!(
                    known.contains(&dependency.on),
                    "{} depends on {}, which is not started before it",
                    service.name,
                    dependency.on
                );
            }
            assert!(!known.contains(&service.name), "{} twice", service.name);
            known.push(service.name);
        }
    }

    #[test]
    fn the_orders_database_is_needed_by_at_least_four_services() {
        let needs = |service: &&ServicePlan| {
            let mut dependencies = service.dependencies.iter();
            dependencies.any(|d| d.on == ORDERS_DB && d.criticality == Hard)
        };
        assert!(SERVICES.len() >= 8);
        assert!(SERVICES.iter().filter(needs).count() >= 4);
    }
}
