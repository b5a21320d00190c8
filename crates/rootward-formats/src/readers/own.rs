//! Products with keys or codes of their own, each with the source of what it means.

use std::collections::{BTreeMap, BTreeSet};

use rootward_core::{CheckStatus, ErrorCategory, InstanceStatus, Moment};

use crate::answer::Answer;
use crate::body::Body;
use crate::category::Texts;
use crate::code::{self, GrpcCode, Http};
use crate::format::Format;
use crate::found::{Found, Part, own_texts, part, under};
use crate::json::{Json, Object};
use crate::words::{self, Word};

/// Our own report. Its code says nothing that it does not say itself.
pub(crate) fn rootward(answer: &Answer<'_>) -> Option<Found> {
    let report = rootward_wire::v1::read(answer.body, Moment::ZERO).ok()?;
    let found = Found::said(match report.status {
        InstanceStatus::Healthy => Word::Up,
        InstanceStatus::Degraded => Word::Degraded,
        InstanceStatus::Unhealthy => Word::Down,
        InstanceStatus::Starting => Word::Starting,
    });
    let parts = report.components.iter().map(|component| Part {
        name: Some(component.name.to_string()),
        status: match component.status {
            CheckStatus::Up => Word::Up,
            CheckStatus::Degraded => Word::Degraded,
            CheckStatus::Down => Word::Down,
            CheckStatus::Unknown => Word::Unknown,
        },
        category: component.error_category,
    });
    Some(found.with(parts.collect()).own_codes())
}

/// No body: the code, by its meaning in the format.
pub(crate) fn empty(format: Format, answer: &Answer<'_>) -> Option<Found> {
    let code = answer.http_status;
    match format {
        Format::MinIo => minio(answer),
        Format::Istio => code
            .is_none_or(|code| matches!(code::http(code), Http::Good | Http::Bad(_)))
            .then(Found::nothing),
        Format::Vault => vault_code(code?),
        Format::Consul => consul_code(code?),
        _ => None,
    }
}

/// MinIO `/minio/health/…`: no body counts, and `X-Minio-Server-Status: offline` may come with 200 while the object layer is
/// not up yet. 412: without this node the quorum would be lost (`maintenance=true`).
pub(crate) fn minio(answer: &Answer<'_>) -> Option<Found> {
    let offline = answer
        .header("x-minio-server-status")
        .is_some_and(|status| status.eq_ignore_ascii_case("offline"));
    match answer.http_status? {
        412 => Some(Found::said(Word::Down).own_codes()),
        code => match code::http(code) {
            Http::Good if offline => Some(Found::said(Word::Starting)),
            Http::Good | Http::Bad(_) => Some(Found::nothing()),
            Http::Silent(_) => None,
        },
    }
}

/// etcd `/health`: the value is a text.
pub(crate) fn etcd(object: &Object) -> Option<Found> {
    let said = under(object, "health")?;
    Some(Found::said(said.word).hinted(&own_texts(object)))
}

/// Vault `/v1/sys/health`: each code can be set to another one by the query, so the truth values count.
pub(crate) fn vault(object: &Object) -> Option<Found> {
    let sealed = object.bool("sealed")?;
    let initialized = object.bool("initialized")?;
    let secondary = object.text("replication_dr_mode") == Some("secondary");
    let removed = object.bool("removed_from_cluster") == Some(true);
    let found = if !initialized {
        Found::said(Word::Down).because(ErrorCategory::NotReady)
    } else if sealed || removed {
        Found::said(Word::Down)
    } else if secondary {
        // Alive, and serves nothing.
        Found::said(Word::Degraded)
    } else {
        // A standby does its job.
        Found::said(Word::Up)
    };
    Some(found.own_codes())
}

fn vault_code(code: u16) -> Option<Found> {
    let found = match code {
        200 | 429 | 473 => Found::said(Word::Up),
        472 => Found::said(Word::Degraded),
        501 => Found::said(Word::Down).because(ErrorCategory::NotReady),
        500 | 503 | 530 => Found::said(Word::Down),
        _ => return None,
    };
    Some(found.own_codes())
}

/// Elasticsearch and OpenSearch: a colour; 408 says that what was waited for did not come.
pub(crate) fn elasticsearch(object: &Object, answer: &Answer<'_>) -> Option<Found> {
    if let Some(error) = object.object("error") {
        let kinds = [error.text("type")].into_iter().flatten();
        let causes = error.list("root_cause").unwrap_or_default();
        let causes = causes
            .iter()
            .filter_map(|cause| cause.as_object()?.text("type"));
        let no_master = kinds.chain(causes).any(|kind| {
            kind == "master_not_discovered_exception" || kind == "cluster_block_exception"
        });
        return no_master.then(|| Found::said(Word::Down));
    }
    let said = under(object, "status")?;
    let mut found = Found::said(said.word);
    if answer.http_status == Some(408) {
        found = found.own_codes();
    }
    if object.bool("timed_out") == Some(true) {
        found.hint = Some(ErrorCategory::Timeout);
    }
    let indicators = object
        .object("indicators")
        .into_iter()
        .flat_map(Object::entries);
    found.parts = indicators.map(|(name, value)| part(name, value)).collect();
    Some(found)
}

