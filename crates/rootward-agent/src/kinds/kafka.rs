//! Kafka.

use rootward_config::agent::{Key, Shape};

use super::Kind;
use super::http::{PASSWORD, ROOTS, USER};

pub(super) static KIND: Kind = Kind {
    name: "kafka",
    keys: &[
        Key::new("brokers", Shape::Texts)
            .required("list some of its brokers, such as [kafka-0:9092, kafka-1:9092]"),
        Key::new("topics", Shape::Texts),
        USER,
        PASSWORD,
        Key::new("tls", Shape::Flag),
        Key::new("password_in_clear", Shape::Flag),
        ROOTS,
    ],
    example: "{brokers: [kafka-0:9092, kafka-1:9092], topics: [orders]}",
    build: built!("kafka", build),
};

#[cfg(feature = "kafka")]
fn build(
    name: &str,
    settings: &rootward_config::agent::Settings,
) -> Result<rootward::Check<rootward::Unlabelled>, super::Unfit> {
    use rootward_checks::open::{self, KafkaSettings};

    let settings = KafkaSettings {
        topics: settings.texts("topics").to_vec(),
        user: settings.optional_text("user").map(Into::into),
        password: settings.optional_text("password").map(Into::into),
        tls: settings.flag("tls"),
        password_in_clear: settings.flag("password_in_clear"),
        roots: super::http::roots(settings),
        ..KafkaSettings::new(settings.texts("brokers").join(","))
    };
    Ok(open::kafka(name, settings)?)
}
