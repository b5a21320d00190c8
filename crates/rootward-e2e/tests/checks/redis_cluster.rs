//! Redis Cluster: three real nodes, on connections of the check's own and on that of the application.

use std::net::SocketAddr;
use std::process::Command;

use redis::cluster::ClusterClient;
use redis::cluster_async::ClusterConnection;
use redis::{Client, Cmd, FromRedisValue};
use rootward::{Check, Unlabelled};
use rootward_checks::open::{self, RedisClusterSettings};
use rootward_e2e::{Error, Private, Run, free_port};
use tokio::time::Instant;

use crate::every::{
    LONG, PASSWORD, SHORT, USER, alone, beside_others, leaves_nothing, run, run_until,
    survives_refusal, survives_silence,
};

const SLOTS: u16 = 16_384;

fn check(nodes: &[&Node]) -> Check<Unlabelled> {
    let settings = RedisClusterSettings::new(nodes.iter().map(|node| node.url()));
    open::redis_cluster("cache", settings).expect("URLs")
}

async fn check_at(address: SocketAddr) -> Check<Unlabelled> {
    let settings = RedisClusterSettings {
        user: Some(USER.into()),
        password: Some(PASSWORD.into()),
        ..RedisClusterSettings::new([format!("redis://{address}")])
    };
    open::redis_cluster("cache", settings).expect("URLs")
}

struct Node {
    server: Private,
    /// The port on which the nodes talk to each other.
    bus: u16,
}

impl Node {
    async fn start(run: &Run) -> Result<Self, Error> {
        let mut server = Private::new(run, "redis", "redis-server")?;
        let bus = free_port()?;
        let (port, bus_port) = (server.port().to_string(), bus.to_string());
        let arguments = move |command: &mut Command| {
            command.args(["--bind", "127.0.0.1", "--port", &port, "--save", ""]);
            command.args(["--cluster-enabled", "yes", "--cluster-port", &bus_port]);
            // Long enough that a busy machine does not look like a dead node, short enough to wait for.
            command.args(["--cluster-node-timeout", "3000"]);
        };
        server.run(arguments).await?;
        Ok(Self { server, bus })
    }

    fn url(&self) -> String {
        format!("redis://127.0.0.1:{}", self.server.port())
    }

    async fn ask<T: FromRedisValue>(&self, command: &Cmd) -> T {
        let client = Client::open(self.url()).expect("a URL");
        let connected = client.get_multiplexed_async_connection().await;
        let mut connection = connected.expect("it listens");
        let answer = command.query_async(&mut connection).await;
        answer.expect("it answers")
    }

    /// Serves these slots.
    async fn serve(&self, from: u16, to: u16) {
        let mut command = redis::cmd("CLUSTER");
        command.arg("ADDSLOTSRANGE").arg(from).arg(to);
        self.ask::<()>(&command).await;
    }
}

/// Three masters that know each other and have all slots but the last.
async fn start() -> Result<[Node; 3], Error> {
    let run = Run::from_environment()?;
    let (a, b, c) = tokio::join!(Node::start(&run), Node::start(&run), Node::start(&run));
    let nodes = [a?, b?, c?];
    for (node, (from, to)) in nodes
        .iter()
        .zip([(0, 5_460), (5_461, 10_922), (10_923, SLOTS - 2)])
    {
        node.serve(from, to).await;
    }
    for other in &nodes[1..] {
        let mut meet = redis::cmd("CLUSTER");
        meet.arg("MEET").arg("127.0.0.1");
        meet.arg(other.server.port()).arg(other.bus);
        nodes[0].ask::<()>(&meet).await;
    }
    Ok(nodes)
}

#[tokio::test]
async fn a_cluster_of_redis_that_says_nothing_costs_one_time_limit_and_no_connection() {
    let _turn = beside_others().await;
    survives_silence(check_at).await;
}

#[tokio::test]
async fn a_cluster_of_redis_that_is_not_there_is_said_to_refuse() {
    let _turn = beside_others().await;
    survives_refusal(check_at).await;
}

#[tokio::test]
async fn a_redis_that_is_no_cluster_is_said_to_be_none_and_a_wrong_password_without_it()
-> Result<(), Error> {
    let _turn = beside_others().await;
    let url = Run::from_environment()?.redis_url().to_owned();
    let settings = RedisClusterSettings::new([url.as_str()]);
    let single = open::redis_cluster("cache", settings.clone()).expect("a URL");
    assert_eq!(
        run(&single, LONG).await,
        "down, protocol, the command was refused"
    );
    let wrong = RedisClusterSettings {
        user: Some(USER.into()),
        password: Some(PASSWORD.into()),
        ..settings
    };
    let wrong = open::redis_cluster("cache", wrong).expect("a URL");
    assert_eq!(run(&wrong, LONG).await, "down, auth, credentials refused");
    Ok(())
}

