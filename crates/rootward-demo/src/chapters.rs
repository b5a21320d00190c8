//! The chapters: what is done to the shop, and what the aggregator must make of it.

use std::time::Duration;

use rootward_core::{CheckStatus, ErrorCategory, ServiceStatus};
use rootward_testkit::{Mood, wire::WireState};
use rootward_wire::v1::api::{ImpactEffect, ServiceDetail};

use crate::narration::NobodyListens;
use crate::picture::{Picture, Verdict};
use crate::shop::plan::{BEHIND_THE_WIRE, CACHE, ORDERS_DB, SERVICES};
use crate::shop::speed;
use crate::stage::Stage;
use crate::story::Chapter;

const ORDERS_DB_CAUSE: &str = "node:orders-db";
const CACHE_CAUSE: &str = "node:cache";

/// Who cannot work without the orders database, directly or through others.
const NEED_ORDERS_DB: &[&str] = &[
    "back-office",
    "checkout",
    "front",
    "invoices",
    "orders",
    "returns",
    "shipping",
];

/// The longest way to it.
const LONGEST_PATH: &[&str] = &["front", "checkout", "orders", "orders-db"];

/// Who works worse without the cache.
const USE_CACHE: &[&str] = &["cart", "catalogue", "search"];

/// How a port that is closed, or was closed under a connection, looks to a client.
const REFUSED: &[ErrorCategory] = &[
    ErrorCategory::ConnectionRefused,
    ErrorCategory::ConnectionReset,
];

/// How long a state is watched that must not change by itself.
const WATCH: Duration = Duration::from_secs(4);

/// Plays one chapter.
pub(crate) async fn play(chapter: Chapter, stage: &mut Stage<'_>) -> Result<(), NobodyListens> {
    match chapter {
        Chapter::Healthy => healthy(stage).await?,
        Chapter::SlowDatabase => slow_database(stage).await?,
        Chapter::DatabaseDown => database_down(stage).await?,
        Chapter::Recovery => recovery(stage).await?,
        Chapter::Cut => cut(stage).await?,
        Chapter::Healed => healed(stage).await?,
        Chapter::CacheDown => cache_down(stage).await?,
    }
    stage.pause().await;
    Ok(())
}

async fn healthy(stage: &mut Stage<'_>) -> Result<(), NobodyListens> {
    let expectation = format!(
        "{} services are healthy and no incident is open",
        SERVICES.len()
    );
    stage.expect(&expectation, all_well).await?;
    stage
        .expect_answers(
            "every instance is alive and ready (/livez and /readyz answer 200)",
            &["/livez", "/readyz"],
        )
        .await?;
    // From here on an orchestrator would look at them.
    stage.watch_probes();
    stage.remember_incidents().await;
    stage.tell_what_it_says().await
}

async fn slow_database(stage: &mut Stage<'_>) -> Result<(), NobodyListens> {
    let text = format!(
        "making {ORDERS_DB} answer in {} s; its callers' checks give up after {} ms",
        speed::SLOW.as_secs(),
        speed::CHECK_TIMEOUT.as_millis()
    );
    let deed = stage.shop.set_mood(ORDERS_DB, Mood::Slow(speed::SLOW));
    stage.act(&text, deed).await?;
    stage
        .expect(
            "orders-db is the only root cause: all its callers' checks time out",
            |picture| {
                picture.all_callers_fail(ORDERS_DB)?;
                picture.only_root_cause(ORDERS_DB_CAUSE, &[ErrorCategory::Timeout])
            },
        )
        .await?;
    the_database_explains_the_rest(stage).await?;
    stage.tell_what_it_says().await
}

async fn database_down(stage: &mut Stage<'_>) -> Result<(), NobodyListens> {
    let deed = stage.shop.set_mood(ORDERS_DB, Mood::Refusing);
    stage
        .act(
            "closing the port of orders-db: connections are refused",
            deed,
        )
        .await?;
    stage
        .expect(
            "orders-db is the only root cause: all its callers are refused",
            |picture| {
                picture.all_callers_fail(ORDERS_DB)?;
                picture.only_root_cause(ORDERS_DB_CAUSE, REFUSED)
            },
        )
        .await?;
    the_database_explains_the_rest(stage).await?;
    let before = stage.incidents_before.clone();
    let expectation = format!("it stays at one incident for {} s more", WATCH.as_secs());
    stage
        .expect_throughout(&expectation, WATCH, |picture| {
            picture.one_incident(ORDERS_DB_CAUSE, &before)
        })
        .await?;
    stage.tell_what_it_says().await
}

async fn the_database_explains_the_rest(stage: &mut Stage<'_>) -> Result<(), NobodyListens> {
    stage
        .expect(
            "seven services are impacted, and none of them is a root cause",
            |picture| picture.reached(NEED_ORDERS_DB, ImpactEffect::Impacted, LONGEST_PATH),
        )
        .await?;
    let before = stage.incidents_before.clone();
    stage
        .expect("exactly one incident is open", |picture| {
            picture.one_incident(ORDERS_DB_CAUSE, &before)
        })
        .await
}

async fn recovery(stage: &mut Stage<'_>) -> Result<(), NobodyListens> {
    let deed = stage.shop.set_mood(ORDERS_DB, Mood::Healthy);
    stage.act("letting orders-db answer again", deed).await?;
    let before = stage.incidents_before.clone();
    stage
        .expect(
            "the incident is resolved, and there was no other",
            |picture| one_resolved(picture, ORDERS_DB_CAUSE, &before),
        )
        .await?;
    stage
        .expect("all services are healthy again", all_well)
        .await?;
    stage.tell_what_it_says().await
}

