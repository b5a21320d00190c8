//! Checks from settings, for who has no pool or client of the application: the sidecar, a script, a first try.
//!
//! Each kind has one function of its name, which takes the name of the check and the settings of the kind:
//!
//! ```
//! # #[cfg(feature = "postgresql")] {
//! use rootward_checks::open::{self, PostgresqlSettings};
//!
//! let settings = PostgresqlSettings {
//!     password: Some("from a file".into()),
//!     ..PostgresqlSettings::new("postgresql://cart@orders-db/orders")
//! };
//! let check = open::postgresql("orders-db", settings)?.hard(); // shown as postgresql://orders-db:5432/orders
//! # }
//! # Ok::<(), rootward_checks::open::Unusable>(())
//! ```
//!
//! Nothing is connected before the first run. One connection is kept over the runs; one that broke, or on which a run
//! was cut off, is closed and made again by the next run. A service that has a pool gives that to the check instead
//! ([`crate`]): a connection of the check's own says nothing about the pool that requests wait for.
//!
//! Another kind is added as a file `open/KIND.rs` with its settings and its function: it reads the URL with
//! `url::Url::parse`, gives the target without user and password, and returns [`Unusable`] for what cannot be.

use std::fmt;

use zeroize::Zeroizing;

#[cfg(feature = "amqp")]
mod amqp;
#[cfg(any(feature = "s3", feature = "sqs"))]
mod aws;
#[cfg(feature = "clock")]
mod clock;
#[cfg(feature = "dns")]
mod dns;
#[cfg(feature = "elasticsearch")]
mod elasticsearch;
#[cfg(feature = "etcd")]
mod etcd;
#[cfg(feature = "grpc-health")]
mod grpc_health;
#[cfg(feature = "http")]
mod http;
#[cfg(feature = "kafka")]
mod kafka;
#[cfg(any(
    feature = "descriptors",
    feature = "disk",
    feature = "freshness",
    feature = "memory"
))]
mod local;
#[cfg(feature = "meilisearch")]
mod meilisearch;
#[cfg(feature = "memcached")]
mod memcached;
#[cfg(feature = "mongodb")]
mod mongodb;
#[cfg(feature = "mysql")]
mod mysql;
#[cfg(feature = "nats")]
mod nats;
#[cfg(feature = "postgresql")]
mod postgresql;
#[cfg(feature = "postgresql-tls")]
mod postgresql_tls;
#[cfg(feature = "redis")]
mod redis;
#[cfg(feature = "redis")]
mod redis_cluster;
#[cfg(feature = "redis")]
mod redis_nodes;
#[cfg(feature = "redis")]
mod redis_sentinel;
#[cfg(feature = "redis-tls")]
mod redis_tls;
#[cfg(any(
    feature = "_tls",
    feature = "grpc-health",
    feature = "mongodb",
    feature = "mysql",
    feature = "redis",
    feature = "service"
))]
mod roots;
#[cfg(feature = "s3")]
mod s3;
#[cfg(any(
    feature = "amqp",
    feature = "kafka",
    feature = "memcached",
    feature = "nats",
    feature = "smtp"
))]
mod server;
#[cfg(feature = "service")]
mod service;
#[cfg(feature = "smtp")]
mod smtp;
#[cfg(feature = "sqlite")]
mod sqlite;
#[cfg(feature = "sqs")]
mod sqs;
#[cfg(any(
    feature = "http",
    feature = "service",
    feature = "tcp",
    feature = "tls"
))]
mod target;
#[cfg(feature = "tcp")]
mod tcp;
#[cfg(feature = "tls")]
mod tls;
#[cfg(any(
    feature = "amqp",
    feature = "grpc-health",
    feature = "kafka",
    feature = "memcached",
    feature = "mysql",
    feature = "nats",
    feature = "postgresql",
    feature = "redis",
    feature = "smtp"
))]
mod url;

