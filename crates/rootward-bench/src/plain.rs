//! The reference of parsing: the same report in plain borrowed types, as anybody would write them who believes what he reads.
//!
//! Nothing is checked, nothing tolerated, nothing copied but what an escape asks for.

use std::borrow::Cow;

use serde::Deserialize;

/// A report, believed.
#[derive(Debug, Deserialize)]
#[expect(dead_code, reason = "what is read is the point, not what it says")]
pub(crate) struct PlainReport<'a> {
    contract: &'a str,
    service: &'a str,
    instance: &'a str,
    version: Option<&'a str>,
    zone: Option<&'a str>,
    host: Option<&'a str>,
    status: &'a str,
    uptime_s: Option<u64>,
    ready: Option<bool>,
    draining: Option<bool>,
    serving: Option<bool>,
    #[serde(borrow, default)]
    components: Vec<PlainComponent<'a>>,
    #[serde(borrow, default)]
    warnings: Vec<Cow<'a, str>>,
    #[serde(borrow, default)]
    errors: Vec<Cow<'a, str>>,
}

#[derive(Debug, Deserialize)]
#[expect(dead_code, reason = "what is read is the point, not what it says")]
struct PlainComponent<'a> {
    name: &'a str,
    status: &'a str,
    criticality: &'a str,
    latency_ms: Option<f64>,
    age_ms: Option<u64>,
    #[serde(borrow)]
    error: Option<Cow<'a, str>>,
    error_category: Option<&'a str>,
    raw_status: Option<&'a str>,
    seq: Option<u64>,
    scope: Option<&'a str>,
    kind: Option<&'a str>,
    #[serde(borrow)]
    target: Option<Cow<'a, str>>,
    interval_ms: Option<u64>,
    timeout_ms: Option<u64>,
}

/// Reads it.
pub(crate) fn read(bytes: &[u8]) -> Result<PlainReport<'_>, serde_json::Error> {
    serde_json::from_slice(bytes)
}
