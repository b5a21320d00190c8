//! Durations as operators write them: a whole number and a unit.

use std::time::Duration;

use crate::expand::Text;
use crate::problem::Fault;

/// The units, largest first, in milliseconds.
pub(crate) const UNITS: [(&str, u64); 5] = [
    ("d", 86_400_000),
    ("h", 3_600_000),
    ("m", 60_000),
    ("s", 1_000),
    ("ms", 1),
];

/// An allowed range, both ends included.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Range {
    pub(crate) least: Duration,
    pub(crate) most: Duration,
}

impl Range {
    pub(crate) const fn millis(least: u64, most: u64) -> Self {
        Self {
            least: Duration::from_millis(least),
            most: Duration::from_millis(most),
        }
    }
}

/// A duration as an operator would write it: the largest unit that leaves no rest.
pub(crate) fn show(duration: Duration) -> String {
    let millis = duration.as_millis();
    let (unit, size) = UNITS
        .into_iter()
        .find(|(_, size)| millis > 0 && millis.is_multiple_of(u128::from(*size)))
        .unwrap_or(("ms", 1));
    format!("{}{unit}", millis / u128::from(size))
}

/// Reads a duration and holds it against its range.
pub(crate) fn parse(text: &Text, range: Range) -> Result<Duration, Fault> {
    let duration = parse_any(text)?;
    if duration < range.least || duration > range.most {
        let message = format!("{} is out of range", text.shown());
        let help = format!("allowed are {} to {}", show(range.least), show(range.most));
        return Err(Fault::new(message, help));
    }
    Ok(duration)
}

fn parse_any(text: &Text) -> Result<Duration, Fault> {
    let written = text.value();
    let digits = written.bytes().take_while(u8::is_ascii_digit).count();
    let (number, unit) = written.split_at(digits);
    let shown = text.shown();
    if number.is_empty() {
        return Err(not_a_duration(shown));
    }
    if unit.is_empty() {
        let help = if text.is_expanded() {
            "write it with its unit, such as 5s or 500ms".to_owned()
        } else {
            format!("write \"{}s\" or \"500ms\"", shorten(number))
        };
        return Err(Fault::new(format!("{shown} has no unit"), help));
    }
    let Some((_, size)) = UNITS.iter().find(|(name, _)| *name == unit) else {
        return Err(meant(text).map_or_else(
            || not_a_duration(shown),
            |meant| {
                let help = if text.is_expanded() {
                    "write a whole number and one unit, such as 10s".to_owned()
                } else {
                    format!("write \"{}\"", show(meant))
                };
                Fault::new(format!("{shown} is not a duration"), help)
            },
        ));
    };
    // What does not fit is far above every range, which then says so.
    let millis = number
        .parse::<u64>()
        .map_or(u64::MAX, |n| n.saturating_mul(*size));
    Ok(Duration::from_millis(millis))
}

fn not_a_duration(shown: &str) -> Fault {
    Fault::new(
        format!("{shown} is not a duration"),
        "write a whole number and a unit (ms, s, m, h or d), such as \"10s\"",
    )
}

fn shorten(number: &str) -> &str {
    &number[..number.len().min(9)]
}

/// What was probably meant by `5 s`, `1.5s`, `1m30s`, `5 seconds` or `5S`, for the suggestion only.
fn meant(text: &Text) -> Option<Duration> {
    const MAX_CHARS: usize = 32;
    let mut rest: &str = &text.value().to_ascii_lowercase().replace(' ', "");
    if rest.len() > MAX_CHARS {
        return None;
    }
    let mut total: u64 = 0;
    while !rest.is_empty() {
        let end = rest
            .bytes()
            .position(|b| !b.is_ascii_digit() && b != b'.')?;
        let (number, after) = rest.split_at(end);
        let end = after
            .bytes()
            .position(|b| !b.is_ascii_lowercase())
            .unwrap_or(after.len());
        let (unit, after) = after.split_at(end);
        let size = match unit {
            "ms" | "msec" | "millis" | "millisecond" | "milliseconds" => 1,
            "s" | "sec" | "secs" | "second" | "seconds" => 1_000,
            "m" | "min" | "mins" | "minute" | "minutes" => 60_000,
            "h" | "hr" | "hour" | "hours" => 3_600_000,
            "d" | "day" | "days" => 86_400_000,
            _ => return None,
        };
        total = total.checked_add(scaled(number, size)?)?;
        rest = after;
    }
    Some(Duration::from_millis(total))
}

/// A decimal number times a unit, in whole milliseconds; `None` if it does not come out even.
fn scaled(number: &str, size: u64) -> Option<u64> {
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let mut total = whole.parse::<u64>().ok()?.checked_mul(size)?;
    if !fraction.is_empty() {
        let digits = u32::try_from(fraction.len()).ok()?;
        let parts = fraction.parse::<u64>().ok()?.checked_mul(size)?;
        let scale = 10_u64.checked_pow(digits)?;
        if !parts.is_multiple_of(scale) {
            return None;
        }
        total = total.checked_add(parts / scale)?;
    }
    Some(total)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const WIDE: Range = Range::millis(1, u64::MAX - 1);

    fn read(text: &str) -> Result<Duration, String> {
        parse(&Text::literal(text), WIDE)
            .map_err(|fault| format!("{}; {}", fault.message, fault.help.unwrap_or_default()))
    }

    #[test]
    fn what_people_write_instead_is_answered_with_what_they_meant() {
        insta::assert_snapshot!(
            ["5", "5 s", "1.5s", "1m30s", "90 seconds", "5S", "5sec", "-5s", "s", "ten", "1.0001ms", "5µs", "5w", "1e3s"]
                .map(|text| read(text).expect_err(text))
                .join("\n"),
            @r#"
            "5" has no unit; write "5s" or "500ms"
            "5 s" is not a duration; write "5s"
            "1.5s" is not a duration; write "1500ms"
            "1m30s" is not a duration; write "90s"
            "90 seconds" is not a duration; write "90s"
            "5S" is not a duration; write "5s"
            "5sec" is not a duration; write "5s"
            "-5s" is not a duration; write a whole number and a unit (ms, s, m, h or d), such as "10s"
            "s" is not a duration; write a whole number and a unit (ms, s, m, h or d), such as "10s"
            "ten" is not a duration; write a whole number and a unit (ms, s, m, h or d), such as "10s"
            "1.0001ms" is not a duration; write a whole number and a unit (ms, s, m, h or d), such as "10s"
            "5µs" is not a duration; write a whole number and a unit (ms, s, m, h or d), such as "10s"
            "5w" is not a duration; write a whole number and a unit (ms, s, m, h or d), such as "10s"
            "1e3s" is not a duration; write a whole number and a unit (ms, s, m, h or d), such as "10s"
            "#
        );
    }

    proptest! {
        /// KF-065: what is in range round-trips, in every unit.
        #[test]
        fn kf_065_a_duration_is_read_as_it_is_shown(millis in 1..u64::MAX) {
            let duration = Duration::from_millis(millis);
            prop_assert_eq!(read(&show(duration)), Ok(duration));
        }

        #[test]
        fn kf_065_every_unit_counts_for_what_it_says(number in 0_u64..1_000_000, unit in 0_usize..UNITS.len()) {
            let (name, size) = UNITS[unit];
            let text = format!("{number}{name}");
            let expected = Duration::from_millis(number * size);
            match read(&text) {
                Ok(duration) => prop_assert_eq!(duration, expected),
                Err(_) => prop_assert_eq!(number, 0),
            }
        }
    }
}
