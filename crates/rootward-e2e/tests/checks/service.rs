//! Another service: a real one that embeds `rootward`, and a fake for what no real one answers.

use std::net::SocketAddr;

use rootward::{Check, Health, Unlabelled};
use rootward_checks::service;

use crate::every::{
    LONG, alone, beside_others, leaves_nothing, run, run_until, survives_refusal, survives_silence,
};
use crate::scripted::{Scripted, answer};

async fn check_at(address: SocketAddr) -> Check<Unlabelled> {
    service("orders", &format!("http://{address}/readyz"))
}

async fn start(listen: SocketAddr) -> Health {
    let health = Health::builder("orders").listen(listen);
    health.start().expect("a free port")
}

#[tokio::test]
async fn a_service_that_says_nothing_costs_one_time_limit_and_no_connection() {
    let _turn = beside_others().await;
    survives_silence(check_at).await;
}

#[tokio::test]
async fn a_service_that_is_not_there_is_said_to_refuse() {
    let _turn = beside_others().await;
    survives_refusal(check_at).await;
}

#[tokio::test]
async fn a_readiness_that_wants_a_login_is_said_with_its_status() {
    let _turn = beside_others().await;
    let fake = Scripted::plain(answer("401 Unauthorized", "planted")).await;
    assert_eq!(
        run(&check_at(fake.address).await, LONG).await,
        "down, http_status, HTTP status 401"
    );
}

#[tokio::test]
async fn a_service_that_ends_and_comes_back_is_up_for_the_same_check() {
    let _turn = beside_others().await;
    let first = start(SocketAddr::from(([127, 0, 0, 1], 0))).await;
    let address = first.listen_addr().expect("it listens");
    let check = check_at(address).await;
    run_until(&check, LONG, "up").await;
    first.stop().await;
    run_until(&check, LONG, "down, connection_refused, ").await;
    let again = start(address).await;
    run_until(&check, LONG, "up").await;
    again.stop().await;
}

#[tokio::test]
async fn a_thousand_looks_at_a_service_leave_nothing() {
    let _turn = alone().await;
    let health = start(SocketAddr::from(([127, 0, 0, 1], 0))).await;
    let address = health.listen_addr().expect("it listens");
    leaves_nothing(&check_at(address).await, "up").await;
    health.stop().await;
}
