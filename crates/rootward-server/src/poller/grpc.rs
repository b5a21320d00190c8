//! What a gRPC server says about one of its services (`grpc.health.v1`), as the outcome of a poll.
//!
//! Only what the health service needs of protobuf is here: a request with one string, an answer with one number. How the
//! words and the codes are read is the business of `rootward-formats`.

use rootward_core::Moment;
use rootward_core::engine::PollOutcome;
use rootward_fetch::GrpcAnswer;
use rootward_formats::{Answer, Choice, Format, GrpcCode, read};

use super::outcome::Asked;

/// The method that is called.
pub(super) const METHOD: &str = "/grpc.health.v1.Health/Check";

/// The key of the first field, with the type of strings: `HealthCheckRequest.service`.
const SERVICE: u8 = 0x0a;

/// The longest varint, in bytes.
const MAX_VARINT_BYTES: usize = 10;

/// `HealthCheckRequest`. The empty name asks for the server as a whole.
pub(crate) fn question(service: &str) -> Vec<u8> {
    let mut message = Vec::new();
    if service.is_empty() {
        return message;
    }
    message.push(SERVICE);
    let mut length = service.len();
    while length >= 0x80 {
        message.push(0x80 | length.to_le_bytes()[0]);
        length >>= 7;
    }
    message.push(length.to_le_bytes()[0]);
    message.extend_from_slice(service.as_bytes());
    message
}

/// Reads an answer that arrived at `at`.
pub(super) fn of_answer(answer: &GrpcAnswer, asked: &mut Asked<'_>, at: Moment) -> PollOutcome {
    let http = answer.http_status;
    let Some(code) = answer.code else {
        return if (500..600).contains(&http) {
            PollOutcome::ErrorStatus(http)
        } else {
            PollOutcome::Malformed(format!("answered HTTP {http}, which is no answer of gRPC"))
        };
    };
    let Some(code) = GrpcCode::ALL.get(usize::from(code)).copied() else {
        return PollOutcome::Malformed(format!("answered with {code}, which no status of gRPC is"));
    };
    let body = match (code, &answer.message) {
        (GrpcCode::Ok, Some(message)) => match status(message) {
            Some(0) => r#"{"status":"UNKNOWN"}"#,
            Some(1) => r#"{"status":"SERVING"}"#,
            Some(2) => r#"{"status":"NOT_SERVING"}"#,
            Some(3) => r#"{"status":"SERVICE_UNKNOWN"}"#,
            Some(_) => {
                let text = "answered with a status that grpc.health.v1 does not have";
                return PollOutcome::Malformed(text.to_owned());
            }
            None => {
                let text = "answered with a message that is no HealthCheckResponse";
                return PollOutcome::Malformed(text.to_owned());
            }
        },
        (GrpcCode::Ok, None) => {
            return PollOutcome::Malformed("answered OK over gRPC without a message".to_owned());
        }
        (_, _) => "",
    };
    let answer = Answer::new(body.as_bytes()).grpc_code(code);
    let reading = read(&answer, Choice::Named(Format::Grpc));
    match asked.foreign.report(&reading, asked.id, asked.reader, at) {
        Some(report) => PollOutcome::Report(Box::new(report)),
        None => PollOutcome::Malformed(said(code).to_owned()),
    }
}

/// An answer that does not tell how the service is, in a sentence.
const fn said(code: GrpcCode) -> &'static str {
    match code {
        GrpcCode::Ok => "answered over gRPC with a status that does not tell how it is",
        GrpcCode::NotFound => "answered NOT_FOUND over gRPC: it knows no service of that name",
        GrpcCode::Unimplemented => "answered UNIMPLEMENTED over gRPC: it has no health service",
        GrpcCode::Unauthenticated => "answered UNAUTHENTICATED over gRPC: it wants credentials",
        GrpcCode::PermissionDenied => {
            "answered PERMISSION_DENIED over gRPC: it does not let us ask for its health"
        }
        GrpcCode::ResourceExhausted => {
            "answered RESOURCE_EXHAUSTED over gRPC: it wants fewer requests"
        }
        GrpcCode::Cancelled
        | GrpcCode::InvalidArgument
        | GrpcCode::AlreadyExists
        | GrpcCode::FailedPrecondition
        | GrpcCode::Aborted
        | GrpcCode::OutOfRange => {
            "answered over gRPC with a code that says nothing about its health"
        }
        GrpcCode::Unknown
        | GrpcCode::DeadlineExceeded
        | GrpcCode::Internal
        | GrpcCode::Unavailable
        | GrpcCode::DataLoss => "answered over gRPC that it failed",
    }
}

/// The first field of `HealthCheckResponse`; 0 if it is left out, `None` if that is no message of protobuf's.
fn status(message: &[u8]) -> Option<u64> {
    let mut rest = message;
    let mut status = 0;
    while !rest.is_empty() {
        let (key, after) = varint(rest)?;
        rest = match key & 7 {
            0 => {
                let (value, after) = varint(after)?;
                if key >> 3 == 1 {
                    status = value;
                }
                after
            }
            1 => after.get(8..)?,
            2 => {
                let (length, after) = varint(after)?;
                after.get(usize::try_from(length).ok()?..)?
            }
            5 => after.get(4..)?,
            _ => return None,
        };
    }
    Some(status)
}

fn varint(bytes: &[u8]) -> Option<(u64, &[u8])> {
    let mut value = 0_u64;
    for (at, byte) in bytes.iter().take(MAX_VARINT_BYTES).enumerate() {
        value |= u64::from(byte & 0x7f).checked_shl(u32::try_from(at).ok()? * 7)?;
        if byte & 0x80 == 0 {
            return Some((value, &bytes[at + 1..]));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_names_its_service() {
        assert!(question("").is_empty());
        assert_eq!(question("a.B"), b"\x0a\x03a.B");
        let long = "x".repeat(300);
        assert_eq!(question(&long)[..3], [0x0a, 0xac, 0x02]);
    }

    #[test]
    fn a_status_is_found_whatever_stands_around_it_and_no_bytes_panic() {
        assert_eq!(status(b""), Some(0));
        assert_eq!(status(b"\x08\x01"), Some(1));
        assert_eq!(
            status(b"\x12\x02hi\x08\x02\x1d\0\0\0\0\x21\0\0\0\0\0\0\0\0"),
            Some(2)
        );
        for bad in [
            &b"\x08"[..],
            b"\x12\x05hi",
            b"\x0b",
            b"\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff",
        ] {
            assert_eq!(status(bad), None, "{bad:?}");
        }
    }
}
