//! Whom to trust: this machine's roots, or those of a text or a file.

use std::process::Command;

use rootward_fetch::{MAX_ROOTS_BYTES, Request, Target, Tls, fetch};
use tempfile::TempDir;

use crate::authority::{Authority, NOW};
use crate::server::{PLENTY, Server, within};

/// A configuration that is read again must not close every connection.
#[test]
fn the_same_roots_read_twice_are_the_same_and_others_are_not() {
    let (one, other) = (Authority::new(), Authority::named("another authority"));
    let target = |tls: &Tls| Target::parse_with("https://orders/", tls).expect("a URL");
    assert_eq!(target(&one.trusted()), target(&one.trusted()));
    assert_ne!(target(&one.trusted()), target(&other.trusted()));
}

#[test]
fn roots_that_cannot_be_used_are_refused_with_a_sentence() {
    let directory = TempDir::new().unwrap();
    let long = directory.path().join("long.pem");
    let file = std::fs::File::create(&long).unwrap();
    file.set_len(MAX_ROOTS_BYTES + 1).unwrap();
    let sentences = [
        Tls::trusting(b""),
        Tls::trusting(b"hunter2"),
        Tls::trusting(b"-----BEGIN CERTIFICATE-----\nhunter2!\n-----END CERTIFICATE-----\n"),
        Tls::trusting(b"-----BEGIN CERTIFICATE-----\naHVudGVyMg==\n-----END CERTIFICATE-----\n"),
        Tls::trusting_file(&directory.path().join("hunter2.pem")),
        Tls::trusting_file(directory.path()),
        Tls::trusting_file(&long),
    ]
    .map(|tls| tls.unwrap_err().to_string());
    insta::assert_snapshot!(sentences.join("\n"), @"
there is no certificate among the root certificates
there is no certificate among the root certificates
the root certificates are not in the form of PEM
one of the root certificates is none
the file of root certificates cannot be read
the file of root certificates cannot be read
the file of root certificates has more than 4 MiB
");
}

#[tokio::test]
async fn a_file_of_roots_is_trusted() {
    let authority = Authority::new();
    let directory = TempDir::new().unwrap();
    let path = directory.path().join("ca.pem");
    std::fs::write(&path, authority.pem()).unwrap();
    let server = Server::start(authority.server("orders", NOW)).await;
    let target = server.target(&Tls::trusting_file(&path).unwrap());
    fetch(&Request::get(&target), &within(PLENTY))
        .await
        .unwrap();
}

/// The environment of a process is its own, so the question is asked by another one.
#[test]
fn this_machine_s_roots_are_those_that_its_variables_name() {
    let directory = TempDir::new().unwrap();
    let path = directory.path().join("ca.pem");
    std::fs::write(&path, Authority::new().pem()).unwrap();
    let empty = directory.path().join("empty.pem");
    std::fs::write(&empty, "").unwrap();
    for (file, passes) in [(&path, true), (&empty, false)] {
        let status = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "roots::roots_of_this_machine", "--ignored"])
            .env("SSL_CERT_FILE", file)
            .env_remove("SSL_CERT_DIR")
            .output()
            .unwrap()
            .status;
        assert_eq!(status.success(), passes, "{}", file.display());
    }
}

#[test]
#[ignore = "another test runs it with an environment of its own"]
fn roots_of_this_machine() {
    Tls::system().unwrap();
}

#[test]
fn a_target_says_that_it_is_asked_over_tls() {
    let tls = Authority::new().trusted();
    for (url, port, shown, authority) in [
        (
            "https://orders/a?b=s3cret",
            443,
            "https://orders/a",
            "orders",
        ),
        ("HTTPS://orders:443", 443, "https://orders/", "orders"),
        ("https://[::1]:80/", 80, "https://[::1]:80/", "[::1]:80"),
        ("http://orders/", 80, "http://orders/", "orders"),
        (
            "http://orders:443/",
            443,
            "http://orders:443/",
            "orders:443",
        ),
    ] {
        let target = Target::parse_with(url, &tls).unwrap();
        assert_eq!(target.port(), port, "{url}");
        assert_eq!(
            (target.to_string(), target.authority()),
            (shown.to_owned(), authority.to_owned())
        );
        assert_eq!(target, target.clone());
    }
    for (url, sentence) in [
        (
            "https://alice:s3cret@orders/",
            "a URL may not hold a user or a password; take them out of it",
        ),
        ("https://-_-/", "the host cannot be a name in a certificate"),
        ("ftp://orders/", "only http:// URLs can be asked"),
    ] {
        let refused = Target::parse_with(url, &tls).unwrap_err();
        assert_eq!(refused.to_string(), sentence);
    }
}
