//! The command line: which benchmark, and how much of it.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use crate::asker::{Asker, Way};
use crate::mock::{Answers, Mock};
use crate::plan::Plan;

/// What is printed when the arguments are not understood.
pub(crate) const USAGE: &str = "\
usage: rootward-bench BENCHMARK [--rounds N] [--quick] [--check]

benchmarks
  health     the detailed report beside a bare hyper server that sends the same bytes
  probes     /livez beside a bare hyper server, nginx and HAProxy (goals P1, P2)
  peers      /readyz beside other libraries' health endpoints (goal P3); installs them into a temporary directory
  distress   /livez while the application is blocked, its dependencies hang, every core spins (goals P4, P5)
  footprint  memory and processor time that a program gains by it (goal P6)
  agent      memory and processor time of the sidecar (goal P7); needs `rootward` built in the same profile
  poll       what a poll of the aggregator costs, beside bare clients, with up to 18,000 targets (goals A1, A2, A6 to A9, J1)
  overview   how soon and how fast an overview of 10,000 services comes, and that readers add no polls (goals O1 to O3)

options
  --rounds N  how many rounds, 1 to 50; each measures every side once, in rotating order
  --quick     one short round, to see that it works; its figures are worth nothing
  --check     exit code 1 when a goal is missed or could not be measured

exit codes: 0 it ran, 1 --check found a miss, 2 wrong arguments, or it could not run";

/// The most rounds of one run.
const MAX_ROUNDS: usize = 50;

/// What is to be run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Benchmark {
    Health,
    Probes,
    Peers,
    Distress,
    Footprint,
    Agent,
    Poll,
    Overview,
    /// Not for people: the program that `footprint` starts, whose checks connect to this address.
    Host {
        dependency: SocketAddr,
        embeds: bool,
    },
    /// Not for people: the fleet that is polled.
    Mock(Mock),
    /// Not for people: a client that is compared with.
    Asker(Asker),
    /// Not for people: the aggregator as a library, where the program is not built.
    Serve(PathBuf),
}

/// The arguments, understood.
#[derive(Debug, Clone)]
pub(crate) struct Arguments {
    pub(crate) benchmark: Benchmark,
    pub(crate) plan: Plan,
    pub(crate) check: bool,
}

impl Arguments {
    /// From the words after the name of the program. The error is a sentence.
    pub(crate) fn parse(words: &[String]) -> Result<Self, String> {
        let (name, options) = words.split_first().ok_or("which benchmark?")?;
        let (benchmark, mut options) = match (name.as_str(), options) {
            ("health", rest) => (Benchmark::Health, rest),
            ("probes", rest) => (Benchmark::Probes, rest),
            ("peers", rest) => (Benchmark::Peers, rest),
            ("distress", rest) => (Benchmark::Distress, rest),
            ("footprint", rest) => (Benchmark::Footprint, rest),
            ("agent", rest) => (Benchmark::Agent, rest),
            ("poll", rest) => (Benchmark::Poll, rest),
            ("overview", rest) => (Benchmark::Overview, rest),
            ("mock", [answers, tls @ ..]) => (mock(answers, tls)?, [].as_slice()),
            ("asker", [way, count, port]) => (asker(way, count, port)?, [].as_slice()),
            ("serve", [file]) => (Benchmark::Serve(file.into()), [].as_slice()),
            ("host", [dependency, embeds]) => (host(dependency, embeds)?, [].as_slice()),
            (other, _) => return Err(format!("there is no benchmark {other:?}")),
        };
        let (mut quick, mut check, mut rounds) = (false, false, None);
        while let Some((option, rest)) = options.split_first() {
            options = rest;
            match option.as_str() {
                "--quick" => quick = true,
                "--check" => check = true,
                "--rounds" => {
                    let (count, rest) = options.split_first().ok_or("--rounds takes a number")?;
                    options = rest;
                    rounds = Some(count_of_rounds(count)?);
                }
                other => return Err(format!("there is no option {other:?}")),
            }
        }
        let mut plan = if quick { Plan::QUICK } else { Plan::FULL };
        plan.rounds = rounds.unwrap_or(plan.rounds);
        Ok(Self {
            benchmark,
            plan,
            check,
        })
    }
}

fn host(dependency: &str, embeds: &str) -> Result<Benchmark, String> {
    let dependency = dependency
        .parse()
        .map_err(|_| format!("{dependency:?} is no address"))?;
    let embeds = match embeds {
        "with" => true,
        "without" => false,
        other => return Err(format!("{other:?} is neither with nor without")),
    };
    Ok(Benchmark::Host { dependency, embeds })
}

fn number<T: std::str::FromStr>(text: &str) -> Result<T, String> {
    text.parse()
        .map_err(|_| format!("{text:?} is no number that fits"))
}

fn mock(answers: &str, tls: &[String]) -> Result<Benchmark, String> {
    let answers = match answers {
        "fresh" => Answers::Fresh,
        "same" => Answers::Same,
        other => return Err(format!("{other:?} is neither fresh nor same")),
    };
    let (count, roots) = match tls {
        [] => (0, None),
        [count, roots] => (number(count)?, Some(roots.into())),
        _ => return Err("TLS takes a count and a file".to_owned()),
    };
    Ok(Benchmark::Mock(Mock {
        answers,
        count,
        roots,
    }))
}

fn asker(way: &str, count: &str, port: &str) -> Result<Benchmark, String> {
    let way = match way {
        "bare" => Way::Bare,
        millis => Way::Untimed(Duration::from_millis(number(millis)?)),
    };
    let (count, port) = (number(count)?, number(port)?);
    Ok(Benchmark::Asker(Asker { way, count, port }))
}

fn count_of_rounds(text: &str) -> Result<usize, String> {
    text.parse()
        .ok()
        .filter(|count| (1..=MAX_ROUNDS).contains(count))
        .ok_or_else(|| format!("--rounds takes a number from 1 to {MAX_ROUNDS}, not {text:?}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Result<Arguments, String> {
        let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        Arguments::parse(&words)
    }

    #[test]
    fn rounds_win_over_what_quick_says_wherever_they_stand() {
        for line in ["probes --quick --rounds 3", "probes --rounds 3 --quick"] {
            let arguments = parse(line).unwrap();
            assert_eq!(arguments.benchmark, Benchmark::Probes);
            assert_eq!(arguments.plan.rounds, 3);
            assert_eq!(arguments.plan.closed_loop, Plan::QUICK.closed_loop);
            assert!(!arguments.check);
        }
    }

    #[test]
    fn wrong_arguments_are_named() {
        let sentences = [
            ("", "which benchmark?"),
            ("speed", "there is no benchmark \"speed\""),
            ("probes --fast", "there is no option \"--fast\""),
            ("probes --rounds", "--rounds takes a number"),
            (
                "probes --rounds 0",
                "--rounds takes a number from 1 to 50, not \"0\"",
            ),
        ];
        for (line, sentence) in sentences {
            assert_eq!(parse(line).unwrap_err(), sentence);
        }
    }
}
