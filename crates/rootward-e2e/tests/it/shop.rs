//! The main job on real input: the example shop as separate processes on a real PostgreSQL and a real Redis, and the
//! aggregator over it, asked through its HTTP API and its command line.

use std::collections::BTreeSet;
use std::time::Duration;

use rootward_e2e::{Error, Run};

mod street;

use street::{Seen, Street};

/// Long enough for a loaded machine; what is waited for takes a few seconds.
const SOON: Duration = Duration::from_secs(60);

fn set(names: &[&str]) -> BTreeSet<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

/// The database is the one cause, by the own checks of all who use it, and reaches whom it should.
fn is_the_database(seen: &Seen) -> bool {
    let users = set(&["catalogue", "invoices", "orders"]);
    seen.causes() == set(&["node:orders-db"])
        && seen.evidence_services("node:orders-db", "orders-db") == users
        && seen.impacted() == set(&["checkout", "front", "invoices", "orders"])
        // Until all who use it have said so it is degraded.
        && seen.status_of("orders-db") == "down"
}

/// What was resolved since there were `before` resolved incidents, newest first.
fn resolved_since(seen: &Seen, before: usize) -> Vec<String> {
    let mut resolved = seen.resolved_incidents();
    resolved.truncate(resolved.len().saturating_sub(before));
    resolved
}

#[tokio::test]
async fn the_database_is_named_and_its_dependants_are_impacted_whatever_way_it_fails()
-> Result<(), Error> {
    let run = Run::from_environment()?;
    let mut street = Street::open(&run).await?;
    // On a slow machine a service may be missed by its callers while it is still starting: that is the truth, too.
    let before = street
        .wait_for("everything to be healthy", SOON, |seen| seen.all_is_well())
        .await?
        .resolved_incidents()
        .len();
    assert_eq!(
        street.rootward(&["status"]).await?.code,
        Some(0),
        "all is well in a terminal, too"
    );
    street.watch_probes();

    // Frozen: it accepts connections and never answers.
    street.postgres.freeze()?;
    let seen = street
        .wait_for("the frozen database to be the one cause", SOON, |seen| {
            is_the_database(seen)
        })
        .await?;
    assert_eq!(seen.open_incidents(), set(&["node:orders-db"]));
    assert_eq!(seen.degraded(), set(&["catalogue"]), "a soft edge degrades");
    assert_eq!(
        seen.evidence_categories("node:orders-db", "orders-db"),
        set(&["timeout"])
    );
    assert_eq!(seen.status_of("orders"), "unhealthy");
    assert_eq!(seen.status_of("orders-db"), "down");
    assert_eq!(seen.status_of("payments"), "healthy");
    assert_eq!(
        seen.path_of("front"),
        ["front", "checkout", "orders", "orders-db"],
        "the way to the front is shown"
    );
    let told = street.rootward(&["status"]).await?;
    assert_eq!(told.code, Some(1));
    assert!(told.text.contains("orders-db"), "{}", told.text);
    let told = street.rootward(&["explain", "front"]).await?;
    assert!(told.text.contains("orders-db"), "{}", told.text);

    street.postgres.thaw()?;
    let seen = street
        .wait_for("the thaw to end the incident", SOON, |seen| {
            seen.all_is_well()
        })
        .await?;
    assert_eq!(resolved_since(&seen, before), ["node:orders-db"]);

    // Killed: it refuses.
    street.postgres.kill().await?;
    let seen = street
        .wait_for("the killed database to be the one cause", SOON, |seen| {
            is_the_database(seen)
        })
        .await?;
    assert_eq!(seen.open_incidents(), set(&["node:orders-db"]));
    assert_eq!(
        seen.evidence_categories("node:orders-db", "orders-db"),
        set(&["connection_refused"])
    );
    assert!(
        seen.title_of("node:orders-db")
            .contains("refuses connections")
    );

    let page = street.page().await?;
    for words in [
        "Root cause",
        "orders-db refuses connections",
        "1 incident",
        "impacted",
    ] {
        assert!(
            page.contains(words),
            "the page does not say {words:?}:\n{page}"
        );
    }

    street.postgres.start_again().await?;
    let seen = street
        .wait_for("the restart to end the incident", SOON, |seen| {
            seen.all_is_well()
        })
        .await?;
    assert_eq!(
        resolved_since(&seen, before),
        ["node:orders-db", "node:orders-db"],
        "two outages, two incidents"
    );

    street.assert_probes_never_failed();
    street.close().await
}

#[tokio::test]
async fn a_soft_cache_degrades_and_never_gives_503_and_a_killed_service_is_unknown_and_named()
-> Result<(), Error> {
    let run = Run::from_environment()?;
    let mut street = Street::open(&run).await?;
    street
        .wait_for("everything to be healthy", SOON, |seen| seen.all_is_well())
        .await?;
    street.watch_probes();
    street.watch_reports();

    street.redis.kill().await?;
    let seen = street
        .wait_for("the cache to be the one cause", SOON, |seen| {
            let users = ["cart", "catalogue", "orders"];
            seen.causes() == set(&["node:cache"])
                && seen.degraded() == set(&users)
                && users.iter().all(|user| seen.status_of(user) == "degraded")
        })
        .await?;
    assert!(seen.impacted().is_empty(), "nobody needs it to work");
    assert_eq!(seen.open_incidents(), set(&["node:cache"]));
    assert!(
        !seen.pages("node:cache"),
        "what only soft edges reach calls nobody"
    );
    street.redis.start_again().await?;
    street
        .wait_for("the cache to be back", SOON, |seen| seen.all_is_well())
        .await?;
    street.assert_probes_never_failed();

    street.stop_watching_reports().await;
    street.kill("payments").await?;
    let seen = street
        .wait_for(
            "the killed service to be unknown and the one cause",
            SOON,
            |seen| {
                seen.causes() == set(&["node:payments"]) && seen.status_of("payments") == "unknown"
            },
        )
        .await?;
    assert_eq!(seen.impacted(), set(&["checkout", "front"]));
    assert_eq!(seen.open_incidents(), set(&["node:payments"]));
    assert_eq!(
        seen.evidence_services("node:payments", "payments"),
        set(&["checkout"])
    );
    let told = street.rootward(&["explain", "payments"]).await?;
    assert!(told.text.contains("unknown"), "{}", told.text);

    street.start("payments")?;
    street
        .wait_for("the service to be back", SOON, |seen| seen.all_is_well())
        .await?;
    street.assert_probes_never_failed();
    street.close().await
}
