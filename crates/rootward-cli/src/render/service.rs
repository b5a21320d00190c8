//! Why a service is as it is: what was observed, what the diagnosis concludes, and what its instances say.

use rootward_core::{CheckStatus, ServiceStatus};
use rootward_demo::aggregator::words;
use rootward_wire::v1::api::{Cause, Component, Diagnosis, Instance, ServiceDetail};

use super::resource::callers;
use super::{age, cause, check_tone, fact, heading, only_degrades, seen, service_tone, since};
use crate::text::{Line, Page, Table, Tone};

/// The service; `roots` are the causes that are about itself.
pub(crate) fn page(service: &ServiceDetail, diagnosis: &Diagnosis) -> Page {
    let row = &service.row;
    let roots: Vec<&Cause> = diagnosis
        .root_causes
        .iter()
        .filter(|cause| is_about(&cause.id, &row.name))
        .collect();
    let mut page = Page::new();
    let healthy = row.status == ServiceStatus::Healthy.into();
    if healthy && row.impacted_by.is_empty() && !row.pending && roots.is_empty() {
        page.push(
            Line::new()
                .plain(format!("{} is ", row.name))
                .body("healthy", Tone::Good)
                .plain(format!(
                    ": nothing to explain ({}, {})",
                    row.reason,
                    seen(row.age_ms)
                )),
        );
        return page;
    }
    page.push(title(service));
    page.push(fact("because", &row.reason));
    page.push(fact("seen", age(row.age_ms)));
    conclusions(&mut page, service, diagnosis);
    let owner = row
        .owner
        .as_deref()
        .map_or("no owner declared".to_owned(), |owner| {
            format!("owner {owner}")
        });
    let front = if row.entry_point {
        " · entry point: nobody calls it"
    } else {
        ""
    };
    page.push(fact("who", format!("{owner}{front}")));
    page.gap();
    page.push(heading(format!(
        "Instances (at least {} must serve)",
        service.at_least
    )));
    instances(&service.detail)
        .into_iter()
        .for_each(|line| page.push(line));
    for (title, edges) in [
        ("Depends on", &service.dependencies),
        ("Callers", &service.callers),
    ] {
        if !edges.is_empty() {
            page.gap();
            page.push(heading(title));
            callers(edges).into_iter().for_each(|line| page.push(line));
        }
    }
    for root in roots {
        page.gap();
        let reached = diagnosis
            .impacted
            .iter()
            .filter(|impact| impact.cause == root.id);
        page.append(cause::page(
            root,
            &reached.collect::<Vec<_>>(),
            service.generated_at,
        ));
    }
    page
}

fn title(service: &ServiceDetail) -> Line {
    let row = &service.row;
    let mut line = Line::new()
        .body(&row.name, Tone::Strong)
        .plain(" is ")
        .body(row.status.as_str(), service_tone(&row.status));
    if let Some(then) = row.since {
        line = line.plain(format!(" since {}", since(then, service.generated_at)));
    }
    if row
        .impacted_by
        .iter()
        .any(|impact| !only_degrades(&impact.effect))
    {
        line = line.plain(", and ").body("impacted", Tone::Warning);
    }
    line
}

/// What the diagnosis makes of it.
fn conclusions(page: &mut Page, service: &ServiceDetail, diagnosis: &Diagnosis) {
    let row = &service.row;
    for impact in &row.impacted_by {
        let cause = diagnosis
            .root_causes
            .iter()
            .find(|cause| cause.id == impact.cause);
        let why = cause.map_or_else(
            || words::cause(&impact.cause),
            |cause| format!("{} ({})", cause.summary, words::sureness(cause.confidence)),
        );
        page.push(fact(
            impact.effect.as_str(),
            format!("{why}: {}", words::path(&impact.path)),
        ));
    }
    if row.root_cause {
        page.push(fact("root cause", "it is one itself, below"));
    }
    if row.pending {
        page.push(fact(
            "pending",
            "its newest results disagree with its status: it may change soon",
        ));
    }
    if row.status == ServiceStatus::Unknown.into() && !row.root_cause {
        let word = "unknown is neither up nor down: there is no fresh evidence, and it is nobody's root cause";
        page.push(fact("meaning", word));
    }
}

fn instances(detail: &[Instance]) -> Vec<Line> {
    let mut lines = Vec::new();
    for instance in detail {
        let mut table = Table::default();
        table.row(
            vec![
                (instance.status.to_string(), service_tone(&instance.status)),
                (instance.id.clone(), Tone::Plain),
                (age(instance.age_ms), Tone::Quiet),
            ],
            instance_reason(instance),
        );
        lines.extend(table.lines("  "));
        lines.extend(components(&instance.components));
    }
    lines
}

