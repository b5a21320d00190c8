//! A client that speaks TLS, with or without a certificate.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::{ClientConfig, RootCertStore, version};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use super::authority::{Authority, Pair};

#[derive(Debug, Clone, Copy)]
pub(crate) enum Version {
    Tls12,
    Tls13,
}

#[derive(Clone)]
pub(crate) struct Client {
    authority: Vec<u8>,
    pair: Option<Pair>,
}

impl Client {
    /// Trusts this authority and shows this certificate.
    pub(crate) fn new(authority: &Authority, pair: Option<Pair>) -> Self {
        Self {
            authority: authority.der(),
            pair,
        }
    }

    async fn connect(
        &self,
        version: Version,
        address: SocketAddr,
    ) -> io::Result<TlsStream<TcpStream>> {
        let mut roots = RootCertStore::empty();
        roots
            .add(CertificateDer::from(self.authority.clone()))
            .expect("an authority");
        let versions = match version {
            Version::Tls12 => [&version::TLS12],
            Version::Tls13 => [&version::TLS13],
        };
        let config =
            ClientConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
                .with_protocol_versions(&versions)
                .expect("a version")
                .with_root_certificates(roots);
        let config = match &self.pair {
            None => config.with_no_client_auth(),
            Some(pair) => config
                .with_client_auth_cert(
                    vec![CertificateDer::from(pair.der.clone())],
                    PrivateKeyDer::try_from(pair.key_der.clone()).expect("a key"),
                )
                .expect("a pair"),
        };
        let stream = TcpStream::connect(address).await?;
        let name = ServerName::try_from("probe.internal").expect("a name");
        TlsConnector::from(Arc::new(config))
            .connect(name, stream)
            .await
    }

    pub(crate) async fn get(&self, address: SocketAddr, path: &str) -> io::Result<u16> {
        self.get_with(Version::Tls13, address, path).await
    }

    pub(crate) async fn get_with(
        &self,
        version: Version,
        address: SocketAddr,
        path: &str,
    ) -> io::Result<u16> {
        self.ask(version, address, path, "").await
    }

    pub(crate) async fn ask(
        &self,
        version: Version,
        address: SocketAddr,
        path: &str,
        headers: &str,
    ) -> io::Result<u16> {
        let asking = async {
            let mut stream = self.connect(version, address).await?;
            let request =
                format!("GET {path} HTTP/1.1\r\nhost: probe\r\nconnection: close\r\n{headers}\r\n");
            stream.write_all(request.as_bytes()).await?;
            let mut text = Vec::new();
            // A close without close_notify is an error, and the answer has been read by then.
            let read = stream.read_to_end(&mut text).await;
            let text = String::from_utf8_lossy(&text);
            let code = text.get(9..12).and_then(|code| code.parse().ok());
            code.ok_or_else(|| read.err().unwrap_or_else(|| io::Error::other("no answer")))
        };
        tokio::time::timeout(Duration::from_secs(20), asking).await?
    }

    /// The certificate that the service shows.
    pub(crate) async fn serial(&self, address: SocketAddr) -> io::Result<Vec<u8>> {
        let stream = self.connect(Version::Tls13, address).await?;
        let (_, connection) = stream.get_ref();
        let certificates = connection.peer_certificates().unwrap_or_default();
        Ok(certificates
            .first()
            .map(|first| first.to_vec())
            .unwrap_or_default())
    }
}
