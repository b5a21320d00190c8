//! A check can never become a walk of the graph: three levels of services with three callees each, and two services that
//! ask each other, with every call counted where it arrives.
//!
//! KF-075: services that checked each other in a ring all became unhealthy, or calls went round until a timeout.

use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use rootward::{Check, Failure, Health};
use rootward_checks::service;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// Long enough that nothing but the first run and what is asked for happens in a test.
const RARELY: Duration = Duration::from_secs(600);
const OFTEN: Duration = Duration::from_millis(600);
const TIMEOUT: Duration = Duration::from_millis(500);

/// A service that counts how often it did any work for its health.
struct Node {
    health: Health,
    work: Arc<AtomicU64>,
}

impl Node {
    /// Listens at `address` and checks `path` of all callees.
    fn start(
        name: &str,
        address: SocketAddr,
        callees: &[SocketAddr],
        path: &str,
        interval: Duration,
    ) -> Self {
        let work = Arc::new(AtomicU64::new(0));
        let count = Arc::clone(&work);
        let own = Check::new("own", move || {
            count.fetch_add(1, Ordering::SeqCst);
            async { Ok::<(), Failure>(()) }
        });
        let builder = Health::builder(name)
            .instance(format!("{name}-0"))
            .interval(interval)
            .timeout(TIMEOUT)
            .listen(address)
            .check(own.hard().local());
        let builder = callees
            .iter()
            .enumerate()
            .fold(builder, |builder, (at, callee)| {
                let check = service(format!("callee-{at}"), &format!("http://{callee}{path}"));
                builder.check(check.hard())
            });
        Self {
            health: builder.start().expect("it starts"),
            work,
        }
    }

    fn address(&self) -> SocketAddr {
        self.health.listen_addr().expect("it listens")
    }

    fn work(&self) -> u64 {
        self.work.load(Ordering::SeqCst)
    }

    /// What the checks of callees say, without repetition.
    fn says(&self) -> Vec<String> {
        let report = self.health.report();
        let callees = report
            .components
            .iter()
            .filter(|component| component.name != "own");
        let mut says: Vec<_> = callees
            .map(|component| {
                format!(
                    "{} {}",
                    component.status,
                    component.error.as_deref().unwrap_or("-")
                )
            })
            .collect();
        says.dedup();
        says
    }

    /// How often it has checked its callee.
    fn runs(&self) -> u64 {
        let report = self.health.report();
        let mut callees = report
            .components
            .iter()
            .filter(|component| component.name != "own");
        callees.next().and_then(|callee| callee.seq).unwrap_or(0)
    }

    /// How many requests for a path arrived, with whatever answer, from its own metrics.
    async fn arrived(&self, endpoint: &str) -> u64 {
        let text = get(self.address(), "/metrics").await;
        let label = format!("endpoint=\"{endpoint}\"");
        text.lines()
            .filter(|line| {
                line.starts_with("rootward_probe_requests_total{") && line.contains(&label)
            })
            .filter_map(|line| line.rsplit(' ').next()?.parse::<u64>().ok())
            .sum()
    }
}

async fn get(address: SocketAddr, path: &str) -> String {
    let mut stream = TcpStream::connect(address).await.expect("it listens");
    let request = format!("GET {path} HTTP/1.1\r\nhost: test\r\nconnection: close\r\n\r\n");
    stream
        .write_all(request.as_bytes())
        .await
        .expect("it takes the request");
    let mut answer = String::new();
    stream
        .read_to_string(&mut answer)
        .await
        .expect("it answers");
    answer
}

fn free() -> SocketAddr {
    SocketAddr::from(([127, 0, 0, 1], 0))
}

/// One root, three below it, three below each of those: thirteen services, leaves first. Each level has started before
/// the next one asks it.
async fn tree(path: &str) -> Vec<Node> {
    let start = |name: &str, callees: &[Node]| {
        let addresses: Vec<_> = callees.iter().map(Node::address).collect();
        Node::start(name, free(), &addresses, path, RARELY)
    };
    let mut leaves: Vec<_> = (0..9)
        .map(|leaf| start(&format!("leaf-{leaf}"), &[]))
        .collect();
    settled(&leaves).await;
    let mut middles: Vec<_> = (0..3)
        .map(|at| start(&format!("middle-{at}"), &leaves[at * 3..at * 3 + 3]))
        .collect();
    settled(&middles).await;
    let root = start("root", &middles);
    leaves.append(&mut middles);
    leaves.push(root);
    settled(&leaves).await;
    leaves
}

