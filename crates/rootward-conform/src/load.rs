//! Many questions at once, and what they must not do: wait, be refused, or run a check.

use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::task::JoinSet;
use tokio::time::sleep;

use crate::ask::Asker;
use crate::rule::Rule;
use crate::verdict::{Evidence, Ledger};

/// What a probe may take.
const LIMIT: Duration = Duration::from_millis(100);

/// Questions at the same time.
const AT_ONCE: usize = 12;

/// How often that is done. The best time counts: a busy machine is slow now and then, a check in the way always.
const ROUNDS: usize = 4;

/// Reports asked for one after another: fewer than the limit of rate for a second.
const REPORTS: u64 = 12;

/// Probes, many at once.
pub(crate) async fn many(asker: &Arc<Asker>, condition: &str, ledger: &mut Ledger) {
    for path in ["/livez", "/readyz", "/startupz"] {
        let mut best = Duration::MAX;
        for _ in 0..ROUNDS {
            let mut asked = JoinSet::new();
            for _ in 0..AT_ONCE {
                let asker = Arc::clone(asker);
                asked.spawn(async move { asker.get(path, &[]).await });
            }
            let mut times = Vec::with_capacity(AT_ONCE);
            while let Some(joined) = asked.join_next().await {
                let Ok(answer) = joined else { continue };
                let right = "200 or 503 from each";
                match answer {
                    Ok(seen) => {
                        let holds = matches!(seen.status, 200 | 503);
                        ledger.judge(Rule::NeverLimited, holds, || seen.against(right));
                        times.push(seen.took);
                    }
                    Err(missing) => ledger.broken(Rule::NeverLimited, missing.against(right)),
                }
            }
            times.sort_unstable();
            if let Some(median) = times.get(times.len() / 2) {
                best = best.min(*median);
            }
            if best <= LIMIT {
                break;
            }
        }
        ledger.judge(Rule::Fast, best <= LIMIT, || {
            let asked = format!("GET {path}, {AT_ONCE} at once, {ROUNDS} times{condition}");
            let came = if best == Duration::MAX {
                "no answers".to_owned()
            } else {
                format!(
                    "half of them took {} ms or more, each time",
                    best.as_millis()
                )
            };
            Evidence::new(asked, came, "at most 100 ms")
        });
    }
}

/// Reports, one after another: the checks run no more often than by themselves.
pub(crate) async fn reports(asker: &Asker, ledger: &mut Ledger) {
    let begun = Instant::now();
    let Some(before) = asker.detail().await else {
        ledger.not_tested(Rule::NoCheckOnRequest, "there is no report");
        return;
    };
    for _ in 0..REPORTS {
        if asker.health().await.is_err() {
            break;
        }
    }
    let Some(after) = asker.detail().await else {
        return;
    };
    let elapsed = begun.elapsed();
    for entry in &after.components {
        let Some((first, last)) = before
            .entry(&entry.name)
            .and_then(|first| first.seq)
            .zip(entry.seq)
        else {
            ledger.not_tested(
                Rule::NoCheckOnRequest,
                "components have no seq, so nobody sees how often they ran",
            );
            continue;
        };
        // While a change is pending it runs again after a second, and that is jittered.
        let period = entry
            .interval
            .unwrap_or(Duration::from_secs(1))
            .clamp(Duration::from_millis(50), Duration::from_millis(500));
        let own = u64::try_from(elapsed.as_millis() / period.as_millis()).unwrap_or(u64::MAX);
        let ran = last.saturating_sub(first);
        let holds = ran <= own.saturating_add(2);
        ledger.judge(Rule::NoCheckOnRequest, holds, || {
            let asked = format!(
                "GET /health {} times within {} ms",
                REPORTS + 2,
                elapsed.as_millis()
            );
            let came = format!("{}: seq went from {first} to {last}", entry.name);
            Evidence::new(
                asked,
                came,
                "the checks run by themselves, once an interval, whoever asks",
            )
        });
    }
}

/// Two looks at the same result: it has grown older by the time between them.
pub(crate) async fn ages(asker: &Asker, ledger: &mut Ledger) {
    /// For what happens between the moment of the answer and its arrival, and for rounding.
    const SLACK: Duration = Duration::from_millis(150);
    const PAUSE: Duration = Duration::from_millis(600);
    for _ in 0..4 {
        let sent = Instant::now();
        let Some(before) = asker.detail().await else {
            ledger.not_tested(Rule::Ages, "there is no report");
            return;
        };
        let got = Instant::now();
        sleep(PAUSE).await;
        let again = Instant::now();
        let Some(after) = asker.detail().await else {
            return;
        };
        let (least, most) = (again - got, sent.elapsed());
        let mut compared = false;
        for entry in &after.components {
            let first = before.entry(&entry.name);
            let Some(first) = first.filter(|first| first.seq.is_some() && first.seq == entry.seq)
            else {
                continue;
            };
            let Some((young, old)) = first.age.zip(entry.age) else {
                continue;
            };
            compared = true;
            let grown = old.saturating_sub(young);
            let holds = grown + SLACK >= least && grown <= most + SLACK;
            ledger.judge(Rule::Ages, holds, || {
                let came = format!(
                    "{}: age_ms {} and then {}, both with seq {}",
                    entry.name,
                    young.as_millis(),
                    old.as_millis(),
                    entry.seq.unwrap_or_default(),
                );
                let asked = format!("GET /health twice, {} ms apart", least.as_millis());
                Evidence::new(
                    asked,
                    came,
                    format!("older by {} to {} ms", least.as_millis(), most.as_millis()),
                )
            });
        }
        if compared {
            return;
        }
    }
    ledger.not_tested(
        Rule::Ages,
        "no component had the same result twice: the checks run too often to see one grow older",
    );
}
