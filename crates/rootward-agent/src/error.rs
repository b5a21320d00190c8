//! Why an agent did not start.

use rootward_config::Problems;

/// Why an agent did not start. Nothing runs then.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The file cannot be read.
    #[error("{0}")]
    Unreadable(String),
    /// The file has problems: all of them.
    #[error("{0}")]
    Problems(Problems),
    /// The crate refuses to start: its address is in use, a file of tokens cannot be read.
    #[error(transparent)]
    Health(#[from] rootward::Error),
    /// The signal that asks to read the file again cannot be heard.
    #[error("failed to listen to SIGHUP: {0}")]
    Signal(std::io::Error),
}
