//! How one component went through a fault, look by look: when it changed, after how many results, for what reason. No
//! input or output, so the judgements are tested with made-up courses.

use std::time::{Duration, Instant};

use rootward_core::{CheckStatus, ErrorCategory};

use crate::detail::Entry;
use crate::rule::Rule;
use crate::verdict::{Evidence, Ledger};

/// The entries of one component in the order in which they were seen; the first is from before the fault.
#[derive(Debug, Default)]
pub(crate) struct Course {
    entries: Vec<(Instant, Entry)>,
}

/// Whether a raw result counts for the component or against it.
fn is_down(status: CheckStatus) -> bool {
    match status {
        CheckStatus::Down => true,
        CheckStatus::Up | CheckStatus::Degraded | CheckStatus::Unknown => false,
    }
}

impl Course {
    pub(crate) fn push(&mut self, at: Instant, entry: Entry) {
        self.entries.push((at, entry));
    }

    /// The first entry with a result that is down, or that is not, whichever is waited for.
    fn first_raw(&self, down: bool) -> Option<&(Instant, Entry)> {
        let mut entries = self.entries.iter().skip(1);
        entries.find(|(_, entry)| is_down(entry.raw) == down && entry.raw != CheckStatus::Unknown)
    }

    /// The first entry whose status has become down, or has left it.
    fn flip(&self, down: bool) -> Option<&(Instant, Entry)> {
        let mut entries = self.entries.iter().skip(1);
        entries.find(|(_, entry)| {
            is_down(entry.status) == down && entry.status != CheckStatus::Unknown
        })
    }

    pub(crate) fn is_over(&self, down: bool) -> bool {
        self.flip(down).is_some()
    }

    pub(crate) fn last(&self) -> Option<&Entry> {
        self.entries.last().map(|(_, entry)| entry)
    }

    /// How many results of the new kind there were up to this entry, counted from the last one of the old kind.
    fn agreeing(&self, down: bool, until: &Entry) -> Option<u64> {
        let seq = until.seq?;
        let before = self.entries.iter().map(|(_, entry)| entry);
        let before = before
            .filter(|entry| is_down(entry.raw) != down && entry.seq.is_some_and(|it| it < seq));
        let last = before.filter_map(|entry| entry.seq).max()?;
        Some(seq - last)
    }

    /// How many results of the new kind were seen for sure up to this entry: counted from the first that was seen.
    fn seen_agreeing(&self, down: bool, until: &Entry) -> Option<u64> {
        let (_, first) = self.first_raw(down)?;
        Some(until.seq?.saturating_sub(first.seq?) + 1)
    }

    /// Whether the change came after as many agreeing results as it should: never earlier, and not later by more than
    /// what fits between two looks.
    pub(crate) fn judge_damping(
        &self,
        down: bool,
        needed: u64,
        condition: &str,
        ledger: &mut Ledger,
    ) {
        let (rule, word) = if down {
            (Rule::Fall, "down")
        } else {
            (Rule::Rise, "up")
        };
        let asked = format!("GET /health, again and again, {condition}");
        // Behind evidence that was too old a result is a first one, and counts at once.
        if self
            .entries
            .iter()
            .any(|(_, entry)| entry.status == CheckStatus::Unknown)
        {
            return;
        }
        let Some((_, flipped)) = self.flip(down) else {
            // Who never saw the failure is judged by other rules.
            if let Some((_, first)) = self.first_raw(down)
                && let Some(last) = self.last()
            {
                let seen = self.seen_agreeing(down, last).unwrap_or(0);
                if seen > needed || first.seq.is_none() {
                    let right = format!("{word} after {needed} agreeing results");
                    ledger.broken(rule, Evidence::new(asked, last.line(), right));
                }
            }
            return;
        };
        let Some(seen) = self.agreeing(down, flipped) else {
            ledger.not_tested(
                rule,
                "components have no seq, so nobody can count their results",
            );
            return;
        };
        let right = format!("{word} after {needed} agreeing results");
        // Results may come between two looks: what is too early is counted with them, what is too late without.
        let early = seen < needed;
        let late = self.entries.iter().any(|(_, entry)| {
            is_down(entry.status) != down
                && is_down(entry.raw) == down
                && self
                    .seen_agreeing(down, entry)
                    .is_some_and(|count| count > needed)
        });
        ledger.judge(rule, !early && !late, || {
            let came = format!(
                "{}: after {seen} agreeing result{}",
                flipped.line(),
                if seen == 1 { "" } else { "s" }
            );
            Evidence::new(asked, came, right)
        });
    }

