//! A bucket of S3, or of what speaks like it.

use rootward_config::agent::{Key, Shape};

use super::Kind;
use super::http::{ROOTS, WARN_DAYS};

pub(super) static KIND: Kind = Kind {
    name: "s3",
    keys: &[
        ENDPOINT,
        Key::new("bucket", Shape::Text).required("write the name of the bucket"),
        REGION,
        ACCESS_KEY,
        SECRET_KEY,
        SESSION_TOKEN,
        ROOTS,
        WARN_DAYS,
    ],
    example: "{endpoint: http://minio:9000, bucket: images, region: us-east-1, access_key: {env: S3_KEY}, secret_key: {file: /run/secrets/s3}}",
    build: built!("s3", build),
};

pub(super) const ENDPOINT: Key = Key::new("endpoint", Shape::Text)
    .required("write it like https://s3.eu-central-1.amazonaws.com, without a path")
    .secret();
pub(super) const REGION: Key =
    Key::new("region", Shape::Text).required("write the region, such as eu-central-1");
pub(super) const ACCESS_KEY: Key = Key::new("access_key", Shape::Text)
    .required("write the name of the key, or {env: AWS_ACCESS_KEY_ID}")
    .secret();
pub(super) const SECRET_KEY: Key = Key::new("secret_key", Shape::Text)
    .required("write {env: AWS_SECRET_ACCESS_KEY}, or a file")
    .secret();
pub(super) const SESSION_TOKEN: Key = Key::new("session_token", Shape::Text).secret();

#[cfg(feature = "s3")]
fn build(
    name: &str,
    settings: &rootward_config::agent::Settings,
) -> Result<rootward::Check<rootward::Unlabelled>, super::Unfit> {
    let bucket = settings.text("bucket");
    Ok(rootward_checks::open::s3(name, bucket, aws(settings))?)
}

/// Where, and whose key signs.
#[cfg(any(feature = "s3", feature = "sqs"))]
pub(super) fn aws(
    settings: &rootward_config::agent::Settings,
) -> rootward_checks::open::AwsSettings {
    let text = |key| settings.text(key);
    let mut aws = rootward_checks::open::AwsSettings::new(
        text("endpoint"),
        text("region"),
        text("access_key"),
        text("secret_key"),
    );
    aws.session_token = settings.optional_text("session_token").map(Into::into);
    aws.roots = super::http::roots(settings);
    if let Some(warn) = super::http::days(settings, "warn_days") {
        aws.warn_before = warn;
    }
    aws
}
