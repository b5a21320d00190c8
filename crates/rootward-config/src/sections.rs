//! Reads the sections of a file, from the tree into [`RawFile`].

use std::time::Duration;

use crate::credential;
use crate::duration::{self, Range};
use crate::expand::Text;
use crate::keys;
use crate::place::{Field, Located};
use crate::problem::Fault;
use crate::raw::{
    RawAggregator, RawDefaults, RawDependency, RawFile, RawGroup, RawListen, RawResource,
    RawService, RawTiming, RawUrl,
};
use crate::read::{Fields, Item, Reader};
use crate::rule::Rule;
use crate::targets;
use crate::tree::Node;
use crate::url::TargetUrl;
use crate::values;

/// One poll per instance in this time.
pub(crate) const INTERVAL: Range = Range::millis(100, 3_600_000);
/// The whole exchange of one poll.
pub(crate) const TIMEOUT: Range = Range::millis(10, 60_000);
/// The age at which a report counts as unknown. The lower end is really interval plus timeout.
pub(crate) const STALE_AFTER: Range = Range::millis(110, 86_400_000);
/// From the first evidence to the page, and from silence to the page.
pub(crate) const PAGE: Range = Range::millis(1_000, 3_600_000);
/// Between two looks at a label.
pub(crate) const REVIEW: Range = Range::millis(86_400_000, 5 * 365 * 86_400_000);
/// The most agreeing outcomes that `fall` and `rise` may ask for.
pub(crate) const MAX_THRESHOLD: usize = 20;

/// Reads a whole document. What cannot be read is in the log and missing from the result.
pub(crate) fn read(document: &Node, reader: &mut Reader<'_>) -> RawFile {
    let Field::Given(Located { value: root, .. }) = reader.root(document, &keys::ROOT) else {
        return RawFile::unreadable();
    };
    let services = reader.list(&root, "services", keys::SERVICE.example);
    let services_refused = match &services {
        Field::Given(items) => !items.value.is_empty(),
        Field::Refused => true,
        Field::Absent => root.has_misspelt("services"),
    };
    RawFile {
        aggregator: aggregator(&root, reader),
        defaults: defaults(&root, reader),
        listen: listen(&root, reader),
        services: each(services, |item| service(item, reader)),
        resources: each(
            reader.list(&root, "resources", keys::RESOURCE.example),
            |item| resource(item, reader),
        ),
        groups: each(reader.list(&root, "groups", keys::GROUP.example), |item| {
            group(item, reader)
        }),
        services_refused,
    }
}

/// What could be read of a list's items.
pub(crate) fn each<'t, T>(
    list: Field<Vec<Item<'t>>>,
    read: impl FnMut(&Item<'t>) -> Option<T>,
) -> Vec<T> {
    match list {
        Field::Given(items) => items.value.iter().filter_map(read).collect(),
        Field::Refused | Field::Absent => Vec::new(),
    }
}

pub(crate) fn given<T>(field: Field<T>) -> Option<T> {
    match field {
        Field::Given(located) => Some(located.value),
        Field::Refused | Field::Absent => None,
    }
}

pub(crate) fn within(range: Range) -> impl FnOnce(&Text) -> Result<Duration, Fault> {
    move |text| duration::parse(text, range)
}

pub(crate) fn threshold(text: &Text) -> Result<u8, Fault> {
    let number = values::number(text, 1, MAX_THRESHOLD)?;
    Ok(u8::try_from(number).expect("the range ends below 256"))
}

fn aggregator(root: &Fields<'_>, reader: &mut Reader<'_>) -> Option<RawAggregator> {
    let fields = given(reader.section(root, "aggregator", &keys::AGGREGATOR))?;
    let self_checks = reader.list(&fields, "self_checks", "[tcp://10.0.0.1:53]");
    Some(RawAggregator {
        place: fields.place.clone(),
        self_checks: each(self_checks, |item| {
            match reader.scalar(item, values::self_check) {
                Field::Given(address) => Some(address),
                Field::Refused | Field::Absent => None,
            }
        }),
        environment: reader.value(&fields, "environment", values::name),
        zone: reader.value(&fields, "zone", values::name),
        page_within: reader.value(&fields, "page_within", within(PAGE)),
        page_unknown_after: reader.value(&fields, "page_unknown_after", within(PAGE)),
    })
}

