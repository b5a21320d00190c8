//! `distress`: `/livez` of a service that is blocked, hung or starved, beside the same service idle. Goals P4 and P5.

use std::fmt::Write as _;
use std::io;

use crate::goal::{Bound, Goal, Outcome};
use crate::load::Load;
use crate::plan::Plan;
use crate::prober::{self, Class};
use crate::real_time;
use crate::statistics::{Figures, Latencies};
use crate::subject::{Dependencies, PROBE_THREAD, Subject};

const PATH: &str = "/livez";

/// What is done to the service.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Harm {
    None,
    /// Every worker of the application's runtime is blocked.
    Blocked,
    /// Every dependency hangs.
    Hung,
    /// Every worker of the application's runtime, one for each core, computes without end.
    Spinning,
}

/// One row of the table.
#[derive(Debug, Clone, Copy)]
struct Situation {
    name: &'static str,
    harm: Harm,
    /// Of the prober; `None`: the better one that is permitted.
    prober: Option<Class>,
    /// Of the thread that answers.
    server: Class,
}

const IDLE: usize = 0;
const BLOCKED: usize = 1;
const HUNG: usize = 2;
const STARVED: usize = 3;
const STARVED_PROBER_FIRST: usize = 4;
const STARVED_BOTH_FIRST: usize = 5;

const SITUATIONS: [Situation; 6] = [
    Situation {
        name: "idle",
        harm: Harm::None,
        prober: None,
        server: Class::Ordinary,
    },
    Situation {
        name: "runtime blocked",
        harm: Harm::Blocked,
        prober: None,
        server: Class::Ordinary,
    },
    Situation {
        name: "every dependency hung",
        harm: Harm::Hung,
        prober: None,
        server: Class::Ordinary,
    },
    Situation {
        name: "every core spinning",
        harm: Harm::Spinning,
        prober: Some(Class::Ordinary),
        server: Class::Ordinary,
    },
    Situation {
        name: "same, prober SCHED_RR",
        harm: Harm::Spinning,
        prober: Some(Class::RealTime),
        server: Class::Ordinary,
    },
    Situation {
        name: "same, prober and probe thread SCHED_RR",
        harm: Harm::Spinning,
        prober: Some(Class::RealTime),
        server: Class::RealTime,
    },
];

/// The rounds of one situation, or why there are none.
type Rounds = Result<Vec<Latencies>, String>;

pub(crate) async fn run(plan: &Plan) -> io::Result<Outcome> {
    let before = Load::now();
    let permitted = permitted().await?;
    let best = match permitted {
        Ok(()) => Class::RealTime,
        Err(_) => Class::Ordinary,
    };
    let mut measured: [Rounds; 6] = SITUATIONS.map(|situation| match &permitted {
        Err(why) if situation.needs_real_time() => Err(why.clone()),
        _ => Ok(Vec::new()),
    });
    for round in 0..plan.rounds {
        for place in 0..SITUATIONS.len() {
            let at = (round + place) % SITUATIONS.len();
            if let Ok(rounds) = &mut measured[at] {
                rounds.push(SITUATIONS[at].measure(plan, best).await?);
            }
        }
    }
    let title = format!(
        "{PATH} under harm: 10 checks, {} requests a round, one every {:?}; {} rounds, order rotating\n\
         the prober is in the class {} where nothing else is said\n\
         load average {before} before, {} after (our own spinning included)\n\n",
        plan.in_distress,
        plan.distress_pace,
        plan.rounds,
        match best {
            Class::RealTime => "SCHED_RR",
            Class::Ordinary => "SCHED_OTHER",
        },
        Load::now()
    );
    Ok(Outcome {
        table: title + &table(&measured),
        goals: goals(&measured),
    })
}

/// Whether threads may be put into a real-time class: tried on a prober that asks nothing.
async fn permitted() -> io::Result<Result<(), String>> {
    let subject = Subject::start(Dependencies::Answer).await?;
    let permitted = real_time::promote(PROBE_THREAD);
    subject.stop().await;
    Ok(permitted)
}

impl Situation {
    fn needs_real_time(self) -> bool {
        self.prober == Some(Class::RealTime) || self.server == Class::RealTime
    }

