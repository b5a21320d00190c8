//! TLS to servers: whom to trust, the handshake, and what a failed one means.
//!
//! The server's name is always sent (SNI, RFC 6066) and its certificate always verified; there is no way to switch
//! either off. Sessions are not resumed: a resumed session would skip the verification, and a certificate that has
//! expired since would go unseen.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::io::{self, Read};
use std::path::Path;
use std::sync::Arc;
use std::time::SystemTime;

use rustls::client::Resumption;
use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{
    AlertDescription, CertificateError, ClientConfig, Error, InvalidMessage, RootCertStore,
};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use x509_cert::Certificate;
use x509_cert::der::Decode;

use crate::TlsFault;
use crate::error::Kind;
use crate::seen::Io;
use crate::target::Problem;

/// The largest file of root certificates that is read, in bytes. The bundle of an operating system has a quarter of
/// a mebibyte.
pub const MAX_ROOTS_BYTES: u64 = 4 * 1024 * 1024;

/// Whom to trust. Cheap to clone; two are equal if they trust the same roots, so that
/// a file that was read again changes nothing.
///
/// ```no_run
/// use rootward_fetch::{Target, Tls};
///
/// let tls = Tls::trusting_file("/etc/cart/ca.pem".as_ref())?;
/// let target = Target::parse_with("https://orders:8790/readyz", &tls)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Tls {
    /// Speaks HTTP/1.1 and says so (ALPN, RFC 7301).
    http: Arc<ClientConfig>,
    #[cfg(feature = "grpc")]
    http2: Arc<ClientConfig>,
    /// For a server of which only the certificate is of interest, whatever it speaks behind it.
    any: Arc<ClientConfig>,
    roots: Arc<RootCertStore>,
}

impl Tls {
    /// Trusts whom this machine trusts: the files of the operating system, or those that the variables
    /// `SSL_CERT_FILE` and `SSL_CERT_DIR` name. They are read now, which blocks for some milliseconds.
    ///
    /// # Errors
    /// When there is not one root certificate.
    pub fn system() -> Result<Self, TlsError> {
        let found = rustls_native_certs::load_native_certs();
        let mut roots = RootCertStore::empty();
        // Some in the bundle of a machine may be too old to be read; the others count.
        roots.add_parsable_certificates(found.certs);
        if roots.is_empty() {
            return Err(TlsProblem::NoSystemRoots.into());
        }
        Ok(Self::trusting_roots(roots))
    }

    /// Trusts the issuers in this text (PEM, RFC 7468), and nobody else.
    ///
    /// # Errors
    /// When it is not PEM, or one of its certificates cannot be used, or there is none.
    pub fn trusting(pem: &[u8]) -> Result<Self, TlsError> {
        let mut roots = RootCertStore::empty();
        for certificate in CertificateDer::pem_slice_iter(pem) {
            let certificate = certificate.map_err(|_| TlsProblem::NotPem)?;
            roots
                .add(certificate)
                .map_err(|_| TlsProblem::NoCertificate)?;
        }
        if roots.is_empty() {
            return Err(TlsProblem::NoRoots.into());
        }
        Ok(Self::trusting_roots(roots))
    }

    /// As [`Tls::trusting`], from a file of at most [`MAX_ROOTS_BYTES`]. It is read now.
    ///
    /// # Errors
    /// When it cannot be read, too.
    pub fn trusting_file(path: &Path) -> Result<Self, TlsError> {
        let mut pem = Vec::new();
        std::fs::File::open(path)
            .and_then(|file| file.take(MAX_ROOTS_BYTES + 1).read_to_end(&mut pem))
            .map_err(TlsProblem::Unreadable)?;
        if pem.len() as u64 > MAX_ROOTS_BYTES {
            return Err(TlsProblem::TooLong.into());
        }
        Self::trusting(&pem)
    }

    /// The same trust for another protocol than HTTP: no ALPN, no resumption, ring.
    ///
    /// ```
    /// # fn example(tls: &rootward_fetch::Tls) {
    /// assert!(tls.client_config().alpn_protocols.is_empty());
    /// # }
    /// ```
    #[must_use]
    pub fn client_config(&self) -> ClientConfig {
        ClientConfig::clone(&self.any)
    }

    /// Whom it trusts, for a client that makes a configuration of its own.
    ///
    /// ```
    /// # fn example(tls: &rootward_fetch::Tls) {
    /// assert!(!tls.root_store().is_empty());
    /// # }
    /// ```
    #[must_use]
    pub fn root_store(&self) -> &RootCertStore {
        &self.roots
    }

    fn trusting_roots(roots: RootCertStore) -> Self {
        let roots = Arc::new(roots);
        let mut any = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .expect("ring has ciphers of all versions")
            .with_root_certificates(Arc::clone(&roots))
            .with_no_client_auth();
        any.resumption = Resumption::disabled();
        let mut http = any.clone();
        http.alpn_protocols = vec![b"http/1.1".to_vec()];
        #[cfg(feature = "grpc")]
        let http2 = {
            let mut http2 = any.clone();
            http2.alpn_protocols = vec![b"h2".to_vec()];
            Arc::new(http2)
        };
        Self {
            http: Arc::new(http),
            #[cfg(feature = "grpc")]
            http2,
            any: Arc::new(any),
            roots,
        }
    }
}

