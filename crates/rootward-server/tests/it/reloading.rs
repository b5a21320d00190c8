//! Another configuration while the aggregator runs, against real servers.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::time::Duration;

use rootward_config::{Checked, Elsewhere, Source, compile_with};
use rootward_core::ServiceStatus;
use rootward_server::Refused;

use crate::fleet::{Fleet, Manner};
use crate::running::{Pace, Running, configuration, instance};

const PACE: Pace = Pace::millis(400, 200);

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap()
}

#[tokio::test]
async fn kf_036_what_stays_is_known_on_and_what_is_new_is_asked() {
    let fleet = Fleet::new();
    let (cart, _) = fleet.start(Manner::healthy("cart"));
    let (front, front_asked) = fleet.start(Manner::healthy("front"));
    let mut running = Running::start(configuration(PACE, &[("cart", cart)]));
    let before = running
        .until("cart is seen", |snapshot| {
            instance(snapshot, "cart").status == ServiceStatus::Healthy
        })
        .await;
    let next = configuration(PACE, &[("cart", cart), ("front", front)]);
    let applied = running.reloader.apply(next).await.unwrap().unwrap();
    assert_eq!((applied.kept, applied.begun, applied.ended), (1, 1, 0));
    let after = running
        .until("front is on the map", |snapshot| {
            snapshot.services.len() == 2
        })
        .await;
    let since = |snapshot| instance(snapshot, "cart").since;
    assert_eq!(since(&after), since(&before));
    front_asked.reaches(2).await;
    running
        .until("front is seen", |snapshot| {
            instance(snapshot, "front").status == ServiceStatus::Healthy
        })
        .await;
    let removed = configuration(PACE, &[("front", front)]);
    running.reloader.apply(removed).await.unwrap();
    running
        .until("cart is gone", |snapshot| snapshot.services.len() == 1)
        .await;
    let transitions = running.get("/api/v1/transitions").await;
    let body = text(&transitions.body);
    assert!(body.contains("removed from the configuration"), "{body}");
    let metrics = running.get("/metrics").await;
    let body = text(&metrics.body);
    for line in ["rootward_targets 1.0", "rootward_config_reloads_total 2"] {
        assert!(body.lines().any(|found| found == line), "{line}: {body}");
    }
    running.stop().await;
}

#[tokio::test]
async fn another_url_is_asked_from_the_next_poll_on_and_what_the_old_one_says_is_ignored() {
    let fleet = Fleet::new();
    let (hung, hung_asked) = fleet.start(Manner::Hang);
    let (good, _) = fleet.start(Manner::healthy("cart"));
    let slow = Pace::millis(5_000, 4_000);
    let mut running = Running::start(configuration(slow, &[("cart", hung)]));
    hung_asked.reaches(1).await;
    running
        .reloader
        .apply(configuration(slow, &[("cart", good)]))
        .await
        .unwrap();
    let seen = running
        .until("the new one is seen", |snapshot| {
            instance(snapshot, "cart").last_poll.is_some()
        })
        .await;
    assert_eq!(instance(&seen, "cart").status, ServiceStatus::Healthy);
    running.stop().await;
}

#[tokio::test]
async fn kf_044_a_refusal_changes_nothing_and_is_told_until_something_is_taken_up() {
    let fleet = Fleet::new();
    let (cart, asked) = fleet.start(Manner::healthy("cart"));
    let mut running = Running::start(configuration(PACE, &[("cart", cart)]));
    running
        .until("cart is seen", |snapshot| {
            instance(snapshot, "cart").status == ServiceStatus::Healthy
        })
        .await;
    let problem = "rootward.yaml:3:9: something is wrong".to_owned();
    running.reloader.refuse(Refused::new([problem]));
    let mut moved = configuration(PACE, &[]);
    moved.listen_internal = SocketAddr::from(([127, 0, 0, 1], 1));
    let refused = running.reloader.apply(moved).await.unwrap_err();
    assert_eq!(
        refused.to_string(),
        "listen.internal.bind has changed, and that needs a restart"
    );
    let told = running.get("/api/v1/overview").await;
    assert!(text(&told.body).contains("needs a restart"));
    let metrics = running.get("/metrics").await;
    let body = text(&metrics.body);
    for line in [
        "rootward_config_last_reload_successful 0.0",
        "rootward_config_reloads_refused_total 2",
    ] {
        assert!(body.lines().any(|found| found == line), "{line}: {body}");
    }
    let count = asked.count();
    asked.reaches(count + 2).await;
    running
        .reloader
        .apply(configuration(PACE, &[("cart", cart)]))
        .await
        .unwrap();
    let told = running.get("/api/v1/overview").await;
    assert!(!text(&told.body).contains("refused"));
    running.stop().await;
}

