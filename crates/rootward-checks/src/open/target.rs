//! Whom to ask through `rootward-fetch`, out of settings.

#[cfg(any(feature = "clock", feature = "tcp", feature = "tls"))]
use rootward_fetch::Target;
use rootward_fetch::TargetError;

use super::Unusable;

/// The sentences of a URL that cannot be asked hold nothing of it.
impl From<TargetError> for Unusable {
    fn from(error: TargetError) -> Self {
        Self(error.to_string())
    }
}

/// A host and a port as a target, and as they are shown.
#[cfg(any(feature = "clock", feature = "tcp", feature = "tls"))]
pub(super) fn endpoint(
    host: &str,
    port: u16,
    read: impl FnOnce(&str) -> Result<Target, Unusable>,
) -> Result<(Target, String), Unusable> {
    let bracketed = match host.parse::<std::net::Ipv6Addr>() {
        Ok(_) => format!("[{host}]"),
        Err(_) => host.to_owned(),
    };
    if bracketed.contains(['/', '?', '#', '@'])
        || (bracketed.contains(':') && !bracketed.starts_with('['))
    {
        return Err(Unusable::because(&[
            "the host is a name or an address, without scheme, port and path",
        ]));
    }
    let identity = format!("{}:{port}", bracketed.to_ascii_lowercase());
    Ok((read(&identity)?, identity))
}
