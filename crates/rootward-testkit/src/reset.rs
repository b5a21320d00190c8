//! A connection that is reset, not closed in order, unless it came to its own end.

use tokio::net::TcpStream;

/// Resets the connection when it is dropped before [`ResetOnDrop::close_in_order`]: the task was
/// aborted because the stand-in refuses or stops, or the conversation failed.
#[derive(Debug)]
pub(crate) struct ResetOnDrop {
    stream: TcpStream,
    in_order: bool,
}

impl ResetOnDrop {
    pub(crate) fn new(stream: TcpStream) -> Self {
        Self {
            stream,
            in_order: false,
        }
    }

    pub(crate) fn stream(&mut self) -> &mut TcpStream {
        &mut self.stream
    }

    /// Closes with what was written still on its way to the peer.
    pub(crate) fn close_in_order(mut self) {
        self.in_order = true;
    }
}

impl Drop for ResetOnDrop {
    fn drop(&mut self) {
        if !self.in_order {
            // It fails only on a socket that is already broken, which the peer sees anyway.
            let _ = self.stream.set_zero_linger();
        }
    }
}
