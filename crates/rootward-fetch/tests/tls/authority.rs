//! An authority that issues certificates for a test.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use base64::Engine as _;
use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair, KeyUsagePurpose,
    SanType,
};
use rootward_fetch::Tls;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::WebPkiClientVerifier;
use rustls::{RootCertStore, ServerConfig};

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

pub(crate) struct Authority {
    issuer: CertifiedIssuer<'static, KeyPair>,
}

/// When a certificate is valid, in days from now.
#[derive(Clone, Copy)]
pub(crate) struct Valid(pub(crate) i32, pub(crate) i32);

pub(crate) const NOW: Valid = Valid(-30, 90);
pub(crate) const ENDED: Valid = Valid(-30, -1);

impl Valid {
    pub(crate) fn until(self) -> SystemTime {
        at(self.1)
    }
}

fn at(days: i32) -> SystemTime {
    let span = DAY * days.unsigned_abs();
    let now = SystemTime::now();
    if days < 0 { now - span } else { now + span }
}

impl Authority {
    pub(crate) fn new() -> Self {
        Self::named("authority of a test")
    }

    pub(crate) fn named(name: &str) -> Self {
        let mut params = CertificateParams::default();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign];
        params.distinguished_name.push(DnType::CommonName, name);
        let key = KeyPair::generate().expect("a key");
        let issuer = CertifiedIssuer::self_signed(params, key).expect("an authority");
        Self { issuer }
    }

    pub(crate) fn pem(&self) -> String {
        let text = base64::engine::general_purpose::STANDARD.encode(self.issuer.der());
        format!("-----BEGIN CERTIFICATE-----\n{text}\n-----END CERTIFICATE-----\n")
    }

    pub(crate) fn trusted(&self) -> Tls {
        Tls::trusting(self.pem().as_bytes()).expect("a root certificate")
    }

    /// What a server shows that was given a certificate for this name.
    pub(crate) fn server(&self, name: &str, valid: Valid) -> ServerConfig {
        let (chain, key) = self.issue(name, valid);
        builder()
            .with_no_client_auth()
            .with_single_cert(chain, key)
            .expect("a certificate and its key")
    }

    /// One that wants to see a certificate of the client.
    pub(crate) fn server_for_clients_with_certificates(&self, name: &str) -> ServerConfig {
        let (chain, key) = self.issue(name, NOW);
        let mut roots = RootCertStore::empty();
        roots.add(self.issuer.der().clone()).expect("a root");
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let clients = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider)
            .build()
            .expect("a verifier");
        builder()
            .with_client_cert_verifier(clients)
            .with_single_cert(chain, key)
            .expect("a certificate and its key")
    }

    fn issue(
        &self,
        name: &str,
        valid: Valid,
    ) -> (Vec<CertificateDer<'static>>, PrivateKeyDer<'static>) {
        let mut params = CertificateParams::default();
        params.subject_alt_names = vec![match name.parse() {
            Ok(address) => SanType::IpAddress(address),
            Err(_) => SanType::DnsName(name.try_into().expect("ASCII")),
        }];
        params.not_before = at(valid.0).into();
        params.not_after = valid.until().into();
        let key = KeyPair::generate().expect("a key");
        let certificate = params.signed_by(&key, &self.issuer).expect("a certificate");
        let key = PrivateKeyDer::try_from(key.serialize_der()).expect("a key");
        (vec![certificate.der().clone()], key)
    }
}

fn builder() -> rustls::ConfigBuilder<ServerConfig, rustls::WantsVerifier> {
    ServerConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .with_safe_default_protocol_versions()
        .expect("ring has ciphers of all versions")
}
