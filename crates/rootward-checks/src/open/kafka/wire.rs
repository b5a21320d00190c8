//! The requests of Kafka's protocol that a check needs, in bytes (<https://kafka.apache.org/protocol>).

use rootward::{CheckContext, ErrorCategory, Failure};

use crate::open::server::Server;
use crate::wire::Wire;

/// The largest answer that is read. A partition has some fifty bytes.
const MAX_ANSWER_BYTES: usize = 8 * 1024 * 1024;

/// The requests, by their keys.
const METADATA: i16 = 3;
const SASL_HANDSHAKE: i16 = 17;
const API_VERSIONS: i16 = 18;
const SASL_AUTHENTICATE: i16 = 36;

/// From this version on a request for metadata says that no topic is to be created by it.
const CREATES_NOTHING: i16 = 4;
/// The first version that names the controller; knows no such promise.
const OLD: i16 = 1;

/// What the metadata say.
#[derive(Debug)]
pub(super) struct Cluster {
    pub(super) brokers: usize,
    /// Its number; negative where none is known.
    pub(super) controller: i32,
    pub(super) topics: Vec<Topic>,
}

#[derive(Debug)]
pub(super) struct Topic {
    pub(super) name: String,
    pub(super) error: i16,
    pub(super) partitions: u64,
    pub(super) leaderless: u64,
}

/// A connection to a broker, logged in where that is wanted.
pub(super) struct Broker {
    wire: Wire,
    correlation: i32,
    metadata_version: i16,
}

impl Broker {
    pub(super) async fn connect(server: &Server, context: &CheckContext) -> Result<Self, Failure> {
        let mut broker = Self {
            wire: Wire::connect(&server.at, context).await?,
            correlation: 0,
            metadata_version: OLD,
        };
        let mut answer = broker.exchange(API_VERSIONS, 0, &[]).await?;
        refused(answer.i16()?)?;
        let mut known = false;
        for _ in 0..answer.count()? {
            let (key, least, most) = (answer.i16()?, answer.i16()?, answer.i16()?);
            if key == METADATA {
                known = least <= CREATES_NOTHING && most >= OLD;
                if most >= CREATES_NOTHING {
                    broker.metadata_version = CREATES_NOTHING;
                }
            }
        }
        if !known {
            return Err(no_kafka());
        }
        if let Some((user, password)) = server.login() {
            broker.log_in(user, password).await?;
        }
        Ok(broker)
    }

    /// SASL PLAIN (RFC 4616), in the requests of KIP-43 and KIP-152.
    async fn log_in(&mut self, user: &str, password: &str) -> Result<(), Failure> {
        let mechanism = Body::default().string("PLAIN");
        let mut answer = self.exchange(SASL_HANDSHAKE, 1, &mechanism.0).await?;
        if answer.i16()? != 0 {
            return Err(
                Failure::new(ErrorCategory::Auth).because("the broker does not take SASL PLAIN")
            );
        }
        let login = Body::default().bytes(format!("\0{user}\0{password}").as_bytes());
        let mut answer = self.exchange(SASL_AUTHENTICATE, 0, &login.0).await?;
        if answer.i16()? != 0 {
            // The text beside the number may name the user.
            return Err(Failure::new(ErrorCategory::Auth));
        }
        Ok(())
    }

    /// Asks for these topics, and for who is in the cluster.
    pub(super) async fn metadata(&mut self, topics: &[String]) -> Result<Cluster, Failure> {
        let version = self.metadata_version;
        let creates_nothing = version >= CREATES_NOTHING;
        let mut body = Body::default();
        if creates_nothing || topics.is_empty() {
            body = body.count(topics.len());
            for topic in topics {
                body = body.string(topic);
            }
        } else {
            // All of them: naming one might create it.
            body = body.i32(-1);
        }
        if creates_nothing {
            body = body.bool(false);
        }
        let mut answer = self.exchange(METADATA, version, &body.0).await?;
        answer.metadata(creates_nothing)
    }

    async fn exchange(&mut self, key: i16, version: i16, body: &[u8]) -> Result<Reader, Failure> {
        self.correlation = self.correlation.wrapping_add(1);
        let mut request = Body::default()
            .i16(key)
            .i16(version)
            .i32(self.correlation)
            .string("rootward");
        request.0.extend(body);
        self.wire.send(&Body::default().bytes(&request.0).0).await?;
        let length = self.wire.block(4).await?;
        let length = u32::from_be_bytes([length[0], length[1], length[2], length[3]]);
        let length = usize::try_from(length).unwrap_or(usize::MAX);
        if !(4..=MAX_ANSWER_BYTES).contains(&length) {
            return Err(no_kafka());
        }
        let mut answer = Reader(self.wire.block(length).await?, 0);
        if answer.i32()? != self.correlation {
            return Err(no_kafka());
        }
        Ok(answer)
    }
}

fn refused(error: i16) -> Result<(), Failure> {
    if error == 0 { Ok(()) } else { Err(no_kafka()) }
}

