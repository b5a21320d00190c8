//! What the demo tells while it plays. It only says what; how it looks is the business of whoever listens.

use std::time::Duration;

/// Listens to the demo.
pub trait Narrator: Send {
    /// Hears the next thing.
    ///
    /// # Errors
    /// When nobody listens any more, such as a closed pipe: the demo then stops playing.
    fn narrate(&mut self, narration: &Narration) -> Result<(), NobodyListens>;
}

/// There is nobody to tell the rest to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("nobody listens to the narration any more")]
pub struct NobodyListens;

/// One thing that is told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Narration {
    /// A paragraph for the reader.
    Paragraph(String),
    /// The address of the page.
    Page(String),
    /// A chapter begins.
    Chapter {
        /// From 1.
        number: usize,
        /// How many there are.
        of: usize,
        /// What it is called.
        title: String,
    },
    /// What is about to be done to the shop.
    Act(String),
    /// An expectation came true.
    Met {
        /// What was expected.
        expectation: String,
        /// What was seen.
        seen: String,
        /// Since the act.
        took: Duration,
    },
    /// An expectation did not come true in time.
    Missed {
        /// What was expected.
        expectation: String,
        /// What was seen instead.
        seen: String,
        /// How long it was waited for.
        waited: Duration,
    },
    /// What the aggregator says through its own API, as labelled lines.
    Says(Vec<Saying>),
}

/// A labelled line of what the aggregator says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Saying {
    /// `root cause`, `why`, `impacted`, …; empty to continue the line before.
    pub label: &'static str,
    /// The line.
    pub text: String,
}

impl Saying {
    pub(crate) fn new(label: &'static str, text: impl Into<String>) -> Self {
        Self {
            label,
            text: text.into(),
        }
    }
}
