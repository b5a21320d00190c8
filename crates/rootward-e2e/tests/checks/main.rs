//! Every ready-made check against the real server, and against servers that misbehave; one file a kind.
//!
//! What all checks have to survive stands in `every.rs`.

mod authority;
mod clock;
mod descriptors;
mod disk;
mod dns;
mod elasticsearch;
mod every;
mod freshness;
mod grpc_health;
mod http;
mod meilisearch;
mod memory;
mod moto;
mod pool;
mod postgresql;
mod queue;
mod redis;
mod s3;
mod scripted;
mod sqs;
mod table;
mod tcp;
mod tls;
