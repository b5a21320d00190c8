//! A PostgreSQL of one test, which it may freeze, kill and start again.

use std::fs::{self, File};
use std::io::Read;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::answer::Answer;
use crate::error::Error;
use crate::process::Process;
use crate::run::Run;
use crate::server::Server;

/// The superuser of the database.
const USER: &str = "rootward";

/// The database that initdb makes.
const DATABASE: &str = "postgres";

/// How long initdb may take on a busy machine.
const INITDB_LIMIT: Duration = Duration::from_secs(60);

/// A PostgreSQL of one test. Dropped, it is killed and its data are removed.
#[derive(Debug)]
pub struct Postgres {
    server: Server,
    password: String,
    settings: Vec<String>,
}

impl Postgres {
    /// Makes a database in the directory of the run, starts it on a free port of 127.0.0.1, and waits until it
    /// answers.
    ///
    /// # Errors
    ///
    /// When it does not; the error shows the end of its log.
    pub async fn start(run: &Run) -> Result<Self, Error> {
        Self::start_with(run, &[]).await
    }

    /// As [`Postgres::start`], with settings such as `max_connections=60` beside ours.
    ///
    /// # Errors
    ///
    /// As [`Postgres::start`].
    pub async fn start_with(run: &Run, settings: &[&str]) -> Result<Self, Error> {
        let server = Server::new(run, "postgres")?;
        let mut postgres = Self {
            server,
            password: new_password()?,
            settings: settings
                .iter()
                .map(|setting| (*setting).to_owned())
                .collect(),
        };
        postgres.make_data().await?;
        postgres.run_server().await?;
        Ok(postgres)
    }

    /// How a client reaches it: the same before and after a kill.
    pub fn url(&self) -> String {
        format!(
            "postgresql://{USER}:{}@127.0.0.1:{}/{DATABASE}",
            self.password,
            self.port()
        )
    }

    /// The port, which stays its own.
    pub fn port(&self) -> u16 {
        self.server.port()
    }

    /// The process id of the parent of all its processes.
    ///
    /// # Errors
    ///
    /// When it was killed and not started again.
    pub fn id(&self) -> Result<u32, Error> {
        Ok(self.server.process()?.id())
    }

    /// Asks `SELECT 1` over a connection of its own.
    pub async fn ask(&self, limit: Duration) -> Answer {
        ask(self.server.run(), self.port(), &self.password, limit).await
    }

    /// Stops all its processes where they are: connections are accepted by the kernel, and nothing is answered.
    ///
    /// # Errors
    ///
    /// When it is not running.
    pub fn freeze(&self) -> Result<(), Error> {
        self.server.process()?.freeze()
    }

    /// Lets all its processes go on.
    ///
    /// # Errors
    ///
    /// When it is not running.
    pub fn thaw(&self) -> Result<(), Error> {
        self.server.process()?.thaw()
    }

    /// Kills all its processes, frozen or not, and waits until they are gone: connections are refused from then on.
    ///
    /// # Errors
    ///
    /// When it is not running.
    pub async fn kill(&mut self) -> Result<(), Error> {
        self.server.kill().await
    }

    /// Starts it on the same port with the same data, which it recovers, and waits until it answers.
    ///
    /// # Errors
    ///
    /// When it is running, or does not answer; the error shows the end of its log.
    pub async fn start_again(&mut self) -> Result<(), Error> {
        self.run_server().await
    }

    async fn make_data(&self) -> Result<(), Error> {
        let run = self.server.run();
        self.server.write_private("password", &self.password)?;
        let mut initdb = self.server.command(&run.postgres_program("initdb"))?;
        initdb
            .args(["--pgdata=data", "--auth=scram-sha-256", "--pwfile=password"])
            .args(["--encoding=UTF8", "--locale=C", "--no-sync"])
            .arg(format!("--username={USER}"));
        Process::spawn(run, "initdb", initdb)?
            .succeed(INITDB_LIMIT)
            .await
    }

    async fn run_server(&mut self) -> Result<(), Error> {
        let (run, port, password) = (self.server.run().clone(), self.port(), &self.password);
        let mut command = self.server.command(&run.postgres_program("postgres"))?;
        command.args(["-D", "data", "-p", &port.to_string()]);
        // No socket file, and shared memory in the data directory: nothing outside the directory of the run. The
        // rest trades safety against a crash of the machine, which no test needs, for speed.
        for setting in [
            "listen_addresses=127.0.0.1",
            "unix_socket_directories=",
            "dynamic_shared_memory_type=mmap",
            "fsync=off",
            "full_page_writes=off",
            "synchronous_commit=off",
            "shared_buffers=16MB",
        ] {
            command.args(["-c", setting]);
        }
        for setting in &self.settings {
            command.args(["-c", setting]);
        }
        let ask = async |limit| ask(&run, port, password, limit).await;
        self.server.start(command, ask).await
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        self.server.discard(release_shared_memory);
    }
}

/// Asks with psql, since no test of ours should depend on the driver that it tests.
async fn ask(run: &Run, port: u16, password: &str, limit: Duration) -> Answer {
    let mut psql = Command::new(run.postgres_program("psql"));
    psql.args([
        "-X",
        "-w",
        "-A",
        "-t",
        "-c",
        "SELECT 1",
        "-h",
        "127.0.0.1",
        "-p",
        &port.to_string(),
    ])
    .args(["-U", USER, "-d", DATABASE])
    .env("PGPASSWORD", password)
    .env("LC_ALL", "C");
    let mut process = match Process::spawn(run, "psql", psql) {
        Ok(process) => process,
        Err(error) => return Answer::Other(format!("{error:?}")),
    };
    let ended = process.wait(limit).await;
    let log = process.log();
    match ended {
        Ok(status) if status.success() && log == "1\n" => Answer::Right,
        Ok(_) if log.contains("Connection refused") => Answer::Refused,
        Ok(status) => Answer::Other(format!("psql ended with {status}: {log}")),
        Err(error) if error.is_in_vain() => Answer::None,
        Err(error) => Answer::Other(format!("{error:?}")),
    }
}

/// Its own password for each: other people of this machine reach the port, too, and a superuser may run programs.
fn new_password() -> Result<String, Error> {
    let path = Path::new("/dev/urandom");
    let mut bytes = [0; 16];
    File::open(path)
        .and_then(|mut file| file.read_exact(&mut bytes))
        .map_err(|source| Error::file("read", path, source))?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// A killed PostgreSQL leaves a few bytes of System V shared memory; postmaster.pid names it in its line 7.
fn release_shared_memory(directory: &Path) {
    let file = fs::read_to_string(directory.join("data/postmaster.pid")).unwrap_or_default();
    if let Some(id) = file
        .lines()
        .nth(6)
        .and_then(|line| line.split_ascii_whitespace().nth(1))
    {
        // Without ipcrm, or when the segment is gone, nothing is lost but those bytes.
        let _ = Command::new("ipcrm")
            .args(["-m", id])
            .stderr(Stdio::null())
            .status();
    }
}
