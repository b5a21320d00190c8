//! Kafka: the metadata of a cluster, asked in Kafka's own protocol without a driver.
//!
//! A driver hides what a check wants to know: which broker cannot be reached and why, and which partition has no
//! leader. And it tries again for as long as it takes.

mod wire;

use std::sync::Arc;

use rootward::{Check, CheckContext, Depth, ErrorCategory, Failure, Outcome, Reason, Unlabelled};
use tokio::sync::Mutex;
use tokio::time::{Instant, timeout};

use super::server::Server;
use super::{Roots, Secret, Unusable};
use wire::{Broker, Cluster};

const PORT: u16 = 9092;

/// The most brokers that are tried, and the most topics that are asked for.
const MAX_BROKERS: usize = 16;
const MAX_TOPICS: usize = 100;

/// The longest name of a topic (Kafka's own limit).
const MAX_TOPIC_BYTES: usize = 249;

/// Where a cluster of Kafka is, who asks it, and what has to be there.
///
/// ```
/// use rootward_checks::open::KafkaSettings;
///
/// let settings = KafkaSettings {
///     topics: vec!["orders".into()],
///     ..KafkaSettings::new("kafka-0:9092,kafka-1:9092")
/// };
/// ```
#[derive(Debug, Clone)]
pub struct KafkaSettings {
    /// `HOST:PORT`, several with commas between them: brokers that are tried in turn until one answers, at most 16. The
    /// port is 9092 unless it is there.
    pub brokers: Secret,
    /// The topics that must exist and have a leader for each partition, at most 100.
    pub topics: Vec<String>,
    /// The user (SASL PLAIN).
    pub user: Option<Secret>,
    /// The password that goes with it.
    pub password: Option<Secret>,
    /// Speak TLS.
    pub tls: bool,
    /// Send the password also without TLS: in a network that nobody else listens to.
    pub password_in_clear: bool,
    /// Whose certificates are believed, with TLS.
    pub roots: Roots,
}

impl KafkaSettings {
    /// These brokers, and no topic that must be there.
    pub fn new(brokers: impl Into<Secret>) -> Self {
        Self {
            brokers: brokers.into(),
            topics: Vec::new(),
            user: None,
            password: None,
            tls: false,
            password_in_clear: false,
            roots: Roots::System,
        }
    }
}

/// Asks a broker of Kafka who is in the cluster, and whether these topics have leaders.
///
/// | what happens | category |
/// | --- | --- |
/// | a broker answers, and every topic is there with a leader for each partition | up |
/// | a broker answers, and knows no controller: nothing can be changed, what is there goes on | degraded, `not_ready` |
/// | a topic is not there | `not_found`, with how many |
/// | partitions have no leader, or one that is being chosen | `not_ready`, with how many |
/// | the user may not see a topic | `auth` |
/// | user or password refused, or the broker does not take SASL PLAIN | `auth` |
/// | no answer within the time limit | `timeout` |
/// | no broker listens, the connection breaks, the name does not resolve | `connection_refused`, `connection_reset`, `dns` |
/// | its certificate is not to be trusted | `tls` |
/// | what answers is no Kafka, or one before 0.10 | `protocol` |
///
/// A run costs one broker one request for metadata of these topics alone ([protocol](https://kafka.apache.org/protocol)),
/// on a connection that is kept. Nothing is produced or consumed, and no topic is created by being asked for: brokers
/// before 0.11, which would create it, are asked for all topics instead. Of several brokers one that answers is enough;
/// while the first cannot be reached, each new connection tries it first, for a share of the time.
///
/// It does not prove that a message can be written or read, that consumers keep up, nor that brokers other than the one
/// that was asked can be reached from here. A broker that wants a login and gets none closes the connection, which is
/// `connection_reset`. The report shows a target where one broker is given, and else none unless it is set.
///
/// # Errors
/// When the brokers or a topic cannot be, a password would go in clear text, or the roots cannot be read.
///
/// ```
/// use rootward_checks::open::{self, KafkaSettings};
///
/// let settings = KafkaSettings { topics: vec!["orders".into()], ..KafkaSettings::new("kafka:9092") };
/// let check = open::kafka("orders-log", settings)?.hard(); // kafka://kafka:9092
/// # Ok::<(), open::Unusable>(())
/// ```
pub fn kafka(
    name: impl Into<String>,
    settings: KafkaSettings,
) -> Result<Check<Unlabelled>, Unusable> {
    let kafka = Arc::new(Kafka::new(settings)?);
    let target = match kafka.brokers.as_slice() {
        [one] => Some(one.identity.clone()),
        _ => None,
    };
    let check = Check::with_context(name, move |context| {
        let kafka = Arc::clone(&kafka);
        async move { kafka.ask(&context).await }
    });
    let check = check.kind("kafka").depth(Depth::Query);
    Ok(match target {
        Some(target) => check.target(target),
        None => check,
    })
}

