//! A token is made once, and its digest is the one that services compute.

use std::time::{Duration, SystemTime};

use rootward::{Token, TokenDigest};

use crate::program::run;

fn made(arguments: &[&str]) -> (Token, String) {
    let ended = run(arguments).with(0);
    assert_eq!(ended.err, "");
    let lines: Vec<_> = ended.out.lines().collect();
    let [token, digest] = lines[..] else {
        panic!("two lines, not {}", ended.out);
    };
    let token = token
        .strip_prefix("token   ")
        .expect("the token comes first");
    let digest = digest
        .strip_prefix("digest  ")
        .expect("the digest comes second");
    let token = Token::parse(token.to_owned()).expect("a token");
    (token, digest.to_owned())
}

#[test]
fn a_token_and_its_digest_are_printed_and_no_two_are_the_same() {
    let (token, digest) = made(&["token"]);
    assert_eq!(digest, token.digest().to_string());
    let (another, _) = made(&["token"]);
    assert!(token.expose() != another.expose());
}

#[test]
fn an_expiry_stands_behind_the_digest() {
    let days = Duration::from_secs(90 * 24 * 60 * 60);
    let before = SystemTime::now() + days;
    let (token, digest) = made(&["token", "--days", "90"]);
    let after = SystemTime::now() + days;
    assert!(digest.parse::<TokenDigest>().is_ok(), "{digest}");
    let (plain, time) = digest.split_once(' ').expect("a time");
    assert_eq!(plain, token.digest().to_string());
    // Such times sort as texts.
    let written = |at| {
        let digest = token.digest().expiring(at).to_string();
        digest.split_once(' ').expect("a time").1.to_owned()
    };
    assert!(
        *written(before) <= *time && *time <= *written(after),
        "{time}"
    );
    let ended = run(&["token", "--days", "91"]).with(2);
    assert!(ended.err.contains("1..=90"), "{}", ended.err);
}
