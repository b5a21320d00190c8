//! MySQL: a real MariaDB, through the application's own pool and from settings.

use std::net::SocketAddr;
use std::time::Duration;

use mysql_async::{Conn, Opts, OptsBuilder, Pool, PoolConstraints, PoolOpts, prelude::Queryable};
use rootward::{Check, Unlabelled};
use rootward_checks::open::{self, MysqlSettings};
use rootward_e2e::{Error, Private, Run};
use tokio::io::AsyncWriteExt;
use tokio::net::TcpListener;

use crate::authority::Authority;
use crate::every::{
    LONG, PASSWORD, USER, alone, beside_others, leaves_nothing, run, run_until,
    survives_lost_packets, survives_refusal, survives_restart, survives_silence,
};

/// The password of the user that the checks are meant to be.
pub(crate) const RIGHT: &str = "planted-password-of-the-server";

/// How many connections the pool of a test has.
const CONNECTIONS: usize = 2;

/// A MariaDB with the user and the database `orders`.
async fn start(run: &Run) -> Result<Private, Error> {
    start_with(run, None).await
}

/// With a certificate of this authority for its address, if there is one.
pub(crate) async fn start_with(run: &Run, authority: Option<&Authority>) -> Result<Private, Error> {
    let mut server = Private::new(run, "mariadb", "mariadbd")?;
    let data = server.directory().join("data");
    // Of its own: temporary tables of two that are made at once would have one name.
    let temporary = server.make_directory("tmp")?;
    let (prepared, its_temporary) = (data.clone(), temporary.clone());
    server
        .prepare("mariadb-install-db", move |command| {
            command
                .arg("--no-defaults")
                .arg("--skip-test-db")
                .arg("--auth-root-authentication-method=normal")
                .arg(format!("--datadir={}", prepared.display()))
                .arg(format!("--tmpdir={}", its_temporary.display()))
                .env("TMPDIR", &its_temporary);
        })
        .await?;
    let init = format!(
        "CREATE DATABASE orders;\n\
         CREATE USER '{USER}'@'%' IDENTIFIED BY '{RIGHT}';\n\
         GRANT ALL ON orders.* TO '{USER}'@'%';\n\
         CREATE USER 'locked'@'%' IDENTIFIED BY '{RIGHT}' ACCOUNT LOCK;\n\
         CREATE USER 'few'@'%' IDENTIFIED BY '{RIGHT}' WITH MAX_USER_CONNECTIONS 1;\n"
    );
    server.write("init.sql", &init)?;
    if let Some(authority) = authority {
        authority.give(&server, "127.0.0.1")?;
    }
    let is_secured = authority.is_some();
    let (port, directory) = (server.port(), server.directory().to_owned());
    server
        .run(move |command| {
            command
                .arg("--no-defaults")
                .arg(format!("--datadir={}", data.display()))
                .arg(format!("--tmpdir={}", temporary.display()))
                .arg(format!("--socket={}", directory.join("socket").display()))
                .arg(format!("--pid-file={}", directory.join("pid").display()))
                .arg(format!("--port={port}"))
                .arg("--bind-address=127.0.0.1")
                .arg("--skip-name-resolve")
                .arg("--skip-log-bin")
                .arg("--innodb-buffer-pool-size=16M");
            if is_secured {
                for (option, file) in [("cert", "server"), ("key", "key"), ("ca", "ca")] {
                    let file = directory.join(file).with_extension("pem");
                    command.arg(format!("--ssl-{option}={}", file.display()));
                }
            }
            // Statements that are there already after a restart: only where the data are new.
            if !data.join("orders").exists() {
                command.arg(format!(
                    "--init-file={}",
                    directory.join("init.sql").display()
                ));
            }
        })
        .await?;
    Ok(server)
}

fn url(port: u16, user: &str, password: &str, database: &str) -> String {
    format!("mysql://{user}:{password}@127.0.0.1:{port}/{database}")
}

fn pool(url: &str) -> (Pool, Opts) {
    let constraints = PoolConstraints::new(1, CONNECTIONS).expect("one is less than two");
    let options = OptsBuilder::from_opts(Opts::from_url(url).expect("a URL"))
        // The driver's pool waits without a limit for the answer to a reset.
        .pool_opts(
            PoolOpts::new()
                .with_constraints(constraints)
                .with_reset_connection(false),
        )
        .prefer_socket(false);
    let options = Opts::from(options);
    (Pool::new(options.clone()), options)
}

