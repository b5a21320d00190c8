//! A private PostgreSQL does what tests of outages rely on.

use std::time::Duration;

use rootward_e2e::{Answer, Error, Postgres, Run, is_alive, until};

const SOON: Duration = Duration::from_secs(20);

#[tokio::test]
async fn postgres_answers_is_silent_when_frozen_refuses_when_killed_and_comes_back()
-> Result<(), Error> {
    let run = Run::from_environment()?;
    let mut postgres = Postgres::start(&run).await?;
    assert_eq!(postgres.ask(SOON).await, Answer::Right);

    postgres.freeze()?;
    assert_eq!(postgres.ask(Duration::from_millis(500)).await, Answer::None);
    postgres.thaw()?;
    assert_eq!(postgres.ask(SOON).await, Answer::Right);

    // A kill reaches frozen processes, too, and the children that PostgreSQL puts into sessions of their own.
    postgres.freeze()?;
    let parent = postgres.id()?;
    let children = children_of(parent);
    assert!(
        children.len() >= 3,
        "PostgreSQL has at least a checkpointer and two writers: {children:?}"
    );
    postgres.kill().await?;
    assert!(!is_alive(parent) && !children.iter().any(|&child| is_alive(child)));
    assert_eq!(postgres.ask(SOON).await, Answer::Refused);
    let error = postgres.freeze().unwrap_err().to_string();
    assert_eq!(
        error,
        "postgres is not running: it was killed and not started again"
    );

    let url = postgres.url();
    postgres.start_again().await?;
    assert_eq!(postgres.ask(SOON).await, Answer::Right);
    assert_eq!(postgres.url(), url);

    let again = postgres.id()?;
    drop(postgres);
    until(
        "the dropped PostgreSQL to be gone",
        SOON,
        async || is_alive(again),
        |alive| !alive,
    )
    .await?;
    Ok(())
}

#[tokio::test]
async fn two_postgres_live_side_by_side() -> Result<(), Error> {
    let run = Run::from_environment()?;
    let (one, mut other) = tokio::try_join!(Postgres::start(&run), Postgres::start(&run))?;
    assert_ne!(one.port(), other.port());
    other.kill().await?;
    assert_eq!(one.ask(SOON).await, Answer::Right);
    assert_eq!(other.ask(SOON).await, Answer::Refused);
    Ok(())
}

/// Read from the kernel and not through the harness, whose reading is what is tested.
fn children_of(parent: u32) -> Vec<u32> {
    let path = format!("/proc/{parent}/task/{parent}/children");
    let children = std::fs::read_to_string(path).expect("the kernel lists children");
    children
        .split_ascii_whitespace()
        .map(|id| id.parse().expect("a process id"))
        .collect()
}