/// CockroachDB `/health?ready=1`: an empty object, or an error that says why not.
pub(crate) fn cockroach(object: &Object) -> Option<Found> {
    if object.is_empty() {
        return Some(Found::nothing());
    }
    let text = object.text("message").or_else(|| object.text("error"))?;
    let mut texts = Texts::default();
    texts.add(text);
    let found = match texts.category() {
        Some(ErrorCategory::Starting) => Found::said(Word::Starting),
        Some(category @ ErrorCategory::ShuttingDown) => Found::said(Word::Down).because(category),
        // A wrong question or a missing login is no outage; the code tells.
        _ => Found::nothing(),
    };
    Some(found.hinted(&texts))
}

/// Envoy `/server_info`: always 200.
pub(crate) fn envoy(object: &Object) -> Option<Found> {
    envoy_state(object.text("state")?)
}

/// A state of Envoy (`envoy.admin.v3.ServerInfo.State`).
pub(crate) fn envoy_state(state: &str) -> Option<Found> {
    Some(match state {
        "LIVE" => Found::said(Word::Up),
        "DRAINING" => Found::said(Word::Down).because(ErrorCategory::ShuttingDown),
        "PRE_INITIALIZING" | "INITIALIZING" => Found::said(Word::Starting),
        _ => return None,
    })
}

/// Lists of Consul's catalogue (always 200), or of an agent.
pub(crate) fn consul(list: &[Json]) -> Option<Found> {
    if list.is_empty() {
        // A service that nobody has registered, or a filter that fits nothing.
        let unknown = Found::said(Word::Unknown).because(ErrorCategory::NotFound);
        return Some(unknown.own_codes());
    }
    let of_agent = |item: &Json| {
        item.as_object()
            .is_some_and(|item| item.has("AggregatedStatus"))
    };
    if list.iter().any(of_agent) {
        return consul_agent(list);
    }
    // Each instance is as bad as its worst check; a check of the node is one of each of its instances.
    let mut instances: BTreeMap<(&str, &str), Word> = BTreeMap::new();
    let mut nodes: BTreeMap<&str, Word> = BTreeMap::new();
    let mut seen = BTreeSet::new();
    let mut parts = Vec::new();
    for item in list.iter().filter_map(Json::as_object) {
        let nested = item.list("Checks").unwrap_or_default();
        let checks = nested.iter().filter_map(Json::as_object);
        let own = item.has("CheckID").then_some(item);
        let service = item
            .object("Service")
            .and_then(|service| service.text("ID"));
        for check in checks.chain(own) {
            let part = consul_check(check);
            let node = check.text("Node").unwrap_or_default();
            let id = check
                .text("ServiceID")
                .filter(|id| !id.is_empty())
                .or(service);
            let worst = match id {
                Some(id) => instances.entry((node, id)).or_insert(Word::Up),
                None => nodes.entry(node).or_insert(Word::Up),
            };
            *worst = part.status.max(*worst);
            if seen.insert((part.name.clone(), part.status)) {
                parts.push(part);
            }
        }
    }
    for ((node, _), worst) in &mut instances {
        if let Some(word) = nodes.get(node) {
            *worst = (*word).max(*worst);
        }
    }
    let alone = nodes
        .iter()
        .filter(|(node, _)| !instances.keys().any(|(other, _)| other == *node));
    let states: Vec<Word> = instances
        .values()
        .chain(alone.map(|(_, word)| word))
        .copied()
        .collect();
    let said = if states.is_empty() {
        return None;
    } else if states.iter().all(|word| *word == Word::Down) {
        Word::Down
    } else if states
        .iter()
        .any(|word| matches!(word, Word::Down | Word::Degraded))
    {
        Word::Degraded
    } else if states.contains(&Word::Unknown) {
        Word::Unknown
    } else {
        Word::Up
    };
    Some(Found::said(said).with(parts).own_codes())
}

fn consul_check(check: &Object) -> Part {
    let names = [check.text("Node"), check.text("CheckID")];
    let name = names.map(Option::unwrap_or_default).join("/");
    let word = check.text("Status").map_or(Word::Unknown, words::read);
    let mut part = Part::new(name.trim_matches('/'), word);
    let mut texts = Texts::default();
    check.all("Output").for_each(|output| texts.add_all(output));
    part = part.because(&texts);
    if part.status == Word::Degraded && part.category == Some(ErrorCategory::RateLimited) {
        // Consul's own checks over HTTP take 429 for a warning.
        part.category = None;
    }
    part
}

/// `/v1/agent/health/service/…`: 200 passing, 429 warning, 503 critical; the word says the same.
pub(crate) fn consul_agent(list: &[Json]) -> Option<Found> {
    let mut said = None;
    let mut parts = Vec::new();
    for item in list.iter().filter_map(Json::as_object) {
        let word = item.text("AggregatedStatus").map(words::read);
        said = said.max(word);
        let checks = item.list("Checks").unwrap_or_default();
        parts.extend(checks.iter().filter_map(Json::as_object).map(consul_check));
    }
    Some(Found::said(said?).with(parts).own_codes())
}

