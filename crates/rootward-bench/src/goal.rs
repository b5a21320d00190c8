//! What was promised, what was measured, and whether the one meets the other.

use std::fmt;

/// A run on a noisy machine may miss a goal by this share; it is shown beside the verdict and does not change it.
const SLACK: f64 = 0.15;

/// What the measured figure must keep.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Bound {
    AtMost(f64),
    AtLeast(f64),
}

impl Bound {
    /// A figure that is not a number keeps no bound.
    fn holds(self, figure: f64) -> bool {
        match self {
            Self::AtMost(most) => figure <= most,
            Self::AtLeast(least) => figure >= least,
        }
    }

    fn with_slack(self) -> Self {
        match self {
            Self::AtMost(most) => Self::AtMost(most * (1.0 + SLACK)),
            Self::AtLeast(least) => Self::AtLeast(least * (1.0 - SLACK)),
        }
    }
}

impl fmt::Display for Bound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Three decimals, without the zeros that say nothing.
        let short = |figure: f64| {
            let text = format!("{figure:.3}");
            text.trim_end_matches('0').trim_end_matches('.').to_owned()
        };
        match self {
            Self::AtMost(most) => write!(f, "at most {}", short(*most)),
            Self::AtLeast(least) => write!(f, "at least {}", short(*least)),
        }
    }
}

/// One goal and what came of it.
#[derive(Debug, Clone)]
pub(crate) struct Goal {
    name: &'static str,
    what: String,
    bound: Bound,
    /// Or a sentence: why there is none.
    figure: Result<f64, String>,
}

impl Goal {
    pub(crate) fn new(
        name: &'static str,
        what: impl Into<String>,
        bound: Bound,
        figure: Result<f64, String>,
    ) -> Self {
        Self {
            name,
            what: what.into(),
            bound,
            figure,
        }
    }

    /// What was not measured is not met.
    pub(crate) fn is_met(&self) -> bool {
        self.figure
            .as_ref()
            .is_ok_and(|figure| self.bound.holds(*figure))
    }
}

impl fmt::Display for Goal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let word = |met| if met { "PASS" } else { "MISS" };
        write!(f, "{} {}, {}: ", self.name, self.what, self.bound)?;
        match &self.figure {
            Ok(figure) => {
                let slack = self.bound.with_slack();
                write!(
                    f,
                    "{figure:.3} {} (with 15 % slack, {slack}: {})",
                    word(self.bound.holds(*figure)),
                    word(slack.holds(*figure))
                )
            }
            Err(why) => write!(f, "not measured: {why}"),
        }
    }
}

/// What a benchmark has to say.
#[derive(Debug, Clone)]
pub(crate) struct Outcome {
    pub(crate) table: String,
    pub(crate) goals: Vec<Goal>,
}

impl Outcome {
    pub(crate) fn all_met(&self) -> bool {
        self.goals.iter().all(Goal::is_met)
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.table.trim_end())?;
        if !self.goals.is_empty() {
            write!(f, "\n\ngoals")?;
        }
        for goal in &self.goals {
            write!(f, "\n  {goal}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(bound: Bound, figure: Result<f64, String>) -> (String, bool) {
        let goal = Goal::new("P1", "CPU per answer", bound, figure);
        (goal.to_string(), goal.is_met())
    }

    #[test]
    fn slack_is_shown_and_does_not_turn_a_miss_into_a_pass() {
        let (text, met) = line(Bound::AtMost(1.25), Ok(1.3));
        assert_eq!(
            text,
            "P1 CPU per answer, at most 1.25: 1.300 MISS (with 15 % slack, at most 1.438: PASS)"
        );
        assert!(!met);
        let (text, met) = line(Bound::AtLeast(4.0), Ok(5.0));
        assert_eq!(
            text,
            "P1 CPU per answer, at least 4: 5.000 PASS (with 15 % slack, at least 3.4: PASS)"
        );
        assert!(met);
    }

    #[test]
    fn what_was_not_measured_is_not_met() {
        let (text, met) = line(Bound::AtMost(1.0), Err("nginx is not installed".to_owned()));
        assert_eq!(
            text,
            "P1 CPU per answer, at most 1: not measured: nginx is not installed"
        );
        assert!(!met);
        assert!(!line(Bound::AtMost(1.0), Ok(f64::NAN)).1);
        assert!(!line(Bound::AtLeast(1.0), Ok(f64::NAN)).1);
    }
}
