//! MongoDB. No server of it can be had here, so these tests speak with a scripted fake on a real socket, which knows the
//! two messages that a driver sends (`OP_QUERY` for its first greeting, `OP_MSG` for all else;
//! <https://www.mongodb.com/docs/manual/reference/mongodb-wire-protocol/>), and answers as a standalone server does.
//! What they prove is what the check makes of the driver, and not that a real server answers like this.

use std::io::{self, Cursor};
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use mongodb::Client;
use mongodb::bson::{Document, doc};
use rootward::{Check, Unlabelled};
use rootward_checks::open::{self, MongodbSettings};
use rustls::ServerConfig;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio::task::{JoinHandle, JoinSet};
use tokio_rustls::TlsAcceptor;

use crate::every::{
    LONG, PASSWORD, USER, alone, beside_others, leaves_nothing, run, run_until,
    survives_lost_packets, survives_refusal, survives_silence,
};

const OP_REPLY: i32 = 1;
const OP_QUERY: i32 = 2004;
const OP_MSG: i32 = 2013;

/// The longest message that the fake reads.
const MAX_BYTES: usize = 64 * 1024;

/// What the fake answers to everything but greetings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mood {
    Well,
    /// Refuses commands, logins included, with this code.
    Refuses(i32),
    /// Takes commands and says nothing.
    Silent,
    /// Closes the connection instead of an answer.
    HangsUp,
    /// Answers commands with what is no BSON.
    Babbles,
}

/// A fake server on a port that stays its own.
pub(crate) struct Fake {
    pub(crate) address: SocketAddr,
    mood: Arc<Mutex<Mood>>,
    config: Option<Arc<ServerConfig>>,
    serving: Option<JoinHandle<()>>,
}

impl Fake {
    async fn start() -> Self {
        Self::with(None).await
    }

    /// Behind the handshake of TLS.
    pub(crate) async fn secured(config: Arc<ServerConfig>) -> Self {
        Self::with(Some(config)).await
    }

    async fn with(config: Option<Arc<ServerConfig>>) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await;
        let listener = listener.expect("a port");
        let address = listener.local_addr().expect("its address");
        let mood = Arc::new(Mutex::new(Mood::Well));
        let serving = Some(serve(listener, Arc::clone(&mood), config.clone()));
        Self {
            address,
            mood,
            config,
            serving,
        }
    }

    fn feel(&self, mood: Mood) {
        *self.mood.lock().expect("nobody panics with it") = mood;
    }

    async fn kill(&mut self) {
        let serving = self.serving.take().expect("it runs");
        serving.abort();
        let _ = serving.await;
    }

    async fn start_again(&mut self) {
        let listener = TcpListener::bind(self.address).await;
        self.serving = Some(serve(
            listener.expect("its own port"),
            Arc::clone(&self.mood),
            self.config.clone(),
        ));
    }

    fn url(&self, login: &str) -> String {
        format!("mongodb://{login}{}/?directConnection=true", self.address)
    }
}

impl Drop for Fake {
    fn drop(&mut self) {
        if let Some(serving) = self.serving.take() {
            serving.abort();
        }
    }
}

/// Its connections end with it.
fn serve(
    listener: TcpListener,
    mood: Arc<Mutex<Mood>>,
    config: Option<Arc<ServerConfig>>,
) -> JoinHandle<()> {
    tokio::spawn(async move {
        let mut connections = JoinSet::new();
        loop {
            tokio::select! {
                accepted = listener.accept() => {
                    let Ok((stream, _)) = accepted else { return };
                    let (mood, config) = (Arc::clone(&mood), config.clone());
                    connections.spawn(async move {
                        // A driver that goes away is no concern of the fake.
                        let _ = match config {
                            None => talk(stream, &mood).await,
                            Some(config) => match TlsAcceptor::from(config).accept(stream).await {
                                Ok(stream) => talk(stream, &mood).await,
                                Err(error) => Err(error),
                            },
                        };
                    });
                }
                Some(_) = connections.join_next() => (),
            }
        }
    })
}

