//! SQLite: real files, made and locked by a connection of the test.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rootward::{Check, Unlabelled};
use rootward_checks::open::{self, SqliteSettings};
use rusqlite::Connection;

use crate::every::{LONG, alone, beside_others, leaves_nothing, run};

/// A directory of one test, under the directory that cargo keeps for tests.
struct Directory(PathBuf);

impl Directory {
    fn new(name: &str) -> Self {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR"))
            .join(format!("sqlite-{name}-{}", std::process::id()));
        fs::create_dir_all(&path).expect("a directory");
        Self(path)
    }

    fn database(&self) -> (PathBuf, Connection) {
        let path = self.0.join("planted-orders.db");
        let connection = Connection::open(&path).expect("a file");
        connection
            .execute_batch("CREATE TABLE orders (id INTEGER PRIMARY KEY, text TEXT); INSERT INTO orders (text) VALUES ('one');")
            .expect("a table");
        (path, connection)
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn check(path: &Path) -> Check<Unlabelled> {
    rootward_checks::sqlite("sessions", path)
}

fn opened(path: &Path) -> Check<Unlabelled> {
    open::sqlite("sessions", SqliteSettings::new(path)).expect("settings")
}

#[tokio::test]
async fn a_sqlite_file_is_up_and_is_said_to_be_gone_damaged_or_forbidden() {
    let _turn = beside_others().await;
    let directory = Directory::new("states");
    let missing = directory.0.join("planted-missing.db");
    for check in [check(&missing), opened(&missing)] {
        let seen = run(&check, LONG).await;
        assert_eq!(seen, "down, not_found, the file is not there");
    }
    assert!(!missing.exists(), "the check made the file");

    let (path, connection) = directory.database();
    drop(connection);
    let check = check(&path);
    assert_eq!(run(&check, LONG).await, "up");
    assert_eq!(run(&opened(&path), LONG).await, "up");

    // The same check sees what becomes of the file.
    let whole = fs::read(&path).expect("it can be read");
    fs::write(
        &path,
        "planted-password-hunter2 and more, in no format of SQLite",
    )
    .expect("written");
    let seen = run(&check, LONG).await;
    assert_eq!(seen, "down, protocol, the file is no SQLite database");

    let mut damaged = whole.clone();
    // The kind of the first page of the tree of tables.
    damaged[100] = 0xff;
    fs::write(&path, &damaged).expect("written");
    let seen = run(&check, LONG).await;
    assert_eq!(seen, "down, protocol, the file is damaged");

    fs::remove_file(&path).expect("removed");
    fs::create_dir(&path).expect("made");
    assert_eq!(run(&check, LONG).await, "down, not_found, it is no file");
    fs::remove_dir(&path).expect("removed");

    fs::write(&path, &whole).expect("written");
    assert_eq!(run(&check, LONG).await, "up");
    if rustix::process::geteuid().is_root() {
        return; // may read everything
    }
    fs::set_permissions(&path, fs::Permissions::from_mode(0o000)).expect("set");
    assert_eq!(
        run(&check, LONG).await,
        "down, auth, the file may not be read"
    );
}

#[tokio::test]
async fn a_sqlite_file_that_somebody_holds_locked_is_said_to_be_before_the_time_limit() {
    let _turn = beside_others().await;
    let directory = Directory::new("locked");
    let (path, connection) = directory.database();
    connection
        .execute_batch("PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE; INSERT INTO orders (text) VALUES ('two');")
        .expect("locked");
    let check = check(&path);
    let seen = run(&check, Duration::from_secs(4)).await;
    assert_eq!(
        seen,
        "down, timeout, the file stayed locked by somebody else"
    );
    drop(connection);
    assert_eq!(run(&check, LONG).await, "up");
}

#[tokio::test]
async fn a_run_that_was_cut_off_is_never_beside_another_on_the_same_file() {
    let _turn = beside_others().await;
    let directory = Directory::new("cut-off");
    let (path, connection) = directory.database();
    connection
        .execute_batch("BEGIN EXCLUSIVE; INSERT INTO orders (text) VALUES ('two');")
        .expect("locked");
    let check = check(&path);
    // Waits 500 ms for the lock by its own limit, and is given up at once.
    let name = |text| rootward::Name::parse(text).expect("a name");
    let limit = Duration::from_secs(1);
    let context = || rootward::CheckContext::new(name("cart"), name("cart-0"), name("it"), limit);
    let cut = tokio::time::timeout(Duration::from_millis(50), check.run_once(context())).await;
    assert!(cut.is_err(), "it is still waiting for the lock");
    drop(connection);
    assert_eq!(run(&check, LONG).await, "up");
}

#[tokio::test]
async fn a_sqlite_file_in_wal_mode_is_read_while_somebody_writes() {
    let _turn = beside_others().await;
    let directory = Directory::new("wal");
    let (path, connection) = directory.database();
    connection
        .execute_batch(
            "PRAGMA journal_mode = WAL; BEGIN IMMEDIATE; INSERT INTO orders (text) VALUES ('two');",
        )
        .expect("writing");
    assert_eq!(run(&check(&path), LONG).await, "up");
}

/// As a crash leaves it: a journal beside the file, and nobody who holds a lock.
#[tokio::test]
async fn a_sqlite_file_with_a_change_that_nobody_finished_is_not_ready_until_a_writer_came() {
    let _turn = beside_others().await;
    let directory = Directory::new("hot");
    let (path, connection) = directory.database();
    connection
        .execute_batch(
            "PRAGMA cache_size = 1; BEGIN IMMEDIATE;
             WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5000)
             INSERT INTO orders (text) SELECT hex(randomblob(200)) FROM n;",
        )
        .expect("more than the cache holds");
    let beside = |path: &Path, end: &str| {
        let mut name = path.as_os_str().to_owned();
        name.push(end);
        PathBuf::from(name)
    };
    let left = beside(&path, "-left");
    for end in ["", "-journal"] {
        fs::copy(beside(&path, end), beside(&left, end)).expect("a copy");
    }
    drop(connection);
    for check in [check(&left), opened(&left)] {
        assert_eq!(
            run(&check, LONG).await,
            "down, not_ready, a writer has to recover the file first"
        );
    }
    let writer = Connection::open(&left).expect("it is there");
    let rolled_back: i64 = writer
        .query_row("SELECT count(*) FROM orders", [], |row| row.get(0))
        .expect("it recovers");
    assert!(rolled_back < 5000, "{rolled_back}");
    drop(writer);
    assert_eq!(run(&check(&left), LONG).await, "up");
}

#[tokio::test]
async fn a_thousand_runs_on_a_sqlite_file_leave_nothing() {
    let _turn = alone().await;
    let directory = Directory::new("leak");
    let (path, _connection) = directory.database();
    leaves_nothing(&check(&path), "up").await;
    let missing = directory.0.join("missing.db");
    leaves_nothing(&opened(&missing), "down, not_found, ").await;
}
