//! How long one judgement of the live engine takes at ten thousand services: all well, and with a hub failed.
//!
//! Run with `cargo run --profile bench -p rootward-core --example judge`. The map is synthetic: one instance a service,
//! five dependencies each, one hub that six services in a hundred call. A judgement makes the whole picture: statuses,
//! diagnosis, incidents, snapshot. Timings are of this machine.

use std::sync::Arc;
use std::time::{Duration, Instant};

use rootward_core::{
    CheckStatus, Component, Criticality, EdgeParts, Engine, ErrorCategory, InstanceId,
    InstanceStatus, Map, MapParts, Moment, Name, Node, NodeKind, Poll, PollOutcome, Report,
    Settings, Source, Target, Thresholds,
};

const SERVICES: usize = 10_000;
const INTERVAL: Duration = Duration::from_secs(10);
const ROUNDS: u32 = 8;

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

fn name(text: &str) -> Option<Name> {
    Name::parse(text).ok()
}

fn dependencies() -> Vec<Vec<usize>> {
    let mut random = Random(0x9E37_79B9_7F4A_7C15);
    let mut all = vec![Vec::new(); SERVICES];
    for (from, targets) in all.iter_mut().enumerate().take(SERVICES - 1) {
        if random.below(100) < 6 {
            targets.push(SERVICES - 1);
        }
        while targets.len() < 5.min(SERVICES - 1 - from) {
            let to = from + 1 + random.below(SERVICES - 1 - from);
            if !targets.contains(&to) {
                targets.push(to);
            }
        }
    }
    all
}

fn report(
    names: &[Name],
    own: usize,
    targets: &[usize],
    down: bool,
    at: Moment,
    seq: u64,
) -> Report {
    let components = targets.iter().map(|&to| {
        let failed = down && to == SERVICES - 1;
        let status = if failed {
            CheckStatus::Down
        } else {
            CheckStatus::Up
        };
        let mut component = Component::new(names[to].clone(), status, Criticality::Hard);
        component.error_category = failed.then_some(ErrorCategory::ConnectionRefused);
        component.checked_at = Some(at.saturating_sub(Duration::from_millis(900)));
        component.seq = Some(seq);
        component
    });
    Report {
        service: names[own].clone(),
        instance: names[own].clone(),
        version: None,
        zone: None,
        host: None,
        status: InstanceStatus::Healthy,
        ready: true,
        draining: false,
        serving: Some(true),
        components: components.collect(),
    }
}

#[expect(clippy::print_stdout, reason = "it is what the example is for")]
#[expect(
    clippy::disallowed_methods,
    reason = "it measures how long the core takes"
)]
fn main() {
    let names: Vec<Name> = (0..SERVICES)
        .filter_map(|number| name(&format!("s{number:05}")))
        .collect();
    let targets = dependencies();
    let nodes = names.iter().map(|name| Node {
        name: name.clone(),
        kind: NodeKind::Service { at_least: 1 },
        owner: None,
        zone: None,
        target: None,
        aliases: Vec::new(),
    });
    let edges = targets.iter().enumerate().flat_map(|(from, all)| {
        let caller = &names[from];
        let names = &names;
        all.iter().map(move |&to| EdgeParts {
            caller: caller.clone(),
            callee: names[to].clone(),
            declared: Some(Criticality::Hard),
            overrides: false,
            reason: None,
            owner: None,
        })
    });
    let parts = MapParts {
        nodes: nodes.collect(),
        edges: edges.collect(),
    };
    let Ok(map) = Map::build(parts) else { return };
    let ids: Vec<InstanceId> = names
        .iter()
        .map(|name| InstanceId {
            service: name.clone(),
            instance: name.clone(),
        })
        .collect();
    let polled = ids.iter().map(|id| Target {
        id: id.clone(),
        interval: INTERVAL,
        stale_after: Duration::from_secs(22),
        thresholds: Thresholds::DEFAULT,
        source: Source::Polled,
    });
    let settings = Settings {
        epoch_interval: INTERVAL,
        hold_limit: Duration::from_secs(45),
        page_unknown_after: Duration::from_secs(120),
        references: false,
    };
    let mut engine = Engine::new(Arc::new(map), polled.collect(), settings, Moment::ZERO);
    let (mut well, mut failed) = (Duration::MAX, Duration::MAX);
    let mut heard = Duration::ZERO;
    for round in 0..ROUNDS {
        let down = round >= ROUNDS / 2;
        let now = Moment::ZERO + INTERVAL * (round + 1);
        for (own, id) in ids.iter().enumerate() {
            let body = report(&names, own, &targets[own], down, now, u64::from(round));
            let poll = Poll {
                instance: id.clone(),
                started: now,
                finished: now,
                took_us: 0,
                outcome: PollOutcome::Report(Box::new(body)),
            };
            let began = Instant::now();
            engine.handle_poll(poll);
            heard += began.elapsed();
        }
        let began = Instant::now();
        engine.handle_timeout(now + Duration::from_secs(1));
        let took = began.elapsed();
        while engine.poll_action().is_some() {}
        if down {
            failed = failed.min(took);
        } else {
            well = well.min(took);
        }
    }
    let snapshot = engine.snapshot();
    let causes: Vec<String> = snapshot
        .diagnosis
        .root_causes
        .iter()
        .map(|cause| cause.id.to_string())
        .collect();
    let each = heard / (ROUNDS * u32::try_from(SERVICES).unwrap_or(u32::MAX));
    println!("{SERVICES} services, {} edges", snapshot.map.edges().len());
    println!("a report               {each:.1?}");
    println!("a judgement, all well  {well:.1?}");
    println!(
        "a judgement, hub down  {failed:.1?}  named: {}, reaches {}",
        causes.join(" "),
        snapshot.diagnosis.impacted.len()
    );
}
