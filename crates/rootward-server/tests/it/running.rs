//! An aggregator that runs, and how tests look at it.

use std::collections::BTreeMap;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use rootward_config::{AggregatorSpec, Checked, TargetSpec};
use rootward_core::snapshot::{InstanceView, Snapshot};
use rootward_core::{InstanceId, Map, MapParts, Name, Node, NodeKind, Thresholds};
use rootward_fetch::{Answer, Limits, Request, Target, fetch};
use rootward_server::{App, Error, Reloader, SnapshotReader, Summary};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tokio::time::timeout;

/// The longest a test waits for anything that must come.
pub(crate) const PATIENCE: Duration = Duration::from_secs(20);

pub(crate) fn name(text: &str) -> Name {
    Name::parse(text).unwrap()
}

/// When and how long targets are asked.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pace {
    pub(crate) interval: Duration,
    pub(crate) timeout: Duration,
}

impl Pace {
    pub(crate) const fn millis(interval: u64, timeout: u64) -> Self {
        Self {
            interval: Duration::from_millis(interval),
            timeout: Duration::from_millis(timeout),
        }
    }
}

/// A configuration with one instance of each service and no dependencies.
pub(crate) fn configuration(pace: Pace, targets: &[(&str, SocketAddr)]) -> Checked {
    let nodes = targets
        .iter()
        .map(|(service, _)| Node {
            name: name(service),
            kind: NodeKind::Service { at_least: 1 },
            owner: None,
            zone: None,
            target: None,
            aliases: Vec::new(),
        })
        .collect();
    let targets = targets
        .iter()
        .map(|(service, address)| TargetSpec {
            id: InstanceId {
                service: name(service),
                instance: name("0"),
            },
            url: format!("http://{address}/health"),
            auth: None,
            roots: None,
            format: rootward_formats::Choice::Auto,
            interval: pace.interval,
            timeout: pace.timeout,
            stale_after: pace.interval * 2 + pace.timeout,
            thresholds: Thresholds::DEFAULT,
        })
        .collect();
    Checked {
        aggregator: AggregatorSpec {
            environment: Some(name("test")),
            zone: None,
            page_within: Duration::from_secs(45),
            page_unknown_after: Duration::from_secs(120),
            self_checks: Vec::new(),
        },
        listen_internal: SocketAddr::from((Ipv4Addr::LOCALHOST, 0)),
        map: Map::build(MapParts {
            nodes,
            edges: Vec::new(),
        })
        .unwrap(),
        targets,
        dns: Vec::new(),
        pushed: Vec::new(),
        groups: Vec::new(),
        namespaces: BTreeMap::new(),
        reviews: Vec::new(),
        warnings: Vec::new(),
    }
}

/// An aggregator that runs.
pub(crate) struct Running {
    pub(crate) address: SocketAddr,
    snapshots: SnapshotReader,
    pub(crate) reloader: Reloader,
    stop: oneshot::Sender<()>,
    run: JoinHandle<Result<Summary, Error>>,
}

impl Running {
    pub(crate) fn start(config: Checked) -> Self {
        let app = App::build(config).unwrap();
        let address = app.local_addr();
        let snapshots = app.snapshots();
        let reloader = app.reloader();
        let (stop, stopped) = oneshot::channel();
        let run = tokio::spawn(app.run(async {
            let _ = stopped.await;
        }));
        Self {
            address,
            snapshots,
            reloader,
            stop,
            run,
        }
    }

    /// The first snapshot, from now on, for which something holds.
    pub(crate) async fn until(
        &mut self,
        what: &str,
        holds: impl Fn(&Snapshot) -> bool,
    ) -> Arc<Snapshot> {
        let wait = async {
            let mut snapshot = self.snapshots.current();
            while !holds(&snapshot) {
                snapshot = self.snapshots.changed().await.expect("it still runs");
            }
            snapshot
        };
        let Ok(snapshot) = timeout(PATIENCE, wait).await else {
            panic!("waited in vain for: {what}");
        };
        snapshot
    }

    pub(crate) async fn get(&self, path: &str) -> Answer {
        get(self.address, path).await
    }

    /// Stops it; returns what came of the run, and how long stopping took.
    pub(crate) async fn stop(self) -> (Summary, Duration) {
        let begun = tokio::time::Instant::now();
        self.stop.send(()).expect("it still runs");
        let summary = timeout(PATIENCE, self.run).await.expect("it stops");
        (summary.unwrap().unwrap(), begun.elapsed())
    }
}

pub(crate) async fn get(address: SocketAddr, path: &str) -> Answer {
    let target = Target::parse(&format!("http://{address}{path}")).unwrap();
    let limits = Limits {
        deadline: PATIENCE,
        max_body_bytes: 4 * 1024 * 1024,
    };
    fetch(&Request::get(&target), &limits).await.unwrap()
}

/// The instance of a service.
pub(crate) fn instance<'a>(snapshot: &'a Snapshot, service: &str) -> &'a InstanceView {
    let mut services = snapshot.services.iter();
    let found = services.find(|s| s.name.as_str() == service);
    &found.expect("it is on the map").instances[0]
}
