//! Ages and lists as people read them.

use std::fmt::Write;
use std::time::Duration;

/// Names that a sentence lists before it counts the rest.
const MAX_NAMES: usize = 3;

/// A duration in one unit: `0.9 s`, `12 s`, `4 min`, `3 h`, `2 d`.
pub(crate) fn duration(duration: Duration) -> String {
    const MINUTE: u64 = 60;
    const HOUR: u64 = 60 * MINUTE;
    const DAY: u64 = 24 * HOUR;
    let seconds = duration.as_secs();
    if seconds < 10 {
        format!("{seconds}.{} s", duration.subsec_millis() / 100)
    } else if seconds < 2 * MINUTE {
        format!("{seconds} s")
    } else if seconds < 2 * HOUR {
        format!("{} min", seconds / MINUTE)
    } else if seconds < 2 * DAY {
        format!("{} h", seconds / HOUR)
    } else {
        format!("{} d", seconds / DAY)
    }
}

/// A duration as a bound that it does not exceed, in whole units: `2 s` for 1.2 s.
pub(crate) fn at_most(bound: Duration) -> String {
    let seconds = u64::try_from(bound.as_millis().div_ceil(1_000)).unwrap_or(u64::MAX);
    if seconds < 120 {
        format!("{} s", seconds.max(1))
    } else {
        format!("{} min", seconds.div_ceil(60))
    }
}

/// Names in a sentence: `a`, `a and b`, `a, b and c`, `a, b, c and 4 more`.
pub(crate) fn list<T: AsRef<str>>(names: &[T]) -> String {
    let shown = if names.len() > MAX_NAMES + 1 {
        MAX_NAMES
    } else {
        names.len()
    };
    let mut text = String::new();
    for (at, name) in names[..shown].iter().enumerate() {
        let before = match at {
            0 => "",
            _ if at + 1 == names.len() => " and ",
            _ => ", ",
        };
        text.push_str(before);
        text.push_str(name.as_ref());
    }
    if shown < names.len() {
        write!(text, " and {} more", names.len() - shown).expect("a string takes any text");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_age_has_one_unit() {
        let texts = [
            0,
            950,
            9_999,
            10_000,
            119_999,
            120_000,
            7_200_000,
            400_000_000,
        ]
        .map(|millis| duration(Duration::from_millis(millis)));
        assert_eq!(
            texts,
            [
                "0.0 s", "0.9 s", "9.9 s", "10 s", "119 s", "2 min", "2 h", "4 d"
            ]
        );
    }

    #[test]
    fn a_bound_is_never_smaller_than_what_it_bounds() {
        let texts =
            [0, 1, 1_001, 119_001, 120_001].map(|millis| at_most(Duration::from_millis(millis)));
        assert_eq!(texts, ["1 s", "1 s", "2 s", "2 min", "3 min"]);
    }

    #[test]
    fn a_long_list_is_counted_and_never_ends_with_one_more() {
        let names = ["a", "b", "c", "d", "e"];
        let texts = [1, 2, 3, 4, 5].map(|count| list(&names[..count]));
        assert_eq!(
            texts,
            [
                "a",
                "a and b",
                "a, b and c",
                "a, b, c and d",
                "a, b, c and 2 more"
            ]
        );
    }
}
