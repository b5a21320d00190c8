//! How everything is, on one screen: the headline, incidents, what is not known, then whatever deserves a look.

use rootward_core::{CheckStatus, ServiceStatus};
use rootward_demo::aggregator::words;
use rootward_wire::v1::api::{Diagnosis, Overview, ResourceRow, ServiceRow};

use super::{age, cause, check_tone, heading, incident, items, service_tone};
use crate::text::{Line, Page, Table, Tone};

/// The screen.
pub(crate) fn page(overview: &Overview, diagnosis: &Diagnosis) -> Page {
    let mut page = Page::new();
    page.push(headline(overview));
    page.push(Line::new().body(round(overview), Tone::Quiet));
    refused(&mut page, overview);
    for one in &overview.incidents {
        page.gap();
        page.append(incident::summary(one, overview.generated_at));
    }
    suspected(&mut page, diagnosis);
    unknown(&mut page, overview, diagnosis);
    unexplained(&mut page, diagnosis);
    services(&mut page, &overview.services);
    resources(&mut page, &overview.resources);
    beside(&mut page, overview);
    page
}

/// Whether everything is as it should be: what the exit code says.
pub(crate) fn is_well(overview: &Overview) -> bool {
    let services = overview.services.iter();
    let resources = overview.resources.iter();
    overview.incidents.is_empty()
        && !overview.services.is_empty()
        && services
            .clone()
            .all(|row| row.status == ServiceStatus::Healthy.into())
        && resources
            .clone()
            .all(|row| row.status == CheckStatus::Up.into())
}

fn headline(overview: &Overview) -> Line {
    let tone = if !overview.incidents.is_empty() {
        Tone::Bad
    } else if is_well(overview) {
        Tone::Good
    } else {
        Tone::Warning
    };
    Line::new().body(&overview.headline, tone)
}

/// What the files say and what runs are not the same: nobody should read on without knowing.
fn refused(page: &mut Page, overview: &Overview) {
    let refused = overview
        .configuration
        .as_ref()
        .and_then(|configuration| configuration.refused.as_ref());
    let Some(refused) = refused else {
        return;
    };
    page.gap();
    let count = refused.problems.len() as u64 + refused.left_out;
    let line = format!(
        "The changed configuration was refused {} ago ({}): what was loaded before stays in force",
        words::duration(refused.age_ms),
        words::count(count, "problem"),
    );
    page.push(Line::new().body(line, Tone::Warning));
    items(page, &refused.problems);
}

/// `demo · last round 3 s ago, complete, 12 of 12 polls answered`
fn round(overview: &Overview) -> String {
    let epoch = &overview.epoch;
    let round = match epoch.age_ms {
        Some(age) => format!(
            "last round {} ago, {}, {} of {} answered",
            words::duration(age),
            if epoch.complete {
                "complete"
            } else {
                "incomplete"
            },
            epoch.answered,
            words::count(epoch.polls, "poll"),
        ),
        None => format!(
            "no round is complete yet, one every {}",
            words::duration(epoch.interval_ms)
        ),
    };
    if overview.environment.is_empty() {
        round
    } else {
        format!("{} · {round}", overview.environment)
    }
}

fn suspected(page: &mut Page, diagnosis: &Diagnosis) {
    for one in &diagnosis.suspected {
        page.gap();
        let impacts: Vec<_> = diagnosis
            .impacted
            .iter()
            .filter(|impact| impact.cause == one.id)
            .collect();
        page.append(cause::page(one, &impacts, diagnosis.generated_at));
    }
}

/// While nothing was seen at all, the list of services says it already.
fn unknown(page: &mut Page, overview: &Overview, diagnosis: &Diagnosis) {
    if diagnosis.unknown.is_empty() || overview.newest_evidence_at.is_none() {
        return;
    }
    page.gap();
    page.push(heading(format!(
        "Unknown ({}): neither up nor down, there is no fresh evidence",
        diagnosis.unknown.len()
    )));
    let mut table = Table::default();
    for unseen in diagnosis.unknown.iter().take(super::MAX_LINES) {
        let last = match &unseen.last_known {
            Some(word) => format!(", last seen {word} {}", age(unseen.age_ms)),
            None => String::new(),
        };
        let cells = vec![(unseen.instance.clone(), Tone::Unknown)];
        table.row(cells, format!("{}{last}", unseen.reason));
    }
    push_table(page, table, diagnosis.unknown.len());
}