/// What an agent of Consul says by its code.
pub(crate) fn consul_code(code: u16) -> Option<Found> {
    let word = match code {
        200 => Word::Up,
        429 => Word::Degraded,
        503 => Word::Down,
        _ => return None,
    };
    Some(Found::said(word).own_codes())
}

/// `docker inspect`: the health of a container, alone or in what is around it.
pub(crate) fn docker(object: &Object) -> Option<Found> {
    let state = object.object("State").unwrap_or(object);
    let health = state.object("Health").unwrap_or(state);
    let said = under(health, "Status")?;
    let mut found = Found::said(said.word);
    let last = health
        .list("Log")
        .and_then(<[Json]>::last)
        .and_then(Json::as_object);
    let failed = last.is_some_and(|last| last.get("ExitCode") != Some(&Json::Number(0.0)));
    if let (Some(output), true) = (last.and_then(|last| last.text("Output")), failed) {
        let mut texts = Texts::default();
        texts.add(output);
        found.hint = texts.category();
    }
    Some(found)
}

pub(crate) fn docker_list(list: &[Json]) -> Option<Found> {
    // `docker inspect` prints a list, of one container for one name.
    let [only] = list else { return None };
    docker(only.as_object()?)
}

/// A command that ended: 0 is healthy and everything else is not.
pub(crate) fn exited(code: i32, body: &Body) -> Found {
    let mut texts = Texts::default();
    match body {
        Body::Json(value) => texts.add_all(value),
        Body::Text(text) | Body::Markup(text) => texts.add(text),
        Body::Empty | Body::Broken => {}
    }
    let word = if code == 0 { Word::Up } else { Word::Down };
    Found::said(word).hinted(&texts)
}

/// An answer over gRPC: the status first, and the message only if that is OK.
pub(crate) fn grpc(body: &Body, answer: &Answer<'_>) -> Option<Found> {
    let code = answer.grpc_code?;
    let object = if let Body::Json(Json::Object(object)) = body {
        Some(object)
    } else {
        None
    };
    if code == GrpcCode::Ok {
        return object.and_then(grpc_message).map(Found::own_codes);
    }
    Some(grpc_failure(code, object))
}

/// The same as JSON, from a gateway or a tool.
pub(crate) fn grpc_body(object: &Object, answer: &Answer<'_>) -> Option<Found> {
    match object.get("code") {
        Some(Json::Text(code)) => code
            .parse()
            .ok()
            .map(|code| grpc_failure(code, Some(object))),
        Some(number @ Json::Number(_)) if answer.http_status.is_some() => {
            let code = usize::from(number.as_small_integer()?);
            let code = GrpcCode::ALL.get(code).copied()?;
            Some(grpc_failure(code, Some(object)))
        }
        _ => grpc_message(object),
    }
}

/// `HealthCheckResponse` or `HealthListResponse`.
fn grpc_message(object: &Object) -> Option<Found> {
    if let Some(statuses) = object.object("statuses") {
        let mut found = Found::default();
        for (name, value) in statuses.entries() {
            let part = part(name, value);
            if name.is_empty() {
                found.said = Some(part.status);
            } else {
                found.parts.push(part);
            }
        }
        return found.unless_empty();
    }
    if object.is_empty() {
        // The default of the enumeration, UNKNOWN, is left out of the JSON of protobuf.
        return Some(Found::said(Word::Unknown));
    }
    let said = under(object, "status")?;
    Some(Found::of(Some(said)))
}

/// A call that failed. What tells about the question is no outage.
fn grpc_failure(code: GrpcCode, object: Option<&Object>) -> Found {
    let texts = object.map(own_texts).unwrap_or_default();
    let unknown = |category| Found::said(Word::Unknown).because(category);
    match code {
        GrpcCode::NotFound => unknown(ErrorCategory::NotFound),
        GrpcCode::PermissionDenied | GrpcCode::Unauthenticated => unknown(ErrorCategory::Auth),
        GrpcCode::ResourceExhausted => unknown(ErrorCategory::ResourceExhausted),
        GrpcCode::Ok
        | GrpcCode::Unimplemented
        | GrpcCode::InvalidArgument
        | GrpcCode::AlreadyExists
        | GrpcCode::FailedPrecondition
        | GrpcCode::Aborted
        | GrpcCode::OutOfRange
        | GrpcCode::Cancelled => unknown(ErrorCategory::Protocol),
        GrpcCode::DeadlineExceeded => Found::said(Word::Down).because(ErrorCategory::Timeout),
        GrpcCode::Unknown | GrpcCode::Internal | GrpcCode::Unavailable | GrpcCode::DataLoss => {
            Found::said(Word::Down).hinted(&texts)
        }
    }
    .own_codes()
}
