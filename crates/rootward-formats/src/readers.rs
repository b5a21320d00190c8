//! One reader for each shape. A reader takes what its shape holds and judges nothing: the code and the rules come after.

pub(crate) mod entries;
mod failures;
mod measured;
pub(crate) mod named;
pub(crate) mod nested;
mod own;
pub(crate) mod siblings;
mod strings;
pub(crate) mod text;

use crate::answer::Answer;
use crate::body::Body;
use crate::format::Format;
use crate::found::Found;
use crate::json::Json;
use crate::words::Word;

/// Reads a body in a format. `None` when the body is not of it.
pub(crate) fn read(format: Format, body: &Body, answer: &Answer<'_>) -> Option<Found> {
    if answer.grpc_code.is_some() && format == Format::Grpc {
        return own::grpc(body, answer);
    }
    if let (Some(code), Format::Docker) = (answer.exit_code, format) {
        return Some(own::exited(code, body));
    }
    match body {
        Body::Broken => None,
        Body::Empty => own::empty(format, answer),
        Body::Markup(page) => text::markup(format, page, answer),
        Body::Text(text) => text::read(format, text, answer),
        Body::Json(value) => json(format, value, answer),
    }
}

fn json(format: Format, value: &Json, answer: &Answer<'_>) -> Option<Found> {
    match value {
        Json::Object(object) => match format {
            Format::Rootward => own::rootward(answer),
            Format::Spring => nested::spring(object),
            Format::MicroProfile => named::microprofile(object, answer),
            Format::AspNetUi => entries::aspnet(object),
            Format::HealthJson => measured::draft(object),
            Format::HelloFresh => failures::read(object, "failures"),
            Format::Etherlabs => failures::read(object, "errors"),
            Format::Alexliesenfeld => entries::alexliesenfeld(object),
            Format::Heptiolabs => strings::heptiolabs(object),
            Format::Sundheit => entries::sundheit(object),
            Format::InVision => entries::invision(object),
            Format::GodaddyTerminus => siblings::terminus(object),
            Format::NestTerminus => entries::nestjs(object, answer),
            Format::PyHealthcheck => named::py_healthcheck(object),
            Format::Django => strings::django(object),
            Format::FastApi => strings::fastapi(object),
            Format::OkComputer => entries::okcomputer(object),
            Format::Etcd => own::etcd(object),
            Format::Consul => own::consul_agent(std::slice::from_ref(value)),
            Format::Vault => own::vault(object),
            Format::Elasticsearch => own::elasticsearch(object, answer),
            Format::RabbitMq => siblings::rabbitmq(object),
            Format::Nats => named::nats(object),
            Format::Grafana => strings::grafana(object),
            Format::CockroachDb => own::cockroach(object),
            Format::Envoy => own::envoy(object),
            Format::Grpc => own::grpc_body(object, answer),
            Format::Docker => own::docker(object),
            Format::Meilisearch
            | Format::Generic
            | Format::PlugCheckup
            | Format::Kubernetes
            | Format::AspNetPlain
            | Format::Lightship
            | Format::Rails
            | Format::Traefik
            | Format::ClickHouse
            | Format::Linkerd => siblings::generic(object),
            Format::MinIo => own::minio(answer),
            Format::Istio | Format::HttpOnly => Some(Found::nothing()),
        },
        Json::List(list) => match format {
            Format::PlugCheckup => Some(named::plug_checkup(list)),
            Format::Consul => own::consul(list),
            Format::Docker => own::docker_list(list),
            Format::Generic => named::list(list),
            Format::Istio | Format::HttpOnly => Some(Found::nothing()),
            Format::MinIo => own::minio(answer),
            _ => None,
        },
        // Quickwit answers `true`, others a word in quotes.
        Json::Bool(well) => Some(match format {
            Format::Istio | Format::HttpOnly => Found::nothing(),
            _ => Found::said(if *well { Word::Up } else { Word::Down }),
        }),
        Json::Text(word) => text::read(format, word, answer),
        Json::Null | Json::Number(_) => match format {
            Format::Istio | Format::HttpOnly => Some(Found::nothing()),
            _ => None,
        },
    }
}
