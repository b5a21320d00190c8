//! Ready-made checks, one feature each; with none of them it adds nothing to the base.
//!
//! | feature | function | asks | pulls in |
//! | --- | --- | --- | --- |
//! | `amqp` | [`open::amqp`] | a method on a connection and a channel of its own | `tokio`; of this project `rootward-fetch` with TLS |
//! | `async-nats` | `nats()` | a round trip on the application's own client | `async-nats`, `tokio` |
//! | `clock` | `clock()` | a time server, or the date of a site, for how far the clock here is off | `httpdate`, and what `http` does |
//! | `descriptors` | `descriptors()` | the kernel for the open descriptors of a process, and its limit | `rustix` |
//! | `disk` | `disk()` | the kernel for free space and inodes of a file system | `rustix` |
//! | `dns` | `dns()` | a resolver for a name | `hickory-resolver`, `tokio` |
//! | `elasticsearch` | `elasticsearch()` | the health of an Elasticsearch or OpenSearch cluster | what `http` does |
//! | `etcd` | [`open::etcd`] | a member, for its health | what `http` does |
//! | `freshness` | `freshness()` | a file for its age | |
//! | `grpc-health` | `grpc_health()` | `grpc.health.v1` on the application's own channel | `tonic`, `tonic-health`, `tokio` |
//! | `grpc-health-tls` | `open::grpc_health()` | TLS for `https://` | `rustls`; the feature `grpc-health`; of this project `rootward-fetch` |
//! | `http` | `http()` | a URL: status, body, the end of the certificate | `http`, `base64`, `serde_json`, `tokio`, `rustls`; of this project `rootward-fetch` |
//! | `kafka` | [`open::kafka`] | a broker, for who is in the cluster and who leads which topic | `tokio`; of this project `rootward-fetch` with TLS |
//! | `lapin` | `amqp()` | a channel on the application's own connection | `lapin`, `tokio` |
//! | `meilisearch` | `meilisearch()` | the health of a Meilisearch | what `http` does |
//! | `memcached` | [`open::memcached`] | the version, on a connection of its own | `tokio`; of this project `rootward-fetch` |
//! | `memory` | `memory()` | the kernel for memory in use, its limit, and pressure | |
//! | `mongodb` | `mongodb()` | a ping on the application's own client | `mongodb`, `tokio` |
//! | `mongodb-tls` | `open::mongodb()` | TLS for `tls=true` | `openssl-probe`; the feature `mongodb`; of this project `rootward-fetch` |
//! | `mysql` | `mysql()` | a trivial query on the application's own pool, of MySQL or MariaDB | `mysql_async`, `tokio` |
//! | `mysql-tls` | `open::mysql()` | TLS for `ssl-mode=VERIFY_IDENTITY` | `rustls`, `webpki-roots` (not used), `openssl-probe`; the feature `mysql`; of this project `rootward-fetch` |
//! | `nats` | [`open::nats`] | a ping, on a connection of its own | `serde_json`, `tokio`; of this project `rootward-fetch` with TLS |
//! | `pool` | `pool_saturation()`, `pool_use()` | the application's own pool for its numbers | |
//! | `postgresql` | `postgresql()`, `postgresql_target()` | a trivial query on the application's own pool | `tokio-postgres`, `deadpool-postgres`, `deadpool`, `tokio` |
//! | `postgresql-bb8` | `postgresql_bb8()` | as `postgresql`, on a pool of bb8 | `bb8`, `bb8-postgres`; the feature `postgresql` |
//! | `postgresql-tls` | `open::postgresql()` | TLS for `sslmode=verify-full` | `tokio-postgres-rustls`; the feature `postgresql`; of this project `rootward-fetch` |
//! | `queue` | `queue()` | a function of the application's for the depth of a queue | `tokio` |
//! | `redis` | `redis()` | a ping on the application's own connection | `redis`, `tokio` |
//! | `redis-cluster` | `redis_cluster()` | a cluster for its slots, each master for a ping, on the application's own connection | what `redis` does, with the cluster's part of it: `crc16`, `rand`, `log` |
//! | `redis-tls` | `open::redis()`, `open::redis_cluster()`, `open::redis_sentinel()` | TLS for `rediss://` | `rustls`; the feature `redis`; of this project `rootward-fetch` |
//! | `s3` | `s3()` | for a bucket, signed | `bytes`, `hmac`, `sha2`, and what `http` does; of this project `rootward-wire` |
//! | `service` | `service()` | the readiness endpoint of another service | `http`, `serde_json`, `tokio`; of this project `rootward-fetch`, `rootward-wire` |
//! | `service-tls` | `service()`, `open::service()` | TLS for `https://` | `rustls`; the feature `service` |
//! | `smtp` | [`open::smtp`] | a mail server to do nothing | `base64`, `tokio`; of this project `rootward-fetch` with TLS |
//! | `sqlite` | `sqlite()` | a SQLite file for its schema, read-only | `rusqlite` with a SQLite of its own, `tokio` |
//! | `sqs` | `sqs()` | for the messages that wait in a queue, signed | `bytes`, `hmac`, `sha2`, and what `http` does; of this project `rootward-wire` |
//! | `table` | `table()`, `table_entry()` | a table in this process, inline, within 1 ms | |
//! | `tcp` | `tcp()` | for a connection | of this project `rootward-fetch` |
//! | `tls` | `tls()` | for the end of a certificate | `rustls`; of this project `rootward-fetch` |
//!
#![cfg_attr(
    all(feature = "postgresql", feature = "redis", feature = "service"),
    doc = r#"
