//! An authority that issues certificates for these tests.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use base64::Engine as _;
use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair, KeyUsagePurpose,
    SanType,
};
use rustls::ServerConfig;
use rustls::pki_types::PrivateKeyDer;

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

pub(crate) struct Authority {
    issuer: CertifiedIssuer<'static, KeyPair>,
}

impl Authority {
    pub(crate) fn new() -> Self {
        let mut params = CertificateParams::default();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign];
        params
            .distinguished_name
            .push(DnType::CommonName, "authority of a test");
        let key = KeyPair::generate().unwrap();
        let issuer = CertifiedIssuer::self_signed(params, key).unwrap();
        Self { issuer }
    }

    /// Its own certificate: what a file of roots holds.
    pub(crate) fn pem(&self) -> String {
        let text = base64::engine::general_purpose::STANDARD.encode(self.issuer.der());
        format!("-----BEGIN CERTIFICATE-----\n{text}\n-----END CERTIFICATE-----\n")
    }

    /// What a server shows whose certificate is for this name and ended so many days ago, or will end.
    pub(crate) fn server(&self, name: &str, ends_in_days: i32) -> Arc<ServerConfig> {
        let now = SystemTime::now();
        let span = DAY * ends_in_days.unsigned_abs();
        let mut params = CertificateParams::default();
        params.subject_alt_names = vec![match name.parse() {
            Ok(address) => SanType::IpAddress(address),
            Err(_) => SanType::DnsName(name.try_into().unwrap()),
        }];
        params.not_before = (now - DAY * 30).into();
        params.not_after = if ends_in_days < 0 {
            (now - span).into()
        } else {
            (now + span).into()
        };
        let key = KeyPair::generate().unwrap();
        let certificate = params.signed_by(&key, &self.issuer).unwrap();
        let key = PrivateKeyDer::try_from(key.serialize_der()).unwrap();
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![certificate.der().clone()], key)
            .unwrap();
        Arc::new(config)
    }
}
