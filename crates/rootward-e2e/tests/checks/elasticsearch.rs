//! Elasticsearch and OpenSearch: fakes, with answers as the documentation of both shows them
//! (<https://www.elastic.co/docs/api/doc/elasticsearch/operation/operation-cluster-health>).

use std::net::SocketAddr;

use rootward::{Check, Unlabelled};
use rootward_checks::open::{self, ElasticsearchSettings, HttpSettings, Yellow};

use crate::every::{
    LONG, PASSWORD, USER, alone, beside_others, leaves_nothing, run, run_until, survives_refusal,
    survives_silence,
};
use crate::scripted::{Scripted, answer};

fn check(url: &str, yellow: Yellow) -> Check<Unlabelled> {
    let http = HttpSettings {
        user: Some(USER.into()),
        password: Some(PASSWORD.into()),
        ..HttpSettings::new(url)
    };
    let settings = ElasticsearchSettings {
        yellow,
        ..ElasticsearchSettings::new(http)
    };
    open::elasticsearch("search", settings).expect("settings")
}

async fn check_at(address: SocketAddr) -> Check<Unlabelled> {
    check(&format!("http://{address}"), Yellow::Degraded)
}

fn health(status: &str, unassigned: u32) -> String {
    format!(
        r#"{{"cluster_name":"planted","status":"{status}","timed_out":false,"number_of_nodes":1,"number_of_data_nodes":1,"active_primary_shards":1,"active_shards":1,"relocating_shards":0,"initializing_shards":0,"unassigned_shards":{unassigned},"delayed_unassigned_shards":0,"number_of_pending_tasks":0,"number_of_in_flight_fetch":0,"task_max_waiting_in_queue_millis":0,"active_shards_percent_as_number":50.0}}"#
    )
}

#[tokio::test]
async fn an_elasticsearch_that_says_nothing_costs_one_time_limit_and_no_connection() {
    let _turn = beside_others().await;
    survives_silence(check_at).await;
}

#[tokio::test]
async fn an_elasticsearch_that_is_not_there_is_said_to_refuse() {
    let _turn = beside_others().await;
    survives_refusal(check_at).await;
}

#[tokio::test]
async fn a_fake_elasticsearch_has_its_colours() {
    let _turn = beside_others().await;
    let cluster = Scripted::plain("").await;
    let url = format!("http://{}/prefix/", cluster.address);
    let (strict, single) = (check(&url, Yellow::Degraded), check(&url, Yellow::Up));
    for (status, body, expected) in [
        ("200 OK", health("green", 0), "up"),
        (
            "200 OK",
            health("yellow", 3),
            "degraded, not_serving, the cluster is yellow: copies of data have no place in 3 shards",
        ),
        (
            "200 OK",
            health("red", 5),
            "down, not_serving, the cluster is red: data has no place in 5 shards",
        ),
        ("200 OK", health("blue", 5), "down, protocol, the answer has no known status"),
        ("200 OK", "planted".to_owned(), "down, protocol, the answer is not JSON"),
        (
            "503 Service Unavailable",
            r#"{"error":{"root_cause":[{"type":"master_not_discovered_exception","reason":null}],"type":"master_not_discovered_exception","reason":null},"status":503}"#.to_owned(),
            "down, not_ready, the cluster has no elected master",
        ),
        ("401 Unauthorized", "planted".to_owned(), "down, auth, HTTP status 401"),
        ("404 Not Found", String::new(), "down, not_found, HTTP status 404"),
        ("500 Oh", String::new(), "down, http_status, HTTP status 500"),
    ] {
        cluster.answers(answer(status, &body));
        assert_eq!(run(&strict, LONG).await, expected);
        let is_yellow = body.contains("yellow");
        assert_eq!(run(&single, LONG).await == "up", is_yellow || expected == "up");
    }
    for text in cluster.asked() {
        // The limits are the check's own: LONG.
        let question = "/prefix/_cluster/health?timeout=20000ms&master_timeout=20000ms";
        assert!(
            text.starts_with(&format!("GET {question} HTTP/1.1\r\n")),
            "{text}"
        );
        assert!(text.contains("\r\nauthorization: Basic "), "{text}");
    }
}

#[tokio::test]
async fn a_fake_elasticsearch_that_comes_back_is_up_for_the_same_check() {
    let _turn = beside_others().await;
    let cluster = Scripted::plain(answer("200 OK", &health("green", 0))).await;
    let address = cluster.address;
    let check = check_at(address).await;
    run_until(&check, LONG, "up").await;
    drop(cluster);
    run_until(&check, LONG, "down, connection_refused, ").await;
    let _again = Scripted::at(address, answer("200 OK", &health("green", 0)), None).await;
    run_until(&check, LONG, "up").await;
}

#[tokio::test]
async fn a_thousand_questions_to_a_fake_elasticsearch_leave_nothing() {
    let _turn = alone().await;
    let cluster = Scripted::plain("").await;
    cluster.answers(answer("200 OK", &health("green", 0)));
    let url = format!("http://{}", cluster.address);
    leaves_nothing(&check(&url, Yellow::Degraded), "up").await;
}
