//! TLS of checks that have a driver, from settings: a real server with a certificate of an authority of its own is up for
//! who trusts that authority, and nobody gets a password who shows another. MongoDB is a fake behind a real handshake.

use std::process::Command;

use redis::Client;
use rootward::{Check, Unlabelled};
use rootward_checks::open::{
    self, GrpcHealthSettings, MongodbSettings, MysqlSettings, NatsSettings, RedisClusterSettings,
    RedisSentinelSettings, RedisSettings, Roots, ServiceSettings,
};
use rootward_e2e::{Error, Private, Run, free_port};

use crate::authority::Authority;
use crate::every::{
    LONG, PASSWORD, SHORT, USER, alone, beside_others, leaves_nothing, run, run_until,
    survives_refusal, survives_restart, survives_silence,
};
use crate::scripted::{Scripted, answer};

const UNTRUSTED: &str = "down, tls, the issuer of the server's certificate is not trusted here";

/// Up for who trusts the authority of the server, and for nobody else; a thousand runs leave nothing.
async fn trusts_whom_it_was_told(authority: &Authority, make: impl Fn(Roots) -> Check<Unlabelled>) {
    let trusted = make(authority.roots());
    run_until(&trusted, LONG, "up").await;
    let stranger = Authority::new("stranger");
    for roots in [stranger.roots(), Roots::System] {
        let seen = run(&make(roots), LONG).await;
        assert!(seen.starts_with("down, tls, "), "{seen}");
    }
    leaves_nothing(&trusted, "up").await;
}

/// A Redis with TLS on the port of `Private`, and without on another one where one is given.
async fn redis(
    authority: &Authority,
    plain: Option<u16>,
    more: &[String],
) -> Result<Private, Error> {
    let mut server = Private::new(&Run::from_environment()?, "redis", "redis-server")?;
    authority.give(&server, "127.0.0.1")?;
    let (port, plain) = (server.port().to_string(), plain.unwrap_or(0).to_string());
    let more = more.to_vec();
    server
        .run(move |command| {
            command.args(["--bind", "127.0.0.1", "--port", &plain, "--save", ""]);
            command.args(["--tls-port", &port, "--tls-auth-clients", "no"]);
            command.args(["--tls-cert-file", "server.pem", "--tls-key-file", "key.pem"]);
            command.args(["--tls-ca-cert-file", "ca.pem"]);
            command.args(&more);
        })
        .await?;
    Ok(server)
}

fn of_redis(url: String, roots: Roots) -> Check<Unlabelled> {
    let settings = RedisSettings {
        roots,
        ..RedisSettings::new(url)
    };
    open::redis("cache", settings).expect("settings")
}

#[tokio::test]
async fn a_redis_with_tls_gets_a_password_only_from_who_trusts_it() -> Result<(), Error> {
    let _turn = alone().await;
    let authority = Authority::new("authority");
    let password = ["--requirepass".to_owned(), "correct".to_owned()];
    let server = redis(&authority, None, &password).await?;
    let url = |login: &str| format!("rediss://{login}127.0.0.1:{}/0", server.port());
    let refused = of_redis(url(&format!("{USER}:{PASSWORD}@")), authority.roots());
    assert_eq!(run(&refused, LONG).await, "down, auth, credentials refused");
    let none = of_redis(url(""), authority.roots());
    assert_eq!(run(&none, LONG).await, "down, auth, credentials refused");
    let stranger = Authority::new("stranger");
    let untrusted = of_redis(url(":correct@"), stranger.roots());
    assert_eq!(run(&untrusted, LONG).await, UNTRUSTED);
    leaves_nothing(&untrusted, UNTRUSTED).await;
    trusts_whom_it_was_told(&authority, |roots| of_redis(url(":correct@"), roots)).await;
    Ok(())
}

#[tokio::test]
async fn a_redis_with_tls_survives_what_every_check_does() -> Result<(), Error> {
    let _turn = beside_others().await;
    let authority = Authority::new("authority");
    let at = async |address| of_redis(format!("rediss://{address}"), authority.roots());
    survives_silence(at).await;
    survives_refusal(at).await;
    let mut server = redis(&authority, None, &[]).await?;
    let check = of_redis(
        format!("rediss://127.0.0.1:{}", server.port()),
        authority.roots(),
    );
    survives_restart(&check, &mut server).await
}

