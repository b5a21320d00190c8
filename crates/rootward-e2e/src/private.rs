//! A server of one test, of whatever kind: any program that listens on a port and may be frozen, killed and started
//! again.

use std::fs;
use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use tokio::net::TcpStream;
use tokio::time::timeout;

use crate::answer::Answer;
use crate::error::Error;
use crate::process::Process;
use crate::run::Run;
use crate::server::Server;

/// How long a program may take that prepares a server, such as one that writes its system tables.
const PREPARE_LIMIT: Duration = Duration::from_secs(60);

/// A server of one test, on a port of 127.0.0.1 and in a directory that stay its own. Dropped, it is killed.
///
/// ```no_run
/// # async fn example() -> Result<(), rootward_e2e::Error> {
/// use rootward_e2e::{Private, Run};
///
/// let run = Run::from_environment()?;
/// let mut cache = Private::new(&run, "memcached", "memcached")?;
/// let port = cache.port().to_string();
/// cache.run(move |command| { command.args(["-l", "127.0.0.1", "-p", &port]); }).await?;
/// cache.kill().await?;
/// cache.start_again().await?;
/// # Ok(()) }
/// ```
pub struct Private {
    server: Server,
    program: PathBuf,
    as_ourselves: bool,
    arguments: Box<dyn Fn(&mut Command) + Send + Sync>,
}

impl std::fmt::Debug for Private {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut shown = f.debug_struct("Private");
        shown
            .field("server", &self.server)
            .field("program", &self.program);
        shown.finish_non_exhaustive()
    }
}

impl Private {
    /// Finds the program, chooses a port and makes a directory; starts nothing.
    ///
    /// # Errors
    ///
    /// When the program is not installed; the text says that `./test` installs it.
    pub fn new(run: &Run, name: &'static str, program: &'static str) -> Result<Self, Error> {
        Ok(Self {
            server: Server::new(run, name)?,
            program: run.tool(program)?,
            as_ourselves: false,
            arguments: Box::new(|_| ()),
        })
    }

    /// As [`Private::new`], for a server that is a package of the run's Python. It runs as ourselves: the environment
    /// may lie where no other user looks.
    ///
    /// # Errors
    ///
    /// When there is no Python.
    pub fn python(run: &Run, name: &'static str) -> Result<Self, Error> {
        Ok(Self {
            server: Server::new(run, name)?,
            program: run.python()?.to_owned(),
            as_ourselves: true,
            arguments: Box::new(|_| ()),
        })
    }

    /// The port, which stays its own.
    pub fn port(&self) -> u16 {
        self.server.port()
    }

    /// Its directory, which only it and this test use. It is the program's working directory, too.
    pub fn directory(&self) -> &Path {
        self.server.directory()
    }

    /// Writes a file into its directory that only the server's user may read.
    ///
    /// # Errors
    ///
    /// When it cannot be written, or exists.
    pub fn write(&self, name: &str, text: &str) -> Result<(), Error> {
        self.server.write_private(name, text)
    }

    /// Makes a directory of the server's user in its directory.
    ///
    /// # Errors
    ///
    /// When it cannot be made, or exists.
    pub fn make_directory(&self, name: &str) -> Result<PathBuf, Error> {
        let path = self.directory().join(name);
        fs::create_dir(&path).map_err(|source| Error::file("create", &path, source))?;
        self.server.own(&path)?;
        Ok(path)
    }

    /// Runs another program to its end as the server's user in its directory, such as one that prepares its data.
    ///
    /// # Errors
    ///
    /// When it is not installed, fails, or does not end within a minute; the error shows the end of its log.
    pub async fn prepare(
        &self,
        program: &'static str,
        arguments: impl FnOnce(&mut Command),
    ) -> Result<(), Error> {
        let mut command = self.server.command(&self.server.run().tool(program)?)?;
        arguments(&mut command);
        Process::spawn(self.server.run(), program, command)?
            .succeed(PREPARE_LIMIT)
            .await
    }

    /// Starts it with these arguments, and waits until its port accepts a connection. Whether it also answers is for
    /// the test to ask, in the server's own protocol.
    ///
    /// # Errors
    ///
    /// When it is running, or does not listen; the error shows the end of its log.
    pub async fn run(
        &mut self,
        arguments: impl Fn(&mut Command) + Send + Sync + 'static,
    ) -> Result<(), Error> {
        self.arguments = Box::new(arguments);
        self.start_again().await
    }

    /// Starts it once more with the same arguments on the same port, and waits until it listens.
    ///
    /// # Errors
    ///
    /// When it is running, or does not listen; the error shows the end of its log.
    pub async fn start_again(&mut self) -> Result<(), Error> {
        let mut command = match self.as_ourselves {
            true => self.server.command_of_ourselves(&self.program),
            false => self.server.command(&self.program)?,
        };
        (self.arguments)(&mut command);
        let port = self.port();
        self.server
            .start(command, async |limit| listens(port, limit).await)
            .await
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

    /// Kills it and its descendants, frozen or not, and waits until they are gone: connections are refused from then on.
    ///
    /// # Errors
    ///
    /// When it is not running.
    pub async fn kill(&mut self) -> Result<(), Error> {
        self.server.kill().await
    }

    /// What it has written so far, for the message of an assertion.
    ///
    /// # Errors
    ///
    /// When it is not running.
    pub fn log(&self) -> Result<String, Error> {
        Ok(self.server.process()?.log())
    }
}

impl Drop for Private {
    fn drop(&mut self) {
        self.server.discard(|_| ());
    }
}

async fn listens(port: u16, limit: Duration) -> Answer {
    match timeout(limit, TcpStream::connect((Ipv4Addr::LOCALHOST, port))).await {
        Ok(Ok(_)) => Answer::Right,
        Ok(Err(_)) => Answer::Refused,
        Err(_) => Answer::None,
    }
}
