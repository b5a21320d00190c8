//! The detailed report as it is written, field by field in the order of the specification (`docs/spec/report-v1.md`).

use std::borrow::Cow;

use rootward_core::{CheckStatus, Criticality, Depth, ErrorCategory, InstanceStatus, Scope};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::limits::{MAX_COMPONENTS, MAX_FINDINGS};
use crate::{Time, Word, number, sequence, time};

/// What the field `contract` says.
pub const CONTRACT: &str = "rootward/1";

/// The detailed report of one instance, version 1.
///
/// Begin with [`ReportBody::new`] and set what is known; what is absent is not written.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(expecting = "an object")]
#[schemars(
    title = "rootward report, version 1",
    description = "The detailed report of one instance. Its meaning: report-v1.md beside this file."
)]
pub struct ReportBody<'a> {
    /// The contract and its version; always `rootward/1`.
    #[serde(borrow)]
    #[schemars(extend("const" = CONTRACT))]
    pub contract: Cow<'a, str>,
    /// The service. At most 128 bytes of letters, digits and - _ . / : @ +, beginning with a letter or a digit.
    #[serde(borrow)]
    pub service: Cow<'a, str>,
    /// Which instance of the service; a name like `service`.
    #[serde(borrow)]
    pub instance: Cow<'a, str>,
    /// Release.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub version: Option<Cow<'a, str>>,
    /// Environment, such as `production`.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub environment: Option<Cow<'a, str>>,
    /// Namespace or team space within the environment.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub namespace: Option<Cow<'a, str>>,
    /// Availability zone.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub zone: Option<Cow<'a, str>>,
    /// Machine.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub host: Option<Cow<'a, str>>,
    /// The rollup of the components.
    pub status: Word<InstanceStatus>,
    /// Whole seconds since the process started.
    #[serde(
        default,
        deserialize_with = "number::whole",
        skip_serializing_if = "Option::is_none"
    )]
    pub uptime_s: Option<u64>,
    /// Whether it wants traffic, as its readiness endpoint says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ready: Option<bool>,
    /// Whether it is on its way out. Absent means no.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub draining: Option<bool>,
    /// False when a hard local or resource component of its own is down; services it calls do not count.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub serving: Option<bool>,
    /// Scheduling lag of the application's event loop, in milliseconds.
    #[serde(
        default,
        deserialize_with = "number::any",
        skip_serializing_if = "Option::is_none"
    )]
    pub loop_lag_ms: Option<f64>,
    /// What the instance checks. Names are unique.
    #[serde(borrow, default, deserialize_with = "components")]
    #[schemars(length(max = MAX_COMPONENTS))]
    pub components: Vec<ComponentBody<'a>>,
    /// Names of the components whose effect is degraded.
    #[serde(borrow, default, deserialize_with = "names")]
    #[schemars(length(max = MAX_COMPONENTS))]
    pub warnings: Vec<Cow<'a, str>>,
    /// Names of the components whose effect is unhealthy.
    #[serde(borrow, default, deserialize_with = "names")]
    #[schemars(length(max = MAX_COMPONENTS))]
    pub errors: Vec<Cow<'a, str>>,
    /// What somebody should look at, such as a load balancer that asks for the detailed report.
    #[serde(borrow, default, deserialize_with = "findings")]
    #[schemars(length(max = MAX_FINDINGS))]
    pub findings: Vec<FindingBody<'a>>,
}

impl<'a> ReportBody<'a> {
    /// A report with nothing but what every report must have.
    #[must_use]
    pub fn new(
        service: impl Into<Cow<'a, str>>,
        instance: impl Into<Cow<'a, str>>,
        status: InstanceStatus,
    ) -> Self {
        Self {
            contract: Cow::Borrowed(CONTRACT),
            service: service.into(),
            instance: instance.into(),
            version: None,
            environment: None,
            namespace: None,
            zone: None,
            host: None,
            status: status.into(),
            uptime_s: None,
            ready: None,
            draining: None,
            serving: None,
            loop_lag_ms: None,
            components: Vec::new(),
            warnings: Vec::new(),
            errors: Vec::new(),
            findings: Vec::new(),
        }
    }

    /// The report as JSON.
    #[must_use]
    pub fn to_json(&self) -> Vec<u8> {
        serde_json::to_vec(self).expect("strings, numbers and times are always writable as JSON")
    }
}

