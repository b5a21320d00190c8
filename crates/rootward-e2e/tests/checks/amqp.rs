//! AMQP against RabbitMQ: on a connection of the check's own, and on the application's.
//!
//! A RabbitMQ takes long to start, so that one test asks it much.

use std::net::SocketAddr;
use std::process::Command;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use lapin::options::BasicPublishOptions;
use lapin::{BasicProperties, Connection, ConnectionProperties};
use rootward::{Check, Unlabelled};
use rootward_checks::AmqpConnection;
use rootward_checks::open::{self, AmqpSettings};
use rootward_e2e::{Error, Private, Run, free_port};
use tokio::time::{Instant, sleep};

use crate::every::{
    LONG, PASSWORD, SHORT, USER, alone, beside_others, leaves_nothing, run, run_until,
    survives_refusal, survives_restart, survives_silence,
};
use crate::script::answers;

/// Where Debian's package has the script that asks for no particular user.
const SCRIPT: &str = "/usr/lib/rabbitmq/bin/rabbitmq-server";

/// From its port being open to its first answer, on a busy machine.
const STARTED: Duration = Duration::from_secs(90);

fn check(url: &str) -> Check<Unlabelled> {
    open::amqp("broker", AmqpSettings::new(url)).expect("a URL")
}

async fn check_at(address: SocketAddr) -> Check<Unlabelled> {
    check(&format!("amqp://{USER}:{PASSWORD}@{address}"))
}

/// A broker of a test, and the name service that Erlang wants.
struct Broker {
    rabbit: Private,
    _names: Private,
}

impl Broker {
    /// With these lines in its configuration.
    async fn start(lines: &str) -> Result<Self, Error> {
        let run = Run::from_environment()?;
        let mut names = Private::new(&run, "epmd", "epmd")?;
        let names_port = names.port().to_string();
        let port = names_port.clone();
        names
            .run(move |command| {
                command.args(["-port", &port, "-address", "127.0.0.1"]);
            })
            .await?;
        let mut rabbit = Private::new(&run, "rabbitmq", "env")?;
        let lines =
            format!("log.console = true\nlog.console.level = warning\nlog.file = false\n{lines}\n");
        rabbit.write("rabbitmq.conf", &lines)?;
        rabbit.write("plugins", "[].\n")?;
        let directory = rabbit.directory().to_owned();
        let (port, distribution) = (rabbit.port(), free_port()?);
        let arguments = move |command: &mut Command| {
            let here = |name: &str| directory.join(name);
            command
                .arg(SCRIPT)
                .env("HOME", &directory)
                .env("ERL_EPMD_PORT", &names_port)
                .env("ERL_EPMD_ADDRESS", "127.0.0.1")
                .env("RABBITMQ_NODENAME", format!("test{port}@localhost"))
                .env("RABBITMQ_NODE_IP_ADDRESS", "127.0.0.1")
                .env("RABBITMQ_NODE_PORT", port.to_string())
                .env("RABBITMQ_DIST_PORT", distribution.to_string())
                .env("RABBITMQ_CONF_ENV_FILE", "/dev/null")
                .env("RABBITMQ_CONFIG_FILE", here("rabbitmq.conf"))
                .env("RABBITMQ_GENERATED_CONFIG_DIR", here("schema"))
                .env("RABBITMQ_ENABLED_PLUGINS_FILE", here("plugins"))
                .env("RABBITMQ_MNESIA_BASE", here("mnesia"))
                .env("RABBITMQ_LOG_BASE", here("log"))
                .env("RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS", "+S 1:1 +sbwt none");
        };
        rabbit.run(arguments).await?;
        let broker = Self {
            rabbit,
            _names: names,
        };
        broker.answers().await;
        Ok(broker)
    }

    fn url(&self, login: &str, vhost: &str) -> String {
        format!("amqp://{login}127.0.0.1:{}{vhost}", self.rabbit.port())
    }

    /// Its port is open before it lets anybody in.
    async fn answers(&self) {
        let check = check(&self.url("", ""));
        let began = Instant::now();
        loop {
            let seen = run(&check, LONG).await;
            if seen == "up" {
                return;
            }
            assert!(began.elapsed() < STARTED, "{seen}");
            sleep(Duration::from_millis(100)).await;
        }
    }

    /// A connection of the application.
    async fn connect(&self) -> Arc<Connection> {
        let url = self.url("", "/%2F");
        let connected = Connection::connect(&url, ConnectionProperties::default()).await;
        Arc::new(connected.expect("it lets guest in"))
    }
}