async fn cut(stage: &mut Stage<'_>) -> Result<(), NobodyListens> {
    let deed = stage.shop.set_wire(WireState::Cut);
    stage
        .act(
            "cutting the way from the aggregator to payments; its callers reach it as before",
            deed,
        )
        .await?;
    stage
        .expect("payments is unknown, not down", |picture| {
            picture.status_is(BEHIND_THE_WIRE, ServiceStatus::Unknown)
        })
        .await?;
    let expectation = format!(
        "no root cause is named and no incident opened, for {} s",
        WATCH.as_secs()
    );
    stage
        .expect_throughout(&expectation, WATCH, |picture| {
            picture.status_is(BEHIND_THE_WIRE, ServiceStatus::Unknown)?;
            picture.nothing_named()?;
            picture.no_incident()?;
            others_are_healthy(picture)
        })
        .await?;
    callers_reach_payments(stage).await?;
    stage.tell_what_it_says().await
}

async fn healed(stage: &mut Stage<'_>) -> Result<(), NobodyListens> {
    let deed = stage.shop.set_wire(WireState::Open);
    stage.act("mending the way to payments", deed).await?;
    stage
        .expect("all services are healthy again", all_well)
        .await?;
    stage.tell_what_it_says().await
}

async fn cache_down(stage: &mut Stage<'_>) -> Result<(), NobodyListens> {
    let deed = stage.shop.set_mood(CACHE, Mood::Refusing);
    stage
        .act(
            "closing the port of the cache: connections are refused",
            deed,
        )
        .await?;
    stage
        .expect(
            "the three services that use the cache are degraded, all others healthy",
            |picture| {
                let lines: Vec<String> = USE_CACHE
                    .iter()
                    .map(|service| picture.status_is(service, ServiceStatus::Degraded))
                    .collect::<Result<_, _>>()?;
                let healthy = picture.overview.counts.services.healthy;
                if healthy == (SERVICES.len() - USE_CACHE.len()) as u64 {
                    Ok(lines.join("; "))
                } else {
                    Err(picture.overview.headline.clone())
                }
            },
        )
        .await?;
    stage
        .expect("the cache is named as the only root cause", |picture| {
            picture.only_root_cause(CACHE_CAUSE, REFUSED)
        })
        .await?;
    stage
        .expect(
            "its users are degraded by it, and nobody beyond them is reached",
            |picture| picture.reached(USE_CACHE, ImpactEffect::Degraded, &["cart", "cache"]),
        )
        .await?;
    stage
        .expect("its incident pages nobody", pages_nobody)
        .await?;
    stage
        .expect_answers(
            "every report, too, is answered with 200",
            &["/livez", "/readyz", "/health"],
        )
        .await?;
    stage.tell_what_it_says().await
}

fn all_well(picture: &Picture) -> Verdict {
    picture.all_well(SERVICES.len())
}

fn others_are_healthy(picture: &Picture) -> Verdict {
    let others = picture
        .overview
        .services
        .iter()
        .filter(|s| s.name != BEHIND_THE_WIRE);
    for service in others {
        picture.status_is(&service.name, ServiceStatus::Healthy)?;
    }
    Ok(picture.overview.headline.clone())
}

fn one_resolved(picture: &Picture, cause: &str, before: &[String]) -> Verdict {
    picture.no_incident()?;
    let resolved = picture.incidents.resolved.iter();
    let fresh: Vec<_> = resolved
        .filter(|incident| !before.contains(&incident.id))
        .collect();
    match fresh.as_slice() {
        [only] if only.cause == cause => Ok(format!(
            "{} is resolved after {} s: {}",
            only.id,
            only.duration_ms / 1_000,
            only.resolution.as_deref().unwrap_or(&only.title)
        )),
        [] => Err("no incident is resolved".to_owned()),
        several => Err(several
            .iter()
            .map(|incident| format!("{}: {}", incident.id, incident.title))
            .collect::<Vec<_>>()
            .join("; ")),
    }
}

fn pages_nobody(picture: &Picture) -> Verdict {
    match picture.incidents.open.as_slice() {
        [only] if !only.pages => Ok(format!("{} pages nobody: {}", only.id, only.title)),
        [] => Err("no incident is open".to_owned()),
        open => Err(open
            .iter()
            .map(|i| format!("{} pages: {}, {}", i.id, i.pages, i.title))
            .collect::<Vec<_>>()
            .join("; ")),
    }
}

/// The caller's own check of it, as the aggregator knows it.
async fn callers_reach_payments(stage: &mut Stage<'_>) -> Result<(), NobodyListens> {
    let seen = stage
        .client()
        .get::<ServiceDetail>("/api/v1/services/payments")
        .await;
    let verdict = match seen {
        Ok(detail) => match detail
            .callers
            .iter()
            .find(|caller| caller.name == "checkout")
        {
            Some(caller) if caller.status == CheckStatus::Up.into() => {
                Ok("checkout sees payments: up".to_owned())
            }
            Some(caller) => Err(format!("checkout sees payments: {}", caller.status)),
            None => Err("checkout is not listed as a caller of payments".to_owned()),
        },
        Err(error) => Err(error.to_string()),
    };
    stage.note("checkout, which calls it, still sees it up", verdict)
}
