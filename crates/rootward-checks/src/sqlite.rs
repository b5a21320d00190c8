//! SQLite, from its file.
//!
//! SQLite is no server: it is the file that can be gone, locked, damaged or on a disk that fails. So each run opens the
//! file anew, as a process that starts would; a connection that was opened long ago still answers from a file that
//! somebody has replaced or deleted.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use rootward::{Check, CheckContext, Depth, ErrorCategory, Failure, Unlabelled};
use rusqlite::{Connection, Error, ErrorCode, OpenFlags};
use tokio::sync::Mutex;

/// Reads the first page and the table of all tables, and no row of any of them.
const QUERY: &str = "SELECT count(*) FROM sqlite_schema";

/// Reads the schema of a SQLite file, read-only.
///
/// | what happens | category |
/// | --- | --- |
/// | no answer within the time limit: the disk hangs, or the last run still does | `timeout` |
/// | somebody holds the file locked for half of the time limit | `timeout` |
/// | the file is not there, or is a directory | `not_found` |
/// | it may not be read | `auth` |
/// | it is no SQLite file, or it is damaged where it was read | `protocol` |
/// | a writer crashed, and the next one has to recover the file first | `not_ready` |
/// | no memory or descriptor is left | `resource_exhausted` |
/// | the disk gives errors | `unknown` |
///
/// The file is never created and never written, but in WAL mode SQLite needs the `-shm` file beside it and makes that
/// where it is missing. Nothing is kept open between runs.
///
/// It costs a read of a few pages, from the cache of the system if the file is in use, on a thread for blocking work.
/// One that hangs in the disk cannot be stopped: the next runs wait for it, so there is never more than one, and time
/// out. It does not prove that the rest of the file is whole, which `PRAGMA integrity_check` reads all of, nor that there
/// is room to write.
///
/// The check is local and has no target: the file is this instance's own. Set [`Check::shared`] where it is not.
///
/// Programs that bring a SQLite of another version through their own driver cannot link this one beside it: they check
/// over their own connection, as the example `embedded.rs` of this crate shows.
///
/// ```
/// let check = rootward_checks::sqlite("sessions", "/var/lib/cart/sessions.db").hard();
/// ```
pub fn sqlite(name: impl Into<String>, path: impl Into<PathBuf>) -> Check<Unlabelled> {
    let path: Arc<Path> = path.into().into();
    let turn = Arc::new(Mutex::new(()));
    let check = Check::with_context(name, move |context| {
        let (path, turn) = (Arc::clone(&path), Arc::clone(&turn));
        async move { ask(path, turn, &context).await }
    });
    check.kind("sqlite").depth(Depth::Query).local()
}

async fn ask(path: Arc<Path>, turn: Arc<Mutex<()>>, context: &CheckContext) -> Result<(), Failure> {
    let patience = context.timeout() / 2;
    let turn = turn.lock_owned().await;
    let reading = tokio::task::spawn_blocking(move || {
        // Given back when it has returned, and not when somebody stopped waiting for it.
        let _turn = turn;
        read(&path, patience)
    });
    reading
        .await
        .unwrap_or_else(|_| Err(Failure::new(ErrorCategory::Panic)))
}

fn read(path: &Path, patience: Duration) -> Result<(), Failure> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let asked = Connection::open_with_flags(path, flags).and_then(|connection| {
        connection.busy_timeout(patience)?;
        connection.query_row(QUERY, (), |row| row.get::<_, i64>(0))
    });
    asked.map(drop).map_err(|error| of_sqlite(path, error))
}

fn of_sqlite(path: &Path, error: Error) -> Failure {
    let code = error.sqlite_error_code();
    let failure = match code {
        Some(ErrorCode::CannotOpen) => of_file(path),
        // A directory can be opened, and not read.
        Some(ErrorCode::SystemIoFailure) if path.is_dir() => of_file(path),
        Some(code) => of_code(code),
        None => Failure::new(ErrorCategory::Unknown),
    };
    failure.caused_by(error)
}

/// SQLite only says that it cannot open the file.
fn of_file(path: &Path) -> Failure {
    let found = fs::metadata(path).and_then(|found| match found.is_file() {
        true => fs::File::open(path).map(drop),
        false => Err(io::ErrorKind::IsADirectory.into()),
    });
    let (category, reason) = match found.map_err(|error| error.kind()) {
        Err(io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            (ErrorCategory::NotFound, "the file is not there")
        }
        Err(io::ErrorKind::IsADirectory) => (ErrorCategory::NotFound, "it is no file"),
        Err(io::ErrorKind::PermissionDenied) => (ErrorCategory::Auth, "the file may not be read"),
        _ => (ErrorCategory::Unknown, "the file cannot be opened"),
    };
    Failure::new(category).because(reason)
}

fn of_code(code: ErrorCode) -> Failure {
    let (category, reason) = match code {
        ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked => (
            ErrorCategory::Timeout,
            "the file stayed locked by somebody else",
        ),
        ErrorCode::NotADatabase => (ErrorCategory::Protocol, "the file is no SQLite database"),
        ErrorCode::DatabaseCorrupt => (ErrorCategory::Protocol, "the file is damaged"),
        ErrorCode::ReadOnly => (
            ErrorCategory::NotReady,
            "a writer has to recover the file first",
        ),
        ErrorCode::PermissionDenied => (ErrorCategory::Auth, "the file may not be read"),
        ErrorCode::OutOfMemory => (ErrorCategory::ResourceExhausted, "no memory is left"),
        ErrorCode::DiskFull => (ErrorCategory::ResourceExhausted, "the disk is full"),
        ErrorCode::SystemIoFailure => (ErrorCategory::Unknown, "the disk gives errors"),
        _ => return Failure::new(ErrorCategory::Unknown),
    };
    Failure::new(category).because(reason)
}
