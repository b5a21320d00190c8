//! What polls make of the ways in which targets answer.

use std::net::SocketAddr;
use std::time::Duration;

use crate::fleet::{Asked, Fleet, Manner, nobody};
use crate::running::{Pace, Running, configuration, get, instance};

/// One target for each way to answer.
fn zoo(fleet: &Fleet) -> Vec<(&'static str, SocketAddr, Asked)> {
    let redirect = "302 Found\r\nlocation: http://sso.example/login?next=1";
    let manners = [
        ("good", Manner::healthy("good")),
        (
            "sick",
            Manner::Report {
                service: "sick",
                status: "unhealthy",
                code: 503,
            },
        ),
        ("broken", Manner::answer("500 Oops", "NullPointerException")),
        ("garbage", Manner::Bytes("220 smtp ready\r\n\r\n".into())),
        ("text", Manner::answer("200 OK", "OK")),
        ("moved", Manner::answer(redirect, "")),
        ("locked", Manner::answer("401 Unauthorized", "log in")),
        ("endless", Manner::Endless),
        ("drip", Manner::Drip("drip")),
        ("hung", Manner::Hang),
        ("other", Manner::healthy("somebody-else")),
    ];
    let mut targets: Vec<_> = manners
        .into_iter()
        .map(|(service, manner)| {
            let (address, asked) = fleet.start(manner);
            (service, address, asked)
        })
        .collect();
    targets.push(("refusing", nobody(), Asked::default()));
    targets
}

