//! More questions than a limit of rate allows: what is refused then, and what never is.

use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::task::JoinSet;
use tokio::time::sleep;

use crate::ask::Asker;
use crate::endpoints::PROBES;
use crate::rule::Rule;
use crate::verdict::{Evidence, Ledger};

/// Questions at the same time.
const AT_ONCE: usize = 12;

/// How many are asked at most, of each.
const MOST: usize = 480;

/// And for how long.
const AT_MOST: Duration = Duration::from_secs(15);

/// Who answers that many a second, second after second, has no limit that protects anything.
const RATE: f64 = 40.0;

/// What locks the tester out for a while, and waits until that is over.
pub(crate) async fn test(asker: &Arc<Asker>, ledger: &mut Ledger) {
    let mut longest = Duration::ZERO;
    for path in ["/status", "/health"] {
        longest = longest.max(exceed(asker, path, ledger).await);
    }
    sleep(longest).await;
}

/// Asks until it is refused; returns how long it asks to wait.
async fn exceed(asker: &Arc<Asker>, path: &'static str, ledger: &mut Ledger) -> Duration {
    let begun = Instant::now();
    let mut asked = 0;
    let right = "429 with Retry-After, at some rate";
    while asked < MOST && begun.elapsed() < AT_MOST {
        let mut questions = JoinSet::new();
        for _ in 0..AT_ONCE {
            let asker = Arc::clone(asker);
            questions.spawn(async move { asker.known(path, &[]).await });
        }
        asked += AT_ONCE;
        while let Some(joined) = questions.join_next().await {
            let Ok(Ok(seen)) = joined else { continue };
            if matches!(seen.status, 401 | 403) {
                let reason = format!("{path} answers {}: give --token-file", seen.status);
                ledger.not_tested(Rule::Limited, reason);
                return Duration::ZERO;
            }
            if seen.status == 429 {
                let says = seen.header("retry-after").is_some();
                ledger.judge(Rule::Limited, says, || {
                    let came = format!("{} without Retry-After", seen.came());
                    Evidence::new(&seen.asked, came, right)
                });
                probes(asker, ledger).await;
                return seen.retry_after();
            }
        }
    }
    let took = begun.elapsed();
    let count = u32::try_from(asked).map_or(f64::MAX, f64::from);
    if count / took.as_secs_f64() < RATE {
        ledger.not_tested(
            Rule::Limited,
            format!(
                "only {asked} questions came to an answer within {} ms",
                took.as_millis()
            ),
        );
        return Duration::ZERO;
    }
    let asked = format!("GET {path} {asked} times within {} ms", took.as_millis());
    ledger.broken(
        Rule::Limited,
        Evidence::new(asked, "an answer to each", right),
    );
    Duration::ZERO
}

/// Whoever may not ask for more may still probe.
async fn probes(asker: &Asker, ledger: &mut Ledger) {
    for path in PROBES {
        let right = "200 or 503: probes are never refused";
        match asker.get(path, &[]).await {
            Ok(seen) => {
                let holds = matches!(seen.status, 200 | 503);
                ledger.judge(Rule::NeverLimited, holds, || seen.against(right));
            }
            Err(missing) => ledger.broken(Rule::NeverLimited, missing.against(right)),
        }
    }
}
