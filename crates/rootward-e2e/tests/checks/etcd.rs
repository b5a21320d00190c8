//! etcd, asked for the health of a member.

use std::net::SocketAddr;

use rootward::{Check, Unlabelled};
use rootward_checks::open::{self, EtcdSettings};
use rootward_e2e::{Error, Private, Run, free_port};

use crate::every::{
    LONG, alone, beside_others, leaves_nothing, run, run_until, survives_refusal, survives_restart,
    survives_silence,
};
use crate::script::answers;

fn check(url: &str) -> Check<Unlabelled> {
    open::etcd("etcd", EtcdSettings::new(url)).expect("a URL")
}

async fn check_at(address: SocketAddr) -> Check<Unlabelled> {
    check(&format!("http://{address}"))
}

fn url(port: u16) -> String {
    format!("http://127.0.0.1:{port}")
}

/// One member of a cluster whose members talk to each other on these ports. The first listens already for clients when
/// it waits for the others.
async fn start(member: usize, peers: &[u16]) -> Result<Private, Error> {
    let mut server = Private::new(&Run::from_environment()?, "etcd", "etcd")?;
    let name = |index: usize| format!("member-{index}");
    let cluster: Vec<String> = peers
        .iter()
        .enumerate()
        .map(|(index, port)| format!("{}={}", name(index), url(*port)))
        .collect();
    let (cluster, name) = (cluster.join(","), name(member));
    let (client, peer) = (url(server.port()), url(peers[member]));
    server
        .run(move |command| {
            command.args([
                "--name",
                &name,
                "--data-dir",
                "data",
                "--log-level",
                "error",
            ]);
            command.args([
                "--listen-client-urls",
                &client,
                "--advertise-client-urls",
                &client,
            ]);
            command.args([
                "--listen-peer-urls",
                &peer,
                "--initial-advertise-peer-urls",
                &peer,
            ]);
            command.args(["--initial-cluster", &cluster, "--unsafe-no-fsync"]);
        })
        .await?;
    Ok(server)
}

async fn start_alone() -> Result<Private, Error> {
    start(0, &[free_port()?]).await
}

#[tokio::test]
async fn an_etcd_that_says_nothing_costs_one_time_limit_and_no_connection() {
    let _turn = beside_others().await;
    survives_silence(check_at).await;
}

#[tokio::test]
async fn an_etcd_that_is_not_there_is_said_to_refuse() {
    let _turn = beside_others().await;
    survives_refusal(check_at).await;
}

#[tokio::test]
async fn an_etcd_is_seen_frozen_and_killed_and_comes_back_to_the_same_check() -> Result<(), Error> {
    let _turn = beside_others().await;
    let mut server = start_alone().await?;
    survives_restart(&check(&url(server.port())), &mut server).await
}

#[tokio::test]
async fn a_member_of_etcd_without_a_leader_is_not_ready() -> Result<(), Error> {
    let _turn = beside_others().await;
    let peers = [free_port()?, free_port()?];
    let (first, second) = tokio::join!(start(0, &peers), start(1, &peers));
    let (first, mut second) = (first?, second?);
    let check = check(&url(first.port()));
    run_until(&check, LONG, "up").await;
    second.kill().await?;
    run_until(
        &check,
        LONG,
        "down, not_ready, it says that it is not healthy",
    )
    .await;
    second.start_again().await?;
    run_until(&check, LONG, "up").await;
    Ok(())
}

#[tokio::test]
async fn what_a_fake_etcd_answers_has_its_category() {
    let _turn = beside_others().await;
    let http = |status: &str, body: &str| {
        format!(
            "HTTP/1.1 {status}\r\ncontent-length: {}\r\n\r\n{body}",
            body.len()
        )
    };
    let cases = [
        (
            http(
                "503 Service Unavailable",
                r#"{"health":"false","reason":"ALARM NOSPACE"}"#,
            ),
            "down, resource_exhausted, its space is used up, and nothing can be written",
        ),
        (
            http("200 OK", "<html>"),
            "down, protocol, the answer is not that of etcd",
        ),
        (
            http("404 Not Found", ""),
            "down, http_status, HTTP status 404",
        ),
        (http("302 Found", ""), "down, redirect, "),
    ];
    for (answer, words) in cases {
        let fake = answers(answer).await;
        let said = run(&check_at(fake).await, LONG).await;
        assert!(said.starts_with(words), "{said}");
    }
}

#[tokio::test]
async fn a_thousand_runs_against_etcd_leave_nothing() -> Result<(), Error> {
    let _turn = alone().await;
    let server = start_alone().await?;
    let check = check(&url(server.port()));
    run_until(&check, LONG, "up").await;
    leaves_nothing(&check, "up").await;
    Ok(())
}
