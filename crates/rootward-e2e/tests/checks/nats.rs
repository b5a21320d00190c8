//! NATS, on a connection of the check's own and on the client that the application uses.

use std::net::SocketAddr;
use std::time::Duration;

use async_nats::ConnectOptions;
use rootward::{Check, Unlabelled};
use rootward_checks::open::{self, NatsSettings};
use rootward_e2e::{Error, Private, Run};

use crate::every::{
    LONG, PASSWORD, SHORT, USER, alone, beside_others, leaves_nothing, run, run_until,
    survives_refusal, survives_restart, survives_silence,
};
use crate::script::answers;

fn check(url: &str) -> Check<Unlabelled> {
    open::nats("queue", NatsSettings::new(url)).expect("a URL")
}

async fn check_at(address: SocketAddr) -> Check<Unlabelled> {
    check(&format!("nats://{USER}:{PASSWORD}@{address}"))
}

/// With these lines in its configuration.
async fn start(lines: &str) -> Result<Private, Error> {
    let mut server = Private::new(&Run::from_environment()?, "nats", "nats-server")?;
    let listen = format!("listen: 127.0.0.1:{}\n{lines}\n", server.port());
    server.write("nats.conf", &listen)?;
    server
        .run(|command| {
            command.args(["-c", "nats.conf"]);
        })
        .await?;
    Ok(server)
}

fn url(server: &Private, login: &str) -> String {
    format!("nats://{login}127.0.0.1:{}", server.port())
}

/// The client of an application, connected.
async fn client(server: &Private) -> async_nats::Client {
    ConnectOptions::new()
        .reconnect_delay_callback(|_| Duration::from_millis(20))
        .connect(url(server, ""))
        .await
        .expect("it listens")
}

#[tokio::test]
async fn a_nats_that_says_nothing_costs_one_time_limit_and_no_connection() {
    let _turn = beside_others().await;
    survives_silence(check_at).await;
}

#[tokio::test]
async fn a_nats_that_is_not_there_is_said_to_refuse() {
    let _turn = beside_others().await;
    survives_refusal(check_at).await;
}

#[tokio::test]
async fn a_nats_is_seen_frozen_and_killed_and_comes_back_to_the_same_check() -> Result<(), Error> {
    let _turn = beside_others().await;
    let mut server = start("").await?;
    survives_restart(&check(&url(&server, "")), &mut server).await
}

#[tokio::test]
async fn a_wrong_password_or_token_of_nats_is_said_without_it() -> Result<(), Error> {
    let _turn = beside_others().await;
    let server = start("authorization { user: alice, password: correct }").await?;
    let right = check(&url(&server, "alice:correct@"));
    assert_eq!(run(&right, LONG).await, "up");
    let wrong = [format!("{USER}:{PASSWORD}@"), String::new()];
    for login in wrong {
        assert_eq!(
            run(&check(&url(&server, &login)), LONG).await,
            "down, auth, credentials refused"
        );
    }
    let server = start("authorization { token: correct }").await?;
    let with_token = |token: &str| {
        let settings = NatsSettings {
            token: Some(token.into()),
            ..NatsSettings::new(url(&server, ""))
        };
        open::nats("queue", settings).expect("settings")
    };
    assert_eq!(run(&with_token("correct"), LONG).await, "up");
    assert_eq!(
        run(&with_token(PASSWORD), LONG).await,
        "down, auth, credentials refused"
    );
    Ok(())
}

#[tokio::test]
async fn a_nats_without_a_connection_left_says_so() -> Result<(), Error> {
    let _turn = beside_others().await;
    let server = start("max_connections: 1").await?;
    let holder = check(&url(&server, ""));
    assert_eq!(run(&holder, LONG).await, "up");
    let check = check(&url(&server, ""));
    assert_eq!(
        run(&check, LONG).await,
        "down, rate_limited, the server has no connection left"
    );
    drop(holder);
    run_until(&check, LONG, "up").await;
    Ok(())
}