```no_run
use rootward::{Check, Health};

# async fn free_space() -> std::io::Result<()> { Ok(()) }
# async fn example(pool: deadpool_postgres::Pool, client: redis::Client) -> Result<(), Box<dyn std::error::Error>> {
let health = Health::builder("cart")
    .version("1.4.2")
    .check(rootward_checks::postgresql("orders-db", pool.clone()).hard())
    .check(rootward_checks::redis("cache", client.clone()).soft())
    .check(rootward_checks::service("rates", "http://rates:8790/readyz").soft())
    .check(Check::new("disk", || async { free_space().await?; Ok(()) }).hard().local())
    .listen("0.0.0.0:8790".parse()?)
    .start()?;
# health.stop().await;
# Ok(())
# }
```
"#
)]
//!
//! Each is a [`rootward::Check`] that does not say yet what its failure means: `.hard()`, `.soft()` or
//! `.informational()` follows, and interval, time limit, owner and target can be set as for any other.
//!
//! What a service runs out of inside itself is asked of itself, and three kinds of it belong together: a pool
//! (`pool_saturation()`, or [`Check::pool`](rootward::Check::pool) where it has no numbers), a queue (`queue()`), and the
//! worker that empties it ([`Check::progress`](rootward::Check::progress): a backlog, and nothing completed). They take
//! functions, so any pool and any queue will do. `docs/checks.md` says when to take which.
//!
//! Who has no pool or client of the application makes a check from settings: [`open`].
//!
//! What they have in common:
//!
//! - They use what the application uses. A new connection for each run would test a path that no request takes, and
//!   use up connections.
//! - They ask for one direct dependency and never make it ask others.
//! - A failure is told from the types of the driver, never from its texts, and what the report shows is our own.
//! - A run that was cut off by its time limit leaves nothing behind: its connection is closed, so that packets that
//!   were lost on it fail one run and not all that follow.

