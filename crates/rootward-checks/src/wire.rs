//! A connection for protocols that need no driver: bytes out, lines and blocks in, each with a bound.
//!
//! Whatever waits here is dropped with the run that waits, and the socket with it. There is no task behind it.

use std::io;
use std::time::Duration;

use rootward::{CheckContext, ErrorCategory, Failure};
use rootward_fetch::{Dialed, FetchError, Target, dial};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::io_error;

#[cfg(any(test, feature = "memcached", feature = "nats", feature = "smtp"))]
/// The longest line that is read; what is longer is no answer in any of these protocols.
const MAX_LINE_BYTES: usize = 64 * 1024;

/// How much is read at once.
const CHUNK_BYTES: usize = 4096;

/// An open connection, with what was read and not yet used.
#[derive(Debug)]
pub(crate) struct Wire {
    stream: Dialed,
    unread: Vec<u8>,
}

impl Wire {
    #[cfg(any(
        test,
        feature = "amqp",
        feature = "kafka",
        feature = "memcached",
        feature = "smtp"
    ))]
    /// Connects, within the time that a run has; with a `https` target TLS begins at once.
    pub(crate) async fn connect(target: &Target, context: &CheckContext) -> Result<Self, Failure> {
        let plain = Self::connect_plainly(target, context.timeout()).await?;
        plain.secure(target, context).await
    }

    /// Connects, and leaves it to [`Wire::secure`] to begin TLS.
    pub(crate) async fn connect_plainly(target: &Target, limit: Duration) -> Result<Self, Failure> {
        Ok(Self {
            stream: dial(target, limit).await.map_err(no_connection)?,
            unread: Vec::new(),
        })
    }

    /// Makes the handshake of TLS, if the target is `https`.
    pub(crate) async fn secure(
        self,
        target: &Target,
        context: &CheckContext,
    ) -> Result<Self, Failure> {
        // What was said before the handshake must not be taken for what is said behind it.
        let is_unread = !self.unread.is_empty();
        if target.is_secured() && is_unread {
            return Err(Failure::new(ErrorCategory::Protocol)
                .because("the server went on before the TLS handshake"));
        }
        let stream = self.stream.secure(target, context.timeout());
        Ok(Self {
            stream: stream.await.map_err(no_connection)?,
            unread: self.unread,
        })
    }

    /// Sends all of it. That the other side has closed the connection is no failure yet: what it said before it did so
    /// tells why, and is still to be read.
    pub(crate) async fn send(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        let sent = async {
            self.stream.write_all(bytes).await?;
            self.stream.flush().await
        };
        match sent.await.map_err(broken) {
            Err(failure) if failure.category() != ErrorCategory::ConnectionReset => Err(failure),
            Ok(()) | Err(_) => Ok(()),
        }
    }

    #[cfg(any(test, feature = "memcached", feature = "nats", feature = "smtp"))]
    /// The next line, without its end (CR LF, or LF alone).
    pub(crate) async fn line(&mut self) -> Result<Vec<u8>, Failure> {
        let mut searched = 0;
        loop {
            if let Some(found) = self.unread[searched..]
                .iter()
                .position(|byte| *byte == b'\n')
            {
                let mut line: Vec<u8> = self.unread.drain(..=searched + found).collect();
                line.pop();
                if line.last() == Some(&b'\r') {
                    line.pop();
                }
                return Ok(line);
            }
            searched = self.unread.len();
            if searched > MAX_LINE_BYTES {
                return Err(Failure::new(ErrorCategory::Protocol)
                    .because("the answer is a line without end"));
            }
            self.read_more().await?;
        }
    }

    #[cfg(any(test, feature = "amqp", feature = "kafka"))]
    /// Exactly so many bytes. The caller has bounded the number.
    pub(crate) async fn block(&mut self, length: usize) -> Result<Vec<u8>, Failure> {
        while self.unread.len() < length {
            self.read_more().await?;
        }
        Ok(self.unread.drain(..length).collect())
    }

    async fn read_more(&mut self) -> Result<(), Failure> {
        let mut chunk = [0; CHUNK_BYTES];
        match self.stream.read(&mut chunk).await {
            Ok(0) => Err(broken(io::ErrorKind::UnexpectedEof.into())),
            Ok(read) => {
                self.unread.extend_from_slice(&chunk[..read]);
                Ok(())
            }
            Err(error) => Err(broken(error)),
        }
    }
}

fn no_connection(error: FetchError) -> Failure {
    Failure::new(error.category()).caused_by(error)
}

fn broken(error: io::Error) -> Failure {
    io_error::failure(&error).caused_by(error)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use rootward::Name;
    use tokio::net::TcpListener;

    use super::*;

    fn context() -> CheckContext {
        let name = |text| Name::parse(text).expect("a name");
        CheckContext::new(
            name("cart"),
            name("cart-0"),
            name("it"),
            Duration::from_secs(20),
        )
    }

    async fn wire_that_reads(bytes: Vec<u8>) -> Wire {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("its address");
        tokio::spawn(async move {
            let (mut stream, _) = listener.accept().await.expect("a connection");
            let _ = stream.write_all(&bytes).await;
        });
        let target = Target::parse(&format!("http://{address}")).expect("a target");
        Wire::connect(&target, &context())
            .await
            .expect("it listens")
    }

    #[tokio::test]
    async fn lines_and_blocks_come_in_order_and_an_end_is_a_broken_connection() {
        let mut wire = wire_that_reads(b"one\r\ntwo\nabcdrest".to_vec()).await;
        assert_eq!(wire.line().await.expect("a line"), b"one");
        assert_eq!(wire.line().await.expect("a line"), b"two");
        assert_eq!(wire.block(4).await.expect("a block"), b"abcd");
        let failure = wire.line().await.expect_err("no more lines");
        assert_eq!(failure.category(), ErrorCategory::ConnectionReset);
    }

    #[tokio::test]
    async fn what_a_server_said_before_it_closed_is_read() {
        let mut wire = wire_that_reads(b"-ERR 'full'\r\n".to_vec()).await;
        // Until the system knows that nobody reads any more.
        while wire.stream.write_all(b"question\r\n").await.is_ok() {
            tokio::task::yield_now().await;
        }
        wire.send(b"question\r\n").await.expect("no failure yet");
        assert_eq!(wire.line().await.expect("a line"), b"-ERR 'full'");
        assert!(wire.line().await.is_err());
    }

    #[tokio::test]
    async fn a_line_without_end_is_not_read_for_ever() {
        let mut wire = wire_that_reads(vec![b'x'; 4 * MAX_LINE_BYTES]).await;
        let failure = wire.line().await.expect_err("no line");
        assert_eq!(failure.to_string(), "the answer is a line without end");
    }
}