    /// Whether the pause between the results of a pending change is about a second.
    pub(crate) fn judge_recheck(&self, down: bool, needed: u64, ledger: &mut Ledger) {
        /// Below it an interval is no longer than a busy machine's second.
        const TELLING: Duration = Duration::from_secs(8);
        let (Some((began, _)), Some((flipped, entry))) = (self.first_raw(down), self.flip(down))
        else {
            return;
        };
        match entry.interval {
            Some(interval) if interval >= TELLING && needed > 1 => {
                let steps = u32::try_from(needed - 1).unwrap_or(u32::MAX);
                let limit = (interval / 2).saturating_mul(steps);
                let took = *flipped - *began;
                ledger.judge(Rule::Recheck, took <= limit, || {
                    let came = format!(
                        "{}: {} ms from the first result of {needed} to the last",
                        entry.name,
                        took.as_millis()
                    );
                    Evidence::new(
                        "GET /health, again and again, while a change was pending",
                        came,
                        "about a second between them",
                    )
                });
            }
            Some(_) => ledger.not_tested(
                Rule::Recheck,
                "the intervals are shorter than 8 s, which looks the same",
            ),
            None => ledger.not_tested(Rule::Recheck, "the report has no interval_ms"),
        }
    }

    /// Whether a dependency that hangs is a timeout, about as late as its limit, and says so in numbers.
    pub(crate) fn judge_timeout(&self, waited: Duration, ledger: &mut Ledger) {
        let asked = "GET /health while the dependency accepts and never answers";
        let failures = self.entries.iter().skip(1).map(|(_, entry)| entry);
        let mut failures = failures.filter(|entry| is_down(entry.raw));
        // The first ones may be of connections that broke, and say so.
        let timeout = failures
            .clone()
            .find(|entry| entry.category == Some(ErrorCategory::Timeout));
        let Some(entry) = timeout.or_else(|| failures.next()) else {
            let last = self
                .last()
                .map_or_else(|| "nothing".to_owned(), Entry::line);
            let came = format!("no failure within {} ms: {last}", waited.as_millis());
            ledger.broken(
                Rule::Timeout,
                Evidence::new(asked, came, "a timeout, after timeout_ms"),
            );
            return;
        };
        let number = entry
            .error
            .as_ref()
            .is_some_and(|error| error.bytes().any(|byte| byte.is_ascii_digit()));
        let limit = entry.timeout.map(|limit| limit.as_secs_f64() * 1000.0);
        let near = match (entry.latency_ms, limit) {
            // A client with the same limit may be a little earlier; a busy machine is later.
            (Some(latency), Some(limit)) => {
                latency >= limit * 0.7 && latency <= limit * 2.0 + 1000.0
            }
            (Some(_) | None, _) => true,
        };
        let holds = entry.category == Some(ErrorCategory::Timeout) && number && near;
        ledger.judge(Rule::Timeout, holds, || {
            let limit =
                limit.map_or_else(|| "timeout_ms".to_owned(), |limit| format!("{limit} ms"));
            let right = format!(
                "error_category timeout, an error with the number, latency_ms about {limit}"
            );
            Evidence::new(asked, entry.line(), right)
        });
    }

    /// Whether a dependency that refuses is said to.
    pub(crate) fn judge_refusal(&self, waited: Duration, ledger: &mut Ledger) {
        let asked = "GET /health while the dependency refuses connections";
        let failures = self.entries.iter().skip(1).map(|(_, entry)| entry);
        let failures: Vec<_> = failures.filter(|entry| is_down(entry.raw)).collect();
        let says_so = |entry: &&&Entry| {
            matches!(
                entry.category,
                Some(ErrorCategory::ConnectionRefused | ErrorCategory::ConnectionReset)
            )
        };
        let right = "error_category connection_refused, or connection_reset";
        match (failures.iter().find(says_so), failures.last()) {
            (Some(_), _) => ledger.kept(Rule::Refused),
            (None, Some(entry)) => {
                ledger.broken(Rule::Refused, Evidence::new(asked, entry.line(), right));
            }
            (None, None) => {
                let last = self
                    .last()
                    .map_or_else(|| "nothing".to_owned(), Entry::line);
                let came = format!("no failure within {} ms: {last}", waited.as_millis());
                ledger.broken(Rule::Refused, Evidence::new(asked, came, right));
            }
        }
    }

