//! `/health/deep`: one run for all who ask, and not too many runs.

use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::task::JoinSet;
use tokio::time::sleep;

use crate::ask::{Asker, Missing, PATIENCE, Seen};
use crate::detail::Detail;
use crate::rule::Rule;
use crate::verdict::{Evidence, Ledger};

const PATH: &str = "/health/deep";

/// Callers at the same time: half of what one run takes.
const AT_ONCE: usize = 8;

/// The least time between two runs, and a moment.
const PERIOD: Duration = Duration::from_millis(5_300);

/// Several callers, one run; and the next one too early.
pub(crate) async fn test(asker: &Arc<Asker>, ledger: &mut Ledger) {
    let Some(before) = asker.detail().await else {
        ledger.not_tested(Rule::DeepOnce, "there is no report to see it in");
        ledger.not_tested(Rule::DeepLimit, "there is no report to see it in");
        return;
    };
    let mut answers = all_at_once(asker).await;
    if answers
        .iter()
        .all(|answer| matches!(answer, Ok(seen) if seen.status == 429))
    {
        sleep(PERIOD).await;
        answers = all_at_once(asker).await;
    }
    let right = "200 or 503 with a report; 429 for who came when the run was over";
    let mut any = false;
    for answer in &answers {
        match answer {
            Ok(seen) if matches!(seen.status, 200 | 503) => {
                any = true;
                ledger.judge(Rule::DeepOnce, Detail::read(&seen.body).is_some(), || {
                    seen.against(right)
                });
            }
            Ok(seen) if seen.status == 429 => {}
            Ok(seen) => ledger.broken(Rule::DeepOnce, seen.against(right)),
            Err(missing) => ledger.broken(Rule::DeepOnce, missing.against(right)),
        }
    }
    if !any {
        let asked = format!("GET {PATH}, {AT_ONCE} at once");
        ledger.broken(
            Rule::DeepOnce,
            Evidence::new(asked, "no report for any of them", right),
        );
    }
    let again = asker.known(PATH, &[]).await;
    let right = "429 with Retry-After: a run began less than 5 s ago";
    match &again {
        Ok(seen) => {
            let holds = seen.status == 429 && seen.header("retry-after").is_some();
            ledger.judge(Rule::DeepLimit, holds, || seen.against(right));
        }
        Err(missing) => ledger.broken(Rule::DeepLimit, Missing::against(missing, right)),
    }
    if let Some(after) = asker.detail().await {
        ran_once(&before, &after, ledger);
    }
}

async fn all_at_once(asker: &Arc<Asker>) -> Vec<Result<Seen, Missing>> {
    let mut asked = JoinSet::new();
    for _ in 0..AT_ONCE {
        let asker = Arc::clone(asker);
        asked.spawn(async move { asker.known(PATH, &[]).await });
    }
    let mut answers = Vec::with_capacity(AT_ONCE);
    while let Some(joined) = asked.join_next().await {
        answers.extend(joined.ok());
    }
    answers
}

fn ran_once(before: &Detail, after: &Detail, ledger: &mut Ledger) {
    let mut any = false;
    for entry in &after.components {
        let Some((first, last)) = before
            .entry(&entry.name)
            .and_then(|first| first.seq)
            .zip(entry.seq)
        else {
            continue;
        };
        let ran = last.saturating_sub(first);
        any |= ran > 0;
        // The run, what the interval brings meanwhile, and the next one that came too early, if that is not refused.
        let holds = ran < AT_ONCE as u64;
        ledger.judge(Rule::DeepOnce, holds, || {
            let came = format!("{}: seq went from {first} to {last}", entry.name);
            Evidence::new(
                format!("GET {PATH}, {AT_ONCE} at once"),
                came,
                "one run for all of them",
            )
        });
    }
    let counted = after.components.iter().any(|entry| entry.seq.is_some());
    if counted && !any {
        let asked = format!("GET {PATH}, {AT_ONCE} at once");
        ledger.broken(
            Rule::DeepOnce,
            Evidence::new(asked, "no seq went up", "each check runs once"),
        );
    }
}

/// While several dependencies hang: the run takes as long as the longest check, not as all of them together.
pub(crate) async fn concurrent(
    asker: &Asker,
    longest: Duration,
    sum: Duration,
    ledger: &mut Ledger,
) {
    if longest > PATIENCE / 2 {
        ledger.not_tested(
            Rule::Concurrent,
            "a time limit is longer than 2.5 s: set shorter ones for the test",
        );
        return;
    }
    let limit = (longest + sum) / 2;
    let mut best = Duration::MAX;
    // What is slow each time is no accident.
    for _ in 0..3 {
        let begun = Instant::now();
        match asker.known(PATH, &[]).await {
            Ok(seen) if seen.status == 429 => {}
            Ok(seen) if matches!(seen.status, 200 | 503) => best = best.min(seen.took),
            Ok(seen) => {
                let reason = format!("{PATH} answers {}", seen.status);
                ledger.not_tested(Rule::Concurrent, reason);
                return;
            }
            // Not over when we lost patience: at least too long.
            Err(_) => best = best.min(begun.elapsed().max(limit + Duration::from_millis(1))),
        }
        if best <= limit {
            break;
        }
        sleep(PERIOD).await;
    }
    if best == Duration::MAX {
        ledger.not_tested(Rule::Concurrent, "/health/deep never ran the checks");
        return;
    }
    ledger.judge(Rule::Concurrent, best <= limit, || {
        let asked = format!(
            "GET {PATH} while dependencies with time limits of {} ms together hang",
            sum.as_millis()
        );
        let came = format!("{} ms, the best of three times", best.as_millis());
        Evidence::new(
            asked,
            came,
            format!("about {} ms: all checks at once", longest.as_millis()),
        )
    });
}
