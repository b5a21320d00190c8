//! "Is it me?" on a real machine: no descriptor, no route, no name service; none of it is a target's failure.

use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use rootward_core::snapshot::Snapshot;
use rootward_core::{ObserverState, ServiceStatus};
use rootward_wire::v1::api;

use crate::fleet::{Fleet, Manner};
use crate::running::{Pace, Running, configuration};
use crate::{DIRECTORY, Hosts, alone};

const PACE: Pace = Pace {
    interval: Duration::from_secs(1),
    timeout: Duration::from_millis(900),
};
/// More than there are descriptors for.
const TARGETS: usize = 60;
/// For a runtime, a listener, and some of the targets.
const FEW_DESCRIPTORS: &str = "40";
/// The addresses of the targets, for the child.
const ADDRESSES: &str = "ROOTWARD_TEST_TARGETS";

fn services() -> Vec<&'static str> {
    let names = (0..TARGETS).map(|n| &*format!("s{n}").leak());
    names.collect()
}

fn is_calm(snapshot: &Snapshot) -> bool {
    snapshot.observer.state == ObserverState::Sees
        && snapshot.open_incidents.is_empty()
        && snapshot
            .services
            .iter()
            .all(|s| s.status == ServiceStatus::Healthy)
}

/// Nobody but the aggregator is at fault.
fn nobody_is_blamed(snapshot: &Snapshot) {
    for incident in &snapshot.open_incidents {
        assert_eq!(incident.cause.to_string(), "observer:aggregator");
    }
    for service in &snapshot.services {
        let status = service.status;
        assert!(
            matches!(status, ServiceStatus::Healthy | ServiceStatus::Unknown),
            "{} is {status}: {}",
            service.name,
            service.reason
        );
    }
}

#[test]
fn kf_019_an_aggregator_without_descriptors_blames_itself_and_sees_again_when_it_gets_some() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let _entered = runtime.enter();
    let fleet = Fleet::new();
    let started = services()
        .into_iter()
        .map(|name| fleet.start(Manner::healthy(name)).0.to_string());
    let addresses: Vec<String> = started.collect();
    let mut child = Command::new("sh")
        .args(["-c", "ulimit -S -n \"$1\" && exec \"$0\" --exact observer::with_few_descriptors --ignored --nocapture"])
        .arg(std::env::current_exe().unwrap())
        .arg(FEW_DESCRIPTORS)
        .env(ADDRESSES, addresses.join(","))
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut said = String::new();
    let mut raised = false;
    for line in BufReader::new(child.stdout.take().unwrap()).lines() {
        let line = line.unwrap();
        if line.contains("BLIND") {
            let pid = child.id().to_string();
            let limit = Command::new("prlimit")
                .args(["--pid", &pid, "--nofile=1024:"])
                .status();
            raised = limit.unwrap().success();
        }
        said.push_str(&line);
        said.push('\n');
    }
    let ended = child.wait().unwrap();
    assert!(
        ended.success() && raised && said.contains("1 passed"),
        "{said}"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "the test above runs it with few descriptors"]
async fn with_few_descriptors() {
    let addresses = std::env::var(ADDRESSES).expect("the test above says whom to poll");
    let addresses = addresses.split(',').map(|address| address.parse().unwrap());
    let targets: Vec<(&str, SocketAddr)> = services().into_iter().zip(addresses).collect();
    let mut running = Running::start(configuration(PACE, &targets));
    let blind = running
        .until("it finds out that it is blind", |snapshot| {
            snapshot.observer.is_fault()
        })
        .await;
    nobody_is_blamed(&blind);
    let later = running
        .until("what it could not see is old", |snapshot| {
            snapshot.at > blind.at + PACE.interval * 5
        })
        .await;
    nobody_is_blamed(&later);
    assert!(later.observer.is_fault(), "{:?}", later.observer);
    println!("BLIND");
    running.until("it sees everybody", is_calm).await;
    let transitions = running.get("/api/v1/transitions?limit=1000").await;
    let transitions: api::Transitions = serde_json::from_slice(&transitions.body).unwrap();
    for transition in transitions.transitions {
        let words = [transition.from.to_string(), transition.to.to_string()];
        assert!(words.contains(&"unknown".to_owned()), "{words:?}");
    }
    running.stop().await;
}

