//! One server that is asked without a driver: where it is, how it is shown, and who asks.

use rootward_fetch::Target;

#[cfg(any(
    feature = "amqp",
    feature = "kafka",
    feature = "nats",
    feature = "smtp"
))]
use super::Roots;
use super::url::Url;
use super::{Secret, Unusable};

/// A server out of a URL. What is shown of it has no user and no password.
#[derive(Debug, Clone)]
pub(crate) struct Server {
    /// The host and the port.
    pub(crate) at: Target,
    /// `scheme://host:port`
    pub(crate) identity: String,
    pub(crate) user: Option<Secret>,
    pub(crate) password: Option<Secret>,
    /// Behind the first slash, as it was written.
    pub(crate) path: String,
}

impl Server {
    /// Reads the URL, and what stands beside it.
    #[cfg(any(feature = "kafka", feature = "memcached"))]
    pub(crate) fn read(
        url: &Secret,
        user: Option<Secret>,
        password: Option<Secret>,
        schemes: &'static [&'static str],
        port: u16,
    ) -> Result<Self, Unusable> {
        let (scheme, url) = Url::parse(url, schemes)?;
        let at = Target::parse(&url.identity("http", port, ""));
        Self::of(scheme, &url, user, password, port, at.ok())
    }

    /// Reads the URL likewise. Of two schemes and their ports, the second is the one with TLS.
    #[cfg(any(feature = "amqp", feature = "nats", feature = "smtp"))]
    pub(crate) fn read_secured(
        url: &Secret,
        user: Option<Secret>,
        password: Option<Secret>,
        schemes: &'static [&'static str; 2],
        ports: [u16; 2],
        roots: &Roots,
    ) -> Result<Self, Unusable> {
        let (scheme, url) = Url::parse(url, schemes)?;
        if scheme == schemes[1] {
            let at = Target::parse_with(&url.identity("https", ports[1], ""), &roots.load()?);
            Self::of(scheme, &url, user, password, ports[1], at.ok())
        } else {
            let at = Target::parse(&url.identity("http", ports[0], ""));
            Self::of(scheme, &url, user, password, ports[0], at.ok())
        }
    }

    fn of(
        scheme: &'static str,
        url: &Url<'_>,
        user: Option<Secret>,
        password: Option<Secret>,
        port: u16,
        at: Option<Target>,
    ) -> Result<Self, Unusable> {
        if !url.query.is_empty() {
            return Err(Unusable::because(&[
                "the URL has parameters, which are not read",
            ]));
        }
        let (user, password) = url.login(user, password)?;
        if user.is_none() != password.is_none() {
            return Err(Unusable::because(&[
                "a user and a password are given together or not at all",
            ]));
        }
        let identity = url.identity(scheme, port, "");
        let Some(at) = at else {
            return Err(Unusable::because(&[
                "the host of the URL cannot be connected to",
            ]));
        };
        Ok(Self {
            at,
            identity,
            user,
            password,
            path: url.path.to_owned(),
        })
    }

    /// The same server, with TLS.
    #[cfg(any(feature = "kafka", feature = "smtp"))]
    pub(crate) fn secured(&self, roots: &Roots) -> Result<Target, Unusable> {
        let (host, port) = (self.at.host(), self.at.port());
        Target::parse_with(&format!("https://{host}:{port}"), &roots.load()?)
            .map_err(|_| Unusable::because(&["no certificate can be for the host of the URL"]))
    }

    /// The user and the password, where they are given.
    pub(crate) fn login(&self) -> Option<(&str, &str)> {
        Some((
            self.user.as_ref()?.reveal(),
            self.password.as_ref()?.reveal(),
        ))
    }

    #[cfg(any(
        feature = "kafka",
        feature = "memcached",
        feature = "nats",
        feature = "smtp"
    ))]
    /// For kinds of which a URL has nothing behind the port.
    pub(crate) fn without_path(self) -> Result<Self, Unusable> {
        if self.path.is_empty() {
            Ok(self)
        } else {
            Err(Unusable::because(&[
                "the URL has a path, which means nothing here",
            ]))
        }
    }
}