/// One whose certificate is for another name, and one that speaks no TLS.
#[tokio::test]
async fn a_redis_of_another_name_or_without_tls_is_said_to_be_that() -> Result<(), Error> {
    let _turn = beside_others().await;
    let authority = Authority::new("authority");
    let plain = free_port()?;
    let server = redis(&authority, Some(plain), &[]).await?;
    let by_name = format!("rediss://localhost:{}", server.port());
    assert_eq!(
        run(&of_redis(by_name, authority.roots()), LONG).await,
        "down, tls, the certificate of the server is for another name"
    );
    let without = of_redis(format!("rediss://127.0.0.1:{plain}"), authority.roots());
    // It takes the greeting of TLS for the beginning of a command, and waits for the rest.
    let seen = run(&without, SHORT).await;
    assert!(seen == "cut off" || seen.starts_with("down, "), "{seen}");
    let by_itself = of_redis(format!("redis://127.0.0.1:{plain}"), Roots::System);
    assert_eq!(run(&by_itself, LONG).await, "up");
    Ok(())
}

#[tokio::test]
async fn a_cluster_of_redis_is_asked_by_tls_at_each_master() -> Result<(), Error> {
    let _turn = alone().await;
    let authority = Authority::new("authority");
    let (plain, bus) = (free_port()?, free_port()?);
    let bus = bus.to_string();
    // With `tls-cluster` the cluster tells the ports of TLS to who asks by TLS.
    let cluster = [
        "--cluster-enabled",
        "yes",
        "--cluster-port",
        &bus,
        "--tls-cluster",
        "yes",
    ];
    let cluster: Vec<String> = cluster.into_iter().map(str::to_owned).collect();
    let server = redis(&authority, Some(plain), &cluster).await?;
    let client = Client::open(format!("redis://127.0.0.1:{plain}")).expect("a URL");
    let connected = client.get_multiplexed_async_connection().await;
    let mut slots = ::redis::cmd("CLUSTER");
    slots.arg("ADDSLOTSRANGE").arg(0).arg(16_383);
    let mut connection = connected.expect("it listens");
    let added: Result<(), _> = slots.query_async(&mut connection).await;
    added.expect("all slots are free");
    trusts_whom_it_was_told(&authority, |roots| {
        let settings = RedisClusterSettings {
            roots,
            ..RedisClusterSettings::new([format!("rediss://127.0.0.1:{}", server.port())])
        };
        open::redis_cluster("cache", settings).expect("settings")
    })
    .await;
    Ok(())
}

#[tokio::test]
async fn a_sentinel_and_its_master_are_both_asked_by_tls() -> Result<(), Error> {
    let _turn = alone().await;
    let authority = Authority::new("authority");
    let master = redis(&authority, None, &[]).await?;
    let mut sentinel = Private::new(&Run::from_environment()?, "sentinel", "redis-server")?;
    authority.give(&sentinel, "127.0.0.1")?;
    let (port, of_master) = (sentinel.port(), master.port());
    let configuration = format!(
        "port 0\ntls-port {port}\nbind 127.0.0.1\ntls-auth-clients no\ntls-replication yes\n\
         tls-cert-file server.pem\ntls-key-file key.pem\ntls-ca-cert-file ca.pem\n\
         sentinel monitor mymaster 127.0.0.1 {of_master} 1\n\
         sentinel down-after-milliseconds mymaster 60000\n"
    );
    sentinel.write("sentinel.conf", &configuration)?;
    sentinel
        .run(|command: &mut Command| {
            command.args(["sentinel.conf", "--sentinel"]);
        })
        .await?;
    trusts_whom_it_was_told(&authority, |roots| {
        let urls = [format!("rediss://127.0.0.1:{port}")];
        let settings = RedisSentinelSettings {
            roots,
            ..RedisSentinelSettings::new(urls, "mymaster")
        };
        open::redis_sentinel("cache", settings).expect("settings")
    })
    .await;
    Ok(())
}

