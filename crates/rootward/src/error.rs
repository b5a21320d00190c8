//! Why a service's health could not start.

use std::fmt;
use std::io;
use std::net::SocketAddr;

/// Why [`Builder::start`](crate::Builder::start) returned nothing. The application decides what that means; nothing
/// was started.
///
/// ```
/// use std::time::Duration;
/// use rootward::{Check, Health};
///
/// let disk = Check::new("disk", || async { Ok(()) }).timeout(Duration::from_secs(20));
/// let error = Health::builder("my cart").check(disk.hard()).start().expect_err("two problems");
/// assert_eq!(
///     error.to_string(),
///     "the health of \"my cart\" has 2 problems\n  \
///      service: a name may not contain ' ' (letters, digits and - _ . / : @ + are allowed)\n  \
///      check \"disk\": the timeout (20 s) must be shorter than the interval (10 s)"
/// );
/// ```
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub struct Error(#[from] Kind);

#[derive(Debug, thiserror::Error)]
pub(crate) enum Kind {
    #[error("the health of {service:?} has {}", Listed(problems))]
    Problems {
        service: String,
        problems: Vec<Problem>,
    },
    #[error("failed to start health: no tokio runtime here, call start() inside the application's")]
    NoRuntime,
    #[error(
        "failed to start health: the tokio runtime here has no timer, build it with enable_time() or enable_all()"
    )]
    NoTimer,
    #[error("the checks of {service:?} are run no longer")]
    NotRun { service: String },
    #[error("failed to listen on {addr}: {}", reason(source))]
    Listen { addr: SocketAddr, source: io::Error },
    #[cfg(unix)]
    #[error("failed to listen to SIGTERM and SIGINT: {}", reason(source))]
    Signals { source: io::Error },
    #[error("failed to start the thread of {what}: {}", reason(source))]
    Thread {
        what: &'static str,
        source: io::Error,
    },
}

impl Error {
    /// What is wrong with what was built, all of it; empty if something else is the reason.
    ///
    /// ```
    /// use rootward::Health;
    ///
    /// let error = Health::builder("").start().expect_err("a name may not be empty");
    /// for problem in error.problems() {
    ///     eprintln!("{problem}"); // service: a name may not be empty
    /// }
    /// assert_eq!(error.problems().len(), 1);
    /// ```
    #[must_use]
    pub fn problems(&self) -> &[Problem] {
        match &self.0 {
            Kind::Problems { problems, .. } => problems,
            #[cfg(unix)]
            Kind::Signals { .. } => &[],
            Kind::NoRuntime
            | Kind::NoTimer
            | Kind::NotRun { .. }
            | Kind::Listen { .. }
            | Kind::Thread { .. } => &[],
        }
    }

    /// Whether somebody else listens on the address.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> std::io::Result<()> {
    /// use rootward::Health;
    ///
    /// let other = std::net::TcpListener::bind("127.0.0.1:0")?;
    /// let error = Health::builder("cart").listen(other.local_addr()?).start().expect_err("it is taken");
    /// assert!(error.is_address_in_use());
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn is_address_in_use(&self) -> bool {
        match &self.0 {
            Kind::Listen { source, .. } => source.kind() == io::ErrorKind::AddrInUse,
            #[cfg(unix)]
            Kind::Signals { .. } => false,
            Kind::Problems { .. }
            | Kind::NoRuntime
            | Kind::NoTimer
            | Kind::NotRun { .. }
            | Kind::Thread { .. } => false,
        }
    }
}

/// One thing that is wrong with what was built: what it is about, and what would be right, in a sentence. It holds no
/// secret.
///
/// ```
/// let error = rootward::Health::builder("my cart").start().expect_err("a name holds no space");
/// assert!(error.problems()[0].to_string().starts_with("service: a name may not contain ' '"));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    pub(crate) subject: String,
    pub(crate) text: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.subject, self.text)
    }
}

struct Listed<'a>(&'a [Problem]);

impl fmt::Display for Listed<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            [one] => write!(f, "1 problem\n  {one}"),
            many => {
                write!(f, "{} problems", many.len())?;
                many.iter()
                    .try_for_each(|problem| write!(f, "\n  {problem}"))
            }
        }
    }
}

/// The usual reasons in words that do not change with the platform.
fn reason(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::AddrInUse => "address already in use".to_owned(),
        io::ErrorKind::AddrNotAvailable => "no such address on this machine".to_owned(),
        io::ErrorKind::PermissionDenied => "permission denied".to_owned(),
        // An open set; the platform's own words are better than ours.
        _ => error.to_string(),
    }
}
