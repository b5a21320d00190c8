//! `./test` stops all that it started, however it is stopped itself.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use rootward_e2e::{Error, Process, Run, is_alive, until};

/// Until its own servers answer: two programs start.
const START_LIMIT: Duration = Duration::from_secs(60);

/// Asking gently takes 5 s at most for each server.
const STOP_LIMIT: Duration = Duration::from_secs(30);

/// A `./test --only-servers`, ready.
struct Servers {
    script: Process,
    directory: PathBuf,
    servers: Vec<u32>,
}

impl Servers {
    async fn start(run: &Run) -> Result<Self, Error> {
        let mut command = Command::new(root().join("test"));
        // Its temporary directory inside ours: should this test be killed, nothing stays behind either.
        command.arg("--only-servers").env("TMPDIR", run.directory());
        let script = Process::spawn(run, "test-only-servers", command)?;
        let look = async || (script.is_alive(), script.log());
        let ready = |(alive, log): &(bool, String)| !alive || log.contains("Ctrl-C stops them.");
        let (_, log) = until(
            "./test --only-servers to be ready",
            START_LIMIT,
            look,
            ready,
        )
        .await?;
        let directory =
            exported(&log, "ROOTWARD_TEST_RUN").unwrap_or_else(|| panic!("it failed:\n{log}"));
        let directory = PathBuf::from(directory);
        let servers = fs::read_dir(directory.join("pids"))
            .expect("a run keeps a list of processes")
            .map(|entry| entry.expect("the list can be read").file_name())
            .map(|name| {
                name.to_str()
                    .and_then(|name| name.parse().ok())
                    .expect("a process id")
            })
            .collect();
        Ok(Self {
            script,
            directory,
            servers,
        })
    }

    /// Waits for the end, and asserts that nothing is left.
    async fn expect_exit(mut self, code: i32) -> Result<(), Error> {
        let status = self.script.wait(STOP_LIMIT).await?;
        let log = self.script.log();
        assert_eq!(status.code(), Some(code), "{log}");
        assert!(
            !self.directory.exists(),
            "the temporary directory stayed: {log}"
        );
        let left: Vec<u32> = self
            .servers
            .iter()
            .copied()
            .filter(|&id| is_alive(id))
            .collect();
        assert!(left.is_empty(), "servers stayed: {left:?}\n{log}");
        Ok(())
    }
}

fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

fn exported(log: &str, name: &str) -> Option<String> {
    let line = log
        .lines()
        .find_map(|line| line.strip_prefix(&format!("export {name}='")))?;
    line.strip_suffix('\'').map(str::to_owned)
}

#[tokio::test]
async fn on_ctrl_c_servers_and_data_are_gone() -> Result<(), Error> {
    let run = Run::from_environment()?;
    let servers = Servers::start(&run).await?;
    assert_eq!(servers.servers.len(), 2, "PostgreSQL and Redis");
    assert!(servers.servers.iter().all(|&id| is_alive(id)));
    servers.script.interrupt()?;
    servers.expect_exit(130).await
}

#[tokio::test]
async fn on_sigterm_frozen_servers_and_what_tests_left_running_are_gone_too() -> Result<(), Error> {
    let run = Run::from_environment()?;
    let mut servers = Servers::start(&run).await?;
    // What a test that was killed would leave: entered into the list of that run, and nobody's care any more.
    let mut forgotten = Process::spawn(&run, "forgotten", {
        let mut sleep = Command::new("sleep");
        sleep.arg("1000");
        sleep
    })?;
    let entry = format!("pids/{}", forgotten.id());
    let list = [run.directory(), &servers.directory].map(|directory| directory.join(&entry));
    fs::copy(&list[0], &list[1]).expect("an entry can be copied");
    servers.servers.push(forgotten.id());
    // An entry whose process id has been given to somebody else: this test.
    let other = std::process::id();
    fs::write(
        servers.directory.join(format!("pids/{other}")),
        "1 somebody\n",
    )
    .expect("an entry can be written");
    let ids = servers.servers.iter().map(u32::to_string);
    // The shell's own kill: a small Debian has no other.
    let mut shell = Command::new("sh");
    shell.args(["-c", "kill -STOP \"$@\"", "sh"]).args(ids);
    assert!(shell.status().is_ok_and(|status| status.success()));
    servers.script.terminate()?;
    // The forgotten one is our child, and would stay a zombie until we look.
    let killed = forgotten.wait(STOP_LIMIT).await?;
    assert!(!killed.success());
    servers.expect_exit(143).await
}

