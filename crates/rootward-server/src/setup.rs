//! What the engine and the poller are told, out of a checked configuration.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use http::header::{ACCEPT, AUTHORIZATION, CACHE_CONTROL};
use http::{HeaderName, HeaderValue};
use rootward_config::{Checked, Credential, DEFAULT_INTERVAL};
use rootward_core::{Settings, Source, Target};
use rootward_fetch::{Tls, TlsError};

use crate::error::{Error, Kind};
use crate::poller::{self, Ask, Question, Reader};
use crate::pushed::Pushed;
use crate::roster::{Named, Roster};

pub(crate) fn settings(config: &Checked) -> Settings {
    Settings {
        epoch_interval: usual_interval(config),
        hold_limit: config.aggregator.page_within,
        page_unknown_after: config.aggregator.page_unknown_after,
        references: !config.aggregator.self_checks.is_empty(),
    }
}

/// Who is asked when it has to be told whether the aggregator itself can see.
pub(crate) fn references(config: &Checked) -> Result<Vec<rootward_fetch::Target>, Error> {
    let addresses = config.aggregator.self_checks.iter();
    let parsed = addresses.map(|address| {
        rootward_fetch::Target::parse(&format!("http://{address}/")).map_err(|source| {
            Kind::Target {
                who: format!("the self check tcp://{address}"),
                source,
            }
            .into()
        })
    });
    parsed.collect()
}

/// Who is polled: at first those who are written, and nobody yet of those who are looked up.
pub(crate) fn roster(config: &Checked) -> Result<Roster, Error> {
    let mut trust = Trust::default();
    let map = Arc::new(config.map.clone());
    let reader = |format, thresholds| Reader::new(format, thresholds, Arc::clone(&map));
    let written = config.targets.iter().map(|spec| {
        let target = Target {
            id: spec.id.clone(),
            interval: spec.interval,
            stale_after: spec.stale_after,
            thresholds: spec.thresholds,
            source: Source::Polled,
        };
        let url = asked(&spec.url, spec.roots.as_deref(), &spec.id, &mut trust)?;
        let ask = Ask {
            target: url,
            asked: question(&spec.url),
            timeout: spec.timeout,
            reader: reader(spec.format, spec.thresholds),
            headers: headers(spec.auth.as_ref()),
        };
        Ok((target, ask))
    });
    let written = written.collect::<Result<_, Error>>()?;
    let named = config.dns.iter().map(|spec| {
        let service = &spec.service;
        let target = asked(&spec.url, spec.roots.as_deref(), service, &mut trust)?;
        let ask = Ask {
            target,
            asked: question(&spec.url),
            timeout: spec.timeout,
            reader: reader(spec.format, spec.thresholds),
            headers: headers(spec.auth.as_ref()),
        };
        Ok((service.clone(), Named::new(ask, spec)))
    });
    let named = named.collect::<Result<_, Error>>()?;
    Ok(Roster::new(written, named, Pushed::new(&config.pushed)))
}

/// What is sent with each poll: no cache may answer in the target's place, and who asks.
fn headers(auth: Option<&Credential>) -> Arc<[(HeaderName, HeaderValue)]> {
    let mut headers = vec![
        (ACCEPT, HeaderValue::from_static(rootward_formats::ACCEPT)),
        (CACHE_CONTROL, HeaderValue::from_static("no-cache")),
    ];
    let shown = auth.map(|auth| match auth {
        Credential::Bearer(token) => format!("Bearer {}", token.expose()),
        Credential::Basic { user, password } => {
            let both = format!("{user}:{}", password.expose());
            format!("Basic {}", BASE64_STANDARD.encode(both))
        }
    });
    if let Some(shown) = shown {
        let mut value = HeaderValue::try_from(shown)
            .expect("a checked token is visible ASCII, and so is base64");
        // It is shown to the target and to nobody else.
        value.set_sensitive(true);
        headers.push((AUTHORIZATION, value));
    }
    headers.into()
}

/// What is asked of a URL: `grpc://HOST:PORT/SERVICE` names a service of gRPC.
fn question(url: &str) -> Question {
    match grpc(url) {
        None => Question::Http,
        Some((_, rest)) => {
            let service = rest.split_once('/').map_or("", |(_, service)| service);
            Question::Grpc(poller::question(service).into())
        }
    }
}

/// Whether a URL is one of gRPC: over TLS or not, and what stands behind the scheme.
fn grpc(url: &str) -> Option<(bool, &str)> {
    let (scheme, rest) = url.split_once("://")?;
    match scheme.to_ascii_lowercase().as_str() {
        "grpc" => Some((false, rest)),
        "grpcs" => Some((true, rest)),
        _ => None,
    }
}

