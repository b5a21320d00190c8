//! The service under test as a program that is started here: in a process group of its own, which never outlives the run.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::fmt;
use std::io;
use std::process::{ExitStatus, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::process::{Child, Command};
use tokio::task::JoinSet;
use tokio::time::timeout;

/// How much of the end of what it says is kept, in bytes.
const MAX_KEPT: usize = 8 * 1024;

/// How many lines of that are shown.
const MAX_LINES: usize = 20;

/// How long the kernel may take to end a process that was killed.
const KILL_LIMIT: Duration = Duration::from_secs(10);

/// A program that is the service under test, and how long it may take.
///
/// It gets its arguments as they are: there is no shell. It inherits the environment and the working directory, and has
/// no input.
///
/// ```
/// use rootward_conform::Launch;
/// let launch = Launch::new("python3", ["service.py", "--port", "8790"]);
/// assert_eq!(launch.to_string(), "python3");
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Launch {
    program: OsString,
    arguments: Vec<OsString>,
    /// From the start until `/startupz` says that it has started.
    pub start_within: Duration,
    /// From SIGTERM until its process has ended.
    pub drain_within: Duration,
}

impl Launch {
    /// With a minute for the start and half a minute for the end.
    #[must_use]
    pub fn new<A: Into<OsString>>(
        program: impl Into<OsString>,
        arguments: impl IntoIterator<Item = A>,
    ) -> Self {
        Self {
            program: program.into(),
            arguments: arguments.into_iter().map(Into::into).collect(),
            start_within: Duration::from_secs(60),
            drain_within: Duration::from_secs(30),
        }
    }
}

/// The program, without its arguments: they may hold a secret.
impl fmt::Display for Launch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.program.to_string_lossy())
    }
}

/// A running service. Dropped, its whole process group is killed.
#[derive(Debug)]
pub(crate) struct Process {
    child: Child,
    /// Until its leader was collected: from then on the number may become somebody else's.
    group: Option<Pid>,
    ended: Option<ExitStatus>,
    output: Arc<Mutex<Tail>>,
    readers: JoinSet<()>,
}

impl Process {
    /// Starts it.
    pub(crate) fn start(launch: &Launch) -> io::Result<Self> {
        let mut child = Command::new(&launch.program)
            .args(&launch.arguments)
            .process_group(0)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn()?;
        let id = child.id().and_then(|id| i32::try_from(id).ok());
        let output = Arc::<Mutex<Tail>>::default();
        let mut readers = JoinSet::new();
        if let Some(pipe) = child.stdout.take() {
            readers.spawn(keep(pipe, Arc::clone(&output)));
        }
        if let Some(pipe) = child.stderr.take() {
            readers.spawn(keep(pipe, Arc::clone(&output)));
        }
        Ok(Self {
            child,
            group: id.and_then(Pid::from_raw),
            ended: None,
            output,
            readers,
        })
    }

    /// Asks it to end, as an orchestrator does: SIGTERM to the process that was started, and to no other of its group.
    pub(crate) fn terminate(&self) {
        if let Some(leader) = self.group {
            // Gone already: then there is nobody to ask.
            let _ = kill_process(leader, Signal::TERM);
        }
    }

    /// Waits until it has ended. Whatever it leaves behind in its group is ended then.
    pub(crate) async fn ended(&mut self) -> io::Result<ExitStatus> {
        if let Some(status) = self.ended {
            return Ok(status);
        }
        let status = self.child.wait().await?;
        self.ended = Some(status);
        self.kill();
        Ok(status)
    }

    /// How it has ended, if it has.
    pub(crate) fn has_ended(&mut self) -> Option<ExitStatus> {
        if self.ended.is_none()
            && let Ok(Some(status)) = self.child.try_wait()
        {
            self.ended = Some(status);
            self.kill();
        }
        self.ended
    }

    /// Ends it and everything in its group, whatever they are doing, and waits for that.
    pub(crate) async fn end(mut self) {
        self.kill();
        // A process that the kernel cannot end waits for a device; there is nothing more to be done.
        let _ = timeout(KILL_LIMIT, self.child.wait()).await;
    }

    fn kill(&mut self) {
        if let Some(group) = self.group.take() {
            // Nobody of it is left: as it should be.
            let _ = kill_process_group(group, Signal::KILL);
        }
    }

    /// The last lines that it has said. What comes in the moment after its end is waited for.
    pub(crate) async fn last_lines(&mut self) -> Vec<String> {
        const MOMENT: Duration = Duration::from_millis(500);
        if self.ended.is_some() {
            let rest = async { while self.readers.join_next().await.is_some() {} };
            // Somebody else may hold its output open.
            let _ = timeout(MOMENT, rest).await;
        }
        let kept = self.output.lock().unwrap_or_else(PoisonError::into_inner);
        kept.lines()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.kill();
    }
}

/// How a process has ended, in words.
pub(crate) fn how(status: ExitStatus) -> String {
    use std::os::unix::process::ExitStatusExt;
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("exit code {code}"),
        (None, Some(signal)) => format!("signal {signal}"),
        (None, None) => "an unknown status".to_owned(),
    }
}

