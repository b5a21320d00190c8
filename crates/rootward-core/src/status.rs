//! The closed vocabularies: results, statuses, criticality, scope, depth, error categories.
//!
//! Each word is written once, here. `parse` returns `None` for a word it does not know; readers of foreign text turn
//! that into `unknown`, readers of configuration into a problem with a suggestion.

use std::fmt;

/// Declares an enum whose variants are words on the wire and in configuration.
macro_rules! words {
    ($(#[$doc:meta])* $name:ident { $($(#[$variant_doc:meta])* $variant:ident = $word:literal,)+ }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $name { $($(#[$variant_doc])* $variant,)+ }

        impl $name {
            /// Every value, in order of declaration.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)+];

            /// The word, as it is written on the wire and in configuration.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $word,)+ }
            }

            /// Reads the word; `None` if it is not one of ours.
            #[must_use]
            pub fn parse(word: &str) -> Option<Self> {
                match word { $($word => Some(Self::$variant),)+ _ => None }
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result { f.pad(self.as_str()) }
        }
    };
}

words! {
    /// The result of a check, and the observed status of a resource. The order is severity: later is worse, except
    /// that `Unknown` is no evidence at all and is handled by name wherever it matters.
    CheckStatus {
        /// The last result was good.
        Up = "up",
        /// It works, but worse than it should (slow, or not serving).
        Degraded = "degraded",
        /// It failed.
        Down = "down",
        /// No evidence yet, or evidence too old. Neither good nor bad.
        Unknown = "unknown",
    }
}

words! {
    /// The status of one instance, as its own report says it. The order is severity.
    InstanceStatus {
        /// Nothing that matters is wrong.
        Healthy = "healthy",
        /// It serves, with reduced features or without evidence for something hard.
        Degraded = "degraded",
        /// A hard component is down.
        Unhealthy = "unhealthy",
        /// It has not finished booting.
        Starting = "starting",
    }
}

words! {
    /// The status of a service in the aggregator, rolled up from its instances. The order is the one of the screen:
    /// unknown stands between degraded and unhealthy.
    ServiceStatus {
        /// All instances that count are healthy.
        Healthy = "healthy",
        /// Enough instances serve, but not all are healthy.
        Degraded = "degraded",
        /// Too little was seen to say. Never healthy, never down.
        Unknown = "unknown",
        /// Not enough instances serve yet, and those missing are booting.
        Starting = "starting",
        /// Fewer instances serve than are needed.
        Unhealthy = "unhealthy",
    }
}

words! {
    /// What a dependency means to the service that has it.
    Criticality {
        /// The service cannot work without it.
        Hard = "hard",
        /// The service works with reduced features.
        Soft = "soft",
        /// Reported; never changes the rollup.
        Informational = "informational",
    }
}

words! {
    /// Whether a failure concerns one instance or everybody who has the dependency.
    Scope {
        /// This instance alone: a leaked pool, a full disk.
        Local = "local",
        /// Every instance sees it.
        Shared = "shared",
    }
}

words! {
    /// How deep a check looks.
    Depth {
        /// A connection could be made.
        Connect = "connect",
        /// The other side answered a ping.
        Ping = "ping",
        /// The other side's own readiness was asked.
        Readiness = "readiness",
        /// A trivial query on the path of real traffic.
        Query = "query",
    }
}

words! {
    /// Why a check failed, in a word that is safe to show to anybody.
    ErrorCategory {
        /// No answer within the check's own time limit.
        Timeout = "timeout",
        /// Nothing listens there.
        ConnectionRefused = "connection_refused",
        /// The connection broke.
        ConnectionReset = "connection_reset",
        /// The name did not resolve.
        Dns = "dns",
        /// The TLS handshake or the certificate failed.
        Tls = "tls",
        /// Credentials were refused.
        Auth = "auth",
        /// The other side asked for fewer requests.
        RateLimited = "rate_limited",
        /// A local resource ran out: no connection left in the pool, no descriptor.
        ResourceExhausted = "resource_exhausted",
        /// The other side is booting.
        Starting = "starting",
        /// The other side is shutting down.
        ShuttingDown = "shutting_down",
        /// The other side says that it is not ready.
        NotReady = "not_ready",
        /// The other side is ready but says that it cannot serve.
        NotServing = "not_serving",
        /// The evidence is too old.
        Stale = "stale",
        /// An HTTP status that is not a success.
        HttpStatus = "http_status",
        /// The answer was not what the protocol allows.
        Protocol = "protocol",
        /// The answer was a redirect, and those are not followed.
        Redirect = "redirect",
        /// What was asked for does not exist.
        NotFound = "not_found",
        /// The check itself panicked.
        Panic = "panic",
        /// None of the above.
        Unknown = "unknown",
    }
}

impl ErrorCategory {
    /// The category as a phrase for people.
    #[must_use]
    pub const fn phrase(self) -> &'static str {
        match self {
            Self::Timeout => "timed out",
            Self::ConnectionRefused => "connection refused",
            Self::ConnectionReset => "connection reset",
            Self::Dns => "name does not resolve",
            Self::Tls => "TLS failed",
            Self::Auth => "credentials refused",
            Self::RateLimited => "rate limited",
            Self::ResourceExhausted => "no capacity left here",
            Self::Starting => "still starting",
            Self::ShuttingDown => "shutting down",
            Self::NotReady => "not ready",
            Self::NotServing => "ready but not serving",
            Self::Stale => "evidence too old",
            Self::HttpStatus => "HTTP error status",
            Self::Protocol => "not a valid answer",
            Self::Redirect => "answered with a redirect",
            Self::NotFound => "not found",
            Self::Panic => "the check panicked",
            Self::Unknown => "failed",
        }
    }
}
