//! How fast the fault localisation is: reports, and the answer after a hub has failed, on maps of growing size.
//!
//! Run with `cargo run --profile bench -p rootward-core --example localise`. The map is synthetic: five dependencies a
//! service, one hub that six services in a hundred call. Timings are of this machine.

use std::sync::Arc;
use std::time::{Duration, Instant};

use rootward_core::Moment;
use rootward_core::localise::{
    CauseId, CheckKind, DependencyCheck, Edge, Engine, ErrorClass, Event, Graph, Instance, Label,
    Node, NodeKind, Report, Seen, Settings,
};

const INTERVAL: u64 = 10_000;

/// Xorshift (Marsaglia 2003).
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 33).unwrap_or(0) % end
    }
}

fn name(number: usize) -> Arc<str> {
    format!("s{number}").into()
}

fn graph(count: usize) -> Graph {
    let mut random = Random(0x9E37_79B9_7F4A_7C15);
    let node = |number| Node {
        id: name(number),
        kind: NodeKind::Service,
        polled: true,
        host: None,
        zone: None,
        quorum: 1,
    };
    let mut edges = Vec::new();
    for from in 0..count - 1 {
        // The last node is the hub. Others are further down, mostly near the end, so that few are called by many.
        let mut targets: Vec<usize> = Vec::new();
        if random.below(1000) < 59 {
            targets.push(count - 1);
        }
        while targets.len() < 5.min(count - 1 - from) {
            let to = from + 1 + random.below(count - 1 - from);
            if !targets.contains(&to) {
                targets.push(to);
            }
        }
        edges.extend(targets.into_iter().map(|to| Edge {
            from: name(from),
            to: name(to),
            label: Label::Hard,
            check: if to % 2 == 0 {
                CheckKind::Ping
            } else {
                CheckKind::Readiness
            },
            every: None,
            redundancy: None,
        }));
    }
    Graph {
        interval: Duration::from_millis(INTERVAL),
        nodes: (0..count).map(node).collect(),
        edges,
        instances: (0..count)
            .map(|number| Instance {
                id: format!("s{number}#0").into(),
                service: name(number),
                host: None,
                zone: None,
                every: None,
                version: None,
            })
            .collect(),
        hosts: Vec::new(),
    }
}

/// One interval of reports; `hub` is what the hub's callers see, and one check in ten thousand fails for no reason.
fn reports(graph: &Graph, round: u64, hub: Seen, random: &mut Random) -> Vec<Event> {
    let mut edges = graph.edges.iter().peekable();
    let last = graph.nodes.len() - 1;
    let mut all = Vec::with_capacity(graph.instances.len());
    for (number, instance) in graph.instances.iter().enumerate() {
        let phase = u64::try_from(number).unwrap_or(0) * 9_000 / u64::try_from(last).unwrap_or(1);
        let mut dependencies = Vec::new();
        while let Some(edge) = edges.next_if(|edge| edge.from == instance.service) {
            let noisy = random.below(10_000) == 0;
            dependencies.push(DependencyCheck {
                to: edge.to.clone(),
                seen: match (edge.to == graph.nodes[last].id, noisy) {
                    (true, _) => hub,
                    (false, true) => Seen::Down(ErrorClass::Timeout),
                    (false, false) => Seen::Up,
                },
                age: Duration::from_millis(500),
                seq: None,
            });
        }
        all.push(Event::Report(Report {
            sent: Moment::from_millis(round * INTERVAL + 600 + phase),
            instance: instance.id.clone(),
            version: None,
            dependencies,
        }));
    }
    all
}

fn percentile(sorted: &[Duration], percent: usize) -> Duration {
    sorted
        .get(sorted.len() * percent / 100)
        .copied()
        .unwrap_or_default()
}

#[expect(clippy::print_stdout, reason = "it is what the example is for")]
#[expect(
    clippy::disallowed_methods,
    reason = "it measures how long the core takes"
)]
fn main() {
    println!("nodes   edges    callers  report p50  p99        answer, healthy  hub failed  named");
    for count in [1_000, 10_000, 100_000] {
        let graph = graph(count);
        let hub = graph.nodes[count - 1].id.clone();
        let callers = graph.edges.iter().filter(|edge| edge.to == hub).count();
        let Ok(mut engine) = Engine::new(&graph, Settings::default()) else {
            return;
        };
        let mut random = Random(7);
        let mut taken = Vec::new();
        let mut healthy = Duration::MAX;
        let mut failed = Duration::MAX;
        let mut named = false;
        for round in 0..10 {
            let down = round >= 8;
            let seen = if down {
                Seen::Down(ErrorClass::Refused)
            } else {
                Seen::Up
            };
            for event in reports(&graph, round, seen, &mut random) {
                let began = Instant::now();
                engine.apply(&event);
                taken.push(began.elapsed());
            }
            let now = Moment::from_millis((round + 1) * INTERVAL);
            for _ in 0..5 {
                let began = Instant::now();
                let answer = engine.answer(now);
                let took = began.elapsed();
                if down {
                    failed = failed.min(took);
                } else {
                    healthy = healthy.min(took);
                }
                named = answer
                    .root_causes
                    .iter()
                    .any(|cause| cause.id == CauseId::Node(hub.clone()));
            }
        }
        taken.sort_unstable();
        let (p50, p99) = (percentile(&taken, 50), percentile(&taken, 99));
        let edges = graph.edges.len();
        println!(
            "{count:<7} {edges:<8} {callers:<8} {p50:<11.1?} {p99:<10.1?} {healthy:<16.1?} {failed:<11.1?} {named}"
        );
    }
}
