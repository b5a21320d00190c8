//! Whether something accepts a connection: the least that can be asked.

use std::sync::Arc;

use rootward::{Check, Depth, Failure, Outcome, Unlabelled};
use rootward_fetch::{Target, reach};

use super::Unusable;
use super::target::endpoint;
use crate::asking::{deadline, no_answer};

/// Makes a connection to a host and a port, and closes it.
///
/// | what happens | category |
/// | --- | --- |
/// | no connection within the time limit | `timeout` |
/// | nothing listens, the name does not resolve | `connection_refused`, `dns` |
/// | no file descriptor or local port is left here | `resource_exhausted` |
///
/// **A connection proves little.** The kernel of the other machine accepts connections for a process that hangs, and a
/// load balancer for servers that are gone; the depth in the report is `connect`. Use a check of the protocol where
/// there is one.
///
/// A run costs the server one connection, which many servers log as one that said nothing. Of a name with several
/// addresses one that accepts is enough.
///
/// # Errors
/// When host or port cannot be.
///
/// ```
/// let check = rootward_checks::tcp("mail", "mail.internal", 25)?.soft(); // tcp://mail.internal:25
/// # Ok::<(), rootward_checks::open::Unusable>(())
/// ```
pub fn tcp(name: impl Into<String>, host: &str, port: u16) -> Result<Check<Unlabelled>, Unusable> {
    let (target, identity) = endpoint(host, port, |authority| {
        Ok(Target::parse(&format!("http://{authority}"))?)
    })?;
    let target = Arc::new(target);
    let check = Check::with_context(name, move |context| {
        let target = Arc::clone(&target);
        async move {
            reach(&target, deadline(&context))
                .await
                .map_err(|error| no_answer(error, &context))?;
            Ok::<_, Failure>(Outcome::Up)
        }
    });
    let check = check.kind("tcp").depth(Depth::Connect);
    Ok(check.target(format!("tcp://{identity}")))
}