fn defaults(root: &Fields<'_>, reader: &mut Reader<'_>) -> Option<RawDefaults> {
    let fields = given(reader.section(root, "defaults", &keys::DEFAULTS))?;
    let health = reader.section(&fields, "health", &keys::DEFAULT_HEALTH);
    let (timing, roots, format, auth) = match health {
        Field::Given(health) => (
            timing(&health.value, reader),
            roots(&health.value, reader),
            reader.value(&health.value, "format", values::format),
            credential::read(&health.value, reader),
        ),
        Field::Refused => (
            RawTiming::ABSENT,
            Field::Refused,
            Field::Refused,
            Field::Refused,
        ),
        Field::Absent => (
            RawTiming::ABSENT,
            Field::Absent,
            Field::Absent,
            Field::Absent,
        ),
    };
    Some(RawDefaults {
        place: fields.place,
        timing,
        roots,
        format,
        auth,
    })
}

fn timing(fields: &Fields<'_>, reader: &mut Reader<'_>) -> RawTiming {
    RawTiming {
        interval: reader.value(fields, "interval", within(INTERVAL)),
        timeout: reader.value(fields, "timeout", within(TIMEOUT)),
        stale_after: reader.value(fields, "stale_after", within(STALE_AFTER)),
        fall: reader.value(fields, "fall", threshold),
        rise: reader.value(fields, "rise", threshold),
    }
}

/// The file of those whose certificates are believed.
fn roots(fields: &Fields<'_>, reader: &mut Reader<'_>) -> Field<String> {
    reader.value(fields, "roots", values::file)
}

fn listen(root: &Fields<'_>, reader: &mut Reader<'_>) -> Option<RawListen> {
    let fields = given(reader.section(root, "listen", &keys::LISTEN))?;
    let internal = match reader.section(&fields, "internal", &keys::INTERNAL) {
        Field::Given(internal) => reader.value(&internal.value, "bind", values::loopback),
        Field::Refused => Field::Refused,
        Field::Absent => Field::Absent,
    };
    Some(RawListen {
        place: fields.place,
        internal,
    })
}

fn service(item: &Item<'_>, reader: &mut Reader<'_>) -> Option<RawService> {
    let fields = given(reader.mapping(item, &keys::SERVICE))?;
    let name = reader.value(&fields, "name", values::name);
    let name = reader.required(
        &fields,
        "name",
        name,
        "every service has a name, such as `name: cart`",
    );
    let health = reader.section(&fields, "health", &keys::HEALTH);
    let health = reader.required(
        &fields,
        "health",
        health,
        "say where its report is: health: {url: http://HOST:PORT/health}",
    );
    let (push, dns, (urls, urls_written), timing, roots, format, auth) = match given(health) {
        Some(health) => {
            let dns = reader.value(&health, "dns", parse_dns);
            let push = reader.value(&health, "push", values::flag);
            let urls = match (&dns, targets::read(&health, reader)) {
                (Field::Absent, Field::Absent) => match &push {
                    Field::Given(Located { value: true, .. }) => no_urls(&health, "push", reader),
                    Field::Given(Located { value: false, .. }) | Field::Absent => {
                        urls(&health, reader)
                    }
                    // Whether URLs are missing cannot be told.
                    Field::Refused => (Vec::new(), None),
                },
                (dns, targets) if push.value() == Some(&true) => {
                    let other = match (dns, &targets) {
                        (Field::Absent, _) => "targets",
                        (Field::Given(_) | Field::Refused, _) => "dns",
                    };
                    let help = "keep the one from which all instances are found";
                    let message = format!("both `push` and `{other}` are given");
                    let fault = Fault::new(message, help).of(Rule::Contradiction);
                    reader.log.problem(&health.place, fault);
                    (Vec::new(), None)
                }
                (Field::Absent, Field::Given(targets)) => {
                    no_urls(&health, "targets", reader);
                    (targets.value, None)
                }
                (Field::Absent, Field::Refused) => no_urls(&health, "targets", reader),
                (Field::Given(_) | Field::Refused, Field::Absent) => {
                    no_urls(&health, "dns", reader)
                }
                (Field::Given(_) | Field::Refused, _) => {
                    let help = "keep the one from which all instances are found";
                    let fault = Fault::new("both `dns` and `targets` are given", help);
                    let fault = fault.of(Rule::Contradiction);
                    reader.log.problem(&health.place, fault);
                    (Vec::new(), None)
                }
            };
            let timing = timing(&health, reader);
            let format = reader.value(&health, "format", values::format);
            let auth = credential::read(&health, reader);
            (
                push,
                dns,
                urls,
                timing,
                roots(&health, reader),
                format,
                auth,
            )
        }
        None => (
            Field::Refused,
            Field::Refused,
            (Vec::new(), None),
            RawTiming::ABSENT,
            Field::Refused,
            Field::Refused,
            Field::Refused,
        ),
    };
    let at_least = match reader.section(&fields, "instances", &keys::INSTANCES) {
        Field::Given(instances) => reader.value(&instances.value, "at_least", |text| {
            values::number(text, 1, usize::MAX)
        }),
        Field::Refused => Field::Refused,
        Field::Absent => Field::Absent,
    };
    let dependencies = reader.list(&fields, "dependencies", keys::DEPENDENCY.example);
    Some(RawService {
        name,
        owner: reader.value(&fields, "owner", values::label),
        namespace: reader.value(&fields, "namespace", values::name),
        zone: reader.value(&fields, "zone", values::name),
        urls,
        dns,
        push,
        urls_written,
        timing,
        roots,
        format,
        auth,
        at_least,
        dependencies: each(dependencies, |item| dependency(item, reader)),
    })
}

