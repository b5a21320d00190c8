//! HAProxy before the instances, and what it says about them.

use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use rootward_e2e::{Error, Process, Run, free_port, until};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::UnixStream;

use super::instance::Instance;

/// How long HAProxy may take to see what is so.
const LIMIT: Duration = Duration::from_secs(20);

/// How long one question to it may take.
const QUESTION: Duration = Duration::from_secs(5);

/// The backends, one for each protocol.
const BACKENDS: [&str; 2] = ["http1", "http2"];

/// A running HAProxy. Dropped, it is killed.
pub(super) struct Balancer {
    pub(super) http1: u16,
    pub(super) http2: u16,
    socket: PathBuf,
    _process: Process,
}

impl Balancer {
    /// In front of these instances; returns when it sees all of them up.
    pub(super) async fn start(run: &Run, instances: &[Instance]) -> Result<Self, Error> {
        let (http1, http2) = (free_port()?, free_port()?);
        // A path of a Unix socket may have 107 bytes.
        let socket = run.directory().join(format!("haproxy-{http1}.sock"));
        let file = run.directory().join(format!("haproxy-{http1}.cfg"));
        let text = configuration([http1, http2], &socket.display().to_string(), instances);
        fs::write(&file, text).expect("the directory of the run is there");
        let mut command = Command::new(run.haproxy()?);
        command.arg("-db").arg("-f").arg(&file);
        let process = Process::spawn(run, "haproxy", command)?;
        let balancer = Self {
            http1,
            http2,
            socket,
            _process: process,
        };
        for instance in instances {
            balancer.sees_up(instance.name()).await?;
        }
        Ok(balancer)
    }

    /// Waits until it sends requests to this instance, over both protocols.
    pub(super) async fn sees_up(&self, server: &str) -> Result<(), Error> {
        let what = format!("HAProxy to see {server} up");
        let look = async || {
            let table = tokio::time::timeout(QUESTION, self.statistics()).await;
            let table = table.ok().and_then(Result::ok).unwrap_or_default();
            BACKENDS.map(|backend| status(&table, backend, server))
        };
        until(&what, LIMIT, look, |seen| {
            seen.iter().all(|status| status == "UP")
        })
        .await?;
        Ok(())
    }

    async fn statistics(&self) -> std::io::Result<String> {
        let mut socket = UnixStream::connect(&self.socket).await?;
        socket.write_all(b"show stat\n").await?;
        let mut table = String::new();
        socket.read_to_string(&mut table).await?;
        Ok(table)
    }
}

/// Checks every 100 ms, and one failure is enough. No second try: what fails is seen.
fn configuration(ports: [u16; 2], socket: &str, instances: &[Instance]) -> String {
    let mut text = format!(
        "global
    stats socket {socket} mode 600
defaults
    mode http
    retries 0
    timeout connect 2s
    timeout client 30s
    timeout server 10s
    option httpchk GET /readyz
    http-check expect status 200
    default-server inter 100ms fall 1 rise 1
"
    );
    for (backend, port, bind, server) in [
        (BACKENDS[0], ports[0], "", ""),
        (
            BACKENDS[1],
            ports[1],
            " proto h2",
            " proto h2 check-proto h1",
        ),
    ] {
        let _ = write!(
            text,
            "frontend in-{backend}
    bind 127.0.0.1:{port}{bind}
    default_backend {backend}
backend {backend}
    balance roundrobin
"
        );
        for instance in instances {
            let (name, orders, probes) = (instance.name(), instance.orders(), instance.probes());
            let _ = writeln!(
                text,
                "    server {name} 127.0.0.1:{orders} check addr 127.0.0.1 port {probes}{server}"
            );
        }
    }
    text
}

/// The column `status` of a server; empty if it is not in the table.
fn status(table: &str, backend: &str, server: &str) -> String {
    let mut lines = table.lines();
    let head = lines.next().unwrap_or_default();
    let Some(column) = head.split(',').position(|name| name == "status") else {
        return String::new();
    };
    let row = lines
        .map(|line| line.split(',').collect::<Vec<_>>())
        .find(|row| row.first() == Some(&backend) && row.get(1) == Some(&server));
    row.and_then(|row| row.get(column).map(|status| (*status).to_owned()))
        .unwrap_or_default()
}
