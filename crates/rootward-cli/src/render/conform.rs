//! What became of each promise, for a person: what is broken comes last, because that is where the eye is.

use rootward_conform::{Outcome, Rule, Verdict};

use crate::text::{Line, Page, Tone};

pub(crate) fn page(outcome: &Outcome) -> Page {
    let mut page = Page::new();
    for wanted in ["kept", "not tested", "broken"] {
        let mut group = outcome
            .verdicts
            .iter()
            .filter(|(_, verdict)| word(verdict) == wanted)
            .peekable();
        if group.peek().is_some() {
            page.gap();
        }
        for (rule, verdict) in group {
            match verdict {
                Verdict::Kept => page.push(head(*rule, wanted, Tone::Good)),
                Verdict::NotTested(reason) => {
                    page.push(head(*rule, wanted, Tone::Unknown));
                    page.push(beside("", reason));
                }
                Verdict::Broken(evidence) => {
                    page.push(head(*rule, wanted, Tone::Bad));
                    page.push(beside("asked", &evidence.asked));
                    page.push(beside("came", &evidence.came));
                    page.push(beside("right", &evidence.right));
                }
            }
        }
    }
    page.gap();
    if let Some(ending) = &outcome.ending {
        let after = ending.after.as_millis();
        let text = match &ending.how {
            Some(how) => format!("the service ended {after} ms after SIGTERM, with {how}"),
            None => format!("the service still ran {after} ms after SIGTERM, and was killed"),
        };
        page.push(Line::new().plain(text));
    }
    let (kept, broken, not_tested) = outcome.counts();
    let tone = if broken == 0 { Tone::Good } else { Tone::Bad };
    let counts = format!("{kept} kept, {broken} broken, {not_tested} not tested");
    let rest = format!(" ({}, {} s)", outcome.url, outcome.took.as_secs());
    page.push(Line::new().body(counts, tone).plain(rest));
    page
}

const fn word(verdict: &Verdict) -> &'static str {
    match verdict {
        Verdict::Kept => "kept",
        Verdict::NotTested(_) => "not tested",
        Verdict::Broken(_) => "broken",
    }
}

fn head(rule: Rule, word: &str, tone: Tone) -> Line {
    Line::new()
        .lead(format!("{word:<12}"), tone)
        .lead(format!("{:<13}", rule.id()), Tone::Strong)
        .plain(rule.promise())
}

fn beside(word: &str, text: &str) -> Line {
    let wide = if word.is_empty() { 0 } else { 7 };
    Line::new()
        .lead(format!("{:<25}{word:<wide$}", ""), Tone::Quiet)
        .plain(text)
}

#[cfg(test)]
mod tests {
    use super::page;
    use rootward_conform::{Ending, Evidence, Outcome, Rule, Verdict};
    use std::time::Duration;

    #[test]
    fn what_is_broken_comes_last_and_with_its_evidence() {
        let broken = Evidence {
            asked: "GET /livez while dependencies hang".to_owned(),
            came: "503 after 3 ms: {\"alive\":false}\u{1b}[2J".to_owned(),
            right: "200, as before".to_owned(),
        };
        let outcome = Outcome {
            url: "http://127.0.0.1:8790/".to_owned(),
            took: Duration::from_millis(61_500),
            ending: Some(Ending {
                after: Duration::from_millis(2_040),
                how: Some("exit code 0".to_owned()),
            }),
            verdicts: vec![
                (Rule::LiveShape, Verdict::Kept),
                (Rule::LiveAlone, Verdict::Broken(broken)),
                (
                    Rule::Token,
                    Verdict::NotTested("no token was given: --token-file".to_owned()),
                ),
            ],
        };
        insta::assert_snapshot!(page(&outcome).render(false), @r#"
kept        R-LIVE-1     /livez answers 200 with alive: true, or 503 with alive: false and a reason

not tested  R-ACCESS-2   the right token opens the detailed report and a wrong one does not
                         no token was given: --token-file

broken      R-LIVE-2     liveness depends on nothing outside the process
                         asked  GET /livez while dependencies hang
                         came   503 after 3 ms: {"alive":false}�[2J
                         right  200, as before

the service ended 2040 ms after SIGTERM, with exit code 0
1 kept, 1 broken, 1 not tested (http://127.0.0.1:8790/, 61 s)
"#);
    }
}
