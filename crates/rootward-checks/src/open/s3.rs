//! A bucket of S3, or of what speaks like it.

use std::sync::Arc;

use rootward::{Check, Depth, Failure, Outcome, Unlabelled};

use super::Unusable;
use super::aws::{AskingSigned, AwsSettings};
use super::http::with_certificate;
use crate::asking::of_status;

/// Asks for a bucket with a signed `HEAD /BUCKET` (HeadBucket), at S3, MinIO, Ceph, or another that speaks like it.
///
/// | what happens | result |
/// | --- | --- |
/// | the bucket is there, and the key may list it | up |
/// | the same, and the certificate of the server ends soon | degraded, `tls` |
/// | 401, 403: the key is unknown, the signature is wrong, the clock here is wrong, or the key may not | down, `auth` |
/// | 404 | down, `not_found` |
/// | 301: the bucket is in another region | down, `redirect` |
/// | 429 | down, `rate_limited` |
/// | another status (S3 says 503 for too many requests) | down, `http_status`, with the number |
/// | nothing within the time limit, no connection, TLS | as [`http()`](crate::http) |
///
/// HEAD has no body, so a refusal cannot be told apart further. The bucket stands in the path, which every
/// implementation understands and AWS goes on to support. A run costs one request, which AWS charges as a GET: at 10 s
/// a quarter of a million a month. The key needs `s3:ListBucket` for the bucket and nothing else. It does not prove
/// that objects can be read or written.
///
/// # Errors
/// When the endpoint cannot be asked, or the name is not one that a bucket may have.
///
/// ```
/// use rootward_checks::open::{self, AwsSettings};
///
/// let settings = AwsSettings::new("http://minio:9000", "us-east-1", "cart", "hunter2");
/// let check = open::s3("images", "images", settings)?.soft(); // http://minio:9000/images
/// # Ok::<(), open::Unusable>(())
/// ```
#[expect(
    clippy::needless_pass_by_value,
    reason = "settings are given away, as with every kind"
)]
pub fn s3(
    name: impl Into<String>,
    bucket: &str,
    settings: AwsSettings,
) -> Result<Check<Unlabelled>, Unusable> {
    // https://docs.aws.amazon.com/AmazonS3/latest/userguide/bucketnamingrules.html, and what was allowed before.
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
    if !(3..=255).contains(&bucket.len()) || !bucket.bytes().all(allowed) {
        return Err(Unusable::because(&[
            "a bucket has 3 to 255 letters, digits and - . _",
        ]));
    }
    let target = settings.target(&format!("/{bucket}"))?;
    let asking = Arc::new(AskingSigned::new(target.clone(), settings.signer("s3")?));
    let warn_before = settings.warn_before;
    let check = Check::with_context(name, move |context| {
        let asking = Arc::clone(&asking);
        async move {
            let answer = asking.ask(&context, &[], None).await?;
            match answer.status {
                200..=299 => Ok(with_certificate(&answer, Outcome::Up, warn_before)),
                status => Err::<Outcome, Failure>(of_status(status)),
            }
        }
    });
    let check = check.kind("s3").depth(Depth::Query);
    Ok(check.target(target.to_string()))
}