/// Until every check of every service has a result, and the service knows that.
async fn settled(nodes: &[Node]) {
    let has_results = |node: &Node| {
        let report = node.health.report();
        node.health.is_started()
            && report
                .components
                .iter()
                .all(|component| component.seq >= Some(1))
    };
    let began = std::time::Instant::now();
    while !nodes.iter().all(has_results) {
        assert!(
            began.elapsed() < Duration::from_secs(20),
            "no first results"
        );
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

async fn stop(nodes: Vec<Node>) {
    for node in nodes {
        node.health.stop().await;
    }
}

#[tokio::test]
async fn a_deep_run_at_the_root_asks_three_services_and_runs_no_check_of_theirs() {
    let nodes = tree("/readyz").await;
    let root = &nodes[12];
    let mut before = Vec::new();
    for node in &nodes {
        before.push((node.work(), node.arrived("/readyz").await));
    }
    assert_eq!(root.health.check_now().await, Ok(true));
    assert_eq!(root.says(), ["up -"]);
    for (at, (node, (work, arrived))) in nodes.iter().zip(before).enumerate() {
        let (is_root, is_middle) = (at == 12, (9..12).contains(&at));
        assert_eq!(
            node.work(),
            work + u64::from(is_root),
            "node {at} ran its checks"
        );
        assert_eq!(
            node.arrived("/readyz").await,
            arrived + u64::from(is_middle),
            "node {at} was asked"
        );
    }
    stop(nodes).await;
}

/// Somebody configured the deep check of each service as the check of each caller.
#[tokio::test]
async fn a_fan_out_through_deep_checks_ends_at_its_first_step() {
    for path in ["/health/deep", "/health"] {
        let nodes = tree(path).await;
        let work: Vec<_> = nodes.iter().map(Node::work).collect();
        assert_eq!(work, [1; 13], "each its own first run");
        let root = &nodes[12];
        assert_eq!(root.health.check_now().await, Ok(true));
        assert_eq!(root.says(), ["down HTTP status 508"], "{path}");
        let work: Vec<_> = nodes[..12].iter().map(Node::work).collect();
        assert_eq!(work, [1; 12], "nobody else did anything");
        stop(nodes).await;
    }
}

/// Two addresses that are free now. Another process may take one before it is used: then the test fails and says so.
fn two_addresses() -> [SocketAddr; 2] {
    let held = [(); 2].map(|()| TcpListener::bind(free()).expect("a free port"));
    held.map(|listener| listener.local_addr().expect("an address"))
}

/// Two services that check each other, each at this path.
fn ring(path: &str, interval: Duration) -> Vec<Node> {
    let [a, b] = two_addresses();
    vec![
        Node::start("a", a, &[b], path, interval),
        Node::start("b", b, &[a], path, interval),
    ]
}

#[tokio::test]
async fn kf_075_a_ring_makes_one_call_for_each_run_and_settles_healthy() {
    let ring = ring("/readyz", OFTEN);
    let began = std::time::Instant::now();
    while ring.iter().any(|node| node.says() != ["up -"]) {
        assert!(
            began.elapsed() < Duration::from_secs(20),
            "it does not settle"
        );
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    tokio::time::sleep(OFTEN * 4).await;
    for (node, caller) in [(&ring[0], &ring[1]), (&ring[1], &ring[0])] {
        let before = caller.runs();
        let arrived = node.arrived("/readyz").await;
        // One may be under way; one may have come before this one listened.
        let runs = before.saturating_sub(1)..=caller.runs() + 1;
        assert!(runs.contains(&arrived), "{arrived} calls for {runs:?} runs");
    }
    stop(ring).await;
}

#[tokio::test]
async fn kf_075_a_ring_of_deep_checks_goes_round_not_even_once() {
    let ring = ring("/health/deep", RARELY);
    settled(&ring).await;
    assert_eq!(ring[0].health.check_now().await, Ok(true));
    assert_eq!(ring[0].says(), ["down HTTP status 508"]);
    assert_eq!(ring[0].work(), 2, "its own first run and the deep one");
    assert_eq!(ring[1].work(), 1, "its own first run");
    stop(ring).await;
}
