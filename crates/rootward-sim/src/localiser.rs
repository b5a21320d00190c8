//! Whatever finds root causes in a scenario: the engine under test, or a baseline beside it.

use crate::scenario::{Answer, Event};

/// Finds root causes from events.
pub trait Localiser {
    /// Takes the next event. Events come in the order of `recv`.
    fn apply(&mut self, event: &Event);

    /// Says what explains everything applied so far, at `t` seconds.
    fn answer(&mut self, t: f64) -> Answer;
}

impl<L: Localiser + ?Sized> Localiser for Box<L> {
    fn apply(&mut self, event: &Event) {
        (**self).apply(event);
    }

    fn answer(&mut self, t: f64) -> Answer {
        (**self).answer(t)
    }
}
