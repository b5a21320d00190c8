//! A Redis of one test, which it may freeze, kill and start again.

use std::io;
use std::net::Ipv4Addr;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::answer::Answer;
use crate::error::Error;
use crate::run::Run;
use crate::server::Server;

/// How much of an unexpected reply is read, in bytes.
const REPLY_LIMIT: usize = 256;

/// A Redis of one test, without a password. It keeps nothing: after a kill it is empty. Dropped, it is killed.
#[derive(Debug)]
pub struct Redis {
    server: Server,
}

impl Redis {
    /// Starts it on a free port of 127.0.0.1, and waits until it answers.
    ///
    /// # Errors
    ///
    /// When it does not; the error shows the end of its log.
    pub async fn start(run: &Run) -> Result<Self, Error> {
        let mut redis = Self {
            server: Server::new(run, "redis")?,
        };
        redis.run_server().await?;
        Ok(redis)
    }

    /// How a client reaches it: the same before and after a kill.
    pub fn url(&self) -> String {
        format!("redis://127.0.0.1:{}/", self.port())
    }

    /// The port, which stays its own.
    pub fn port(&self) -> u16 {
        self.server.port()
    }

    /// Its process id.
    ///
    /// # Errors
    ///
    /// When it was killed and not started again.
    pub fn id(&self) -> Result<u32, Error> {
        Ok(self.server.process()?.id())
    }

    /// Asks `PING` over a connection of its own.
    pub async fn ask(&self, limit: Duration) -> Answer {
        ask(self.port(), limit).await
    }

    /// Stops it where it is: connections are accepted by the kernel, and nothing is answered.
    ///
    /// # Errors
    ///
    /// When it is not running.
    pub fn freeze(&self) -> Result<(), Error> {
        self.server.process()?.freeze()
    }

    /// Lets it go on.
    ///
    /// # Errors
    ///
    /// When it is not running.
    pub fn thaw(&self) -> Result<(), Error> {
        self.server.process()?.thaw()
    }

    /// Kills it, frozen or not, and waits until it is gone: connections are refused from then on.
    ///
    /// # Errors
    ///
    /// When it is not running.
    pub async fn kill(&mut self) -> Result<(), Error> {
        self.server.kill().await
    }

    /// Starts it on the same port, and waits until it answers.
    ///
    /// # Errors
    ///
    /// When it is running, or does not answer; the error shows the end of its log.
    pub async fn start_again(&mut self) -> Result<(), Error> {
        self.run_server().await
    }

    async fn run_server(&mut self) -> Result<(), Error> {
        let port = self.port();
        let mut command = self.server.command(self.server.run().redis_server())?;
        command
            .args([
                "--bind",
                "127.0.0.1",
                "--port",
                &port.to_string(),
                "--daemonize",
                "no",
            ])
            .args(["--save", "", "--appendonly", "no"]);
        self.server
            .start(command, async |limit| ask(port, limit).await)
            .await
    }
}

impl Drop for Redis {
    fn drop(&mut self) {
        self.server.discard(|_| ());
    }
}

async fn ask(port: u16, limit: Duration) -> Answer {
    match tokio::time::timeout(limit, ping(port)).await {
        Ok(Ok(reply)) if reply == "+PONG\r\n" => Answer::Right,
        Ok(Ok(reply)) => Answer::Other(reply),
        Ok(Err(error)) if error.kind() == io::ErrorKind::ConnectionRefused => Answer::Refused,
        Ok(Err(error)) => Answer::Other(error.to_string()),
        Err(_) => Answer::None,
    }
}

/// Asks, and reads one line, or what there is before the end or the limit.
async fn ping(port: u16) -> io::Result<String> {
    let mut connection = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).await?;
    connection.write_all(b"PING\r\n").await?;
    let mut reply = String::new();
    while !reply.ends_with('\n') && reply.len() < REPLY_LIMIT {
        let mut byte = [0];
        if connection.read(&mut byte).await? == 0 {
            break;
        }
        reply.push(char::from(byte[0]));
    }
    Ok(reply)
}