fn unexplained(page: &mut Page, diagnosis: &Diagnosis) {
    if diagnosis.unexplained.is_empty() {
        return;
    }
    page.gap();
    let count = diagnosis.unexplained.len();
    page.push(heading(format!(
        "Unexplained ({count}): failing checks that no named cause accounts for"
    )));
    items(page, &cause::evidence(&diagnosis.unexplained, None));
}

fn services(page: &mut Page, rows: &[ServiceRow]) {
    if rows.is_empty() {
        page.gap();
        page.push(
            Line::new().plain("No services yet: name them in the configuration, then start again."),
        );
        return;
    }
    let quiet = |row: &&ServiceRow| {
        row.status == ServiceStatus::Healthy.into()
            && row.impacted_by.is_empty()
            && !row.pending
            && !row.root_cause
    };
    let (calm, telling): (Vec<&ServiceRow>, Vec<&ServiceRow>) = rows.iter().partition(quiet);
    page.gap();
    page.push(heading(format!("Services ({})", rows.len())));
    let mut table = Table::default();
    for row in telling.iter().take(super::MAX_LINES) {
        let cells = vec![
            (row.status.to_string(), service_tone(&row.status)),
            (row.name.clone(), Tone::Strong),
            (age(row.age_ms), Tone::Quiet),
        ];
        table.row(cells, service_words(row));
    }
    push_table(page, table, telling.len());
    names(
        page,
        "healthy",
        Tone::Good,
        calm.iter().map(|row| row.name.as_str()),
    );
}

fn service_words(row: &ServiceRow) -> String {
    let mut text = row.reason.clone();
    if row.root_cause {
        text.push_str(" · root cause");
    }
    for impact in &row.impacted_by {
        let cause = words::cause(&impact.cause);
        text.push_str(&format!(" · {} by {cause}", impact.effect));
    }
    if row.pending {
        text.push_str(" · pending: it may change soon");
    }
    text
}

fn resources(page: &mut Page, rows: &[ResourceRow]) {
    if rows.is_empty() {
        return;
    }
    let (calm, telling): (Vec<&ResourceRow>, Vec<&ResourceRow>) = rows
        .iter()
        .partition(|row| row.status == CheckStatus::Up.into() && !row.root_cause);
    page.gap();
    page.push(heading(format!("Resources ({})", rows.len())));
    let mut table = Table::default();
    for row in telling.iter().take(super::MAX_LINES) {
        let cells = vec![
            (row.status.to_string(), check_tone(&row.status)),
            (row.name.clone(), Tone::Strong),
            (age(row.age_ms), Tone::Quiet),
        ];
        let root = if row.root_cause { " · root cause" } else { "" };
        table.row(cells, format!("{}{root}", row.reason));
    }
    push_table(page, table, telling.len());
    names(
        page,
        "up",
        Tone::Good,
        calm.iter().map(|row| row.name.as_str()),
    );
}

/// Groups, drift and circles.
fn beside(page: &mut Page, overview: &Overview) {
    if !overview.groups.is_empty() {
        page.gap();
        page.push(heading("Groups"));
        let mut table = Table::default();
        for group in &overview.groups {
            let name = group.public_name.as_ref().unwrap_or(&group.name);
            let cells = vec![
                (group.status.to_string(), service_tone(&group.status)),
                (name.clone(), Tone::Plain),
            ];
            let impacted = if group.impacted { "impacted · " } else { "" };
            table.row(cells, format!("{impacted}{}", group.members.join(", ")));
        }
        table
            .lines("  ")
            .into_iter()
            .for_each(|line| page.push(line));
    }
    if !overview.findings.is_empty() {
        page.gap();
        page.push(heading(format!(
            "Drift ({}): where the map and what was seen differ",
            overview.findings.len()
        )));
        let texts: Vec<String> = overview
            .findings
            .iter()
            .map(|finding| finding.text.clone())
            .collect();
        items(page, &texts);
    }
    if !overview.cycles.is_empty() {
        page.gap();
        page.push(heading(format!(
            "Cycles on the map ({})",
            overview.cycles.len()
        )));
        let texts: Vec<String> = overview
            .cycles
            .iter()
            .map(|cycle| cycle.text.clone())
            .collect();
        items(page, &texts);
    }
}