/// `moved` with this token; nobody else is configured.
fn with_token(address: SocketAddr, token: &str) -> Checked {
    let written = format!(
        "
defaults: {{health: {{interval: 400ms, timeout: 200ms, auth: {{bearer: {{file: token}}}}}}}}
listen: {{internal: {{bind: \"127.0.0.1:0\"}}}}
services: [{{name: moved, health: {{url: http://{address}/health}}}}]
"
    );
    let file = "rootward.yaml".to_owned();
    let files = |_: &str| Ok(token.to_owned());
    let env = BTreeMap::new();
    let elsewhere = Elsewhere {
        env: &env,
        files: &files,
    };
    compile_with(
        &[Source {
            file,
            text: written,
        }],
        &elsewhere,
    )
    .unwrap()
}

#[tokio::test]
async fn the_token_goes_to_the_target_and_to_nobody_it_points_to_and_a_new_one_is_used_at_once() {
    let fleet = Fleet::new();
    let (elsewhere, elsewhere_asked) = fleet.start(Manner::healthy("moved"));
    let redirect = format!("302 Found\r\nlocation: http://{elsewhere}/health");
    let (address, asked) = fleet.start(Manner::answer(&redirect, ""));
    let config = with_token(address, "first-token");
    assert!(!format!("{config:?}").contains("first-token"));
    let running = Running::start(config);
    asked.reaches(2).await;
    let head = asked.last_head().to_ascii_lowercase();
    assert!(head.contains("authorization: bearer first-token"), "{head}");
    let second = with_token(address, "second-token");
    running.reloader.apply(second).await.unwrap();
    let count = asked.count();
    asked.reaches(count + 2).await;
    let head = asked.last_head().to_ascii_lowercase();
    assert!(
        head.contains("authorization: bearer second-token"),
        "{head}"
    );
    assert_eq!(elsewhere_asked.count(), 0);
    for path in ["/api/v1/overview", "/api/v1/services/moved", "/metrics"] {
        let answer = running.get(path).await;
        assert!(!text(&answer.body).contains("-token"), "{path}");
    }
    running.stop().await;
}

#[tokio::test]
async fn kf_043_while_five_thousand_targets_are_kept_and_one_is_replaced_polls_go_on() {
    // One target answers and is polled often: its polls go on across the change, and no other's task begins anew.
    let fleet = Fleet::new();
    let (cart, asked) = fleet.start(Manner::healthy("cart"));
    let nobody = crate::fleet::nobody();
    let names: Vec<String> = (0..5_000).map(|n| format!("s{n}")).collect();
    let all = |also: &'static str| {
        let mut targets = vec![("cart", cart), (also, nobody)];
        targets.extend(names.iter().map(|name| (name.as_str(), nobody)));
        configuration(Pace::millis(10_000, 1_000), &targets)
    };
    let mut first = all("first");
    first.targets[0].interval = Duration::from_millis(500);
    first.targets[0].timeout = Duration::from_millis(400);
    let mut second = all("second");
    second.targets[0] = first.targets[0].clone();
    let running = Running::start(first);
    asked.reaches(3).await;
    let applied = running.reloader.apply(second).await.unwrap().unwrap();
    assert_eq!((applied.kept, applied.begun, applied.ended), (5_001, 1, 1));
    let count = asked.count();
    asked.reaches(count + 3).await;
    running.stop().await;
}
