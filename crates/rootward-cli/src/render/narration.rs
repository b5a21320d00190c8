//! The demo's narration and its summary.

use std::time::Duration;

use rootward_demo::{Narration, Summary};

use crate::text::{Line, Page, Tone};

/// How wide the labels of what the aggregator says are.
const LABEL: usize = 12;

/// One thing that is told.
pub(crate) fn page(narration: &Narration) -> Page {
    let mut page = Page::new();
    match narration {
        Narration::Paragraph(text) => page.push(Line::new().plain(text)),
        Narration::Page(at) => page.push(place("page", at)),
        Narration::Chapter { number, of, title } => {
            page.push(Line::new());
            page.push(Line::new().body(format!("{number}/{of} {title}"), Tone::Strong));
        }
        Narration::Act(text) => page.push(Line::new().lead("  do      ", Tone::Strong).plain(text)),
        Narration::Met {
            expectation,
            seen: _,
            took,
        } => page.push(verdict("  ok      ", Tone::Good, expectation, *took)),
        Narration::Missed {
            expectation,
            seen,
            waited,
        } => {
            page.push(verdict("  FAILED  ", Tone::Bad, expectation, *waited));
            page.push(
                Line::new()
                    .lead("          instead: ", Tone::Bad)
                    .plain(seen),
            );
        }
        Narration::Says(sayings) => {
            page.push(Line::new().lead("  the aggregator says", Tone::Quiet));
            for saying in sayings {
                let label = format!("    {:<LABEL$}", saying.label);
                page.push(Line::new().lead(label, Tone::Quiet).plain(&saying.text));
            }
        }
    }
    page
}

/// Where something is to be seen.
pub(crate) fn place(what: &str, at: &str) -> Line {
    Line::new()
        .lead(format!("  {what:<10}"), Tone::Quiet)
        .body(at, Tone::Strong)
}

fn verdict(word: &str, tone: Tone, expectation: &str, took: Duration) -> Line {
    Line::new()
        .lead(word, tone)
        .plain(expectation)
        .body(format!(" ({})", seconds(took)), Tone::Quiet)
}

/// Every expectation, and what was seen.
pub(crate) fn summary(summary: &Summary) -> Page {
    let mut page = Page::new();
    page.push(Line::new());
    page.push(Line::new().body("Summary: expected, seen, and after how long", Tone::Strong));
    for outcome in &summary.outcomes {
        let (word, tone) = if outcome.held {
            ("ok", Tone::Good)
        } else {
            ("FAILED", Tone::Bad)
        };
        let line = Line::new()
            .lead("  ", Tone::Plain)
            .lead(format!("{word:<8}"), tone)
            .lead(format!("{:>6}  ", seconds(outcome.took)), Tone::Quiet);
        page.push(line.plain(&outcome.expectation));
        let seen = if outcome.held { Tone::Quiet } else { Tone::Bad };
        page.push(
            Line::new()
                .lead(" ".repeat(18), Tone::Plain)
                .body(&outcome.seen, seen),
        );
    }
    let total = summary.outcomes.len();
    let took = seconds(summary.took);
    page.push(if summary.all_held() {
        Line::new().body(
            format!("Every expectation held: {total} of {total}, in {took}."),
            Tone::Good,
        )
    } else {
        let text = format!(
            "{} of {total} expectations did not hold, in {took}.",
            summary.missed()
        );
        Line::new().body(text, Tone::Bad)
    });
    page
}

/// `0.4 s`, `12 s`
fn seconds(time: Duration) -> String {
    if time < Duration::from_secs(10) {
        format!("{:.1} s", time.as_secs_f64())
    } else {
        format!("{} s", time.as_secs())
    }
}

#[cfg(test)]
mod tests {
    use rootward_demo::Outcome;

    use super::*;

    fn told(narrations: &[Narration]) -> String {
        narrations
            .iter()
            .map(|one| page(one).render(false))
            .collect()
    }

    #[test]
    fn a_chapter_says_what_is_done_what_came_of_it_and_what_came_instead() {
        let narrations = [
            Narration::Chapter {
                number: 2,
                of: 6,
                title: "the orders database becomes slow".into(),
            },
            Narration::Act("making orders-db answer in 3 s".into()),
            Narration::Met {
                expectation: "orders-db is named as the only root cause".into(),
                seen: "orders-db does not answer in time (97 % sure)".into(),
                took: Duration::from_millis(3_412),
            },
            Narration::Missed {
                expectation: "exactly one incident is open".into(),
                seen: "inc-1 (open, node:orders-db): orders-db does not answer in time; inc-2 (open, node:orders): orders is not ready".into(),
                waited: Duration::from_secs(40),
            },
        ];
        insta::assert_snapshot!(told(&narrations), @"

        2/6 the orders database becomes slow
          do      making orders-db answer in 3 s
          ok      orders-db is named as the only root cause (3.4 s)
          FAILED  exactly one incident is open (40 s)
                  instead: inc-1 (open, node:orders-db): orders-db does not answer in time; inc-2 (open,
                           node:orders): orders is not ready
        ");
    }

    #[test]
    fn a_summary_counts_what_did_not_hold() {
        let outcome = |held| Outcome {
            expectation: "exactly one incident is open".into(),
            seen: if held {
                "1 incident: inc-1".into()
            } else {
                "no incident".into()
            },
            held,
            took: Duration::from_millis(950),
        };
        let mut played = Summary {
            outcomes: vec![outcome(true)],
            took: Duration::from_secs(61),
        };
        insta::assert_snapshot!(summary(&played).render(false), @"

        Summary: expected, seen, and after how long
          ok       0.9 s  exactly one incident is open
                          1 incident: inc-1
        Every expectation held: 1 of 1, in 61 s.
        ");
        played.outcomes.push(outcome(false));
        insta::assert_snapshot!(summary(&played).render(false), @"

        Summary: expected, seen, and after how long
          ok       0.9 s  exactly one incident is open
                          1 incident: inc-1
          FAILED   0.9 s  exactly one incident is open
                          no incident
        1 of 2 expectations did not hold, in 61 s.
        ");
    }
}