struct Kafka {
    brokers: Vec<Server>,
    topics: Vec<String>,
    /// Only a run that ends well leaves it here.
    kept: Mutex<Option<Broker>>,
}

impl Kafka {
    fn new(settings: KafkaSettings) -> Result<Self, Unusable> {
        let KafkaSettings {
            brokers,
            topics,
            user,
            password,
            tls,
            password_in_clear,
            roots,
        } = settings;
        if password.is_some() && !tls && !password_in_clear {
            return Err(Unusable::because(&[
                "the password would go in clear text: use TLS, or allow it",
            ]));
        }
        if topics.len() > MAX_TOPICS {
            return Err(Unusable::because(&["there are more than 100 topics"]));
        }
        let is_name = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
        let can_be = |topic: &String| {
            (1..=MAX_TOPIC_BYTES).contains(&topic.len()) && topic.bytes().all(is_name)
        };
        if !topics.iter().all(can_be) {
            return Err(Unusable::because(&[
                "a topic has a name that none can have",
            ]));
        }
        let mut servers = Vec::new();
        for broker in brokers.reveal().split(',') {
            let url = Secret::from(format!("kafka://{}", broker.trim()));
            let server = Server::read(&url, user.clone(), password.clone(), &["kafka"], PORT)?;
            let mut server = server.without_path()?;
            if tls {
                server.at = server.secured(&roots)?;
            }
            servers.push(server);
        }
        if servers.len() > MAX_BROKERS {
            return Err(Unusable::because(&["there are more than 16 brokers"]));
        }
        Ok(Self {
            brokers: servers,
            topics,
            kept: Mutex::new(None),
        })
    }

    async fn ask(&self, context: &CheckContext) -> Result<Outcome, Failure> {
        let mut kept = self.kept.lock().await;
        if let Some(mut broker) = kept.take() {
            match broker.metadata(&self.topics).await {
                Ok(cluster) => {
                    *kept = Some(broker);
                    return judge(&cluster, &self.topics);
                }
                // It was closed meanwhile: that says nothing yet.
                Err(failure) if failure.category() == ErrorCategory::ConnectionReset => {}
                Err(failure) => return Err(failure),
            }
        }
        let (broker, cluster) = self.first_that_answers(context).await?;
        *kept = Some(broker);
        judge(&cluster, &self.topics)
    }

    /// Each broker gets a share of the time that is left; the last gets all of it. Of several failures the first is
    /// told.
    async fn first_that_answers(
        &self,
        context: &CheckContext,
    ) -> Result<(Broker, Cluster), Failure> {
        let ends = Instant::now() + context.timeout();
        let mut first = None;
        let count = self.brokers.len();
        for (index, server) in self.brokers.iter().enumerate() {
            let asked = async {
                let mut broker = Broker::connect(server, context).await?;
                let cluster = broker.metadata(&self.topics).await?;
                Ok((broker, cluster))
            };
            let left = ends.saturating_duration_since(Instant::now());
            let others = u32::try_from(count - index).unwrap_or(u32::MAX);
            let failure = match timeout(left / others, asked).await {
                Ok(Ok(answered)) => return Ok(answered),
                Ok(Err(failure)) => failure,
                Err(_) => Failure::new(ErrorCategory::Timeout),
            };
            first = first.or(Some(failure));
        }
        Err(first.unwrap_or_else(|| Failure::new(ErrorCategory::Unknown)))
    }
}