#[cfg(feature = "lapin")]
mod amqp;
#[cfg(any(feature = "amqp", feature = "lapin"))]
mod amqp_words;
#[cfg(any(
    feature = "http",
    feature = "service",
    feature = "tcp",
    feature = "tls"
))]
mod asking;
#[cfg(feature = "descriptors")]
mod descriptors;
#[cfg(feature = "disk")]
mod disk;
#[cfg(feature = "freshness")]
mod freshness;
#[cfg(feature = "grpc-health")]
mod grpc_health;
#[cfg(any(
    feature = "amqp",
    feature = "clock",
    feature = "dns",
    feature = "grpc-health",
    feature = "kafka",
    feature = "lapin",
    feature = "memcached",
    feature = "mongodb",
    feature = "nats",
    feature = "mysql",
    feature = "postgresql",
    feature = "redis",
    feature = "smtp"
))]
mod io_error;
#[cfg(any(feature = "amqp", feature = "memcached", feature = "nats"))]
mod kept;
#[cfg(any(feature = "descriptors", feature = "disk", feature = "memory"))]
mod levels;
#[cfg(feature = "memory")]
mod memory;
#[cfg(feature = "mongodb")]
mod mongodb;
#[cfg(feature = "mysql")]
mod mysql;
#[cfg(feature = "async-nats")]
mod nats;
pub mod open;
#[cfg(feature = "pool")]
mod pool;
#[cfg(feature = "postgresql")]
mod postgresql;
#[cfg(feature = "postgresql-bb8")]
mod postgresql_bb8;
#[cfg(feature = "queue")]
mod queue;
#[cfg(feature = "redis")]
mod redis;
#[cfg(feature = "redis")]
mod redis_cluster;
#[cfg(feature = "service")]
mod service;
#[cfg(any(feature = "s3", feature = "sqs"))]
mod sigv4;
#[cfg(feature = "clock")]
mod sntp;
#[cfg(feature = "sqlite")]
mod sqlite;
#[cfg(feature = "table")]
mod table;
#[cfg(any(feature = "descriptors", feature = "memory"))]
mod whose;
#[cfg(any(
    feature = "amqp",
    feature = "kafka",
    feature = "memcached",
    feature = "nats",
    feature = "smtp"
))]
mod wire;

#[cfg(feature = "lapin")]
pub use amqp::{AmqpConnection, amqp};
#[cfg(feature = "descriptors")]
pub use descriptors::{DescriptorsSettings, descriptors};
#[cfg(feature = "disk")]
pub use disk::{DiskSettings, Free, disk};
#[cfg(feature = "freshness")]
pub use freshness::{FreshnessSettings, freshness};
#[cfg(feature = "grpc-health")]
pub use grpc_health::grpc_health;
#[cfg(feature = "memory")]
pub use memory::{MemorySettings, Pressure, memory};
#[cfg(feature = "mongodb")]
pub use mongodb::mongodb;
#[cfg(feature = "mysql")]
pub use mysql::mysql;
#[cfg(feature = "async-nats")]
pub use nats::nats;
#[cfg(feature = "clock")]
pub use open::clock;
#[cfg(feature = "dns")]
pub use open::dns;
#[cfg(feature = "elasticsearch")]
pub use open::elasticsearch;
#[cfg(feature = "http")]
pub use open::http;
#[cfg(feature = "meilisearch")]
pub use open::meilisearch;
#[cfg(feature = "s3")]
pub use open::s3;
#[cfg(feature = "sqs")]
pub use open::sqs;
#[cfg(feature = "tcp")]
pub use open::tcp;
#[cfg(feature = "tls")]
pub use open::tls;
#[cfg(feature = "pool")]
pub use pool::{PoolLevels, PoolUse, pool_saturation, pool_use};
#[cfg(feature = "postgresql")]
pub use postgresql::{postgresql, postgresql_target};
#[cfg(feature = "postgresql-bb8")]
pub use postgresql_bb8::postgresql_bb8;
#[cfg(feature = "queue")]
pub use queue::{QueueLevels, queue};
#[cfg(feature = "redis")]
pub use redis::{RedisConnection, redis};
#[cfg(feature = "redis-cluster")]
pub use redis_cluster::redis_cluster;
#[cfg(feature = "service")]
pub use service::service;
#[cfg(feature = "sqlite")]
pub use sqlite::sqlite;
#[cfg(feature = "table")]
pub use table::{TABLE_BUDGET, table, table_entry};
#[cfg(any(feature = "descriptors", feature = "memory"))]
pub use whose::Whose;
