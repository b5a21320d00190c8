//! The port of a stand-in: listened on, or held without listening so that the kernel refuses
//! connects and yet nobody else is given the number.

use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use tokio::net::{TcpListener, TcpSocket, TcpStream};

/// Connections the kernel completes before they are accepted, as far as its own limit allows.
const BACKLOG: u32 = 1024;

/// How often listening again is tried before it is reported as failed.
const LISTEN_ATTEMPTS: u32 = 20;

/// The pause between two attempts to listen again.
const LISTEN_PAUSE: Duration = Duration::from_millis(50);

/// One port on the loopback address, for the life of a stand-in.
#[derive(Debug)]
pub(crate) struct Port {
    addr: SocketAddr,
    state: State,
}

#[derive(Debug)]
enum State {
    Listening(TcpListener),
    /// Bound and not listening.
    Held(TcpSocket),
    /// Not even bound: somebody else has the port.
    Lost,
}

impl Port {
    /// Listens on `addr`; port 0 is a free one.
    pub(crate) fn listen_on(addr: SocketAddr) -> io::Result<Self> {
        let listen = || {
            let listener = bind(addr)?.listen(BACKLOG)?;
            Ok(Self {
                addr: listener.local_addr()?,
                state: State::Listening(listener),
            })
        };
        listen().map_err(|source: io::Error| {
            io::Error::new(source.kind(), ListenFailed { addr, source })
        })
    }

    pub(crate) fn addr(&self) -> SocketAddr {
        self.addr
    }

    /// Closes the listening socket and keeps the number.
    pub(crate) fn close(&mut self) {
        if let State::Listening(_) = self.state {
            // The listener must be closed before the number can be bound again.
            self.state = State::Lost;
            if let Ok(socket) = bind(self.addr) {
                self.state = State::Held(socket);
            }
        }
    }

    /// Listens again, with a bounded number of attempts.
    pub(crate) async fn open(&mut self) -> io::Result<()> {
        let mut attempt = 1;
        loop {
            let socket = match std::mem::replace(&mut self.state, State::Lost) {
                State::Listening(listener) => {
                    self.state = State::Listening(listener);
                    return Ok(());
                }
                State::Held(socket) => Ok(socket),
                State::Lost => bind(self.addr),
            };
            match socket.and_then(|socket| socket.listen(BACKLOG)) {
                Ok(listener) => self.state = State::Listening(listener),
                Err(error) if attempt == LISTEN_ATTEMPTS => return Err(error),
                Err(_) => {
                    attempt += 1;
                    tokio::time::sleep(LISTEN_PAUSE).await;
                }
            }
        }
    }

    /// Takes one connection; never returns while not listening.
    pub(crate) async fn accept(&self) -> io::Result<TcpStream> {
        match &self.state {
            State::Listening(listener) => listener.accept().await.map(|(stream, _)| stream),
            State::Held(_) | State::Lost => std::future::pending().await,
        }
    }
}

/// Binds with `SO_REUSEADDR`, because connections that this side closed keep the number for a
/// minute otherwise.
fn bind(addr: SocketAddr) -> io::Result<TcpSocket> {
    let socket = TcpSocket::new_v4()?;
    socket.set_reuseaddr(true)?;
    socket.bind(addr)?;
    Ok(socket)
}

#[derive(Debug)]
struct ListenFailed {
    addr: SocketAddr,
    source: io::Error,
}

impl fmt::Display for ListenFailed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "failed to listen on {}", self.addr)
    }
}

impl std::error::Error for ListenFailed {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.source)
    }
}
