//! Answers of the aggregator as JSON, for tests of what is made of them. They are files of the shape that the API
//! specifies, so they also prove that they can be read.

use rootward_wire::v1::api::{Diagnosis, Incidents, Overview, ResourceDetail, ServiceDetail};
use serde::de::DeserializeOwned;

pub(crate) fn overview(name: &str) -> Overview {
    read(&format!("overview-{name}"))
}

pub(crate) fn diagnosis(name: &str) -> Diagnosis {
    read(&format!("diagnosis-{name}"))
}

pub(crate) fn incidents() -> Incidents {
    read("incidents")
}

pub(crate) fn service(name: &str) -> ServiceDetail {
    read(&format!("service-{name}"))
}

pub(crate) fn resource(name: &str) -> ResourceDetail {
    read(&format!("resource-{name}"))
}

fn read<T: DeserializeOwned>(name: &str) -> T {
    let path = format!("{}/fixtures/{name}.json", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{path}: {error}"))
}