#[cfg(feature = "amqp")]
pub use self::amqp::{AmqpSettings, amqp};
#[cfg(any(feature = "s3", feature = "sqs"))]
pub use self::aws::AwsSettings;
#[cfg(feature = "clock")]
pub use self::clock::{ClockSettings, ClockSource, clock};
#[cfg(feature = "clock")]
pub(crate) use self::clock::{Difference, seconds};
#[cfg(feature = "dns")]
pub use self::dns::{DnsRecord, DnsSettings, dns};
#[cfg(feature = "elasticsearch")]
pub use self::elasticsearch::{ElasticsearchSettings, Yellow, elasticsearch};
#[cfg(feature = "etcd")]
pub use self::etcd::{EtcdSettings, etcd};
#[cfg(feature = "grpc-health")]
pub use self::grpc_health::{GrpcHealthSettings, grpc_health};
#[cfg(feature = "http")]
pub use self::http::{
    DEFAULT_CERTIFICATE_WARNING, DEFAULT_HTTP_BODY_BYTES, HttpBody, HttpMethod, HttpSettings,
    MAX_HTTP_BODY_BYTES, http,
};
#[cfg(feature = "kafka")]
pub use self::kafka::{KafkaSettings, kafka};
#[cfg(feature = "descriptors")]
pub use self::local::descriptors;
#[cfg(feature = "disk")]
pub use self::local::disk;
#[cfg(feature = "freshness")]
pub use self::local::freshness;
#[cfg(feature = "memory")]
pub use self::local::memory;
#[cfg(feature = "meilisearch")]
pub use self::meilisearch::meilisearch;
#[cfg(feature = "memcached")]
pub use self::memcached::{MemcachedSettings, memcached};
#[cfg(feature = "mongodb")]
pub use self::mongodb::{MongodbSettings, mongodb};
#[cfg(feature = "mysql")]
pub use self::mysql::{MysqlSettings, mysql};
#[cfg(feature = "nats")]
pub use self::nats::{NatsSettings, nats};
#[cfg(feature = "postgresql")]
pub use self::postgresql::{PostgresqlSettings, postgresql};
#[cfg(feature = "redis")]
pub use self::redis::{RedisSettings, redis};
#[cfg(feature = "redis")]
pub use self::redis_cluster::{RedisClusterSettings, redis_cluster};
#[cfg(feature = "redis")]
pub use self::redis_sentinel::{RedisSentinelSettings, redis_sentinel};
#[cfg(any(
    feature = "_tls",
    feature = "grpc-health",
    feature = "mongodb",
    feature = "mysql",
    feature = "redis",
    feature = "service"
))]
pub use self::roots::Roots;
#[cfg(feature = "s3")]
pub use self::s3::s3;
#[cfg(feature = "service")]
pub(crate) use self::service::target as service_target;
#[cfg(feature = "service")]
pub use self::service::{ServiceSettings, service};
#[cfg(feature = "smtp")]
pub use self::smtp::{SmtpSettings, smtp};
#[cfg(feature = "sqlite")]
pub use self::sqlite::{SqliteSettings, sqlite};
#[cfg(feature = "sqs")]
pub use self::sqs::{SqsSettings, sqs};
#[cfg(feature = "tcp")]
pub use self::tcp::tcp;
#[cfg(feature = "tls")]
pub use self::tls::{TlsSettings, tls};

/// Settings of which no check can be made, in a sentence that holds nothing of them: the wrong part of a URL may be a
/// password.
///
/// ```
/// # #[cfg(feature = "postgresql")] {
/// use rootward_checks::open::{self, PostgresqlSettings};
///
/// let unusable = open::postgresql("db", PostgresqlSettings::new("postgresql://cart:hunter2@/orders"));
/// assert_eq!(unusable.unwrap_err().to_string(), "the URL has no host");
/// # }
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unusable(String);

impl Unusable {
    /// Made of words of the source alone, so that no setting gets in.
    #[cfg_attr(
        not(any(
            feature = "amqp",
            feature = "descriptors",
            feature = "disk",
            feature = "dns",
            feature = "etcd",
            feature = "freshness",
            feature = "grpc-health",
            feature = "http",
            feature = "kafka",
            feature = "memcached",
            feature = "memory",
            feature = "mongodb",
            feature = "mysql",
            feature = "nats",
            feature = "postgresql",
            feature = "redis",
            feature = "service",
            feature = "smtp",
            feature = "sqlite",
            feature = "tcp",
            feature = "tls"
        )),
        expect(
            dead_code,
            reason = "every kind with settings needs it, and none is built"
        )
    )]
    pub(crate) fn because(words: &[&'static str]) -> Self {
        Self(words.concat())
    }
}

impl fmt::Display for Unusable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Unusable {}

/// A text that nobody is to see: a password, or a URL that may hold one. It has no `Display`, its `Debug` prints none of
/// it, and its memory is wiped when it is dropped. The drivers keep copies of their own, which are not.
///
/// ```
/// use rootward_checks::open::Secret;
///
/// let password = Secret::from("hunter2");
/// assert_eq!(format!("{password:?}"), "Secret");
/// assert_eq!(password.reveal(), "hunter2");
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(Zeroizing<String>);

impl Secret {
    /// The text, for a driver.
    #[must_use]
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl From<String> for Secret {
    fn from(text: String) -> Self {
        Self(Zeroizing::new(text))
    }
}

impl From<&str> for Secret {
    fn from(text: &str) -> Self {
        text.to_owned().into()
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret")
    }
}
