//! TCP: what a connection says, and what it does not.

use std::net::SocketAddr;
use std::time::Duration;

use rootward::{Check, Unlabelled};
use rootward_checks::tcp;
use rootward_e2e::{Error, Private, Run};
use tokio::net::{TcpSocket, TcpStream};
use tokio::time::timeout;

use crate::every::{
    LONG, SHORT, alone, beside_others, leaves_nothing, run, run_until, survives_refusal,
};

async fn check_at(address: SocketAddr) -> Check<Unlabelled> {
    tcp("port", &address.ip().to_string(), address.port()).expect("settings")
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
async fn a_port_that_does_not_even_accept_is_cut_off() {
    let _turn = beside_others().await;
    // A listener whose queue is full drops what comes.
    let socket = TcpSocket::new_v4().expect("descriptors are left");
    socket
        .bind(SocketAddr::from(([127, 0, 0, 1], 0)))
        .expect("a port");
    let listener = socket.listen(1).expect("it is bound");
    let address = listener.local_addr().expect("its address");
    let mut queue = Vec::new();
    while let Ok(stream) = timeout(SHORT, TcpStream::connect(address)).await {
        queue.push(stream.expect("somebody listens"));
        assert!(queue.len() < 100, "a queue of one is full sooner");
    }
    let check = check_at(address).await;
    let seen = run(&check, SHORT).await;
    assert!(
        seen == "down, timeout, timed out after 300 ms while connecting" || seen == "cut off",
        "{seen}"
    );
}

#[tokio::test]
async fn a_port_that_is_not_open_is_said_to_refuse() {
    let _turn = beside_others().await;
    survives_refusal(check_at).await;
}

/// The reason why the depth is `connect`: the kernel accepts for a process that is frozen.
#[tokio::test]
async fn a_port_is_up_even_of_a_frozen_server_and_refuses_when_it_is_killed() -> Result<(), Error> {
    let _turn = beside_others().await;
    let mut server = start(&Run::from_environment()?).await?;
    let check = tcp("port", "127.0.0.1", server.port()).expect("settings");
    run_until(&check, LONG, "up").await;
    server.freeze()?;
    assert_eq!(run(&check, LONG).await, "up");
    server.thaw()?;
    server.kill().await?;
    run_until(&check, LONG, "down, connection_refused, ").await;
    server.start_again().await?;
    run_until(&check, LONG, "up").await;
    Ok(())
}

#[tokio::test]
async fn a_thousand_connections_leave_nothing() -> Result<(), Error> {
    let _turn = alone().await;
    let server = start(&Run::from_environment()?).await?;
    let check = tcp("port", "127.0.0.1", server.port()).expect("settings");
    leaves_nothing(&check, "up").await;
    Ok(())
}

#[tokio::test]
async fn a_name_that_does_not_resolve_is_said_to() {
    let _turn = beside_others().await;
    // Longer than a label may be, so that no resolver sends it anywhere.
    let name = format!("{}.invalid", "a".repeat(64));
    let check = tcp("port", &name, 80).expect("settings");
    assert_eq!(
        run(&check, Duration::from_secs(60)).await,
        "down, dns, name does not resolve"
    );
}

#[test]
fn a_host_that_cannot_be_gets_a_sentence_without_it() {
    for (host, port) in [
        ("planted:80", 80),
        ("planted/", 80),
        ("user@planted", 80),
        ("", 80),
        ("planted", 0),
    ] {
        let error = tcp("port", host, port).err().map(|error| error.to_string());
        let sentence = error.unwrap_or_else(|| panic!("{host}:{port} was taken"));
        assert!(!sentence.contains("planted"), "{sentence}");
    }
    assert!(tcp("port", "::1", 80).is_ok());
}
