//! `rootward demo`: plays a whole story on real sockets, and says what is wrong with what was typed.

use std::net::TcpListener;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rustix::process::Signal;

use crate::program::{Running, SOON, Scratch, rootward, run};

/// For a whole story on a busy machine: each expectation is waited for up to 40 s.
const A_STORY: Duration = Duration::from_secs(400);

static STORY: Mutex<()> = Mutex::new(());

/// Held while a story is played: a shop is twelve services with time limits of half a second, and several at once on
/// two cores are late for reasons of their own.
fn alone() -> MutexGuard<'static, ()> {
    STORY.lock().unwrap_or_else(PoisonError::into_inner)
}

#[test]
fn an_unknown_scenario_gets_the_list() {
    let ended = run(&["demo", "--scenario", "nonsense"]).with(2);
    insta::assert_snapshot!(ended.err, @r#"
    rootward: the demo has no scenario "nonsense"
              Scenarios:
                healthy        all is well
                slow-database  orders-db answers in 3 s: root cause, impacted callers, one incident
                database-down  orders-db refuses connections: the same, seen at once
                recovery       orders-db refuses, then comes back: the incident is resolved
                cut            the way from the aggregator to payments is cut: unknown, not down
                cache-down     the cache refuses connections: degraded, nobody is paged
    "#);
    assert_eq!(ended.out, "");
}

#[test]
fn a_port_in_use_gets_a_sentence() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    let ended = run(&["demo", "--exit", "--port", &port]).with(2);
    insta::assert_snapshot!(ended.err.replace(&port, "PORT"), @"
    rootward: failed to start the aggregator: failed to listen on 127.0.0.1:PORT: address already in
              use
              without --port the demo takes another port by itself
    ");
}

#[test]
fn its_configuration_is_a_valid_one() {
    let ended = run(&["demo", "--print-config", "--port", "0"]).with(0);
    let scratch = Scratch::new();
    let file = scratch.file("demo.yaml", &ended.out);
    let ended = run(&["validate", &file]).with(0);
    assert_eq!(
        ended.out,
        "valid: 12 services, 13 instances, 5 resources, 2 groups\n"
    );
}

#[test]
fn a_dead_database_is_named_and_everything_else_is_impacted() {
    let _alone = alone();
    let mut command = rootward(&[
        "demo",
        "--scenario",
        "database-down",
        "--exit",
        "--port",
        "0",
    ]);
    let ended = Running::start(&mut command).end(A_STORY).with(0);
    let lines = [
        "are stand-ins for PostgreSQL and Redis",
        "page      http://127.0.0.1:",
        "2/2 the orders database refuses connections",
        "root cause  orders-db refuses connections",
        "front -> checkout -> orders -> orders-db",
        "incidents   1 open (inc-1, pages)",
        "all the time, /livez and /readyz of every instance answer 200",
        "Every expectation held",
    ];
    ended.says(&lines);
    assert!(!ended.out.contains("FAILED"), "{}", ended.out);
    assert_eq!(ended.err, "");
}

/// The command of the README, to its end: all stories one after the other.
#[test]
fn the_whole_tour_holds() {
    let _alone = alone();
    let mut command = rootward(&["demo", "--exit", "--port", "0"]);
    let ended = Running::start(&mut command).end(A_STORY).with(0);
    let lines = [
        "root cause  orders-db does not answer in time",
        "it stays at one incident for 4 s more",
        "the incident is resolved, and there was no other",
        "ok      payments is unknown, not down",
        "6/6 the way to payments is back",
        "Every expectation held",
    ];
    ended.says(&lines);
}

#[test]
fn a_service_that_only_the_aggregator_cannot_reach_is_unknown() {
    let _alone = alone();
    let mut command = rootward(&["demo", "--scenario", "cut", "--exit", "--port", "0"]);
    let ended = Running::start(&mut command).end(A_STORY).with(0);
    let lines = [
        "ok      payments is unknown, not down",
        "ok      no root cause is named and no incident opened",
        "ok      checkout, which calls it, still sees it up",
        "unknown     payments#0: ",
        "incidents   0 open",
    ];
    ended.says(&lines);
}

#[test]
fn a_dead_cache_pages_nobody_and_every_probe_stays_200() {
    let _alone = alone();
    let mut command = rootward(&["demo", "--scenario", "cache-down", "--exit", "--port", "0"]);
    let ended = Running::start(&mut command).end(A_STORY).with(0);
    let lines = [
        "root cause  cache refuses connections",
        "degraded    cart -> cache",
        "incidents   1 open (inc-1, pages nobody)",
        "every report, too, is answered with 200",
    ];
    ended.says(&lines);
}

#[test]
fn after_the_story_the_shop_keeps_running_until_ctrl_c() {
    let _alone = alone();
    let running = Running::start(&mut rootward(&[
        "demo",
        "--scenario",
        "healthy",
        "--port",
        "0",
    ]));
    running.wait_for("The shop keeps running at http://127.0.0.1:", A_STORY);
    running.signal(Signal::INT);
    running.end(SOON).with(0);
}

#[test]
fn ctrl_c_in_the_middle_of_a_story_ends_it() {
    let _alone = alone();
    let running = Running::start(&mut rootward(&["demo", "--exit", "--port", "0"]));
    running.wait_for("1/6 all is well", SOON);
    running.signal(Signal::INT);
    let ended = running.end(SOON).with(130);
    assert!(!ended.out.contains("Summary"), "{}", ended.out);
}

#[test]
fn without_a_reader_it_ends() {
    let _alone = alone();
    let mut command = rootward(&["demo", "--port", "0"]);
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let ended = Running::start(command.stdout(writer)).end(SOON).with(0);
    assert_eq!(ended.err, "");
}
