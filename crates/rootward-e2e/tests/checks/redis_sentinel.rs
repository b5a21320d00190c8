//! Redis behind a real Sentinel.

use std::net::SocketAddr;
use std::process::Command;

use rootward::{Check, Unlabelled};
use rootward_checks::open::{self, RedisSentinelSettings};
use rootward_e2e::{Error, Private, Run};

use crate::every::{
    LONG, PASSWORD, SHORT, USER, alone, beside_others, leaves_nothing, run, run_until,
    survives_refusal, survives_silence,
};

fn settings(address: SocketAddr, master: &str) -> RedisSentinelSettings {
    RedisSentinelSettings::new([format!("redis://{address}")], master)
}

fn check(settings: RedisSentinelSettings) -> Check<Unlabelled> {
    open::redis_sentinel("cache", settings).expect("settings")
}

async fn check_at(address: SocketAddr) -> Check<Unlabelled> {
    check(RedisSentinelSettings {
        sentinel_user: Some(USER.into()),
        sentinel_password: Some(PASSWORD.into()),
        ..settings(address, "mymaster")
    })
}

async fn start_master(run: &Run) -> Result<Private, Error> {
    let mut server = Private::new(run, "redis", "redis-server")?;
    let port = server.port().to_string();
    let arguments = move |command: &mut Command| {
        command.args(["--bind", "127.0.0.1", "--port", &port, "--save", ""]);
    };
    server.run(arguments).await?;
    Ok(server)
}

/// One sentinel, which watches this master; so many have to agree that it is gone.
async fn start_sentinel(run: &Run, master: &Private, quorum: u16) -> Result<Private, Error> {
    let mut server = Private::new(run, "sentinel", "redis-server")?;
    let (port, master) = (server.port(), master.port());
    let configuration = format!(
        "port {port}\nbind 127.0.0.1\nsentinel monitor mymaster 127.0.0.1 {master} {quorum}\n\
         sentinel down-after-milliseconds mymaster 60000\n"
    );
    server.write("sentinel.conf", &configuration)?;
    server
        .run(|command| {
            command.args(["sentinel.conf", "--sentinel"]);
        })
        .await?;
    Ok(server)
}

fn address(server: &Private) -> SocketAddr {
    SocketAddr::from(([127, 0, 0, 1], server.port()))
}

#[tokio::test]
async fn a_sentinel_that_says_nothing_costs_one_time_limit_and_no_connection() {
    let _turn = beside_others().await;
    survives_silence(check_at).await;
}

#[tokio::test]
async fn a_sentinel_that_is_not_there_is_said_to_refuse() {
    let _turn = beside_others().await;
    survives_refusal(check_at).await;
}

#[tokio::test]
async fn a_master_is_found_through_its_sentinel_and_seen_frozen_killed_and_back()
-> Result<(), Error> {
    let _turn = beside_others().await;
    let run_of_test = Run::from_environment()?;
    let mut master = start_master(&run_of_test).await?;
    let mut sentinel = start_sentinel(&run_of_test, &master, 1).await?;
    let at = address(&sentinel);
    let by_name = check(settings(at, "mymaster"));
    assert_eq!(run(&by_name, LONG).await, "up");
    assert_eq!(
        run(&check(settings(at, "planted")), LONG).await,
        "down, not_found, the sentinels know no master of this name"
    );
    assert_eq!(
        run(&check(settings(address(&master), "mymaster")), LONG).await,
        "down, protocol, the command was refused"
    );
    let wrong = check(RedisSentinelSettings {
        user: Some(USER.into()),
        password: Some(PASSWORD.into()),
        ..settings(at, "mymaster")
    });
    assert_eq!(run(&wrong, LONG).await, "down, auth, credentials refused");
    assert_eq!(
        run(&check_at(at).await, LONG).await,
        "down, auth, credentials refused"
    );

    master.freeze()?;
    let frozen = run(&by_name, SHORT).await;
    assert!(
        frozen == "cut off" || frozen.starts_with("down, timeout, "),
        "{frozen}"
    );
    master.thaw()?;
    run_until(&by_name, LONG, "up").await;
    master.kill().await?;
    run_until(&by_name, LONG, "down, connection_refused, ").await;
    master.start_again().await?;
    run_until(&by_name, LONG, "up").await;
    sentinel.kill().await?;
    run_until(&by_name, LONG, "down, connection_refused, ").await;
    sentinel.start_again().await?;
    run_until(&by_name, LONG, "up").await;
    Ok(())
}

#[tokio::test]
async fn sentinels_that_are_too_few_to_replace_the_master_make_it_degraded() -> Result<(), Error> {
    let _turn = beside_others().await;
    let run_of_test = Run::from_environment()?;
    let master = start_master(&run_of_test).await?;
    let sentinel = start_sentinel(&run_of_test, &master, 2).await?;
    let check = check(settings(address(&sentinel), "mymaster"));
    assert_eq!(
        run(&check, LONG).await,
        "degraded, not_ready, the sentinels are too few to replace the master"
    );
    Ok(())
}

#[tokio::test]
async fn a_thousand_runs_against_a_sentinel_leave_nothing() -> Result<(), Error> {
    let _turn = alone().await;
    let run_of_test = Run::from_environment()?;
    let master = start_master(&run_of_test).await?;
    let sentinel = start_sentinel(&run_of_test, &master, 1).await?;
    leaves_nothing(&check(settings(address(&sentinel), "mymaster")), "up").await;
    Ok(())
}
