//! The socket of a connection, which can be ended from outside: also after hyper has handed it over to whoever
//! upgraded the connection.

use std::io::{self, IoSlice};
use std::net::Shutdown;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::task::{Context, Poll, ready};

use socket2::SockRef;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::sync::oneshot;

use super::goaway::Pause;

/// One end of a connection, for whoever reads and writes.
pub(super) struct Socket {
    shared: Arc<Shared>,
    pause: Pause,
    /// Gone when this is.
    _open: oneshot::Sender<()>,
}

struct Shared {
    stream: TcpStream,
    received: AtomicU64,
    /// From now on a GOAWAY may be written, and what follows it is held back once.
    goes: AtomicBool,
}

/// The same connection, for whoever ends it. Dropped, it ends it.
pub(super) struct Handle {
    shared: Arc<Shared>,
    closed: oneshot::Receiver<()>,
}

impl Socket {
    pub(super) fn new(stream: TcpStream) -> (Self, Handle) {
        // Answers are written at once; waiting for more would only delay them.
        let _ = stream.set_nodelay(true);
        let shared = Arc::new(Shared {
            stream,
            received: AtomicU64::new(0),
            goes: AtomicBool::new(false),
        });
        let (open, closed) = oneshot::channel();
        let socket = Self {
            shared: Arc::clone(&shared),
            pause: Pause::default(),
            _open: open,
        };
        (socket, Handle { shared, closed })
    }
}

impl Socket {
    fn poll_write_slice(&mut self, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let Shared { stream, goes, .. } = &*self.shared;
        let mut allowed = bytes.len();
        if goes.load(Ordering::Relaxed) {
            match ready!(self.pause.poll(cx, bytes)) {
                Some(some) => allowed = some,
                None => goes.store(false, Ordering::Relaxed),
            }
        }
        poll_write(stream, cx, || stream.try_write(&bytes[..allowed]))
    }
}

impl Handle {
    /// How many bytes have come.
    pub(super) fn received(&self) -> u64 {
        self.shared.received.load(Ordering::Relaxed)
    }

    /// The server is about to say that it goes.
    pub(super) fn goes(&self) {
        self.shared.goes.store(true, Ordering::Relaxed);
    }

    /// Until nobody has the socket any more.
    pub(super) async fn closed(&mut self) {
        // The sender never sends.
        let _ = (&mut self.closed).await;
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        if Arc::strong_count(&self.shared) > 1 {
            // Whoever has it finds the end of it at the next read or write. One that is broken already is no news.
            let _ = SockRef::from(&self.shared.stream).shutdown(Shutdown::Both);
        }
    }
}

impl AsyncRead for Socket {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let Shared {
            stream, received, ..
        } = &*self.shared;
        loop {
            ready!(stream.poll_read_ready(cx))?;
            match stream.try_read_buf(buf) {
                Ok(count) => {
                    received.fetch_add(count as u64, Ordering::Relaxed);
                    return Poll::Ready(Ok(()));
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(error) => return Poll::Ready(Err(error)),
            }
        }
    }
}

impl AsyncWrite for Socket {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.get_mut().poll_write_slice(cx, bytes)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        if this.shared.goes.load(Ordering::Relaxed) {
            // Fewer bytes than there are, which a writer may take.
            let first = slices.iter().find(|slice| !slice.is_empty());
            return this.poll_write_slice(cx, first.map_or(&[], |first| first));
        }
        let stream = &this.shared.stream;
        poll_write(stream, cx, || stream.try_write_vectored(slices))
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(SockRef::from(&self.shared.stream).shutdown(Shutdown::Write))
    }
}

fn poll_write(
    stream: &TcpStream,
    cx: &mut Context<'_>,
    write: impl Fn() -> io::Result<usize>,
) -> Poll<io::Result<usize>> {
    loop {
        ready!(stream.poll_write_ready(cx))?;
        match write() {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            written => return Poll::Ready(written),
        }
    }
}
