//! The health of a gRPC server from a URL.

use rootward::{Check, Unlabelled};
use tonic::transport::Endpoint;

use super::url::Url;
use super::{Secret, Unusable};
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
    /// `http://HOST:PORT`. The port has no default.
    pub url: Secret,
    /// The name of the service; empty for the server as a whole.
    pub service: String,
}

impl GrpcHealthSettings {
    /// Asks for the server as a whole.
    pub fn new(url: impl Into<Secret>) -> Self {
        Self {
            url: url.into(),
            service: String::new(),
        }
    }
}

/// The health of a service (`grpc.health.v1`) on a connection of the check's own, without TLS. It fails as
/// [`crate::grpc_health()`] does. To a server that speaks TLS an application gives the channel that it has.
///
/// # Errors
/// When the URL cannot be used, or wants TLS (`https://`), which is not built yet.
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
    if scheme == "https" {
        return Err(Unusable::because(&[
            "TLS to a gRPC server is not built yet for checks from settings",
        ]));
    }
    let (user, password) = url.login(None, None)?;
    if user.is_some() || password.is_some() || !url.path.is_empty() || !url.query.is_empty() {
        return Err(Unusable::because(&[
            "the URL of a gRPC server is http://HOST:PORT and nothing more",
        ]));
    }
    let Some(port) = url.port else {
        return Err(Unusable::because(&["the URL has no port"]));
    };
    let shown = url.identity("grpc", port, "");
    let asked = url.identity("http", port, "");
    let endpoint = Endpoint::from_shared(asked)
        .map_err(|_| Unusable::because(&["the URL cannot be asked"]))?;
    Ok(own(name, endpoint, settings.service).target(shown))
}
