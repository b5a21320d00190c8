//! The stand-in for a cache, asked by the real client's connection manager.

use std::time::Duration;

use redis::aio::{ConnectionManager, ConnectionManagerConfig};
use redis::{Client, RedisResult, Value};
use rootward_testkit::Mood;
use rootward_testkit::redis::StandInRedis;

use crate::{io_kind, stalls, within};

async fn manager(url: &str) -> ConnectionManager {
    let config = ConnectionManagerConfig::new()
        .set_min_delay(Duration::from_millis(1))
        .set_number_of_retries(1)
        .set_response_timeout(Some(Duration::from_secs(10)));
    let client = Client::open(url).expect("the URL of a stand-in is a client configuration");
    within(client.get_connection_manager_with_config(config))
        .await
        .expect("it connects")
}

async fn ask(manager: &ConnectionManager, line: &str) -> RedisResult<Value> {
    let mut words = line.split(' ');
    let mut command = redis::cmd(words.next().expect("a command has a name"));
    for word in words {
        command.arg(word);
    }
    let mut manager = manager.clone();
    within(command.query_async(&mut manager)).await
}

fn bytes(text: &str) -> Value {
    Value::BulkString(text.as_bytes().to_vec())
}

#[tokio::test]
async fn a_client_pings_sets_and_gets_in_both_versions_of_the_protocol() {
    let cache = StandInRedis::start(0).unwrap();
    for version in ["resp2", "resp3"] {
        let manager = manager(&format!("{}?protocol={version}", cache.url())).await;
        assert_eq!(
            ask(&manager, "PING").await.unwrap(),
            Value::SimpleString("PONG".into())
        );
        assert_eq!(ask(&manager, "PING hey").await.unwrap(), bytes("hey"));
        assert_eq!(ask(&manager, "ECHO hey").await.unwrap(), bytes("hey"));
        assert_eq!(
            ask(&manager, &format!("GET {version}")).await.unwrap(),
            Value::Nil
        );
        assert_eq!(
            ask(&manager, &format!("SET {version} 7")).await.unwrap(),
            Value::Okay
        );
        assert_eq!(
            ask(&manager, &format!("GET {version}")).await.unwrap(),
            bytes("7")
        );
        let info: String = redis::from_redis_value(ask(&manager, "INFO").await.unwrap()).unwrap();
        assert!(info.contains("\r\nrole:master\r\n"), "{info}");
        assert!(
            info.contains("\r\nstand_in:yes, this is not a Redis server\r\n"),
            "{info}"
        );
    }
    // Values are the cache's, not the connection's.
    let other = manager(&cache.url()).await;
    assert_eq!(ask(&other, "GET resp2").await.unwrap(), bytes("7"));
}

#[tokio::test]
async fn databases_do_not_see_each_other() {
    let cache = StandInRedis::start(0).unwrap();
    let zero = manager(&cache.url()).await;
    let three = manager(&format!("{}3", cache.url())).await;
    ask(&zero, "SET key zero").await.unwrap();
    assert_eq!(ask(&three, "GET key").await.unwrap(), Value::Nil);
    assert!(ask(&zero, "SELECT 16").await.is_err());
}

#[tokio::test]
async fn a_command_it_does_not_know_gets_an_error_that_names_it() {
    let cache = StandInRedis::start(0).unwrap();
    let manager = manager(&cache.url()).await;
    for (command, text) in [
        (
            "FLUSHALL",
            "unknown command 'FLUSHALL': this is a stand-in for Redis",
        ),
        (
            "A\r\nB",
            "unknown command 'A\\r\\nB': this is a stand-in for Redis",
        ),
        (
            "SET a b EX 10",
            "this is a stand-in for Redis: its SET takes a key and a value",
        ),
        ("GET", "wrong number of arguments"),
        (
            "CLIENT KILL",
            "this is a stand-in for Redis: its CLIENT knows SETINFO and SETNAME",
        ),
    ] {
        let error = ask(&manager, command).await.unwrap_err();
        assert_eq!(error.detail(), Some(text), "{error}");
    }
    ask(&manager, "PING").await.unwrap();
    assert_eq!(cache.connections_seen(), 1);
}

#[tokio::test]
async fn it_keeps_a_bounded_number_of_values() {
    let cache = StandInRedis::start(0).unwrap();
    let manager = manager(&cache.url()).await;
    for key in 0..256 {
        ask(&manager, &format!("SET key{key} value")).await.unwrap();
    }
    let full = ask(&manager, "SET onemore value").await.unwrap_err();
    assert_eq!(full.code(), Some("OOM"));
    // A key that is there can change.
    ask(&manager, "SET key7 other").await.unwrap();
    assert_eq!(ask(&manager, "GET key7").await.unwrap(), bytes("other"));
}

#[tokio::test]
async fn commands_are_counted_and_setting_up_is_not() {
    let cache = StandInRedis::start(0).unwrap();
    let manager = manager(&format!("{}2?protocol=resp3", cache.url())).await;
    assert_eq!(cache.queries_seen(), 0);
    for _ in 0..3 {
        ask(&manager, "PING").await.unwrap();
    }
    assert_eq!(cache.queries_seen(), 3);
}

#[tokio::test]
async fn a_slow_cache_connects_at_once_and_answers_late() {
    let cache = StandInRedis::start(0).unwrap();
    let delay = Duration::from_millis(300);
    cache
        .mood()
        .change(Mood::Slow(Duration::from_secs(3600)))
        .await
        .unwrap();
    let manager = manager(&format!("{}?protocol=resp3", cache.url())).await;
    cache.mood().change(Mood::Slow(delay)).await.unwrap();

    let begun = tokio::time::Instant::now();
    ask(&manager, "PING").await.unwrap();
    assert!(begun.elapsed() >= delay);
}

#[tokio::test]
async fn a_frozen_cache_answers_after_the_thaw() {
    let cache = StandInRedis::start(0).unwrap();
    let manager = manager(&cache.url()).await;
    cache.mood().change(Mood::Frozen).await.unwrap();
    let mut ping = std::pin::pin!(ask(&manager, "PING"));
    assert!(stalls(&mut ping).await);
    cache.mood().set(Mood::Healthy);
    ping.await.unwrap();
}

#[tokio::test]
async fn a_manager_is_refused_and_the_same_one_works_again_with_the_values_kept() {
    let cache = StandInRedis::start(0).unwrap();
    let manager = manager(&cache.url()).await;
    ask(&manager, "SET key value").await.unwrap();

    cache.mood().change(Mood::Refusing).await.unwrap();
    within(async {
        loop {
            let error = ask(&manager, "PING").await.unwrap_err();
            if error.is_connection_refusal()
                || io_kind(&error) == Some(std::io::ErrorKind::ConnectionRefused)
            {
                break;
            }
        }
    })
    .await;

    cache.mood().change(Mood::Healthy).await.unwrap();
    let value = within(async {
        loop {
            if let Ok(value) = ask(&manager, "GET key").await {
                break value;
            }
        }
    })
    .await;
    assert_eq!(value, bytes("value"));
}