async fn talk(
    mut stream: impl AsyncRead + AsyncWrite + Unpin,
    mood: &Mutex<Mood>,
) -> io::Result<()> {
    loop {
        let mut head = [0; 16];
        stream.read_exact(&mut head).await?;
        let number = |at: usize| {
            let bytes = head[at..at + 4].try_into().expect("four bytes");
            i32::from_le_bytes(bytes)
        };
        let length = usize::try_from(number(0)).unwrap_or(0);
        assert!((16..MAX_BYTES).contains(&length), "{length} bytes");
        let mut body = vec![0; length - 16];
        stream.read_exact(&mut body).await?;
        let operation = number(12);
        let asked = match operation {
            // Flags, and a section of kind 0.
            OP_MSG => {
                assert_eq!(body[4], 0, "the kind of the first section");
                read(&body[5..])
            }
            // Flags, the name of a collection, two numbers.
            OP_QUERY => {
                let name = body[4..].iter().position(|byte| *byte == 0);
                read(&body[4 + name.expect("a name ends") + 1 + 8..])
            }
            other => panic!("a message of kind {other}"),
        };
        let command = asked.keys().next().expect("a command").clone();
        let greets = ["hello", "ismaster", "isMaster"].contains(&command.as_str());
        let feels = *mood.lock().expect("nobody panics with it");
        let answer = match feels {
            _ if greets => hello(),
            Mood::Well => doc! { "ok": 1.0 },
            Mood::Refuses(code) => doc! {
                "ok": 0.0,
                "errmsg": format!("{PASSWORD} of {USER} at mongodb://planted"),
                "code": code,
                "codeName": "Planted",
            },
            Mood::Silent => continue,
            Mood::HangsUp => return Ok(()),
            Mood::Babbles => {
                send(
                    &mut stream,
                    number(4),
                    OP_MSG,
                    b"\0\0\0\0\0planted-password-hunter2",
                )
                .await?;
                continue;
            }
        };
        let answer = answer.to_vec().expect("a document");
        let prefix: &[u8] = match operation {
            OP_MSG => &[0; 5],
            // Flags, a cursor, where it begins, one document.
            _ => &[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0],
        };
        let kind = if operation == OP_MSG {
            OP_MSG
        } else {
            OP_REPLY
        };
        send(&mut stream, number(4), kind, &[prefix, &answer].concat()).await?;
    }
}

fn read(bytes: &[u8]) -> Document {
    Document::from_reader(Cursor::new(bytes)).expect("a document")
}

async fn send(
    stream: &mut (impl AsyncWrite + Unpin),
    to: i32,
    kind: i32,
    body: &[u8],
) -> io::Result<()> {
    let length = i32::try_from(16 + body.len()).expect("short");
    let mut message = Vec::new();
    for number in [length, 0, to, kind] {
        message.extend_from_slice(&number.to_le_bytes());
    }
    message.extend_from_slice(body);
    stream.write_all(&message).await?;
    stream.flush().await
}

/// As a standalone server of version 8 greets (<https://www.mongodb.com/docs/manual/reference/command/hello/>).
fn hello() -> Document {
    doc! {
        "helloOk": true,
        "ismaster": true,
        "isWritablePrimary": true,
        "maxBsonObjectSize": 16_777_216,
        "maxMessageSizeBytes": 48_000_000,
        "maxWriteBatchSize": 100_000,
        "logicalSessionTimeoutMinutes": 30,
        "connectionId": 1,
        "minWireVersion": 0,
        "maxWireVersion": 25,
        "readOnly": false,
        "ok": 1.0,
    }
}

fn opened(url: &str) -> Check<Unlabelled> {
    open::mongodb("db", MongodbSettings::new(url)).expect("settings")
}

async fn with_client(url: &str) -> Check<Unlabelled> {
    let client = Client::with_uri_str(url).await.expect("a client");
    rootward_checks::mongodb("db", client)
}

fn url_at(address: SocketAddr) -> String {
    format!("mongodb://{USER}:{PASSWORD}@{address}/?directConnection=true&connectTimeoutMS=2000")
}

async fn opened_at(address: SocketAddr) -> Check<Unlabelled> {
    opened(&url_at(address))
}

async fn with_client_at(address: SocketAddr) -> Check<Unlabelled> {
    with_client(&url_at(address)).await
}

