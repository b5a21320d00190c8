//! The small bodies: `/livez`, `/readyz`, `/startupz`, `/status`. At most
//! [`MAX_PROBE_BYTES`](crate::limits::MAX_PROBE_BYTES), whatever the number of checks.

use std::borrow::Cow;

use rootward_core::InstanceStatus;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::limits::MAX_READINESS_BYTES;
use crate::v1::read::{json_text, syntax};
use crate::word::wire_words;
use crate::{ReadError, Word};

/// The body of `/livez`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LivezBody<'a> {
    /// Whether the process can still be helped by anything but a restart.
    pub alive: bool,
    /// Why only a restart helps.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<Cow<'a, str>>,
}

/// The body of `/readyz` and its alias `/healthz`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ReadyzBody<'a> {
    /// Whether this instance wants traffic.
    pub ready: bool,
    /// Why not, each in a sentence.
    #[serde(borrow, default)]
    pub reasons: Vec<Cow<'a, str>>,
    /// False when a hard local or resource component of its own is down. Never changes the code.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub serving: Option<bool>,
    /// Scheduling lag of the application's event loop, in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub loop_lag_ms: Option<f64>,
}

impl ReadyzBody<'_> {
    /// What a readiness body of anybody says, for a check of another service.
    ///
    /// Fields that are absent or not booleans say nothing: other people's readiness has other words.
    ///
    /// ```
    /// use rootward_wire::v1::{Readiness, ReadyzBody};
    /// let said = ReadyzBody::read(br#"{"ready":true,"serving":false,"reasons":[]}"#)?;
    /// assert_eq!(said, Readiness { ready: Some(true), serving: Some(false) });
    /// assert_eq!(ReadyzBody::read(br#"{"status":"UP"}"#)?, Readiness::default());
    /// assert!(ReadyzBody::read(b"OK").unwrap_err().is_not_json());
    /// # Ok::<(), rootward_wire::ReadError>(())
    /// ```
    ///
    /// # Errors
    /// When the body is too large or not JSON: then only the HTTP status says something.
    pub fn read(bytes: &[u8]) -> Result<Readiness, ReadError> {
        let text = json_text(bytes, MAX_READINESS_BYTES)?;
        let value: serde_json::Value = serde_json::from_str(text).map_err(syntax)?;
        let said = |field: &str| value.get(field).and_then(serde_json::Value::as_bool);
        Ok(Readiness {
            ready: said("ready"),
            serving: said("serving"),
        })
    }
}

/// What a readiness body says; `None` where it says nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Readiness {
    /// The field `ready`.
    pub ready: Option<bool>,
    /// The field `serving`. Without it a green readiness is evidence about the process only.
    pub serving: Option<bool>,
}

/// The body of `/startupz`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StartupzBody<'a> {
    /// Whether booting is over. Once true it stays true.
    pub started: bool,
    /// What is still waited for.
    #[serde(borrow, default)]
    pub held: Vec<Cow<'a, str>>,
}

/// The body of `/status`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StatusBody {
    /// The public word.
    pub status: Word<PublicStatus>,
}

wire_words! {
    /// What anybody may know about an instance.
    PublicStatus {
        /// Healthy.
        Up = "up",
        /// It serves, with reduced features.
        Degraded = "degraded",
        /// Unhealthy.
        Down = "down",
        /// Not booted yet.
        Starting = "starting",
    }
}

impl From<InstanceStatus> for PublicStatus {
    fn from(status: InstanceStatus) -> Self {
        match status {
            InstanceStatus::Healthy => Self::Up,
            InstanceStatus::Degraded => Self::Degraded,
            InstanceStatus::Unhealthy => Self::Down,
            InstanceStatus::Starting => Self::Starting,
        }
    }
}
