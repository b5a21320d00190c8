//! How a stand-in behaves, and what that means for its port and its connections.

use std::time::Duration;

use crate::front::{Condition, Door};
use crate::gate::Flow;

/// How a stand-in behaves. It can be changed while clients are connected, and applies to them too.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mood {
    /// Answers at once.
    #[default]
    Healthy,
    /// Every query or command is answered this long after it arrived. Connecting, and what a client
    /// sends to set a connection up, is not delayed.
    ///
    /// A query that is already waiting follows a later change: a shorter delay counts from its
    /// arrival, and [`Mood::Healthy`] answers it at once.
    Slow(Duration),
    /// Like a stopped process (SIGSTOP): the kernel still completes connects, and nothing is read
    /// or answered. What was sent meanwhile is read and answered after the thaw.
    Frozen,
    /// The listening socket is closed, so that the kernel refuses connects, and every connection is
    /// reset. Leaving this mood listens on the same port again.
    Refusing,
}

impl Condition for Mood {
    fn flow(self) -> Flow {
        match self {
            Self::Healthy => Flow::Pass,
            Self::Slow(delay) => Flow::After(delay),
            Self::Frozen | Self::Refusing => Flow::Hold,
        }
    }

    fn door(self) -> Door {
        match self {
            Self::Healthy | Self::Slow(_) => Door::Open,
            Self::Frozen => Door::Unattended,
            Self::Refusing => Door::Closed,
        }
    }
}
