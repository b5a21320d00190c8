//! Instances that are found by a name: in a mount and a network of their own, where this test writes `/etc/hosts` and
//! answers no question of the resolver. And what the aggregator says of itself when it is the one that cannot see.

#![expect(clippy::unwrap_used, reason = "a step that fails is a test that fails")]

#[path = "../it/fleet.rs"]
#[expect(dead_code, reason = "the other tests of this crate use more of it")]
mod fleet;
#[path = "../it/running.rs"]
#[expect(dead_code, reason = "the other tests of this crate use more of it")]
mod running;

mod observer;

use std::fs;
use std::net::{SocketAddr, UdpSocket};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use rootward_config::{Checked, DnsSpec};
use rootward_core::snapshot::Snapshot;
use rootward_core::{Map, MapParts, Node, NodeKind, ServiceStatus, Thresholds};

use fleet::{Asked, Fleet, Manner};
use running::{Pace, Running, configuration, name};

const INTERVAL: Duration = Duration::from_secs(1);
/// Neighbours that have addresses of their own.
const NEIGHBOURS: usize = 500;
/// Where the files are that stand in for those of the machine.
const DIRECTORY: &str = "ROOTWARD_TEST_NAMES";

#[test]
fn instances_are_found_by_a_name() {
    alone("in_a_place_of_its_own");
}

/// Runs a test that is ignored otherwise where `/etc/hosts` and `/etc/resolv.conf` are ours and loopback is all there is.
#[expect(
    clippy::print_stderr,
    reason = "what could not be tested is said where tests are run"
)]
fn alone(test: &str) {
    let directory = tempfile::tempdir().unwrap();
    for file in ["hosts", "resolv.conf"] {
        fs::write(directory.path().join(file), "").unwrap();
    }
    let script = "ip link set lo up && mount --bind \"$1/hosts\" /etc/hosts \
                  && mount --bind \"$1/resolv.conf\" /etc/resolv.conf \
                  && exec \"$0\" --exact \"$2\" --ignored --nocapture";
    let made = Command::new("unshare")
        .args(["--net", "--mount", "--map-root-user", "sh", "-c", script])
        .arg(std::env::current_exe().unwrap())
        .arg(directory.path())
        .arg(test)
        .env(DIRECTORY, directory.path())
        .output();
    let Ok(ended) = made else {
        eprintln!("SKIPPED: there is no unshare here");
        return;
    };
    let out = String::from_utf8_lossy(&ended.stdout);
    let errors = String::from_utf8_lossy(&ended.stderr);
    if !out.contains(test) {
        eprintln!("SKIPPED: no namespaces can be made here: {errors}");
        return;
    }
    assert!(
        ended.status.success() && out.contains("1 passed"),
        "{out}\n{errors}"
    );
}

/// `/etc/hosts`, as long as this lives.
struct Hosts(PathBuf);

impl Hosts {
    fn say(&self, addresses: &[&str]) {
        let mut text = String::from("127.0.0.1 localhost\n");
        for address in addresses {
            text.push_str(&format!("{address} cart.shop.test\n"));
        }
        // In place: it is this very file that is mounted.
        fs::write(&self.0, text).unwrap();
    }
}

fn instances(snapshot: &Snapshot) -> Vec<String> {
    let cart = snapshot.services.iter().find(|s| s.name.as_str() == "cart");
    cart.unwrap()
        .instances
        .iter()
        .map(|instance| format!("{} {}", instance.id.instance, instance.status))
        .collect()
}

fn cart(snapshot: &Snapshot) -> ServiceStatus {
    let cart = snapshot.services.iter().find(|s| s.name.as_str() == "cart");
    cart.unwrap().status
}

