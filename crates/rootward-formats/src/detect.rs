//! Which format an answer is of, by what it holds. The order matters: what only one product writes comes first, and what
//! many write comes last.

use crate::answer::Answer;
use crate::body::Body;
use crate::format::Format;
use crate::found::statement;
use crate::json::{Json, Object};
use crate::readers;
use crate::readers::entries::{is_nest_exception, is_nestjs, is_sundheit};
use crate::readers::named::is_named;
use crate::readers::nested::{all_have_status, has_status};
use crate::readers::siblings::is_map;
use crate::words::{self, Word};

/// The format of an answer; `None` when nothing in it says how it is.
pub(crate) fn format(body: &Body, answer: &Answer<'_>) -> Option<Format> {
    if answer.grpc_code.is_some() {
        return Some(Format::Grpc);
    }
    if answer.exit_code.is_some() {
        return Some(Format::Docker);
    }
    match body {
        Body::Broken => None,
        Body::Empty => answer
            .header("x-minio-server-status")
            .map(|_| Format::MinIo),
        Body::Markup(page) => readers::text::rails(page).map(|_| Format::Rails),
        Body::Text(text) => readers::text::format_of(text, answer),
        Body::Json(Json::Object(object)) => of_object(object, answer),
        Body::Json(Json::List(list)) => of_list(list),
        Body::Json(Json::Text(text)) => words::known(text).map(|_| Format::Generic),
        Body::Json(Json::Bool(_)) => Some(Format::Generic),
        Body::Json(Json::Null | Json::Number(_)) => None,
    }
}

fn of_list(list: &[Json]) -> Option<Format> {
    let any = |key| {
        list.iter()
            .filter_map(Json::as_object)
            .any(|item| item.has(key))
    };
    if any("CheckID") || any("AggregatedStatus") || (any("Checks") && any("Service")) {
        return Some(Format::Consul);
    }
    if let [Json::Object(only)] = list
        && only
            .object("State")
            .is_some_and(|state| state.has("Health"))
    {
        return Some(Format::Docker);
    }
    let healthy = |item: &Json| {
        item.as_object()
            .is_some_and(|item| item.bool("healthy").is_some())
    };
    if is_named(list) && list.iter().all(healthy) {
        Some(Format::PlugCheckup)
    } else if is_named(list)
        && list
            .iter()
            .any(|item| item.as_object().and_then(statement).is_some())
    {
        Some(Format::Generic)
    } else {
        None
    }
}

fn of_object(object: &Object, answer: &Answer<'_>) -> Option<Format> {
    if object.is_empty() {
        // Several libraries answer so, and the code is all they say.
        return Some(Format::HttpOnly);
    }
    if object
        .text("contract")
        .is_some_and(|contract| contract.starts_with("rootward/"))
    {
        return Some(Format::Rootward);
    }
    if is_envelope(object) {
        return elastic(object).then_some(Format::Elasticsearch);
    }
    measured(object, answer)
        .or_else(|| entries(object))
        .or_else(|| own(object))
        .or_else(|| failures(object))
        .or_else(|| strings(object, answer))
        .or_else(|| maps(object))
        .or_else(|| siblings(object, answer))
}

/// An error body of an API, whose `status` is a code or a word for the request: a `Status` of Kubernetes, a problem of
/// RFC 9457, the error page of Spring.
fn is_envelope(object: &Object) -> bool {
    let of_kubernetes = object.text("kind") == Some("Status") && object.has("apiVersion");
    let number = object.get("status").and_then(Json::as_small_integer);
    of_kubernetes || number.is_some_and(|code| code >= 100)
}

/// D: a map of lists.
fn measured(object: &Object, answer: &Answer<'_>) -> Option<Format> {
    let lists = |key: &str| {
        object.object(key).is_some_and(|map| {
            !map.is_empty() && map.values().all(|value| value.as_list().is_some())
        })
    };
    let identified = ["serviceId", "serviceID", "releaseId", "releaseID"]
        .iter()
        .any(|key| object.has(key));
    let keyed = ["checks", "details"].iter().any(|key| {
        object.object(key).is_some_and(|map| {
            map.values().any(|value| {
                let inner = value
                    .as_object()
                    .or_else(|| value.as_list()?.first()?.as_object());
                inner.is_some_and(|inner| {
                    inner.has("componentType")
                        || inner.has("componentId")
                        || inner.has("observedValue")
                })
            })
        })
    });
    let has_word = object.text("status").is_some();
    let typed = answer.is_of_type("application/health+json");
    let word = object.text("status").and_then(words::uniform);
    let of_draft = matches!(word.as_deref(), Some("pass" | "warn"));
    let sure = lists("checks") || lists("details") || keyed;
    (sure || (has_word && (identified || typed || of_draft) && object.list("checks").is_none()))
        .then_some(Format::HealthJson)
}