/// Runs `./test` with a stand-in for cargo, which succeeds at once but for what the script says.
fn with_stand_in_for_cargo(run: &Run, name: &str, script: &str) -> Result<Process, Error> {
    let directory = stand_in_directory(run, name);
    fs::create_dir(&directory).expect("a directory can be made");
    let cargo = directory.join("cargo");
    fs::write(&cargo, format!("#!/bin/sh\ncase $1 in\n{script}\nesac\n"))
        .expect("a file can be written");
    fs::set_permissions(&cargo, fs::Permissions::from_mode(0o755)).expect("and made executable");
    let path = std::env::var("PATH").expect("there is a PATH");
    let mut command = Command::new(root().join("test"));
    command
        .env("PATH", format!("{}:{path}", directory.display()))
        .env("TMPDIR", &directory);
    Process::spawn(run, name, command)
}

fn stand_in_directory(run: &Run, name: &str) -> PathBuf {
    run.directory()
        .join(format!("{name}-{}", std::process::id()))
}

/// The directories of runs that are left where that `./test` makes them.
fn runs_left(run: &Run, name: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(stand_in_directory(run, name)).expect("the directory is there");
    let paths = entries.map(|entry| entry.expect("it can be read").path());
    paths.filter(|path| path.is_dir()).collect()
}

#[tokio::test]
async fn on_ctrl_c_in_the_middle_of_a_step_its_processes_are_gone() -> Result<(), Error> {
    let run = Run::from_environment()?;
    let name = "test-interrupted";
    let sleeping = "test) sleep 1000 & echo \"step $$ $!\"; wait ;;";
    let mut script = with_stand_in_for_cargo(&run, name, sleeping)?;
    let look = async || (script.is_alive(), script.log());
    let is_wanted = |(alive, log): &(bool, String)| !alive || log.contains("\nstep ");
    let (_, log) = until("the step to begin", START_LIMIT, look, is_wanted).await?;
    let line = log
        .lines()
        .find_map(|line| line.strip_prefix("step "))
        .unwrap_or_else(|| panic!("it failed:\n{log}"));
    let step: Vec<u32> = line
        .split(' ')
        .map(|id| id.parse().expect("a process id"))
        .collect();
    assert!(step.iter().all(|&id| is_alive(id)));
    assert_eq!(runs_left(&run, name).len(), 1, "its servers run");

    script.interrupt()?;
    let status = script.wait(STOP_LIMIT).await?;
    assert_eq!(status.code(), Some(130), "{}", script.log());
    let left: Vec<u32> = step.into_iter().filter(|&id| is_alive(id)).collect();
    assert!(left.is_empty(), "processes of the step stayed: {left:?}");
    assert_eq!(runs_left(&run, name), Vec::<PathBuf>::new());
    Ok(())
}

#[tokio::test]
async fn a_failing_step_is_named_with_its_exit_code_and_is_the_last() -> Result<(), Error> {
    let run = Run::from_environment()?;
    let name = "test-failing";
    let failing = "deny) exit 1 ;;\ntest) echo 'one test failed'; exit 101 ;;";
    let mut script = with_stand_in_for_cargo(&run, name, failing)?;
    let status = script.wait(START_LIMIT).await?;
    let log = script.log();
    assert_eq!(status.code(), Some(1), "{log}");
    let lines: Vec<&str> = log.lines().collect();
    let [.., output, last] = lines[..] else {
        panic!("too short: {log}")
    };
    assert_eq!(output, "one test failed");
    assert!(last.contains("] unit tests failed after "), "{last}");
    assert!(
        last.ends_with(" s: exit code 101 of: cargo test --locked --workspace --lib --bins"),
        "{last}"
    );
    assert_eq!(runs_left(&run, name), Vec::<PathBuf>::new());
    Ok(())
}

#[tokio::test]
async fn what_a_step_leaves_running_is_ended_and_said() -> Result<(), Error> {
    let run = Run::from_environment()?;
    let leaving = "fmt) [ \"$2\" = --version ] || { sleep 1000 & echo \"left $!\"; } ;;\nclippy) [ \"$2\" = --version ] ;;";
    let mut script = with_stand_in_for_cargo(&run, "test-leaving", leaving)?;
    script.wait(START_LIMIT).await?;
    let log = script.log();
    let left = log
        .lines()
        .find_map(|line| line.strip_prefix("left "))
        .unwrap_or_else(|| panic!("{log}"));
    assert!(
        log.contains("\nending processes that this step left running\n"),
        "{log}"
    );
    assert!(!is_alive(left.parse().expect("a process id")));
    Ok(())
}

#[tokio::test]
async fn an_unknown_argument_is_answered_with_a_sentence_and_exit_code_2() -> Result<(), Error> {
    let run = Run::from_environment()?;
    for (arguments, sentence) in [
        (
            &["--fast"][..],
            "./test knows no argument '--fast'; './test --help' lists them\n",
        ),
        (
            &["--quick", "--help"],
            "./test takes one argument at most; './test --help' lists them\n",
        ),
    ] {
        let mut command = Command::new(root().join("test"));
        command.args(arguments);
        let mut script = Process::spawn(&run, "test-arguments", command)?;
        let status = script.wait(START_LIMIT).await?;
        assert_eq!((status.code(), script.log().as_str()), (Some(2), sentence));
    }
    Ok(())
}
