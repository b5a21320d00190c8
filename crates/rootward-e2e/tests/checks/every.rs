//! What every check has to survive, whatever it asks: a server that accepts and never answers, one that is not there,
//! a restart, and a thousand runs that leave nothing behind. And what no check may let through.

use std::collections::HashSet;
use std::fs;
use std::future::pending;
use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use rootward::{Check, CheckContext, Failure, Name, Outcome};
use rootward_e2e::{Error, Private, free_port};
use tokio::io::{AsyncReadExt, copy_bidirectional};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{RwLock, RwLockReadGuard, RwLockWriteGuard, watch};
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep, timeout};

/// Far longer than anything takes that is not meant to hang.
pub(crate) const LONG: Duration = Duration::from_secs(20);

/// How many connections may be open at a time to a server that says nothing.
const CONNECTIONS: usize = 16;

/// The time limit of a check that is meant to be cut off.
pub(crate) const SHORT: Duration = Duration::from_millis(300);

/// The user and the password that tests give to checks: none of them may leave one.
pub(crate) const USER: &str = "planted-user-alice";
pub(crate) const PASSWORD: &str = "planted-password-hunter2";

/// What may stand in no text that leaves a check: our secrets, where the server is, and what drivers say.
const FOREIGN: [&str; 8] = [
    USER,
    PASSWORD,
    "planted",
    "127.0.0.1",
    "localhost",
    "os error",
    "Error {",
    "://",
];

static TURN: RwLock<()> = RwLock::const_new(());

/// Held by a test that counts nothing.
pub(crate) async fn beside_others() -> RwLockReadGuard<'static, ()> {
    TURN.read().await
}

/// Held by a test that counts the descriptors and tasks of this process: no other runs meanwhile.
pub(crate) async fn alone() -> RwLockWriteGuard<'static, ()> {
    TURN.write().await
}

fn context(limit: Duration) -> CheckContext {
    let name = |text| Name::parse(text).expect("a name");
    CheckContext::new(name("cart"), name("cart-0"), name("it"), limit)
}

/// Runs the check once, under its time limit, as the runner does: `up`, `degraded, category, words` or
/// `down, category, words`; `cut off` where the runner would say `timed out`.
pub(crate) async fn run<L>(check: &Check<L>, limit: Duration) -> String {
    match timeout(limit, check.run_once(context(limit))).await {
        Err(_) => "cut off".to_owned(),
        Ok(Ok(Outcome::Up)) => "up".to_owned(),
        Ok(Ok(Outcome::Degraded(failure))) => say("degraded", &failure),
        Ok(Err(failure)) => say("down", &failure),
    }
}

fn say(status: &str, failure: &Failure) -> String {
    let shown = failure.to_string();
    for foreign in FOREIGN {
        assert!(!shown.contains(foreign), "{foreign:?} leaves in {shown:?}");
    }
    // What the service's own log is given may name the server; a secret it must not hold either.
    let logged = format!("{failure:?}");
    assert!(
        !logged.contains(PASSWORD),
        "the password leaves in {logged}"
    );
    format!("{status}, {}, {shown}", failure.category())
}

/// Runs the check until this comes out, or what begins with it.
pub(crate) async fn run_until<L>(check: &Check<L>, limit: Duration, wanted: &str) -> String {
    let began = Instant::now();
    loop {
        let last = run(check, limit).await;
        if last.starts_with(wanted) {
            return last;
        }
        assert!(began.elapsed() < LONG, "{last:?} and never {wanted:?}");
        sleep(Duration::from_millis(50)).await;
    }
}

/// A server that accepts and never answers: the run ends in time, and its connection is closed, so that the next run
/// does not ask on it again.
pub(crate) async fn survives_silence<L>(make: impl AsyncFnOnce(SocketAddr) -> Check<L>) {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))
        .await
        .expect("a port");
    let address = listener.local_addr().expect("its address");
    let (closed, mut all_closed) = tokio::sync::mpsc::channel::<()>(CONNECTIONS);
    let accepting = tokio::spawn(async move {
        loop {
            let Ok((mut stream, _)) = listener.accept().await else {
                return;
            };
            let closed = closed.clone();
            tokio::spawn(async move {
                let mut all = [0; 1024];
                while !matches!(stream.read(&mut all).await, Ok(0) | Err(_)) {}
                let _ = closed.send(()).await;
            });
        }
    });
    let check = make(address).await;
    for _ in 0..2 {
        let began = Instant::now();
        let seen = run(&check, SHORT).await;
        assert!(
            seen == "cut off" || seen.starts_with("down, timeout, "),
            "of a server that says nothing: {seen}"
        );
        let took = began.elapsed();
        assert!(took < SHORT * 20, "it took {took:?}");
        let gone = timeout(LONG, all_closed.recv()).await;
        assert!(
            gone.is_ok(),
            "the connection of a run that was cut off stays open"
        );
    }
    accepting.abort();
}

