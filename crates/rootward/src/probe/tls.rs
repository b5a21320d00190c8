//! TLS on the probe port: who speaks it, with which certificate, and what the other side proved.
//!
//! Sessions are not resumed: a resumed session would skip the verification of the client's certificate, and a probe is
//! rare enough for a handshake.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use arc_swap::ArcSwap;
use rootward_wire::Time;
use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::{NoServerSessionStorage, WebPkiClientVerifier};
use rustls::{RootCertStore, ServerConfig};
use tokio::net::TcpStream;
use tokio::time::{Instant, timeout};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;
use x509_cert::der::Decode;

use crate::access::{ClientCertificate, ClientCertificates, ClientName};
use crate::access::{Contents, Files, Rate, read_all};
use crate::telemetry::Journal;

/// The first byte of a TLS handshake record (RFC 8446, section 5.1). No method of HTTP begins with it.
const HANDSHAKE_RECORD: u8 = 0x16;

/// How long a handshake may take.
const HANDSHAKE: Duration = Duration::from_secs(5);

/// How long a connection lives. What a client proved was true when the connection was made; by then it proves it again.
pub(super) const LONGEST_CONNECTION: Duration = Duration::from_secs(600);

/// How many handshakes are begun; beyond that the connection is closed. They cost the thread that answers liveness
/// about a millisecond each.
const HANDSHAKES: Rate = Rate {
    per_second: 100,
    burst: 100,
};

/// The largest file of certificates or of a key, in bytes.
const MAX_PEM_BYTES: usize = 1024 * 1024;

/// When the end of the own certificate is warned of.
const SOON: Duration = Duration::from_secs(21 * DAY);
const VERY_SOON: Duration = Duration::from_secs(7 * DAY);
const DAY: u64 = 24 * 60 * 60;

/// What new connections are accepted with.
pub(crate) struct Tls {
    paths: Vec<PathBuf>,
    check_every: Duration,
    current: ArcSwap<Loaded>,
    handshakes: Mutex<Option<Instant>>,
    /// The urgency that was last written about.
    warned: AtomicU8,
}

struct Loaded {
    config: Arc<ServerConfig>,
    /// The end of the own certificate.
    expires: SystemTime,
}

impl Tls {
    /// Or why the files cannot be used.
    pub(crate) fn new(certificates: &ClientCertificates) -> Result<Self, String> {
        let paths = vec![
            certificates.certificate.clone(),
            certificates.key.clone(),
            certificates.authority.clone(),
        ];
        let contents = read_all(&paths, MAX_PEM_BYTES)?;
        Ok(Self {
            current: ArcSwap::from_pointee(load(&contents)?),
            paths,
            check_every: certificates.check_every,
            handshakes: Mutex::new(None),
            warned: AtomicU8::new(0),
        })
    }

    pub(crate) fn files(&self) -> Files {
        Files {
            what: "certificates",
            paths: self.paths.clone(),
            most: MAX_PEM_BYTES,
            every: self.check_every,
        }
    }

    /// Uses these for new connections, or says why it cannot.
    pub(crate) fn take(&self, contents: &Contents) -> Result<(), String> {
        self.current.store(Arc::new(load(contents)?));
        self.warned.store(0, Ordering::Relaxed);
        Ok(())
    }

    /// Until the handshake is over; with what the client proved, if it showed a certificate.
    pub(super) async fn accept(
        &self,
        stream: TcpStream,
    ) -> io::Result<(TlsStream<TcpStream>, Option<Arc<ClientCertificate>>)> {
        if !self.may_begin(Instant::now()) {
            return Err(io::Error::other("too many handshakes"));
        }
        let acceptor = TlsAcceptor::from(Arc::clone(&self.current.load().config));
        let stream = timeout(HANDSHAKE, acceptor.accept(stream)).await??;
        let (_, connection) = stream.get_ref();
        let shown = connection.peer_certificates().and_then(<[_]>::first);
        let certificate = shown.and_then(proved).map(Arc::new);
        Ok((stream, certificate))
    }

    fn may_begin(&self, now: Instant) -> bool {
        let mut paid = self
            .handshakes
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        HANDSHAKES.take(paid.get_or_insert(now), now).is_ok()
    }

    /// A sentence if the own certificate ends soon.
    pub(crate) fn expiry(&self, wall: SystemTime) -> Option<String> {
        let expires = self.current.load().expires;
        let urgency = Urgency::of(expires, wall)?;
        let at = Time::from(expires);
        Some(match urgency {
            Urgency::Over => format!("the certificate of the probe port expired at {at}"),
            Urgency::VerySoon | Urgency::Soon => {
                let left = expires.duration_since(wall).unwrap_or_default();
                let days = left.as_secs() / DAY;
                format!("the certificate of the probe port expires in {days} days, at {at}")
            }
        })
    }