/// E with keys that one library has, and C.
fn entries(object: &Object) -> Option<Format> {
    let any_case = |key: &str| object.get_any_case(key).and_then(Json::as_object).is_some();
    let status = object.get_any_case("status");
    let small = status
        .and_then(Json::as_small_integer)
        .is_some_and(|status| status <= 2);
    let timed = object.get_any_case("totalDuration").is_some();
    if (any_case("entries") && (timed || status.is_some()))
        || (any_case("results") && status.is_some())
        || (small && timed)
    {
        return Some(Format::AspNetUi);
    }
    let named = |key| object.list(key).is_some_and(is_named);
    let word = statement(object);
    if named("checks") && word.is_some() {
        return Some(Format::MicroProfile);
    }
    let of_microprofile = |key| {
        let word = object.text(key).and_then(words::uniform);
        matches!(word.as_deref(), Some("up" | "down"))
    };
    let empty = object.list("checks").is_some_and(<[Json]>::is_empty);
    let unnamed = object
        .list("checks")
        .is_some_and(|list| list.iter().all(has_status));
    if (empty || unnamed || object.has("outcome"))
        && (of_microprofile("status") || of_microprofile("outcome"))
    {
        return Some(Format::MicroProfile);
    }
    let results = object.list("results");
    let checker = |item: &Json| item.as_object().is_some_and(|item| item.has("checker"));
    if results.is_some_and(|results| {
        results.iter().any(checker) || (results.is_empty() && object.has("hostname"))
    }) {
        return Some(Format::PyHealthcheck);
    }
    let details = |key: &str| {
        let details = object.object("details");
        details.is_some_and(|details| {
            details
                .values()
                .filter_map(Json::as_object)
                .any(|entry| entry.has(key))
        })
    };
    let spinning = object.text("message") == Some("Healthcheck spinning up");
    if details("check_time") || details("num_failures") || spinning {
        return Some(Format::InVision);
    }
    let wrapped = || object.values().filter_map(Json::as_object).any(is_nestjs);
    if is_nestjs(object) || is_nest_exception(object) || wrapped() {
        return Some(Format::NestTerminus);
    }
    if details("timestamp") && object.text("status").is_some() {
        return Some(Format::Alexliesenfeld);
    }
    None
}

/// Keys that one product has.
fn own(object: &Object) -> Option<Format> {
    if object.bool("sealed").is_some() && object.bool("initialized").is_some() {
        return Some(Format::Vault);
    }
    if elastic(object) {
        return Some(Format::Elasticsearch);
    }
    if object
        .text("health")
        .is_some_and(|health| ["true", "false"].contains(&health))
    {
        return Some(Format::Etcd);
    }
    if object.has("hot_restart_version") && object.text("state").is_some() {
        return Some(Format::Envoy);
    }
    if object.text("database").is_some() && (object.has("commit") || object.has("version")) {
        return Some(Format::Grafana);
    }
    if object.has("AggregatedStatus") {
        return Some(Format::Consul);
    }
    let health = |object: &Object| object.has("FailingStreak") && object.has("Status");
    let inner = object.object("State").unwrap_or(object);
    if health(inner) || inner.object("Health").is_some_and(health) {
        return Some(Format::Docker);
    }
    let code = object.get("code");
    if code.is_some_and(Json::is_number)
        && object.list("details").is_some()
        && object.has("message")
    {
        return Some(Format::CockroachDb);
    }
    let word = object.text("status").and_then(words::uniform);
    let of_grpc =
        |word: Option<&str>| matches!(word, Some("serving" | "notserving" | "serviceunknown"));
    let statuses = object
        .object("statuses")
        .is_some_and(|map| map.values().all(has_status));
    let code = code.and_then(Json::as_text);
    let named = code.is_some_and(|code| {
        code.parse::<usize>().is_err() && code.parse::<crate::GrpcCode>().is_ok()
    });
    if statuses || of_grpc(word.as_deref()) || (named && object.has("message") && word.is_none()) {
        return Some(Format::Grpc);
    }
    if word.as_deref() == Some("mustrestart")
        || (word.as_deref() == Some("available") && object.0.len() == 1)
    {
        return Some(Format::Meilisearch);
    }
    let failed = matches!(word.as_deref(), Some("failed" | "ok"));
    if failed && object.text("reason").is_some() {
        return Some(Format::RabbitMq);
    }
    let errors = object.list("errors").unwrap_or_default();
    let of_nats = |item: &Json| {
        item.as_object()
            .is_some_and(|item| item.has("type") && item.has("error"))
    };
    let unavailable = word.as_deref() == Some("unavailable") && object.text("error").is_some();
    if word.is_some() && (unavailable || object.has("status_code") || errors.iter().any(of_nats)) {
        return Some(Format::Nats);
    }
    None
}

fn elastic(object: &Object) -> bool {
    let health = object.has("cluster_name")
        && [
            "active_shards",
            "number_of_nodes",
            "timed_out",
            "indicators",
        ]
        .iter()
        .any(|key| object.has(key));
    let error = object.object("error").is_some_and(|error| {
        error.list("root_cause").is_some()
            || error.text("type") == Some("master_not_discovered_exception")
    });
    health || error
}

