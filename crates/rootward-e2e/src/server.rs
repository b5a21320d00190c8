//! What the private servers have in common: a directory, a port that stays theirs, a process that comes and goes,
//! and the user they run as.

use std::fs::{self, File};
use std::io::Write;
use std::os::unix::fs::{OpenOptionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use crate::answer::Answer;
use crate::error::{Error, Kind};
use crate::ports::free_port;
use crate::process::Process;
use crate::run::Run;
use crate::wait;

/// How long a server may take until it answers; recovery after a kill included.
const START_LIMIT: Duration = Duration::from_secs(60);

/// How long one question may take while a server starts.
const START_QUESTION_LIMIT: Duration = Duration::from_secs(5);

/// Whom servers run as when the tests run as root: PostgreSQL refuses root, and its Debian package brings this user.
const USER: &str = "postgres";

#[derive(Debug)]
pub(crate) struct Server {
    name: &'static str,
    run: Run,
    port: u16,
    directory: PathBuf,
    /// None after a kill.
    process: Option<Process>,
}

impl Server {
    /// Chooses a port and makes the directory; starts nothing.
    pub(crate) fn new(run: &Run, name: &'static str) -> Result<Self, Error> {
        let port = free_port()?;
        let directory = run.directory().join(format!("{name}-{port}"));
        fs::create_dir(&directory).map_err(|source| Error::file("create", &directory, source))?;
        if let Some(user) = User::needed()? {
            user.own(&directory)?;
        }
        Ok(Self {
            name,
            run: run.clone(),
            port,
            directory,
            process: None,
        })
    }

    pub(crate) fn run(&self) -> &Run {
        &self.run
    }

    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    pub(crate) fn directory(&self) -> &Path {
        &self.directory
    }

    /// Makes a path the server user's own.
    pub(crate) fn own(&self, path: &Path) -> Result<(), Error> {
        User::needed()?.map_or(Ok(()), |user| user.own(path))
    }

    /// Writes a file into the directory that only the server's user may read.
    pub(crate) fn write_private(&self, name: &str, text: &str) -> Result<(), Error> {
        let path = self.directory.join(name);
        let mut options = File::options();
        let opened = options.write(true).create_new(true).mode(0o600).open(&path);
        opened
            .and_then(|mut file| file.write_all(text.as_bytes()))
            .map_err(|source| Error::file("write", &path, source))?;
        self.own(&path)
    }

    /// A command that will run as whoever runs the tests.
    pub(crate) fn command_of_ourselves(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        command.current_dir(&self.directory).env("LC_ALL", "C");
        command
    }

    /// A command that will run as the right user in the server's directory.
    pub(crate) fn command(&self, program: &Path) -> Result<Command, Error> {
        let mut command = self.command_of_ourselves(program);
        if let Some(user) = User::needed()? {
            command.uid(user.id).gid(user.group);
        }
        Ok(command)
    }

    /// Starts the command as the server, and waits until it gives the right answer.
    pub(crate) async fn start(
        &mut self,
        command: Command,
        mut ask: impl AsyncFnMut(Duration) -> Answer,
    ) -> Result<(), Error> {
        if self.process.is_some() {
            return Err(Kind::Running { name: self.name }.into());
        }
        let process = self
            .process
            .insert(Process::spawn(&self.run, self.name, command)?);
        let what = format!("{} to answer on port {}", self.name, self.port);
        // A server that ended is an answer, too, and is known at once.
        let look = async || (process.ended(), ask(START_QUESTION_LIMIT).await);
        let is_wanted =
            |seen: &(Result<(), Error>, Answer)| seen.0.is_err() || seen.1 == Answer::Right;
        let (ended, _) = wait::until(&what, START_LIMIT, look, is_wanted).await?;
        ended
    }

    pub(crate) async fn kill(&mut self) -> Result<(), Error> {
        self.process
            .take()
            .ok_or(Kind::NotRunning { name: self.name })?
            .kill()
            .await
    }

    pub(crate) fn process(&self) -> Result<&Process, Error> {
        self.process
            .as_ref()
            .ok_or(Kind::NotRunning { name: self.name }.into())
    }

    /// Kills what runs and removes the directory, for use in a drop.
    pub(crate) fn discard(&mut self, before_removal: impl FnOnce(&Path)) {
        self.process = None;
        before_removal(&self.directory);
        // What cannot be removed now is removed with the directory of the run.
        let _ = fs::remove_dir_all(&self.directory);
    }
}

/// An entry of /etc/passwd.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct User {
    id: u32,
    group: u32,
}

impl User {
    /// The user to run servers as; none when we are not root and run them as ourselves.
    fn needed() -> Result<Option<Self>, Error> {
        if !rustix::process::geteuid().is_root() {
            return Ok(None);
        }
        let path = Path::new("/etc/passwd");
        let users = fs::read_to_string(path).map_err(|source| Error::file("read", path, source))?;
        Self::find(&users, USER)
            .map(Some)
            .ok_or(Kind::NoUser { name: USER }.into())
    }

    fn find(users: &str, name: &str) -> Option<Self> {
        let line = users
            .lines()
            .find(|line| line.split(':').next() == Some(name))?;
        let mut fields = line.split(':').skip(2);
        Some(Self {
            id: fields.next()?.parse().ok()?,
            group: fields.next()?.parse().ok()?,
        })
    }

    fn own(self, path: &Path) -> Result<(), Error> {
        chown(path, Some(self.id), Some(self.group))
            .map_err(|source| Error::file("change the owner of", path, source))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_user_is_found_by_its_whole_name() {
        let users = "postgres2:x:9:9::/:/bin/sh\npostgres:x:101:104:PostgreSQL,,,:/var:/bin/bash\n";
        assert_eq!(
            User::find(users, "postgres"),
            Some(User {
                id: 101,
                group: 104
            })
        );
        assert_eq!(User::find(users, "postgre"), None);
    }
}
