//! An incident: in a few lines for the status, and whole with everything that happened.

use rootward_demo::aggregator::words;
use rootward_wire::Time;
use rootward_wire::v1::api::{CauseKind, Incident, IncidentState};

use super::cause::{evidence, next_best, reached};
use super::{clock, fact, facts, heading, labelled, since};
use crate::text::{Line, Page, Tone};

/// What a person needs first.
pub(crate) fn summary(incident: &Incident, now: Time) -> Page {
    let mut page = Page::new();
    let over = incident.state == IncidentState::Resolved.into();
    let title = if over { Tone::Strong } else { Tone::Bad };
    page.push(
        Line::new()
            .lead(format!("{}  ", incident.id), Tone::Quiet)
            .body(&incident.title, title),
    );
    page.push(fact("cause", about(incident)));
    page.push(fact(
        if over { "lasted" } else { "since" },
        times(incident, now),
    ));
    if let Some(unconfirmed) = &incident.unconfirmed {
        page.push(labelled("now").body(unconfirmed, Tone::Warning));
    }
    if let Some(resolution) = &incident.resolution {
        page.push(fact("resolved", resolution));
    }
    facts(&mut page, "why", &incident.reasons);
    // An entry point that nobody sees is no cause that could be another, nor is the aggregator's own trouble.
    if incident.kind != CauseKind::Unseen.into() && incident.kind != CauseKind::Observer.into() {
        page.push(next_best(&incident.alternatives, incident.confidence));
    }
    reached(&mut page, &incident.impacted.iter().collect::<Vec<_>>());
    page
}

/// All of it.
pub(crate) fn page(incident: &Incident, now: Time) -> Page {
    let mut page = summary(incident, now);
    let earlier = incident.cause_history.iter().filter_map(|period| {
        let until = clock(period.until?, now);
        Some(format!(
            "suspected {} until {until} UTC",
            words::cause(&period.cause)
        ))
    });
    facts(&mut page, "before", &earlier.collect::<Vec<_>>());
    facts(&mut page, "evidence", &evidence(&incident.evidence, None));
    if !incident.timeline.is_empty() {
        page.gap();
        page.push(heading("What happened (UTC)"));
        for entry in &incident.timeline {
            page.push(
                Line::new()
                    .lead(format!("  {}  ", clock(entry.at, now)), Tone::Quiet)
                    .plain(&entry.text),
            );
        }
    }
    page
}

fn about(incident: &Incident) -> String {
    let owner = incident.owner.as_ref();
    let pages = if incident.pages {
        "pages"
    } else {
        "pages nobody"
    };
    [
        match &incident.cause_state {
            Some(state) => format!("{} ({state})", words::cause(&incident.cause)),
            None => words::cause(&incident.cause),
        },
        owner.map_or("no owner declared".to_owned(), |owner| {
            format!("owner {owner}")
        }),
        pages.to_owned(),
    ]
    .join(" · ")
}

fn times(incident: &Incident, now: Time) -> String {
    let sure = words::sureness(incident.confidence);
    match incident.resolved_at {
        None => format!("{} · {sure}", since(incident.began_at, now)),
        Some(end) => format!(
            "{} to {} UTC ({}) · {sure}",
            clock(incident.began_at, now),
            clock(end, now),
            words::duration(incident.duration_ms)
        ),
    }
}

#[cfg(test)]
mod tests {
    use crate::render::fixture;

    #[test]
    fn an_open_incident_says_what_since_when_how_sure_and_why() {
        let incidents = fixture::incidents();
        let page = super::page(&incidents.open[0], incidents.generated_at);
        insta::assert_snapshot!(page.render(false), @"
        inc-2  orders-db refuses connections
          cause      orders-db (down) · owner team-orders · pages
          since      03:12:40 UTC (42 s) · 97 % sure
          why        3 of 3 callers report that connections are refused, first orders#0
                     nobody who calls orders-db has had a good check of it for 42 s
                     checkout and front fail because orders does: they are impacted, not at fault
          next best  the path orders -> orders-db (1 in 38)
          impacted   checkout -> orders -> orders-db
                     front -> checkout -> orders -> orders-db
                     invoices -> orders-db
                     orders -> orders-db
          degraded   reports -> orders-db
          before     suspected the path orders -> orders-db until 03:12:45 UTC
          evidence   orders#0 -> orders-db down: connection refused (0.9 s ago)
                     orders#1 -> orders-db down: connection refused (1.2 s ago)
                     invoices#0 -> orders-db down: connection refused (0.4 s ago)

        What happened (UTC)
          03:12:40  orders#0 sees orders-db: connection refused
          03:12:43  opened: orders cannot use orders-db, others can
          03:12:45  revised: orders-db refuses connections
        ");
    }

    #[test]
    fn what_is_not_seen_any_more_is_said_beside_its_label() {
        let mut incidents = fixture::incidents();
        incidents.open[0].unconfirmed = Some("nobody sees it fail or recover".to_owned());
        let page = super::summary(&incidents.open[0], incidents.generated_at);
        let text = page.render(false);
        let line = "\n  now        nobody sees it fail or recover\n";
        assert!(text.contains(line), "{text}");
    }

    #[test]
    fn a_resolved_incident_says_how_long_it_lasted_and_why_it_is_over() {
        let incidents = fixture::incidents();
        let page = super::page(&incidents.resolved[0], incidents.generated_at);
        insta::assert_snapshot!(page.render(false), @"
        inc-1  cannot see front
          cause      unseen front · no owner declared · pages
          lasted     2026-11-29 22:00:00 to 2026-11-29 22:14:05 UTC (14 min) · more than 99 % sure
          resolved   front answers again
          why        front is an entry point and was not seen for 2 min
          impacted   nobody over hard dependencies
        ");
    }
}
