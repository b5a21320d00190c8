//! The closed vocabularies of the format.

use serde::{Deserialize, Serialize};

macro_rules! words {
    ($(#[$doc:meta])* $name:ident { $($(#[$variant_doc:meta])* $variant:ident = $word:literal,)+ }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        pub enum $name { $($(#[$variant_doc])* #[serde(rename = $word)] $variant,)+ }

        impl $name {
            /// Every value.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)+];

            /// The word as it stands in a scenario.
            #[must_use]
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $word,)+ }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.as_str())
            }
        }
    };
}

words! {
    /// What a node of the map is. Only services have instances and make reports.
    NodeKind {
        /// Made by us; has instances.
        Service = "service",
        /// A database.
        Database = "database",
        /// A cache.
        Cache = "cache",
        /// A queue.
        Queue = "queue",
        /// Somebody else's.
        External = "external",
    }
}

words! {
    /// How much a node matters.
    Criticality {
        /// Little.
        Low = "low",
        /// Somewhat.
        Medium = "medium",
        /// Much.
        High = "high",
        /// Most.
        Critical = "critical",
    }
}

words! {
    /// What the failure of a dependency does to its caller.
    EdgeLabel {
        /// A request fails without it.
        Hard = "hard",
        /// A request is served poorer without it.
        Soft = "soft",
        /// Nothing waits for it.
        Informational = "informational",
    }
}

words! {
    /// What a caller looks at.
    CheckDepth {
        /// A connection: sees a dead or unreachable process, not a sick application.
        Ping = "ping",
        /// The dependency's own cheap readiness.
        Readiness = "readiness",
    }
}

words! {
    /// What a check said.
    CheckStatus {
        /// Good.
        Up = "up",
        /// It answers, poorly.
        Degraded = "degraded",
        /// It does not.
        Down = "down",
        /// Nobody knows.
        Unknown = "unknown",
    }
}

words! {
    /// How a check failed.
    ErrorClass {
        /// No answer in time.
        Timeout = "timeout",
        /// Nobody listens.
        Refused = "refused",
        /// The name is not known.
        Dns = "dns",
        /// Certificates or protocol.
        Tls = "tls",
        /// Credentials.
        Auth = "auth",
        /// It answered that it cannot.
        Http5xx = "http_5xx",
        /// It answered too late to be good.
        Slow = "slow",
    }
}

words! {
    /// What a root cause is a fault of. The word is the part of its id before the colon.
    CauseKind {
        /// A service or a resource as a whole.
        Node = "node",
        /// One instance.
        Instance = "instance",
        /// The way from one service to another node.
        Edge = "edge",
        /// The way from one instance to a node.
        InstanceEdge = "instance_edge",
        /// A host.
        Host = "host",
        /// A zone, cut off from the others.
        Zone = "zone",
        /// The way from the aggregator to a zone: the view is broken, the services are not.
        Poller = "poller",
        /// A release of a service.
        Version = "version",
    }
}

words! {
    /// How a root cause shows.
    CauseState {
        /// It does not work.
        Down = "down",
        /// It works poorly.
        Degraded = "degraded",
        /// It works now and then.
        Intermittent = "intermittent",
        /// It cannot be seen.
        Cut = "cut",
    }
}
