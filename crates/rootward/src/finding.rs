//! What somebody should look at although no check says it: findings of the detailed report.

use std::time::Duration;

use rootward_wire::v1::FindingBody;

use crate::duration;
use crate::view::View;
use crate::vitals::{Lag, Vital};

/// All findings at this moment, the most urgent first.
pub(crate) fn findings(view: &View<'_>) -> Vec<FindingBody<'static>> {
    let vitals = view.shared.vitals.seen();
    let limits = view.shared.vitals.limits;
    let mut findings: Vec<_> = vitals.alive.against.iter().map(not_alive).collect();
    if let (Lag::FailedOpen { after }, None) = (vitals.verdict, vitals.alive.wedged()) {
        findings.push(finding(
            "lag_failed_open",
            format!(
                "ready although the application's runtime answers after {}: that has lasted for {}, and overload must \
                 not empty a fleet",
                duration::text(vitals.lag.unwrap_or_default()),
                duration::text(after)
            ),
        ));
    }
    findings.extend(blocked_workers(&vitals.workers, limits.lag_budget));
    #[cfg(feature = "tls")]
    if let Some(tls) = &view.shared.gate.tls
        && let Some(sentence) = tls.expiry(view.shared.wall())
    {
        findings.push(finding("certificate_expiry", sentence));
    }
    let own = view.shared.findings();
    let own = own.iter();
    findings.extend(own.map(|(kind, text)| FindingBody {
        kind: kind.clone().into(),
        text: Some(text.clone().into()),
    }));
    let misuse = view.shared.gate.misuse.sentences(view.now);
    findings.extend(misuse.map(|text| finding("probe_misuse", text)));
    findings
}

fn not_alive(vital: &Vital) -> FindingBody<'static> {
    let kind = match vital {
        Vital::Wedged { .. } => "wedged",
        Vital::Silent(_) => "missed_heartbeat",
        Vital::GivenUp(_) => "restart_needed",
    };
    finding(kind, vital.sentence())
}

fn blocked_workers(held: &[Duration], budget: Duration) -> Option<FindingBody<'static>> {
    let blocked = held.iter().filter(|held| **held > budget);
    let longest = blocked.clone().max()?;
    Some(finding(
        "blocked_worker",
        format!(
            "{} of {} workers of the application's runtime in one step, for {}: something blocks in an async task",
            blocked.count(),
            held.len(),
            duration::text(*longest)
        ),
    ))
}

/// A report about some of the components could be taken for one about all.
pub(crate) fn selected(shown: usize, all: usize) -> FindingBody<'static> {
    finding(
        "selection",
        format!(
            "{shown} of {all} components, as asked for: the status and the code are theirs alone"
        ),
    )
}

/// A run of all checks that has not brought a result of each.
pub(crate) fn incomplete_run() -> FindingBody<'static> {
    finding(
        "incomplete_run",
        "not every check has given a result of this run in time: the ages tell which".to_owned(),
    )
}

fn finding(kind: &'static str, text: String) -> FindingBody<'static> {
    FindingBody {
        kind: kind.into(),
        text: Some(text.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_blocked_worker_is_a_finding_with_its_share_and_its_time() {
        let ms = Duration::from_millis;
        assert_eq!(blocked_workers(&[ms(0), ms(250)], ms(250)), None);
        let finding = blocked_workers(&[ms(0), ms(2_100), ms(300), ms(0)], ms(250));
        assert_eq!(
            finding.and_then(|finding| finding.text).as_deref(),
            Some(
                "2 of 4 workers of the application's runtime in one step, for 2.1 s: something blocks in an async task"
            )
        );
    }
}
