//! What an AMQP broker says, in our own words: the same through a driver and without one.

use rootward::{ErrorCategory, Failure, Reason};

pub(crate) fn short_of_resources() -> Failure {
    Failure::new(ErrorCategory::ResourceExhausted)
        .because("the broker is short of memory or disk and stops what is published")
}

pub(crate) fn no_amqp() -> Failure {
    Failure::new(ErrorCategory::Protocol).because("the answer is no AMQP 0-9-1")
}

/// By the reply codes of the specification (the constants of its reference), as RabbitMQ uses them. The texts beside
/// them hold names of users and virtual hosts and are left where they are.
pub(crate) fn closed(code: u16) -> Failure {
    let (category, reason) = match code {
        320 => (
            ErrorCategory::ShuttingDown,
            "the broker ended the connection",
        ),
        403 => return Failure::new(ErrorCategory::Auth),
        530 => (
            ErrorCategory::Auth,
            "the user may not enter the virtual host",
        ),
        506 => (
            ErrorCategory::RateLimited,
            "the broker has no connection or channel left",
        ),
        501..=505 => return no_amqp(),
        541 => (ErrorCategory::Unknown, "the broker has an error of its own"),
        code => {
            let reason = Reason::new("the broker ended the connection with code").number(code);
            return Failure::new(ErrorCategory::Unknown).because(reason);
        }
    };
    Failure::new(category).because(reason)
}
