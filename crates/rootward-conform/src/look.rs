//! One look at everything that a fault could change, and what holds in each look.

use std::time::{Duration, Instant};

use rootward_core::{CheckStatus, InstanceStatus};
use serde_json::Value;

use crate::ask::{Asker, Missing, Seen};
use crate::detail::{self, Detail};
use crate::rule::Rule;
use crate::verdict::{Evidence, Ledger};

/// Lag beyond this is a reason of its own not to be ready (the contract's budget is 250 ms).
const LAGGING: f64 = 150.0;

/// What was seen at one moment.
#[derive(Debug)]
pub(crate) struct Look {
    pub(crate) at: Instant,
    pub(crate) live: Result<Seen, Missing>,
    /// Before and after the report.
    pub(crate) ready: [Option<Seen>; 2],
    pub(crate) started: Option<Seen>,
    pub(crate) detail: Option<Detail>,
}

impl Look {
    pub(crate) async fn take(asker: &Asker, ledger: &mut Ledger) -> Self {
        let live = asker.get("/livez", &[]).await;
        let started = asker.get("/startupz", &[]).await.ok();
        let before = asker.get("/readyz", &[]).await.ok();
        let health = asker.health().await.ok();
        let at = Instant::now();
        let after = asker.get("/readyz", &[]).await.ok();
        let detail = health
            .as_ref()
            .filter(|seen| matches!(seen.status, 200 | 503))
            .and_then(|seen| detail::judge(seen, ledger));
        let look = Self {
            at,
            live,
            ready: [before, after],
            started,
            detail,
        };
        look.judge_ready(ledger);
        look
    }

    /// The code of readiness, if it was the same before and after the report.
    fn ready_code(&self) -> Option<(u16, &Seen)> {
        let [Some(before), Some(after)] = &self.ready else {
            return None;
        };
        (before.status == after.status).then_some((after.status, after))
    }

    fn judge_ready(&self, ledger: &mut Ledger) {
        let (Some((code, seen)), Some(detail)) = (self.ready_code(), &self.detail) else {
            return;
        };
        match detail.ready {
            Some(ready) => ledger.judge(Rule::ReadySame, ready == (code == 200), || {
                let came = format!("{code} beside ready: {ready} in /health");
                Evidence::new(&seen.asked, came, "the same in both")
            }),
            None => ledger.not_tested(Rule::ReadySame, "the report has no ready"),
        }
        let gate = detail
            .components
            .iter()
            .find(|entry| entry.gates && entry.status == CheckStatus::Down);
        match gate {
            Some(gate) => ledger.judge(Rule::ReadyGates, code == 503, || {
                seen.against(format!(
                    "503, because {} is down and gates readiness",
                    gate.name
                ))
            }),
            None => ledger.not_tested(
                Rule::ReadyGates,
                "no component that gates readiness was down",
            ),
        }
    }

    /// Whether it is not ready although nothing that may hold it does, and which component is down meanwhile.
    pub(crate) fn unready_for_nothing(&self) -> Option<(&Seen, String)> {
        let (code, seen) = self.ready_code()?;
        let detail = self.detail.as_ref()?;
        let held = detail.draining
            || detail.status == InstanceStatus::Starting
            || detail.loop_lag_ms.is_some_and(|lag| lag > LAGGING)
            || detail
                .components
                .iter()
                .any(|entry| entry.gates && entry.status == CheckStatus::Down);
        let failing = detail
            .components
            .iter()
            .find(|entry| entry.raw == CheckStatus::Down && !entry.gates)?;
        (code != 200 && !held).then(|| (seen, failing.name.clone()))
    }

    /// Whether readiness was seen beside a component that is down and does not gate it.
    pub(crate) fn shows_readiness_under_failure(&self) -> bool {
        let failing = self.detail.as_ref().is_some_and(|detail| {
            let gated = detail
                .components
                .iter()
                .any(|entry| entry.gates && entry.status == CheckStatus::Down);
            !gated
                && detail
                    .components
                    .iter()
                    .any(|entry| entry.status == CheckStatus::Down)
        });
        failing && self.ready_code().is_some()
    }

    /// What is not alive, or not started any more.
    pub(crate) fn judge_life(&self, condition: &str, ledger: &mut Ledger) {
        match &self.live {
            Ok(seen) => ledger.judge(Rule::LiveAlone, seen.status == 200, || {
                let asked = format!("{} {condition}", seen.asked);
                Evidence::new(asked, seen.came(), "200, as before")
            }),
            Err(missing) => {
                let asked = format!("{} {condition}", missing.asked);
                let came = format!("no answer: {}", missing.error);
                ledger.broken(
                    Rule::LiveAlone,
                    Evidence::new(asked, came, "200, as before"),
                );
            }
        }
        if let Some(seen) = &self.started {
            let started = seen
                .json()
                .and_then(|body| body.get("started").and_then(Value::as_bool));
            ledger.judge(Rule::StartLatch, started == Some(true), || {
                let asked = format!("{} {condition}", seen.asked);
                Evidence::new(asked, seen.came(), "started: true, as before")
            });
        }
    }

    /// What may be quiet for so long between two looks.
    pub(crate) const PAUSE: Duration = Duration::from_millis(150);
}
