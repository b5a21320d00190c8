//! Whom to trust for the certificate of a server.

use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

#[cfg(feature = "http")]
use rootward_fetch::Target;
use rootward_fetch::{Tls, TlsError};

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

impl Roots {
    pub(crate) fn load(&self) -> Result<Tls, Unusable> {
        match self {
            Self::System => system(),
            Self::File(path) => Ok(Tls::trusting_file(path)?),
        }
    }

    /// Reads a URL; only `https://` needs to know whom to trust.
    #[cfg(feature = "http")]
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
}

/// This machine's roots: some hundred kilobytes, which all checks share.
fn system() -> Result<Tls, Unusable> {
    static SYSTEM: Mutex<Option<Tls>> = Mutex::new(None);
    let mut system = SYSTEM.lock().unwrap_or_else(PoisonError::into_inner);
    match &*system {
        Some(tls) => Ok(tls.clone()),
        None => Ok(system.insert(Tls::system()?).clone()),
    }
}

/// The sentences about roots name no file.
impl From<TlsError> for Unusable {
    fn from(error: TlsError) -> Self {
        Self(error.to_string())
    }
}
