//! What an error of the operating system says about the other side, or about this one.

use std::io;

use rootward::{ErrorCategory, Failure};

/// No file descriptor left in this process (EMFILE) or on this machine (ENFILE), as Unix numbers them.
const OUT_OF_DESCRIPTORS: [i32; 2] = [24, 23];

/// A failure without detail; the caller has the whole chain.
pub(crate) fn failure(error: &io::Error) -> Failure {
    use io::ErrorKind as Kind;
    #[cfg(feature = "_tls")]
    if let Some(fault) = rootward_fetch::TlsFault::of(error) {
        return Failure::new(ErrorCategory::Tls).because(fault.phrase());
    }
    let exhausted = error
        .raw_os_error()
        .is_some_and(|code| cfg!(unix) && OUT_OF_DESCRIPTORS.contains(&code));
    if exhausted {
        return Failure::new(ErrorCategory::ResourceExhausted)
            .because("no file descriptor is left here");
    }
    match error.kind() {
        // A socket file that is not there is a server that does not listen.
        Kind::ConnectionRefused | Kind::NotFound => Failure::new(ErrorCategory::ConnectionRefused),
        Kind::ConnectionReset
        | Kind::ConnectionAborted
        | Kind::BrokenPipe
        | Kind::NotConnected
        | Kind::UnexpectedEof => Failure::new(ErrorCategory::ConnectionReset),
        Kind::TimedOut | Kind::WouldBlock => Failure::new(ErrorCategory::Timeout),
        Kind::AddrNotAvailable | Kind::AddrInUse => {
            Failure::new(ErrorCategory::ResourceExhausted).because("no local port is left here")
        }
        Kind::HostUnreachable | Kind::NetworkUnreachable | Kind::NetworkDown => {
            Failure::new(ErrorCategory::Unknown).because("no route to the host")
        }
        Kind::InvalidData => Failure::new(ErrorCategory::Protocol),
        // The resolver's errors have neither a kind nor a number of the system. Nothing else that these drivers
        // pass on is like that.
        _ if error.raw_os_error().is_none() => Failure::new(ErrorCategory::Dns),
        _ => Failure::new(ErrorCategory::Unknown),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_of_the_system_have_their_words() {
        let cases = [
            (io::Error::from_raw_os_error(111), "connection refused"),
            (io::Error::from_raw_os_error(104), "connection reset"),
            (io::Error::from_raw_os_error(110), "timed out"),
            (io::Error::from_raw_os_error(113), "no route to the host"),
            (
                io::Error::from_raw_os_error(24),
                "no file descriptor is left here",
            ),
            (
                io::Error::from_raw_os_error(99),
                "no local port is left here",
            ),
            (io::Error::from_raw_os_error(1), "failed"),
            (
                io::Error::new(io::ErrorKind::UnexpectedEof, "hunter2"),
                "connection reset",
            ),
            (io::Error::other("hunter2"), "name does not resolve"),
        ];
        for (error, words) in cases {
            assert_eq!(failure(&error).to_string(), words, "{error:?}");
        }
    }
}
