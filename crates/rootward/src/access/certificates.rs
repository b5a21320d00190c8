//! Client certificates: which files they are judged by, and whose names are let in.

use std::fmt;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

/// How often the files are looked at, unless it is said.
const CHECK_EVERY: Duration = Duration::from_secs(10);

/// The longest time between two looks: replaced files are in use within a minute.
const LONGEST_CHECK: Duration = Duration::from_secs(55);

/// The most names that are let in.
pub(crate) const MAX_CLIENT_NAMES: usize = 64;

/// Mutual TLS on the probe port, for the detailed routes. Needs the feature `tls`.
///
/// The port then speaks both: a connection that begins with a TLS handshake is TLS 1.2 or 1.3, any other is plain. So
/// probes of orchestrators and load balancers, which have no certificate, reach liveness, readiness, startup and
/// `/status` as before, in plain or over TLS without a certificate. A client certificate that is shown must be issued
/// by the authority, or there is no connection; a detailed route is answered if one of its subject alternative names
/// is allowed here. Names are compared exactly; the common name is not looked at (RFC 9525, section 6.3).
///
/// The files are PEM. They are looked at every 10 s, and what was replaced is used for new connections. What cannot be
/// used (a key that does not belong to the certificate, half a file) changes nothing, and one warning says so. A
/// connection lives for ten minutes at most, so that what was taken back is gone by then.
///
/// ```
/// use rootward::{Access, ClientCertificates, Health};
///
/// let certificates = ClientCertificates::new("/run/tls/tls.crt", "/run/tls/tls.key", "/run/tls/ca.crt")
///     .allow_uri("spiffe://example.org/aggregator")
///     .allow_dns("aggregator.internal");
/// let access = Access::loopback().client_certificates(certificates);
/// let builder = Health::builder("cart").access(access);
/// ```
#[derive(Debug, Clone)]
#[must_use = "it says nothing until it is given to Access::client_certificates"]
pub struct ClientCertificates {
    pub(crate) certificate: PathBuf,
    pub(crate) key: PathBuf,
    pub(crate) authority: PathBuf,
    pub(crate) names: Vec<ClientName>,
    pub(crate) check_every: Duration,
}

impl ClientCertificates {
    /// The service's own certificate with the chain behind it, its private key, and the authorities that issue the
    /// certificates of clients.
    pub fn new(
        certificate: impl Into<PathBuf>,
        key: impl Into<PathBuf>,
        authority: impl Into<PathBuf>,
    ) -> Self {
        Self {
            certificate: certificate.into(),
            key: key.into(),
            authority: authority.into(),
            names: Vec::new(),
            check_every: CHECK_EVERY,
        }
    }

    /// Lets in certificates with this DNS name, compared without regard to case.
    pub fn allow_dns(mut self, name: impl AsRef<str>) -> Self {
        self.names.push(ClientName::dns(name.as_ref()));
        self
    }

    /// Lets in certificates with this URI, such as a SPIFFE identity, compared byte by byte.
    pub fn allow_uri(mut self, uri: impl AsRef<str>) -> Self {
        self.names.push(ClientName::Uri(uri.as_ref().into()));
        self
    }

    /// How often the files are looked at; 10 s, at most 55 s, so that what was replaced is in use within a minute.
    ///
    /// ```
    /// use std::time::Duration;
    /// use rootward::ClientCertificates;
    ///
    /// // Certificates that live for an hour and are renewed early: there is no hurry.
    /// let certificates = ClientCertificates::new("tls.crt", "tls.key", "ca.crt")
    ///     .allow_dns("aggregator.monitoring.svc")
    ///     .check_every(Duration::from_secs(30));
    /// ```
    pub const fn check_every(mut self, interval: Duration) -> Self {
        self.check_every = interval;
        self
    }

    /// What is wrong with what was said; the files are looked at elsewhere.
    pub(super) fn problems(&self) -> Vec<String> {
        let mut problems = Vec::new();
        if self.names.is_empty() {
            problems.push("no name is allowed, so no certificate would be".to_owned());
        }
        if self.names.len() > MAX_CLIENT_NAMES {
            problems.push(format!(
                "{} names are too many, at most {MAX_CLIENT_NAMES} can be allowed",
                self.names.len()
            ));
        }
        if self.names.iter().any(ClientName::is_empty) {
            problems.push("an allowed name is empty".to_owned());
        }
        if self.check_every < Duration::from_millis(1) || self.check_every > LONGEST_CHECK {
            problems.push("the files must be looked at every 1 ms to 55 s".to_owned());
        }
        problems
    }
}

/// A subject alternative name.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum ClientName {
    Dns(Box<str>),
    Uri(Box<str>),
}

impl ClientName {
    pub(crate) fn dns(name: &str) -> Self {
        Self::Dns(name.to_ascii_lowercase().into())
    }

    fn is_empty(&self) -> bool {
        match self {
            Self::Dns(name) | Self::Uri(name) => name.is_empty(),
        }
    }
}

impl fmt::Display for ClientName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Dns(name) | Self::Uri(name) => f.write_str(name),
        }
    }
}

/// What a client proved with the certificate of its connection: it was issued by the authority.
#[derive(Debug)]
pub(crate) struct ClientCertificate {
    pub(crate) names: Vec<ClientName>,
    /// A connection can outlive it.
    pub(crate) expires: SystemTime,
}

impl ClientCertificate {
    /// The first of these names that it has, as long as it is valid.
    pub(super) fn one_of<'n>(
        &self,
        allowed: &'n [ClientName],
        wall: SystemTime,
    ) -> Option<&'n ClientName> {
        if wall > self.expires {
            return None;
        }
        allowed.iter().find(|name| self.names.contains(name))
    }
}
