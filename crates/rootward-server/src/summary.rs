//! What one run of the aggregator came to.

use rootward_core::snapshot::PollWord;

/// Counted from the start to the end of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Summary {
    /// Polls that ended.
    pub polls: PollCounts,
    /// Polls that were begun; each of them ended or was abandoned.
    pub polls_begun: u64,
    /// Polls that were running when the run was stopped, or when their target was removed or moved.
    pub abandoned: u64,
    /// Changes of status.
    pub transitions: u64,
    /// Incidents opened.
    pub incidents_opened: u64,
    /// Incidents resolved.
    pub incidents_resolved: u64,
    /// Connections to the aggregator's own listener.
    pub connections: u64,
}

/// Polls by how they ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PollCounts {
    /// With a report.
    pub report: u64,
    /// With nothing.
    pub no_answer: u64,
    /// With an error status and no report.
    pub error_status: u64,
    /// With something that is no report.
    pub malformed: u64,
}

impl PollCounts {
    /// All of them.
    #[must_use]
    pub const fn total(&self) -> u64 {
        self.report + self.no_answer + self.error_status + self.malformed
    }

    pub(crate) const fn add(&mut self, word: PollWord) {
        let count = match word {
            PollWord::Report => &mut self.report,
            PollWord::NoAnswer => &mut self.no_answer,
            PollWord::ErrorStatus => &mut self.error_status,
            PollWord::Malformed => &mut self.malformed,
        };
        *count += 1;
    }
}
