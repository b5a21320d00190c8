//! A stream that remembers what came and how it ended, so that failures are told apart by facts and not by texts.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// A stream in both directions, plain or not.
pub(crate) trait Io: AsyncRead + AsyncWrite + Send + Sync + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Sync + Unpin> Io for T {}

/// What was seen on a stream so far.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    received: AtomicU64,
    ended: AtomicBool,
}

impl Seen {
    /// Bytes that the other side has sent.
    pub(crate) fn received(&self) -> u64 {
        self.received.load(Ordering::Relaxed)
    }

    /// The other side has closed or the connection has failed.
    pub(crate) fn has_ended(&self) -> bool {
        self.ended.load(Ordering::Relaxed)
    }
}

/// The stream.
pub(crate) struct Watched {
    stream: Box<dyn Io>,
    seen: Arc<Seen>,
}

impl Watched {
    pub(crate) fn new(stream: Box<dyn Io>) -> (Self, Arc<Seen>) {
        let seen = Arc::<Seen>::default();
        let watched = Self {
            stream,
            seen: Arc::clone(&seen),
        };
        (watched, seen)
    }

    fn note<T>(&self, result: io::Result<T>) -> io::Result<T> {
        if result.is_err() {
            self.seen.ended.store(true, Ordering::Relaxed);
        }
        result
    }
}

impl AsyncRead for Watched {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let (before, room) = (buffer.filled().len(), buffer.remaining());
        let result = ready!(Pin::new(&mut self.stream).poll_read(context, buffer));
        let came = buffer.filled().len() - before;
        self.seen.received.fetch_add(came as u64, Ordering::Relaxed);
        if came == 0 && room > 0 {
            self.seen.ended.store(true, Ordering::Relaxed);
        }
        Poll::Ready(self.note(result))
    }
}

impl AsyncWrite for Watched {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let result = ready!(Pin::new(&mut self.stream).poll_write(context, bytes));
        Poll::Ready(self.note(result))
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let result = ready!(Pin::new(&mut self.stream).poll_write_vectored(context, bytes));
        Poll::Ready(self.note(result))
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}
