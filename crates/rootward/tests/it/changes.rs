//! Hooks: who is told what, and that a bad one hurts nobody.

use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use rootward::{Builder, Change, CheckStatus, ErrorCategory};

use crate::support::{Dependency, any_port, cart, get, until};

const LIMIT: Duration = Duration::from_secs(10);

/// What a hook is told, as text.
fn told(builder: Builder) -> (Builder, Receiver<String>) {
    let (sender, told) = channel();
    let sender = Mutex::new(sender);
    let builder = builder.on_change(move |change| {
        let text = match change {
            Change::Check(change) => format!(
                "{}: {} to {} {:?} {:?} {:?}",
                change.check,
                change.from,
                change.to,
                change.category.map(ErrorCategory::as_str),
                change.reason,
                change.error_ref
            ),
            Change::Readiness(change) => format!("ready: {} {:?}", change.ready, change.reasons),
            Change::Status(change) => format!("{} to {}", change.from, change.to),
            other => format!("{other:?}"),
        };
        // The test that is over does not listen any more.
        let _ = sender.lock().expect("nobody panicked with it").send(text);
    });
    (builder, told)
}

/// The next change, while the runtime of the test goes on.
async fn next(told: &Receiver<String>) -> String {
    let mut text = None;
    until(LIMIT, || {
        text = text.take().or_else(|| told.try_recv().ok());
        text.is_some()
    })
    .await;
    text.expect("waited for")
}

#[tokio::test]
async fn a_hook_is_told_about_checks_readiness_and_status() {
    let db = Dependency::default();
    let check = db
        .check("db")
        .hard()
        .local()
        .fall(1)
        .rise(1)
        .interval(Duration::from_millis(100))
        .timeout(Duration::from_millis(50));
    let (builder, told) = told(cart().check(check));
    let health = builder.start().expect("it starts");
    assert_eq!(next(&told).await, r#"db: unknown to up None "" None"#);
    assert_eq!(next(&told).await, "starting to healthy");
    assert_eq!(next(&told).await, "ready: true []");
    db.breaks();
    let change = next(&told).await;
    let (begin, reference) = change.split_once("Some(\"db-").expect("a reference");
    assert_eq!(
        begin,
        r#"db: up to down Some("connection_refused") "connection refused" "#
    );
    assert!(reference.ends_with("\")"));
    assert_eq!(next(&told).await, "healthy to unhealthy");
    assert_eq!(
        next(&told).await,
        r#"ready: false ["db is down: connection refused"]"#
    );
    db.recovers();
    assert_eq!(next(&told).await, r#"db: down to up None "" None"#);
    health.stop().await;
}

/// The application's own switch is readiness and no status; a latch holds the start also from the observer.
#[tokio::test]
async fn the_switch_and_a_latch_are_changes_of_readiness() {
    let (mut builder, told) = told(cart());
    let warm = builder.latch("cache warm");
    let health = builder.start().expect("it starts");
    tokio::time::sleep(Duration::from_millis(250)).await;
    assert!(told.try_recv().is_err(), "it was never ready");
    drop(warm);
    assert_eq!(next(&told).await, "starting to healthy");
    assert_eq!(next(&told).await, "ready: true []");
    health.set_not_ready("the catalogue is reloading");
    assert_eq!(
        next(&told).await,
        r#"ready: false ["the catalogue is reloading"]"#
    );
    health.stop().await;
}

/// Whoever looks on ends no start: the latch is taken after it has looked, and holds.
#[tokio::test]
async fn looking_on_does_not_end_a_start() {
    let (builder, told) = told(cart());
    let health = builder.start().expect("it starts");
    assert_eq!(next(&told).await, "starting to healthy");
    let late = health.latch("late");
    assert!(!health.is_started());
    drop(late);
    assert!(health.is_started());
    health.stop().await;
}

/// Two that panic and block for ever, and one that works.
#[tokio::test]
async fn kf_009_kf_053_a_hook_that_panics_or_blocks_hurts_nobody() {
    let db = Dependency::default();
    let check = db
        .check("db")
        .hard()
        .fall(1)
        .rise(1)
        .interval(Duration::from_millis(100))
        .timeout(Duration::from_millis(50));
    let panicked = Arc::new(Mutex::new(0));
    let (release, blocked) = channel::<()>();
    let blocked = Mutex::new(blocked);
    let counted = Arc::clone(&panicked);
    let builder = cart()
        .listen(any_port())
        .check(check)
        .on_change(move |change| {
            if let Change::Check(_) = change {
                *counted.lock().expect("it panics without it") += 1;
                std::panic::panic_any("no such pager".to_owned());
            }
        })
        .on_change(move |_| {
            // Until the test has ended.
            let _ = blocked.lock().expect("only here").recv();
        });
    let (builder, told) = told(builder);
    let health = builder.start().expect("it starts");
    let address = health.listen_addr().expect("it listens");
    let mut checks = 0;
    for round in 0..20 {
        if round % 2 == 0 {
            db.breaks();
        } else {
            db.recovers();
        }
        let before = checks;
        until(LIMIT, || {
            checks += told.try_iter().filter(|text| text.contains("db: ")).count();
            checks > before
        })
        .await;
        let began = Instant::now();
        assert_eq!(get(address, "/livez").code, 200);
        assert!(began.elapsed() < Duration::from_secs(1));
    }
    let panicked = *panicked.lock().expect("nobody holds it");
    assert!(
        panicked > 10,
        "it is called again after a panic: {panicked}"
    );
    drop(release);
    health.stop().await;
}

#[tokio::test]
async fn a_stop_tells_what_is_queued_and_waits_for_no_hook_for_long() {
    let (never, blocked) = channel::<()>();
    let blocked = Mutex::new(blocked);
    let (builder, told) = told(cart().on_change(move |_| {
        let _ = blocked.lock().expect("only here").recv();
    }));
    let health = builder
        .check(Dependency::default().check("db").hard())
        .start()
        .expect("it starts");
    assert_eq!(next(&told).await, r#"db: unknown to up None "" None"#);
    let began = Instant::now();
    health.stop().await;
    let took = began.elapsed();
    assert!(took < Duration::from_secs(3), "{took:?}");
    drop(never);
}

#[tokio::test]
async fn a_hook_is_told_nothing_of_what_a_dependency_said() {
    const SECRET: &str = "hunter2-s3cr3t";
    let (sender, told) = channel();
    let sender = Mutex::new(sender);
    let health = cart()
        .check(
            rootward::Check::new("db", || async {
                Err::<(), _>(
                    rootward::Failure::new(ErrorCategory::Auth)
                        .caused_by(format!("password={SECRET}")),
                )
            })
            .hard(),
        )
        .on_change(move |change| {
            let text = format!("{change:?}");
            let _ = sender.lock().expect("nobody panicked with it").send(text);
        })
        .start()
        .expect("it starts");
    let text = next(&told).await;
    assert!(
        text.contains(&format!("to: {:?}", CheckStatus::Down)),
        "{text}"
    );
    assert!(!text.contains(SECRET), "{text}");
    health.stop().await;
}

#[tokio::test]
async fn more_hooks_than_threads_for_them_are_a_problem() {
    let builder = (0..9).fold(cart(), |builder, _| builder.on_change(|_| {}));
    let error = builder.start().expect_err("too many");
    insta::assert_snapshot!(error, @r#"
    the health of "cart" has 1 problem
      on_change: 9 hooks are too many, at most 8
    "#);
}
