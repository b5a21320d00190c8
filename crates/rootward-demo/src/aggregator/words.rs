//! Figures and identifiers as they read in English, the same as on the page.

/// `97 % sure`, rounded down; certainty is never claimed.
#[must_use]
pub fn sureness(confidence: f64) -> String {
    if confidence > 0.99 {
        return "more than 99 % sure".to_owned();
    }
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "between 0 and 99 by the clamp; what is no number becomes 0"
    )]
    // A confidence of 0.29 is a little less than 29 hundredths as a float.
    let percent = (confidence * 100.0 + 1e-9).floor().clamp(0.0, 99.0) as u8;
    format!("{percent} % sure")
}

/// `1 in 40`: how likely it is that something else is right. As with [`sureness`], certainty is never claimed.
#[must_use]
pub fn odds(confidence: f64) -> String {
    if confidence > 0.99 {
        return "less than 1 in 100".to_owned();
    }
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "between 1 and 100 by the clamp; what is no number becomes 0 and is clamped to 1"
    )]
    let one_in = (1.0 / (1.0 - confidence)).round() as u64;
    format!("1 in {}", one_in.clamp(1, 100))
}

/// `<1 s`, `40 s`, `4 min`, `5 h 12 min`, `3 d 4 h`: rounded down, one or two units.
#[must_use]
pub fn duration(millis: u64) -> String {
    let seconds = millis / 1_000;
    let (minutes, hours) = (seconds / 60, seconds / 3_600);
    if seconds < 1 {
        "<1 s".to_owned()
    } else if seconds < 120 {
        format!("{seconds} s")
    } else if minutes < 120 {
        format!("{minutes} min")
    } else if hours < 48 {
        two(hours, "h", minutes % 60, "min")
    } else {
        two(hours / 24, "d", hours % 24, "h")
    }
}

fn two(large: u64, large_unit: &str, small: u64, small_unit: &str) -> String {
    match small {
        0 => format!("{large} {large_unit}"),
        _ => format!("{large} {large_unit} {small} {small_unit}"),
    }
}

/// `1 service`, `3 services`.
#[must_use]
pub fn count(number: u64, one: &str) -> String {
    if number == 1 {
        format!("1 {one}")
    } else {
        format!("{number} {one}s")
    }
}

/// A cause as a reader would say it: `the path checkout -> orders-db`, `instance cart#2`, `orders-db`.
#[must_use]
pub fn cause(id: &str) -> String {
    let (kind, what) = id.split_once(':').unwrap_or(("", id));
    match (kind, what.split_once("->")) {
        ("instance_edge", Some((from, to))) => format!("the path from instance {from} to {to}"),
        (_, Some((from, to))) => format!("the path {from} -> {to}"),
        ("node" | "", None) => what.to_owned(),
        ("poller", None) => format!("the view of zone {what}"),
        ("version", None) => match what.split_once('@') {
            Some((service, version)) => format!("release {version} of {service}"),
            None => format!("release {what}"),
        },
        (kind, None) => format!("{kind} {what}"),
    }
}

/// The name on the map that a cause is about, if it is about one.
#[must_use]
pub fn cause_node(id: &str) -> Option<&str> {
    id.strip_prefix("node:")
}

/// `front -> checkout -> orders-db`
#[must_use]
pub fn path(path: &[String]) -> String {
    path.join(" -> ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn certainty_is_never_claimed() {
        let texts = [0.0, 0.29, 0.974, 0.99, 0.991, 1.0, f64::NAN].map(sureness);
        assert_eq!(
            texts,
            [
                "0 % sure",
                "29 % sure",
                "97 % sure",
                "99 % sure",
                "more than 99 % sure",
                "more than 99 % sure",
                "0 % sure"
            ]
        );
    }

    #[test]
    fn odds_are_whole_and_never_nothing() {
        let texts = [f64::NAN, 0.0, 0.5, 0.75, 0.975, 0.99, 0.999, 1.0].map(odds);
        assert_eq!(
            texts,
            [
                "1 in 1",
                "1 in 1",
                "1 in 2",
                "1 in 4",
                "1 in 40",
                "1 in 100",
                "less than 1 in 100",
                "less than 1 in 100"
            ]
        );
    }

    #[test]
    fn a_duration_has_one_or_two_units_and_never_too_much() {
        let texts = [
            999,
            119_999,
            120_000,
            7_199_999,
            7_200_000,
            18_720_000,
            273_600_000,
        ]
        .map(duration);
        assert_eq!(
            texts,
            [
                "<1 s",
                "119 s",
                "2 min",
                "119 min",
                "2 h",
                "5 h 12 min",
                "3 d 4 h"
            ]
        );
    }

    #[test]
    fn a_cause_reads_like_a_thing() {
        let texts = [
            "node:orders-db",
            "instance:cart#2",
            "edge:checkout->orders-db",
            "instance_edge:cart#2->rates",
        ];
        assert_eq!(
            texts.map(cause),
            [
                "orders-db",
                "instance cart#2",
                "the path checkout -> orders-db",
                "the path from instance cart#2 to rates"
            ]
        );
    }
}