#[test]
fn without_a_route_the_aggregator_blames_itself() {
    alone("observer::where_there_is_no_route");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "the test above runs it where loopback is all there is"]
async fn where_there_is_no_route() {
    let fleet = Fleet::new();
    let mut targets = Vec::new();
    for (n, service) in services().into_iter().take(10).enumerate() {
        let address = match n {
            0..4 => format!("10.9.9.{n}:8790").parse().unwrap(),
            _ => fleet.start(Manner::healthy(service)).0,
        };
        targets.push((service, address));
    }
    let mut running = Running::start(configuration(PACE, &targets));
    let snapshot = running
        .until("it finds out that it has no route", |snapshot| {
            let healthy = snapshot
                .services
                .iter()
                .filter(|s| s.status == ServiceStatus::Healthy);
            snapshot.observer.is_fault() && healthy.count() == 6
        })
        .await;
    nobody_is_blamed(&snapshot);
    assert_eq!(snapshot.observer.reason, "there is no route from here");
    let overview: api::Overview =
        serde_json::from_slice(&running.get("/api/v1/overview").await.body).unwrap();
    let observer = overview.observer.unwrap();
    assert_eq!(observer.state, api::ObserverState::Fault.into());
    assert_eq!(observer.blind_to, ["s0", "s1", "s2", "s3"]);
    assert!(
        overview
            .headline
            .starts_with("the aggregator itself cannot see 4 of 10 instances"),
        "{}",
        overview.headline
    );
    let metrics = String::from_utf8(running.get("/metrics").await.body.to_vec()).unwrap();
    assert!(metrics.contains("\nrootward_observer_fault 1"), "{metrics}");
    running.stop().await;
}

#[test]
fn an_outage_of_the_name_service_turns_nobody_and_the_last_good_addresses_are_polled() {
    alone("observer::where_names_are_lost");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "the test above runs it where names are its own"]
async fn where_names_are_lost() {
    let directory = std::env::var_os(DIRECTORY).expect("the test above says where");
    let hosts = Hosts(Path::new(&directory).join("hosts"));
    let fleet = Fleet::new();
    let mut targets = Vec::new();
    let mut moods = Vec::new();
    for service in services().into_iter().take(6) {
        // Each answer ends its connection, so that every poll needs the name anew.
        let (address, _, mood) = fleet.start_changing(closing(service));
        targets.push((service, address));
        moods.push(mood);
    }
    let mut config = configuration(PACE, &targets);
    for target in &mut config.targets {
        target.url = target.url.replace("127.0.0.1", "cart.shop.test");
    }
    hosts.say(&["127.0.0.1"]);
    let mut running = Running::start(config);
    running.until("everybody is seen by name", is_calm).await;
    // No name resolves any more.
    hosts.say(&[]);
    let lost = running.until("now", |_| true).await;
    let later = running
        .until("many rounds without a name", |snapshot| {
            snapshot.at > lost.at + PACE.interval * 6
        })
        .await;
    assert!(is_calm(&later), "{:?}", later.observer);
    // And they are really asked there.
    moods[0].set(Manner::Report {
        service: "s0",
        status: "unhealthy",
        code: 503,
    });
    running
        .until("one that fails meanwhile is seen", |snapshot| {
            snapshot.services[0].status == ServiceStatus::Unhealthy
        })
        .await;
    running.stop().await;
}

fn closing(service: &'static str) -> Manner {
    let body = format!(
        r#"{{"contract":"rootward/1","service":"{service}","instance":"0","status":"healthy","ready":true,"components":[]}}"#
    );
    Manner::answer("200 OK\r\nconnection: close", &body)
}
