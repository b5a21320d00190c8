//! Who may ask for what, and how often: what an application says about it, and the one place that decides.

#[cfg(test)]
mod captured;
#[cfg(feature = "tls")]
mod certificates;
mod failures;
mod file;
mod gate;
mod level;
mod misuse;
mod rate;
mod source;
mod token;
mod tokens;
mod watch;

#[cfg(feature = "tls")]
pub use certificates::ClientCertificates;
#[cfg(feature = "tls")]
pub(crate) use certificates::{ClientCertificate, ClientName};
pub(crate) use gate::{Caller, Gate, Principal, Refusal};
pub(crate) use level::Level;
#[cfg(feature = "tls")]
pub(crate) use rate::Rate;
pub use token::{Token, TokenDigest, TokenError};
pub use tokens::{MAX_TOKENS, Tokens, TokensError};
pub(crate) use watch::watch_files;
#[cfg(feature = "tls")]
pub(crate) use watch::{Contents, Files, read_all};

/// Who may read the detailed routes: `/health`, `/health/deep` and `/metrics`.
///
/// `/livez`, `/readyz`, `/healthz` and `/startupz` are for everybody and never limited; `/status` is for everybody and
/// limited. Without a word about it the detailed routes answer callers on this machine.
///
/// ```
/// use rootward::{Access, Health, Tokens};
///
/// # fn digest() -> &'static str {
/// #     "rw1_00f1e2d3c4b5a697:sha256:5feceb66ffc86f38d952786c6d696c79c2dbc239dd4e91b46729d73a27fb57e9"
/// # }
/// let access = Access::loopback().tokens(Tokens::digests([digest()]));
/// let builder = Health::builder("cart").access(access);
/// ```
///
/// # Levels and limits
///
/// | level | routes | who | how often |
/// | --- | --- | --- | --- |
/// | open | `/livez`, `/readyz`, `/healthz`, `/startupz` | everybody | never limited |
/// | public | `/status` | everybody | 10 a second for each source, 50 at once |
/// | detailed | `/health`, `/metrics` | callers on this machine, tokens, certificates | 20 a second for each caller, 1,000 in all |
/// | deep | `/health/deep` | the same | the same; its runs have a limit of their own |
///
/// A source is an IPv4 address or an IPv6 network of 64 bits. Beyond a limit the answer is 429 with `Retry-After` (RFC
/// 6585, section 4). `docs/access.md` has all limits.
#[derive(Debug, Clone)]
#[must_use = "it says nothing until it is given to Builder::access"]
pub struct Access {
    pub(crate) loopback: bool,
    pub(crate) tokens: Option<Tokens>,
    pub(crate) open_metrics: bool,
    pub(crate) unlimited_rates: bool,
    #[cfg(feature = "tls")]
    pub(crate) certificates: Option<ClientCertificates>,
}

impl Access {
    /// Callers on this machine, judged by the address of the peer. A request that a proxy passed on (`Forwarded`, `Via`,
    /// `X-Real-IP`, `X-Forwarded-…`) does not count as one: whose it is was written in a header by somebody else. Nor
    /// does one whose `Host` is a name with a dot, other than `….localhost`: it came through a proxy that says nothing,
    /// or from a page in a browser of this machine.
    ///
    /// A proxy on this machine that asks for `Host: 127.0.0.1` and adds no header looks like a caller on this machine
    /// (nginx does that if it is told nothing else): keep the detailed paths out of it, or use
    /// [`Access::without_loopback`].
    pub const fn loopback() -> Self {
        Self {
            loopback: true,
            tokens: None,
            open_metrics: false,
            unlimited_rates: false,
            #[cfg(feature = "tls")]
            certificates: None,
        }
    }

    /// Callers on this machine must show a token or a certificate as well: for machines that are shared.
    ///
    /// Without [`Access::tokens`] or client certificates the detailed routes then answer nobody; the start says that
    /// this is a problem.
    ///
    /// ```
    /// use rootward::{Access, Tokens};
    ///
    /// // A build machine that many people can log in to.
    /// let access = Access::loopback()
    ///     .without_loopback()
    ///     .tokens(Tokens::file("/run/secrets/health-tokens"));
    /// ```
    pub fn without_loopback(mut self) -> Self {
        self.loopback = false;
        self
    }

    /// Whoever shows one of these tokens as `Authorization: Bearer`.
    ///
    /// A request that shows a token is judged by it, wherever it comes from: a wrong one is refused from this machine
    /// too, so that a rotation can be tried out there.
    pub fn tokens(mut self, tokens: Tokens) -> Self {
        self.tokens = Some(tokens);
        self
    }

    /// Whoever shows one of these certificates; the port speaks TLS as well then. Liveness, readiness, startup and the
    /// public word are answered without one, with and without TLS.
    ///
    /// ```
    /// use rootward::{Access, ClientCertificates};
    ///
    /// let certificates = ClientCertificates::new("tls.crt", "tls.key", "ca.crt")
    ///     .allow_uri("spiffe://example.org/aggregator");
    /// let access = Access::loopback().client_certificates(certificates);
    /// ```
    #[cfg(feature = "tls")]
    pub fn client_certificates(mut self, certificates: ClientCertificates) -> Self {
        self.certificates = Some(certificates);
        self
    }

    /// `/metrics` is for everybody, limited like `/status`. It names dependencies: only where the network is trusted.
    ///
    /// ```
    /// // Prometheus scrapes from inside the cluster's own network and has no token.
    /// let access = rootward::Access::loopback().open_metrics();
    /// ```
    pub fn open_metrics(mut self) -> Self {
        self.open_metrics = true;
        self
    }

    /// Requests are not counted: for benchmarks, which ask more often than anybody should. Failed tokens still are.
    ///
    /// ```
    /// let access = rootward::Access::loopback().unlimited_rates();
    /// ```
    pub fn unlimited_rates(mut self) -> Self {
        self.unlimited_rates = true;
        self
    }
}

impl Default for Access {
    fn default() -> Self {
        Self::loopback()
    }
}