/// All packets of the connections that exist are lost, and new ones work: at most one run fails, and the next does not
/// ask on the dead connection again.
pub(crate) async fn survives_lost_packets<L>(
    server: SocketAddr,
    make: impl AsyncFnOnce(SocketAddr) -> Check<L>,
) {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))
        .await
        .expect("a port");
    let between = listener.local_addr().expect("its address");
    let (lose, lost) = watch::channel(());
    let passing = tokio::spawn(async move {
        // Ended with this task.
        let mut connections = JoinSet::new();
        while let Ok((mut near, _)) = listener.accept().await {
            let mut lost = lost.clone();
            lost.mark_unchanged();
            connections.spawn(async move {
                let Ok(mut far) = TcpStream::connect(server).await else {
                    return;
                };
                tokio::select! {
                    // First, so that nothing passes that comes after it.
                    biased;
                    _ = lost.changed() => pending().await,
                    _ = copy_bidirectional(&mut near, &mut far) => (),
                }
            });
        }
    });
    let check = make(between).await;
    run_until(&check, LONG, "up").await;
    for _ in 0..2 {
        // A pool that takes a connection back in a task of its own has done so by now; if not, it makes a new one.
        sleep(Duration::from_millis(50)).await;
        lose.send_replace(());
        let seen = run(&check, Duration::from_secs(1)).await;
        assert!(
            ["cut off", "up"].contains(&seen.as_str()) || seen.starts_with("down, timeout, "),
            "on a dead connection: {seen}"
        );
        assert_eq!(run(&check, LONG).await, "up");
    }
    passing.abort();
}

/// Nobody listens: says so, at once.
pub(crate) async fn survives_refusal<L>(make: impl AsyncFnOnce(SocketAddr) -> Check<L>) {
    let port = free_port().expect("a port");
    let check = make(SocketAddr::from((Ipv4Addr::LOCALHOST, port))).await;
    let began = Instant::now();
    let seen = run(&check, LONG).await;
    assert!(seen.starts_with("down, connection_refused, "), "{seen}");
    assert!(
        began.elapsed() < Duration::from_secs(5),
        "it took {:?}",
        began.elapsed()
    );
}

/// Frozen, killed and started again: the same check sees each, and comes back without being made anew.
pub(crate) async fn survives_restart<L>(
    check: &Check<L>,
    server: &mut Private,
) -> Result<(), Error> {
    run_until(check, LONG, "up").await;
    server.freeze()?;
    let frozen = run(check, SHORT).await;
    assert!(
        frozen == "cut off" || frozen.starts_with("down, timeout, "),
        "frozen: {frozen}"
    );
    server.thaw()?;
    run_until(check, LONG, "up").await;
    server.kill().await?;
    run_until(check, LONG, "down, connection_refused, ").await;
    server.start_again().await?;
    run_until(check, LONG, "up").await;
    Ok(())
}

/// How many descriptors without a name may be more than before. Tests that wait for their turn have a runtime
/// already, which holds a few; a check that left one in each run would leave a thousand.
const OF_RUNTIMES: usize = 64;

/// A thousand runs leave no task, no descriptor and so no connection. Hold [`alone`].
pub(crate) async fn leaves_nothing<L>(check: &Check<L>, wanted: &str) {
    // What is made once, such as a connection that is kept, is made now.
    for _ in 0..10 {
        run_until(check, LONG, wanted).await;
    }
    let before = Held::now().await;
    for run_number in 0..1000 {
        let seen = run(check, LONG).await;
        assert!(seen.starts_with(wanted), "run {run_number}: {seen}");
    }
    let began = Instant::now();
    loop {
        let after = Held::now().await;
        if after.is_no_more_than(&before) {
            return;
        }
        assert!(
            began.elapsed() < LONG,
            "before: {before:?}; after a thousand runs: {after:?}"
        );
        sleep(Duration::from_millis(50)).await;
    }
}

/// What this process holds, and the tasks of this runtime.
#[derive(Debug)]
struct Held {
    /// Files, and each socket and each pipe once, however often it is held: runtimes share those of signals.
    descriptors: usize,
    /// What has no name of its own: event counters, timers, sets of descriptors to wait for.
    nameless: usize,
    tasks: usize,
}

impl Held {
    async fn now() -> Self {
        sleep(Duration::from_millis(20)).await;
        let descriptors = fs::read_dir("/proc/self/fd")
            .into_iter()
            .flatten()
            .flatten();
        let names = descriptors.filter_map(|entry| fs::read_link(entry.path()).ok());
        let names = names.map(|name| name.to_string_lossy().into_owned());
        let (nameless, named): (Vec<_>, Vec<_>) =
            names.partition(|name| name.starts_with("anon_inode:"));
        let (unique, files): (Vec<_>, Vec<_>) =
            named.into_iter().partition(|name| name.contains(":["));
        let unique: HashSet<_> = unique.into_iter().collect();
        let tasks = tokio::runtime::Handle::current().metrics();
        Self {
            descriptors: files.len() + unique.len(),
            nameless: nameless.len(),
            tasks: tasks.num_alive_tasks(),
        }
    }

    fn is_no_more_than(&self, before: &Self) -> bool {
        self.descriptors <= before.descriptors
            && self.nameless <= before.nameless + OF_RUNTIMES
            && self.tasks <= before.tasks
    }
}
