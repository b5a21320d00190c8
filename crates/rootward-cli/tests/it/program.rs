//! Runs the binary, with a limit, and keeps what it said.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

/// For commands that answer at once. Generous: the machine may be busy with other tests.
pub(crate) const SOON: Duration = Duration::from_secs(60);

/// What a program said, and how it ended.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) code: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Ended {
    /// Asserts the exit code, and shows everything if it is another one.
    #[track_caller]
    pub(crate) fn with(self, code: i32) -> Self {
        assert_eq!(
            self.code,
            Some(code),
            "out: {}\nerr: {}",
            self.out,
            self.err
        );
        self
    }

    /// Asserts that each of these stands somewhere in the output.
    #[track_caller]
    pub(crate) fn says(&self, lines: &[&str]) {
        for line in lines {
            assert!(
                self.out.contains(line),
                "{line:?} is missing:\n{}",
                self.out
            );
        }
    }
}

/// The binary with these arguments.
pub(crate) fn rootward(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_rootward"));
    command
        .args(arguments)
        .env_remove("ROOTWARD_LOG")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

/// Runs it to its end.
pub(crate) fn run(arguments: &[&str]) -> Ended {
    Running::start(&mut rootward(arguments)).end(SOON)
}

/// A running program. It is killed if the test ends before it.
pub(crate) struct Running {
    child: Child,
    out: Option<Said>,
    err: Option<Said>,
}

/// What a pipe has brought so far, and the thread that reads it.
struct Said {
    text: Arc<Mutex<Vec<u8>>>,
    reader: JoinHandle<()>,
}

impl Said {
    fn whole(self) -> String {
        self.reader.join().unwrap();
        let text = self.text.lock().unwrap();
        String::from_utf8_lossy(&text).into_owned()
    }

    fn so_far(&self) -> String {
        String::from_utf8_lossy(&self.text.lock().unwrap()).into_owned()
    }
}

impl Running {
    pub(crate) fn start(command: &mut Command) -> Self {
        let mut child = command.spawn().expect("the binary was built for this test");
        let out = child.stdout.take().map(collect);
        let err = child.stderr.take().map(collect);
        Self { child, out, err }
    }

    /// Sends a signal.
    pub(crate) fn signal(&self, signal: Signal) {
        let id = i32::try_from(self.child.id()).expect("process ids are small");
        let pid = Pid::from_raw(id).expect("no process has the id 0");
        kill_process(pid, signal).expect("it is our child and was not waited for");
    }

    /// Waits until it has said this on standard output.
    #[track_caller]
    pub(crate) fn wait_for(&self, text: &str, limit: Duration) {
        let deadline = Instant::now() + limit;
        let out = self.out.as_ref().expect("its output is collected");
        while !out.so_far().contains(text) {
            assert!(
                Instant::now() < deadline,
                "no {text:?} in: {}",
                out.so_far()
            );
            pause();
        }
    }

    /// What it has said on standard error so far.
    pub(crate) fn said_on_err(&self) -> String {
        self.err.as_ref().map(Said::so_far).unwrap_or_default()
    }

    /// Waits for its end.
    #[track_caller]
    pub(crate) fn end(mut self, limit: Duration) -> Ended {
        let deadline = Instant::now() + limit;
        let status = loop {
            match self.child.try_wait().expect("it is our child") {
                Some(status) => break Some(status),
                None if Instant::now() >= deadline => break None,
                None => pause(),
            }
        };
        if status.is_none() {
            let _ = self.child.kill();
        }
        let said = |pipe: Option<Said>| pipe.map_or(String::new(), Said::whole);
        let ended = Ended {
            code: status.and_then(|status| status.code()),
            out: said(self.out.take()),
            err: said(self.err.take()),
        };
        assert!(status.is_some(), "not over after {limit:?}: {ended:?}");
        ended
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn collect(mut pipe: impl Read + Send + 'static) -> Said {
    let text = Arc::<Mutex<Vec<u8>>>::default();
    let shared = Arc::clone(&text);
    let reader = thread::spawn(move || {
        let mut bytes = [0; 4096];
        // What was said until it ends or breaks is what counts.
        while let Ok(read @ 1..) = pipe.read(&mut bytes) {
            shared.lock().unwrap().extend_from_slice(&bytes[..read]);
        }
    });
    Said { text, reader }
}

/// Between two looks at something that is waited for.
#[expect(
    clippy::disallowed_methods,
    reason = "whoever waits has a deadline, and the other side is a process"
)]
pub(crate) fn pause() {
    thread::sleep(Duration::from_millis(10));
}

/// A directory of its own for a test, removed at the end.
pub(crate) struct Scratch(PathBuf);

impl Scratch {
    pub(crate) fn new() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("cli-{}-{number}", std::process::id());
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    /// Writes a file and returns its path.
    pub(crate) fn file(&self, name: &str, text: &str) -> String {
        let path = self.0.join(name);
        std::fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    }

    pub(crate) fn path(&self) -> &str {
        self.0.to_str().unwrap()
    }

    /// The text with the name of this directory, which is another in every run, taken out.
    pub(crate) fn without(&self, text: &str) -> String {
        text.replace(&format!("{}/", self.path()), "")
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
