//! An authority that issues certificates to the servers of a test, and the file by which checks trust it.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use base64::Engine as _;
use rcgen::{
    BasicConstraints, Certificate, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair,
    KeyUsagePurpose, SanType,
};
use rootward_checks::open::Roots;
use rootward_e2e::{Error, Private};
use rustls::ServerConfig;
use rustls::pki_types::PrivateKeyDer;
use tempfile::TempDir;

pub(crate) const DAY: Duration = Duration::from_secs(24 * 60 * 60);

pub(crate) struct Authority {
    issuer: CertifiedIssuer<'static, KeyPair>,
    directory: TempDir,
}

impl Authority {
    pub(crate) fn new(name: &str) -> Self {
        let mut params = CertificateParams::default();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign];
        params.distinguished_name.push(DnType::CommonName, name);
        let key = KeyPair::generate().expect("a key");
        let issuer = CertifiedIssuer::self_signed(params, key).expect("an authority");
        let directory = TempDir::new().expect("a directory");
        let text = pem("CERTIFICATE", issuer.der());
        std::fs::write(directory.path().join("ca.pem"), text).expect("a file");
        Self { issuer, directory }
    }

    pub(crate) fn roots(&self) -> Roots {
        Roots::File(self.file())
    }

    fn file(&self) -> PathBuf {
        self.directory.path().join("ca.pem")
    }

    /// A certificate for this name or address, and its key, as files have them.
    pub(crate) fn pem(&self, name: &str) -> (String, String) {
        let (certificate, key) = self.issue(name, 90);
        (
            pem("CERTIFICATE", certificate.der()),
            pem("PRIVATE KEY", &key.serialize_der()),
        )
    }

    /// Gives a server `server.pem` and `key.pem` for this name or address, and the `ca.pem` that vouches for them.
    pub(crate) fn give(&self, server: &Private, name: &str) -> Result<(), Error> {
        let (certificate, key) = self.pem(name);
        server.write("server.pem", &certificate)?;
        server.write("key.pem", &key)?;
        server.write("ca.pem", &pem("CERTIFICATE", self.issuer.der()))
    }

    fn issue(&self, name: &str, days: i32) -> (Certificate, KeyPair) {
        let mut params = CertificateParams::default();
        params.subject_alt_names = vec![match name.parse() {
            Ok(address) => SanType::IpAddress(address),
            Err(_) => SanType::DnsName(name.try_into().expect("ASCII")),
        }];
        let now = SystemTime::now();
        let span = DAY * days.unsigned_abs();
        let ends = if days < 0 { now - span } else { now + span };
        params.not_before = (now - DAY * 30).into();
        params.not_after = (ends + Duration::from_secs(3600)).into();
        let key = KeyPair::generate().expect("a key");
        let certificate = params.signed_by(&key, &self.issuer).expect("a certificate");
        (certificate, key)
    }

    /// What a server shows whose certificate is for this name or address, and ends in so many days and an hour.
    pub(crate) fn server(&self, name: &str, days: i32) -> Arc<ServerConfig> {
        let (certificate, key) = self.issue(name, days);
        let key = PrivateKeyDer::try_from(key.serialize_der()).expect("a key");
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .expect("ring has ciphers of all versions")
            .with_no_client_auth()
            .with_single_cert(vec![certificate.der().clone()], key)
            .expect("a certificate and its key");
        Arc::new(config)
    }
}

/// RFC 7468: lines of 64 letters, which not every reader can do without.
fn pem(what: &str, der: &[u8]) -> String {
    let text = base64::engine::general_purpose::STANDARD.encode(der);
    let lines: Vec<_> = text
        .as_bytes()
        .chunks(64)
        .map(String::from_utf8_lossy)
        .collect();
    let lines = lines.join("\n");
    format!("-----BEGIN {what}-----\n{lines}\n-----END {what}-----\n")
}
