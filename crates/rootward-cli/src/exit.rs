//! How the program ends. Every code is explained in `docs/exit-codes.md`.

use std::process::ExitCode;

/// How the program ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    /// All is well, or it was done.
    Well,
    /// Something is not healthy, or an expectation did not hold.
    NotWell,
    /// What was given is wrong: nothing was started.
    WrongInput,
    /// The system refused what is needed to run: memory, a thread, standard output.
    CouldNotStart,
    /// The aggregator cannot be reached.
    NotReached,
    /// Ended by a signal before the work was done; 128 and the number of the signal, as shells have it.
    Interrupted(u8),
}

impl Exit {
    /// The code.
    pub(crate) const fn code(self) -> u8 {
        match self {
            Self::Well => 0,
            Self::NotWell => 1,
            Self::WrongInput => 2,
            Self::CouldNotStart => 3,
            Self::NotReached => 4,
            Self::Interrupted(signal) => 128 + signal,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.code())
    }
}
