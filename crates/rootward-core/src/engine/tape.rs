//! What the localisation was told, kept for who records it until it is taken.

use crate::localise::{Event, Graph};
use crate::moment::Moment;

/// One thing that the localisation was told. In order, they are a recording that can be played again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Told {
    /// The map from here on.
    Map(Box<Graph>),
    /// Something became known.
    Event {
        /// When.
        at: Moment,
        /// What.
        event: Event,
    },
}

/// Kept for who records. Not running, it keeps nothing.
#[derive(Debug, Default)]
pub(super) struct Tape {
    told: Option<Vec<Told>>,
}

impl Tape {
    pub(super) fn start(&mut self, map: Graph) {
        self.told = Some(vec![Told::Map(Box::new(map))]);
    }

    pub(super) fn map(&mut self, map: &Graph) {
        if let Some(told) = &mut self.told {
            told.push(Told::Map(Box::new(map.clone())));
        }
    }

    pub(super) fn event(&mut self, at: Moment, event: &Event) {
        if let Some(told) = &mut self.told {
            let event = event.clone();
            told.push(Told::Event { at, event });
        }
    }

    pub(super) fn take(&mut self) -> Vec<Told> {
        self.told.as_mut().map(std::mem::take).unwrap_or_default()
    }
}