/// Whom to ask: never at a link-local address, whatever a name resolves to.
fn asked(
    url: &str,
    roots: Option<&Path>,
    who: &impl ToString,
    trust: &mut Trust,
) -> Result<rootward_fetch::Target, Error> {
    let over_http;
    let url = match grpc(url) {
        None => url,
        Some((secured, rest)) => {
            let authority = rest.split('/').next().unwrap_or_default();
            let scheme = if secured { "https" } else { "http" };
            over_http = format!("{scheme}://{authority}/");
            &over_http
        }
    };
    let secured = url
        .get(..8)
        .is_some_and(|start| start.eq_ignore_ascii_case("https://"));
    let parsed = if secured {
        let tls = trust.of(roots).map_err(|source| Kind::Roots {
            who: who.to_string(),
            from: match roots {
                Some(file) => format!("the roots of {}", file.display()),
                None => "the roots of this machine".into(),
            },
            source,
        })?;
        rootward_fetch::Target::parse_with(url, tls)
    } else {
        rootward_fetch::Target::parse(url)
    };
    let target = parsed.map_err(|source| Kind::Target {
        who: who.to_string(),
        source,
    })?;
    Ok(target.refusing_link_local())
}

/// Whose certificates are believed: each file is read once, however many targets name it.
#[derive(Debug, Default)]
struct Trust {
    known: BTreeMap<Option<PathBuf>, Tls>,
}

impl Trust {
    fn of(&mut self, roots: Option<&Path>) -> Result<&Tls, TlsError> {
        match self.known.entry(roots.map(Path::to_path_buf)) {
            Entry::Occupied(known) => Ok(known.into_mut()),
            Entry::Vacant(unread) => Ok(unread.insert(match roots {
                Some(file) => Tls::trusting_file(file)?,
                None => Tls::system()?,
            })),
        }
    }
}

/// The interval that most instances have, which is what a round is; the longest of several equally common ones.
fn usual_interval(config: &Checked) -> Duration {
    let mut counts: BTreeMap<Duration, usize> = BTreeMap::new();
    let written = config.targets.iter().map(|target| target.interval);
    for interval in written.chain(config.dns.iter().map(|named| named.interval)) {
        *counts.entry(interval).or_default() += 1;
    }
    counts
        .into_iter()
        .max_by_key(|(interval, count)| (*count, *interval))
        .map_or(DEFAULT_INTERVAL, |(interval, _)| interval)
}

#[cfg(test)]
mod tests {
    use rootward_config::{Source, compile};

    use super::*;

    fn compiled(url: &str) -> Option<Checked> {
        let quoted = url.replace('\'', "''");
        let text = format!("services: [{{name: cart, health: {{url: '{quoted}'}}}}]");
        let file = "rootward.yaml".to_owned();
        compile(&[Source { file, text }], &BTreeMap::new()).ok()
    }

    #[test]
    fn a_file_of_roots_that_cannot_be_read_is_named() {
        let mut config = compiled("https://cart/health").expect("it is valid");
        config.targets[0].roots = Some("/no/such/ca.pem".into());
        let error = roster(&config).expect_err("there is no such file");
        assert_eq!(
            error.to_string(),
            "cannot poll cart#cart:443 over TLS with the roots of /no/such/ca.pem"
        );
    }

    /// Two crates read URLs: what the one calls valid, the other must be able to ask.
    #[test]
    fn every_url_that_a_configuration_may_hold_can_be_asked() {
        let (mut taken, mut refused) = (0, Vec::new());
        for character in (0x20_u8..0x7f).map(char::from) {
            for url in [
                format!("http://a{character}b/health"),
                format!("http://a:8790/a{character}b"),
                format!("http://a:8790/?a{character}b"),
                format!("http://a:87{character}/"),
                format!("http://{character}"),
                format!("http://[::{character}]:1/"),
                format!("HTTP://A{character}"),
                format!("https://a{character}b:443/"),
                format!("Https://[::{character}]/"),
                format!("grpc://a{character}b:443/shop.v1.Stock"),
                format!("GRPCS://a:443/a{character}b"),
            ] {
                let Some(config) = compiled(&url) else {
                    continue;
                };
                taken += 1;
                if let Err(error) = roster(&config) {
                    let source = std::error::Error::source(&error).map(ToString::to_string);
                    refused.push(format!("{url}: {}", source.unwrap_or_default()));
                }
            }
        }
        assert!(taken > 200, "only {taken} of them are valid");
        assert!(refused.is_empty(), "{}", refused.join("\n"));
    }
}
