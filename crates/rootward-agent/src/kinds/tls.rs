//! The certificate of a server.

use rootward_config::agent::{Key, Shape};

use super::Kind;
use super::http::{ROOTS, WARN_DAYS};
use super::tcp::{HOST, PORT};

pub(super) static KIND: Kind = Kind {
    name: "tls",
    keys: &[
        HOST,
        PORT.required("write the number of the port, such as 443"),
        ROOTS,
        WARN_DAYS,
        Key::new("fail_days", Shape::Number(0, 3650)),
    ],
    example: "{host: shop.example.org, port: 443}",
    build: built!("tls", build),
};

#[cfg(feature = "tls")]
fn build(
    name: &str,
    settings: &rootward_config::agent::Settings,
) -> Result<rootward::Check<rootward::Unlabelled>, super::Unfit> {
    use super::http::{days, roots};
    use super::tcp::port;
    use rootward_checks::open::{self, TlsSettings};

    let mut tls = TlsSettings::new(settings.text("host"), port(settings).unwrap_or(0));
    tls.roots = roots(settings);
    if let Some(warn) = days(settings, "warn_days") {
        tls.warn_before = warn;
    }
    if let Some(fail) = days(settings, "fail_days") {
        tls.fail_before = fail;
    }
    Ok(open::tls(name, tls)?)
}
