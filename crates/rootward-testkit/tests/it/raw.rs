//! Bytes that no well-behaved client sends, and what is left standing after them.

use std::net::SocketAddr;

use deadpool_postgres::RecyclingMethod;
use rootward_testkit::postgres::StandInPostgres;
use rootward_testkit::redis::StandInRedis;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::{pool, within};

const STARTUP: &[u8] = b"\0\0\0\x11\0\x03\0\0user\0me\0\0";

/// Sends bytes, closes the sending side, and returns everything that comes back. A server may reset
/// a client that sent more than was read, so an error ends the answer and is not one.
async fn say(addr: SocketAddr, bytes: &[u8]) -> Vec<u8> {
    let mut stream = within(TcpStream::connect(addr)).await.unwrap();
    let mut answer = Vec::new();
    if within(stream.write_all(bytes)).await.is_ok() {
        let _ = stream.shutdown().await;
        let _ = within(stream.read_to_end(&mut answer)).await;
    }
    answer
}

fn contains(answer: &[u8], text: &str) -> bool {
    answer
        .windows(text.len())
        .any(|window| window == text.as_bytes())
}

/// A repeatable stream of bytes without a pattern.
fn noise(seed: u32, length: usize) -> Vec<u8> {
    let mut state = seed;
    let next = || {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        state.to_le_bytes()[0]
    };
    std::iter::repeat_with(next).take(length).collect()
}

#[tokio::test]
async fn a_request_for_encryption_is_answered_no_and_start_up_goes_on() {
    let database = StandInPostgres::start(0).unwrap();
    let mut bytes = b"\0\0\0\x08\x04\xd2\x16\x2f".to_vec();
    bytes.extend_from_slice(STARTUP);
    bytes.extend_from_slice(b"X\0\0\0\x04");
    let answer = say(database.addr(), &bytes).await;
    assert_eq!(&answer[..10], b"NR\0\0\0\x08\0\0\0\0");
    assert_eq!(&answer[answer.len() - 6..], b"Z\0\0\0\x05I");
}

#[tokio::test]
async fn an_answer_of_the_extended_protocol_is_kept_back_until_it_is_flushed() {
    let database = StandInPostgres::start(0).unwrap();
    let mut bytes = STARTUP.to_vec();
    bytes.extend_from_slice(b"P\0\0\0\x10\0SELECT 1\0\0\0");
    let unflushed = say(database.addr(), &bytes).await;
    assert_eq!(&unflushed[unflushed.len() - 6..], b"Z\0\0\0\x05I");
    bytes.extend_from_slice(b"H\0\0\0\x04");
    let flushed = say(database.addr(), &bytes).await;
    assert_eq!(&flushed[flushed.len() - 5..], b"1\0\0\0\x04");
}

#[tokio::test]
async fn after_an_error_in_the_extended_protocol_the_rest_is_skipped_until_sync() {
    let database = StandInPostgres::start(0).unwrap();
    let mut bytes = STARTUP.to_vec();
    bytes.extend_from_slice(b"P\0\0\0\x10\0SELECT 2\0\0\0");
    bytes.extend_from_slice(b"P\0\0\0\x10\0SELECT 1\0\0\0");
    bytes.extend_from_slice(b"B\0\0\0\x0c\0\0\0\0\0\0\0\0");
    bytes.extend_from_slice(b"E\0\0\0\x09\0\0\0\0\0");
    bytes.extend_from_slice(b"S\0\0\0\x04");
    let answer = say(database.addr(), &bytes).await;
    let after_error = b"the empty statement\0\0Z\0\0\0\x05I";
    assert!(answer.ends_with(after_error), "{}", answer.escape_ascii());
}

#[tokio::test]
async fn a_message_of_absurd_length_ends_the_connection_with_a_reason() {
    let database = StandInPostgres::start(0).unwrap();
    let mut bytes = STARTUP.to_vec();
    bytes.extend_from_slice(b"Q\x7f\xff\xff\xff");
    let answer = say(database.addr(), &bytes).await;
    assert!(contains(
        &answer,
        "SFATAL\0VFATAL\0C08P01\0Minvalid message length\0"
    ));
}

#[tokio::test]
async fn a_client_of_another_protocol_version_is_told_so() {
    let database = StandInPostgres::start(0).unwrap();
    let answer = say(database.addr(), b"\0\0\0\x08\0\x02\0\0").await;
    assert!(contains(
        &answer,
        "unsupported protocol 2.0: this stand-in speaks 3.0"
    ));
}

#[tokio::test]
async fn garbage_kills_neither_the_database_nor_its_other_clients() {
    let database = StandInPostgres::start(0).unwrap();
    let pool = pool(&database, RecyclingMethod::Fast);
    let client = within(pool.get()).await.unwrap();
    for seed in 1..40 {
        say(database.addr(), &noise(seed, 3000)).await;
        say(database.addr(), &[STARTUP, &noise(seed, 3000)].concat()).await;
    }
    for kind in b"QPBDCESHXF" {
        for body in [
            &b""[..],
            b"\0",
            b"\xff\0\0",
            b"S\0",
            b"\0\0\xff\xff",
            b"\0\0\0\0\0\x01\x7f",
        ] {
            let length = u32::try_from(body.len() + 4).unwrap().to_be_bytes();
            say(
                database.addr(),
                &[STARTUP, &[*kind], &length, body].concat(),
            )
            .await;
        }
    }
    assert!(contains(
        &say(database.addr(), b"GET / HTTP/1.1\r\n\r\n").await,
        "FATAL"
    ));
    within(client.query_one("SELECT 1", &[])).await.unwrap();
    within(database.connections_reached(140)).await;
}

#[tokio::test]
async fn a_command_typed_by_hand_is_answered() {
    let cache = StandInRedis::start(0).unwrap();
    let answer = say(
        cache.addr(),
        b"PING\r\n\r\nset  greeting hello\nGET greeting\r\nQUIT\r\nPING\r\n",
    );
    let answer = within(answer).await;
    assert_eq!(
        String::from_utf8_lossy(&answer),
        "+PONG\r\n+OK\r\n$5\r\nhello\r\n+OK\r\n"
    );
}

#[tokio::test]
async fn what_exceeds_a_bound_of_the_cache_is_refused_before_it_arrives() {
    let cache = StandInRedis::start(0).unwrap();
    for absurd in [
        &b"*100000\r\n"[..],
        b"*2\r\n$3\r\nGET\r\n$99999999\r\n",
        b"*-1\r\n",
        b"*1\r\nPING\r\n",
    ] {
        let answer = say(cache.addr(), absurd).await;
        assert_eq!(
            String::from_utf8_lossy(&answer),
            "-ERR Protocol error: invalid length\r\n"
        );
    }
    let answer = say(cache.addr(), &[b'a'; 1024]).await;
    assert_eq!(
        String::from_utf8_lossy(&answer),
        "-ERR Protocol error: too long a line\r\n"
    );
    let answer = say(cache.addr(), b"*1\r\n$4\r\nPINGPONG").await;
    assert!(contains(&answer, "-ERR Protocol error"));
}

#[tokio::test]
async fn garbage_does_not_kill_the_cache() {
    let cache = StandInRedis::start(0).unwrap();
    for seed in 1..40 {
        say(cache.addr(), &noise(seed, 3000)).await;
        say(
            cache.addr(),
            &[&b"*3\r\n$"[..], &noise(seed, 3000)].concat(),
        )
        .await;
    }
    assert_eq!(say(cache.addr(), b"PING\r\n").await, b"+PONG\r\n");
}
