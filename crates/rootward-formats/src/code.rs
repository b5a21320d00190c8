//! What a code says when the body says nothing: of HTTP, of gRPC, of a process.

use std::str::FromStr;

use rootward_core::ErrorCategory;

/// What an HTTP code says about the service.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Http {
    /// 2xx.
    Good,
    /// 5xx.
    Bad(ErrorCategory),
    /// Everything else tells about the question and not about the service.
    Silent(ErrorCategory),
}

/// What a code of HTTP says.
pub(crate) const fn http(code: u16) -> Http {
    match code {
        200..=299 => Http::Good,
        504 => Http::Bad(ErrorCategory::Timeout),
        500..=599 => Http::Bad(ErrorCategory::HttpStatus),
        300..=399 => Http::Silent(ErrorCategory::Redirect),
        401 | 403 | 407 => Http::Silent(ErrorCategory::Auth),
        404 | 410 => Http::Silent(ErrorCategory::NotFound),
        405 | 406 => Http::Silent(ErrorCategory::Protocol),
        429 => Http::Silent(ErrorCategory::RateLimited),
        400..=499 => Http::Silent(ErrorCategory::HttpStatus),
        // No answer ends with 1xx, and the rest are no codes of HTTP.
        _ => Http::Silent(ErrorCategory::Protocol),
    }
}

macro_rules! grpc_codes {
    ($($(#[$doc:meta])* $variant:ident = $name:literal,)+) => {
        /// A status code of gRPC, in the order of its numbers: <https://grpc.io/docs/guides/status-codes/>.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum GrpcCode { $($(#[$doc])* $variant,)+ }

        impl GrpcCode {
            /// Every code; the place is the number.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            /// The name of the code, such as `NOT_FOUND`.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $name,)+ }
            }
        }
    };
}

grpc_codes! {
    /// It went well.
    Ok = "OK",
    /// The caller gave up.
    Cancelled = "CANCELLED",
    /// Nobody knows what went wrong.
    Unknown = "UNKNOWN",
    /// The question was wrong.
    InvalidArgument = "INVALID_ARGUMENT",
    /// The deadline passed.
    DeadlineExceeded = "DEADLINE_EXCEEDED",
    /// Nothing has that name.
    NotFound = "NOT_FOUND",
    /// It is there already.
    AlreadyExists = "ALREADY_EXISTS",
    /// The caller may not.
    PermissionDenied = "PERMISSION_DENIED",
    /// Something ran out.
    ResourceExhausted = "RESOURCE_EXHAUSTED",
    /// The state does not allow it.
    FailedPrecondition = "FAILED_PRECONDITION",
    /// It collided with something.
    Aborted = "ABORTED",
    /// Beyond what there is.
    OutOfRange = "OUT_OF_RANGE",
    /// The server does not have that method.
    Unimplemented = "UNIMPLEMENTED",
    /// The server broke.
    Internal = "INTERNAL",
    /// The server cannot be reached, or takes no calls.
    Unavailable = "UNAVAILABLE",
    /// Data was lost.
    DataLoss = "DATA_LOSS",
    /// Nobody knows who the caller is.
    Unauthenticated = "UNAUTHENTICATED",
}

/// A text that names no code of gRPC.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownGrpcCode;

impl std::fmt::Display for UnknownGrpcCode {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("no code of gRPC has that name or number")
    }
}

impl std::error::Error for UnknownGrpcCode {}

impl FromStr for GrpcCode {
    type Err = UnknownGrpcCode;

    /// Reads a name, such as `NOT_FOUND`, or a number.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let by_number = || Self::ALL.get(text.parse::<usize>().ok()?).copied();
        let mut all = Self::ALL.iter().copied();
        all.find(|code| code.as_str().eq_ignore_ascii_case(text))
            .or_else(by_number)
            .ok_or(UnknownGrpcCode)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kf_030_every_code_of_http_has_a_meaning() {
        for code in 200..300 {
            assert_eq!(http(code), Http::Good);
        }
        for code in 500..600 {
            assert!(matches!(http(code), Http::Bad(_)), "{code}");
        }
        for code in (0..200).chain(300..500).chain(600..1000) {
            assert!(matches!(http(code), Http::Silent(_)), "{code}");
        }
        assert_eq!(http(308), Http::Silent(ErrorCategory::Redirect));
        assert_eq!(http(418), Http::Silent(ErrorCategory::HttpStatus));
    }

    #[test]
    fn codes_of_grpc_have_their_numbers() {
        assert_eq!("5".parse(), Ok(GrpcCode::NotFound));
        assert_eq!("unavailable".parse(), Ok(GrpcCode::Unavailable));
        assert_eq!("16".parse(), Ok(GrpcCode::Unauthenticated));
        assert!("17".parse::<GrpcCode>().is_err());
    }
}
