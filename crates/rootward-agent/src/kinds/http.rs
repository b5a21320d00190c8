//! A URL.

use rootward_config::agent::{Key, Shape};

use super::Kind;

pub(super) static KIND: Kind = Kind {
    name: "http",
    keys: &[
        URL,
        Key::new("method", Shape::Word(&["get", "head"])),
        Key::new("status_from", Shape::Number(100, 599)),
        Key::new("status_to", Shape::Number(100, 599)),
        HEADERS,
        USER,
        PASSWORD,
        Key::new("contains", Shape::Text),
        Key::new("json_pointer", Shape::Text),
        Key::new("json_value", Shape::Text),
        Key::new("max_body", Shape::Size),
        ROOTS,
        WARN_DAYS,
    ],
    example: "{url: https://rates.internal/ping}",
    build: built!("http", build),
};

pub(super) const URL: Key = Key::new("url", Shape::Text)
    .required("write it like https://rates.internal/ping, or {env: RATES_URL}")
    .secret();
pub(super) const HEADERS: Key = Key::new("headers", Shape::Pairs).secret();
pub(super) const USER: Key = Key::new("user", Shape::Text).secret();
pub(super) const PASSWORD: Key = Key::new("password", Shape::Text).secret();
/// The file of those whose certificates are believed.
pub(super) const ROOTS: Key = Key::new("roots", Shape::Text);
pub(super) const WARN_DAYS: Key = Key::new("warn_days", Shape::Number(0, 3650));

#[cfg(feature = "http")]
fn build(
    name: &str,
    settings: &rootward_config::agent::Settings,
) -> Result<rootward::Check<rootward::Unlabelled>, super::Unfit> {
    use rootward_checks::open::{self, HttpBody, HttpMethod};

    let mut http = asked(settings);
    if settings.optional_text("method") == Some("head") {
        http.method = HttpMethod::Head;
    }
    // From 100 to 599, as the description says.
    let status = |key| {
        settings
            .number(key)
            .and_then(|number| u16::try_from(number).ok())
    };
    match (status("status_from"), status("status_to")) {
        (None, None) => {}
        (Some(from), to) => http.status = from..=to.unwrap_or(from),
        (None, Some(_)) => {
            return Err(super::Unfit::at("status_to", "`status_from` is missing"));
        }
    }
    let pointer = settings.optional_text("json_pointer");
    let value = settings.optional_text("json_value");
    http.body = match (settings.optional_text("contains"), pointer, value) {
        (None, None, None) => None,
        (Some(text), None, None) => Some(HttpBody::Contains(text.to_owned())),
        (None, Some(pointer), Some(value)) => Some(HttpBody::json(pointer, value)),
        (Some(_), _, _) => {
            return Err(super::Unfit::at(
                "contains",
                "a body either contains a text or has a value at a JSON pointer",
            ));
        }
        (None, Some(_), None) => {
            return Err(super::Unfit::at("json_pointer", "`json_value` is missing"));
        }
        (None, None, Some(_)) => {
            return Err(super::Unfit::at("json_value", "`json_pointer` is missing"));
        }
    };
    if let Some(bytes) = settings.number("max_body") {
        http.max_body_bytes = usize::try_from(bytes).unwrap_or(usize::MAX);
    }
    Ok(open::http(name, http)?)
}

/// What all kinds have that ask over HTTP.
#[cfg(feature = "http")]
pub(super) fn asked(
    settings: &rootward_config::agent::Settings,
) -> rootward_checks::open::HttpSettings {
    use rootward_checks::open::HttpSettings;

    let mut http = HttpSettings::new(settings.text("url"));
    http.headers = settings
        .pairs("headers")
        .iter()
        .map(|(name, value)| (name.clone(), value.as_str().into()))
        .collect();
    http.user = settings.optional_text("user").map(Into::into);
    http.password = settings.optional_text("password").map(Into::into);
    http.roots = roots(settings);
    if let Some(warn) = days(settings, "warn_days") {
        http.warn_before = warn;
    }
    http
}

#[cfg(any(
    feature = "amqp",
    feature = "etcd",
    feature = "grpc-health",
    feature = "http",
    feature = "kafka",
    feature = "mongodb",
    feature = "mysql",
    feature = "nats",
    feature = "redis",
    feature = "service",
    feature = "smtp",
    feature = "tls"
))]
pub(super) fn roots(settings: &rootward_config::agent::Settings) -> rootward_checks::open::Roots {
    use rootward_checks::open::Roots;

    let file = settings.optional_text("roots");
    file.map_or(Roots::System, |file| Roots::File(file.into()))
}

#[cfg(any(feature = "http", feature = "tls"))]
pub(super) fn days(
    settings: &rootward_config::agent::Settings,
    key: &str,
) -> Option<std::time::Duration> {
    const DAY: u64 = 24 * 60 * 60;
    let days = settings.number(key)?;
    Some(std::time::Duration::from_secs(days * DAY))
}
