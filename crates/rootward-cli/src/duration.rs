//! Times as they are typed: a whole number and a unit, as in the configuration.

use std::time::Duration;

/// The longest time that can be typed.
const MOST: Duration = Duration::from_secs(60 * 60);

/// Reads `500ms`, `2s` or `1m`.
pub(crate) fn parse(text: &str) -> Result<Duration, String> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (number, unit) = text.split_at(digits);
    let millis: Option<u64> = match unit {
        "ms" => Some(1),
        "s" => Some(1000),
        "m" => Some(60_000),
        _ => None,
    };
    let read = number.parse::<u64>().ok().zip(millis);
    let read = read.and_then(|(number, unit)| number.checked_mul(unit));
    let duration = Duration::from_millis(
        read.ok_or("write a whole number and ms, s or m, such as 800ms or 2s")?,
    );
    if duration.is_zero() || duration > MOST {
        return Err("allowed are 1ms to 60m".to_owned());
    }
    Ok(duration)
}

#[cfg(test)]
mod tests {
    use super::parse;
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
}
