//! A queue of SQS, or of what speaks like it.

use rootward_config::agent::{Key, Shape};

use super::Kind;
use super::http::{ROOTS, WARN_DAYS};
use super::s3::{ACCESS_KEY, ENDPOINT, REGION, SECRET_KEY, SESSION_TOKEN};

pub(super) static KIND: Kind = Kind {
    name: "sqs",
    keys: &[
        ENDPOINT,
        Key::new("queue_url", Shape::Text)
            .required("write the URL by which SQS knows the queue")
            .secret(),
        REGION,
        ACCESS_KEY,
        SECRET_KEY,
        SESSION_TOKEN,
        ROOTS,
        WARN_DAYS,
        Key::new("warn_above", Shape::Number(0, u64::MAX)),
        Key::new("fail_above", Shape::Number(0, u64::MAX)),
    ],
    example: "{endpoint: http://queues:9324, queue_url: http://queues:9324/000000000000/mails, region: us-east-1, access_key: {env: SQS_KEY}, secret_key: {file: /run/secrets/sqs}}",
    build: built!("sqs", build),
};

#[cfg(feature = "sqs")]
fn build(
    name: &str,
    settings: &rootward_config::agent::Settings,
) -> Result<rootward::Check<rootward::Unlabelled>, super::Unfit> {
    use rootward_checks::open::{self, SqsSettings};

    let mut queue = SqsSettings::new(super::s3::aws(settings), settings.text("queue_url"));
    queue.warn_above = settings.number("warn_above");
    queue.fail_above = settings.number("fail_above");
    Ok(open::sqs(name, queue)?)
}