/// The addresses of a service, and how many were written.
fn urls(health: &Fields<'_>, reader: &mut Reader<'_>) -> (Vec<RawUrl>, Option<usize>) {
    let one = reader.value(health, "url", parse_url);
    let many = reader.list(health, "urls", keys::URL.example);
    match (one, many) {
        (Field::Absent, Field::Absent)
            if ["url", "urls", "dns", "targets", "push"]
                .iter()
                .any(|key| health.has_misspelt(key)) =>
        {
            (Vec::new(), None)
        }
        (Field::Absent, Field::Absent) => {
            let help = "say where the report is: url: http://HOST:PORT/health";
            reader.log.problem(
                &health.place,
                Fault::new("`url` is missing", help).of(Rule::Missing),
            );
            (Vec::new(), None)
        }
        (Field::Given(url), Field::Absent) => {
            let instance = Field::Absent;
            (vec![RawUrl { url, instance }], Some(1))
        }
        (Field::Absent, Field::Given(items)) => {
            let written = items.value.len();
            if written == 0 {
                let fault = Fault::new(
                    "the list of URLs is empty",
                    "write one URL for each instance",
                )
                .of(Rule::Missing);
                reader.log.problem(&items.place, fault);
                return (Vec::new(), None);
            }
            let urls = items
                .value
                .iter()
                .filter_map(|item| url(item, reader))
                .collect();
            (urls, Some(written))
        }
        (Field::Refused, Field::Absent) | (Field::Absent, Field::Refused) => (Vec::new(), None),
        (_, _) => {
            let fault = Fault::new(
                "both `url` and `urls` are given",
                "move the one URL into the list",
            )
            .of(Rule::Contradiction);
            reader.log.problem(&health.place, fault);
            (Vec::new(), None)
        }
    }
}

/// Where all instances are found by one key, no instance is written beside it.
fn no_urls(
    health: &Fields<'_>,
    found_by: &str,
    reader: &mut Reader<'_>,
) -> (Vec<RawUrl>, Option<usize>) {
    let url = reader.value(health, "url", parse_url);
    let urls = reader.list(health, "urls", keys::URL.example);
    if !matches!((&url, &urls), (Field::Absent, Field::Absent)) {
        let message = format!("a service has `{found_by}` or URLs, not both");
        let fault = Fault::new(message, "keep the one from which all instances are found")
            .of(Rule::Contradiction);
        reader.log.problem(&health.place, fault);
    }
    (Vec::new(), None)
}

