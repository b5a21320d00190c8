//! The one place that decides who may ask for what. What it does not know, it refuses.
//!
//! It reads no clock and opens no socket: `now`, the peer, the headers and the verified certificate are arguments.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
#[cfg(feature = "tls")]
use std::sync::Arc;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use arc_swap::ArcSwap;
use http::HeaderMap;
use http::header::{AUTHORIZATION, FORWARDED, HOST, HeaderName, VIA};
use http::uri::Authority;
use tokio::time::Instant;

use crate::telemetry::Journal;

use super::Access;
use super::failures::Failures;
use super::level::Level;
use super::misuse::Misuse;
use super::rate::{Rate, Rates};
use super::source::Source;
use super::token::{TokenDigest, TokenId};
use super::tokens::{Accepted, TokensError, Verdict, parse_file};
use super::watch::Contents;
#[cfg(feature = "tls")]
use super::{ClientCertificate, ClientName};
#[cfg(feature = "tls")]
use crate::probe::Tls;

/// `X-Forwarded-For`, `-Host`, `-Proto` and their like.
const FORWARDED_PREFIX: &str = "x-forwarded-";

const REAL_IP: HeaderName = HeaderName::from_static("x-real-ip");

/// For one word, for each source.
const PUBLIC: Rate = Rate {
    per_second: 10,
    burst: 50,
};

/// For detailed answers, for each caller who is known.
const DETAILED: Rate = Rate {
    per_second: 20,
    burst: 20,
};

/// For detailed answers, for all callers together.
const DETAILED_IN_ALL: Rate = Rate {
    per_second: 1000,
    burst: 1000,
};

/// The most sources whose rate is remembered one by one.
const MAX_SOURCES: usize = 4096;

/// The most callers who are known whose rate is remembered one by one: this machine, the tokens, the certificates, and
/// those whom they replaced a moment ago.
const MAX_PRINCIPALS: usize = 256;

/// Whose connection a request came over.
#[derive(Debug, Clone, Default)]
pub(crate) struct Caller {
    /// None if nobody told us: then it is not this machine.
    pub(crate) address: Option<SocketAddr>,
    /// What it proved when the connection was made.
    #[cfg(feature = "tls")]
    pub(crate) certificate: Option<Arc<ClientCertificate>>,
}

impl From<Option<SocketAddr>> for Caller {
    fn from(address: Option<SocketAddr>) -> Self {
        Self {
            address,
            #[cfg(feature = "tls")]
            certificate: None,
        }
    }
}

/// Who was let in.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Principal {
    /// It did not matter.
    Anybody,
    /// A caller on this machine.
    Loopback,
    /// Whoever has this token.
    Token(TokenId),
    /// Whoever has a certificate with this name.
    #[cfg(feature = "tls")]
    Certificate(ClientName),
}

/// Why somebody was not let in. What exactly was wrong is not said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// Nobody who is known.
    Stranger,
    /// It may be asked again after this time.
    TooMany(Duration),
}

/// Decides, and counts.
pub(crate) struct Gate {
    loopback: bool,
    open_metrics: bool,
    unlimited_rates: bool,
    tokens: Option<TokenSet>,
    #[cfg(feature = "tls")]
    allowed: Vec<ClientName>,
    #[cfg(feature = "tls")]
    pub(crate) tls: Option<Tls>,
    /// Not locked for open endpoints: they wait for nobody. Held for microseconds, also where an application's thread and
    /// the probe thread share it.
    counts: Mutex<Counts>,
    pub(crate) misuse: Misuse,
}

struct TokenSet {
    accepted: ArcSwap<Accepted>,
    file: Option<PathBuf>,
}

struct Counts {
    public: Rates<Source>,
    detailed: Rates<Principal>,
    in_all: Option<Instant>,
    failures: Failures,
}

