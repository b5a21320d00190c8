//! An authority that issues certificates for a test, and the files that a service reads.

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use base64::Engine as _;
use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DnType, ExtendedKeyUsagePurpose, IsCa,
    KeyPair, KeyUsagePurpose, SanType, SerialNumber,
};
use tempfile::TempDir;

/// Days from now; negative ones are over.
pub(crate) fn days(days: i64) -> i64 {
    days
}

pub(crate) struct Authority {
    issuer: CertifiedIssuer<'static, KeyPair>,
}

/// A certificate and its key, as PEM.
#[derive(Clone)]
pub(crate) struct Pair {
    pub(crate) certificate: String,
    pub(crate) key: String,
    pub(crate) der: Vec<u8>,
    pub(crate) key_der: Vec<u8>,
}

impl Authority {
    pub(crate) fn new(name: &str) -> Self {
        let mut params = CertificateParams::default();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign];
        params.distinguished_name.push(DnType::CommonName, name);
        let key = KeyPair::generate().expect("a key");
        let issuer = CertifiedIssuer::self_signed(params, key).expect("an authority");
        Self { issuer }
    }

    pub(crate) fn der(&self) -> Vec<u8> {
        self.issuer.der().to_vec()
    }

    pub(crate) fn pem(&self) -> String {
        pem("CERTIFICATE", &self.der())
    }

    pub(crate) fn server(&self, days: i64) -> Pair {
        self.issue(
            &["probe.internal"],
            days,
            ExtendedKeyUsagePurpose::ServerAuth,
        )
    }

    pub(crate) fn client(&self, names: &[&str], days: i64) -> Pair {
        self.issue(names, days, ExtendedKeyUsagePurpose::ClientAuth)
    }

    fn issue(&self, names: &[&str], days: i64, usage: ExtendedKeyUsagePurpose) -> Pair {
        let mut params = CertificateParams::default();
        params.subject_alt_names = names
            .iter()
            .map(|name| {
                let name = (*name).to_owned();
                if name.contains("://") {
                    SanType::URI(name.try_into().expect("ASCII"))
                } else {
                    SanType::DnsName(name.try_into().expect("ASCII"))
                }
            })
            .collect();
        params.extended_key_usages = vec![usage];
        let now = std::time::SystemTime::now();
        let day = Duration::from_secs(24 * 60 * 60);
        params.not_before = (now - 30 * day).into();
        let span = day * u32::try_from(days.unsigned_abs()).expect("few");
        params.not_after = if days < 0 { now - span } else { now + span }.into();
        let key = KeyPair::generate().expect("a key");
        params.serial_number = Some(SerialNumber::from(key.public_key_raw()[1..9].to_vec()));
        let certificate = params.signed_by(&key, &self.issuer).expect("a certificate");
        Pair {
            certificate: pem("CERTIFICATE", certificate.der()),
            key: pem("PRIVATE KEY", &key.serialize_der()),
            der: certificate.der().to_vec(),
            key_der: key.serialize_der(),
        }
    }
}

fn pem(what: &str, der: &[u8]) -> String {
    let text = base64::engine::general_purpose::STANDARD.encode(der);
    let lines: Vec<_> = text.as_bytes().chunks(64).collect();
    let lines: Vec<_> = lines
        .into_iter()
        .map(|line| std::str::from_utf8(line).expect("ASCII"))
        .collect();
    format!(
        "-----BEGIN {what}-----\n{}\n-----END {what}-----\n",
        lines.join("\n")
    )
}

/// The files of a service, in a directory of their own.
pub(crate) struct Files {
    pub(crate) directory: TempDir,
    pub(crate) certificate: PathBuf,
    pub(crate) key: PathBuf,
    pub(crate) authority: PathBuf,
}

impl Files {
    pub(crate) fn new(pair: &Pair, authority: &Authority) -> Self {
        let directory = TempDir::new().expect("a directory");
        let path = |name: &str| directory.path().join(name);
        let files = Self {
            certificate: path("tls.crt"),
            key: path("tls.key"),
            authority: path("ca.crt"),
            directory,
        };
        files.write(&pair.certificate, Some(&pair.key));
        files.write_authority(authority);
        files
    }

    pub(crate) fn write(&self, certificate: &str, key: Option<&str>) {
        fs::write(&self.certificate, certificate).expect("written");
        if let Some(key) = key {
            fs::write(&self.key, key).expect("written");
        }
    }

    pub(crate) fn write_authority(&self, authority: &Authority) {
        fs::write(&self.authority, authority.pem()).expect("written");
    }
}