#[tokio::test]
async fn a_nats_that_lets_its_clients_go_is_degraded_before_it_is_gone() -> Result<(), Error> {
    let _turn = beside_others().await;
    let mut server =
        start("pid_file: nats.pid\nlame_duck_duration: 40s\nlame_duck_grace_period: 10s").await?;
    let check = check(&url(&server, ""));
    assert_eq!(run(&check, LONG).await, "up");
    server
        .prepare("nats-server", |command| {
            command.args(["--signal", "ldm=nats.pid"]);
        })
        .await?;
    run_until(
        &check,
        LONG,
        "degraded, shutting_down, the server lets its clients go",
    )
    .await;
    server.kill().await?;
    run_until(&check, LONG, "down, connection_refused, ").await;
    Ok(())
}

#[tokio::test]
async fn a_nats_that_wants_tls_is_said_to_want_it() {
    let _turn = beside_others().await;
    let fake = answers("INFO {\"server_id\":\"fake\",\"tls_required\":true}\r\n").await;
    assert_eq!(
        run(&check(&format!("nats://{fake}")), LONG).await,
        "down, tls, the server wants TLS"
    );
}

#[tokio::test]
async fn what_is_no_nats_is_said_to_be_none() {
    let _turn = beside_others().await;
    let fake = answers("220 mail.example ESMTP\r\n").await;
    assert_eq!(
        run(&check(&format!("nats://{fake}")), LONG).await,
        "down, protocol, the answer is no NATS"
    );
}

#[tokio::test]
async fn a_thousand_runs_against_nats_leave_nothing() -> Result<(), Error> {
    let _turn = alone().await;
    let server = start("").await?;
    leaves_nothing(&check(&url(&server, "")), "up").await;
    Ok(())
}

#[tokio::test]
async fn a_client_that_reconnects_is_said_to_at_once_and_not_after_its_buffer() -> Result<(), Error>
{
    let _turn = beside_others().await;
    let mut server = start("").await?;
    let check = rootward_checks::nats("queue", client(&server).await);
    run_until(&check, LONG, "up").await;
    server.kill().await?;
    let said = run_until(&check, SHORT, "down").await;
    assert_eq!(
        said,
        "down, connection_reset, the client has lost its connection"
    );
    server.start_again().await?;
    run_until(&check, LONG, "up").await;
    Ok(())
}

#[tokio::test]
async fn a_frozen_nats_is_seen_through_a_client_whose_flush_would_succeed() -> Result<(), Error> {
    let _turn = beside_others().await;
    let server = start("").await?;
    let client = client(&server).await;
    let check = rootward_checks::nats("queue", client.clone());
    run_until(&check, LONG, "up").await;
    server.freeze()?;
    let flushed = tokio::time::timeout(LONG, client.flush()).await;
    assert!(flushed.is_ok_and(|flushed| flushed.is_ok()));
    assert_eq!(run(&check, SHORT).await, "cut off");
    server.thaw()?;
    run_until(&check, LONG, "up").await;
    Ok(())
}

#[tokio::test]
async fn a_client_that_was_never_connected_is_not_ready() {
    let _turn = beside_others().await;
    let nobody = rootward_e2e::free_port().expect("a port");
    let client = ConnectOptions::new()
        .retry_on_initial_connect()
        .connect(format!("nats://127.0.0.1:{nobody}"))
        .await
        .expect("it tries in the background");
    assert_eq!(
        run(&rootward_checks::nats("queue", client), LONG).await,
        "down, not_ready, the client has no connection yet"
    );
}

#[tokio::test]
async fn a_client_that_was_closed_here_is_said_to_be_closed() -> Result<(), Error> {
    let _turn = beside_others().await;
    let server = start("").await?;
    let client = client(&server).await;
    client.drain().await.expect("it is open");
    let check = rootward_checks::nats("queue", client);
    run_until(
        &check,
        LONG,
        "down, shutting_down, the client is closed here",
    )
    .await;
    Ok(())
}

#[tokio::test]
async fn a_thousand_runs_on_a_client_of_nats_leave_nothing() -> Result<(), Error> {
    let _turn = alone().await;
    let server = start("").await?;
    let check = rootward_checks::nats("queue", client(&server).await);
    leaves_nothing(&check, "up").await;
    Ok(())
}
