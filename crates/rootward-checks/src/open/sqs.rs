//! A queue of SQS, or of what speaks like it: that it is there, and how much is in it.

use std::sync::Arc;

use bytes::Bytes;
use http::header::CONTENT_TYPE;
use http::{HeaderName, HeaderValue};
use rootward::{Check, Depth, ErrorCategory, Failure, Outcome, Reason, Unlabelled};
use rootward_fetch::Answer;
use serde_json::{Value, json};

use super::Unusable;
use super::aws::{AskingSigned, AwsSettings};
use super::http::{json as read, with_certificate};
use crate::asking::of_status;

/// Which queue, and how much in it is too much.
///
/// ```
/// use rootward_checks::open::{AwsSettings, SqsSettings};
///
/// let aws = AwsSettings::new("https://sqs.eu-central-1.amazonaws.com", "eu-central-1", "AKIA", "from a file");
/// let settings = SqsSettings {
///     warn_above: Some(1_000),
///     fail_above: Some(50_000),
///     ..SqsSettings::new(aws, "https://sqs.eu-central-1.amazonaws.com/123456789012/mails")
/// };
/// ```
#[derive(Debug, Clone)]
pub struct SqsSettings {
    /// Where to ask, and whose key signs.
    pub aws: AwsSettings,
    /// The URL by which SQS knows the queue. It is a name: what is asked is the endpoint.
    pub queue_url: String,
    /// Degraded when more messages than this wait.
    pub warn_above: Option<u64>,
    /// Down when more messages than this wait.
    pub fail_above: Option<u64>,
}

impl SqsSettings {
    /// However many messages wait.
    pub fn new(aws: AwsSettings, queue_url: impl Into<String>) -> Self {
        Self {
            aws,
            queue_url: queue_url.into(),
            warn_above: None,
            fail_above: None,
        }
    }
}

/// Asks for `ApproximateNumberOfMessages` of a queue (GetQueueAttributes, signed, in the JSON protocol).
///
/// | what happens | result |
/// | --- | --- |
/// | the queue is there, and not too much waits in it | up |
/// | more than `warn_above` messages wait | degraded, `resource_exhausted`, with the number |
/// | more than `fail_above` messages wait | down, `resource_exhausted`, with the number |
/// | the queue is not there | down, `not_found` |
/// | the key is unknown, the signature or the clock here is wrong, or the key may not | down, `auth` |
/// | too many requests | down, `rate_limited` |
/// | another status | as [`http()`](crate::http) |
/// | an answer without the number | down, `protocol` |
/// | nothing within the time limit, no connection, TLS | as [`http()`](crate::http) |
///
/// A run costs one request, which AWS charges: at 10 s a quarter of a million a month. The key needs
/// `sqs:GetQueueAttributes` for the queue and nothing else. The number is approximate, and messages in flight are not in
/// it. It does not prove that a message can be sent or received.
///
/// # Errors
/// When the endpoint cannot be asked, or the warning would come after the failure.
///
/// ```
/// use rootward_checks::open::{self, AwsSettings, SqsSettings};
///
/// let aws = AwsSettings::new("http://queues:9324", "us-east-1", "cart", "hunter2");
/// let settings = SqsSettings::new(aws, "http://queues:9324/000000000000/mails");
/// let check = open::sqs("mails", settings)?.soft(); // http://queues:9324/000000000000/mails
/// # Ok::<(), open::Unusable>(())
/// ```
#[expect(
    clippy::needless_pass_by_value,
    reason = "settings are given away, as with every kind"
)]
pub fn sqs(name: impl Into<String>, settings: SqsSettings) -> Result<Check<Unlabelled>, Unusable> {
    if let (Some(warn), Some(fail)) = (settings.warn_above, settings.fail_above)
        && warn > fail
    {
        return Err(Unusable::because(&[
            "the warning would come after the failure",
        ]));
    }
    // Read as a URL, so that what is shown holds no user and no query.
    let queue = rootward_fetch::Target::parse(&plain(&settings.queue_url))?;
    let endpoint = settings.aws.target("/")?;
    let identity = endpoint.with_path(queue.path())?.to_string();
    let asking = Arc::new(AskingSigned::new(endpoint, settings.aws.signer("sqs")?));
    let warn_before = settings.aws.warn_before;
    let body = json!({
        "QueueUrl": settings.queue_url,
        "AttributeNames": ["ApproximateNumberOfMessages"],
    });
    let body = Bytes::from(body.to_string());
    let (warn, fail) = (settings.warn_above, settings.fail_above);
    let check = Check::with_context(name, move |context| {
        let (asking, body) = (Arc::clone(&asking), body.clone());
        async move {
            let headers = [
                (
                    CONTENT_TYPE,
                    HeaderValue::from_static("application/x-amz-json-1.0"),
                ),
                (
                    HeaderName::from_static("x-amz-target"),
                    HeaderValue::from_static("AmazonSQS.GetQueueAttributes"),
                ),
            ];
            let answer = asking.ask(&context, &headers, Some(body)).await?;
            let outcome = judge(messages(&answer)?, warn, fail)?;
            Ok::<_, Failure>(with_certificate(&answer, outcome, warn_before))
        }
    });
    let check = check.kind("sqs").depth(Depth::Query);
    Ok(check.target(identity))
}

