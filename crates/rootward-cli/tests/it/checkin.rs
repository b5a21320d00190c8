//! `rootward checkin`: a job tells the aggregator how it went.

use std::net::{TcpListener, TcpStream};
use std::time::Instant;

use rustix::process::Signal;

use crate::program::{Running, SOON, Scratch, pause, rootward, run};

fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap().port()
}

/// Waits until the aggregator shows it.
fn shows(url: &str, status: &str) {
    let deadline = Instant::now() + SOON;
    let shown = format!("  {status}");
    loop {
        let mut asked = rootward(&["status", "--url", url]);
        let out = String::from_utf8(asked.output().unwrap().stdout).unwrap();
        if out.contains(&shown) {
            return;
        }
        assert!(Instant::now() < deadline, "never shown as{shown}: {out}");
        pause();
    }
}

#[test]
fn a_job_checks_in_and_the_aggregator_shows_how_it_went() {
    let scratch = Scratch::new();
    let port = free_port();
    let text = format!(
        "\
listen: {{internal: {{bind: \"127.0.0.1:{port}\"}}}}
services: [{{name: nightly, health: {{push: true}}}}]
"
    );
    let file = scratch.file("rootward.yaml", &text);
    let running = Running::start(&mut rootward(&["serve", "--config", &file]));
    let deadline = Instant::now() + SOON;
    while TcpStream::connect(("127.0.0.1", port)).is_err() {
        assert!(Instant::now() < deadline, "nobody listens on {port}");
        pause();
    }
    let url = format!("http://127.0.0.1:{port}");
    for (word, shown) in [
        ("start", "starting"),
        ("fail", "unhealthy"),
        ("ok", "healthy"),
    ] {
        let ended = run(&[
            "checkin", "nightly", "--status", word, "--ttl", "1h", "--url", &url,
        ]);
        assert_eq!(ended.with(0).out, "");
        shows(&url, shown);
    }
    // A job that ends as soon as it has begun: of more than five reports a second the end is not lost.
    for word in ["start", "fail", "start", "fail"] {
        run(&["checkin", "nightly", "--status", word, "--url", &url]).with(0);
    }
    shows(&url, "unhealthy");
    shows(&url, "nightly#job has failed\n");
    shows(
        &url,
        "nightly#job itself reports job down: the job says that it failed",
    );
    let unknown = run(&["checkin", "nigthly", "--url", &url]).with(2);
    insta::assert_snapshot!(unknown.err, @r"
    rootward: not taken: nigthly is no service that sends reports: write `health: {push: true}` for it
              in the configuration
    ");
    running.signal(Signal::TERM);
    running.end(SOON).with(0);
}

#[test]
fn without_an_aggregator_a_job_is_told_so() {
    let url = format!("http://127.0.0.1:{}", free_port());
    let ended = run(&["checkin", "nightly", "--url", &url]).with(4);
    assert!(ended.err.contains("connection refused"), "{}", ended.err);
    let ended = run(&["checkin", "no name", "--url", &url]).with(2);
    assert!(ended.err.contains("that is no name"), "{}", ended.err);
}
