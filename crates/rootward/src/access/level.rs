//! The levels of access. Which endpoint has which level stands in the table of routes.

/// How much an answer says, and so who may have it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Level {
    /// An orchestrator acts on it: for everybody, and never refused for being asked too often.
    Open,
    /// One word: for everybody, limited.
    Public,
    /// Names of dependencies and what is wrong with them: for those who are known.
    Detailed,
    /// As detailed, unless the application opened it to everybody.
    Metrics,
    /// As detailed; what it starts has a limit of its own besides.
    Deep,
}

impl Level {
    /// Whether the answer is for people and for the aggregator, and nobody may act on it.
    pub(crate) const fn is_for_diagnosis(self) -> bool {
        match self {
            Self::Open | Self::Public => false,
            Self::Detailed | Self::Metrics | Self::Deep => true,
        }
    }
}
