//! Meilisearch: a fake, with answers as its documentation shows them
//! (<https://www.meilisearch.com/docs/reference/api/health>).

use std::net::SocketAddr;

use rootward::{Check, Unlabelled};
use rootward_checks::open::{self, HttpSettings};

use crate::every::{
    LONG, alone, beside_others, leaves_nothing, run, run_until, survives_refusal, survives_silence,
};
use crate::scripted::{Scripted, answer};

const GOOD: &str = r#"{ "status": "available" }"#;

async fn check_at(address: SocketAddr) -> Check<Unlabelled> {
    let settings = HttpSettings::new(format!("http://{address}/"));
    open::meilisearch("search", settings).expect("settings")
}

#[tokio::test]
async fn a_meilisearch_that_says_nothing_costs_one_time_limit_and_no_connection() {
    let _turn = beside_others().await;
    survives_silence(check_at).await;
}

#[tokio::test]
async fn a_meilisearch_that_is_not_there_is_said_to_refuse() {
    let _turn = beside_others().await;
    survives_refusal(check_at).await;
}

#[tokio::test]
async fn a_fake_meilisearch_is_available_or_not() {
    let _turn = beside_others().await;
    let search = Scripted::plain("").await;
    let check = check_at(search.address).await;
    for (status, body, expected) in [
        ("200 OK", GOOD, "up"),
        (
            "200 OK",
            r#"{"status":"planted"}"#,
            "down, not_serving, it says that it is not available",
        ),
        ("200 OK", "{}", "down, protocol, the answer has no status"),
        (
            "200 OK",
            "planted",
            "down, protocol, the answer is not JSON",
        ),
        ("401 No", "planted", "down, auth, HTTP status 401"),
        ("503 No", "planted", "down, http_status, HTTP status 503"),
    ] {
        search.answers(answer(status, body));
        assert_eq!(run(&check, LONG).await, expected, "{status} {body}");
    }
    assert!(search.asked()[0].starts_with("GET /health HTTP/1.1\r\n"));
}

#[tokio::test]
async fn a_fake_meilisearch_that_comes_back_is_up_for_the_same_check() {
    let _turn = beside_others().await;
    let search = Scripted::plain(answer("200 OK", GOOD)).await;
    let address = search.address;
    let check = check_at(address).await;
    run_until(&check, LONG, "up").await;
    drop(search);
    run_until(&check, LONG, "down, connection_refused, ").await;
    let _again = Scripted::at(address, answer("200 OK", GOOD), None).await;
    run_until(&check, LONG, "up").await;
}

#[tokio::test]
async fn a_thousand_questions_to_a_fake_meilisearch_leave_nothing() {
    let _turn = alone().await;
    let search = Scripted::plain(answer("200 OK", GOOD)).await;
    leaves_nothing(&check_at(search.address).await, "up").await;
}