fn instance_reason(instance: &Instance) -> String {
    let mut text = instance.reason.clone();
    if let Some(last) = &instance.last_known
        && last.as_str() != instance.status.as_str()
    {
        text.push_str(&format!("; last known {last}"));
    }
    if let Some(poll) = &instance.last_poll
        && instance.status == ServiceStatus::Unknown.into()
    {
        text.push_str(&format!(
            "; last poll {} ago: {}",
            words::duration(poll.age_ms),
            poll.text
        ));
    }
    text
}

/// Only what is not up: the rest has nothing to say.
fn components(all: &[Component]) -> Vec<Line> {
    let mut table = Table::default();
    for component in all
        .iter()
        .filter(|component| component.status != CheckStatus::Up.into())
    {
        let mut why = component_reason(component);
        if component.pending.is_some() {
            why.push_str(&format!(
                "; pending: the newest result is {}",
                component.raw_status
            ));
        }
        table.row(
            vec![
                (component.status.to_string(), check_tone(&component.status)),
                (component.name.clone(), Tone::Plain),
                (component.criticality.to_string(), Tone::Quiet),
                (age(component.age_ms), Tone::Quiet),
            ],
            why,
        );
    }
    table.lines("      ")
}

fn component_reason(component: &Component) -> String {
    if let Some(error) = &component.error {
        return error.clone();
    }
    if let Some(category) = &component.error_category {
        return category
            .known()
            .map_or(category.as_str(), |category| category.phrase())
            .to_owned();
    }
    let unknown = component.status == CheckStatus::Unknown.into();
    match component.age_ms {
        Some(_) if unknown => "too old to count".to_owned(),
        None if unknown => "no result yet".to_owned(),
        Some(_) | None => "no reason given".to_owned(),
    }
}

/// Whether a cause is about this service or one of its instances.
fn is_about(cause: &str, service: &str) -> bool {
    let Some((kind, what)) = cause.split_once(':') else {
        return false;
    };
    match kind {
        "node" => what == service,
        "instance" => what.split('#').next() == Some(service),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use crate::render::fixture;

    fn explain(service: &str, diagnosis: &str) -> String {
        super::page(&fixture::service(service), &fixture::diagnosis(diagnosis)).render(false)
    }

    #[test]
    fn an_unhealthy_service_says_what_it_suffers_from() {
        insta::assert_snapshot!(explain("unhealthy", "incident"), @"
        orders is unhealthy since 03:12:41 UTC (41 s), and impacted
          because    2 of 2 instances unhealthy: orders-db connection refused
          seen       <1 s ago
          impacted   orders-db refuses connections (97 % sure): orders -> orders-db
          who        owner team-orders

        Instances (at least 1 must serve)
          unhealthy  orders#0  <1 s ago  orders-db connection refused
              down  orders-db  hard  <1 s ago  connection refused
          unhealthy  orders#1  <1 s ago  orders-db connection refused
              down  orders-db  hard  <1 s ago  connection refused; pending: the newest result is up

        Depends on
          down  orders-db  hard  connection refused, for 2 of 2 instances

        Callers
          degraded  checkout  hard  ready but not serving, for 1 of 1 instance
          unknown   shipping  soft  no instance of the caller has a fresh check of it
        ");
    }

    #[test]
    fn a_service_can_be_healthy_and_impacted() {
        insta::assert_snapshot!(explain("impacted", "incident"), @"
        front is healthy since 02:13:22 UTC (60 min), and impacted
          because    its instance is healthy
          seen       <1 s ago
          impacted   orders-db refuses connections (97 % sure): front -> checkout -> orders -> orders-db
          pending    its newest results disagree with its status: it may change soon
          who        owner team-shop · entry point: nobody calls it

        Instances (at least 1 must serve)
          healthy  front#0  <1 s ago  nothing that matters is wrong

        Depends on
          up  checkout  hard  fine for 1 instance
        ");
    }

    #[test]
    fn an_unknown_service_is_not_called_down() {
        insta::assert_snapshot!(explain("unknown", "unknown"), @"
        payments is unknown since 03:13:16 UTC (6 s)
          because    no answer for 9 s (timed out after 500 ms)
          seen       9 s ago
          meaning    unknown is neither up nor down: there is no fresh evidence, and it is nobody's root
                     cause
          who        owner team-payments

        Instances (at least 1 must serve)
          unknown  payments#0  9 s ago  no answer for 9 s (timed out after 500 ms); last known healthy; last
                                        poll <1 s ago: timed out after 500 ms while waiting for the answer
              unknown  payments-db  hard  9 s ago  too old to count

        Depends on
          unknown  payments-db  hard  no instance of the caller has a fresh check of it

        Callers
          up  checkout  hard  fine for 1 instance
        ");
    }

    #[test]
    fn a_healthy_service_needs_no_explanation() {
        insta::assert_snapshot!(explain("healthy", "healthy"), @"cart is healthy: nothing to explain (its instance is healthy, seen <1 s ago)");
    }
}