    /// Whether a dependency that is slow and within the limit is measured, and not down.
    pub(crate) fn judge_latency(&self, delay: Duration, ledger: &mut Ledger) {
        let delay_ms = delay.as_secs_f64() * 1000.0;
        let first = self.entries.first().and_then(|(_, entry)| entry.seq);
        // The result under way when the delay began does not count.
        let slow = self.entries.iter().map(|(_, entry)| entry).find(|entry| {
            entry
                .seq
                .zip(first)
                .is_some_and(|(now, first)| now >= first + 2)
        });
        let Some(entry) = slow else {
            ledger.not_tested(
                Rule::Latency,
                "no result was seen to come while the dependency was slow",
            );
            return;
        };
        let measured = entry
            .latency_ms
            .is_some_and(|latency| latency >= delay_ms * 0.8);
        ledger.judge(Rule::Latency, measured && !is_down(entry.status), || {
            let asked = format!("GET /health while the dependency answers after {delay_ms} ms");
            Evidence::new(
                asked,
                entry.line(),
                format!("latency_ms of at least {delay_ms}, and not down"),
            )
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rootward_core::{Criticality, ErrorCategory};

    /// A course of raw results and statuses, a second apart; `d` is down, `u` up.
    fn course(results: &[(char, char)]) -> Course {
        let begun = Instant::now();
        let status = |letter: char| {
            if letter == 'd' {
                CheckStatus::Down
            } else {
                CheckStatus::Up
            }
        };
        let mut course = Course::default();
        for (seconds, (raw, damped)) in (1..).zip(results) {
            let failed = *raw == 'd';
            let entry = Entry {
                name: "db".to_owned(),
                status: status(*damped),
                raw: status(*raw),
                criticality: Criticality::Hard,
                kind: None,
                gates: false,
                age: Some(Duration::ZERO),
                latency_ms: Some(500.0),
                has_last_checked: true,
                seq: Some(seconds),
                category: failed.then_some(ErrorCategory::Timeout),
                error: failed.then(|| "timed out after 500 ms".to_owned()),
                interval: Some(Duration::from_secs(10)),
                timeout: Some(Duration::from_millis(500)),
            };
            course.push(begun + Duration::from_secs(seconds), entry);
        }
        course
    }

    fn is_broken(rule: Rule, judge: impl FnOnce(&mut Ledger)) -> bool {
        let mut ledger = Ledger::default();
        judge(&mut ledger);
        ledger.is_broken(rule)
    }

    #[test]
    fn a_change_comes_after_the_agreeing_results_and_neither_earlier_nor_later() {
        let fall = |results: &[(char, char)]| {
            is_broken(Rule::Fall, |ledger| {
                course(results).judge_damping(true, 3, "", ledger);
            })
        };
        assert!(!fall(&[('u', 'u'), ('d', 'u'), ('d', 'u'), ('d', 'd')]));
        assert!(fall(&[('u', 'u'), ('d', 'd')]));
        assert!(fall(&[('u', 'u'), ('d', 'u'), ('d', 'd')]));
        assert!(fall(&[
            ('u', 'u'),
            ('d', 'u'),
            ('d', 'u'),
            ('d', 'u'),
            ('d', 'u'),
            ('d', 'd')
        ]));
        assert!(fall(&[
            ('u', 'u'),
            ('d', 'u'),
            ('d', 'u'),
            ('d', 'u'),
            ('d', 'u')
        ]));
        // Nothing failed, so there is nothing to judge.
        assert!(!fall(&[('u', 'u'), ('u', 'u')]));
        let rise = |results: &[(char, char)]| {
            is_broken(Rule::Rise, |ledger| {
                course(results).judge_damping(false, 2, "", ledger);
            })
        };
        assert!(!rise(&[('d', 'd'), ('u', 'd'), ('u', 'u')]));
        assert!(rise(&[('d', 'd'), ('u', 'u')]));
    }

    #[test]
    fn a_pending_change_is_looked_into_after_seconds_and_not_after_intervals() {
        let slow: Vec<_> = std::iter::once(('u', 'u'))
            .chain(std::iter::repeat_n(('d', 'u'), 20))
            .chain([('d', 'd')])
            .collect();
        let quick = [('u', 'u'), ('d', 'u'), ('d', 'u'), ('d', 'd')];
        let judge = |results: &[(char, char)]| {
            is_broken(Rule::Recheck, |ledger| {
                course(results).judge_recheck(true, 3, ledger);
            })
        };
        assert!(judge(&slow));
        assert!(!judge(&quick));
    }

    #[test]
    fn a_hanging_dependency_is_a_timeout_with_its_number() {
        let waited = Duration::from_secs(9);
        let judge = |course: &Course| {
            is_broken(Rule::Timeout, |ledger| course.judge_timeout(waited, ledger))
        };
        let good = course(&[('u', 'u'), ('d', 'u')]);
        assert!(!judge(&good));
        assert!(
            judge(&course(&[('u', 'u'), ('u', 'u')])),
            "no failure at all"
        );
        type Harm = fn(&mut Entry);
        let harms: [Harm; 3] = [
            |entry| entry.error = Some("timed out".to_owned()),
            |entry| entry.category = Some(ErrorCategory::Unknown),
            |entry| entry.latency_ms = Some(90_000.0),
        ];
        for harm in harms {
            let mut bad = course(&[('u', 'u'), ('d', 'u')]);
            bad.entries.iter_mut().for_each(|(_, entry)| harm(entry));
            assert!(judge(&bad));
        }
    }
}