impl Gate {
    /// Or everything that is wrong with what was said, each with its subject.
    pub(crate) fn new(
        access: &Access,
        journal: Journal,
        born: Instant,
        wall: SystemTime,
    ) -> Result<Self, Vec<(&'static str, String)>> {
        let mut problems = Vec::new();
        let tokens = access.tokens.as_ref().and_then(|tokens| {
            let accepted = match tokens.read(wall) {
                Ok(accepted) => accepted,
                Err(found) => {
                    problems.extend(found.into_iter().map(|text| ("tokens", text)));
                    return None;
                }
            };
            Some(TokenSet {
                accepted: ArcSwap::from_pointee(accepted),
                file: tokens.path().map(Path::to_owned),
            })
        });
        #[cfg(feature = "tls")]
        let tls = access.certificates.as_ref().and_then(|certificates| {
            let mut found = certificates.problems();
            let tls = Tls::new(certificates);
            let tls = tls.map_err(|problem| found.push(problem)).ok();
            problems.extend(found.into_iter().map(|text| ("client certificates", text)));
            tls
        });
        if !access.loopback && !access.has_credentials() {
            let text = "without loopback, tokens or client certificates nobody may read the detailed report";
            problems.push(("access", text.to_owned()));
        }
        if !problems.is_empty() {
            return Err(problems);
        }
        Ok(Self {
            loopback: access.loopback,
            open_metrics: access.open_metrics,
            unlimited_rates: access.unlimited_rates,
            tokens,
            #[cfg(feature = "tls")]
            allowed: access
                .certificates
                .as_ref()
                .map_or_else(Vec::new, |certificates| certificates.names.clone()),
            #[cfg(feature = "tls")]
            tls,
            counts: Mutex::new(Counts {
                public: Rates::new(PUBLIC, MAX_SOURCES),
                detailed: Rates::new(DETAILED, MAX_PRINCIPALS),
                in_all: None,
                failures: Failures::new(journal.clone()),
            }),
            misuse: Misuse::new(born, journal),
        })
    }

    /// Lets in or refuses. The wall clock is read only where a token may have expired.
    pub(crate) fn admit(
        &self,
        level: Level,
        caller: &Caller,
        headers: &HeaderMap,
        now: Instant,
        wall: impl Fn() -> SystemTime,
    ) -> Result<Principal, Refusal> {
        match level {
            Level::Open => return Ok(Principal::Anybody),
            Level::Public => return self.public(caller, now),
            Level::Metrics if self.open_metrics => return self.public(caller, now),
            Level::Metrics | Level::Detailed | Level::Deep => {}
        }
        let principal = self.identify(caller, headers, now, wall)?;
        if self.unlimited_rates {
            return Ok(principal);
        }
        let mut counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        let taken = counts
            .detailed
            .take(principal.clone(), now)
            .and_then(|()| DETAILED_IN_ALL.take(counts.in_all.get_or_insert(now), now));
        taken.map_err(Refusal::TooMany)?;
        Ok(principal)
    }

    fn public(&self, caller: &Caller, now: Instant) -> Result<Principal, Refusal> {
        if !self.unlimited_rates {
            let mut counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
            let taken = counts.public.take(Source::of(caller.address), now);
            taken.map_err(Refusal::TooMany)?;
        }
        Ok(Principal::Anybody)
    }

    /// Who asks, by the strongest proof that is shown.
    pub(crate) fn identify(
        &self,
        caller: &Caller,
        headers: &HeaderMap,
        now: Instant,
        wall: impl Fn() -> SystemTime,
    ) -> Result<Principal, Refusal> {
        #[cfg(feature = "tls")]
        if let Some(certificate) = &caller.certificate
            && let Some(name) = certificate.one_of(&self.allowed, wall())
        {
            return Ok(Principal::Certificate(name.clone()));
        }
        if let Some(tokens) = &self.tokens
            && headers.contains_key(AUTHORIZATION)
        {
            return self.judge(&tokens.accepted.load(), caller, headers, now, wall());
        }
        let is_here = caller
            .address
            .is_some_and(|peer| peer.ip().to_canonical().is_loopback());
        if self.loopback && is_here && !is_passed_on(headers) && asks_for_this_machine(headers) {
            return Ok(Principal::Loopback);
        }
        Err(Refusal::Stranger)
    }

