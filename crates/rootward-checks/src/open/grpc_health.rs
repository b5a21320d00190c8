//! The health of a gRPC server from a URL.

use rootward::{Check, Unlabelled};
use tonic::transport::Endpoint;

use super::url::Url;
use super::{Roots, Secret, Unusable};
use crate::grpc_health::own;

/// Which server, and which of its services.
///
/// ```
/// use rootward_checks::open::GrpcHealthSettings;
///
/// let settings = GrpcHealthSettings {
///     service: "shop.v1.Stock".into(),
///     ..GrpcHealthSettings::new("http://stock:50051")
/// };
/// ```
#[derive(Debug, Clone)]
pub struct GrpcHealthSettings {
    /// `http://HOST:PORT`, or `https://HOST:PORT` for TLS (feature `grpc-health-tls`). The port has no default.
    pub url: Secret,
    /// The name of the service; empty for the server as a whole.
    pub service: String,
    /// Whose certificates are believed, with `https://`.
    pub roots: Roots,
}

impl GrpcHealthSettings {
    /// Asks for the server as a whole.
    pub fn new(url: impl Into<Secret>) -> Self {
        Self {
            url: url.into(),
            service: String::new(),
            roots: Roots::System,
        }
    }
}

/// The health of a service (`grpc.health.v1`) on a connection of the check's own. It fails as [`crate::grpc_health()`]
/// does, and with `tls` when the certificate of the server is not to be trusted.
///
/// # Errors
/// When the URL cannot be used, or wants TLS (`https://`) without the feature `grpc-health-tls`, or when roots cannot be
/// read.
///
/// ```
/// use rootward_checks::open::{self, GrpcHealthSettings};
///
/// let check = open::grpc_health("stock", GrpcHealthSettings::new("http://stock:50051"))?.soft(); // grpc://stock:50051
/// # Ok::<(), open::Unusable>(())
/// ```
pub fn grpc_health(
    name: impl Into<String>,
    settings: GrpcHealthSettings,
) -> Result<Check<Unlabelled>, Unusable> {
    let (scheme, url) = Url::parse(&settings.url, &["http", "https"])?;
    if scheme == "http" && settings.roots != Roots::System {
        return Err(Unusable::because(&["roots are of no use without https://"]));
    }
    let (user, password) = url.login(None, None)?;
    if user.is_some() || password.is_some() || !url.path.is_empty() || !url.query.is_empty() {
        return Err(Unusable::because(&[
            "the URL of a gRPC server is http://HOST:PORT or https://HOST:PORT and nothing more",
        ]));
    }
    let Some(port) = url.port else {
        return Err(Unusable::because(&["the URL has no port"]));
    };
    let shown = url.identity("grpc", port, "");
    let asked = url.identity(scheme, port, "");
    let endpoint = Endpoint::from_shared(asked)
        .map_err(|_| Unusable::because(&["the URL cannot be asked"]))?;
    let endpoint = match scheme {
        "https" => secured(endpoint, &settings.roots)?,
        _ => endpoint,
    };
    Ok(own(name, endpoint, settings.service).target(shown))
}

#[cfg(feature = "grpc-health-tls")]
fn secured(endpoint: Endpoint, roots: &Roots) -> Result<Endpoint, Unusable> {
    let trusted = roots.load()?;
    let trusted = trusted.root_store().roots.iter().cloned();
    let tls = tonic::transport::ClientTlsConfig::new().trust_anchors(trusted);
    endpoint
        .tls_config(tls)
        .map_err(|_| Unusable::because(&["no certificate can be for the host of the URL"]))
}

#[cfg(not(feature = "grpc-health-tls"))]
fn secured(_: Endpoint, _: &Roots) -> Result<Endpoint, Unusable> {
    Err(Unusable::because(&["TLS to a gRPC server is not built in"]))
}
