//! What is polled: one target for each URL, each instance and each URL once.

use std::collections::BTreeMap;
use std::path::PathBuf;

use rootward_core::{InstanceId, Name};
use rootward_formats::{Choice, Format};

use super::timing::Timing;
use crate::checked::{DnsSpec, PushSpec, TargetSpec};
use crate::place::{Field, Located, Log, Place};
use crate::problem::Fault;
use crate::raw::{RawFile, RawService, RawTiming, RawUrl};
use crate::rule::Rule;
use crate::url::TargetUrl;

/// Checks the addresses of every service.
pub(super) fn check(
    written: &RawFile,
    defaults: &RawTiming,
    log: &mut Log,
) -> (Vec<TargetSpec>, Vec<DnsSpec>, Vec<PushSpec>) {
    let defaults = Timing::of_defaults(defaults, log);
    let usual_auth = written.defaults.as_ref().and_then(|d| d.auth.value());
    let usual_roots = written.defaults.as_ref().and_then(|d| d.roots.value());
    let usual_format = written.defaults.as_ref().and_then(|d| d.format.value());
    let mut polled: BTreeMap<&TargetUrl, &Place> = BTreeMap::new();
    let mut targets = Vec::new();
    let mut dns = Vec::new();
    let mut pushed = Vec::new();
    for service in &written.services {
        check_at_least(service, log);
        check_roots(service, log);
        let auth = service.auth.value().or(usual_auth).cloned().flatten();
        let roots = service.roots.value().or(usual_roots);
        let format = service.format.value().or(usual_format);
        let format = format.copied().unwrap_or_default();
        check_grpc_format(service, log);
        let timing = defaults.of_service(&service.timing, log);
        if let (Field::Given(url), Some(service), Some(timing)) =
            (&service.dns, service.name.value(), &timing)
        {
            dns.push(DnsSpec {
                service: service.clone(),
                url: url.value.to_string(),
                roots: roots.filter(|_| url.value.is_secured()).map(PathBuf::from),
                auth: auth.clone(),
                interval: timing.interval,
                timeout: timing.timeout,
                stale_after: timing.stale_after,
                thresholds: timing.thresholds,
                format,
            });
        }
        if let (Some(true), Some(service), Some(timing)) =
            (service.push.value(), service.name.value(), &timing)
        {
            pushed.push(PushSpec {
                service: service.clone(),
                stale_after: timing.stale_after,
                thresholds: timing.thresholds,
            });
        }
        let mut instances: BTreeMap<Name, &Place> = BTreeMap::new();
        for RawUrl { url, instance } in &service.urls {
            if let Some(first) = polled.get(&url.value) {
                let at = log.reference(first, &url.place);
                let message = format!("this URL is already polled: {at}");
                log.problem(
                    &url.place,
                    Fault::new(message, "an instance has one URL, and a URL one instance")
                        .of(Rule::Duplicate),
                );
                continue;
            }
            polled.insert(&url.value, &url.place);
            let Some((instance, place)) = instance_of(url, instance, log) else {
                continue;
            };
            if let Some(first) = instances.get(&instance) {
                let at = log.reference(first, place);
                let message = format!("`{instance}` is already an instance of this service: {at}");
                log.problem(
                    place,
                    Fault::new(message, "name them: urls: [{url: …, instance: …}]")
                        .of(Rule::Duplicate),
                );
                continue;
            }
            instances.insert(instance.clone(), place);
            let (Some(service), Some(timing)) = (service.name.value(), &timing) else {
                continue;
            };
            targets.push(TargetSpec {
                id: InstanceId {
                    service: service.clone(),
                    instance,
                },
                url: url.value.to_string(),
                roots: roots.filter(|_| url.value.is_secured()).map(PathBuf::from),
                auth: auth.clone(),
                interval: timing.interval,
                timeout: timing.timeout,
                stale_after: timing.stale_after,
                thresholds: timing.thresholds,
                format,
            });
        }
    }
    (targets, dns, pushed)
}

/// A gRPC server answers in one way only.
fn check_grpc_format(service: &RawService, log: &mut Log) {
    let Field::Given(format) = &service.format else {
        return;
    };
    let is_fit = match format.value {
        Choice::Auto | Choice::Named(Format::Grpc) => true,
        Choice::Named(_) => false,
    };
    let mut urls = service.urls.iter().map(|url| &url.url.value);
    let dns = service.dns.value().is_some_and(TargetUrl::is_grpc);
    if !is_fit && (dns || urls.any(TargetUrl::is_grpc)) {
        let message = "a grpc:// URL is answered as grpc.health.v1 and in no other format";
        log.problem(
            &format.place,
            Fault::new(message, "remove `format`").of(Rule::Contradiction),
        );
    }
}

/// Whoever says whom to believe expects a certificate to be shown.
fn check_roots(service: &RawService, log: &mut Log) {
    let Field::Given(roots) = &service.roots else {
        return;
    };
    let mut urls = service.urls.iter().map(|url| &url.url.value);
    let asked = service.urls.len() + usize::from(service.dns.value().is_some());
    if asked > 0
        && !urls.any(TargetUrl::is_secured)
        && !service.dns.value().is_some_and(TargetUrl::is_secured)
    {
        let message = "no URL of this service is asked over TLS, so nobody shows a certificate";
        log.problem(
            &roots.place,
            Fault::new(message, "write https:// URLs, or remove `roots`").of(Rule::Contradiction),
        );
    }
}

fn check_at_least(service: &RawService, log: &mut Log) {
    let (Some(at_least), Some(urls)) = (service.at_least.given(), service.urls_written) else {
        return;
    };
    if at_least.value > urls {
        let (verb, plural, fewer) = match urls {
            1 => ("is", "", "remove `instances`".to_owned()),
            more => ("are", "s", format!("ask for {more} or fewer")),
        };
        let message = format!(
            "{} are asked for, but there {verb} {urls} URL{plural}",
            at_least.value
        );
        log.problem(
            &at_least.place,
            Fault::new(message, format!("list more URLs, or {fewer}")).of(Rule::Contradiction),
        );
    }
}

/// The name that was given, or host and port, and where it comes from.
fn instance_of<'w>(
    url: &'w Located<TargetUrl>,
    given: &'w Field<Name>,
    log: &mut Log,
) -> Option<(Name, &'w Place)> {
    match given {
        Field::Given(Located { value, place }) => Some((value.clone(), place)),
        Field::Refused => None,
        Field::Absent => match Name::parse(&url.value.instance_name()) {
            Ok(name) => Some((name, &url.place)),
            Err(_) => {
                let message = "host and port are too long for the name of an instance";
                let help = "name it: urls: [{url: …, instance: …}]";
                log.problem(&url.place, Fault::new(message, help));
                None
            }
        },
    }
}