    fn judge(
        &self,
        accepted: &Accepted,
        caller: &Caller,
        headers: &HeaderMap,
        now: Instant,
        wall: SystemTime,
    ) -> Result<Principal, Refusal> {
        let source = Source::of(caller.address);
        let shown = bearer(headers).unwrap_or_default();
        let id = accepted.id_shown(shown);
        let mut counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(wait) = counts.failures.wait(source, id, now) {
            return Err(Refusal::TooMany(wait));
        }
        match accepted.judge(shown, wall) {
            Verdict::Right(token) => Ok(Principal::Token(token)),
            Verdict::Wrong(token) => Err(counts
                .failures
                .fail(source, token, now)
                .map_or(Refusal::Stranger, Refusal::TooMany)),
        }
    }

    pub(super) fn tokens_path(&self) -> Option<&Path> {
        self.tokens.as_ref()?.file.as_deref()
    }

    /// The contents of the file of tokens, or what is wrong with them; then nothing changes.
    pub(super) fn take_tokens_file(
        &self,
        contents: &Contents,
        wall: SystemTime,
    ) -> Result<(), String> {
        for bytes in contents {
            let accepted = parse_file(bytes, wall).map_err(|error| format!("the file {error}"))?;
            if let Some(set) = &self.tokens {
                set.accepted.store(accepted.into());
            }
        }
        Ok(())
    }

    /// Replaces the accepted tokens; the ones before are refused from here on.
    pub(crate) fn set_tokens(&self, tokens: Vec<TokenDigest>) -> Result<(), TokensError> {
        let set = self.tokens.as_ref().ok_or(TokensError::NotUsed)?;
        if set.file.is_some() {
            return Err(TokensError::FromFile);
        }
        set.accepted.store(Accepted::new(tokens)?.into());
        Ok(())
    }
}

/// Whether a proxy says that it asks for somebody else.
fn is_passed_on(headers: &HeaderMap) -> bool {
    let said = |name: &HeaderName| name == FORWARDED || name == VIA || name == REAL_IP;
    headers
        .keys()
        .any(|name| said(name) || name.as_str().starts_with(FORWARDED_PREFIX))
}

/// Whether the request is addressed as one from this machine is: to an address, to `localhost` or to a name without a
/// dot. A public name means a proxy that does not say so, or a browser that a page of that name sends here (DNS
/// rebinding).
fn asks_for_this_machine(headers: &HeaderMap) -> bool {
    headers.get_all(HOST).iter().all(|host| {
        let Ok(Ok(host)) = host.to_str().map(str::parse::<Authority>) else {
            return false;
        };
        let name = host.host();
        let name = name.strip_suffix('.').unwrap_or(name);
        let is_local = !name.contains('.') || name.to_ascii_lowercase().ends_with(".localhost");
        is_local || name.starts_with('[') || name.parse::<Ipv4Addr>().is_ok()
    })
}

/// The token of a single `Authorization: Bearer` (RFC 6750, section 2.1); the other two places that it names, the body
/// and the URL, are not looked at.
fn bearer(headers: &HeaderMap) -> Option<&[u8]> {
    let mut values = headers.get_all(AUTHORIZATION).iter();
    let value = values.next()?.as_bytes();
    if values.next().is_some() {
        return None;
    }
    let (scheme, token) = value.split_at_checked("Bearer ".len())?;
    scheme
        .eq_ignore_ascii_case(b"Bearer ")
        .then(|| token.trim_ascii())
}

impl Access {
    fn has_credentials(&self) -> bool {
        #[cfg(feature = "tls")]
        if self.certificates.is_some() {
            return true;
        }
        self.tokens.is_some()
    }
}

#[cfg(test)]
mod tests;
