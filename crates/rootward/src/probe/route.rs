//! Which paths there are, and what each may be asked.

use http::Method;

use crate::access::Level;

/// One path that is answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Endpoint {
    Livez,
    Readyz,
    /// Readiness under another name. Load balancers are wired to it by habit, so it must not fail for a shared
    /// dependency.
    Healthz,
    Startupz,
    Status,
    Health,
    /// All checks run now.
    Deep,
    Metrics,
}

impl Endpoint {
    pub(crate) const ALL: [Self; 8] = [
        Self::Livez,
        Self::Readyz,
        Self::Healthz,
        Self::Startupz,
        Self::Status,
        Self::Health,
        Self::Deep,
        Self::Metrics,
    ];

    /// By the exact path: a rule for a prefix would open what lies below it.
    pub(crate) fn of(path: &str) -> Option<Self> {
        Self::ALL
            .into_iter()
            .find(|endpoint| endpoint.path() == path)
    }

    pub(crate) const fn path(self) -> &'static str {
        match self {
            Self::Livez => "/livez",
            Self::Readyz => "/readyz",
            Self::Healthz => "/healthz",
            Self::Startupz => "/startupz",
            Self::Status => "/status",
            Self::Health => "/health",
            Self::Deep => "/health/deep",
            Self::Metrics => "/metrics",
        }
    }

    /// Who may ask.
    pub(crate) const fn level(self) -> Level {
        match self {
            Self::Livez | Self::Readyz | Self::Healthz | Self::Startupz => Level::Open,
            Self::Status => Level::Public,
            Self::Health => Level::Detailed,
            Self::Deep => Level::Deep,
            Self::Metrics => Level::Metrics,
        }
    }

    /// Whether a check of another service is sent away: what it asks for could ask further services.
    pub(super) const fn refuses_checks(self) -> bool {
        match self {
            Self::Health | Self::Deep => true,
            Self::Livez
            | Self::Readyz
            | Self::Healthz
            | Self::Startupz
            | Self::Status
            | Self::Metrics => false,
        }
    }
}

/// What is done to a path. Every path is asked in the same ways.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Asked {
    /// GET, or HEAD: the same answer, and the server leaves the body out (RFC 9110, section 9.3.2).
    Read,
    /// OPTIONS: in which ways it may be asked.
    Ways,
}

impl Asked {
    /// The methods, for `allow`.
    pub(super) const METHODS: &'static str = "GET, HEAD, OPTIONS";

    pub(super) fn by(method: &Method) -> Option<Self> {
        match *method {
            Method::GET | Method::HEAD => Some(Self::Read),
            Method::OPTIONS => Some(Self::Ways),
            _ => None,
        }
    }
}
