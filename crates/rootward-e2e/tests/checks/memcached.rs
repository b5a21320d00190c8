//! memcached, asked for its version.

use std::net::SocketAddr;

use rootward::{Check, Unlabelled};
use rootward_checks::open::{self, MemcachedSettings};
use rootward_e2e::{Error, Private, Run};

use crate::every::{
    LONG, PASSWORD, USER, alone, beside_others, leaves_nothing, run, survives_refusal,
    survives_restart, survives_silence,
};
use crate::script::says;

fn check(url: &str) -> Check<Unlabelled> {
    open::memcached("cache", MemcachedSettings::new(url)).expect("a URL")
}

async fn check_at(address: SocketAddr) -> Check<Unlabelled> {
    check(&format!("memcached://{USER}:{PASSWORD}@{address}"))
}

async fn start(login: Option<&str>) -> Result<Private, Error> {
    let mut server = Private::new(&Run::from_environment()?, "memcached", "memcached")?;
    let port = server.port().to_string();
    if let Some(login) = login {
        server.write("login", login)?;
    }
    let with_login = login.is_some();
    let arguments = move |command: &mut std::process::Command| {
        command.args(["-l", "127.0.0.1", "-p", &port, "-U", "0", "-m", "16"]);
        if with_login {
            command.args(["-Y", "login"]);
        }
    };
    server.run(arguments).await?;
    Ok(server)
}

#[tokio::test]
async fn a_memcached_that_says_nothing_costs_one_time_limit_and_no_connection() {
    let _turn = beside_others().await;
    survives_silence(check_at).await;
    survives_silence(async |address| check(&format!("memcached://{address}"))).await;
}

#[tokio::test]
async fn a_memcached_that_is_not_there_is_said_to_refuse() {
    let _turn = beside_others().await;
    survives_refusal(check_at).await;
}

#[tokio::test]
async fn a_memcached_is_seen_frozen_and_killed_and_comes_back_to_the_same_check()
-> Result<(), Error> {
    let _turn = beside_others().await;
    let mut server = start(None).await?;
    let check = check(&format!("memcached://127.0.0.1:{}", server.port()));
    survives_restart(&check, &mut server).await
}

#[tokio::test]
async fn a_memcached_with_a_login_lets_in_only_who_has_it() -> Result<(), Error> {
    let _turn = beside_others().await;
    let server = start(Some("alice:correct\n")).await?;
    let at = |login: &str| check(&format!("memcached://{login}127.0.0.1:{}", server.port()));
    assert_eq!(run(&at("alice:correct@"), LONG).await, "up");
    assert_eq!(run(&at(""), LONG).await, "down, auth, it wants a login");
    let wrong = at(&format!("{USER}:{PASSWORD}@"));
    assert_eq!(run(&wrong, LONG).await, "down, auth, credentials refused");
    Ok(())
}

#[tokio::test]
async fn a_memcached_without_a_login_never_stores_the_one_of_the_check() -> Result<(), Error> {
    let _turn = beside_others().await;
    let server = start(None).await?;
    let address = SocketAddr::from(([127, 0, 0, 1], server.port()));
    assert_eq!(run(&check_at(address).await, LONG).await, "up");
    let stored = says(address, b"stats\r\n", "END").await;
    assert!(stored.contains("STAT cmd_set 0\r\n"), "{stored}");
    Ok(())
}

#[tokio::test]
async fn a_memcached_without_a_connection_left_says_so() -> Result<(), Error> {
    let _turn = beside_others().await;
    let mut server = Private::new(&Run::from_environment()?, "memcached", "memcached")?;
    let port = server.port();
    let arguments = move |command: &mut std::process::Command| {
        let port = port.to_string();
        command.args([
            "-l",
            "127.0.0.1",
            "-p",
            &port,
            "-U",
            "0",
            "-c",
            "64",
            "-t",
            "1",
        ]);
    };
    server.run(arguments).await?;
    let address = SocketAddr::from(([127, 0, 0, 1], server.port()));
    let mut held = Vec::new();
    for _ in 0..128 {
        held.push(
            tokio::net::TcpStream::connect(address)
                .await
                .expect("it listens"),
        );
    }
    let check = check(&format!("memcached://{address}"));
    crate::every::run_until(
        &check,
        LONG,
        "down, rate_limited, the server has no connection left",
    )
    .await;
    drop(held);
    crate::every::run_until(&check, LONG, "up").await;
    Ok(())
}

#[tokio::test]
async fn what_is_no_memcached_is_said_to_be_none() {
    let _turn = beside_others().await;
    let address = crate::script::answers("HTTP/1.1 400 Bad Request\r\n\r\n").await;
    assert_eq!(
        run(&check(&format!("memcached://{address}")), LONG).await,
        "down, protocol, the answer is no version"
    );
}

#[tokio::test]
async fn a_thousand_runs_against_memcached_leave_nothing() -> Result<(), Error> {
    let _turn = alone().await;
    let server = start(None).await?;
    let check = check(&format!("memcached://127.0.0.1:{}", server.port()));
    leaves_nothing(&check, "up").await;
    Ok(())
}
