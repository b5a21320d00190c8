//! The outcome as JSON, for programs. Fields are only added.

use serde_json::{Value, json};

use crate::verdict::{Outcome, Verdict};

impl Outcome {
    /// The outcome as JSON.
    ///
    /// `rules` has one entry for each: `rule`, `promise`, `result` (`kept`, `broken`, `not_tested`), `evidence` with
    /// `asked`, `came` and `right` of what is broken, `reason` of what was not tested. `ended` is there if the service was
    /// started for the test and came to its end: `after_ms`, counted from SIGTERM, and `how`, which is null if it was killed.
    #[must_use]
    pub fn to_json(&self) -> Value {
        let (kept, broken, not_tested) = self.counts();
        let rules: Vec<Value> = self
            .verdicts
            .iter()
            .map(|(rule, verdict)| {
                let mut entry = json!({ "rule": rule.id(), "promise": rule.promise() });
                match verdict {
                    Verdict::Kept => entry["result"] = "kept".into(),
                    Verdict::Broken(evidence) => {
                        entry["result"] = "broken".into();
                        entry["evidence"] = json!({
                            "asked": evidence.asked,
                            "came": evidence.came,
                            "right": evidence.right,
                        });
                    }
                    Verdict::NotTested(reason) => {
                        entry["result"] = "not_tested".into();
                        entry["reason"] = reason.as_str().into();
                    }
                }
                entry
            })
            .collect();
        let mut outcome = json!({
            "specification": "rootward-conformance/1",
            "url": self.url,
            "took_ms": u64::try_from(self.took.as_millis()).unwrap_or(u64::MAX),
            "kept": kept,
            "broken": broken,
            "not_tested": not_tested,
            "rules": rules,
        });
        if let Some(ending) = &self.ending {
            let after = u64::try_from(ending.after.as_millis()).unwrap_or(u64::MAX);
            outcome["ended"] = json!({ "after_ms": after, "how": ending.how });
        }
        outcome
    }
}
