//! `rootward serve`: starts nothing on a bad configuration, says why it cannot start, and stops when it is asked to.

use std::io::Write;
use std::net::{TcpListener, TcpStream};
use std::time::{Duration, Instant};

use rustix::process::Signal;

use crate::aggregator::Aggregator;
use crate::program::{Running, SOON, Scratch, pause, rootward, run};

/// A configuration with one service that does not run.
fn configuration(port: u16) -> String {
    format!(
        "\
aggregator: {{environment: test}}
defaults: {{health: {{interval: 1s, timeout: 500ms}}}}
listen: {{internal: {{bind: \"127.0.0.1:{port}\"}}}}
services: [{{name: front, health: {{url: http://127.0.0.1:9}}}}]
"
    )
}

/// A port that was free a moment ago.
fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap()
        .port()
}

/// Starts it on a free port and waits until it answers.
fn serve(scratch: &Scratch) -> (Running, u16) {
    serve_with(scratch, configuration)
}

/// The same, with what the configuration is on its port.
fn serve_with(scratch: &Scratch, configuration: impl Fn(u16) -> String) -> (Running, u16) {
    let port = free_port();
    let file = scratch.file("rootward.yaml", &configuration(port));
    let running = Running::start(&mut rootward(&["serve", "--config", &file]));
    let deadline = Instant::now() + SOON;
    while TcpStream::connect(("127.0.0.1", port)).is_err() {
        assert!(
            Instant::now() < deadline,
            "nobody listens on {port}: {:?}",
            running.end(Duration::ZERO)
        );
        pause();
    }
    (running, port)
}

#[test]
fn a_bad_configuration_starts_nothing() {
    let scratch = Scratch::new();
    let port = free_port();
    let text = configuration(port)
        .replace("500ms", "5")
        .replace("name: front", "name: front, ownr: me");
    let file = scratch.file("rootward.yaml", &text);
    let ended = run(&["serve", "--config", &file]).with(2);
    insta::assert_snapshot!(scratch.without(&ended.err), @r#"
    rootward.yaml:2:44: defaults.health.timeout: "5" has no unit; write "5s" or "500ms"
    rootward.yaml:4:26: services[0]: unknown key `ownr`; did you mean `owner`?
    rootward: the configuration has 2 problems; nothing was started
    "#);
    assert!(TcpListener::bind(("127.0.0.1", port)).is_ok(), "it listens");
}

#[test]
fn a_missing_file_gets_a_sentence() {
    let ended = run(&["serve", "--config", "no/such/rootward.yaml"]).with(2);
    assert_eq!(
        ended.err,
        "rootward: cannot read no/such/rootward.yaml: there is no such file\n"
    );
}

#[test]
fn a_port_in_use_gets_a_sentence() {
    let scratch = Scratch::new();
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port();
    let file = scratch.file("rootward.yaml", &configuration(port));
    let ended = run(&["serve", "--config", &file]).with(2);
    insta::assert_snapshot!(ended.err.replace(&port.to_string(), "PORT"), @"
    rootward: failed to listen on 127.0.0.1:PORT: address already in use
              stop what listens there, or write another address under listen.internal.bind
    ");
}

#[test]
fn it_says_where_it_is_answers_and_stops_on_sigterm() {
    let scratch = Scratch::new();
    let (running, port) = serve(&scratch);
    let url = format!("http://127.0.0.1:{port}");
    let status = run(&["status", "--url", &url]).with(1);
    assert!(status.out.contains("front"), "{}", status.out);
    let explained = run(&["explain", "front", "--url", &url]).with(0);
    assert!(
        explained.out.starts_with("front is unknown"),
        "{}",
        explained.out
    );

    running.signal(Signal::TERM);
    let ended = running.end(SOON).with(0);
    assert_eq!(
        ended.out, "",
        "everything that is said while serving goes to standard error"
    );
    assert!(
        ended.err.contains(&format!("page and API on {url}/")),
        "{}",
        ended.err
    );
    assert!(
        ended.err.contains("rootward: stopped after"),
        "{}",
        ended.err
    );
    assert!(
        TcpStream::connect(("127.0.0.1", port)).is_err(),
        "it still listens"
    );
}

#[test]
fn ctrl_c_stops_it_as_well() {
    let scratch = Scratch::new();
    let (running, _) = serve(&scratch);
    running.signal(Signal::INT);
    running.end(SOON).with(0);
}

#[test]
fn a_second_signal_does_not_wait_for_clients() {
    let scratch = Scratch::new();
    let (running, port) = serve(&scratch);
    // A client that asks and does not read is given 2 s to take its answers.
    let mut client = TcpStream::connect(("127.0.0.1", port)).unwrap();
    client
        .set_write_timeout(Some(Duration::from_millis(300)))
        .unwrap();
    let questions = b"GET /metrics HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n".repeat(1_000);
    let full = (0..1_000).find(|_| client.write_all(&questions).is_err());
    assert!(
        full.is_some(),
        "the server takes every question and drops the answers"
    );

    running.signal(Signal::TERM);
    let asked = Instant::now();
    // The first one was heard when nobody listens any more.
    while TcpStream::connect(("127.0.0.1", port)).is_ok() {
        assert!(asked.elapsed() < SOON, "it goes on listening");
        pause();
    }
    // On a machine too busy to get here in time, it has stopped by itself.
    let in_time = asked.elapsed() < Duration::from_secs(1);
    running.signal(Signal::INT);
    let ended = running.end(SOON);
    assert!(ended.code == Some(130) || !in_time, "{ended:?}");
}

/// Waits until the answer of `rootward status` has this, whatever its exit code is meanwhile.
fn status_says(url: &str, wanted: &str) {
    let deadline = Instant::now() + SOON;
    loop {
        let ended = run(&["status", "--url", url]);
        // Lines are broken where they are long.
        let words: Vec<&str> = ended.out.split_whitespace().collect();
        if words.join(" ").contains(wanted) {
            return;
        }
        assert!(Instant::now() < deadline, "no {wanted:?} in {}", ended.out);
        pause();
    }
}

#[test]
fn kf_044_a_changed_file_is_taken_up_and_a_wrong_one_is_refused_where_everybody_sees_it() {
    let scratch = Scratch::new();
    let (running, port) = serve(&scratch);
    let url = format!("http://127.0.0.1:{port}");
    let good = configuration(port);
    scratch.file("rootward.yaml", &good.replace("1s, timeout: 500ms", "5"));
    status_says(&url, "The changed configuration was refused");
    status_says(&url, "has no unit");
    status_says(&url, "front");
    let added = good.replace(
        "services: [",
        "services: [{name: added, health: {url: http://127.0.0.1:10}}, ",
    );
    scratch.file("rootward.yaml", &added);
    status_says(&url, "added");
    let status = run(&["status", "--url", &url]);
    assert!(
        !status.out.contains("configuration was refused"),
        "{}",
        status.out
    );
    // SIGHUP has it look at once, and ends nothing.
    running.signal(Signal::HUP);
    status_says(&url, "added");
    running.signal(Signal::TERM);
    let ended = running.end(SOON).with(0);
    for line in [
        "the changed configuration is refused",
        "the changed configuration is in force",
    ] {
        assert!(ended.err.contains(line), "{}", ended.err);
    }
}

/// Waits until what is explained of the service has this.
fn explain_says(url: &str, wanted: &str) {
    let deadline = Instant::now() + SOON;
    loop {
        let ended = run(&["explain", "front", "--url", url]);
        if ended.out.contains(wanted) {
            return;
        }
        assert!(Instant::now() < deadline, "no {wanted:?} in {}", ended.out);
        pause();
    }
}

#[test]
fn targets_in_a_file_are_followed_and_a_broken_file_keeps_the_last_good_ones() {
    let scratch = Scratch::new();
    let targets = scratch.file("front.json", r#"[{"targets": ["127.0.0.1:9"]}]"#);
    let (running, port) = serve_with(&scratch, |port| {
        let from_file = format!("{{targets: {{file: {targets}}}}}");
        configuration(port).replace("{url: http://127.0.0.1:9}", &from_file)
    });
    let url = format!("http://127.0.0.1:{port}");
    explain_says(&url, "127.0.0.1:9");

    scratch.file("front.json", r#"[{"targets": ["127.0.0.1:10"#);
    status_says(&url, "The changed configuration was refused");
    status_says(&url, "front.json");
    explain_says(&url, "127.0.0.1:9");

    scratch.file(
        "front.json",
        r#"[{"targets": ["127.0.0.1:9", "127.0.0.1:10"]}]"#,
    );
    explain_says(&url, "127.0.0.1:10");
    let status = run(&["status", "--url", &url]);
    assert!(!status.out.contains("was refused"), "{}", status.out);
    running.signal(Signal::TERM);
    running.end(SOON).with(0);
}

#[test]
fn a_file_of_roots_that_changes_is_read_again_and_a_broken_one_changes_nothing() {
    const ROOTS: &str = include_str!("../../../../fixtures/agents/secrets/ca.pem");
    let scratch = Scratch::new();
    let roots = scratch.file("ca.pem", ROOTS);
    let (running, port) = serve_with(&scratch, |port| {
        let secured = format!("{{url: https://127.0.0.1:9, roots: {roots}}}");
        configuration(port).replace("{url: http://127.0.0.1:9}", &secured)
    });
    let url = format!("http://127.0.0.1:{port}");
    scratch.file("ca.pem", "no certificate");
    status_says(&url, "The changed configuration was refused");
    status_says(&url, "ca.pem");
    scratch.file("ca.pem", &format!("{ROOTS}\n"));
    let deadline = Instant::now() + SOON;
    while run(&["status", "--url", &url]).out.contains("was refused") {
        assert!(Instant::now() < deadline, "it stays refused");
        pause();
    }
    running.signal(Signal::TERM);
    let ended = running.end(SOON).with(0);
    let line = "the changed configuration is in force";
    assert!(ended.err.contains(line), "{}", ended.err);
}

/// Two services, each of which says that the database refuses it.
fn shop(port: u16, urls: [String; 2]) -> String {
    let [front, jobs] = urls;
    format!(
        "\
defaults: {{health: {{interval: 200ms, timeout: 150ms}}}}
listen: {{internal: {{bind: \"127.0.0.1:{port}\"}}}}
services:
- {{name: front, health: {{url: {front}}}, dependencies: [{{name: db, criticality: hard}}]}}
- {{name: jobs, health: {{url: {jobs}}}, dependencies: [{{name: db, criticality: hard}}]}}
resources: [{{name: db, target: 'postgresql://db:5432'}}]
"
    )
}

fn refused(service: &str) -> Aggregator {
    let body = format!(
        r#"{{"contract":"rootward/1","service":"{service}","instance":"0","status":"unhealthy","components":[
            {{"name":"db","status":"down","raw_status":"down","criticality":"hard","error_category":"connection_refused","age_ms":20}}]}}"#
    );
    Aggregator::always(503, &body)
}

#[test]
fn what_was_recorded_can_be_played_again_and_names_the_same_cause() {
    let scratch = Scratch::new();
    let port = free_port();
    let services = [refused("front"), refused("jobs")];
    let text = shop(port, services.each_ref().map(Aggregator::url));
    let file = scratch.file("rootward.yaml", &text);
    let directory = format!("{}/recorded/here", scratch.path());
    let running = Running::start(&mut rootward(&[
        "serve", "--config", &file, "--record", &directory,
    ]));
    let url = format!("http://127.0.0.1:{port}");
    let deadline = Instant::now() + SOON;
    loop {
        let explained = rootward(&["explain", "db", "--url", &url])
            .output()
            .unwrap();
        if String::from_utf8_lossy(&explained.stdout).contains("node:db") {
            break;
        }
        assert!(Instant::now() < deadline, "the database is not named");
        pause();
    }
    // Some rounds more, so that the replay asks after the cause was seen.
    let written = || {
        let mut files = std::fs::read_dir(&directory).unwrap();
        let file = files.next().unwrap().unwrap().path();
        (
            std::fs::read_to_string(&file).unwrap().lines().count(),
            file,
        )
    };
    let (before, _) = written();
    while written().0 < before + 20 {
        assert!(Instant::now() < deadline, "nothing is recorded");
        pause();
    }
    running.signal(Signal::TERM);
    let ended = running.end(SOON).with(0);
    assert!(ended.err.contains("recording into"), "{}", ended.err);
    let (_, recorded) = written();
    let played = run(&["replay", recorded.to_str().unwrap()]).with(0);
    let last = played.out.lines().last().unwrap();
    assert!(last.contains(r#""id":"node:db""#), "{last}");
    assert!(last.contains(r#""impacted":["front","jobs"]"#), "{last}");
}

#[test]
fn a_place_that_cannot_be_recorded_into_starts_nothing() {
    let scratch = Scratch::new();
    let port = free_port();
    let file = scratch.file("rootward.yaml", &configuration(port));
    let ended = run(&["serve", "--config", &file, "--record", &file]).with(3);
    // Lines are broken where they are long, and how long they are depends on the directory.
    let words: Vec<&str> = ended.err.split_whitespace().collect();
    assert_eq!(
        words.join(" "),
        format!("rootward: failed to record into {file}: it is a file and no directory")
    );
}