fn push_table(page: &mut Page, table: Table, of: usize) {
    table
        .lines("  ")
        .into_iter()
        .for_each(|line| page.push(line));
    let rest = of.saturating_sub(super::MAX_LINES);
    if rest > 0 {
        page.push(Line::new().plain(format!("  and {rest} more")));
    }
}

/// The calm ones in one line.
fn names<'a>(page: &mut Page, word: &str, tone: Tone, names: impl Iterator<Item = &'a str>) {
    let names: Vec<&str> = names.collect();
    if names.is_empty() {
        return;
    }
    let line = Line::new()
        .lead("  ", Tone::Plain)
        .lead(word, tone)
        .lead("  ", Tone::Plain);
    page.push(line.plain(names.join(", ")));
}

#[cfg(test)]
mod tests {
    use rootward_wire::v1::api::{Configuration, RefusedConfiguration};

    use crate::render::fixture;

    fn status(name: &str) -> String {
        super::page(&fixture::overview(name), &fixture::diagnosis(name)).render(false)
    }

    #[test]
    fn when_all_is_well_it_is_a_few_lines() {
        insta::assert_snapshot!(status("healthy"), @"
        6 services healthy, all seen within 1 s
        demo · last round <1 s ago, complete, 7 of 7 polls answered

        Services (6)
          healthy  cart, checkout, front, mail, orders, payments

        Resources (2)
          up  cache, orders-db

        Groups
          healthy  Buying  front, checkout, orders
        ");
        assert!(super::is_well(&fixture::overview("healthy")));
    }

    #[test]
    fn an_incident_comes_first_and_names_the_cause() {
        insta::assert_snapshot!(status("incident"), @"
        orders-db refuses connections
        demo · last round <1 s ago, complete, 9 of 9 polls answered

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

        Unknown (1): neither up nor down, there is no fresh evidence
          payments#0  no answer for 9 s (timed out after 500 ms), last seen healthy 9 s ago

        Unexplained (1): failing checks that no named cause accounts for
          mail#0 -> disk degraded: resource exhausted (1.5 s ago)

        Services (8)
          unhealthy  invoices  <1 s ago  its instance is unhealthy: orders-db connection refused · impacted
                                         by orders-db
          unhealthy  orders    <1 s ago  2 of 2 instances unhealthy: orders-db connection refused · impacted
                                         by orders-db
          unknown    payments  9 s ago   no answer for 9 s (timed out after 500 ms)
          degraded   checkout  <1 s ago  its instance is degraded: orders is ready but not serving ·
                                         impacted by orders-db
          degraded   reports   <1 s ago  its instance is degraded: orders-db connection refused · degraded
                                         by orders-db
          healthy    front     <1 s ago  its instance is healthy · impacted by orders-db · pending: it may
                                         change soon
          healthy  cart, mail

        Resources (2)
          down  orders-db  <1 s ago  3 of 3 callers see it down: connection refused · root cause
          up  cache

        Groups
          unhealthy  Buying  impacted · front, checkout, orders
          healthy    post    mail

        Drift (1): where the map and what was seen differ
          cart reports a check of rates, which its map entry does not declare

        Cycles on the map (1)
          a -> b -> a
        ");
        assert!(!super::is_well(&fixture::overview("incident")));
    }

    #[test]
    fn what_is_not_seen_is_unknown_and_not_well() {
        insta::assert_snapshot!(status("unknown"), @"
        5 of 6 services healthy; payments is unknown
        demo · last round <1 s ago, complete, 6 of 7 polls answered

        Unknown (1): neither up nor down, there is no fresh evidence
          payments#0  no answer for 9 s (timed out after 500 ms), last seen healthy 9 s ago

        Services (6)
          unknown  payments  9 s ago  no answer for 9 s (timed out after 500 ms)
          healthy  cart, checkout, front, mail, orders

        Resources (2)
          up  cache, orders-db

        Groups
          healthy  Buying  front, checkout, orders
        ");
        assert!(!super::is_well(&fixture::overview("unknown")));
    }

    #[test]
    fn a_suspected_cause_is_shown_as_one() {
        insta::assert_snapshot!(status("held"), @"
        6 of 6 services healthy; orders-db is down
        demo · last round <1 s ago, complete, 7 of 7 polls answered

        orders-db refuses connections
          suspected  orders-db (node:orders-db), down
          since      03:13:20 UTC (2 s) · 62 % sure
          held back  waiting for invoices and reports to be polled again; nobody is paged for it yet
          why        1 of 3 callers reports that connections are refused, so far
          evidence   orders#0 -> orders-db down: connection refused (0.9 s ago)
          against    nothing
          next best  nothing but chance (1 in 3)
          impacted   nobody over hard dependencies

        Services (6)
          healthy  cart, checkout, front, mail, orders, payments

        Resources (2)
          down  orders-db  <1 s ago  1 of 3 callers sees it down: connection refused
          up  cache

        Groups
          healthy  Buying  front, checkout, orders
        ");
    }

    #[test]
    fn before_anything_was_seen_nothing_is_claimed() {
        insta::assert_snapshot!(status("nothing"), @"
        nothing was seen yet
        demo · no round is complete yet, one every 10 s

        Services (6)
          unknown  cart      not seen  not polled yet
          unknown  checkout  not seen  not polled yet
          unknown  front     not seen  not polled yet
          unknown  mail      not seen  not polled yet
          unknown  orders    not seen  not polled yet
          unknown  payments  not seen  not polled yet

        Resources (2)
          unknown  cache      not seen  no caller has reported it yet
          unknown  orders-db  not seen  no caller has reported it yet
        ");
        assert!(!super::is_well(&fixture::overview("nothing")));
    }

    #[test]
    fn an_empty_map_says_what_to_do() {
        insta::assert_snapshot!(status("empty"), @"
        no services are configured
        demo · last round 3 s ago, complete, 0 of 0 polls answered

        No services yet: name them in the configuration, then start again.
        ");
        assert!(!super::is_well(&fixture::overview("empty")));
    }

    #[test]
    fn a_refused_configuration_is_told_before_anything_else() {
        let mut overview = fixture::overview("healthy");
        overview.configuration = Some(Configuration {
            loaded_at: overview.generated_at,
            age_ms: 3_600_000,
            reloads: 1,
            refused: Some(RefusedConfiguration {
                at: overview.generated_at,
                age_ms: 12_000,
                problems: vec![
                    "rootward.yaml:3:9: services[0]: unknown key `ownr`; did you mean `owner`?"
                        .to_owned(),
                ],
                left_out: 0,
            }),
        });
        let page = super::page(&overview, &fixture::diagnosis("healthy")).render(false);
        let lines: Vec<&str> = page.lines().take(6).collect();
        insta::assert_snapshot!(lines.join("\n"), @"
        6 services healthy, all seen within 1 s
        demo · last round <1 s ago, complete, 7 of 7 polls answered

        The changed configuration was refused 12 s ago (1 problem): what was loaded before stays in force
          rootward.yaml:3:9: services[0]: unknown key `ownr`; did you mean `owner`?
        ");
    }

    #[test]
    fn no_line_is_wider_than_the_terminal() {
        for name in ["healthy", "incident", "unknown", "held", "nothing", "empty"] {
            let text = status(name);
            let widest = text.lines().map(|line| line.chars().count()).max();
            assert!(widest <= Some(crate::text::WIDTH), "{name}: {widest:?}");
        }
    }
}