fn check(url: &str) -> Check<Unlabelled> {
    let (pool, options) = pool(url);
    rootward_checks::mysql("db", pool, options)
}

fn opened(url: &str) -> Check<Unlabelled> {
    open::mysql("db", MysqlSettings::new(url)).expect("settings")
}

async fn check_at(address: SocketAddr) -> Check<Unlabelled> {
    check(&url(address.port(), USER, PASSWORD, "orders"))
}

async fn opened_at(address: SocketAddr) -> Check<Unlabelled> {
    opened(&url(address.port(), USER, PASSWORD, "orders"))
}

#[tokio::test]
async fn a_mysql_that_says_nothing_costs_one_time_limit_and_no_connection() {
    let _turn = beside_others().await;
    survives_silence(check_at).await;
    survives_silence(opened_at).await;
}

#[tokio::test]
async fn a_mysql_that_is_not_there_is_said_to_refuse() {
    let _turn = beside_others().await;
    survives_refusal(check_at).await;
    survives_refusal(opened_at).await;
}

#[tokio::test]
async fn what_answers_and_is_no_mysql_is_said_to_be_none() {
    let _turn = beside_others().await;
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let port = listener.local_addr().expect("its address").port();
    let answering = tokio::spawn(async move {
        loop {
            let Ok((mut stream, _)) = listener.accept().await else {
                return;
            };
            let _ = stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n").await;
        }
    });
    let url = url(port, USER, PASSWORD, "orders");
    for check in [check(&url), opened(&url)] {
        let seen = run(&check, LONG).await;
        let is_said = ["down, protocol, ", "down, connection_reset, "];
        assert!(is_said.iter().any(|said| seen.starts_with(said)), "{seen}");
    }
    answering.abort();
}

/// A fake that refuses everybody in its greeting, with the numbers of what no server of a test can be made to say: one
/// that is shutting down, and one that is offline for users (MySQL alone has that).
#[tokio::test]
async fn what_a_fake_mysql_refuses_has_its_category() {
    let _turn = beside_others().await;
    for (code, expected) in [
        (
            1053_u16,
            "down, shutting_down, the server ended the connection",
        ),
        (3032, "down, not_ready, the server is offline for users"),
        (
            1040,
            "down, rate_limited, the server has no connection left",
        ),
        (3159, "down, tls, the server wants TLS"),
    ] {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let port = listener.local_addr().expect("its address").port();
        let refusing = tokio::spawn(async move {
            // Kept open: whoever is refused hangs up.
            let mut refused = Vec::new();
            while let Ok((mut stream, _)) = listener.accept().await {
                // <https://dev.mysql.com/doc/dev/mysql-server/latest/page_protocol_basic_err_packet.html>
                let mut packet = vec![0xff];
                packet.extend_from_slice(&code.to_le_bytes());
                packet.extend_from_slice(PASSWORD.as_bytes());
                let length = u32::try_from(packet.len()).expect("short").to_le_bytes();
                let head = [length[0], length[1], length[2], 0];
                let _ = stream.write_all(&[&head[..], &packet].concat()).await;
                refused.push(stream);
            }
        });
        let url = url(port, USER, PASSWORD, "orders");
        for check in [check(&url), opened(&url)] {
            assert_eq!(run(&check, LONG).await, expected, "{code}");
        }
        refusing.abort();
    }
}

mod servers {
    use super::*;

    #[tokio::test]
    async fn a_mariadb_is_seen_frozen_and_killed_and_comes_back_to_the_same_check()
    -> Result<(), Error> {
        let _turn = beside_others().await;
        let mut server = start(&Run::from_environment()?).await?;
        let url = url(server.port(), USER, RIGHT, "orders");
        survives_restart(&check(&url), &mut server).await?;
        survives_restart(&opened(&url), &mut server).await
    }

    #[tokio::test]
    async fn what_a_mariadb_refuses_is_said_without_user_and_password() -> Result<(), Error> {
        let _turn = beside_others().await;
        let server = start(&Run::from_environment()?).await?;
        let port = server.port();
        run_until(&opened(&url(port, USER, RIGHT, "orders")), LONG, "up").await;
        let cases = [
            (USER, PASSWORD, "orders", "down, auth, credentials refused"),
            (
                "locked",
                RIGHT,
                "orders",
                "down, auth, the account is locked",
            ),
            (USER, RIGHT, "other", "down, auth, credentials refused"),
        ];
        for (user, password, database, words) in cases {
            let url = url(port, user, password, database);
            assert_eq!(run(&check(&url), LONG).await, words);
            assert_eq!(run(&opened(&url), LONG).await, words);
        }
        let root = format!("mysql://root@127.0.0.1:{port}/other");
        let words = "down, not_found, the database does not exist";
        assert_eq!(run(&opened(&root), LONG).await, words);
        Ok(())
    }

