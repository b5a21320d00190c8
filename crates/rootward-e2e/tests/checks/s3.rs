//! A bucket, at a real moto that judges signatures.

use std::net::SocketAddr;

use rootward::{Check, Unlabelled};
use rootward_checks::open::{self, AwsSettings};
use rootward_e2e::Error;

use crate::every::{
    LONG, PASSWORD, USER, alone, beside_others, leaves_nothing, run, survives_refusal,
    survives_silence,
};
use crate::moto::Moto;
use crate::scripted::{Scripted, answer};

fn check(bucket: &str, settings: AwsSettings) -> Check<Unlabelled> {
    open::s3("images", bucket, settings).expect("settings")
}

async fn check_at(address: SocketAddr) -> Check<Unlabelled> {
    let settings = AwsSettings::new(format!("http://{address}"), "us-east-1", USER, PASSWORD);
    check("images", settings)
}

#[tokio::test]
async fn a_store_that_says_nothing_costs_one_time_limit_and_no_connection() {
    let _turn = beside_others().await;
    survives_silence(check_at).await;
}

#[tokio::test]
async fn a_store_that_is_not_there_is_said_to_refuse() {
    let _turn = beside_others().await;
    survives_refusal(check_at).await;
}

#[tokio::test]
async fn a_bucket_is_up_for_who_may_see_it_and_for_nobody_else() -> Result<(), Error> {
    let _turn = beside_others().await;
    let moto = Moto::start().await?;
    assert_eq!(run(&check("images", moto.of("may")), LONG).await, "up");
    assert_eq!(
        run(&check("no-such-bucket", moto.of("may")), LONG).await,
        "down, not_found, HTTP status 404"
    );
    let refused = "down, auth, HTTP status 403";
    assert_eq!(
        run(&check("images", moto.of("may-not")), LONG).await,
        refused
    );
    let wrong_secret = AwsSettings {
        secret_key: PASSWORD.into(),
        ..moto.of("may")
    };
    assert_eq!(run(&check("images", wrong_secret), LONG).await, refused);
    let unknown = AwsSettings::new(moto.endpoint(), "us-east-1", USER, PASSWORD);
    assert_eq!(run(&check("images", unknown), LONG).await, refused);
    Ok(())
}

#[tokio::test]
async fn a_store_is_seen_frozen_and_killed_and_comes_back_to_the_same_check() -> Result<(), Error> {
    let _turn = beside_others().await;
    let mut moto = Moto::start().await?;
    let check = check("images", moto.of("may"));
    moto.is_survived(&check).await
}

#[tokio::test]
async fn a_thousand_looks_at_a_bucket_leave_nothing() -> Result<(), Error> {
    let _turn = alone().await;
    let moto = Moto::start().await?;
    leaves_nothing(&check("images", moto.of("may")), "up").await;
    Ok(())
}

#[tokio::test]
async fn a_fake_store_that_is_in_another_region_or_too_busy_is_said_to_be() {
    let _turn = beside_others().await;
    let store = Scripted::plain("").await;
    let check = check_at(store.address).await;
    for (status, expected) in [
        ("200 OK", "up"),
        ("301 Moved Permanently", "down, redirect, HTTP status 301"),
        ("400 Bad Request", "down, http_status, HTTP status 400"),
        ("429 Slow Down", "down, rate_limited, HTTP status 429"),
        ("503 Slow Down", "down, http_status, HTTP status 503"),
    ] {
        store.answers(answer(status, ""));
        assert_eq!(run(&check, LONG).await, expected);
    }
    for text in store.asked() {
        assert!(text.starts_with("HEAD /images HTTP/1.1\r\n"), "{text}");
        assert!(!text.contains(PASSWORD), "the secret key is never sent");
    }
}

#[test]
fn settings_of_no_bucket_get_a_sentence_without_them() {
    for (bucket, endpoint, region) in [
        ("planted/..", "http://store", "eu"),
        ("pl", "http://store", "eu"),
        ("planted", "http://store/planted", "eu"),
        ("planted", "planted", "eu"),
        ("planted", "http://store", "planted region"),
    ] {
        let settings = AwsSettings::new(endpoint, region, USER, PASSWORD);
        let error = open::s3("images", bucket, settings).err();
        let sentence = error
            .map(|error| error.to_string())
            .unwrap_or_else(|| panic!("{bucket} was taken"));
        assert!(!sentence.contains("planted"), "{sentence}");
    }
}
