//! What can be wrong with TLS, in our own words.

use std::fmt;

/// Why a server could not be trusted, or no keys were agreed on.
///
/// ```
/// use rootward_fetch::TlsFault;
/// assert_eq!(TlsFault::Expired.to_string(), "the certificate of the server has expired");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TlsFault {
    /// The certificate's time is over, or that of one on the way to the root.
    Expired,
    /// The certificate's time has not begun; or the clock here is wrong.
    NotYetValid,
    /// It is a certificate for another name than the one that was asked.
    WrongName,
    /// No root that is trusted here stands behind it.
    UnknownIssuer,
    /// It cannot be verified for another reason: revoked, a bad signature, not for servers.
    BadCertificate,
    /// What answered does not speak TLS.
    NotTls,
    /// The server wants a certificate of the client, and there is none to show.
    ClientCertificateWanted,
    /// No common version or cipher, or the server broke it off.
    Handshake,
}

impl TlsFault {
    /// The sentence of its `Display`.
    #[must_use]
    pub const fn phrase(self) -> &'static str {
        match self {
            Self::Expired => "the certificate of the server has expired",
            Self::NotYetValid => "the certificate of the server is not valid yet",
            Self::WrongName => "the certificate of the server is for another name",
            Self::UnknownIssuer => "the issuer of the server's certificate is not trusted here",
            Self::BadCertificate => "the certificate of the server cannot be verified",
            Self::NotTls => "the server does not speak TLS",
            Self::ClientCertificateWanted => "the server wants a client certificate",
            Self::Handshake => "the TLS handshake failed",
        }
    }
}

impl fmt::Display for TlsFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.phrase())
    }
}