/// The neighbours by their addresses, the service under test by its name.
fn config(neighbours: &[(&str, SocketAddr)], port: u16) -> Checked {
    let pace = Pace {
        interval: INTERVAL,
        timeout: Duration::from_millis(500),
    };
    let mut config = configuration(pace, neighbours);
    let names = neighbours.iter().map(|(service, _)| *service);
    let nodes = names.chain(["cart"]).map(|service| Node {
        name: name(service),
        kind: NodeKind::Service { at_least: 1 },
        owner: None,
        zone: None,
        target: None,
        aliases: Vec::new(),
    });
    config.map = Map::build(MapParts {
        nodes: nodes.collect(),
        edges: Vec::new(),
    })
    .unwrap();
    config.dns = vec![DnsSpec {
        service: name("cart"),
        url: format!("http://cart.shop.test:{port}/health"),
        auth: None,
        roots: None,
        format: rootward_formats::Choice::Auto,
        interval: pace.interval,
        timeout: pace.timeout,
        stale_after: pace.interval * 2 + pace.timeout,
        thresholds: Thresholds::DEFAULT,
    }];
    config
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "the test above runs it where names are its own"]
async fn in_a_place_of_its_own() {
    let directory = std::env::var_os(DIRECTORY).expect("the test above says where");
    let directory = Path::new(&directory);
    let hosts = Hosts(directory.join("hosts"));
    // Every address of 127.0.0.0/8 is this machine's.
    let fleet = Fleet::new();
    let (second, _, mood) = fleet.start_at("127.0.0.2:0", Manner::healthy("cart"));
    let port = second.port();
    let at = |last: u8| format!("127.0.0.{last}:{port}");
    let (_, _, third) = fleet.start_at(&at(3), Manner::healthy("cart"));
    let (_, _, _) = fleet.start_at(&at(4), Manner::healthy("cart"));
    let mut neighbours = Vec::new();
    let mut asked: Vec<Asked> = Vec::new();
    for n in 0..NEIGHBOURS {
        let name: &'static str = format!("neighbour-{n}").leak();
        let (address, questions) = fleet.start(Manner::healthy(name));
        neighbours.push((name, address));
        asked.push(questions);
    }

    hosts.say(&["127.0.0.2", "127.0.0.3"]);
    let mut running = Running::start(config(&neighbours, port));
    let both = [format!("{} healthy", at(2)), format!("{} healthy", at(3))];
    running
        .until("every address is an instance", |snapshot| {
            instances(snapshot) == both
        })
        .await;

    hosts.say(&["127.0.0.2", "127.0.0.3", "127.0.0.4"]);
    let with_fourth = format!("{} healthy", at(4));
    running
        .until("a new address is a new instance", |snapshot| {
            instances(snapshot) == [&both[0], &both[1], &with_fourth].map(Clone::clone)
        })
        .await;

    // Taken away and gone quiet: what a scaled-down service looks like.
    hosts.say(&["127.0.0.2", "127.0.0.4"]);
    third.set(Manner::Hang);
    let left = [both[0].clone(), with_fourth];
    let snapshot = running
        .until("an address that was removed is gone", |snapshot| {
            instances(snapshot) == left
        })
        .await;
    assert_eq!(cart(&snapshot), ServiceStatus::Healthy);
    assert!(snapshot.open_incidents.is_empty());

    // The name is lost, and so is the resolver: it is asked, and never answers.
    let silent = UdpSocket::bind("127.0.0.1:53").unwrap();
    fs::write(directory.join("resolv.conf"), "nameserver 127.0.0.1\n").unwrap();
    hosts.say(&[]);
    silent.set_read_timeout(Some(running::PATIENCE)).unwrap();
    let silent = tokio::task::spawn_blocking(move || {
        let mut question = [0; 512];
        for _ in 0..3 {
            silent.recv(&mut question).expect("the resolver is asked");
        }
        silent
    });
    let _silent = silent.await.unwrap();
    let begun: Vec<usize> = asked.iter().map(Asked::count).collect();
    let snapshot = running
        .until("nothing changes when the resolver is silent", |snapshot| {
            snapshot.epoch.is_some_and(|epoch| epoch.number >= 20)
        })
        .await;
    assert_eq!(instances(&snapshot), left, "the last good addresses");
    assert_eq!(cart(&snapshot), ServiceStatus::Healthy);
    // And they are really asked: what is polled there now is what is shown.
    mood.set(Manner::Report {
        service: "cart",
        status: "unhealthy",
        code: 503,
    });
    running
        .until("an instance that fails meanwhile is seen", |snapshot| {
            instances(snapshot)[0].ends_with("unhealthy")
        })
        .await;
    // Of those who have addresses nobody was late: KF-013.
    for (asked, begun) in asked.iter().zip(begun) {
        let times = asked.times();
        for pair in times[begun..].windows(2) {
            let gap = pair[1] - pair[0];
            assert!(gap < INTERVAL * 2, "a neighbour missed a round: {gap:?}");
        }
    }

    // A name that begins to point at the metadata service of a cloud is not followed there.
    hosts.say(&["169.254.169.254"]);
    let now = running.until("some", |_| true).await;
    let number = now.epoch.unwrap().number;
    let snapshot = running
        .until("some rounds later", |snapshot| {
            snapshot
                .epoch
                .is_some_and(|epoch| epoch.number > number + 3)
        })
        .await;
    let names: Vec<String> = instances(&snapshot);
    assert!(
        names.iter().all(|name| name.starts_with("127.")),
        "{names:?}"
    );
    running.stop().await;
}
