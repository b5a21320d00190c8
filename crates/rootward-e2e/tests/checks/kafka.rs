//! Kafka's protocol, against the mock brokers of librdkafka (no broker of Kafka can be had here), and fakes for what
//! those do not speak: versions of today, and logins.

use std::net::{Ipv4Addr, SocketAddr};
use std::process::Command;

use rootward::{Check, Unlabelled};
use rootward_checks::open::{self, KafkaSettings};
use rootward_e2e::{Error, Process, Run, free_port, until};
use tokio::io::{AsyncReadExt, AsyncWriteExt, copy_bidirectional};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::{AbortHandle, JoinSet};

use crate::every::{
    LONG, PASSWORD, SHORT, USER, alone, beside_others, leaves_nothing, run, run_until,
    survives_refusal, survives_silence,
};
use crate::script::answers;

fn check(brokers: &str, topics: &[&str]) -> Check<Unlabelled> {
    let topics = topics.iter().map(ToString::to_string).collect();
    let settings = KafkaSettings {
        topics,
        ..KafkaSettings::new(brokers)
    };
    open::kafka("log", settings).expect("settings")
}

fn with_login(address: SocketAddr) -> Check<Unlabelled> {
    let settings = KafkaSettings {
        user: Some(USER.into()),
        password: Some(PASSWORD.into()),
        password_in_clear: true,
        ..KafkaSettings::new(address.to_string())
    };
    open::kafka("log", settings).expect("settings")
}

async fn check_at(address: SocketAddr) -> Check<Unlabelled> {
    with_login(address)
}

/// Two mock brokers, which have the topic `orders` with four partitions.
async fn start() -> Result<(Process, Vec<SocketAddr>), Error> {
    let run = Run::from_environment()?;
    let mut command = Command::new(run.tool("kcat")?);
    command.args(["-C", "-q", "-b", "mock:1", "-t", "orders", "-d", "mock"]);
    command.args(["-X", "test.mock.num.brokers=2"]);
    let process = Process::spawn(&run, "kcat", command)?;
    let listed = async || {
        let log = process.log();
        let (_, rest) = log.split_once("bootstrap.servers=")?;
        log.contains("Created topic \"orders\"").then_some(())?;
        let line = rest.lines().next()?;
        let brokers: Result<Vec<SocketAddr>, _> = line.split(',').map(str::parse).collect();
        brokers.ok().filter(|brokers| brokers.len() == 2)
    };
    let brokers = until("mock brokers", LONG, listed, Option::is_some).await?;
    Ok((process, brokers.unwrap_or_default()))
}

/// A way with a port of its own to a server that has another one whenever it is started. Dropped, it refuses.
struct Way(AbortHandle);

impl Way {
    async fn open(port: u16, to: SocketAddr) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port))
            .await
            .expect("the port is free");
        let task = tokio::spawn(async move {
            let mut ways = JoinSet::new();
            while let Ok((mut near, _)) = listener.accept().await {
                ways.spawn(async move {
                    if let Ok(mut far) = TcpStream::connect(to).await {
                        let _ = copy_bidirectional(&mut near, &mut far).await;
                    }
                });
            }
        });
        Self(task.abort_handle())
    }
}

impl Drop for Way {
    fn drop(&mut self) {
        self.0.abort();
    }
}

#[tokio::test]
async fn a_kafka_that_says_nothing_costs_one_time_limit_and_no_connection() {
    let _turn = beside_others().await;
    survives_silence(check_at).await;
}

#[tokio::test]
async fn a_kafka_that_is_not_there_is_said_to_refuse() {
    let _turn = beside_others().await;
    survives_refusal(check_at).await;
}

#[tokio::test]
async fn mock_brokers_of_librdkafka_are_asked_for_topics_and_leaders() -> Result<(), Error> {
    let _turn = beside_others().await;
    let (process, brokers) = start().await?;
    let both = format!("{},{}", brokers[0], brokers[1]);
    assert_eq!(run(&check(&both, &[]), LONG).await, "up");
    assert_eq!(run(&check(&both, &["orders"]), LONG).await, "up");
    assert_eq!(
        run(&check(&both, &["orders", "bills"]), LONG).await,
        "down, not_found, topics that are not there: 1"
    );
    let log = process.log();
    assert!(
        !log.contains("Created topic \"bills\""),
        "a topic was created by being asked for: {log}"
    );
    Ok(())
}

#[tokio::test]
async fn a_mock_broker_of_librdkafka_is_seen_frozen_and_killed_and_comes_back_to_the_same_check()
-> Result<(), Error> {
    let _turn = beside_others().await;
    let port = free_port()?;
    let (process, brokers) = start().await?;
    let way = Way::open(port, brokers[0]).await;
    let check = check(&format!("127.0.0.1:{port}"), &["orders"]);
    run_until(&check, LONG, "up").await;
    process.freeze()?;
    let frozen = run(&check, SHORT).await;
    assert!(
        frozen == "cut off" || frozen.starts_with("down, timeout, "),
        "{frozen}"
    );
    process.thaw()?;
    run_until(&check, LONG, "up").await;
    process.kill().await?;
    drop(way);
    run_until(&check, LONG, "down, connection_refused, ").await;
    let (_process, brokers) = start().await?;
    let _way = Way::open(port, brokers[0]).await;
    run_until(&check, LONG, "up").await;
    Ok(())
}