/// One of `urls`: the URL itself, or with the name of the instance that answers there.
pub(crate) fn url(item: &Item<'_>, reader: &mut Reader<'_>) -> Option<RawUrl> {
    if item.is_text() {
        return match reader.scalar(item, parse_url) {
            Field::Given(url) => Some(RawUrl {
                url,
                instance: Field::Absent,
            }),
            Field::Refused | Field::Absent => None,
        };
    }
    let fields = given(reader.mapping(item, &keys::URL))?;
    let url = reader.value(&fields, "url", parse_url);
    let url = reader.required(&fields, "url", url, "every entry has a URL");
    let instance = reader.value(&fields, "instance", values::name);
    match url {
        Field::Given(url) => Some(RawUrl { url, instance }),
        Field::Refused | Field::Absent => None,
    }
}

fn parse_url(text: &Text) -> Result<TargetUrl, Fault> {
    TargetUrl::parse(text.value())
}

/// A URL with a name in it.
fn parse_dns(text: &Text) -> Result<TargetUrl, Fault> {
    let url = TargetUrl::parse(text.value())?;
    if url.is_of_an_address() {
        let message = "the URL has an address, which stands for itself";
        return Err(Fault::new(message, "write it as `url`, or a name here"));
    }
    Ok(url)
}

fn dependency(item: &Item<'_>, reader: &mut Reader<'_>) -> Option<RawDependency> {
    let fields = given(reader.mapping(item, &keys::DEPENDENCY))?;
    let name = reader.value(&fields, "name", values::name);
    Some(RawDependency {
        place: fields.place.clone(),
        name: reader.required(
            &fields,
            "name",
            name,
            "say what it depends on, such as `name: carts-db`",
        ),
        criticality: reader.value(&fields, "criticality", values::criticality),
        owner: reader.value(&fields, "owner", values::label),
        reason: reader.value(&fields, "reason", values::reason),
        overrides: reader.value(&fields, "override", values::flag),
        reviewed: reader.value(&fields, "reviewed", values::date),
        review_every: reader.value(&fields, "review_every", within(REVIEW)),
    })
}

fn resource(item: &Item<'_>, reader: &mut Reader<'_>) -> Option<RawResource> {
    let fields = given(reader.mapping(item, &keys::RESOURCE))?;
    let name = reader.value(&fields, "name", values::name);
    let aliases = reader.list(&fields, "aliases", "carts-postgres");
    Some(RawResource {
        name: reader.required(
            &fields,
            "name",
            name,
            "every resource has a name, such as `name: carts-db`",
        ),
        kind: reader.value(&fields, "kind", values::name),
        target: reader.value(&fields, "target", values::target),
        aliases: names(aliases, reader),
        owner: reader.value(&fields, "owner", values::label),
        zone: reader.value(&fields, "zone", values::name),
    })
}

fn group(item: &Item<'_>, reader: &mut Reader<'_>) -> Option<RawGroup> {
    let fields = given(reader.mapping(item, &keys::GROUP))?;
    let name = reader.value(&fields, "name", values::name);
    let name = reader.required(
        &fields,
        "name",
        name,
        "every group has a name, such as `name: checkout`",
    );
    let members = reader.list(&fields, "members", "front, cart");
    let members = reader.required(
        &fields,
        "members",
        members,
        "list the services in it: members: [front, cart]",
    );
    if let Field::Given(items) = &members
        && items.value.is_empty()
    {
        let fault = Fault::new(
            "the group has no members",
            "list the services in it or remove the group",
        )
        .of(Rule::Missing);
        reader.log.problem(&items.place, fault);
    }
    Some(RawGroup {
        name,
        members: names(members, reader),
        public_name: reader.value(&fields, "public_name", values::label),
    })
}

fn names(list: Field<Vec<Item<'_>>>, reader: &mut Reader<'_>) -> Vec<Located<rootward_core::Name>> {
    each(list, |item| match reader.scalar(item, values::name) {
        Field::Given(name) => Some(name),
        Field::Refused | Field::Absent => None,
    })
}
