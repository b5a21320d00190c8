//! Liveness: would only a restart help?
//!
//! Made from a wedged runtime, from silent tasks that the application declared, and from the application's own word.
//! There is no constructor that takes a check, a dependency, a quorum or a load: what a restart cannot repair cannot
//! become a reason here.

use std::sync::Arc;
use std::time::Duration;

use crate::duration;
use crate::failure::Reason;

use super::heartbeat::Silent;

/// Why only a restart helps.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Vital {
    /// The application's runtime has not answered for longer than the wedge limit.
    Wedged { limit: Duration },
    /// A declared task was silent for longer than its window.
    Silent(Silent),
    /// The application found out by itself.
    GivenUp(Arc<Reason>),
}

impl Vital {
    /// In a sentence that anybody may see.
    pub(crate) fn sentence(&self) -> String {
        match self {
            Self::Wedged { limit } => format!(
                "the application's runtime has not answered for {}",
                duration::text(*limit)
            ),
            Self::Silent(silent) => format!(
                "{} has given no sign of life for {}",
                silent.name,
                duration::text(silent.window)
            ),
            Self::GivenUp(reason) => reason.to_string(),
        }
    }
}

/// Why only a restart helps; nothing while it is alive.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Alive {
    pub(crate) against: Box<[Vital]>,
}

impl Alive {
    pub(crate) fn is_alive(&self) -> bool {
        self.against.is_empty()
    }

    /// Why the application's runtime cannot serve anybody, if it cannot.
    pub(crate) fn wedged(&self) -> Option<&Vital> {
        let mut all = self.against.iter();
        all.find(|vital| matches!(vital, Vital::Wedged { .. }))
    }

    /// All that speaks against it, in a sentence.
    pub(crate) fn reason(&self) -> Option<String> {
        let sentences: Vec<_> = self.against.iter().map(Vital::sentence).collect();
        (!sentences.is_empty()).then(|| sentences.join("; "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reasons_for_a_restart_read_as_sentences() {
        assert_eq!(Alive::default().reason(), None);
        let alive = Alive {
            against: [
                Vital::Wedged {
                    limit: Duration::from_secs(30),
                },
                Vital::Silent(Silent {
                    name: "order consumer".to_owned(),
                    window: Duration::from_secs(60),
                }),
                Vital::GivenUp(Arc::new(Reason::new("two locks wait for each other"))),
            ]
            .into(),
        };
        assert_eq!(
            alive.reason().as_deref(),
            Some(
                "the application's runtime has not answered for 30 s; \
                 order consumer has given no sign of life for 60 s; \
                 two locks wait for each other"
            )
        );
    }
}