#[tokio::test]
async fn a_mongodb_that_says_nothing_costs_one_time_limit_and_no_connection() {
    let _turn = beside_others().await;
    survives_silence(opened_at).await;
    survives_silence(with_client_at).await;
}

#[tokio::test]
async fn a_mongodb_that_is_not_there_is_said_to_refuse_by_a_check_from_settings() {
    let _turn = beside_others().await;
    survives_refusal(opened_at).await;
}

#[tokio::test]
async fn a_mongodb_that_is_not_there_is_a_timeout_with_the_client_of_the_application() {
    let _turn = beside_others().await;
    let port = rootward_e2e::free_port().expect("a port");
    let check = with_client_at(SocketAddr::from((Ipv4Addr::LOCALHOST, port))).await;
    assert_eq!(
        run(&check, Duration::from_secs(1)).await,
        "down, timeout, no server was found that answers in time"
    );
}

#[tokio::test]
async fn a_fake_mongodb_that_refuses_a_password_is_said_to_without_it() {
    let _turn = beside_others().await;
    let fake = Fake::start().await;
    fake.feel(Mood::Refuses(18));
    let url = fake.url(&format!("{USER}:{PASSWORD}@"));
    for check in [opened(&url), with_client(&url).await] {
        assert_eq!(run(&check, LONG).await, "down, auth, credentials refused");
    }
}

#[tokio::test]
async fn what_a_fake_mongodb_says_and_does_has_its_category() {
    let _turn = beside_others().await;
    let fake = Fake::start().await;
    let url = fake.url("");
    let cases = [
        (
            Mood::Refuses(10107),
            "down, not_ready, the server is no primary now",
        ),
        (
            Mood::Refuses(91),
            "down, shutting_down, the server is shutting down",
        ),
        (
            Mood::Refuses(462),
            "down, rate_limited, the server limits the rate of requests",
        ),
        (Mood::Refuses(13), "down, auth, the user may not ask"),
        (
            Mood::Refuses(59),
            "down, unknown, the server refused the command",
        ),
        (Mood::HangsUp, "down, connection_reset, connection reset"),
        (Mood::Babbles, "down, protocol, "),
        (
            Mood::Silent,
            "down, timeout, no server was found that answers in time",
        ),
    ];
    for check in [opened(&url), with_client(&url).await] {
        for (mood, words) in cases {
            fake.feel(Mood::Well);
            run_until(&check, LONG, "up").await;
            fake.feel(mood);
            let seen = run(&check, Duration::from_secs(3)).await;
            assert!(seen.starts_with(words), "{mood:?}: {seen}");
        }
    }
}

#[tokio::test]
async fn a_fake_mongodb_that_is_killed_and_comes_back_is_seen_by_the_same_check() {
    let _turn = beside_others().await;
    let mut fake = Fake::start().await;
    let (from_settings, of_client) = (opened(&fake.url("")), with_client(&fake.url("")).await);
    run_until(&from_settings, LONG, "up").await;
    run_until(&of_client, LONG, "up").await;
    fake.kill().await;
    run_until(&from_settings, LONG, "down, connection_refused, ").await;
    run_until(&of_client, Duration::from_secs(1), "down, timeout, ").await;
    fake.start_again().await;
    run_until(&from_settings, LONG, "up").await;
    run_until(&of_client, LONG, "up").await;
}

#[tokio::test]
async fn kf_022_after_packets_of_a_fake_mongodb_are_lost_one_run_fails_and_not_all_that_follow() {
    let _turn = beside_others().await;
    let fake = Fake::start().await;
    let url_at = |address: SocketAddr| format!("mongodb://{address}/?directConnection=true");
    survives_lost_packets(fake.address, async |address| opened(&url_at(address))).await;
    survives_lost_packets(fake.address, async |address| {
        with_client(&url_at(address)).await
    })
    .await;
}

#[tokio::test]
async fn a_thousand_runs_against_a_fake_mongodb_leave_nothing() {
    let _turn = alone().await;
    let fake = Fake::start().await;
    leaves_nothing(&opened(&fake.url("")), "up").await;
    leaves_nothing(&with_client(&fake.url("")).await, "up").await;
}
