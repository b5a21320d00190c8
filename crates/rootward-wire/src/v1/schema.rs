//! JSON Schemas, generated from the types. A test pins what is published in `docs/spec` to what is generated here.

use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde_json::{Map, Value, json};

use crate::v1::api;
use crate::v1::report::ReportBody;

/// The schema of the detailed report.
#[must_use]
pub fn report() -> Value {
    generator()
        .into_root_schema_for::<ReportBody<'static>>()
        .to_value()
}

/// The schema of the bodies of the API: any of them at the top, each by name in `$defs`.
#[must_use]
pub fn api() -> Value {
    let mut generator = generator();
    let bodies = [
        body::<api::Overview>(&mut generator, "GET /api/v1/overview"),
        body::<api::ServiceDetail>(&mut generator, "GET /api/v1/services/{name}"),
        body::<api::ResourceDetail>(&mut generator, "GET /api/v1/resources/{name}"),
        body::<api::Diagnosis>(&mut generator, "GET /api/v1/diagnosis"),
        body::<api::Incidents>(&mut generator, "GET /api/v1/incidents"),
        body::<api::Incident>(&mut generator, "GET /api/v1/incidents/{id}"),
        body::<api::Transitions>(&mut generator, "GET /api/v1/transitions"),
        body::<api::Problem>(&mut generator, "every error"),
    ];
    let definitions: Map<String, Value> = generator.take_definitions(true);
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "rootward API, version 1",
        "anyOf": bodies,
        "$defs": definitions,
    })
}

fn generator() -> SchemaGenerator {
    SchemaSettings::draft2020_12().into_generator()
}

fn body<T: JsonSchema>(generator: &mut SchemaGenerator, path: &str) -> Schema {
    let mut schema = generator.subschema_for::<T>();
    schema.insert("description".to_owned(), path.into());
    schema
}