    #[tokio::test]
    async fn a_mariadb_with_no_connection_left_for_a_user_is_said_to_have_none() -> Result<(), Error>
    {
        let _turn = beside_others().await;
        let server = start(&Run::from_environment()?).await?;
        let url = url(server.port(), "few", RIGHT, "");
        let url = url.trim_end_matches('/');
        run_until(&opened(url), LONG, "up").await;
        let (pool, _) = pool(url);
        // The connection of the check above closes in its own time.
        let _only = loop {
            match pool.get_conn().await {
                Ok(connection) => break connection,
                Err(_) => tokio::time::sleep(Duration::from_millis(50)).await,
            }
        };
        assert_eq!(
            run(&opened(url), LONG).await,
            "down, rate_limited, the server allows this user no more"
        );
        Ok(())
    }

    #[tokio::test]
    async fn a_pool_that_is_used_up_is_its_own_trouble_only_while_the_mariadb_answers_beside_it()
    -> Result<(), Error> {
        let _turn = beside_others().await;
        let server = start(&Run::from_environment()?).await?;
        let (pool, options) = pool(&url(server.port(), USER, RIGHT, "orders"));
        let check = rootward_checks::mysql("db", pool.clone(), options);
        run_until(&check, LONG, "up").await;
        let mut all = Vec::new();
        for _ in 0..CONNECTIONS {
            all.push(pool.get_conn().await.expect("a connection"));
        }
        let limit = Duration::from_secs(2);
        let words = "down, resource_exhausted, all 2 connections of the pool are in use";
        run_until(&check, limit, words).await;
        server.freeze()?;
        assert_eq!(run(&check, limit).await, "cut off");
        server.thaw()?;
        drop(all);
        run_until(&check, LONG, "up").await;
        Ok(())
    }

    /// The driver would put the connection back with the answer still to come.
    #[tokio::test]
    async fn a_run_that_was_cut_off_leaves_no_old_answer_for_the_next_request() -> Result<(), Error>
    {
        let _turn = beside_others().await;
        let server = start(&Run::from_environment()?).await?;
        let (pool, options) = pool(&url(server.port(), USER, RIGHT, "orders"));
        let check = rootward_checks::mysql("db", pool.clone(), options);
        run_until(&check, LONG, "up").await;
        server.freeze()?;
        assert_eq!(run(&check, Duration::from_millis(300)).await, "cut off");
        server.thaw()?;
        for number in 0..10_u32 {
            let mut connection: Conn = pool.get_conn().await.expect("a connection");
            let answer: Option<u32> = connection
                .query_first(format!("SELECT {number} + 40"))
                .await
                .expect("an answer");
            assert_eq!(answer, Some(number + 40));
        }
        Ok(())
    }

    #[tokio::test]
    async fn kf_022_after_packets_of_a_mariadb_are_lost_one_run_fails_and_not_all_that_follow()
    -> Result<(), Error> {
        let _turn = beside_others().await;
        let server = start(&Run::from_environment()?).await?;
        let address = SocketAddr::from(([127, 0, 0, 1], server.port()));
        let url_at = |address: SocketAddr| url(address.port(), USER, RIGHT, "orders");
        survives_lost_packets(address, async |address| check(&url_at(address))).await;
        survives_lost_packets(address, async |address| opened(&url_at(address))).await;
        Ok(())
    }

    #[tokio::test]
    async fn a_thousand_runs_against_a_mariadb_leave_nothing() -> Result<(), Error> {
        let _turn = alone().await;
        let server = start(&Run::from_environment()?).await?;
        let right = url(server.port(), USER, RIGHT, "orders");
        leaves_nothing(&check(&right), "up").await;
        leaves_nothing(&opened(&right), "up").await;
        let wrong = url(server.port(), USER, PASSWORD, "orders");
        leaves_nothing(&opened(&wrong), "down, auth, ").await;
        Ok(())
    }
}