/// G: failures alone.
fn failures(object: &Object) -> Option<Format> {
    let word = object.text("status").and_then(words::uniform)?;
    let component = object
        .object("component")
        .is_some_and(|component| component.has("version"));
    let system = object
        .object("system")
        .is_some_and(|system| system.has("goroutines_count"));
    if object.object("failures").is_some() || component || system || word == "partiallyavailable" {
        return Some(Format::HelloFresh);
    }
    let texts = |map: &Object| map.values().all(|value| value.as_text().is_some());
    if object.object("errors").is_some_and(texts) {
        return Some(Format::Etherlabs);
    }
    None
}

/// Keys of an error that is no map of components.
const ENVELOPE: [&str; 14] = [
    "message",
    "error",
    "code",
    "reason",
    "detail",
    "title",
    "type",
    "path",
    "timestamp",
    "version",
    "name",
    "service",
    "description",
    "error_description",
];

/// F: names and words, without a status.
fn strings(object: &Object, answer: &Answer<'_>) -> Option<Format> {
    let all_texts = object.values().all(|value| value.as_text().is_some());
    if statement(object).is_some() || !all_texts {
        return None;
    }
    let texts = || object.values().filter_map(Json::as_text);
    let named = object.entries().any(|(key, _)| !ENVELOPE.contains(&key));
    let known = texts().any(|text| words::known(text).is_some_and(|word| word != Word::Unknown));
    let of_django = |(key, value): (&str, &Json)| {
        let text = value.as_text().unwrap_or_default();
        let kinds = ["unavailable:", "warning:", "unexpected result:"];
        text == "working"
            || (key.ends_with(')') && key.contains('('))
            || kinds.iter().any(|kind| text.starts_with(kind))
    };
    if !named {
        None
    } else if texts().all(|text| ["PASS", "FAIL"].contains(&text)) {
        Some(Format::Sundheit)
    } else if object.entries().any(of_django) {
        Some(Format::Django)
    } else if texts().any(|text| text == "OK" || text == "no data yet") {
        Some(Format::Heptiolabs)
    } else if known {
        Some(Format::FastApi)
    } else if answer.http_status.is_some_and(|code| code >= 500) {
        // Every check failed, and each says why.
        Some(Format::Heptiolabs)
    } else {
        None
    }
}

/// E without a word about the whole.
fn maps(object: &Object) -> Option<Format> {
    let all = |test: &dyn Fn(&Object) -> bool| {
        object
            .values()
            .all(|value| value.as_object().is_some_and(test))
    };
    if all(&|entry| entry.bool("success").is_some() && entry.has("message")) {
        Some(Format::OkComputer)
    } else if all(&is_sundheit) {
        Some(Format::Sundheit)
    } else {
        None
    }
}

/// A, B, and what has a status and nothing else that is known.
fn siblings(object: &Object, answer: &Answer<'_>) -> Option<Format> {
    let status = object.text("status");
    let components = object.object("components");
    if components.is_some_and(|map| map.is_empty() || map.values().any(has_status)) {
        return Some(Format::Spring);
    }
    if answer.is_of_type("application/vnd.spring-boot.actuator") {
        return Some(Format::Spring);
    }
    let word = status.and_then(words::uniform);
    let of_node = matches!(word.as_deref(), Some("ok" | "error"));
    if status.is_some() {
        if object.get("details").is_some_and(all_have_status) && !of_node {
            return Some(Format::Spring);
        }
        let groups = object.list("groups");
        if groups.is_some_and(|groups| groups.iter().all(|group| group.as_text().is_some())) {
            return Some(Format::Spring);
        }
        let both = object.has("details") && (object.has("info") || object.has("error"));
        if of_node && both {
            let all_up_or_down = object.get("details").is_some_and(all_have_status);
            return Some(if all_up_or_down && object.object("info").is_some() {
                Format::NestTerminus
            } else {
                Format::GodaddyTerminus
            });
        }
        if object
            .entries()
            .any(|(key, value)| key != "details" && has_status(value))
            && object.object("checks").is_none()
        {
            let of_spring = matches!(
                word.as_deref(),
                Some("up" | "down" | "outofservice" | "unknown")
            );
            return Some(match of_spring {
                true => Format::Spring,
                false if of_node => Format::GodaddyTerminus,
                false => Format::Generic,
            });
        }
    }
    let held = ["checks", "dependencies", "services"].iter().any(|key| {
        object.object(key).is_some_and(|map| {
            map.values()
                .any(|value| crate::found::statement_of(value).is_some())
        }) || object.list(key).is_some_and(is_named)
    });
    let up_or_down = matches!(word.as_deref(), Some("up" | "down"));
    if up_or_down && object.0.len() == 2 && object.text("timestamp").is_some() {
        return Some(Format::Rails);
    }
    let says = statement(object).is_some() || held || is_map(object);
    says.then_some(Format::Generic)
}
