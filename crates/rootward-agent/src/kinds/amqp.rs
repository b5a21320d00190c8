//! AMQP (RabbitMQ).

use rootward_config::agent::{Key, Shape};

use super::Kind;
use super::http::{PASSWORD, ROOTS, USER};

pub(super) static KIND: Kind = Kind {
    name: "amqp",
    keys: &[
        Key::new("url", Shape::Text)
            .required("write it like amqp://broker:5672/orders")
            .secret(),
        USER,
        PASSWORD,
        ROOTS,
    ],
    example: "{url: {env: AMQP_URL}}",
    build: built!("amqp", build),
};

#[cfg(feature = "amqp")]
fn build(
    name: &str,
    settings: &rootward_config::agent::Settings,
) -> Result<rootward::Check<rootward::Unlabelled>, super::Unfit> {
    use rootward_checks::open::{self, AmqpSettings};

    let settings = AmqpSettings {
        user: settings.optional_text("user").map(Into::into),
        password: settings.optional_text("password").map(Into::into),
        roots: super::http::roots(settings),
        ..AmqpSettings::new(settings.text("url"))
    };
    Ok(open::amqp(name, settings)?)
}
