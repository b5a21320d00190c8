//! Which stories there are, and of which chapters they are made.

use std::fmt;

/// A story that can be played alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Story {
    /// All is well.
    Healthy,
    /// The orders database answers in 3 s.
    SlowDatabase,
    /// The orders database refuses connections.
    DatabaseDown,
    /// It refuses, and comes back.
    Recovery,
    /// The aggregator cannot reach a service that is well.
    Cut,
    /// A cache that nobody needs badly refuses connections.
    CacheDown,
}

impl Story {
    /// Every story.
    pub const ALL: &'static [Self] = &[
        Self::Healthy,
        Self::SlowDatabase,
        Self::DatabaseDown,
        Self::Recovery,
        Self::Cut,
        Self::CacheDown,
    ];

    /// Its name on the command line.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Healthy => "healthy",
            Self::SlowDatabase => "slow-database",
            Self::DatabaseDown => "database-down",
            Self::Recovery => "recovery",
            Self::Cut => "cut",
            Self::CacheDown => "cache-down",
        }
    }

    /// What happens in it, in a line.
    #[must_use]
    pub const fn about(self) -> &'static str {
        match self {
            Self::Healthy => "all is well",
            Self::SlowDatabase => {
                "orders-db answers in 3 s: root cause, impacted callers, one incident"
            }
            Self::DatabaseDown => "orders-db refuses connections: the same, seen at once",
            Self::Recovery => "orders-db refuses, then comes back: the incident is resolved",
            Self::Cut => "the way from the aggregator to payments is cut: unknown, not down",
            Self::CacheDown => "the cache refuses connections: degraded, nobody is paged",
        }
    }

    /// The story of this name.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL
            .iter()
            .copied()
            .find(|story| story.as_str() == name)
    }

    pub(crate) const fn chapters(self) -> &'static [Chapter] {
        match self {
            Self::Healthy => &[Chapter::Healthy],
            Self::SlowDatabase => &[Chapter::Healthy, Chapter::SlowDatabase],
            Self::DatabaseDown => &[Chapter::Healthy, Chapter::DatabaseDown],
            Self::Recovery => &[Chapter::Healthy, Chapter::DatabaseDown, Chapter::Recovery],
            Self::Cut => &[Chapter::Healthy, Chapter::Cut],
            Self::CacheDown => &[Chapter::Healthy, Chapter::CacheDown],
        }
    }
}

impl fmt::Display for Story {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// The story that is played when none is named.
pub(crate) const TOUR: &[Chapter] = &[
    Chapter::Healthy,
    Chapter::SlowDatabase,
    Chapter::DatabaseDown,
    Chapter::Recovery,
    Chapter::Cut,
    Chapter::Healed,
];

/// A part of a story. Each goes on from the state in which the one before it left the shop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Chapter {
    Healthy,
    SlowDatabase,
    DatabaseDown,
    Recovery,
    Cut,
    Healed,
    CacheDown,
}

impl Chapter {
    pub(crate) const fn title(self) -> &'static str {
        match self {
            Self::Healthy => "all is well",
            Self::SlowDatabase => "the orders database becomes slow",
            Self::DatabaseDown => "the orders database refuses connections",
            Self::Recovery => "the orders database comes back",
            Self::Cut => "the aggregator cannot reach payments",
            Self::Healed => "the way to payments is back",
            Self::CacheDown => "the cache refuses connections",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_story_is_found_by_its_name() {
        for story in Story::ALL {
            assert_eq!(Story::parse(story.as_str()), Some(*story));
        }
        assert_eq!(Story::parse("nonsense"), None);
    }
}
