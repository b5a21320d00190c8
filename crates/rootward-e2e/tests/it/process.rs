//! Processes of a test end with it, and say why when they end too early.

use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use rootward_e2e::{Error, Process, Run, is_alive, until};

const SOON: Duration = Duration::from_secs(10);

fn shell(script: &str) -> Command {
    let mut command = Command::new("/bin/sh");
    command.args(["-c", script]);
    command
}

fn registration(run: &Run, process: &Process) -> PathBuf {
    run.directory().join("pids").join(process.id().to_string())
}

/// Starts a process with a child in a session of its own, and returns both.
async fn parent_and_child(run: &Run) -> Result<(Process, u32), Error> {
    let process = Process::spawn(run, "parent", shell("setsid sleep 1000 & echo $!; wait"))?;
    let log = until(
        "the child's process id",
        SOON,
        async || process.log(),
        |log| log.ends_with('\n'),
    )
    .await?;
    let child = log.trim().parse().expect("a process id");
    until(
        "the child to live",
        SOON,
        async || is_alive(child),
        |alive| *alive,
    )
    .await?;
    Ok((process, child))
}

#[tokio::test]
async fn a_dropped_process_is_gone_with_its_children_and_off_the_list() -> Result<(), Error> {
    let run = Run::from_environment()?;
    let (process, child) = parent_and_child(&run).await?;
    let (parent, entry) = (process.id(), registration(&run, &process));
    assert!(entry.exists());

    drop(process);
    assert!(!is_alive(parent));
    assert!(!entry.exists());
    until(
        "the child to be gone",
        SOON,
        async || is_alive(child),
        |alive| !alive,
    )
    .await?;
    Ok(())
}

#[tokio::test]
async fn a_killed_process_is_gone_with_its_children() -> Result<(), Error> {
    let run = Run::from_environment()?;
    let (process, child) = parent_and_child(&run).await?;
    let parent = process.id();
    process.kill().await?;
    assert!(!is_alive(parent) && !is_alive(child));
    Ok(())
}

#[tokio::test]
async fn a_process_that_is_asked_to_end_is_waited_for() -> Result<(), Error> {
    let run = Run::from_environment()?;
    let script = "trap 'echo asked; exit 7' TERM; echo ready; while :; do sleep 0.01; done";
    let mut process = Process::spawn(&run, "polite", shell(script))?;
    until(
        "the trap to be set",
        SOON,
        async || process.log(),
        |log| log == "ready\n",
    )
    .await?;
    process.terminate()?;
    let status = process.wait(SOON).await?;
    assert_eq!(
        (status.code(), process.log().as_str()),
        (Some(7), "ready\nasked\n")
    );
    Ok(())
}

#[tokio::test]
async fn a_process_that_ends_badly_is_reported_with_its_log() -> Result<(), Error> {
    let run = Run::from_environment()?;
    let mut process = Process::spawn(&run, "failing", shell("echo no such table >&2; exit 3"))?;
    let error = process.succeed(SOON).await.unwrap_err().to_string();
    assert_eq!(
        error,
        "failing ended with exit status: 3; the end of its log:\nno such table\n"
    );
    Ok(())
}

#[tokio::test]
async fn a_process_that_does_not_end_is_reported_at_the_limit() -> Result<(), Error> {
    let run = Run::from_environment()?;
    let mut process = Process::spawn(&run, "endless", shell("echo working; exec sleep 1000"))?;
    until(
        "its word",
        SOON,
        async || process.log(),
        |log| log == "working\n",
    )
    .await?;
    let error = process.wait(Duration::from_millis(50)).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "endless did not end within 50ms; the end of its log:\nworking\n"
    );
    assert!(error.is_in_vain());
    Ok(())
}

#[tokio::test]
async fn a_program_that_is_missing_is_reported_with_its_cause() -> Result<(), Error> {
    let run = Run::from_environment()?;
    let error = Process::spawn(&run, "nobody", Command::new("/no/such/program")).unwrap_err();
    assert_eq!(
        format!("{error:?}"),
        "failed to start nobody\n  because: No such file or directory (os error 2)"
    );
    Ok(())
}
