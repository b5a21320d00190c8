//! Whom to trust for the certificate of a server.

use std::path::PathBuf;
#[cfg(feature = "_tls")]
use std::sync::{Mutex, PoisonError};

#[cfg(any(feature = "http", feature = "service-tls"))]
use rootward_fetch::Target;
#[cfg(feature = "_tls")]
use rootward_fetch::{Tls, TlsError};

#[cfg(feature = "_tls")]
use super::Unusable;

/// Whose certificates are believed where TLS is spoken. That of the server is always verified; there is no way to
/// switch that off.
///
/// ```
/// use rootward_checks::open::Roots;
///
/// let company = Roots::File("/etc/ssl/company.pem".into());
/// # let _ = company;
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Roots {
    /// Those that this machine trusts, or that `SSL_CERT_FILE` and `SSL_CERT_DIR` name. Read once in a process, when
    /// the first check is made that needs them.
    #[default]
    System,
    /// The issuers in this file (PEM) and nobody else. Read when the check is made.
    File(PathBuf),
}

#[cfg(feature = "_tls")]
impl Roots {
    pub(crate) fn load(&self) -> Result<Tls, Unusable> {
        match self {
            Self::System => system(),
            Self::File(path) => Ok(Tls::trusting_file(path)?),
        }
    }

    /// Reads a URL; only `https://` needs to know whom to trust.
    #[cfg(any(feature = "http", feature = "service-tls"))]
    pub(crate) fn target(&self, url: &str) -> Result<Target, Unusable> {
        let is_https = url
            .get(..8)
            .is_some_and(|start| start.eq_ignore_ascii_case("https://"));
        Ok(if is_https {
            Target::parse_with(url, &self.load()?)?
        } else {
            Target::parse(url)?
        })
    }

    /// The file, for a driver that takes no other form: of this machine the one that its OpenSSL reads, or that
    /// `SSL_CERT_FILE` names. That it holds issuers is seen now; the driver reads it again when it connects.
    #[cfg(any(feature = "mongodb-tls", feature = "mysql-tls"))]
    pub(crate) fn file(&self) -> Result<PathBuf, Unusable> {
        let _ = self.load()?;
        match self {
            Self::File(path) => Ok(path.clone()),
            Self::System => openssl_probe::probe().cert_file.ok_or_else(|| {
                Unusable::because(&[
                    "this machine has no file of root certificates: name one as roots",
                ])
            }),
        }
    }
}

#[cfg(feature = "_tls")]
/// This machine's roots: some hundred kilobytes, which all checks share.
fn system() -> Result<Tls, Unusable> {
    static SYSTEM: Mutex<Option<Tls>> = Mutex::new(None);
    let mut system = SYSTEM.lock().unwrap_or_else(PoisonError::into_inner);
    match &*system {
        Some(tls) => Ok(tls.clone()),
        None => Ok(system.insert(Tls::system()?).clone()),
    }
}

#[cfg(feature = "_tls")]
/// The sentences about roots name no file.
impl From<TlsError> for Unusable {
    fn from(error: TlsError) -> Self {
        Self(error.to_string())
    }
}