fn judge(cluster: &Cluster, wanted: &[String]) -> Result<Outcome, Failure> {
    let is_wanted = |name: &str| wanted.iter().any(|wanted| wanted == name);
    let topics = cluster.topics.iter().filter(|topic| is_wanted(&topic.name));
    let (mut seen, mut missing, mut forbidden, mut leaderless) = (0, 0, 0, 0_u64);
    for topic in topics {
        seen += 1;
        match topic.error {
            0 | LEADER_NOT_AVAILABLE if topic.partitions == 0 => leaderless += 1,
            0 => leaderless += topic.leaderless,
            UNKNOWN_TOPIC => missing += 1,
            TOPIC_AUTHORIZATION_FAILED => forbidden += 1,
            LEADER_NOT_AVAILABLE => leaderless += topic.leaderless.max(1),
            code => {
                let reason = Reason::new("a topic has Kafka's error").number(i64::from(code));
                return Err(Failure::new(ErrorCategory::Unknown).because(reason));
            }
        }
    }
    missing += wanted.len().saturating_sub(seen);
    if forbidden > 0 {
        return Err(Failure::new(ErrorCategory::Auth)
            .because(Reason::new("topics that the user may not see:").number(forbidden)));
    }
    if missing > 0 {
        return Err(Failure::new(ErrorCategory::NotFound)
            .because(Reason::new("topics that are not there:").number(missing)));
    }
    if leaderless > 0 {
        return Err(Failure::new(ErrorCategory::NotReady)
            .because(Reason::new("partitions without a leader:").number(leaderless)));
    }
    if cluster.brokers == 0 {
        return Err(Failure::new(ErrorCategory::NotReady).because("no broker is in the cluster"));
    }
    if cluster.controller < 0 {
        return Ok(Outcome::degraded(
            ErrorCategory::NotReady,
            "the cluster has no controller",
        ));
    }
    Ok(Outcome::Up)
}

/// Kafka's error codes (protocol guide, "Error Codes").
const UNKNOWN_TOPIC: i16 = 3;
const LEADER_NOT_AVAILABLE: i16 = 5;
const TOPIC_AUTHORIZATION_FAILED: i16 = 29;

#[cfg(test)]
mod tests {
    use super::wire::Topic;
    use super::*;

    fn topic(name: &str, error: i16, partitions: u64, leaderless: u64) -> Topic {
        Topic {
            name: name.into(),
            error,
            partitions,
            leaderless,
        }
    }

    fn said(topics: Vec<Topic>, controller: i32) -> String {
        let cluster = Cluster {
            brokers: 1,
            controller,
            topics,
        };
        match judge(&cluster, &["orders".into(), "bills".into()]) {
            Ok(Outcome::Up) => "up".into(),
            Ok(Outcome::Degraded(failure)) => format!("degraded, {failure}"),
            Err(failure) => format!("{}, {failure}", failure.category()),
        }
    }

    #[test]
    fn topics_have_to_be_there_with_leaders() {
        let good = || topic("orders", 0, 3, 0);
        let cases = [
            (vec![good(), topic("bills", 0, 1, 0)], 1, "up"),
            (
                vec![good(), topic("bills", 0, 1, 0)],
                -1,
                "degraded, the cluster has no controller",
            ),
            (
                vec![good(), topic("bills", 3, 0, 0)],
                1,
                "not_found, topics that are not there: 1",
            ),
            // An old broker, which is asked for all topics.
            (
                vec![topic("other", 0, 1, 1)],
                1,
                "not_found, topics that are not there: 2",
            ),
            (
                vec![good(), topic("bills", 0, 4, 2)],
                1,
                "not_ready, partitions without a leader: 2",
            ),
            (
                vec![good(), topic("bills", 5, 0, 0)],
                1,
                "not_ready, partitions without a leader: 1",
            ),
            (
                vec![good(), topic("bills", 29, 0, 0)],
                1,
                "auth, topics that the user may not see: 1",
            ),
            (
                vec![good(), topic("bills", 17, 0, 0)],
                1,
                "unknown, a topic has Kafka's error 17",
            ),
        ];
        for (topics, controller, words) in cases {
            assert_eq!(said(topics, controller), words);
        }
    }

    #[test]
    fn what_cannot_be_used_is_said_in_a_sentence() {
        let with = |change: fn(&mut KafkaSettings)| {
            let mut settings = KafkaSettings::new("kafka:9092");
            change(&mut settings);
            kafka("log", settings)
                .map(|_| ())
                .expect_err("unusable")
                .to_string()
        };
        assert_eq!(
            with(|settings| settings.topics = vec!["hun ter2".into()]),
            "a topic has a name that none can have"
        );
        assert_eq!(
            with(|settings| settings.brokers = "a,,b".into()),
            "the URL has no host"
        );
        assert_eq!(
            with(|settings| settings.password = Some("hunter2".into())),
            "the password would go in clear text: use TLS, or allow it"
        );
        assert_eq!(
            with(|settings| settings.brokers = ["a"; 17].join(",").into()),
            "there are more than 16 brokers"
        );
    }
}