fn no_kafka() -> Failure {
    Failure::new(ErrorCategory::Protocol).because("the answer is no Kafka of 0.10 or later")
}

#[derive(Default)]
struct Body(Vec<u8>);

impl Body {
    fn bool(mut self, value: bool) -> Self {
        self.0.push(value.into());
        self
    }

    fn i16(mut self, number: i16) -> Self {
        self.0.extend(number.to_be_bytes());
        self
    }

    fn i32(mut self, number: i32) -> Self {
        self.0.extend(number.to_be_bytes());
        self
    }

    fn count(self, count: usize) -> Self {
        self.i32(i32::try_from(count).unwrap_or(i32::MAX))
    }

    /// At most 32767 bytes, which the caller has seen to.
    fn string(mut self, text: &str) -> Self {
        self = self.i16(i16::try_from(text.len()).unwrap_or(i16::MAX));
        self.0.extend(text.as_bytes());
        self
    }

    fn bytes(mut self, bytes: &[u8]) -> Self {
        self = self.count(bytes.len());
        self.0.extend(bytes);
        self
    }
}

struct Reader(Vec<u8>, usize);

impl Reader {
    fn take(&mut self, length: usize) -> Result<&[u8], Failure> {
        let begin = self.1;
        self.1 = begin.saturating_add(length);
        self.0.get(begin..self.1).ok_or_else(no_kafka)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], Failure> {
        self.take(N)?.try_into().map_err(|_| no_kafka())
    }

    fn i16(&mut self) -> Result<i16, Failure> {
        Ok(i16::from_be_bytes(self.array()?))
    }

    fn i32(&mut self) -> Result<i32, Failure> {
        Ok(i32::from_be_bytes(self.array()?))
    }

    /// How many elements follow. Each has at least a byte, so that a count that cannot be ends soon.
    fn count(&mut self) -> Result<usize, Failure> {
        usize::try_from(self.i32()?.max(0)).map_err(|_| no_kafka())
    }

    /// `None` where it says that there is none.
    fn string(&mut self) -> Result<Option<String>, Failure> {
        let Ok(length) = usize::try_from(self.i16()?) else {
            return Ok(None);
        };
        Ok(Some(
            String::from_utf8_lossy(self.take(length)?).into_owned(),
        ))
    }

    fn metadata(&mut self, is_newer: bool) -> Result<Cluster, Failure> {
        if is_newer {
            self.i32()?; // how long it throttled
        }
        let brokers = self.count()?;
        for _ in 0..brokers {
            self.i32()?; // its number
            self.string()?; // its host
            self.i32()?; // its port
            self.string()?; // its rack
        }
        if is_newer {
            self.string()?; // the identity of the cluster
        }
        let controller = self.i32()?;
        let mut topics = Vec::new();
        for _ in 0..self.count()? {
            topics.push(self.topic()?);
        }
        Ok(Cluster {
            brokers,
            controller,
            topics,
        })
    }

    fn topic(&mut self) -> Result<Topic, Failure> {
        let error = self.i16()?;
        let name = self.string()?.unwrap_or_default();
        self.array::<1>()?; // whether it is internal
        let (mut partitions, mut leaderless) = (0, 0);
        for _ in 0..self.count()? {
            let error = self.i16()?;
            self.i32()?; // its number
            let leader = self.i32()?;
            for _ in 0..2 {
                // its replicas, and those in sync
                let replicas = self.count()?;
                self.take(replicas.saturating_mul(4))?;
            }
            partitions += 1;
            if leader < 0 || error == super::LEADER_NOT_AVAILABLE {
                leaderless += 1;
            }
        }
        Ok(Topic {
            name,
            error,
            partitions,
            leaderless,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metadata_are_read_as_the_protocol_has_them() {
        let body = Body::default()
            .i32(0) // throttle
            .count(1)
            .i32(7)
            .string("host")
            .i32(9092)
            .i16(-1) // no rack
            .string("cluster")
            .i32(7) // controller
            .count(1)
            .i16(0)
            .string("orders")
            .bool(false)
            .count(2)
            .i16(0)
            .i32(0)
            .i32(7)
            .count(1)
            .i32(7)
            .count(1)
            .i32(7)
            .i16(5)
            .i32(1)
            .i32(-1)
            .count(1)
            .i32(7)
            .count(0);
        let cut = body.0[..body.0.len() - 1].to_vec();
        let cluster = Reader(body.0, 0).metadata(true).expect("metadata");
        assert_eq!((cluster.brokers, cluster.controller), (1, 7));
        let topic = &cluster.topics[0];
        assert_eq!((topic.name.as_str(), topic.error), ("orders", 0));
        assert_eq!((topic.partitions, topic.leaderless), (2, 1));
        assert!(Reader(cut, 0).metadata(true).is_err());
    }

    #[test]
    fn a_count_that_cannot_be_ends_soon() {
        let body = Body::default().i32(0).i32(i32::MAX);
        assert!(Reader(body.0, 0).metadata(true).is_err());
    }
}
