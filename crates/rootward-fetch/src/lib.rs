//! Asks one HTTP question: one deadline over the whole exchange, one byte cap, no redirects, typed outcomes.
