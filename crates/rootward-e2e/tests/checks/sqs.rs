//! A queue, at a real moto that judges signatures, and at a fake for what moto never says.

use std::net::SocketAddr;

use rootward::{Check, Unlabelled};
use rootward_checks::open::{self, AwsSettings, SqsSettings};
use rootward_e2e::Error;

use crate::every::{
    LONG, PASSWORD, USER, alone, beside_others, leaves_nothing, run, survives_refusal,
    survives_silence,
};
use crate::moto::Moto;
use crate::scripted::{Scripted, answer};

fn check(settings: SqsSettings) -> Check<Unlabelled> {
    open::sqs("mails", settings).expect("settings")
}

async fn check_at(address: SocketAddr) -> Check<Unlabelled> {
    let aws = AwsSettings::new(format!("http://{address}"), "us-east-1", USER, PASSWORD);
    check(SqsSettings::new(aws, format!("http://{address}/000/mails")))
}

#[tokio::test]
async fn a_queue_that_says_nothing_costs_one_time_limit_and_no_connection() {
    let _turn = beside_others().await;
    survives_silence(check_at).await;
}

#[tokio::test]
async fn a_queue_that_is_not_there_is_said_to_refuse() {
    let _turn = beside_others().await;
    survives_refusal(check_at).await;
}

#[tokio::test]
async fn a_queue_is_up_until_too_much_waits_in_it() -> Result<(), Error> {
    let _turn = beside_others().await;
    let moto = Moto::start().await?;
    let of = |warn_above, fail_above| {
        check(SqsSettings {
            warn_above,
            fail_above,
            ..SqsSettings::new(moto.of("may"), moto.queue())
        })
    };
    assert_eq!(run(&of(None, None), LONG).await, "up");
    assert_eq!(run(&of(Some(2), Some(3)), LONG).await, "up");
    assert_eq!(
        run(&of(Some(1), Some(3)), LONG).await,
        "degraded, resource_exhausted, messages waiting: 2"
    );
    assert_eq!(
        run(&of(None, Some(1)), LONG).await,
        "down, resource_exhausted, messages waiting: 2"
    );
    let gone = SqsSettings::new(moto.of("may"), format!("{}-gone", moto.queue()));
    assert_eq!(
        run(&check(gone), LONG).await,
        "down, not_found, the queue does not exist"
    );
    let may_not = SqsSettings::new(moto.of("may-not"), moto.queue());
    let seen = run(&check(may_not), LONG).await;
    assert!(seen.starts_with("down, auth, "), "{seen}");
    let wrong_secret = AwsSettings {
        secret_key: PASSWORD.into(),
        ..moto.of("may")
    };
    let seen = run(&check(SqsSettings::new(wrong_secret, moto.queue())), LONG).await;
    assert!(seen.starts_with("down, auth, "), "{seen}");
    Ok(())
}

#[tokio::test]
async fn a_queue_is_seen_frozen_and_killed_and_comes_back_to_the_same_check() -> Result<(), Error> {
    let _turn = beside_others().await;
    let mut moto = Moto::start().await?;
    let check = check(SqsSettings::new(moto.of("may"), moto.queue()));
    moto.is_survived(&check).await
}

#[tokio::test]
async fn a_thousand_looks_at_a_queue_leave_nothing() -> Result<(), Error> {
    let _turn = alone().await;
    let moto = Moto::start().await?;
    leaves_nothing(&check(SqsSettings::new(moto.of("may"), moto.queue())), "up").await;
    Ok(())
}

/// Types of errors as AWS documents them
/// (<https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/CommonErrors.html>).
#[tokio::test]
async fn what_a_fake_queue_refuses_has_its_category() {
    let _turn = beside_others().await;
    let queue = Scripted::plain("").await;
    let check = check_at(queue.address).await;
    for (kind, expected) in [
        (
            "com.amazonaws.sqs#QueueDoesNotExist",
            "down, not_found, the queue does not exist",
        ),
        (
            "com.amazon.coral.service#UnrecognizedClientException",
            "down, auth, the access key is not known",
        ),
        (
            "InvalidSignatureException",
            "down, auth, the signature is refused",
        ),
        (
            "com.amazon.coral.service#ExpiredTokenException",
            "down, auth, the key has expired, or the clock here is wrong",
        ),
        (
            "com.amazon.coral.service#AccessDeniedException",
            "down, auth, the key may not",
        ),
        (
            "com.amazonaws.sqs#RequestThrottled",
            "down, rate_limited, rate limited",
        ),
        ("planted", "down, http_status, HTTP status 400"),
    ] {
        let body = format!(r#"{{"__type":"{kind}","message":"planted"}}"#);
        queue.answers(answer("400 Bad Request", &body));
        assert_eq!(run(&check, LONG).await, expected);
    }
    queue.answers(answer("200 OK", "{}"));
    assert_eq!(
        run(&check, LONG).await,
        "down, protocol, the answer has no number of messages"
    );
    queue.answers(answer("503 Busy", "planted"));
    assert_eq!(
        run(&check, LONG).await,
        "down, http_status, HTTP status 503"
    );
    let asked = queue.asked();
    let first = &asked[0];
    assert!(first.starts_with("POST / HTTP/1.1\r\n"), "{first}");
    assert!(
        first.contains("\r\nx-amz-target: AmazonSQS.GetQueueAttributes\r\n"),
        "{first}"
    );
    assert!(
        first.contains(r#""AttributeNames":["ApproximateNumberOfMessages"]"#),
        "{first}"
    );
    assert!(!first.contains(PASSWORD), "the secret key is never sent");
}
