//! Time for HTTP/2 clients between GOAWAY and the end: without it, requests that cross GOAWAY on the way are lost.
//!
//! A server that goes sends GOAWAY without a limit first, waits for at least one round trip, and then says which
//! request was the last that it took (RFC 9113, 6.8). The crate h2 measures the round trip with a PING right behind
//! the first GOAWAY. That is too short: a client that reads both at once answers the PING before it sends the
//! requests that it has begun meanwhile, and these are refused. So the PING is held back for a moment.
//!
//! It is recognised by its bytes, wherever they are written. If h2 ever writes others, nothing is held back, and the
//! test of a drain without a delay fails. If the bytes are somebody's data, these come a moment later.

use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::time::{Sleep, sleep};

/// How long the PING is held back.
pub(super) const PAUSE: Duration = Duration::from_millis(100);

/// The PING of a server that goes: 8 bytes of payload, type 6, no flags, stream 0, and what h2 writes into it.
const PING: [u8; 17] = [
    0x00, 0x00, 0x08, 0x06, 0x00, 0x00, 0x00, 0x00, 0x00, //
    0x0b, 0x7b, 0xa2, 0xf0, 0x8b, 0x9b, 0xfe, 0x54,
];

/// Holds back the PING, once.
#[derive(Default)]
pub(super) struct Pause(Option<Pin<Box<Sleep>>>);

impl Pause {
    /// How many of these bytes may be written now; `None` if all may, for ever after.
    pub(super) fn poll(&mut self, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<Option<usize>> {
        if self.0.is_none() {
            match bytes.windows(PING.len()).position(|window| window == PING) {
                None => return Poll::Ready(Some(bytes.len())),
                Some(before @ 1..) => return Poll::Ready(Some(before)),
                Some(0) => {}
            }
        }
        let pause = self.0.get_or_insert_with(|| Box::pin(sleep(PAUSE)));
        ready!(pause.as_mut().poll(cx));
        Poll::Ready(None)
    }
}

#[cfg(test)]
mod tests {
    use std::future::poll_fn;

    use tokio::time::Instant;

    use super::*;

    async fn allowed(pause: &mut Pause, bytes: &[u8]) -> Option<usize> {
        poll_fn(|cx| pause.poll(cx, bytes)).await
    }

    #[tokio::test(start_paused = true)]
    async fn what_is_before_the_ping_goes_at_once_and_the_ping_later() {
        let began = Instant::now();
        let mut pause = Pause::default();
        assert_eq!(allowed(&mut pause, b"other bytes").await, Some(11));
        let bytes = [b"GOAWAY".as_slice(), &PING, b"more"].concat();
        assert_eq!(allowed(&mut pause, &bytes).await, Some(6));
        assert_eq!(began.elapsed(), Duration::ZERO);
        assert_eq!(allowed(&mut pause, &bytes[6..]).await, None);
        assert_eq!(began.elapsed(), PAUSE);
    }
}
