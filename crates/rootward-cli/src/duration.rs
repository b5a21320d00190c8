//! Times as they are typed: a whole number and a unit, as in the configuration.

use std::time::Duration;

/// The longest time that anything waits.
const MOST: Duration = Duration::from_secs(60 * 60);

/// From one run of a job to the next, at most.
const LONGEST: Duration = Duration::from_secs(40 * 86_400);

/// Reads how long to wait: `500ms`, `2s` or `1m`.
pub(crate) fn parse(text: &str) -> Result<Duration, String> {
    let duration = read(text)
        .filter(|_| text.ends_with(['s', 'm']))
        .ok_or("write a whole number and ms, s or m, such as 800ms or 2s")?;
    if duration.is_zero() || duration > MOST {
        return Err("allowed are 1ms to 60m".to_owned());
    }
    Ok(duration)
}

/// Reads for how long something is good: `90s`, `30m`, `25h` or `8d`.
pub(crate) fn parse_long(text: &str) -> Result<Duration, String> {
    let duration = read(text).ok_or("write a whole number and s, m, h or d, such as 90s or 25h")?;
    if !(Duration::from_secs(1)..=LONGEST).contains(&duration) {
        return Err("allowed are 1s to 40d".to_owned());
    }
    Ok(duration)
}

fn read(text: &str) -> Option<Duration> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (number, unit) = text.split_at(digits);
    let millis: Option<u64> = match unit {
        "ms" => Some(1),
        "s" => Some(1000),
        "m" => Some(60_000),
        "h" => Some(3_600_000),
        "d" => Some(86_400_000),
        _ => None,
    };
    let (number, unit) = number.parse::<u64>().ok().zip(millis)?;
    number.checked_mul(unit).map(Duration::from_millis)
}

#[cfg(test)]
mod tests {
    use super::{parse, parse_long};
    use std::time::Duration;

    #[test]
    fn a_time_has_a_number_and_a_unit_and_nothing_else() {
        for (text, millis) in [("1ms", 1), ("800ms", 800), ("2s", 2000), ("60m", 3_600_000)] {
            assert_eq!(parse(text), Ok(Duration::from_millis(millis)), "{text}");
        }
        for text in [
            "",
            "1",
            "s",
            "1.5s",
            "1 s",
            "-1s",
            "+1s",
            "1h",
            "0s",
            "61m",
            "99999999999999999999s",
            "18446744073709551615m",
        ] {
            assert!(parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_job_is_good_for_hours_and_days() {
        for (text, seconds) in [
            ("1s", 1),
            ("30m", 1800),
            ("25h", 90_000),
            ("40d", 3_456_000),
        ] {
            assert_eq!(parse_long(text), Ok(Duration::from_secs(seconds)), "{text}");
        }
        for text in [
            "",
            "25",
            "h",
            "999ms",
            "1.5h",
            "41d",
            "1w",
            "9999999999999999d",
        ] {
            assert!(parse_long(text).is_err(), "{text}");
        }
    }
}
