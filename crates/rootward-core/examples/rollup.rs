//! How fast the rollup over a map is: a full pass, single changes, and reading the same bytes once, in turn.
//!
//! Run with `cargo run --profile bench -p rootward-core --example rollup`. The maps are random, 100,000 nodes and 500,000
//! edges: one without circles, and one in which twenty edges that lead back make one circle of most of the map. Timings
//! are of this machine.

use std::hint::black_box;
use std::time::{Duration, Instant};

use rootward_core::{Criticality, Effect, MapRollup, Pass};

const NODES: usize = 100_000;
const EDGES: usize = 500_000;
const ROUNDS: usize = 40;
const REPETITIONS: usize = 7;

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

fn edges(back: usize) -> Vec<(usize, usize, Criticality)> {
    let mut random = Random(0x9E37_79B9_7F4A_7C15);
    let mut edges = Vec::with_capacity(EDGES + back);
    for number in 0..EDGES + back {
        let (a, b) = (random.below(NODES), random.below(NODES));
        let (low, high) = (a.min(b), a.max(b));
        let criticality = match random.below(100) {
            0..75 => Criticality::Hard,
            75..95 => Criticality::Soft,
            _ => Criticality::Informational,
        };
        if number < EDGES {
            edges.push((low, high, criticality));
        } else {
            edges.push((high, low, Criticality::Hard));
        }
    }
    edges
}

fn percentile(taken: &mut [Duration], percent: usize) -> Duration {
    taken.sort_unstable();
    let place = (taken.len() * percent / 100).min(taken.len().saturating_sub(1));
    taken.get(place).copied().unwrap_or_default()
}

#[expect(
    clippy::disallowed_methods,
    reason = "it measures how long the core takes"
)]
fn timed<T>(work: impl FnOnce() -> T) -> (Duration, T) {
    let began = Instant::now();
    let result = work();
    (began.elapsed(), result)
}

fn ratio(a: Duration, b: Duration) -> f64 {
    a.as_secs_f64() / b.as_secs_f64()
}

#[expect(clippy::print_stdout, reason = "it is what the example is for")]
fn main() {
    println!(
        "map            streaming  full pass  ratio  change p50  p99        max        worst/full  full passes"
    );
    for (name, back) in [("no circles", 0), ("large circle", 20)] {
        let Some(mut rollup) = MapRollup::new(NODES, &edges(back)) else {
            return;
        };
        // What a full pass touches: dependencies and where they begin, own and resulting effects.
        let words: Vec<u32> = (0..u32::try_from(EDGES + NODES).unwrap_or(0)).collect();
        let bytes = vec![1_u8; 2 * NODES];
        let (mut streamed, mut full, mut changes) = (Vec::new(), Vec::new(), Vec::new());
        let (mut passes, mut worst) = (0, 0.0_f64);
        let mut random = Random(5);
        for round in 0..ROUNDS {
            streamed.push(
                timed(|| {
                    let sum = black_box(&words)
                        .iter()
                        .fold(0_u32, |sum, word| sum.wrapping_add(*word));
                    let rest = black_box(&bytes)
                        .iter()
                        .fold(0_u8, |sum, byte| sum.wrapping_add(*byte));
                    black_box((sum, rest))
                })
                .0,
            );
            full.push(timed(|| black_box(&mut rollup).full_pass()).0);
            for _ in 0..10 {
                // The least of some repetitions: what else the machine does is not what is measured.
                let node = random.below(NODES);
                let mut least = [(Duration::MAX, Duration::MAX); 2];
                for _ in 0..REPETITIONS {
                    for (least, effect) in least.iter_mut().zip([Effect::Unhealthy, Effect::None]) {
                        let (took, pass) = timed(|| rollup.set(node, effect));
                        least.0 = took.min(least.0);
                        passes += usize::from(pass == Pass::Full);
                        // The same map, all anew.
                        let (took, ()) = timed(|| black_box(&mut rollup).full_pass());
                        least.1 = took.min(least.1);
                    }
                }
                for (change, anew) in least {
                    worst = worst.max(ratio(change, anew));
                    changes.push(change);
                }
            }
            // A few stay bad, so that not every pass is over a healthy map.
            if round % 8 == 0 {
                rollup.set(random.below(NODES), Effect::Degraded);
            }
        }
        let (stream, whole) = (percentile(&mut streamed, 50), percentile(&mut full, 50));
        let longest = percentile(&mut changes, 100);
        let (p50, p99) = (percentile(&mut changes, 50), percentile(&mut changes, 99));
        println!(
            "{name:<14} {stream:<10.1?} {whole:<10.1?} {:<6.1} {p50:<11.1?} {p99:<10.1?} {longest:<10.1?} {worst:<11.2} {passes} of {}",
            ratio(whole, stream),
            changes.len() * REPETITIONS
        );
    }
}
