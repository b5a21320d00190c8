//! `rootward explain NAME`: finds what is meant, whatever kind of name it is.

use crate::aggregator::Aggregator;
use crate::program::{Ended, run};

fn explain(name: &str) -> Ended {
    let aggregator = Aggregator::with(&[
        ("overview", "overview-incident"),
        ("diagnosis", "diagnosis-incident"),
        ("incidents", "incidents"),
        ("services/orders", "service-unhealthy"),
        ("services/front", "service-impacted"),
        ("services/cart", "service-healthy"),
        ("resources/orders-db", "resource-down"),
    ]);
    run(&["explain", name, "--url", &aggregator.url()])
}

#[test]
fn every_kind_of_name_is_found() {
    let first_lines: Vec<String> = [
        "orders",
        "orders#1",
        "front",
        "orders-db",
        "inc-2",
        "inc-1",
        "node:orders-db",
        "unseen:front",
    ]
    .into_iter()
    .map(|name| {
        let ended = explain(name).with(0);
        format!("{name}: {}", ended.out.lines().next().unwrap_or_default())
    })
    .collect();
    insta::assert_snapshot!(first_lines.join("\n"), @"
    orders: orders is unhealthy since 03:12:41 UTC (41 s), and impacted
    orders#1: orders is unhealthy since 03:12:41 UTC (41 s), and impacted
    front: front is healthy since 02:13:22 UTC (60 min), and impacted
    orders-db: orders-db is down since 03:12:41 UTC (41 s)
    inc-2: inc-2  orders-db refuses connections
    inc-1: inc-1  cannot see front
    node:orders-db: orders-db refuses connections
    unseen:front: inc-1  cannot see front
    ");
}

#[test]
fn a_healthy_service_has_nothing_to_explain() {
    let ended = explain("cart").with(0);
    insta::assert_snapshot!(ended.out, @"cart is healthy: nothing to explain (its instance is healthy, seen <1 s ago)");
}

#[test]
fn a_root_cause_comes_with_reasons_evidence_and_alternatives() {
    let ended = explain("orders-db").with(0);
    for part in ["why  ", "evidence  ", "next best  ", "impacted  "] {
        assert!(
            ended.out.contains(part),
            "{part:?} is missing: {}",
            ended.out
        );
    }
}

#[test]
fn an_unknown_name_gets_the_nearest_one() {
    let errors =
        ["ordrs", "orders#7", "inc-3", "something-else"].map(|name| explain(name).with(2).err);
    insta::assert_snapshot!(errors.concat(), @r#"
    rootward: no service, instance, resource, incident or cause is called "ordrs"
              did you mean orders?
    rootward: no service, instance, resource, incident or cause is called "orders#7"
              did you mean orders#0?
    rootward: no service, instance, resource, incident or cause is called "inc-3"
              did you mean inc-2?
    rootward: no service, instance, resource, incident or cause is called "something-else"
              `rootward status` lists what there is
    "#);
}
