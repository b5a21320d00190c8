//! A gRPC server with a health service.

use rootward_config::agent::{Key, Shape};

use super::Kind;
use super::http::ROOTS;

pub(super) static KIND: Kind = Kind {
    name: "grpc_health",
    keys: &[
        Key::new("url", Shape::Text)
            .required("write it like http://stock:50051, or {env: STOCK_URL}")
            .secret(),
        Key::new("service", Shape::Text),
        ROOTS,
    ],
    example: "{url: http://stock:50051}",
    build: built!("grpc-health", build),
};

#[cfg(feature = "grpc-health")]
fn build(
    name: &str,
    settings: &rootward_config::agent::Settings,
) -> Result<rootward::Check<rootward::Unlabelled>, super::Unfit> {
    use rootward_checks::open::{self, GrpcHealthSettings};

    let mut grpc = GrpcHealthSettings::new(settings.text("url"));
    grpc.service = settings
        .optional_text("service")
        .unwrap_or_default()
        .to_owned();
    grpc.roots = super::http::roots(settings);
    Ok(open::grpc_health(name, grpc)?)
}
