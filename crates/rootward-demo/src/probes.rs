//! Asks every instance for its liveness and readiness while a story is played, as an orchestrator would: whatever
//! happens to a shared dependency, no instance may be restarted or taken out of rotation for it.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rootward_fetch::{Limits, Request, Target, fetch};
use tokio::task::{JoinHandle, JoinSet};

use crate::aggregator::words;

/// From the end of one round to the beginning of the next.
const PAUSE: Duration = Duration::from_millis(500);

/// For one answer. The listeners answer in less than a millisecond; this is for machines that are busy otherwise.
const DEADLINE: Duration = Duration::from_secs(5);

/// Bodies of these probes are below 1 KiB, and a report of this shop is below this.
const MAX_BODY_BYTES: usize = 64 * 1024;

/// At most this many answers that were not 200 are kept.
const MAX_KEPT: usize = 20;

/// Whom to ask.
#[derive(Debug, Clone)]
pub(crate) struct Instance {
    /// `orders#0`
    pub(crate) id: String,
    /// The service's own port, not the wire in front of it.
    pub(crate) base: Target,
}

/// What the probes answered.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    pub(crate) good: u64,
    pub(crate) other: u64,
    /// The first answers that were not 200.
    pub(crate) examples: Vec<String>,
}

impl Tally {
    pub(crate) fn verdict(&self) -> Result<String, String> {
        let total = self.good + self.other;
        if total == 0 {
            Err("nobody was asked".to_owned())
        } else if self.other == 0 {
            Ok(format!("{}, all 200", words::count(total, "answer")))
        } else {
            let examples = self.examples.join("; ");
            Err(format!(
                "{} of {total} answers were not 200: {examples}",
                self.other
            ))
        }
    }

    fn add(&mut self, asked: &str, outcome: Result<u16, String>) {
        let text = match outcome {
            Ok(200) => {
                self.good += 1;
                return;
            }
            Ok(status) => format!("{asked} answered {status}"),
            Err(text) => format!("{asked}: {text}"),
        };
        self.other += 1;
        if self.examples.len() < MAX_KEPT {
            self.examples.push(text);
        }
    }
}

/// Asks again and again until it is dropped.
#[derive(Debug)]
pub(crate) struct ProbeWatch {
    tally: Arc<Mutex<Tally>>,
    task: JoinHandle<()>,
}

impl ProbeWatch {
    pub(crate) fn start(instances: Vec<Instance>) -> Self {
        let tally = Arc::<Mutex<Tally>>::default();
        let shared = Arc::clone(&tally);
        let task = tokio::spawn(async move {
            loop {
                let round = ask_all(&instances, &["/livez", "/readyz"]).await;
                {
                    let mut tally = shared.lock().unwrap_or_else(PoisonError::into_inner);
                    for (asked, outcome) in round {
                        tally.add(&asked, outcome);
                    }
                }
                tokio::time::sleep(PAUSE).await;
            }
        });
        Self { tally, task }
    }

    /// What was answered so far.
    pub(crate) fn tally(&self) -> Tally {
        self.tally
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }
}

impl Drop for ProbeWatch {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// Asks all instances for these paths once, at the same time.
pub(crate) async fn ask_once(instances: &[Instance], paths: &'static [&'static str]) -> Tally {
    let mut tally = Tally::default();
    for (asked, outcome) in ask_all(instances, paths).await {
        tally.add(&asked, outcome);
    }
    tally
}

async fn ask_all(
    instances: &[Instance],
    paths: &'static [&'static str],
) -> Vec<(String, Result<u16, String>)> {
    let mut asking = JoinSet::new();
    for instance in instances {
        for path in paths {
            let instance = instance.clone();
            asking.spawn(async move {
                let outcome = ask(&instance.base, path).await;
                (format!("{path} of {}", instance.id), outcome)
            });
        }
    }
    asking.join_all().await
}

async fn ask(base: &Target, path: &str) -> Result<u16, String> {
    let target = base.with_path(path).map_err(|error| error.to_string())?;
    let limits = Limits {
        deadline: DEADLINE,
        max_body_bytes: MAX_BODY_BYTES,
    };
    match fetch(&Request::get(&target), &limits).await {
        Ok(answer) => Ok(answer.status),
        Err(error) => Err(error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_answer_that_is_not_200_is_told() {
        let mut tally = Tally::default();
        assert_eq!(tally.verdict(), Err("nobody was asked".to_owned()));
        tally.add("/livez of orders#0", Ok(200));
        assert_eq!(tally.verdict(), Ok("1 answer, all 200".to_owned()));
        tally.add("/readyz of orders#0", Ok(503));
        tally.add("/readyz of orders#1", Err("timed out after 5 s".to_owned()));
        assert_eq!(
            tally.verdict(),
            Err("2 of 3 answers were not 200: /readyz of orders#0 answered 503; /readyz of orders#1: timed out \
                 after 5 s"
                .to_owned())
        );
    }
}
