//! The front of a stand-in: owns the port, the accept loop and every connection's task, and puts the
//! condition that is asked for in force.
//!
//! One task accepts and owns a join set of connection tasks. When it ends, or is aborted, all of
//! them end, and their connections are reset.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use tokio::net::TcpStream;
use tokio::runtime::Handle;
use tokio::sync::{oneshot, watch};
use tokio::task::{JoinHandle, JoinSet};

use crate::control::{Control, InForce, Wanted, control};
use crate::counter::Counter;
use crate::gate::{Flow, Gate};
use crate::port::Port;
use crate::reset::ResetOnDrop;

/// Connections that one stand-in serves at a time. More wait in the kernel's backlog until one of
/// them leaves.
pub(crate) const MAX_CONNECTIONS: usize = 128;

/// The pause after an accept that failed, which is a shortage that does not pass at once.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// A state that can be put in force on a running stand-in.
pub(crate) trait Condition: Copy + Send + Sync + 'static {
    /// What becomes of what is on its way.
    fn flow(self) -> Flow;
    /// What becomes of those who connect.
    fn door(self) -> Door;
}

/// What becomes of those who connect, and of those who have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Door {
    /// Connections are accepted.
    Open,
    /// The kernel completes connects; nobody accepts them.
    Unattended,
    /// Connections are accepted and reset; those that exist are reset.
    Resetting,
    /// Connects are refused; connections that exist are reset.
    Closed,
}

/// What happens on one accepted connection.
pub(crate) trait Serve: Clone + Send + Sync + 'static {
    /// The conditions under which it is served.
    type Condition: Condition;

    /// Serves one connection to its end. On an error the connection is reset, otherwise it is
    /// closed in order. `number` counts connections from 1.
    fn serve(
        &self,
        stream: &mut TcpStream,
        number: u64,
        gate: &Gate<Self::Condition>,
    ) -> impl Future<Output = io::Result<()>> + Send;
}

/// A running stand-in of any kind. Dropping it aborts every task it started.
#[derive(Debug)]
pub(crate) struct Front<C> {
    addr: SocketAddr,
    control: Control<C>,
    connections: Counter,
    stop: Option<oneshot::Sender<()>>,
    task: JoinHandle<()>,
}

impl<C: Condition> Front<C> {
    /// Listens on the loopback address and starts to serve; port 0 is a free one.
    pub(crate) fn start(port: u16, state: C, serve: impl Serve<Condition = C>) -> io::Result<Self> {
        let runtime = Handle::try_current().map_err(io::Error::other)?;
        let port = Port::listen_on(SocketAddr::from((Ipv4Addr::LOCALHOST, port)))?;
        let addr = port.addr();
        let (control, orders, reports) = control(addr, state);
        let connections = Counter::new();
        let (stop, stopped) = oneshot::channel();
        let reception = Reception {
            port,
            serve,
            orders,
            reports,
            connections: connections.clone(),
        };
        let task = runtime.spawn(reception.run(stopped));
        Ok(Self {
            addr,
            control,
            connections,
            stop: Some(stop),
            task,
        })
    }

    pub(crate) fn addr(&self) -> SocketAddr {
        self.addr
    }

    pub(crate) fn control(&self) -> Control<C> {
        self.control.clone()
    }

    pub(crate) fn connections(&self) -> &Counter {
        &self.connections
    }

    /// Closes the port, resets the connections, and returns when no task is left.
    pub(crate) async fn stop(mut self) {
        drop(self.stop.take());
        match (&mut self.task).await {
            Ok(()) => {}
            Err(error) => {
                if error.is_panic() {
                    std::panic::resume_unwind(error.into_panic());
                }
            }
        }
    }
}

impl<C> Drop for Front<C> {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// The accept loop's own state.
struct Reception<P: Serve> {
    port: Port,
    serve: P,
    orders: watch::Receiver<Wanted<P::Condition>>,
    reports: watch::Sender<InForce>,
    connections: Counter,
}

impl<P: Serve> Reception<P> {
    /// Serves until the other end of `stopped` is dropped.
    async fn run(mut self, stopped: oneshot::Receiver<()>) {
        let mut guests = JoinSet::new();
        tokio::select! {
            _ = stopped => {}
            () = self.attend(&mut guests) => {}
        }
        drop(self);
        guests.shutdown().await;
    }

    async fn attend(&mut self, guests: &mut JoinSet<()>) {
        loop {
            let Wanted { generation, state } = *self.orders.borrow_and_update();
            let door = state.door();
            let trouble = self
                .put_in_force(door, guests)
                .await
                .err()
                .map(|error| error.kind());
            self.reports.send_replace(InForce {
                generation,
                trouble,
            });
            if self.receive(door, guests).await.is_err() {
                return;
            }
        }
    }

    async fn put_in_force(&mut self, door: Door, guests: &mut JoinSet<()>) -> io::Result<()> {
        match door {
            Door::Open | Door::Unattended => self.port.open().await,
            Door::Resetting => {
                guests.shutdown().await;
                self.port.open().await
            }
            Door::Closed => {
                self.port.close();
                guests.shutdown().await;
                Ok(())
            }
        }
    }

    /// Receives connections until another condition is asked for.
    async fn receive(
        &mut self,
        door: Door,
        guests: &mut JoinSet<()>,
    ) -> Result<(), watch::error::RecvError> {
        let attended = match door {
            Door::Open | Door::Resetting => true,
            Door::Unattended | Door::Closed => false,
        };
        loop {
            tokio::select! {
                biased;
                changed = self.orders.changed() => return changed,
                Some(_ended) = guests.join_next() => {}
                accepted = self.port.accept(), if attended && guests.len() < MAX_CONNECTIONS => {
                    match accepted {
                        Ok(stream) => self.admit(stream, door, guests),
                        Err(_) => tokio::time::sleep(ACCEPT_PAUSE).await,
                    }
                }
            }
        }
    }

    fn admit(&self, stream: TcpStream, door: Door, guests: &mut JoinSet<()>) {
        self.connections.add(1);
        let mut client = ResetOnDrop::new(stream);
        if door == Door::Resetting {
            return;
        }
        let number = self.connections.seen();
        let gate = Gate::new(self.orders.clone());
        let serve = self.serve.clone();
        guests.spawn(async move {
            // Small answers must not wait for the acknowledgement of the one before.
            let ready = client.stream().set_nodelay(true);
            if ready.is_ok() && serve.serve(client.stream(), number, &gate).await.is_ok() {
                client.close_in_order();
            }
        });
    }
}
