//! A certificate for each service of a fleet, all of one key and one authority.

use std::io;
use std::path::Path;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair, SanType};
use rustls::ServerConfig;
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};

use crate::fleet;

/// How each service proves who it is.
pub(super) struct Certificates(Vec<Arc<ServerConfig>>);

impl Certificates {
    /// For the first `count` services; writes the certificate of the authority there.
    pub(super) fn make(count: u32, roots: &Path) -> io::Result<Self> {
        let mut authority = CertificateParams::default();
        authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate().map_err(io::Error::other)?;
        let issuer = CertifiedIssuer::self_signed(authority, key).map_err(io::Error::other)?;
        let text = STANDARD.encode(issuer.der());
        let pem = format!("-----BEGIN CERTIFICATE-----\n{text}\n-----END CERTIFICATE-----\n");
        std::fs::write(roots, pem)?;
        let key = KeyPair::generate().map_err(io::Error::other)?;
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let configs = (0..count).map(|number| {
            let mut params = CertificateParams::default();
            params.subject_alt_names = vec![SanType::IpAddress(fleet::address(number, 1).ip())];
            let certificate = params.signed_by(&key, &issuer).map_err(io::Error::other)?;
            let der = PrivateKeyDer::from(PrivatePkcs8KeyDer::from(key.serialize_der()));
            let config = ServerConfig::builder_with_provider(Arc::clone(&provider))
                .with_safe_default_protocol_versions()
                .map_err(io::Error::other)?
                .with_no_client_auth()
                .with_single_cert(vec![certificate.der().clone()], der)
                .map_err(io::Error::other)?;
            Ok(Arc::new(config))
        });
        configs.collect::<io::Result<_>>().map(Self)
    }

    pub(super) fn of(&self, number: u32) -> Option<Arc<ServerConfig>> {
        self.0.get(number as usize).cloned()
    }
}
