//! The handle by which a test or the demo changes a running stand-in, and the other end of it.

use std::io;
use std::net::SocketAddr;

use tokio::sync::watch;

/// Changes the condition of a running stand-in or wire. Clones speak to the same one.
///
/// It keeps nothing alive: when the stand-in has stopped, [`Control::change`] says so and
/// [`Control::set`] has no effect.
#[derive(Clone, Debug)]
pub struct Control<S> {
    addr: SocketAddr,
    wanted: watch::Sender<Wanted<S>>,
    in_force: watch::Receiver<InForce>,
}

impl<S: Copy> Control<S> {
    /// Asks for `state` and returns at once. When two are asked for quickly, the first may never
    /// have been in force; [`Control::change`] waits.
    pub fn set(&self, state: S) {
        self.ask(state);
    }

    /// Asks for `state` and waits until it is in force: the port is open or closed as it says, and
    /// connections that it resets are gone. When somebody asks for another state meanwhile, that
    /// one being in force ends the wait too.
    ///
    /// # Errors
    ///
    /// The stand-in has stopped, or it could not listen on its port again after a bounded number of
    /// attempts. In the second case nothing listens; the next change tries again.
    pub async fn change(&self, state: S) -> io::Result<()> {
        let generation = self.ask(state);
        let mut in_force = self.in_force.clone();
        match in_force.wait_for(|now| now.generation >= generation).await {
            Ok(now) => match now.trouble {
                None => Ok(()),
                Some(kind) => Err(io::Error::new(
                    kind,
                    format!("failed to listen on {} again", self.addr),
                )),
            },
            Err(_) => Err(io::Error::new(
                io::ErrorKind::NotConnected,
                format!("the stand-in on {} has stopped", self.addr),
            )),
        }
    }

    /// The state last asked for.
    #[must_use]
    pub fn current(&self) -> S {
        self.wanted.borrow().state
    }

    fn ask(&self, state: S) -> u64 {
        let mut generation = 0;
        self.wanted.send_modify(|wanted| {
            wanted.generation += 1;
            wanted.state = state;
            generation = wanted.generation;
        });
        generation
    }
}

/// A control and the two ends that the accept loop keeps.
pub(crate) fn control<S: Copy>(
    addr: SocketAddr,
    state: S,
) -> (
    Control<S>,
    watch::Receiver<Wanted<S>>,
    watch::Sender<InForce>,
) {
    let (wanted, orders) = watch::channel(Wanted {
        generation: 0,
        state,
    });
    let (reports, in_force) = watch::channel(InForce {
        generation: 0,
        trouble: None,
    });
    (
        Control {
            addr,
            wanted,
            in_force,
        },
        orders,
        reports,
    )
}

/// What was asked for; the generation tells two requests for the same state apart.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wanted<S> {
    pub(crate) generation: u64,
    pub(crate) state: S,
}

/// Which request is in force, and why it is not in force entirely.
#[derive(Clone, Copy, Debug)]
pub(crate) struct InForce {
    pub(crate) generation: u64,
    pub(crate) trouble: Option<io::ErrorKind>,
}