fn addresses(zoo: &[(&'static str, SocketAddr, Asked)]) -> Vec<(&'static str, SocketAddr)> {
    zoo.iter()
        .map(|(service, address, _)| (*service, *address))
        .collect()
}

#[tokio::test]
async fn every_way_to_answer_becomes_an_outcome_with_a_sentence() {
    let fleet = Fleet::new();
    let zoo = zoo(&fleet);
    let config = configuration(Pace::millis(600, 400), &addresses(&zoo));
    let mut running = Running::start(config);
    let snapshot = running
        .until("a poll of every target has ended", |snapshot| {
            let mut services = snapshot.services.iter();
            services.all(|s| s.instances[0].last_poll.is_some())
        })
        .await;
    let lines: Vec<String> = snapshot
        .services
        .iter()
        .map(|service| {
            let instance = &service.instances[0];
            let poll = instance.last_poll.as_ref().unwrap();
            let (status, word) = (service.status, poll.outcome.as_str());
            format!("{}: {status}, {word}: {}", service.name, poll.text)
        })
        .collect();
    insta::assert_snapshot!(lines.join("\n"), @r"
    broken: unhealthy, error_status: answered HTTP 500 without a report
    drip: unknown, no_answer: timed out after 400 ms while waiting for the answer
    endless: unknown, malformed: the body is larger than 1 MiB
    garbage: unknown, malformed: the answer is not HTTP
    good: healthy, report: answered with a report
    hung: unknown, no_answer: timed out after 400 ms while waiting for the answer
    locked: unknown, malformed: answered 401: it wants credentials
    moved: unknown, malformed: answered 302, a redirect to sso.example, which is not followed
    other: unknown, malformed: answers as somebody-else, not as other
    refusing: unknown, no_answer: connection refused
    sick: unhealthy, report: answered with a report
    text: healthy, report: answered with a report
    ");
    running.stop().await;
}

#[tokio::test]
async fn every_poll_that_is_begun_ends_exactly_once() {
    let fleet = Fleet::new();
    let zoo = zoo(&fleet);
    let config = configuration(Pace::millis(300, 200), &addresses(&zoo));
    let mut running = Running::start(config);
    running
        .until("five rounds are complete", |snapshot| {
            snapshot.epoch.is_some_and(|epoch| epoch.number >= 5)
        })
        .await;
    let (summary, _) = running.stop().await;
    assert!(summary.polls.total() >= 12 * 5, "{summary:?}");
    assert_eq!(
        summary.polls_begun,
        summary.polls.total() + summary.abandoned,
        "{summary:?}"
    );
}

#[tokio::test]
async fn bad_neighbours_do_not_make_a_good_one_late() {
    let fleet = Fleet::new();
    let zoo = zoo(&fleet);
    let interval = Duration::from_millis(400);
    let config = configuration(Pace::millis(400, 350), &addresses(&zoo));
    let running = Running::start(config);
    let (_, _, good) = &zoo[0];
    good.reaches(10).await;
    for pair in good.times()[..10].windows(2) {
        let gap = pair[1] - pair[0];
        assert!(gap < interval * 2, "a round was missed: {gap:?}");
    }
    running.stop().await;
}

#[tokio::test]
async fn a_target_is_asked_once_in_each_interval_however_many_people_watch() {
    let fleet = Fleet::new();
    let (address, asked) = fleet.start(Manner::healthy("cart"));
    let interval = Duration::from_millis(500);
    let mut running = Running::start(configuration(Pace::millis(500, 400), &[("cart", address)]));
    running
        .until("it was seen", |s| instance(s, "cart").evidence_at.is_some())
        .await;
    let (before, began) = (asked.count(), tokio::time::Instant::now());
    let mut requests = 0;
    while began.elapsed() < interval * 4 {
        assert_eq!(running.get("/api/v1/overview").await.status, 200);
        requests += 1;
    }
    let polls = asked.count() - before;
    assert!(requests > 20, "only {requests} requests were made");
    assert!((3..=5).contains(&polls), "{polls} polls in four intervals");
    running.stop().await;
}

#[tokio::test]
async fn a_target_is_asked_over_one_connection_and_not_from_a_cache() {
    let fleet = Fleet::new();
    let (address, asked) = fleet.start(Manner::healthy("cart"));
    let running = Running::start(configuration(Pace::millis(100, 50), &[("cart", address)]));
    asked.reaches(10).await;
    assert_eq!(asked.connections(), 1);
    let head = asked.last_head().to_ascii_lowercase();
    assert!(head.starts_with("get /health http/1.1\r\n"), "{head}");
    assert!(head.contains("cache-control: no-cache\r\n"), "{head}");
    assert!(head.contains("user-agent: rootward/"), "{head}");
    running.stop().await;
}

#[tokio::test]
async fn it_is_alive_while_every_target_hangs() {
    let fleet = Fleet::new();
    let targets: Vec<_> = ["a", "b", "c", "d"]
        .into_iter()
        .map(|service| (service, fleet.start(Manner::Hang)))
        .collect();
    let addresses: Vec<_> = targets
        .iter()
        .map(|(s, (address, _))| (*s, *address))
        .collect();
    let running = Running::start(configuration(Pace::millis(100, 60_000), &addresses));
    for (_, (_, asked)) in &targets {
        asked.reaches(1).await;
    }
    let answer = running.get("/livez").await;
    assert_eq!(
        (answer.status, &answer.body[..]),
        (200, &br#"{"alive":true}"#[..])
    );
    let answer = running.get("/readyz").await;
    assert_eq!(answer.status, 503);
    running.stop().await;
}

#[tokio::test]
async fn it_is_ready_once_a_round_is_complete_though_nothing_answers() {
    let mut running = Running::start(configuration(Pace::millis(200, 100), &[("cart", nobody())]));
    running
        .until("a round is complete", |s| s.epoch.is_some())
        .await;
    assert_eq!(running.get("/readyz").await.status, 200);
    running.stop().await;
}

#[tokio::test]
async fn two_aggregators_cannot_have_one_address() {
    let first = Running::start(configuration(
        Pace::millis(1_000, 500),
        &[("cart", nobody())],
    ));
    let mut config = configuration(Pace::millis(1_000, 500), &[("cart", nobody())]);
    config.listen_internal = first.address;
    let refused = rootward_server::App::build(config).unwrap_err();
    assert!(refused.is_listen());
    let reason = std::error::Error::source(&refused).unwrap();
    assert_eq!(
        format!("{refused}: {reason}"),
        format!(
            "failed to listen on {}: address already in use",
            first.address
        )
    );
    assert_eq!(get(first.address, "/livez").await.status, 200);
    first.stop().await;
}
