//! Redis, over the connection that the application uses.

use std::net::SocketAddr;

use redis::Client;
use rootward::{Check, Unlabelled};
use rootward_e2e::{Error, Private, Run};

use crate::every::{
    LONG, PASSWORD, USER, alone, beside_others, leaves_nothing, run, survives_refusal,
    survives_restart, survives_silence,
};

fn check(url: &str) -> Check<Unlabelled> {
    rootward_checks::redis("cache", Client::open(url).expect("a URL"))
}

async fn check_at(address: SocketAddr) -> Check<Unlabelled> {
    check(&format!("redis://{USER}:{PASSWORD}@{address}/"))
}

async fn start(run: &Run) -> Result<Private, Error> {
    let mut server = Private::new(run, "redis", "redis-server")?;
    let port = server.port().to_string();
    let arguments = move |command: &mut std::process::Command| {
        command.args(["--bind", "127.0.0.1", "--port", &port, "--save", ""]);
    };
    server.run(arguments).await?;
    Ok(server)
}

#[tokio::test]
async fn a_redis_that_says_nothing_costs_one_time_limit_and_no_connection() {
    let _turn = beside_others().await;
    survives_silence(check_at).await;
}

#[tokio::test]
async fn a_redis_that_is_not_there_is_said_to_refuse() {
    let _turn = beside_others().await;
    survives_refusal(check_at).await;
}

#[tokio::test]
async fn a_redis_is_seen_frozen_and_killed_and_comes_back_to_the_same_check() -> Result<(), Error> {
    let _turn = beside_others().await;
    let mut server = start(&Run::from_environment()?).await?;
    let check = check(&format!("redis://127.0.0.1:{}/", server.port()));
    survives_restart(&check, &mut server).await
}

#[tokio::test]
async fn a_wrong_password_of_redis_is_said_without_it() -> Result<(), Error> {
    let _turn = beside_others().await;
    let url = Run::from_environment()?.redis_url().to_owned();
    let url = url.replacen("redis://", &format!("redis://{USER}:{PASSWORD}@"), 1);
    let seen = run(&check(&url), LONG).await;
    assert_eq!(seen, "down, auth, credentials refused");
    Ok(())
}

#[tokio::test]
async fn a_thousand_runs_against_redis_leave_nothing() -> Result<(), Error> {
    let _turn = alone().await;
    leaves_nothing(&check(Run::from_environment()?.redis_url()), "up").await;
    Ok(())
}
