//! The table: one row a contestant, then one row a kind of incident for the first of them.

use std::fmt::Write as _;

use super::suite::Contestant;
use super::tally::{Row, Score};

/// The scores as text.
#[must_use]
pub fn print(contestants: &[Contestant], rows: &[Row]) -> String {
    let mut text = String::new();
    line(&mut text, "localiser", None);
    for (contestant, row) in contestants.iter().zip(rows) {
        line(&mut text, contestant.name, Some(&row.all().score()));
    }
    let (Some(first), Some(row)) = (contestants.first(), rows.first()) else {
        return text;
    };
    text.push('\n');
    line(&mut text, &format!("{}, by kind", first.name), None);
    for (kind, tally) in &row.kinds {
        line(&mut text, kind.as_str(), Some(&tally.score()));
    }
    let _ = writeln!(text, "\n{}, by confidence", first.name);
    let _ = writeln!(text, "{:>10} {:>9} {:>9}", "answers", "claimed", "right");
    for (answers, claimed, right) in row.all().calibration().bins() {
        let _ = writeln!(text, "{answers:>10} {claimed:>9.3} {right:>9.3}");
    }
    text
}

fn line(text: &mut String, name: &str, score: Option<&Score>) {
    let _ = match score {
        None => writeln!(
            text,
            "{name:<24} {:>9} {:>6} {:>6} {:>6} {:>8} {:>8} {:>6} {:>8} {:>6} {:>8}",
            "incidents",
            "asked",
            "top-1",
            "exact",
            "strict-1",
            "strict",
            "MRR",
            "median s",
            "ECE",
            "false/h"
        ),
        Some(score) => {
            let false_causes = score
                .false_per_hour
                .map_or_else(|| "-".to_owned(), |rate| format!("{rate:.1}"));
            let time = if score.median_time.is_finite() {
                format!("{:.0}", score.median_time)
            } else {
                "never".to_owned()
            };
            writeln!(
                text,
                "{name:<24} {:>9} {:>6} {:>6.3} {:>6.3} {:>8.3} {:>8.3} {:>6.3} {time:>8} {:>6.3} {false_causes:>8}",
                score.incidents,
                score.asked,
                score.top1,
                score.exact,
                score.strict_top1,
                score.strict_exact,
                score.mrr,
                score.calibration_error
            )
        }
    };
}
