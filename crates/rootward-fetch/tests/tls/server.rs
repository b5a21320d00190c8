//! A server that speaks TLS and then HTTP, or does something else with a connection.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use rootward_fetch::{Limits, Target, Tls};
use rustls::ServerConfig;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::{JoinHandle, JoinSet};
use tokio::time::{Instant, sleep};
use tokio_rustls::TlsAcceptor;

pub(crate) const SOON: Duration = Duration::from_millis(300);
pub(crate) const PLENTY: Duration = Duration::from_secs(20);

pub(crate) const fn within(deadline: Duration) -> Limits {
    Limits {
        deadline,
        max_body_bytes: 16 * 1024,
    }
}

/// What a server learned in a handshake.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Heard {
    pub(crate) name: Option<String>,
    pub(crate) protocol: Option<Vec<u8>>,
}

pub(crate) struct Server {
    pub(crate) address: SocketAddr,
    shown: Arc<Mutex<Arc<ServerConfig>>>,
    heard: Arc<Mutex<Vec<Heard>>>,
    task: JoinHandle<()>,
}

impl Server {
    /// Says `200 OK` to every question.
    pub(crate) async fn start(config: ServerConfig) -> Self {
        let shown = Arc::new(Mutex::new(Arc::new(config)));
        let heard: Arc<Mutex<Vec<Heard>>> = Arc::default();
        let (showing, hearing) = (Arc::clone(&shown), Arc::clone(&heard));
        let mut server = Self::raw(move |stream| {
            let config = Arc::clone(&showing.lock().expect("not poisoned"));
            let hearing = Arc::clone(&hearing);
            async move {
                let Ok(mut stream) = TlsAcceptor::from(config).accept(stream).await else {
                    return;
                };
                let (_, session) = stream.get_ref();
                hearing.lock().expect("not poisoned").push(Heard {
                    name: session.server_name().map(str::to_owned),
                    protocol: session.alpn_protocol().map(<[u8]>::to_vec),
                });
                let mut question = [0; 4096];
                while let Ok(1..) = stream.read(&mut question).await {
                    let answer = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok";
                    if stream.write_all(answer).await.is_err() {
                        return;
                    }
                }
            }
        })
        .await;
        server.shown = shown;
        server.heard = heard;
        server
    }

    /// Does this with every connection.
    pub(crate) async fn raw<F, B>(behaviour: F) -> Self
    where
        F: Fn(TcpStream) -> B + Send + 'static,
        B: Future<Output = ()> + Send + 'static,
    {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("it is bound");
        let task = tokio::spawn(async move {
            let mut connections = JoinSet::new();
            while let Ok((stream, _)) = listener.accept().await {
                connections.spawn(behaviour(stream));
            }
        });
        let nothing =
            ServerConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
                .with_safe_default_protocol_versions()
                .expect("ring has ciphers of all versions")
                .with_no_client_auth()
                .with_cert_resolver(Arc::new(rustls::server::ResolvesServerCertUsingSni::new()));
        Self {
            address,
            shown: Arc::new(Mutex::new(Arc::new(nothing))),
            heard: Arc::default(),
            task,
        }
    }

    /// From now on it shows this certificate.
    pub(crate) fn shows(&self, config: ServerConfig) {
        *self.shown.lock().expect("not poisoned") = Arc::new(config);
    }

    /// The handshakes so far, when there are at least so many.
    pub(crate) async fn heard_times(&self, times: usize) -> Vec<Heard> {
        let began = Instant::now();
        loop {
            let heard = self.heard.lock().expect("not poisoned").clone();
            if heard.len() >= times {
                return heard;
            }
            assert!(began.elapsed() < PLENTY, "{heard:?}");
            sleep(Duration::from_millis(5)).await;
        }
    }

    /// As `orders`, without asking a resolver.
    pub(crate) fn target(&self, tls: &Tls) -> Target {
        let url = format!("https://orders:{}/", self.address.port());
        let target = Target::parse_with(&url, tls).expect("a URL");
        target.pinned(&[self.address])
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.task.abort();
    }
}
