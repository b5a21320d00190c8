//! What became of each rule, and the evidence.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::rule::Rule;

/// What was seen of one promise.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// It was put to the test, and held each time.
    Kept,
    /// It did not hold once.
    Broken(Evidence),
    /// It was not put to the test, and why. Never counted as kept.
    NotTested(String),
}

/// What shows that a promise is broken. Texts may hold what the service sent: cut, but not cleaned of control characters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Evidence {
    /// What was asked, under which condition.
    pub asked: String,
    /// What came.
    pub came: String,
    /// What would be right.
    pub right: String,
}

impl Evidence {
    pub(crate) fn new(
        asked: impl Into<String>,
        came: impl Into<String>,
        right: impl Into<String>,
    ) -> Self {
        Self {
            asked: asked.into(),
            came: came.into(),
            right: right.into(),
        }
    }
}

/// How the service ended that was started for the test.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ending {
    /// From SIGTERM on.
    pub after: Duration,
    /// `exit code 0`, `signal 15`; none if it had to be killed.
    pub how: Option<String>,
}

/// The outcome of a whole run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    /// What was tested.
    pub url: String,
    /// How long it took.
    pub took: Duration,
    /// How it ended, if it was started for the test and came to its end.
    pub ending: Option<Ending>,
    /// Every rule once, in the order of the specification.
    pub verdicts: Vec<(Rule, Verdict)>,
}

impl Outcome {
    /// How many promises were kept, broken and not tested.
    #[must_use]
    pub fn counts(&self) -> (usize, usize, usize) {
        let mut counts = (0, 0, 0);
        for (_, verdict) in &self.verdicts {
            match verdict {
                Verdict::Kept => counts.0 += 1,
                Verdict::Broken(_) => counts.1 += 1,
                Verdict::NotTested(_) => counts.2 += 1,
            }
        }
        counts
    }
}

/// What is known so far. The first evidence against a rule stays; what was kept before or after does not outweigh it.
#[derive(Debug, Default)]
pub(crate) struct Ledger(BTreeMap<Rule, Verdict>);

impl Ledger {
    /// The rule was put to the test, and this is whether it held.
    pub(crate) fn judge(&mut self, rule: Rule, holds: bool, evidence: impl FnOnce() -> Evidence) {
        if holds {
            self.kept(rule);
        } else {
            self.broken(rule, evidence());
        }
    }

    pub(crate) fn kept(&mut self, rule: Rule) {
        match self.0.get(&rule) {
            Some(Verdict::Kept | Verdict::Broken(_)) => {}
            Some(Verdict::NotTested(_)) | None => {
                self.0.insert(rule, Verdict::Kept);
            }
        }
    }

    pub(crate) fn broken(&mut self, rule: Rule, evidence: Evidence) {
        match self.0.get(&rule) {
            Some(Verdict::Broken(_)) => {}
            Some(Verdict::Kept | Verdict::NotTested(_)) | None => {
                self.0.insert(rule, Verdict::Broken(evidence));
            }
        }
    }

    /// It could not be put to the test; the first reason stays.
    pub(crate) fn not_tested(&mut self, rule: Rule, reason: impl Into<String>) {
        self.0
            .entry(rule)
            .or_insert_with(|| Verdict::NotTested(reason.into()));
    }

    /// What nobody has said anything about could not be put to the test, for this reason.
    pub(crate) fn not_tested_yet(&mut self, reason: &str) {
        for rule in Rule::ALL {
            self.not_tested(*rule, reason);
        }
    }

    pub(crate) fn is_broken(&self, rule: Rule) -> bool {
        matches!(self.0.get(&rule), Some(Verdict::Broken(_)))
    }

    /// Every rule; those that nobody said anything about with what they need.
    pub(crate) fn close(mut self) -> Vec<(Rule, Verdict)> {
        let all = Rule::ALL.iter().map(|rule| {
            let verdict = self.0.remove(rule).unwrap_or_else(|| {
                Verdict::NotTested(format!(
                    "it did not come to that; it needs {}",
                    rule.need().as_str()
                ))
            });
            (*rule, verdict)
        });
        all.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::{Evidence, Ledger, Verdict};
    use crate::rule::Rule;

    #[test]
    fn what_was_broken_once_is_broken_and_what_nobody_looked_at_is_not_kept() {
        let mut ledger = Ledger::default();
        ledger.not_tested(Rule::LiveShape, "why");
        ledger.kept(Rule::LiveShape);
        ledger.kept(Rule::LiveAlone);
        for came in ["first", "second"] {
            ledger.broken(Rule::LiveAlone, Evidence::new("a", came, "b"));
        }
        ledger.kept(Rule::LiveAlone);
        ledger.not_tested(Rule::LiveAlone, "why");
        let verdicts = ledger.close();
        assert_eq!(verdicts.len(), Rule::ALL.len());
        assert_eq!(verdicts[0], (Rule::LiveShape, Verdict::Kept));
        assert!(matches!(&verdicts[1].1, Verdict::Broken(evidence) if evidence.came == "first"));
        let others = verdicts[2..].iter();
        assert!(others.clone().count() > 40);
        for (_, verdict) in others {
            assert!(matches!(verdict, Verdict::NotTested(_)));
        }
    }
}
