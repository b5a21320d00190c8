//! The aggregator that is shipped, on a fleet: the program beside this one, started, watched, and asked about itself.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Read as _};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use rootward_config::{Source, compile};
use rootward_server::App;

use crate::child::{Child, free_address};
use crate::client::Connection;
use crate::cpu;
use crate::fleet::Config;
use crate::footprint::resident;
use crate::temporary::Directory;

/// A running `rootward serve`.
#[derive(Debug)]
pub(crate) struct Aggregator {
    child: Child,
    pub(crate) address: SocketAddr,
}

impl Aggregator {
    /// Starts it on the fleet that listens on this port; when it returns, it lives.
    pub(crate) async fn start(
        name: &'static str,
        count: u32,
        port: u16,
        interval: Duration,
        roots: Option<&str>,
        directory: &Directory,
    ) -> io::Result<Self> {
        let listen = free_address()?;
        let config = Config {
            count,
            port,
            listen,
            interval,
            roots,
        };
        let file = directory.write(&format!("{name}.yaml"), &config.text())?;
        let mut command = match program() {
            Ok(program) => {
                let mut command = Command::new(program);
                command.arg("serve").arg("--config");
                command
            }
            Err(_) => {
                let mut command = Command::new(std::env::current_exe()?);
                command.arg("serve");
                command
            }
        };
        command.arg(&file);
        command.env("ROOTWARD_LOG", "warn");
        let mut child = Child::start(name, &mut command, directory)?;
        child.healthy(listen, "/livez").await?;
        Ok(Self {
            child,
            address: listen,
        })
    }

    /// Processor time so far, user and system, of all its threads.
    pub(crate) fn spent(&self) -> io::Result<Duration> {
        cpu::of_group(self.child.id())
    }

    /// Resident memory in KiB.
    pub(crate) fn resident(&self) -> io::Result<f64> {
        resident(self.child.id())
    }

    /// What it says about itself.
    pub(crate) async fn metrics(&self) -> io::Result<String> {
        let mut connection = Connection::open(self.address, "/metrics", 200).await?;
        String::from_utf8(connection.body().await?).map_err(io::Error::other)
    }
}

/// What is measured, for the table.
pub(crate) fn measured() -> &'static str {
    match program() {
        Ok(_) => "rootward serve, as it is shipped",
        Err(_) => "the aggregator as a library (the program rootward is not built beside this one)",
    }
}

/// Runs the aggregator on this configuration until standard input ends.
pub(crate) fn serve(file: &Path) -> io::Result<()> {
    let source = Source {
        file: file.display().to_string(),
        text: fs::read_to_string(file)?,
    };
    let checked = compile(&[source], &BTreeMap::new()).map_err(|problems| {
        let first = problems.as_slice().first().map(ToString::to_string);
        io::Error::other(first.unwrap_or_default())
    })?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()?;
    runtime.block_on(async {
        let app = App::build(checked).map_err(io::Error::other)?;
        let ended = async {
            let end = tokio::task::spawn_blocking(|| io::stdin().read_to_end(&mut Vec::new()));
            // Whatever ends it, it has ended.
            let _ = end.await;
        };
        app.run(ended).await.map_err(io::Error::other)?;
        Ok(())
    })
}

/// The program that is shipped, beside this one.
pub(crate) fn program() -> io::Result<PathBuf> {
    let program = std::env::current_exe()?.with_file_name("rootward");
    if program.exists() {
        return Ok(program);
    }
    Err(io::Error::other(format!(
        "{} is missing: cargo build --profile bench -p rootward-cli",
        program.display()
    )))
}
