//! A table of this process: filled, empty, without its entry, and held by somebody who does not let go.

use std::collections::BTreeMap;
use std::sync::{Arc, RwLock};
use std::time::{Duration, Instant};

use rootward_checks::{table, table_entry};

use crate::every::{LONG, alone, beside_others, leaves_nothing, run, run_until};

#[tokio::test]
async fn a_table_that_is_empty_or_lacks_its_entry_is_said_as_what_it_is() {
    let _turn = beside_others().await;
    let routes: Arc<RwLock<BTreeMap<&str, u8>>> = Arc::default();
    let filled = table("routes", {
        let routes = Arc::clone(&routes);
        move || routes.read().map_or(0, |routes| routes.len())
    });
    let has_default = table_entry("routes", {
        let routes = Arc::clone(&routes);
        move || {
            let routes = routes.read();
            routes.is_ok_and(|routes| routes.contains_key("default"))
        }
    });
    // Until: a machine may put the thread aside in the middle of a look, and then says that it took too long.
    run_until(&filled, LONG, "down, not_ready, the table is empty").await;
    run_until(
        &has_default,
        LONG,
        "down, not_found, the table has no such entry",
    )
    .await;
    routes.write().expect("no panic").insert("other", 1);
    run_until(&filled, LONG, "up").await;
    run_until(&has_default, LONG, "down, not_found").await;
    routes.write().expect("no panic").insert("default", 1);
    run_until(&has_default, LONG, "up").await;
}

#[tokio::test]
async fn a_look_that_takes_too_long_is_a_failure_with_its_time_whatever_it_found() {
    let _turn = beside_others().await;
    let check = table("routes", || {
        let began = Instant::now();
        while began.elapsed() < Duration::from_millis(2) {
            std::hint::spin_loop();
        }
        17
    });
    let seen = run(&check, LONG).await;
    let words = "down, timeout, a look at the table took ";
    let rest = seen.strip_prefix(words).unwrap_or_else(|| panic!("{seen}"));
    let (micros, rest) = rest.split_once(' ').expect("a number and more");
    assert!(micros.parse::<u64>().expect("a number") >= 2_000, "{seen}");
    assert_eq!(rest, "us, expected within 1000 us");
}

#[tokio::test]
async fn a_thousand_looks_at_a_table_leave_nothing() {
    let _turn = alone().await;
    // Down either way: a look that the machine interrupts says so instead.
    let check = table_entry("routes", || false);
    leaves_nothing(&check, "down, ").await;
}
