//! A database inside the process that has no check of its own here: Kuzu, DuckDB, LMDB, RocksDB, or a SQLite of another
//! version. The check is a closure over the handle that requests use.
//!
//! `Embedded` below stands in the place of such a handle, so that this runs without any of them: the bodies of its two
//! functions are where their calls go, and each says which. Nothing here proves anything about Kuzu or DuckDB.
//!
//!     cargo run -p rootward-checks --example embedded

use std::sync::Arc;
use std::time::Duration;

use rootward::{Check, ErrorCategory, Failure, Health};

/// The handle that the application opened once and shares.
struct Embedded;

/// What its library says went wrong.
#[derive(Debug)]
struct EmbeddedError {
    is_locked: bool,
}

impl std::fmt::Display for EmbeddedError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("IO error in /var/lib/cart/orders.db")
    }
}

impl std::error::Error for EmbeddedError {}

impl Embedded {
    fn open() -> Result<Self, EmbeddedError> {
        // Kuzu: `Database::new(path, SystemConfig::default())`. DuckDB: `Connection::open(path)`.
        Ok(Self)
    }

    fn ask(&self) -> Result<i64, EmbeddedError> {
        // Kuzu: `Connection::new(&self.database)?.query("RETURN 1")?`, and its first value.
        // DuckDB: `self.connection.try_clone()?.query_row("SELECT 1", [], |row| row.get(0))`.
        Ok(1)
    }
}

fn check(database: Arc<Embedded>) -> Check<rootward::Unlabelled> {
    // It blocks, so it runs on the threads for blocking work. One that hangs is reported as a timeout that is still
    // running, and is not started again before it has returned.
    Check::blocking("orders-store", move || match database.ask() {
        Ok(1) => Ok(()),
        Ok(_) => Err(Failure::new(ErrorCategory::Protocol)),
        // From the type of the error and never from its text, which names files: that goes to the log only.
        Err(error) if error.is_locked => Err(Failure::new(ErrorCategory::Timeout)
            .because("somebody else holds the file locked")
            .caused_by(error)),
        Err(error) => Err(Failure::new(ErrorCategory::Unknown).caused_by(error)),
    })
    .kind("embedded")
    .timeout(Duration::from_millis(100))
    // The file is this instance's own: other instances have theirs.
    .local()
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let database = Arc::new(Embedded::open()?);
    let health = Health::builder("cart")
        .instance("cart-0")
        .check(check(database).hard())
        .start()?;
    health.check_now().await?;
    for component in health.report().components {
        // An example may print: it is a program.
        #[expect(clippy::print_stdout, reason = "an example shows what it found")]
        {
            println!("{}: {:?}", component.name, component.status);
        }
    }
    health.stop().await;
    Ok(())
}