#[tokio::test]
async fn a_broker_that_is_not_there_or_says_nothing_leaves_time_for_the_next() -> Result<(), Error>
{
    let _turn = beside_others().await;
    let (_process, brokers) = start().await?;
    let silent = answers("").await;
    let gone = free_port()?;
    let all = format!("127.0.0.1:{gone},{silent},{}", brokers[1]);
    assert_eq!(run(&check(&all, &["orders"]), LONG).await, "up");
    Ok(())
}

#[tokio::test]
async fn what_is_no_kafka_is_said_to_be_none() {
    let _turn = beside_others().await;
    let fake = answers("HTTP/1.1 400 Bad Request\r\n\r\n").await;
    assert_eq!(
        run(&check(&fake.to_string(), &[]), LONG).await,
        "down, protocol, the answer is no Kafka of 0.10 or later"
    );
}

#[tokio::test]
async fn a_thousand_runs_against_mock_brokers_of_librdkafka_leave_nothing() -> Result<(), Error> {
    let _turn = alone().await;
    let (_process, brokers) = start().await?;
    leaves_nothing(&check(&brokers[0].to_string(), &["orders"]), "up").await;
    Ok(())
}

/// A fake broker of today: it knows metadata up to version 12 and, where a password is given, wants it.
async fn fake(password: Option<&'static str>, leader: i32) -> SocketAddr {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))
        .await
        .expect("a port");
    let address = listener.local_addr().expect("its address");
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            tokio::spawn(converse(stream, password, leader));
        }
    });
    address
}

async fn converse(mut stream: TcpStream, password: Option<&str>, leader: i32) -> Option<()> {
    let mut let_in = password.is_none();
    loop {
        let length = stream.read_u32().await.ok()?;
        let mut request = vec![0; usize::try_from(length).ok()?];
        stream.read_exact(&mut request).await.ok()?;
        let (key, version) = (request[1], request[3]);
        let body = match (key, version) {
            (18, 0) => [&[0, 0, 0, 0, 0, 1][..], &[0, 3, 0, 0, 0, 12]].concat(),
            (17, 1) => [&[0, 0, 0, 0, 0, 1][..], &[0, 5], b"PLAIN"].concat(),
            (36, 0) => {
                let right = format!("\0{USER}\0{}", password.unwrap_or_default());
                let_in = request.ends_with(right.as_bytes());
                let error = if let_in { 0 } else { 58 };
                // Its text says who it was.
                let text = format!("{USER} is refused");
                let length = u8::try_from(text.len()).ok()?;
                [&[0, error, 0, length][..], text.as_bytes(), &[0; 4]].concat()
            }
            // Version 4 ends with the promise to create nothing; it asks for one topic.
            (3, 4) if let_in && request.ends_with(b"\0\0\0\x01\0\x06orders\0") => metadata(leader),
            _ => return None,
        };
        let answer = [&request[4..8], &body].concat();
        stream
            .write_u32(u32::try_from(answer.len()).ok()?)
            .await
            .ok()?;
        stream.write_all(&answer).await.ok()?;
    }
}

/// One broker, with one topic of one partition.
fn metadata(leader: i32) -> Vec<u8> {
    let number = |number: i32| number.to_be_bytes().to_vec();
    let text = |text: &str| {
        [
            &[0, u8::try_from(text.len()).expect("short")],
            text.as_bytes(),
        ]
        .concat()
    };
    let none = vec![0xFF, 0xFF];
    [
        number(0),
        number(1),
        number(1),
        text("fake"),
        number(9092),
        none,
        text("cluster"),
        number(1),
        number(1),
        vec![0, 0],
        text("orders"),
        vec![0],
        number(1),
        vec![0, 0],
        number(0),
        number(leader),
        number(1),
        number(1),
        number(1),
        number(1),
    ]
    .concat()
}

#[tokio::test]
async fn a_fake_broker_of_today_is_asked_for_topics_that_it_must_not_create() {
    let _turn = beside_others().await;
    let with_leader = fake(None, 1).await.to_string();
    assert_eq!(run(&check(&with_leader, &["orders"]), LONG).await, "up");
    let without = fake(None, -1).await.to_string();
    assert_eq!(
        run(&check(&without, &["orders"]), LONG).await,
        "down, not_ready, partitions without a leader: 1"
    );
}

#[tokio::test]
async fn a_wrong_password_for_a_fake_broker_is_said_without_it() {
    let _turn = beside_others().await;
    let login = |address: SocketAddr| {
        let settings = KafkaSettings {
            topics: vec!["orders".into()],
            user: Some(USER.into()),
            password: Some(PASSWORD.into()),
            password_in_clear: true,
            ..KafkaSettings::new(address.to_string())
        };
        open::kafka("log", settings).expect("settings")
    };
    let right = fake(Some(PASSWORD), 1).await;
    assert_eq!(run(&login(right), LONG).await, "up");
    let wrong = fake(Some("another"), 1).await;
    assert_eq!(
        run(&login(wrong), LONG).await,
        "down, auth, credentials refused"
    );
}