impl PartialEq for Tls {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.roots, &other.roots) || self.roots.roots == other.roots.roots
    }
}

impl Eq for Tls {}

impl Hash for Tls {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.roots.len().hash(state);
    }
}

impl fmt::Debug for Tls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tls").finish_non_exhaustive()
    }
}

/// Why nobody can be trusted. Names no file; the caller knows which it gave.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub struct TlsError(#[from] TlsProblem);

#[derive(Debug, thiserror::Error)]
enum TlsProblem {
    #[error("this machine has no root certificates")]
    NoSystemRoots,
    #[error("the file of root certificates cannot be read")]
    Unreadable(#[source] io::Error),
    #[error("the file of root certificates has more than 4 MiB")]
    TooLong,
    #[error("the root certificates are not in the form of PEM")]
    NotPem,
    #[error("one of the root certificates is none")]
    NoCertificate,
    #[error("there is no certificate among the root certificates")]
    NoRoots,
}

/// What is spoken over TLS, as the handshake says it (ALPN, RFC 7301).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Speaks {
    /// HTTP/1.1.
    Http1,
    /// HTTP/2.
    #[cfg(feature = "grpc")]
    Http2,
    /// Something else: nothing is said.
    Whatever,
}

/// A name, and who is trusted to vouch for it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Secured {
    tls: Tls,
    name: ServerName<'static>,
}

impl Secured {
    /// The host as a URL has it: a name, or an address, that of IPv6 in brackets.
    pub(crate) fn new(tls: &Tls, host: &str) -> Result<Self, Problem> {
        let host = host.trim_start_matches('[').trim_end_matches(']');
        let name = ServerName::try_from(host.to_owned()).map_err(|_| Problem::CertificateName)?;
        let tls = tls.clone();
        Ok(Self { tls, name })
    }

    /// Makes the handshake. With the stream comes the end of the validity of the certificate that was shown.
    pub(crate) async fn handshake(
        &self,
        stream: TcpStream,
        speaks: Speaks,
    ) -> Result<(Box<dyn Io>, Option<SystemTime>), Kind> {
        let config = match speaks {
            Speaks::Http1 => &self.tls.http,
            #[cfg(feature = "grpc")]
            Speaks::Http2 => &self.tls.http2,
            Speaks::Whatever => &self.tls.any,
        };
        let connector = TlsConnector::from(Arc::clone(config));
        let stream = connector
            .connect(self.name.clone(), stream)
            .await
            .map_err(failed)?;
        let shown = stream.get_ref().1.peer_certificates();
        let expires = shown.and_then(|chain| chain.first()).and_then(end_of);
        Ok((Box::new(stream), expires))
    }
}

/// The end of a certificate's validity (RFC 5280, section 4.1.2.5).
fn end_of(certificate: &CertificateDer<'_>) -> Option<SystemTime> {
    let certificate = Certificate::from_der(certificate).ok()?;
    let end = certificate.tbs_certificate.validity.not_after;
    SystemTime::UNIX_EPOCH.checked_add(end.to_unix_duration())
}

fn failed(error: io::Error) -> Kind {
    match of_io(&error) {
        Some(fault) => Kind::Tls {
            fault,
            source: error.into(),
        },
        None => Kind::Broken {
            phase: crate::Phase::Securing,
            source: error.into(),
        },
    }
}

/// What TLS had to do with a failure after the handshake: in TLS 1.3 a server says only then that it wants to see a
/// certificate.
pub(crate) fn fault_of(error: &hyper::Error) -> Option<TlsFault> {
    let source = std::error::Error::source(error)?;
    of_io(source.downcast_ref()?)
}

fn of_io(error: &io::Error) -> Option<TlsFault> {
    Some(fault(error.get_ref()?.downcast_ref()?))
}

impl TlsFault {
    /// What TLS had to do with this error, as rustls gives it out through a stream; `None` if nothing.
    #[must_use]
    pub fn of(error: &io::Error) -> Option<Self> {
        of_io(error)
    }
}

fn fault(error: &Error) -> TlsFault {
    match error {
        Error::InvalidCertificate(wrong) => of_certificate(wrong),
        Error::InvalidMessage(InvalidMessage::InvalidContentType) => TlsFault::NotTls,
        Error::AlertReceived(AlertDescription::CertificateRequired) => {
            TlsFault::ClientCertificateWanted
        }
        _ => TlsFault::Handshake,
    }
}

fn of_certificate(wrong: &CertificateError) -> TlsFault {
    use CertificateError as Wrong;
    match wrong {
        Wrong::Expired | Wrong::ExpiredContext { .. } => TlsFault::Expired,
        Wrong::NotValidYet | Wrong::NotValidYetContext { .. } => TlsFault::NotYetValid,
        Wrong::NotValidForName | Wrong::NotValidForNameContext { .. } => TlsFault::WrongName,
        Wrong::UnknownIssuer => TlsFault::UnknownIssuer,
        _ => TlsFault::BadCertificate,
    }
}