    async fn measure(self, plan: &Plan, best: Class) -> io::Result<Latencies> {
        let subject = Subject::start(match self.harm {
            Harm::Hung => Dependencies::Hang,
            Harm::None | Harm::Blocked | Harm::Spinning => Dependencies::Answer,
        })
        .await?;
        if self.server == Class::RealTime {
            real_time::promote(PROBE_THREAD).map_err(io::Error::other)?;
        }
        match self.harm {
            Harm::None | Harm::Hung => {}
            Harm::Blocked => subject.block(),
            Harm::Spinning => subject.spin(),
        }
        let class = self.prober.unwrap_or(best);
        let (count, pace) = (plan.in_distress, plan.distress_pace);
        let taken = prober::probe(subject.address, PATH, count, pace, class)
            .await
            .map_err(|error| io::Error::other(format!("{}: {error}", self.name)))?;
        subject.stop().await;
        Ok(taken)
    }
}

fn table(measured: &[Rounds; 6]) -> String {
    let mut text = format!(
        "round  {:<40} {:>8} {:>8} {:>8} {:>8} {:>8}  {:>11}\n",
        "situation", "p50 ms", "p99 ms", "p99.9", "max ms", "> 10 ms", "p99 / idle"
    );
    let rounds = measured[IDLE].as_ref().map_or(0, Vec::len);
    // Writing to a string does not fail.
    for round in 0..rounds {
        for (situation, rounds) in SITUATIONS.iter().zip(measured) {
            let Ok(rounds) = rounds else { continue };
            let taken = &rounds[round];
            let idle = measured[IDLE].as_ref().map(|idle| &idle[round]);
            let _ = writeln!(
                text,
                "{:>5}  {:<40} {:>8.2} {:>8.2} {:>8.2} {:>8.2} {:>8}  {:>11.2}",
                round + 1,
                situation.name,
                taken.percentile(500),
                taken.percentile(990),
                taken.percentile(999),
                taken.percentile(1_000),
                taken.late(),
                idle.map_or(f64::NAN, |idle| taken.percentile(990)
                    / idle.percentile(990))
            );
        }
    }
    text.push('\n');
    for (situation, rounds) in SITUATIONS.iter().zip(measured) {
        let _ = match rounds {
            Ok(rounds) => {
                let all = Latencies::all(rounds);
                writeln!(
                    text,
                    "{}: p99 ms {}; p99 / idle {}; {} of {} answers over 10 ms",
                    situation.name,
                    p99(rounds),
                    over_idle(measured, rounds),
                    all.late(),
                    all.count()
                )
            }
            Err(why) => writeln!(text, "{}: not measured: {why}", situation.name),
        };
    }
    text
}

fn p99(rounds: &[Latencies]) -> Figures {
    Figures::new(rounds.iter().map(|taken| taken.percentile(990)))
}

/// Round by round.
fn over_idle(measured: &[Rounds; 6], rounds: &[Latencies]) -> Figures {
    let idle = measured[IDLE].as_deref().unwrap_or_default();
    let pairs = rounds.iter().zip(idle);
    Figures::new(pairs.map(|(taken, idle)| taken.percentile(990) / idle.percentile(990)))
}

fn goals(measured: &[Rounds; 6]) -> Vec<Goal> {
    let of = |at: usize, figure: &dyn Fn(&[Latencies]) -> f64| {
        measured[at]
            .as_ref()
            .map(|rounds| figure(rounds))
            .map_err(Clone::clone)
    };
    let mut goals = Vec::new();
    // Where the idle service is late, too, the machine was too busy for a verdict on these counts.
    let idle_late = Latencies::all(measured[IDLE].iter().flatten()).late();
    for at in [BLOCKED, HUNG] {
        let name = SITUATIONS[at].name;
        goals.push(Goal::new(
            "P4",
            format!("{name}: p99 over that of idle"),
            Bound::AtMost(1.5),
            of(at, &|rounds| over_idle(measured, rounds).median()),
        ));
        let count = measured[at]
            .as_ref()
            .map_or(0, |rounds| Latencies::all(rounds).count());
        let late = of(at, &|rounds| {
            let late = u32::try_from(Latencies::all(rounds).late());
            late.map_or(f64::INFINITY, f64::from)
        });
        let what =
            format!("{name}: answers over 10 ms, of {count} (idle, in the same run: {idle_late})");
        goals.push(Goal::new("P4", what, Bound::AtMost(0.0), late));
    }
    for (at, most) in [
        (STARVED, 10.0),
        (STARVED_PROBER_FIRST, 10.0),
        (STARVED_BOTH_FIRST, 1.0),
    ] {
        let what = match at {
            STARVED => "every core spinning, all in the default class: p99 in ms",
            STARVED_PROBER_FIRST => "every core spinning, prober SCHED_RR: p99 in ms",
            _ => "every core spinning, prober and probe thread SCHED_RR: p99 in ms",
        };
        let p99 = of(at, &|rounds| p99(rounds).median());
        goals.push(Goal::new("P5", what, Bound::AtMost(most), p99));
    }
    goals
}
