//! grpc.health.v1: what `Watch` says, and how it ends.

use std::net::SocketAddr;
use std::time::Duration;

use rootward::{Builder, DEFAULT_LAG_BUDGET, Health, MAX_WATCHES};
use tokio::runtime::Handle;
use tokio::time::timeout;
use tonic::{Code, Status, Streaming};
use tonic_health::pb::HealthCheckResponse;
use tonic_health::pb::health_check_response::ServingStatus;

use crate::grpc::named;
use crate::servers_of_ours::{grpc_client, tonic_server};
use crate::support::{Dependency, any_port, cart, until};

/// Long enough for a busy machine.
const LIMIT: Duration = Duration::from_secs(5);

struct Watch(Streaming<HealthCheckResponse>);

impl Watch {
    async fn begin(address: SocketAddr, name: &str) -> Self {
        let mut client = grpc_client(address).await;
        let answer = client.watch(named(name)).await.expect("a watch");
        Self(answer.into_inner())
    }

    async fn message(&mut self) -> Result<Option<HealthCheckResponse>, Status> {
        let message = timeout(LIMIT, self.0.message()).await;
        message.expect("something is said in time")
    }

    async fn next(&mut self) -> ServingStatus {
        let message = self.message().await.expect("no error");
        message.expect("not the end").status()
    }

    async fn is_silent_for(&mut self, time: Duration) -> bool {
        timeout(time, self.0.message()).await.is_err()
    }
}

/// Looked at every 20 ms.
fn quick(database: &Dependency) -> Health {
    begin(cart(), database)
}

fn begin(cart: Builder, database: &Dependency) -> Health {
    cart.interval(Duration::from_millis(20))
        .timeout(Duration::from_millis(15))
        .listen_grpc(any_port())
        .check(database.check("db").rise(1).hard())
        .start()
        .expect("it starts")
}

async fn a_watch_sees_down_become_up() {
    let database = Dependency::broken();
    let health = quick(&database);
    until(LIMIT, || health.is_started()).await;
    let server = tonic_server(health.grpc()).await;
    let own = health.grpc_addr().expect("it listens");
    let mut watches = [
        Watch::begin(own, "db").await,
        Watch::begin(server.address, "db").await,
    ];
    for watch in &mut watches {
        assert_eq!(watch.next().await, ServingStatus::NotServing, "at once");
        let silent = watch.is_silent_for(Duration::from_millis(150)).await;
        assert!(silent, "the same result again is no change");
    }
    database.recovers();
    for watch in &mut watches {
        assert_eq!(watch.next().await, ServingStatus::Serving);
    }
    health.stop().await;
}

#[tokio::test]
async fn a_watch_sees_down_become_up_on_one_thread() {
    a_watch_sees_down_become_up().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_watch_sees_down_become_up_on_several_threads() {
    a_watch_sees_down_become_up().await;
}

#[tokio::test]
async fn a_watch_of_the_empty_name_sees_readiness_come_and_go() {
    let health = quick(&Dependency::default());
    let latch = health.latch("cache warm");
    let mut watch = Watch::begin(health.grpc_addr().expect("it listens"), "").await;
    assert_eq!(watch.next().await, ServingStatus::NotServing);
    drop(latch);
    assert_eq!(watch.next().await, ServingStatus::Serving);
    health.set_not_ready("closed for the night");
    assert_eq!(watch.next().await, ServingStatus::NotServing);
    health.set_ready();
    assert_eq!(watch.next().await, ServingStatus::Serving);
    health.stop().await;
}

#[tokio::test]
async fn a_watch_of_an_unknown_name_says_so_and_stays_open() {
    let health = quick(&Dependency::default());
    let mut watch = Watch::begin(health.grpc_addr().expect("it listens"), "nobody").await;
    assert_eq!(watch.next().await, ServingStatus::ServiceUnknown);
    assert!(watch.is_silent_for(Duration::from_millis(300)).await);
    health.stop().await;
    let end = watch.message().await.expect_err("it ends with the health");
    assert_eq!(end.code(), Code::Unavailable);
}

/// Nothing is written any more, and time passes: that is a change, too. The own port tells while the application's
/// runtime is as blocked as one can be.
#[test]
fn a_watch_on_the_own_port_hears_of_a_blocked_runtime() {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime");
    let health = runtime.block_on(async {
        let health = begin(
            cart().lag_budget(DEFAULT_LAG_BUDGET),
            &Dependency::default(),
        );
        until(LIMIT, || health.is_ready()).await;
        health
    });
    // Nobody drives the runtime now. Ask from another one.
    let address = health.grpc_addr().expect("it listens");
    let client = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime");
    client.block_on(async {
        let mut database = Watch::begin(address, "db").await;
        let mut readiness = Watch::begin(address, "").await;
        if database.next().await == ServingStatus::Serving {
            assert_eq!(database.next().await, ServingStatus::Unknown);
        }
        if readiness.next().await == ServingStatus::Serving {
            assert_eq!(readiness.next().await, ServingStatus::NotServing);
        }
    });
    runtime.block_on(health.stop());
}

#[tokio::test]
async fn one_watch_too_many_is_refused_and_a_place_that_is_given_back_is_taken() {
    let health = quick(&Dependency::default());
    let address = health.grpc_addr().expect("it listens");
    let mut watches = Vec::new();
    let mut client = grpc_client(address).await;
    for number in 0..MAX_WATCHES {
        if number % 32 == 0 {
            client = grpc_client(address).await;
        }
        let answer = client.watch(named("db")).await.expect("a place");
        watches.push(answer.into_inner());
    }
    let mut client = grpc_client(address).await;
    let refused = client.watch(named("db")).await.expect_err("no place");
    assert_eq!(refused.code(), Code::ResourceExhausted);
    assert_eq!(
        refused.message(),
        "256 watches are open, which is as many as may be"
    );
    let status = client.check(named("db")).await.expect("an answer");
    assert_ne!(status.into_inner().status(), ServingStatus::ServiceUnknown);
    drop(watches.pop());
    let taken = timeout(LIMIT, async {
        while client.watch(named("db")).await.is_err() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    });
    taken.await.expect("the place is given back");
    drop(watches);
    health.stop().await;
}

/// On both mounts, with watches under way.
#[tokio::test]
async fn a_stop_ends_all_watches_and_leaves_no_task() {
    let tasks = || Handle::current().metrics().num_alive_tasks();
    let before = tasks();
    {
        let health = quick(&Dependency::default());
        let server = tonic_server(health.grpc()).await;
        let own = health.grpc_addr().expect("it listens");
        let mut watches = [
            Watch::begin(own, "nobody").await,
            Watch::begin(server.address, "nobody").await,
        ];
        for watch in &mut watches {
            watch.next().await;
        }
        health.stop().await;
        for watch in &mut watches {
            let end = watch.message().await.expect_err("it ends");
            assert_eq!(end.code(), Code::Unavailable);
            assert_eq!(end.message(), "health is checked no longer");
        }
        let mut client = grpc_client(server.address).await;
        let late = client.watch(named("")).await.expect("an answer");
        let end = late.into_inner().message().await.expect_err("it ends");
        assert_eq!(end.code(), Code::Unavailable);
        let status = client.check(named("")).await.expect("an answer");
        assert_eq!(status.into_inner().status(), ServingStatus::NotServing);
    }
    until(LIMIT, || tasks() == before).await;
}
