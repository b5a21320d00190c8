//! How long the certificate of a server is still good, whatever the server speaks behind it.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use rootward::{Check, Depth, Failure, Outcome, Unlabelled};
use rootward_fetch::{Reached, Target, reach};

use super::Unusable;
use super::roots::Roots;
use super::target::endpoint;
use crate::asking::{deadline, ends_within, no_answer};

/// Whose certificate is looked at, and when its end is near.
///
/// ```
/// use std::time::Duration;
/// use rootward_checks::open::TlsSettings;
///
/// const DAY: Duration = Duration::from_secs(24 * 60 * 60);
/// let settings = TlsSettings {
///     warn_before: DAY * 30,
///     fail_before: DAY * 3,
///     ..TlsSettings::new("ldap.internal", 636)
/// };
/// ```
#[derive(Debug, Clone)]
pub struct TlsSettings {
    /// A name or an address. The certificate must be for it.
    pub host: String,
    /// The port, of a server that begins with TLS. Protocols that begin plain (STARTTLS) cannot be asked.
    pub port: u16,
    /// Whose certificates are believed.
    pub roots: Roots,
    /// Degraded when the certificate ends within this time.
    pub warn_before: Duration,
    /// Down when the certificate ends within this time: it is certain to be an outage soon. Zero waits for the end.
    pub fail_before: Duration,
}

impl TlsSettings {
    /// Degraded 21 days before the end, down when it has come.
    pub fn new(host: impl Into<String>, port: u16) -> Self {
        Self {
            host: host.into(),
            port,
            roots: Roots::System,
            warn_before: Duration::from_secs(21 * 24 * 60 * 60),
            fail_before: Duration::ZERO,
        }
    }
}

/// Makes a connection and the handshake of TLS, and looks at the end of the server's certificate.
///
/// | what happens | result |
/// | --- | --- |
/// | the certificate is good for longer than both limits | up |
/// | it ends within `warn_before` | degraded, `tls`, with the days |
/// | it ends within `fail_before` | down, `tls`, with the days |
/// | it has expired, is for another name, or its issuer is not trusted; no TLS is spoken | down, `tls` |
/// | nothing within the time limit | down, `timeout`, with what was waited for |
/// | nothing listens, the connection breaks, the name does not resolve | `connection_refused`, `connection_reset`, `dns` |
///
/// The whole chain is verified; the end that counts is that of the server's own certificate. A run costs the server one
/// handshake, about a millisecond of a core: once a minute or an hour is enough
/// ([`Check::interval`](rootward::Check::interval)). It does not prove that the protocol behind it is served, nor that
/// all servers behind one name have the same certificate.
///
/// # Errors
/// When host or port cannot be, the roots cannot be read, or the warning would come after the failure.
///
/// ```no_run
/// use rootward_checks::open::TlsSettings;
///
/// let check = rootward_checks::tls("shop", TlsSettings::new("shop.example.org", 443))?.informational(); // tls://shop.example.org:443
/// # Ok::<(), rootward_checks::open::Unusable>(())
/// ```
#[expect(
    clippy::needless_pass_by_value,
    reason = "settings are given away, as with every kind"
)]
pub fn tls(name: impl Into<String>, settings: TlsSettings) -> Result<Check<Unlabelled>, Unusable> {
    if settings.fail_before > settings.warn_before {
        return Err(Unusable::because(&[
            "the warning would come after the failure",
        ]));
    }
    let (target, identity) = endpoint(&settings.host, settings.port, |authority| {
        let url = format!("https://{authority}");
        Ok(Target::parse_with(&url, &settings.roots.load()?)?)
    })?;
    let target = Arc::new(target);
    let (warn, fail) = (settings.warn_before, settings.fail_before);
    let check = Check::with_context(name, move |context| {
        let target = Arc::clone(&target);
        async move {
            let reached = reach(&target, deadline(&context))
                .await
                .map_err(|error| no_answer(error, &context))?;
            judge(&reached, SystemTime::now(), warn, fail)
        }
    });
    let check = check.kind("tls").depth(Depth::Connect);
    Ok(check.target(format!("tls://{identity}")))
}

fn judge(
    reached: &Reached,
    now: SystemTime,
    warn: Duration,
    fail: Duration,
) -> Result<Outcome, Failure> {
    let expires = reached.certificate_expires;
    if !fail.is_zero()
        && let Some(failure) = ends_within(expires, now, fail)
    {
        return Err(failure);
    }
    Ok(ends_within(expires, now, warn).map_or(Outcome::Up, Outcome::Degraded))
}
