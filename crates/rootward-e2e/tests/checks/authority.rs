//! An authority that issues certificates to the servers of a test, and the file by which checks trust it.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use base64::Engine as _;
use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair, KeyUsagePurpose,
    SanType,
};
use rootward_checks::open::Roots;
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
        let text = base64::engine::general_purpose::STANDARD.encode(issuer.der());
        let pem = format!("-----BEGIN CERTIFICATE-----\n{text}\n-----END CERTIFICATE-----\n");
        std::fs::write(directory.path().join("ca.pem"), pem).expect("a file");
        Self { issuer, directory }
    }

    pub(crate) fn roots(&self) -> Roots {
        Roots::File(self.file())
    }

    fn file(&self) -> PathBuf {
        self.directory.path().join("ca.pem")
    }

    /// What a server shows whose certificate is for this name or address, and ends in so many days and an hour.
    pub(crate) fn server(&self, name: &str, days: i32) -> Arc<ServerConfig> {
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
