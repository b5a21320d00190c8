//! Redis Cluster from URLs.

use std::collections::BTreeSet;
use std::mem;
use std::sync::Arc;

use redis::Value;
use rootward::{Check, CheckContext, Depth, ErrorCategory, Failure, Unlabelled};
use tokio::sync::Mutex;
use tokio::time::Instant;

use super::redis_nodes::{Connections, Login, Node, ask, first_that_answers, node_of, read};
use super::{Roots, Secret, Unusable};
use crate::redis_cluster::judge;

const PORT: u16 = 6379;

/// The most masters that are asked; Redis recommends no more.
const MAX_MASTERS: usize = 1000;

/// Where a cluster of Redis is, and who asks it.
///
/// ```
/// use rootward_checks::open::RedisClusterSettings;
///
/// let settings = RedisClusterSettings {
///     password: Some("hunter2".into()),
///     ..RedisClusterSettings::new(["redis://cache-0:6379", "redis://cache-1:6379"])
/// };
/// ```
#[derive(Debug, Clone)]
pub struct RedisClusterSettings {
    /// Some of its nodes, as `redis://HOST:PORT`, which are tried in turn until one answers; it knows the others. At most
    /// 64. The port is 6379 unless it is there. All are `rediss://` for TLS (feature `redis-tls`), which is then spoken to
    /// every node, by the name or address under which the cluster knows it.
    pub urls: Vec<Secret>,
    /// The user, the same on all nodes.
    pub user: Option<Secret>,
    /// The password, the same on all nodes.
    pub password: Option<Secret>,
    /// Whose certificates are believed, with `rediss://`.
    pub roots: Roots,
}

impl RedisClusterSettings {
    /// Whatever the URLs say.
    pub fn new<U: Into<Secret>>(urls: impl IntoIterator<Item = U>) -> Self {
        Self {
            urls: urls.into_iter().map(Into::into).collect(),
            user: None,
            password: None,
            roots: Roots::System,
        }
    }
}

/// The state of a cluster of Redis or Valkey, and a ping to each of its masters, on connections of the check's own.
///
/// | what happens | category |
/// | --- | --- |
/// | the cluster says that it is down, or slots are not covered | `not_ready`, with how many |
/// | no node answers within the time limit, or a master does not | `timeout` |
/// | no node listens, or a master does not; a connection breaks, a name does not resolve | `connection_refused`, `connection_reset`, `dns` |
/// | user or password refused or missing | `auth` |
/// | a certificate is not to be trusted | `tls` |
/// | a node is loading its data | `starting` |
/// | what answers is no cluster | `protocol` |
///
/// A run costs one node `CLUSTER INFO` and `CLUSTER SLOTS`, and each master a `PING`, on one connection each that is
/// kept. Masters are asked where the cluster says that they are: as `--cluster-announce-ip` has it, which must be
/// reachable from here. Valkey speaks the same protocol.
///
/// It does not prove that a key can be written, nor that replicas are there. The report shows no target unless it is
/// given one: a cluster has many addresses.
///
/// # Errors
/// When a URL cannot be used, wants TLS without the feature
/// `redis-tls`, or has a user or a password of its own, or when roots cannot be read.
///
/// ```
/// use rootward_checks::open::{self, RedisClusterSettings};
///
/// let check = open::redis_cluster("cache", RedisClusterSettings::new(["redis://cache-0", "redis://cache-1"]))?.soft();
/// # Ok::<(), open::Unusable>(())
/// ```
pub fn redis_cluster(
    name: impl Into<String>,
    settings: RedisClusterSettings,
) -> Result<Check<Unlabelled>, Unusable> {
    let RedisClusterSettings {
        urls,
        user,
        password,
        roots,
    } = settings;
    let (nodes, authority) = read(&urls, PORT, &roots)?;
    let cluster = Arc::new(Cluster {
        nodes,
        login: Login {
            user,
            password,
            authority,
            ..Login::default()
        },
        open: Mutex::default(),
    });
    let check = Check::with_context(name, move |context| {
        let cluster = Arc::clone(&cluster);
        async move { cluster.ask(&context).await }
    });
    Ok(check.kind("redis").depth(Depth::Ping))
}

struct Cluster {
    nodes: Vec<Node>,
    login: Login,
    /// Taken out for a run; one that is cut off drops them.
    open: Mutex<Connections>,
}

impl Cluster {
    async fn ask(&self, context: &CheckContext) -> Result<(), Failure> {
        let mut kept = self.open.lock().await;
        let mut open = mem::take(&mut *kept);
        let answer = self.ask_all(&mut open, context).await;
        *kept = open;
        answer
    }

    async fn ask_all(&self, open: &mut Connections, context: &CheckContext) -> Result<(), Failure> {
        let ends = Instant::now() + context.timeout();
        let (mut info, mut slots) = (redis::cmd("CLUSTER"), redis::cmd("CLUSTER"));
        info.arg("INFO");
        slots.arg("SLOTS");
        let commands = [info, slots];
        let asked = first_that_answers(&self.nodes, open, &self.login, ends, &commands);
        let (node, mut answers) = asked.await?;
        let slots = answers.pop().unwrap_or(Value::Nil);
        judge(answers.pop().unwrap_or(Value::Nil))?;
        let masters = masters(&slots, &node.0)
            .filter(|masters| masters.len() <= MAX_MASTERS)
            .ok_or_else(|| {
                Failure::new(ErrorCategory::Protocol).because("the answer is not that of a cluster")
            })?;
        // Nodes that have left are not kept.
        open.retain(|at, _| at == node || masters.contains(at));
        let ping = [redis::cmd("PING")];
        for master in &masters {
            ask(master, open, &self.login, &ping).await?;
        }
        Ok(())
    }
}

/// From `CLUSTER SLOTS`: ranges, each with its first slot, its last, its master, and its replicas.
fn masters(slots: &Value, asked: &str) -> Option<BTreeSet<Node>> {
    let Value::Array(ranges) = slots else {
        return None;
    };
    let master = |range: &Value| {
        let Value::Array(range) = range else {
            return None;
        };
        let Value::Array(master) = range.get(2)? else {
            return None;
        };
        node_of(master.first()?, master.get(1)?, asked)
    };
    ranges.iter().map(master).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(text: &str) -> Value {
        Value::BulkString(text.as_bytes().to_vec())
    }

    fn range(first: i64, last: i64, host: Value, port: i64) -> Value {
        let master = Value::Array(vec![host, Value::Int(port), text("an id")]);
        Value::Array(vec![Value::Int(first), Value::Int(last), master])
    }

    #[test]
    fn a_master_is_where_the_cluster_says_and_each_is_there_once() {
        let slots = Value::Array(vec![
            range(0, 99, text("cache-1"), 6379),
            range(100, 199, text(""), 6380),
            range(200, 16_383, text("cache-1"), 6379),
        ]);
        let masters = masters(&slots, "cache-0").expect("slots");
        let masters: Vec<_> = masters.into_iter().collect();
        let node = |host: &str, port| (host.to_owned(), port);
        assert_eq!(masters, [node("cache-0", 6380), node("cache-1", 6379)]);
    }

    #[test]
    fn what_is_no_list_of_slots_is_none() {
        let cut = Value::Array(vec![Value::Array(vec![Value::Int(0), Value::Int(1)])]);
        let port = Value::Array(vec![range(0, 1, text("cache-1"), 65_536)]);
        for slots in [Value::Nil, text("planted"), cut, port] {
            assert_eq!(masters(&slots, "cache-0"), None);
        }
    }
}
