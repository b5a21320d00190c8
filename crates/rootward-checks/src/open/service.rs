//! Another service, from a URL.

use rootward::{Check, Unlabelled};
use rootward_fetch::Target;

use super::{Roots, Unusable};

/// Which service, and who vouches for it.
///
/// ```
/// use rootward_checks::open::{Roots, ServiceSettings};
///
/// let settings = ServiceSettings {
///     roots: Roots::File("/etc/ssl/company.pem".into()),
///     ..ServiceSettings::new("https://rates:8790/readyz")
/// };
/// ```
#[derive(Debug, Clone)]
pub struct ServiceSettings {
    /// The URL of its readiness: `http://`, or `https://` with the feature `service-tls`.
    pub url: String,
    /// Whose certificates are believed, with `https://`.
    pub roots: Roots,
}

impl ServiceSettings {
    /// Whatever the URL says.
    pub fn new(url: impl Into<String>) -> Self {
        Self {
            url: url.into(),
            roots: Roots::System,
        }
    }
}

/// The readiness of another service. It fails as [`crate::service`] does, and with `tls` when the certificate of the
/// service is not to be trusted.
///
/// # Errors
/// When the URL cannot be asked, wants TLS without the feature `service-tls`, or when roots cannot be read.
///
/// ```
/// use rootward_checks::open::{self, ServiceSettings};
///
/// let check = open::service("rates", ServiceSettings::new("http://rates:8790/readyz"))?.soft();
/// # Ok::<(), open::Unusable>(())
/// ```
pub fn service(
    name: impl Into<String>,
    settings: ServiceSettings,
) -> Result<Check<Unlabelled>, Unusable> {
    let ServiceSettings { url, roots } = settings;
    let is_plain = url
        .get(..7)
        .is_some_and(|start| start.eq_ignore_ascii_case("http://"));
    if is_plain && roots != Roots::System {
        return Err(Unusable::because(&["roots are of no use without https://"]));
    }
    Ok(crate::service::asking(name, target(&url, &roots)?))
}

#[cfg(feature = "service-tls")]
pub(crate) fn target(url: &str, roots: &Roots) -> Result<Target, Unusable> {
    roots.target(url)
}

#[cfg(not(feature = "service-tls"))]
pub(crate) fn target(url: &str, _: &Roots) -> Result<Target, Unusable> {
    Ok(Target::parse(url)?)
}