    /// One line in the log for each step of urgency.
    pub(crate) fn warn_of_expiry(&self, journal: &Journal, wall: SystemTime) {
        let urgency = Urgency::of(self.current.load().expires, wall);
        let step = urgency.map_or(0, |urgency| urgency as u8);
        if step > self.warned.fetch_max(step, Ordering::Relaxed)
            && let Some(sentence) = self.expiry(wall)
        {
            journal.say(move || tracing::warn!(target: "rootward", "{sentence}"));
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Urgency {
    Soon = 1,
    VerySoon = 2,
    Over = 3,
}

impl Urgency {
    fn of(expires: SystemTime, wall: SystemTime) -> Option<Self> {
        match expires.duration_since(wall) {
            Err(_) => Some(Self::Over),
            Ok(left) if left <= VERY_SOON => Some(Self::VerySoon),
            Ok(left) if left <= SOON => Some(Self::Soon),
            Ok(_) => None,
        }
    }
}

/// Whether the other side begins a TLS handshake; nothing is taken from the stream.
pub(super) async fn begins(stream: &TcpStream) -> bool {
    let mut first = [0];
    matches!(stream.peek(&mut first).await, Ok(1)) && first[0] == HANDSHAKE_RECORD
}

/// Reasons are in our own words: they reach the log and the error of the start.
fn load(contents: &Contents) -> Result<Loaded, String> {
    let [certificate, key, authority] = contents.as_slice() else {
        return Err("there must be three files".to_owned());
    };
    let chain = certificates(certificate, "the certificate")?;
    let expires = chain
        .first()
        .and_then(expiry_of)
        .ok_or("the certificate cannot be read")?;
    let key = PrivateKeyDer::from_pem_slice(key)
        .map_err(|_| "the key is no private key in PEM".to_owned())?;
    let mut roots = RootCertStore::empty();
    for authority in certificates(authority, "the authority")? {
        roots
            .add(authority)
            .map_err(|_| "an authority cannot be used".to_owned())?;
    }
    let provider = Arc::new(ring::default_provider());
    let verifier =
        WebPkiClientVerifier::builder_with_provider(Arc::new(roots), Arc::clone(&provider))
            .allow_unauthenticated()
            .build()
            .map_err(|_| "the authorities cannot be used".to_owned())?;
    let mut config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|_| "no TLS version can be used".to_owned())?
        .with_client_cert_verifier(verifier)
        .with_single_cert(chain, key)
        .map_err(|_| "the certificate and the key do not belong together".to_owned())?;
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    config.session_storage = Arc::new(NoServerSessionStorage {});
    config.send_tls13_tickets = 0;
    Ok(Loaded {
        config: Arc::new(config),
        expires,
    })
}

fn certificates(pem: &[u8], what: &str) -> Result<Vec<CertificateDer<'static>>, String> {
    let read: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(pem).collect();
    match read {
        Ok(certificates) if certificates.is_empty() => {
            Err(format!("{what} has no certificate in PEM"))
        }
        Ok(certificates) => Ok(certificates),
        Err(_) => Err(format!("{what} is not PEM")),
    }
}

fn expiry_of(certificate: &CertificateDer<'_>) -> Option<SystemTime> {
    let certificate = x509_cert::Certificate::from_der(certificate).ok()?;
    let not_after = certificate.tbs_certificate.validity.not_after;
    SystemTime::UNIX_EPOCH.checked_add(not_after.to_unix_duration())
}

/// What a certificate that rustls has verified says. One that cannot be read says nothing.
fn proved(certificate: &CertificateDer<'_>) -> Option<ClientCertificate> {
    let expires = expiry_of(certificate)?;
    let read = webpki::EndEntityCert::try_from(certificate).ok()?;
    let dns = read.valid_dns_names().map(ClientName::dns);
    let uris = read
        .valid_uri_names()
        .map(|uri| ClientName::Uri(uri.into()));
    Some(ClientCertificate {
        names: dns.chain(uris).collect(),
        expires,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_a_certificate_is_warned_of_at_21_and_7_days() {
        let end = SystemTime::UNIX_EPOCH + Duration::from_secs(100 * DAY);
        let left = |days: u64| Urgency::of(end, end - Duration::from_secs(days * DAY));
        assert_eq!(left(22), None);
        assert_eq!(left(21), Some(Urgency::Soon));
        assert_eq!(left(8), Some(Urgency::Soon));
        assert_eq!(left(7), Some(Urgency::VerySoon));
        let past = Urgency::of(end, end + Duration::from_secs(1));
        assert_eq!(past, Some(Urgency::Over));
    }
}
