//! Why a resource is as it is: nobody polls it, so this is what its callers see.

use rootward_core::CheckStatus;
use rootward_demo::aggregator::words;
use rootward_wire::v1::api::{Cause, Dependency, Impact, ResourceDetail};

use super::{age, cause, check_tone, fact, seen, since};
use crate::text::{Line, Page, Table, Tone};

/// The resource, and the cause that it is, if it is one.
pub(crate) fn page(resource: &ResourceDetail, root: Option<&Cause>, impacts: &[&Impact]) -> Page {
    let row = &resource.row;
    let mut page = Page::new();
    if row.status == CheckStatus::Up.into() && row.failing_callers == 0 && root.is_none() {
        page.push(
            Line::new()
                .plain(format!("{} is ", row.name))
                .body("up", Tone::Good)
                .plain(format!(
                    ": nothing to explain ({}, {})",
                    row.reason,
                    seen(row.age_ms)
                )),
        );
        return page;
    }
    let mut title = Line::new()
        .body(&row.name, Tone::Strong)
        .plain(" is ")
        .body(row.status.as_str(), check_tone(&row.status));
    if let Some(then) = row.since {
        title = title.plain(format!(" since {}", since(then, resource.generated_at)));
    }
    page.push(title);
    page.push(fact("because", &row.reason));
    page.push(fact("seen", age(row.age_ms)));
    let kind = row.kind.as_deref().unwrap_or("resource");
    let owner = row
        .owner
        .as_deref()
        .map_or("no owner declared".to_owned(), |owner| {
            format!("owner {owner}")
        });
    let target = resource.target.as_deref().unwrap_or("no target declared");
    page.push(fact("what", format!("{kind} · {owner} · {target}")));
    if !resource.callers_detail.is_empty() {
        page.gap();
        page.push(super::heading("Callers"));
        callers(&resource.callers_detail)
            .into_iter()
            .for_each(|line| page.push(line));
    }
    if let Some(root) = root {
        page.gap();
        page.append(cause::page(root, impacts, resource.generated_at));
    }
    page
}

/// What callers see, or what a service sees of what it depends on.
pub(super) fn callers(edges: &[Dependency]) -> Vec<Line> {
    let mut table = Table::default();
    for edge in edges {
        table.row(
            vec![
                (edge.status.to_string(), check_tone(&edge.status)),
                (edge.name.clone(), Tone::Plain),
                (edge.criticality.to_string(), Tone::Quiet),
            ],
            sight(edge),
        );
    }
    table.lines("  ")
}

/// What the instances of a caller see.
fn sight(edge: &Dependency) -> String {
    let observing = words::count(edge.observing_instances, "instance");
    match (
        edge.observing_instances,
        edge.failing_instances,
        &edge.error_category,
    ) {
        (0, _, _) => "no instance of the caller has a fresh check of it".to_owned(),
        (_, 0, _) => format!("fine for {observing}"),
        (_, failing, None) => format!("fails for {failing} of {observing}"),
        (_, failing, Some(category)) => {
            let why = category
                .known()
                .map_or(category.as_str(), |category| category.phrase());
            format!("{why}, for {failing} of {observing}")
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::render::fixture;

    #[test]
    fn a_failing_resource_says_who_sees_what() {
        let diagnosis = fixture::diagnosis("incident");
        let resource = fixture::resource("down");
        let impacts: Vec<_> = diagnosis.impacted.iter().collect();
        let page = super::page(&resource, diagnosis.root_causes.first(), &impacts);
        insta::assert_snapshot!(page.render(false), @"
        orders-db is down since 03:12:41 UTC (41 s)
          because    3 of 3 callers see it down: connection refused
          seen       <1 s ago
          what       postgresql · owner team-orders · postgresql://orders-db.shop.svc:5432/orders

        Callers
          down  invoices  hard  connection refused, for 1 of 1 instance
          down  orders    hard  connection refused, for 2 of 2 instances
          down  reports   soft  connection refused, for 1 of 1 instance

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
    fn a_resource_that_is_up_needs_no_explanation() {
        let page = super::page(&fixture::resource("up"), None, &[]);
        insta::assert_snapshot!(page.render(false), @"orders-db is up: nothing to explain (its 2 callers see it up, seen <1 s ago)");
    }
}
