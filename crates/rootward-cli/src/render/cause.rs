//! A root cause, named or suspected: what, how sure, why, what speaks against it, whom it reaches.

use rootward_demo::aggregator::words;
use rootward_wire::Time;
use rootward_wire::v1::api::{Cause, Evidence, Impact};

use super::{fact, facts, heading, labelled, only_degrades, since};
use crate::text::{Page, Tone};

/// The whole of a cause. `impacts` are those that it reaches.
pub(crate) fn page(cause: &Cause, impacts: &[&Impact], now: Time) -> Page {
    let mut page = Page::new();
    page.push(heading(&cause.summary));
    let kind = match &cause.held {
        None => labelled("root cause").body(words::cause(&cause.id), Tone::Bad),
        Some(_) => labelled("suspected").body(words::cause(&cause.id), Tone::Warning),
    };
    page.push(kind.plain(format!(" ({}), {}", cause.id, cause.state)));
    let sure = words::sureness(cause.confidence);
    page.push(fact(
        "since",
        format!("{} · {sure}", since(cause.since, now)),
    ));
    if let Some(held) = &cause.held {
        page.push(fact(
            "held back",
            format!("{held}; nobody is paged for it yet"),
        ));
    }
    facts(&mut page, "why", &cause.reasons);
    facts(
        &mut page,
        "evidence",
        &evidence(&cause.evidence, Some(cause.evidence_count)),
    );
    if !cause.silent.is_empty() {
        page.push(fact("silent", cause.silent.join(", ")));
    }
    let against = evidence(&cause.against, Some(cause.against_count));
    if against.is_empty() {
        page.push(fact("against", "nothing"));
    }
    facts(&mut page, "against", &against);
    if !cause.group.is_empty() {
        let others: Vec<String> = cause.group.iter().map(|id| words::cause(id)).collect();
        let text = format!("{}: it failed first of them", others.join(", "));
        page.push(fact("as well", text));
    }
    page.push(next_best(&cause.alternatives, cause.confidence));
    reached(&mut page, impacts);
    page
}

/// What else it could be, and how likely that is: `host h3 (1 in 40), then cart`.
pub(super) fn next_best(alternatives: &[String], confidence: f64) -> crate::text::Line {
    let mut texts = alternatives.iter().map(|id| words::cause(id));
    let first = texts.next();
    let first = first.as_deref().unwrap_or("nothing but chance");
    let others: Vec<String> = texts.collect();
    let rest = if others.is_empty() {
        String::new()
    } else {
        format!(", then {}", others.join(", "))
    };
    let odds = words::odds(confidence);
    fact("next best", format!("{first} ({odds}){rest}"))
}

/// Who is reached, each with the way to the cause.
pub(super) fn reached(page: &mut Page, impacts: &[&Impact]) {
    let ways = |degraded: bool| -> Vec<String> {
        let matching = impacts
            .iter()
            .filter(|impact| only_degrades(&impact.effect) == degraded);
        matching.map(|impact| words::path(&impact.path)).collect()
    };
    let (impacted, degraded) = (ways(false), ways(true));
    if impacted.is_empty() {
        page.push(fact("impacted", "nobody over hard dependencies"));
    }
    facts(page, "impacted", &impacted);
    facts(page, "degraded", &degraded);
}

pub(super) fn evidence(evidence: &[Evidence], total: Option<u64>) -> Vec<String> {
    let mut texts: Vec<String> = evidence.iter().map(|one| one.text.clone()).collect();
    let left_out = total.unwrap_or(0).saturating_sub(evidence.len() as u64);
    if left_out > 0 {
        texts.push(format!("and {left_out} more that the answer leaves out"));
    }
    texts
}

#[cfg(test)]
mod tests {
    use crate::render::fixture;

    #[test]
    fn a_cause_says_why_and_what_else_it_could_be() {
        let diagnosis = fixture::diagnosis("incident");
        let cause = &diagnosis.root_causes[0];
        let impacts: Vec<_> = diagnosis.impacted.iter().collect();
        let page = super::page(cause, &impacts, diagnosis.generated_at);
        insta::assert_snapshot!(page.render(false), @"
        orders-db refuses connections
          root cause orders-db (node:orders-db), down
          since      03:12:40 UTC (42 s) · 97 % sure
          why        3 of 3 callers report that connections are refused, first orders#0
                     nobody who calls orders-db has had a good check of it for 42 s
                     checkout and front fail because orders does: they are impacted, not at fault
          evidence   orders#0 -> orders-db down: connection refused (0.9 s ago)
                     orders#1 -> orders-db down: connection refused (1.2 s ago)
                     invoices#0 -> orders-db down: connection refused (0.4 s ago)
                     and 4 more that the answer leaves out
          against    reports#0 -> orders-db up: unknown (0.3 s ago)
          next best  the path orders -> orders-db (1 in 38)
          impacted   checkout -> orders -> orders-db
                     front -> checkout -> orders -> orders-db
                     invoices -> orders-db
                     orders -> orders-db
          degraded   reports -> orders-db
        ");
    }

    #[test]
    fn a_suspected_cause_says_what_it_waits_for() {
        let diagnosis = fixture::diagnosis("held");
        let page = super::page(&diagnosis.suspected[0], &[], diagnosis.generated_at);
        insta::assert_snapshot!(page.render(false), @"
        orders-db refuses connections
          suspected  orders-db (node:orders-db), down
          since      03:13:20 UTC (2 s) · 62 % sure
          held back  waiting for invoices and reports to be polled again; nobody is paged for it yet
          why        1 of 3 callers reports that connections are refused, so far
          evidence   orders#0 -> orders-db down: connection refused (0.9 s ago)
          against    nothing
          next best  nothing but chance (1 in 3)
          impacted   nobody over hard dependencies
        ");
    }
}
