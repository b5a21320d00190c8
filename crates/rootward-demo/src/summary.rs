//! What a play came to: every expectation, and whether it held.

use std::time::Duration;

/// Everything that was expected in a play, in order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Summary {
    /// Every expectation.
    pub outcomes: Vec<Outcome>,
    /// How long the play took.
    pub took: Duration,
}

/// What came of one expectation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    /// What was expected.
    pub expectation: String,
    /// What was seen: what came true, or what was there instead.
    pub seen: String,
    /// Whether it came true.
    pub held: bool,
    /// Until it came true, or until it was given up.
    pub took: Duration,
}

impl Summary {
    /// Whether everything that was expected came true.
    #[must_use]
    pub fn all_held(&self) -> bool {
        self.outcomes.iter().all(|outcome| outcome.held)
    }

    /// How many expectations did not come true.
    #[must_use]
    pub fn missed(&self) -> usize {
        self.outcomes.iter().filter(|outcome| !outcome.held).count()
    }
}
