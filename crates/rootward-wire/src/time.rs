//! Wall-clock time for people: RFC 3339 in UTC with milliseconds. Nothing computes with it; ages do that.

use std::fmt;
use std::str::FromStr;
use std::time::{SystemTime, UNIX_EPOCH};

use jiff::Timestamp;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Deserializer, Visitor};
use serde::{Deserialize, Serialize, Serializer};

/// A point of wall-clock time, to the millisecond, written `2026-11-30T03:12:40.120Z`.
///
/// ```
/// use rootward_wire::Time;
/// let time = Time::from_unix_millis(1_796_008_360_120);
/// assert_eq!(time.to_string(), "2026-11-30T03:12:40.120Z");
/// assert_eq!("2026-11-30T04:12:40.12+01:00".parse(), Ok(time));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Time(
    /// Milliseconds since 1970, from [`FIRST`] to [`LAST`].
    i64,
);

/// 0001-01-01T00:00:00.000Z: RFC 3339 knows no negative years.
const FIRST: i64 = -62_135_596_800_000;

/// 9998-12-31T23:59:59.999Z: the end of 9999 is not the same instant everywhere.
const LAST: i64 = 253_370_764_799_999;

impl Time {
    /// The time `millis` milliseconds after the beginning of 1970 in UTC; the nearest that can be written if that lies
    /// outside the years 1 to 9998.
    #[must_use]
    pub fn from_unix_millis(millis: i64) -> Self {
        Self(millis.clamp(FIRST, LAST))
    }

    /// Milliseconds since the beginning of 1970 in UTC.
    #[must_use]
    pub const fn as_unix_millis(self) -> i64 {
        self.0
    }
}

impl From<SystemTime> for Time {
    fn from(time: SystemTime) -> Self {
        let millis = match time.duration_since(UNIX_EPOCH) {
            Ok(after) => i64::try_from(after.as_millis()).unwrap_or(i64::MAX),
            Err(before) => {
                i64::try_from(before.duration().as_millis()).map_or(i64::MIN, |millis| -millis)
            }
        };
        Self::from_unix_millis(millis)
    }
}

impl From<Timestamp> for Time {
    fn from(timestamp: Timestamp) -> Self {
        Self::from_unix_millis(timestamp.as_millisecond())
    }
}

impl FromStr for Time {
    type Err = NotATime;

    fn from_str(text: &str) -> Result<Self, NotATime> {
        let timestamp: Timestamp = text.parse().map_err(|_| NotATime)?;
        Ok(timestamp.into())
    }
}

/// The text is not an RFC 3339 time with an offset.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not an RFC 3339 time with an offset, such as 2026-11-30T03:12:40.120Z")]
pub struct NotATime;

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let timestamp = Timestamp::from_millisecond(self.0).map_err(|_| fmt::Error)?;
        write!(f, "{timestamp:.3}")
    }
}

impl Serialize for Time {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Time {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Rfc3339;
        impl Visitor<'_> for Rfc3339 {
            type Value = Time;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an RFC 3339 time with an offset")
            }

            fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Time, E> {
                text.parse()
                    .map_err(|_| E::invalid_value(serde::de::Unexpected::Str(text), &self))
            }
        }
        deserializer.deserialize_str(Rfc3339)
    }
}

impl JsonSchema for Time {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Time".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "format": "date-time" })
    }
}

/// Reads a time that is for people only: a text that is no time is as good as none.
pub(crate) fn for_people<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<Time>, D::Error> {
    let text = Option::<std::borrow::Cow<'de, str>>::deserialize(deserializer)?;
    Ok(text.and_then(|text| text.parse().ok()))
}

#[cfg(test)]
mod tests {
    use super::Time;
    use std::time::{Duration, UNIX_EPOCH};

    #[test]
    fn the_ends_of_time_can_be_written_and_read() {
        for millis in [i64::MIN, -1, 0, 1, i64::MAX] {
            let time = Time::from_unix_millis(millis);
            assert_eq!(time.to_string().parse(), Ok(time));
        }
        let ends = [i64::MIN, i64::MAX].map(|millis| Time::from_unix_millis(millis).to_string());
        assert_eq!(
            ends,
            ["0001-01-01T00:00:00.000Z", "9998-12-31T23:59:59.999Z"]
        );
        assert_eq!(
            Time::from(UNIX_EPOCH - Duration::from_millis(1)).to_string(),
            "1969-12-31T23:59:59.999Z"
        );
        assert_eq!(
            Time::from(UNIX_EPOCH + Duration::from_micros(1_999)).to_string(),
            "1970-01-01T00:00:00.001Z"
        );
    }

    #[test]
    fn a_time_without_an_offset_is_refused() {
        assert_eq!(
            "2026-11-30T03:12:40"
                .parse::<Time>()
                .unwrap_err()
                .to_string(),
            "not an RFC 3339 time with an offset, such as 2026-11-30T03:12:40.120Z"
        );
    }
}
