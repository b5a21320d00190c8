//! Programs that the benchmark starts: each leads a process group of its own, which is ended when the value is dropped,
//! on success, failure and Ctrl-C alike.

use std::fs::{self, File};
use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};
use tokio::time::{Instant, sleep};

use crate::client::Connection;
use crate::temporary::Directory;

/// How long a server may take until it answers 200.
const START_LIMIT: Duration = Duration::from_secs(30);

/// How often we look whether something has come.
const LOOK: Duration = Duration::from_millis(20);

/// Ports that are tried: below those that the kernel gives to outgoing connections.
const PORTS: std::ops::Range<u16> = 10_000..30_000;

/// A started program.
#[derive(Debug)]
pub(crate) struct Child {
    name: &'static str,
    process: std::process::Child,
    log: PathBuf,
}

impl Child {
    /// Starts it with everything it prints in a file of `directory`. Its standard input stays open until it is dropped.
    pub(crate) fn start(
        name: &'static str,
        command: &mut Command,
        directory: &Directory,
    ) -> io::Result<Self> {
        let log = directory.path().join(format!("{name}.log"));
        let output = File::create(&log)?;
        let process = command
            .stdin(Stdio::piped())
            .stdout(output.try_clone()?)
            .stderr(output)
            .process_group(0)
            .spawn()
            .map_err(|error| io::Error::new(error.kind(), format!("starting {name}: {error}")))?;
        Ok(Self { name, process, log })
    }

    /// Its process id, which is that of its group.
    pub(crate) fn id(&self) -> u32 {
        self.process.id()
    }

    /// Until it has ended well.
    pub(crate) async fn finished(mut self, limit: Duration) -> io::Result<()> {
        let deadline = Instant::now() + limit;
        while Instant::now() < deadline {
            match self.process.try_wait()? {
                Some(status) if status.success() => return Ok(()),
                Some(status) => return Err(self.complaint(&format!("ended with {status}"))),
                None => sleep(LOOK).await,
            }
        }
        Err(self.complaint(&format!("did not end within {limit:?}")))
    }

    /// Until it answers 200.
    pub(crate) async fn healthy(&mut self, address: SocketAddr, path: &str) -> io::Result<()> {
        let deadline = Instant::now() + START_LIMIT;
        while Instant::now() < deadline {
            if let Some(status) = self.process.try_wait()? {
                return Err(self.complaint(&format!("ended with {status}")));
            }
            if let Ok(mut connection) = Connection::open(address, path, 200).await
                && connection.ask().await.is_ok()
            {
                return Ok(());
            }
            sleep(LOOK).await;
        }
        Err(self.complaint(&format!("did not answer 200 within {START_LIMIT:?}")))
    }

    /// The first line that it prints, when it is complete.
    pub(crate) async fn first_line(&mut self) -> io::Result<String> {
        let deadline = Instant::now() + START_LIMIT;
        while Instant::now() < deadline {
            if let Some((line, _)) = fs::read_to_string(&self.log)?.split_once('\n') {
                return Ok(line.to_owned());
            }
            if let Some(status) = self.process.try_wait()? {
                return Err(self.complaint(&format!("ended with {status}")));
            }
            sleep(LOOK).await;
        }
        Err(self.complaint(&format!("said nothing within {START_LIMIT:?}")))
    }

    fn complaint(&self, what: &str) -> io::Error {
        io::Error::other(format!("{} {what}", self.name))
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        if let Some(group) = i32::try_from(self.id()).ok().and_then(Pid::from_raw) {
            // There is nothing to end where it has ended by itself.
            let _ = kill_process_group(group, Signal::KILL);
        }
        let _ = self.process.wait();
    }
}

/// An address of loopback where nobody listens.
pub(crate) fn free_address() -> io::Result<SocketAddr> {
    let offset = u16::try_from(std::process::id() % 20_000).unwrap_or_default();
    for port in PORTS.cycle().skip(usize::from(offset)).take(PORTS.len()) {
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
        if TcpListener::bind(address).is_ok() {
            return Ok(address);
        }
    }
    Err(io::Error::other("no free port between 10000 and 30000"))
}
