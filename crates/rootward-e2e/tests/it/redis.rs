//! A private Redis does what tests of outages rely on.

use std::time::Duration;

use rootward_e2e::{Answer, Error, Redis, Run, is_alive, until};

const SOON: Duration = Duration::from_secs(20);

#[tokio::test]
async fn redis_answers_is_silent_when_frozen_refuses_when_killed_and_comes_back()
-> Result<(), Error> {
    let run = Run::from_environment()?;
    let mut redis = Redis::start(&run).await?;
    assert_eq!(redis.ask(SOON).await, Answer::Right);

    redis.freeze()?;
    assert_eq!(redis.ask(Duration::from_millis(300)).await, Answer::None);
    redis.thaw()?;
    assert_eq!(redis.ask(SOON).await, Answer::Right);

    redis.freeze()?;
    redis.kill().await?;
    assert_eq!(redis.ask(SOON).await, Answer::Refused);
    let error = redis.kill().await.unwrap_err().to_string();
    assert_eq!(
        error,
        "redis is not running: it was killed and not started again"
    );

    let url = redis.url();
    redis.start_again().await?;
    assert_eq!(redis.ask(SOON).await, Answer::Right);
    assert_eq!(redis.url(), url);
    let error = redis.start_again().await.unwrap_err().to_string();
    assert_eq!(error, "redis is running already");

    let again = redis.id()?;
    drop(redis);
    until(
        "the dropped Redis to be gone",
        SOON,
        async || is_alive(again),
        |alive| !alive,
    )
    .await?;
    Ok(())
}