/// One entry of a report: the instance's view of one dependency or local condition.
///
/// Begin with [`ComponentBody::new`] and set what is known; what is absent is not written.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(expecting = "an object")]
#[schemars(
    rename = "Component",
    description = "One entry of a report: the instance's view of one dependency or local condition."
)]
pub struct ComponentBody<'a> {
    /// Unique in the report; a name like `service`.
    #[serde(borrow)]
    pub name: Cow<'a, str>,
    /// The damped result.
    pub status: Word<CheckStatus>,
    /// What it means to the service.
    pub criticality: Word<Criticality>,
    /// Duration of the last completed check, in milliseconds. Absent before the first.
    #[serde(
        default,
        deserialize_with = "number::any",
        skip_serializing_if = "Option::is_none"
    )]
    pub latency_ms: Option<f64>,
    /// When the last check completed, for people.
    #[serde(
        default,
        deserialize_with = "time::for_people",
        skip_serializing_if = "Option::is_none"
    )]
    pub last_checked: Option<Time>,
    /// Milliseconds since the last completed check, taken at the moment of the answer. Absent before the first.
    #[serde(
        default,
        deserialize_with = "number::whole",
        skip_serializing_if = "Option::is_none"
    )]
    pub age_ms: Option<u64>,
    /// Short reason without foreign text, such as `timed out after 500 ms`.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub error: Option<Cow<'a, str>>,
    /// The reason in a word.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error_category: Option<Word<ErrorCategory>>,
    /// Finds the full text of the error in the service's own log.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub error_ref: Option<Cow<'a, str>>,
    /// The last result as it came. Absent means the same as `status`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub raw_status: Option<Word<CheckStatus>>,
    /// Agreeing results still needed to change `status`. Absent when no change is under way.
    #[serde(
        default,
        deserialize_with = "number::whole",
        skip_serializing_if = "Option::is_none"
    )]
    pub pending: Option<u8>,
    /// How many times the check has completed.
    #[serde(
        default,
        deserialize_with = "number::whole",
        skip_serializing_if = "Option::is_none"
    )]
    pub seq: Option<u64>,
    /// When `status` last changed, for people.
    #[serde(
        default,
        deserialize_with = "time::for_people",
        skip_serializing_if = "Option::is_none"
    )]
    pub since: Option<Time>,
    /// Milliseconds since `status` last changed, taken at the moment of the answer.
    #[serde(
        default,
        deserialize_with = "number::whole",
        skip_serializing_if = "Option::is_none"
    )]
    pub since_age_ms: Option<u64>,
    /// Whether a failure concerns this instance alone. Absent means `shared`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scope: Option<Word<Scope>>,
    /// How deep the check looks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub depth: Option<Word<Depth>>,
    /// `postgresql`, `redis`, `http` and so on; `service` for another service.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<Cow<'a, str>>,
    /// Canonical identity of what is checked, such as `postgresql://orders-db:5432/orders`; never a user or password.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub target: Option<Cow<'a, str>>,
    /// Who answers for it.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub owner: Option<Cow<'a, str>>,
    /// Milliseconds between two checks.
    #[serde(
        default,
        deserialize_with = "number::whole",
        skip_serializing_if = "Option::is_none"
    )]
    pub interval_ms: Option<u64>,
    /// Time limit of one check, in milliseconds.
    #[serde(
        default,
        deserialize_with = "number::whole",
        skip_serializing_if = "Option::is_none"
    )]
    pub timeout_ms: Option<u64>,
    /// Whether the instance is not ready while this is down. Absent means: if it is local and hard.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gates_readiness: Option<bool>,
}

impl<'a> ComponentBody<'a> {
    /// A component with nothing but what every component must have.
    #[must_use]
    pub fn new(
        name: impl Into<Cow<'a, str>>,
        status: CheckStatus,
        criticality: Criticality,
    ) -> Self {
        Self {
            name: name.into(),
            status: status.into(),
            criticality: criticality.into(),
            latency_ms: None,
            last_checked: None,
            age_ms: None,
            error: None,
            error_category: None,
            error_ref: None,
            raw_status: None,
            pending: None,
            seq: None,
            since: None,
            since_age_ms: None,
            scope: None,
            depth: None,
            kind: None,
            target: None,
            owner: None,
            interval_ms: None,
            timeout_ms: None,
            gates_readiness: None,
        }
    }
}

/// Something about the instance that somebody should look at.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(expecting = "an object")]
#[schemars(rename = "ReportFinding")]
pub struct FindingBody<'a> {
    /// What it is, in a word: `probe_misuse`.
    #[serde(borrow)]
    pub kind: Cow<'a, str>,
    /// What it is, in a sentence.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub text: Option<Cow<'a, str>>,
}

fn components<'de, D>(deserializer: D) -> Result<Vec<ComponentBody<'de>>, D::Error>
where
    D: serde::Deserializer<'de>,
{
    sequence::bounded::<D, ComponentBody<'de>, MAX_COMPONENTS>(deserializer)
}

fn names<'de, D>(deserializer: D) -> Result<Vec<Cow<'de, str>>, D::Error>
where
    D: serde::Deserializer<'de>,
{
    sequence::bounded::<D, Cow<'de, str>, MAX_COMPONENTS>(deserializer)
}

fn findings<'de, D>(deserializer: D) -> Result<Vec<FindingBody<'de>>, D::Error>
where
    D: serde::Deserializer<'de>,
{
    sequence::bounded::<D, FindingBody<'de>, MAX_FINDINGS>(deserializer)
}
