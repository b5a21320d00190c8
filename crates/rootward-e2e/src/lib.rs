//! Real binaries, real servers, real sockets; and the test of the layering.
//!
//! The library starts processes and private servers that a test may freeze, kill and start again, and that do not
//! outlive the run. `./test` prepares what it needs and describes it in the environment; [`Run`] reads that.
//!
//! ```no_run
//! # async fn example() -> Result<(), rootward_e2e::Error> {
//! use std::time::Duration;
//! use rootward_e2e::{Answer, Postgres, Run};
//!
//! let run = Run::from_environment()?;
//! let database = Postgres::start(&run).await?;
//! database.freeze()?;
//! assert_eq!(database.ask(Duration::from_secs(1)).await, Answer::None);
//! database.thaw()?;
//! # Ok(())
//! # }
//! ```

mod answer;
mod error;
mod ports;
mod postgres;
mod private;
mod process;
mod redis;
mod run;
mod server;
mod tree;
mod wait;

pub use answer::Answer;
pub use error::Error;
pub use ports::free_port;
pub use postgres::Postgres;
pub use private::Private;
pub use process::Process;
pub use redis::Redis;
pub use run::Run;
pub use tree::is_alive;
pub use wait::until;