/// The URL of a queue is read for its path alone, so its scheme does not matter.
fn plain(url: &str) -> String {
    match url.split_once("://") {
        Some((scheme, rest)) if scheme.eq_ignore_ascii_case("https") => format!("http://{rest}"),
        _ => url.to_owned(),
    }
}

fn messages(answer: &Answer) -> Result<u64, Failure> {
    if answer.status != 200 {
        return Err(refused(answer));
    }
    let body = read(&answer.body)?;
    let number = body.pointer("/Attributes/ApproximateNumberOfMessages");
    number
        .and_then(Value::as_str)
        .and_then(|number| number.parse().ok())
        .ok_or_else(|| {
            Failure::new(ErrorCategory::Protocol).because("the answer has no number of messages")
        })
}

/// Most refusals are a 400 with a type in the body (`com.amazonaws.sqs#QueueDoesNotExist`).
fn refused(answer: &Answer) -> Failure {
    let body = serde_json::from_slice::<Value>(&answer.body).unwrap_or_default();
    let said = body
        .get("__type")
        .and_then(Value::as_str)
        .unwrap_or_default();
    let (category, reason) = match said.rsplit('#').next().unwrap_or_default() {
        "QueueDoesNotExist" | "AWS.SimpleQueueService.NonExistentQueue" => {
            (ErrorCategory::NotFound, "the queue does not exist")
        }
        "InvalidClientTokenId" | "UnrecognizedClientException" | "InvalidAccessKeyId" => {
            (ErrorCategory::Auth, "the access key is not known")
        }
        "SignatureDoesNotMatch" | "InvalidSignatureException" | "IncompleteSignature" => {
            (ErrorCategory::Auth, "the signature is refused")
        }
        "ExpiredTokenException" | "RequestExpired" => (
            ErrorCategory::Auth,
            "the key has expired, or the clock here is wrong",
        ),
        "AccessDenied" | "AccessDeniedException" | "InvalidSecurity" => {
            (ErrorCategory::Auth, "the key may not")
        }
        "ThrottlingException" | "RequestThrottled" => {
            return Failure::new(ErrorCategory::RateLimited);
        }
        _ => return of_status(answer.status),
    };
    Failure::new(category).because(reason)
}

fn judge(messages: u64, warn: Option<u64>, fail: Option<u64>) -> Result<Outcome, Failure> {
    let waiting = || {
        let reason = Reason::new("messages waiting:").number(messages);
        Failure::new(ErrorCategory::ResourceExhausted).because(reason)
    };
    if fail.is_some_and(|limit| messages > limit) {
        return Err(waiting());
    }
    if warn.is_some_and(|limit| messages > limit) {
        return Ok(Outcome::Degraded(waiting()));
    }
    Ok(Outcome::Up)
}
