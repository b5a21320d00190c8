//! Where a connection waits until the condition in force lets it go on.
//!
//! Every wait here reads the condition again when it changes, so that a query that is being delayed
//! or a byte that is being held follows the change. All of them can be dropped and begun anew without
//! losing anything.

use std::future::pending;
use std::io;
use std::time::Duration;

use bytes::{Buf, BytesMut};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::sync::watch;
use tokio::time::Instant;

use crate::control::Wanted;
use crate::front::Condition;

/// What a condition means for what is on its way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Flow {
    /// It goes on at once.
    Pass,
    /// It goes on this long after it arrived.
    After(Duration),
    /// It waits until the condition changes.
    Hold,
}

/// One connection's view of the condition in force.
#[derive(Clone, Debug)]
pub(crate) struct Gate<C> {
    orders: watch::Receiver<Wanted<C>>,
}

impl<C: Condition> Gate<C> {
    pub(crate) fn new(orders: watch::Receiver<Wanted<C>>) -> Self {
        Self { orders }
    }

    /// Returns when nothing is held. A delay does not count as holding.
    pub(crate) async fn passable(&self) {
        self.until(|flow| flow != Flow::Hold).await;
    }

    /// Returns when what arrived at `arrival` may go on.
    pub(crate) async fn due(&self, arrival: Instant) {
        let mut orders = self.orders.clone();
        loop {
            let flow = orders.borrow_and_update().state.flow();
            let wait = async {
                match flow {
                    Flow::Pass => {}
                    // A delay beyond the clock's range never ends by itself.
                    Flow::After(delay) => match arrival.checked_add(delay) {
                        Some(when) => tokio::time::sleep_until(when).await,
                        None => pending().await,
                    },
                    Flow::Hold => pending().await,
                }
            };
            tokio::select! {
                () = wait => return,
                changed = orders.changed() => if changed.is_err() { pending::<()>().await },
            }
        }
    }

    /// Reads once while nothing is held; 0 is the end of the stream.
    pub(crate) async fn read(
        &self,
        reader: &mut (impl AsyncRead + Unpin),
        buffer: &mut BytesMut,
    ) -> io::Result<usize> {
        loop {
            self.passable().await;
            tokio::select! {
                biased;
                () = self.held() => {}
                read = reader.read_buf(buffer) => return read,
            }
        }
    }

    /// Writes once while nothing is held, taking what was written off the front of `buffer`.
    pub(crate) async fn write(
        &self,
        writer: &mut (impl AsyncWrite + Unpin),
        buffer: &mut impl Buf,
    ) -> io::Result<usize> {
        loop {
            self.passable().await;
            tokio::select! {
                biased;
                () = self.held() => {}
                written = writer.write_buf(buffer) => return match written {
                    Ok(0) => Err(io::ErrorKind::WriteZero.into()),
                    written => written,
                },
            }
        }
    }

    async fn held(&self) {
        self.until(|flow| flow == Flow::Hold).await;
    }

    async fn until(&self, good: impl Fn(Flow) -> bool) {
        let mut orders = self.orders.clone();
        let waited = orders
            .wait_for(|wanted| good(wanted.state.flow()))
            .await
            .is_ok();
        // Without a sender the stand-in is being dropped, and this task with it.
        if !waited {
            pending::<()>().await;
        }
    }
}