#[tokio::test]
async fn a_broker_that_says_nothing_costs_one_time_limit_and_no_connection() {
    let _turn = beside_others().await;
    survives_silence(check_at).await;
}

#[tokio::test]
async fn a_broker_that_is_not_there_is_said_to_refuse() {
    let _turn = beside_others().await;
    survives_refusal(check_at).await;
}

#[tokio::test]
async fn what_is_no_broker_of_amqp_0_9_1_is_said_to_be_none() {
    let _turn = beside_others().await;
    // What a broker of AMQP 1.0 says to a client of 0-9-1.
    for greeting in [
        &b"AMQP\x00\x01\x00\x00"[..],
        b"HTTP/1.1 400 Bad Request\r\n",
    ] {
        let fake = answers(greeting).await;
        assert_eq!(
            run(&check(&format!("amqp://{fake}")), LONG).await,
            "down, protocol, the answer is no AMQP 0-9-1"
        );
    }
}

#[tokio::test]
async fn what_rabbitmq_refuses_has_its_category_and_a_restart_is_survived() -> Result<(), Error> {
    let _turn = beside_others().await;
    let mut broker = Broker::start("").await?;
    let cases = [
        ("", "", "up"),
        ("guest:guest@", "/%2F", "up"),
        (
            &format!("{USER}:{PASSWORD}@"),
            "",
            "down, auth, credentials refused",
        ),
        (
            "",
            "/planted",
            "down, not_found, the virtual host does not exist",
        ),
    ];
    for (login, vhost, words) in cases {
        let check = check(&broker.url(login, vhost));
        assert_eq!(run(&check, LONG).await, words);
    }

    // The application's connection, which it makes again when it is lost.
    let current = Arc::new(Mutex::new(Some(broker.connect().await)));
    let latest = Arc::clone(&current);
    let connection = AmqpConnection::current(move || latest.lock().ok()?.clone());
    let through = rootward_checks::amqp("broker", connection);
    run_until(&through, LONG, "up").await;
    broker.rabbit.freeze()?;
    assert_eq!(run(&through, SHORT).await, "cut off");
    broker.rabbit.thaw()?;
    run_until(&through, LONG, "up").await;

    let own = check(&broker.url("", ""));
    survives_restart(&own, &mut broker.rabbit).await?;

    let lost = run(&through, LONG).await;
    assert_eq!(lost, "down, connection_reset, the connection is lost");
    current.lock().expect("nobody panicked").take();
    assert_eq!(
        run(&through, LONG).await,
        "down, not_ready, the application has no connection"
    );
    let again = broker.connect().await;
    *current.lock().expect("nobody panicked") = Some(Arc::clone(&again));
    run_until(&through, LONG, "up").await;
    again.close(200, "OK".into()).await.expect("it is open");
    assert_eq!(
        run(&through, LONG).await,
        "down, shutting_down, the connection is closed"
    );
    Ok(())
}

#[tokio::test]
async fn a_rabbitmq_short_of_disk_is_degraded_on_a_connection_that_publishes() -> Result<(), Error>
{
    let _turn = beside_others().await;
    // No disk has as much left.
    let broker = Broker::start("disk_free_limit.absolute = 1000000GB").await?;
    let connection = broker.connect().await;
    let check = rootward_checks::amqp("broker", Arc::clone(&connection));
    assert_eq!(run(&check, LONG).await, "up");
    let channel = connection.create_channel().await.expect("a channel");
    // A connection is stopped when it publishes while the alarm is on, and then its next message waits here.
    let publishing = tokio::spawn(async move {
        loop {
            let publish = channel.basic_publish(
                "".into(),
                "nobody".into(),
                BasicPublishOptions::default(),
                b"a message",
                BasicProperties::default(),
            );
            if publish.await.is_err() {
                return;
            }
            sleep(Duration::from_millis(50)).await;
        }
    });
    run_until(
        &check,
        LONG,
        "degraded, resource_exhausted, the broker is short of memory or disk and stops what is published",
    )
    .await;
    publishing.abort();
    Ok(())
}

#[tokio::test]
async fn a_thousand_runs_against_rabbitmq_leave_nothing() -> Result<(), Error> {
    let _turn = alone().await;
    let broker = Broker::start("").await?;
    leaves_nothing(&check(&broker.url("", "")), "up").await;
    let connection = broker.connect().await;
    let through = rootward_checks::amqp("broker", connection);
    leaves_nothing(&through, "up").await;
    Ok(())
}
