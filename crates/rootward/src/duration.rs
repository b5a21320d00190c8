//! Durations as people write them: `500 ms`, `10 s`, `20.5 s`.

use std::time::Duration;

/// Milliseconds below one second, else seconds with at most one decimal.
pub(crate) fn text(duration: Duration) -> String {
    let millis = duration.as_millis();
    if millis < 1000 {
        return format!("{millis} ms");
    }
    let tenths = millis / 100;
    match (tenths / 10, tenths % 10) {
        (seconds, 0) => format!("{seconds} s"),
        (seconds, tenth) => format!("{seconds}.{tenth} s"),
    }
}

/// Whole milliseconds, saturating.
pub(crate) fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_read_as_people_write_them() {
        let cases = [
            (0, "0 ms"),
            (500, "500 ms"),
            (1000, "1 s"),
            (20_500, "20.5 s"),
            (61_000, "61 s"),
        ];
        for (millis, expected) in cases {
            assert_eq!(text(Duration::from_millis(millis)), expected);
        }
    }
}
