//! Content negotiation: which of two formats a caller prefers (RFC 9110, sections 12.4.2 and 12.5.1).
//!
//! A caller that accepts neither gets `application/json` and no 406: a server may answer as if nobody had negotiated
//! (section 12.5.1), and a health answer in the wrong format still has the right code.

/// A format of the detailed report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::probe) enum Format {
    /// `application/json`: the report of the contract.
    Report,
    /// `application/health+json`: the shape of the IETF draft.
    HealthJson,
}

impl Format {
    const fn media_type(self) -> (&'static str, &'static str) {
        match self {
            Self::Report => ("application", "json"),
            Self::HealthJson => ("application", "health+json"),
        }
    }

    /// What the fields `accept` ask for. Ours where both are wanted alike, or nothing is said.
    pub(in crate::probe) fn wanted(accept: &[&[u8]]) -> Self {
        let weight = |format: Self| weight(accept, format.media_type());
        if weight(Self::HealthJson) > weight(Self::Report) {
            Self::HealthJson
        } else {
            Self::Report
        }
    }
}

/// How much a type is wanted, in thousandths: by the most specific range that names it, 0 if none does.
fn weight(fields: &[&[u8]], (kind, subtype): (&str, &str)) -> u16 {
    let mut best = (0, 0);
    let ranges = fields
        .iter()
        .filter_map(|field| std::str::from_utf8(field).ok())
        .flat_map(|field| field.split(','))
        .filter_map(range);
    for Range {
        kind: of,
        subtype: sub,
        weight,
    } in ranges
    {
        let specific = match (of, sub) {
            ("*", "*") => 1,
            (of, "*") if of.eq_ignore_ascii_case(kind) => 2,
            (of, sub) if of.eq_ignore_ascii_case(kind) && sub.eq_ignore_ascii_case(subtype) => 3,
            _ => continue,
        };
        // The same range twice: the better wish counts.
        best = best.max((specific, weight));
    }
    best.1
}

struct Range<'a> {
    kind: &'a str,
    subtype: &'a str,
    weight: u16,
}

/// One member of the list; none if it cannot be read, which takes the rest along no more than it must. Parameters other
/// than the weight are ignored: ours have none, and a caller that writes `charset=utf-8` means ours.
fn range(text: &str) -> Option<Range<'_>> {
    let mut parts = text.split(';').map(str::trim);
    let (kind, subtype) = parts.next()?.split_once('/')?;
    let mut weight = 1000;
    for part in parts {
        if let Some((name, value)) = part.split_once('=')
            && name.trim().eq_ignore_ascii_case("q")
        {
            weight = thousandths(value.trim())?;
        }
    }
    Some(Range {
        kind,
        subtype,
        weight,
    })
}

/// `qvalue` of section 12.4.2: 0 to 1 with at most three decimals.
fn thousandths(text: &str) -> Option<u16> {
    let (whole, decimals) = text.split_once('.').unwrap_or((text, ""));
    if decimals.len() > 3 || !decimals.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let fraction: u16 = format!("{decimals:0<3}").parse().ok()?;
    match whole {
        "0" => Some(fraction),
        "1" if fraction == 0 => Some(1000),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn wanted(accept: &[&str]) -> Format {
        let fields: Vec<_> = accept.iter().map(|field| field.as_bytes()).collect();
        Format::wanted(&fields)
    }

    #[test]
    fn who_asks_for_the_draft_more_than_for_ours_gets_it() {
        for accept in [
            &["application/health+json"][..],
            &["Application/Health+JSON"],
            &["application/health+json; charset=utf-8"],
            &["application/health+json, application/json;q=0.9"],
            &["application/json;q=0.9, application/health+json"],
            &["application/health+json, */*;q=0.1"],
            &["application/health+json;q=0.5, application/*;q=0.4"],
            &["application/json;q=0, */*"],
            &[
                "application/json; q=0.001",
                "application/health+json ; Q = 0.002",
            ],
            &["text/html", "application/health+json"],
        ] {
            assert_eq!(wanted(accept), Format::HealthJson, "{accept:?}");
        }
    }

    #[test]
    fn everybody_else_gets_ours() {
        for accept in [
            &[][..],
            &[""],
            &["*/*"],
            &["application/*"],
            &["application/json"],
            &["application/json, application/health+json"],
            &["application/json, application/health+json;q=0.9, text/plain;q=0.5"],
            &["application/health+json;q=0.1, */*;q=0.2"],
            &["application/health+json;q=0"],
            &["application/health+json;q=0, application/json;q=0"],
            &["text/html"],
            &["text/html, image/*"],
            &["application/health+json;q=1.1"],
            &["application/health+json;q=0.0001"],
            &["application/health+json;q="],
            &["application/health+json;q=nan"],
            &["application/health+json;q=-1"],
            &["application/health+jsonx"],
            &["application/health"],
            &["/"],
            &[";;;,,,"],
        ] {
            assert_eq!(wanted(accept), Format::Report, "{accept:?}");
        }
    }

    proptest! {
        /// Whatever is written, an answer is given.
        #[test]
        fn no_text_is_too_strange(accept in proptest::collection::vec(any::<u8>(), 0..200)) {
            Format::wanted(&[accept.as_slice()]);
        }

        /// The greater weight wins, in whatever order and among whatever others.
        #[test]
        fn the_greater_weight_wins(ours in 0_u16..=1000, draft in 0_u16..=1000, swap: bool, others in "(text/[a-z]{1,5};q=0\\.[0-9]{1,3}, ){0,3}") {
            let q = |weight: u16| if weight == 1000 { "1.000".to_owned() } else { format!("0.{weight:03}") };
            let mut ranges = [
                format!("application/json;q={}", q(ours)),
                format!("application/health+json;q={}", q(draft)),
            ];
            if swap {
                ranges.reverse();
            }
            let accept = format!("{others}{}", ranges.join(", "));
            let expected = if draft > ours { Format::HealthJson } else { Format::Report };
            prop_assert_eq!(wanted(&[&accept]), expected);
        }

        #[test]
        fn a_weight_has_at_most_three_decimals(weight in 0_u16..1000) {
            prop_assert_eq!(thousandths(&format!("0.{weight:03}")), Some(weight));
            prop_assert_eq!(thousandths(&format!("0.{weight:03}0")), None);
        }
    }
}
