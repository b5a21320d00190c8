//! Every ready-made check against the real server, and against servers that misbehave; one file a kind.
//!
//! What all checks have to survive stands in `every.rs`.

mod amqp;
mod authority;
mod bars;
mod clock;
mod descriptors;
mod disk;
mod dns;
mod elasticsearch;
mod etcd;
mod every;
mod freshness;
mod grpc_health;
mod http;
mod kafka;
mod meilisearch;
mod memcached;
mod memory;
mod mongodb;
mod moto;
mod mysql;
mod nats;
mod over_tls;
mod pool;
mod postgresql;
mod queue;
mod redis;
mod redis_cluster;
mod redis_sentinel;
mod s3;
mod script;
mod scripted;
mod service;
mod smtp;
mod sqlite;
mod sqs;
mod table;
mod tcp;
mod tls;