#[tokio::test]
async fn a_nats_with_tls_gets_a_password_only_from_who_trusts_it() -> Result<(), Error> {
    let _turn = alone().await;
    let authority = Authority::new("authority");
    let mut server = Private::new(&Run::from_environment()?, "nats", "nats-server")?;
    authority.give(&server, "127.0.0.1")?;
    let port = server.port();
    let lines = "authorization { user: alice, password: correct }\n\
                 tls { cert_file: server.pem, key_file: key.pem }";
    server.write("nats.conf", &format!("listen: 127.0.0.1:{port}\n{lines}\n"))?;
    server
        .run(|command| {
            command.args(["-c", "nats.conf"]);
        })
        .await?;
    trusts_whom_it_was_told(&authority, |roots| {
        let settings = NatsSettings {
            roots,
            ..NatsSettings::new(format!("tls://alice:correct@127.0.0.1:{port}"))
        };
        open::nats("queue", settings).expect("settings")
    })
    .await;
    Ok(())
}

#[tokio::test]
async fn a_fake_mongodb_with_tls_is_up_for_who_trusts_it() {
    let _turn = alone().await;
    let authority = Authority::new("authority");
    let fake = crate::mongodb::Fake::secured(authority.server("127.0.0.1", 90)).await;
    trusts_whom_it_was_told(&authority, |roots| {
        let url = format!("mongodb://{}/?directConnection=true&tls=true", fake.address);
        let settings = MongodbSettings {
            roots,
            ..MongodbSettings::new(url)
        };
        open::mongodb("db", settings).expect("settings")
    })
    .await;
}

#[tokio::test]
async fn a_grpc_server_with_tls_is_up_for_who_trusts_it() {
    let _turn = alone().await;
    let authority = Authority::new("authority");
    let (certificate, key) = authority.pem("127.0.0.1");
    let stock = crate::grpc_health::Stock::secured(&certificate, &key).await;
    trusts_whom_it_was_told(&authority, |roots| {
        let settings = GrpcHealthSettings {
            roots,
            ..GrpcHealthSettings::new(format!("https://{}", stock.address))
        };
        open::grpc_health("stock", settings).expect("settings")
    })
    .await;
    stock.end().await;
}

#[tokio::test]
async fn a_service_with_tls_is_up_for_who_trusts_it() {
    let _turn = alone().await;
    let authority = Authority::new("authority");
    let ready = answer("200 OK", r#"{"ready":true,"serving":true}"#);
    let other = Scripted::secured(ready, authority.server("127.0.0.1", 90)).await;
    trusts_whom_it_was_told(&authority, |roots| {
        let settings = ServiceSettings {
            roots,
            ..ServiceSettings::new(format!("https://{}/readyz", other.address))
        };
        open::service("orders", settings).expect("settings")
    })
    .await;
}

mod servers {
    use super::*;
    use crate::mysql::{RIGHT, start_with};

    #[tokio::test]
    async fn a_mariadb_with_tls_gets_a_password_only_from_who_trusts_it() -> Result<(), Error> {
        let _turn = alone().await;
        let authority = Authority::new("authority");
        let server = start_with(&Run::from_environment()?, Some(&authority)).await?;
        let port = server.port();
        let of = |host: &str, password: &str, roots| {
            let url =
                format!("mysql://{USER}:{password}@{host}:{port}/orders?ssl-mode=VERIFY_IDENTITY");
            let settings = MysqlSettings {
                roots,
                ..MysqlSettings::new(url)
            };
            open::mysql("db", settings).expect("settings")
        };
        run_until(&of("127.0.0.1", RIGHT, authority.roots()), LONG, "up").await;
        assert_eq!(
            run(&of("127.0.0.1", PASSWORD, authority.roots()), LONG).await,
            "down, auth, credentials refused"
        );
        assert_eq!(
            run(&of("localhost", RIGHT, authority.roots()), LONG).await,
            "down, tls, the certificate of the server is for another name"
        );
        let stranger = Authority::new("stranger");
        let seen = run(&of("127.0.0.1", RIGHT, stranger.roots()), LONG).await;
        assert_eq!(seen, UNTRUSTED);
        trusts_whom_it_was_told(&authority, |roots| of("127.0.0.1", RIGHT, roots)).await;
        Ok(())
    }

    #[tokio::test]
    async fn a_mariadb_without_tls_is_said_to_have_none() -> Result<(), Error> {
        let _turn = beside_others().await;
        let server = start_with(&Run::from_environment()?, None).await?;
        let port = server.port();
        let url = format!("mysql://{USER}:{RIGHT}@127.0.0.1:{port}/?ssl-mode=VERIFY_IDENTITY");
        let check = open::mysql("db", MysqlSettings::new(url)).expect("settings");
        assert_eq!(run(&check, LONG).await, "down, tls, the server has no TLS");
        Ok(())
    }
}