/// The end of what was said.
#[derive(Debug, Default)]
struct Tail(VecDeque<u8>);

impl Tail {
    fn push(&mut self, bytes: &[u8]) {
        self.0.extend(bytes);
        let over = self.0.len().saturating_sub(MAX_KEPT);
        self.0.drain(..over);
    }

    fn lines(&self) -> Vec<String> {
        let bytes: Vec<u8> = self.0.iter().copied().collect();
        let text = String::from_utf8_lossy(&bytes);
        let lines: Vec<&str> = text
            .lines()
            .filter(|line| !line.trim().is_empty())
            .collect();
        let first = lines.len().saturating_sub(MAX_LINES);
        lines[first..].iter().map(|&line| line.to_owned()).collect()
    }
}

/// Reads to the end, so that the other side never waits, and keeps the last of it.
async fn keep(mut pipe: impl AsyncRead + Unpin, output: Arc<Mutex<Tail>>) {
    let mut bytes = vec![0; 4096];
    while let Ok(read @ 1..) = pipe.read(&mut bytes).await {
        let mut kept = output.lock().unwrap_or_else(PoisonError::into_inner);
        kept.push(&bytes[..read]);
    }
}

#[cfg(test)]
mod tests {
    use super::{Launch, MAX_KEPT, MAX_LINES, Process, Tail, how};
    use std::path::Path;
    use std::time::Duration;
    use tokio::time::{Instant, sleep};

    /// For processes that end at once, on a busy machine.
    const LIMIT: Duration = Duration::from_secs(30);

    fn shell(script: &str) -> Launch {
        Launch::new("/bin/sh", ["-c", script])
    }

    /// Waits until a process is gone, or is only waited for by its parent.
    async fn gone(id: &str) -> bool {
        let begun = Instant::now();
        while begun.elapsed() < LIMIT {
            let stat = std::fs::read_to_string(Path::new("/proc").join(id).join("stat"));
            if stat.map_or(true, |stat| stat.contains(") Z ")) {
                return true;
            }
            sleep(Duration::from_millis(20)).await;
        }
        false
    }

    async fn said(process: &mut Process) -> Vec<String> {
        let begun = Instant::now();
        loop {
            let lines = process.last_lines().await;
            if !lines.is_empty() || begun.elapsed() > LIMIT {
                return lines;
            }
            sleep(Duration::from_millis(20)).await;
        }
    }

    #[test]
    fn of_what_is_said_the_end_is_kept_and_no_more() {
        let mut tail = Tail::default();
        for number in 0..10_000 {
            tail.push(format!("line {number}\n\n").as_bytes());
        }
        assert_eq!(tail.0.len(), MAX_KEPT);
        let lines = tail.lines();
        assert_eq!(lines.len(), MAX_LINES);
        assert_eq!(lines.last().map(String::as_str), Some("line 9999"));
    }

    #[tokio::test]
    async fn how_it_ended_and_its_last_words_are_known() {
        let mut process = Process::start(&shell("echo out; echo err >&2; exit 3")).unwrap();
        let status = process.ended().await.unwrap();
        assert_eq!(how(status), "exit code 3");
        let mut lines = process.last_lines().await;
        lines.sort();
        assert_eq!(lines, ["err", "out"]);
    }

    #[tokio::test]
    async fn arguments_are_no_shell() {
        let mut process = Process::start(&Launch::new("/bin/echo", ["$HOME; `id` *"])).unwrap();
        process.ended().await.unwrap();
        assert_eq!(process.last_lines().await, ["$HOME; `id` *"]);
    }

    /// The child of the child stays in the group.
    const FAMILY: &str = "sleep 600 & echo $$ $!; wait";

    #[tokio::test]
    async fn dropped_it_leaves_nobody_behind() {
        let mut process = Process::start(&shell(FAMILY)).unwrap();
        let ids = said(&mut process).await.join(" ");
        drop(process);
        let ids: Vec<&str> = ids.split(' ').collect();
        assert_eq!(ids.len(), 2, "{ids:?}");
        for id in ids {
            assert!(gone(id).await, "{id} is still there");
        }
    }

    #[tokio::test]
    async fn whom_it_leaves_behind_when_it_ends_is_ended() {
        let mut process = Process::start(&shell("sleep 600 & echo $!")).unwrap();
        process.ended().await.unwrap();
        let ids = said(&mut process).await.join(" ");
        assert!(gone(&ids).await, "{ids} is still there");
    }

    #[tokio::test]
    async fn who_ignores_sigterm_is_killed() {
        let script = "trap '' TERM; echo ready; while :; do sleep 1; done";
        let mut process = Process::start(&shell(script)).unwrap();
        assert_eq!(said(&mut process).await, ["ready"]);
        process.terminate();
        let waited = tokio::time::timeout(Duration::from_millis(300), process.ended()).await;
        assert!(waited.is_err(), "it did not ignore it");
        process.end().await;
    }
}
