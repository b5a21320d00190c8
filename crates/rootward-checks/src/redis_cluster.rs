//! Redis Cluster: whether its slots are covered, and whether every master answers.

use redis::Value;
#[cfg(feature = "redis-cluster")]
use redis::{
    cluster_async::ClusterConnection,
    cluster_routing::{
        MultipleNodeRoutingInfo, ResponsePolicy, RoutingInfo, SingleNodeRoutingInfo,
    },
};
#[cfg(feature = "redis-cluster")]
use rootward::{Check, Depth, Unlabelled};
use rootward::{ErrorCategory, Failure, Reason};

#[cfg(feature = "redis-cluster")]
use crate::redis::of_driver;

/// How many slots a cluster has; every key is in one of them.
const SLOTS: u64 = 16_384;

/// The state of a cluster of Redis or Valkey, and a ping to each of its masters, through the application's own connection.
///
/// | what happens | category |
/// | --- | --- |
/// | no answer within the time limit | `timeout` |
/// | the cluster says that it is down, or slots are not covered | `not_ready`, with how many |
/// | a master cannot be reached or its connection breaks | `connection_refused`, `connection_reset`, `dns`, or `unknown` where the driver does not say |
/// | no node can be reached | `unknown`: the driver does not say why |
/// | user or password refused or missing | `auth` |
/// | a master is loading its data | `starting` |
///
/// A run costs one node `CLUSTER INFO` and each master a `PING`. The driver's connection tries again by itself, so
/// that a master which is not there may show as `timeout`; the check from settings
/// ([`open::redis_cluster`](crate::open::redis_cluster)) tells at once. Valkey speaks the same protocol.
///
/// It does not prove that a key can be written. The report shows no target unless it is given one.
///
/// ```no_run
/// use redis::cluster::ClusterClient;
/// use rootward_checks::redis_cluster;
///
/// # async fn run() -> Result<(), Box<dyn std::error::Error>> {
/// let client = ClusterClient::new(["redis://cache-0:6379", "redis://cache-1:6379"])?;
/// let connection = client.get_async_connection().await?; // what the application uses
/// let check = redis_cluster("cache", connection.clone()).soft();
/// # Ok(())
/// # }
/// ```
#[cfg(feature = "redis-cluster")]
pub fn redis_cluster(name: impl Into<String>, connection: ClusterConnection) -> Check<Unlabelled> {
    let check = Check::new(name, move || {
        let mut connection = connection.clone();
        async move {
            let mut info = redis::cmd("CLUSTER");
            info.arg("INFO");
            let anyone = RoutingInfo::SingleNode(SingleNodeRoutingInfo::Random);
            let info = connection.route_command(info, anyone).await;
            judge(info.map_err(of_driver)?)?;
            let masters = RoutingInfo::MultiNode((
                MultipleNodeRoutingInfo::AllMasters,
                Some(ResponsePolicy::AllSucceeded),
            ));
            let pings = connection.route_command(redis::cmd("PING"), masters).await;
            pings.map_err(of_driver)?;
            Ok::<(), Failure>(())
        }
    });
    check.kind("redis").depth(Depth::Ping)
}

/// What `CLUSTER INFO` says: lines of `name:number` and `name:word`.
///
/// A node that only this one misses (`cluster_slots_pfail`) is not counted: the ping tells whether it is there.
pub(crate) fn judge(info: Value) -> Result<(), Failure> {
    let other =
        || Failure::new(ErrorCategory::Protocol).because("the answer is not that of a cluster");
    // What answers may be anything, so its answer is not attached.
    let info: String = redis::from_redis_value(info).map_err(|_| other())?;
    let word = |name: &str| {
        let mut lines = info.lines();
        let word = lines.find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))?;
        Some(word.trim())
    };
    let number = |name: &str| word(name)?.parse::<u64>().ok();
    let state = word("cluster_state").ok_or_else(other)?;
    let assigned = number("cluster_slots_assigned").ok_or_else(other)?;
    let failed = number("cluster_slots_fail").ok_or_else(other)?;
    // A cluster may be told to go on without some of its slots, and says then that it is well.
    let lost = SLOTS.saturating_sub(assigned).saturating_add(failed);
    if lost > 0 {
        let reason = Reason::new("slots of the cluster that nobody serves:").number(lost);
        return Err(Failure::new(ErrorCategory::NotReady).because(reason));
    }
    if state != "ok" {
        return Err(
            Failure::new(ErrorCategory::NotReady).because("the cluster says that it is down")
        );
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(info: &str) -> String {
        let info = Value::BulkString(info.as_bytes().to_vec());
        judge(info).map_or_else(|failure| failure.to_string(), |()| "up".into())
    }

    #[test]
    fn a_cluster_with_slots_that_nobody_serves_is_down_whatever_it_says() {
        let cases = [
            ("ok", 16_384, 0, 0, "up"),
            ("ok", 16_384, 5_000, 0, "up"),
            (
                "ok",
                16_000,
                0,
                0,
                "slots of the cluster that nobody serves: 384",
            ),
            (
                "ok",
                16_000,
                0,
                6,
                "slots of the cluster that nobody serves: 390",
            ),
            ("fail", 16_384, 0, 0, "the cluster says that it is down"),
        ];
        for (state, assigned, missed, failed, words) in cases {
            let info = format!(
                "cluster_state:{state}\r\ncluster_slots_assigned:{assigned}\r\n\
                 cluster_slots_pfail:{missed}\r\ncluster_slots_fail:{failed}\r\n"
            );
            assert_eq!(said(&info), words);
        }
    }

    #[test]
    fn what_is_not_the_state_of_a_cluster_is_called_so() {
        let cases = [
            "",
            "hunter2",
            "cluster_state:ok\r\n",
            "cluster_state:ok\r\ncluster_slots_assigned:many\r\ncluster_slots_fail:0\r\n",
        ];
        for info in cases {
            assert_eq!(said(info), "the answer is not that of a cluster");
        }
        let failure = judge(Value::Array(Vec::new())).expect_err("no text");
        assert_eq!(failure.category(), ErrorCategory::Protocol);
    }
}
