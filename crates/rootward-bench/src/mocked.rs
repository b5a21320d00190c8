//! A mock fleet as its starter sees it: a process of its own, and what it counted.

use std::io;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use tokio::time::{Instant, sleep};

use crate::child::Child;
use crate::client::Connection;
use crate::mock::Answers;
use crate::temporary::Directory;

/// How often we look whether everybody was asked.
const LOOK: Duration = Duration::from_millis(50);

/// What a mock has counted.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Count {
    /// Since it started.
    pub(crate) answers: f64,
    /// Services that were asked since the last reset.
    pub(crate) services: u32,
    /// Of the services that were ever asked, the fewest answers of one since the last reset.
    pub(crate) least: u32,
    /// Connections that are open.
    pub(crate) connections: u32,
    /// Connections since it started.
    pub(crate) opened: u32,
    /// Between two questions to one service, in milliseconds: 1 %, half, 99 % and all were not longer.
    pub(crate) gaps: [f64; 4],
}

/// A running mock.
#[derive(Debug)]
pub(crate) struct Mocked {
    _child: Child,
    pub(crate) port: u16,
    control: SocketAddr,
}

impl Mocked {
    /// Starts one. `count` and `roots` are for certificates.
    pub(crate) async fn start(
        name: &'static str,
        answers: Answers,
        tls: Option<(u32, &Path)>,
        directory: &Directory,
    ) -> io::Result<Self> {
        let mut command = Command::new(std::env::current_exe()?);
        let word = match answers {
            Answers::Fresh => "fresh",
            Answers::Same => "same",
        };
        command.args(["mock", word]);
        if let Some((count, roots)) = tls {
            command.arg(count.to_string()).arg(roots);
        }
        let mut child = Child::start(name, &mut command, directory)?;
        let line = child.first_line().await?;
        let understood = line.split_once(' ').and_then(|(port, control)| {
            let control = control.parse().ok()?;
            Some((port.parse().ok()?, control))
        });
        let (port, control) =
            understood.ok_or_else(|| io::Error::other(format!("the mock fleet said {line:?}")))?;
        Ok(Self {
            _child: child,
            port,
            control,
        })
    }

    /// What it has counted so far.
    pub(crate) async fn count(&self) -> io::Result<Count> {
        self.ask("/count").await
    }

    /// The same; what is counted since a reset begins anew.
    pub(crate) async fn reset(&self) -> io::Result<Count> {
        self.ask("/reset").await
    }

    async fn ask(&self, path: &str) -> io::Result<Count> {
        let mut connection = Connection::open(self.control, path, 200).await?;
        let text = String::from_utf8(connection.body().await?).map_err(io::Error::other)?;
        let numbers: Vec<f64> = text
            .split(' ')
            .filter_map(|word| word.parse().ok())
            .collect();
        let [
            answers,
            services,
            least,
            connections,
            opened,
            low,
            half,
            high,
            most,
        ] = numbers[..]
        else {
            return Err(io::Error::other(format!("the mock fleet counted {text:?}")));
        };
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "counts of at most some millions"
        )]
        let whole = |number: f64| number as u32;
        Ok(Count {
            answers,
            services: whole(services),
            least: whole(least),
            connections: whole(connections),
            opened: whole(opened),
            gaps: [low, half, high, most],
        })
    }

    /// Until so many services were asked.
    pub(crate) async fn asked(&self, services: u32, limit: Duration) -> io::Result<()> {
        let deadline = Instant::now() + limit;
        let mut seen = 0;
        while Instant::now() < deadline {
            seen = self.count().await?.services;
            if seen >= services {
                return Ok(());
            }
            sleep(LOOK).await;
        }
        Err(io::Error::other(format!(
            "{seen} of {services} services were asked within {limit:?}"
        )))
    }
}

/// Where a mock that speaks TLS writes the certificate to believe.
pub(crate) fn roots(name: &str, directory: &Directory) -> PathBuf {
    directory.path().join(format!("{name}.pem"))
}
