//! A program started with what a file says about it: its environment, with ports and directories of the test in place of
//! those in the file.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use rootward_e2e::{Error, Process, Run, free_port, until};
use rootward_fetch::{Limits, Request, Target, fetch};

/// How long a program may take to start or to end, on a busy machine.
pub(super) const LIMIT: Duration = Duration::from_secs(30);

/// How long one question to it may take.
const QUESTION: Limits = Limits {
    deadline: Duration::from_secs(5),
    max_body_bytes: 64 * 1024,
};

/// The ports that the examples have.
const DESCRIBED: [u16; 3] = [8080, 8790, 50051];

/// The directory of the examples.
pub(super) fn examples() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples")
}

pub(super) fn read(file: &str) -> String {
    let path = examples().join(file);
    fs::read_to_string(&path)
        .unwrap_or_else(|error| panic!("{} cannot be read: {error}", path.display()))
}

/// Where the programs of one file are on this machine.
pub(super) struct Place {
    run: Run,
    directory: PathBuf,
    /// The port in the file, and the one of the test.
    ports: BTreeMap<u16, u16>,
}

impl Place {
    pub(super) fn new(run: &Run, name: &str) -> Result<Self, Error> {
        let mut ports = BTreeMap::new();
        for described in DESCRIBED {
            ports.insert(described, free_port()?);
        }
        let directory = run
            .directory()
            .join(format!("example-{name}-{}", std::process::id()));
        Ok(Self {
            run: run.clone(),
            directory,
            ports,
        })
    }

    pub(super) fn port(&self, described: u16) -> u16 {
        self.ports[&described]
    }

    /// A directory of the test in place of one of a container; made if nothing is there.
    pub(super) fn directory(&self, described: &str) -> PathBuf {
        let path = self.directory.join(described.trim_start_matches('/'));
        if !path.exists() {
            fs::create_dir_all(&path).expect("it can be made");
        }
        path
    }

    /// A value of an environment or an argument, as it is here.
    pub(super) fn here(&self, value: &str) -> String {
        let (host, port) = value.rsplit_once(':').unwrap_or(("", value));
        let known = port
            .parse()
            .ok()
            .and_then(|port: u16| self.ports.get(&port));
        match (host, known) {
            ("", Some(port)) => port.to_string(),
            ("0.0.0.0" | "127.0.0.1", Some(port)) => format!("127.0.0.1:{port}"),
            _ if value == "0.0.0.0" => "127.0.0.1".to_owned(),
            _ if value.starts_with('/') => self.directory(value).display().to_string(),
            _ => value.to_owned(),
        }
    }

    /// Starts what a container would, with its environment. Its drain is short: how long it is in the file is looked at
    /// there.
    pub(super) fn start(
        &self,
        command: &[&str],
        environment: &BTreeMap<String, String>,
    ) -> Result<Process, Error> {
        let name = Path::new(command[0]).file_name().expect("a program");
        let name = name.to_string_lossy();
        let program = match &*name {
            "python3" => self.run.python()?.to_owned(),
            name => self.run.program(name)?,
        };
        let mut started = Command::new(program);
        for argument in &command[1..] {
            started.arg(match *argument {
                "/srv/service.py" => examples().join("python/service.py"),
                "/etc/rootward/agent.yaml" => examples().join("python/agent.yaml"),
                other => other.into(),
            });
        }
        for (variable, value) in environment {
            started.env(variable, self.here(value));
        }
        started
            .env("HOSTNAME", "example-0")
            .env("EXAMPLE_DRAIN_MS", "1000")
            .env("GREETER_DRAIN_SECONDS", "1");
        Process::spawn(&self.run, &name, started)
    }

    /// What is answered at this port of the file.
    pub(super) async fn ask(&self, described: u16, path: &str) -> Option<(u16, String)> {
        let url = format!("http://127.0.0.1:{}{path}", self.port(described));
        let target = Target::parse(&url).expect("a URL");
        let answer = fetch(&Request::get(&target), &QUESTION).await.ok()?;
        let body = String::from_utf8_lossy(&answer.body).into_owned();
        Some((answer.status, body))
    }

    /// Until this status is answered there; what is in the answer.
    pub(super) async fn answers(
        &self,
        described: u16,
        path: &str,
        status: u16,
    ) -> Result<String, Error> {
        let what = format!("{status} from {path} at {described}");
        let look = async || self.ask(described, path).await;
        let is_it =
            |seen: &Option<(u16, String)>| seen.as_ref().is_some_and(|seen| seen.0 == status);
        let seen = until(&what, LIMIT, look, is_it).await?;
        Ok(seen.map(|(_, body)| body).unwrap_or_default())
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        // What cannot be removed now is removed with the directory of the run.
        let _ = fs::remove_dir_all(&self.directory);
    }
}