#[tokio::test]
async fn a_cluster_is_down_while_a_slot_or_a_master_is_missing_and_comes_back() -> Result<(), Error>
{
    let _turn = beside_others().await;
    let mut nodes = start().await?;
    let own = check(&[&nodes[0], &nodes[1]]);
    run_until(
        &own,
        LONG,
        "down, not_ready, slots of the cluster that nobody serves: 1",
    )
    .await;
    nodes[2].serve(SLOTS - 1, SLOTS - 1).await;
    run_until(&own, LONG, "up").await;
    let through = rootward_checks::redis_cluster("cache", connect(&nodes).await);
    run_until(&through, LONG, "up").await;

    nodes[2].server.freeze()?;
    for check in [&own, &through] {
        let frozen = run(check, SHORT).await;
        assert!(
            frozen == "cut off" || frozen.starts_with("down, timeout, "),
            "{frozen}"
        );
    }
    nodes[2].server.thaw()?;
    run_until(&own, LONG, "up").await;
    run_until(&through, LONG, "up").await;

    nodes[2].server.kill().await?;
    run_until(&own, LONG, "down, ").await;
    // Once the others have noticed, they say so themselves.
    run_until(&own, LONG, "down, not_ready, ").await;
    nodes[2].server.start_again().await?;
    run_until(&own, LONG, "up").await;
    run_until(&through, LONG, "up").await;
    Ok(())
}

#[tokio::test]
async fn a_thousand_runs_against_a_cluster_of_redis_leave_nothing() -> Result<(), Error> {
    let _turn = alone().await;
    let nodes = start().await?;
    nodes[2].serve(SLOTS - 1, SLOTS - 1).await;
    let own = check(&[&nodes[0]]);
    run_until(&own, LONG, "up").await;
    leaves_nothing(&own, "up").await;
    let through = rootward_checks::redis_cluster("cache", connect(&nodes).await);
    leaves_nothing(&through, "up").await;
    Ok(())
}

#[tokio::test]
async fn a_cluster_that_says_nothing_costs_the_application_no_run_that_comes_after()
-> Result<(), Error> {
    let _turn = beside_others().await;
    let nodes = start().await?;
    nodes[2].serve(SLOTS - 1, SLOTS - 1).await;
    run_until(&check(&[&nodes[0]]), LONG, "up").await;
    let through = rootward_checks::redis_cluster("cache", connect(&nodes).await);
    run_until(&through, LONG, "up").await;
    for _ in 0..2 {
        for node in &nodes {
            node.server.freeze()?;
        }
        let began = Instant::now();
        let frozen = run(&through, SHORT).await;
        assert!(
            frozen == "cut off" || frozen.starts_with("down, timeout, "),
            "{frozen}"
        );
        assert!(began.elapsed() < SHORT * 20, "{:?}", began.elapsed());
        for node in &nodes {
            node.server.thaw()?;
        }
        run_until(&through, LONG, "up").await;
    }
    Ok(())
}

#[tokio::test]
async fn a_cluster_of_which_no_node_is_there_is_said_to_and_comes_back_to_the_applications_connection_too()
-> Result<(), Error> {
    let _turn = beside_others().await;
    let mut nodes = start().await?;
    nodes[2].serve(SLOTS - 1, SLOTS - 1).await;
    let own = check(&[&nodes[0]]);
    run_until(&own, LONG, "up").await;
    let through = rootward_checks::redis_cluster("cache", connect(&nodes).await);
    run_until(&through, LONG, "up").await;
    for node in &mut nodes {
        node.server.kill().await?;
    }
    run_until(&own, LONG, "down, connection_refused, ").await;
    // Why it cannot reach them, the application's driver does not say.
    let unreached = "down, unknown, the client reaches no node of the cluster";
    run_until(&through, LONG, unreached).await;
    for node in &mut nodes {
        node.server.start_again().await?;
    }
    run_until(&own, LONG, "up").await;
    run_until(&through, LONG, "up").await;
    Ok(())
}

/// The application's connection.
async fn connect(nodes: &[Node; 3]) -> ClusterConnection {
    let client = ClusterClient::new([nodes[0].url(), nodes[1].url()]).expect("URLs");
    client.get_async_connection().await.expect("it listens")
}
