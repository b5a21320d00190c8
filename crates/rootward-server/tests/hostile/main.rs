//! Hostile servers beside good ones: what is made of each, and that the good ones are asked on time all the same.

#![expect(clippy::unwrap_used, reason = "a step that fails is a test that fails")]

mod authority;
mod behaviours;
#[path = "../it/fleet.rs"]
#[expect(dead_code, reason = "the other tests of this crate use more of it")]
mod fleet;
mod grpc;
#[path = "../it/running.rs"]
#[expect(dead_code, reason = "the other tests of this crate use more of it")]
mod running;
mod server;

use std::io::Write;
use std::sync::Arc;
use std::time::Duration;

use rootward_config::Checked;
use rootward_core::ServiceStatus;
use rootward_core::snapshot::Snapshot;
use rustls::ServerConfig;

use authority::Authority;
use behaviours::{answer, report};
use fleet::{Asked, Fleet, Manner};
use running::{Pace, Running, configuration};
use server::{Step, Zoo};

/// Good neighbours.
const GOOD: usize = 200;
const INTERVAL: Duration = Duration::from_secs(3);
/// Rounds that are watched.
const ROUNDS: usize = 6;

/// One that speaks TLS, or is asked to and does not.
type Secured = (&'static str, Vec<Step>, Option<Arc<ServerConfig>>);

fn secured(authority: &Authority) -> Vec<Secured> {
    let here = || Some(authority.server("127.0.0.1", 90));
    let always = |service: &str| vec![Step::Always(answer("200 OK", &report(service)))];
    vec![
        ("tls-good", always("tls-good"), here()),
        (
            "tls-of-another-authority",
            always("tls-of-another-authority"),
            Some(Authority::new().server("127.0.0.1", 90)),
        ),
        (
            "tls-for-another-name",
            always("tls-for-another-name"),
            Some(authority.server("other.example", 90)),
        ),
        (
            "tls-ended",
            always("tls-ended"),
            Some(authority.server("127.0.0.1", -1)),
        ),
        ("tls-silent-handshake", vec![], None),
        (
            "tls-spoken-plainly",
            vec![Step::Send(answer("400 Bad Request", "speak TLS"))],
            None,
        ),
        (
            "tls-alert",
            vec![
                Step::Send(b"\x15\x03\x03\x00\x02\x02\x28".to_vec()),
                Step::Close,
            ],
            None,
        ),
        (
            "tls-handshake-in-drops",
            vec![Step::Trickle(
                "\x16\x03\x03\x00\x7a\x02\x00\x00\x76\x03\x03aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
            )],
            None,
        ),
        ("tls-closes-in-handshake", vec![Step::Close], None),
        ("tls-resets-in-handshake", vec![Step::Reset], None),
        ("tls-then-silent", vec![Step::Question], here()),
        ("tls-then-closes", vec![Step::Question, Step::Close], here()),
        (
            "tls-then-half-an-answer",
            vec![
                Step::Question,
                Step::Send(b"HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{".to_vec()),
                Step::Close,
            ],
            here(),
        ),
    ]
}

/// The aggregator's configuration, and what has to live as long as the test.
struct World {
    config: Checked,
    neighbours: Vec<Asked>,
    bad: usize,
    _fleet: Fleet,
    _zoo: Zoo,
    _roots: tempfile::NamedTempFile,
}

fn world() -> World {
    let (fleet, zoo) = (Fleet::new(), Zoo::new());
    let mut targets = Vec::new();
    let mut neighbours = Vec::new();
    for n in 0..GOOD {
        let name: &'static str = format!("good-{n}").leak();
        let (address, asked) = fleet.start(Manner::healthy(name));
        targets.push((name, address));
        neighbours.push(asked);
    }
    targets.push(("refuses", fleet::nobody()));
    for (name, script) in behaviours::all() {
        targets.push((name, zoo.start(script, None)));
    }
    let authority = Authority::new();
    let mut roots = tempfile::NamedTempFile::new().unwrap();
    roots.write_all(authority.pem().as_bytes()).unwrap();
    for (name, script, shown) in secured(&authority) {
        targets.push((name, zoo.start(script, shown)));
    }
    let bad = targets.len() - GOOD;
    let pace = Pace {
        interval: INTERVAL,
        timeout: Duration::from_secs(1),
    };
    let mut config = configuration(pace, &targets);
    for target in &mut config.targets {
        if target.id.service.as_str().starts_with("tls-") {
            target.url = target.url.replacen("http:", "https:", 1);
            target.roots = Some(roots.path().to_path_buf());
        }
    }
    World {
        config,
        neighbours,
        bad,
        _fleet: fleet,
        _zoo: zoo,
        _roots: roots,
    }
}

fn lines(snapshot: &Snapshot) -> String {
    let hostile = snapshot
        .services
        .iter()
        .filter(|service| !service.name.as_str().starts_with("good-"));
    let lines: Vec<String> = hostile
        .map(|service| {
            let poll = service.instances[0].last_poll.as_ref().unwrap();
            let (status, word) = (service.status, poll.outcome.as_str());
            match service.name.as_str() {
                // Which sentence depends on whether it spoke before the question was on its way.
                "answers-unasked" | "greets-like-mail" | "greets-like-ssh" => {
                    format!("{}: {status}", service.name)
                }
                name => format!("{name}: {status}, {word}: {}", poll.text),
            }
        })
        .collect();
    lines.join("\n")
}

fn is_good(service: &rootward_core::snapshot::ServiceView) -> bool {
    service.name.as_str().starts_with("good-")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn hostile_servers_get_a_sentence_each_and_cost_their_neighbours_nothing() {
    let World {
        config,
        neighbours,
        bad,
        _fleet,
        _zoo,
        _roots,
    } = world();
    assert!(bad >= 60, "only {bad} behaviours");
    let mut running = Running::start(config);
    let snapshot = running
        .until("a poll of every target has ended", |snapshot| {
            let mut services = snapshot.services.iter();
            services.all(|service| service.instances[0].last_poll.is_some())
        })
        .await;
    insta::assert_snapshot!(lines(&snapshot), @r#"
    a-byte-too-long: unknown, malformed: the body is larger than 1 MiB
    accepts-and-is-silent: unknown, no_answer: timed out after 1 s while waiting for the answer
    answers-unasked: unknown
    asks-for-patience: unknown, malformed: answered 429: it wants fewer requests
    bad-gateway: unhealthy, error_status: answered HTTP 502 without a report
    body-alone: unknown, malformed: the answer is not HTTP
    body-forever: unknown, malformed: the body is larger than 1 MiB
    body-in-drops: unknown, no_answer: timed out after 1 s while reading the body
    body-never-comes: unknown, no_answer: timed out after 1 s while reading the body
    chunk-extension-forever: unknown, no_answer: timed out after 1 s while reading the body
    chunk-of-all-bytes-there-are: unknown, no_answer: timed out after 1 s while reading the body
    chunk-size-is-a-word: unknown, malformed: the body is not framed as its headers say
    chunk-size-overflows: unknown, malformed: the body is not framed as its headers say
    chunks-end-in-the-middle: unknown, no_answer: the connection broke while reading the body
    chunks-forever: unknown, malformed: the body is larger than 1 MiB
    closes-after-each-answer: healthy, report: answered with a report
    closes-at-once: unknown, no_answer: the connection broke while waiting for the answer
    closes-before-the-end: unknown, no_answer: the connection broke while reading the body
    continues-forever: unknown, no_answer: timed out after 1 s while waiting for the answer
    countless-components: unknown, malformed: answered 200 without a readable report: components is not an array with at most 1000 entries (line 1, column 51048)
    deeply-nested: unknown, malformed: answered 200 without a readable report: [0] is not a string (line 1, column 1)
    echoes: unknown, malformed: the answer is not HTTP
    finds-nothing: unknown, malformed: answered 404: no report is served at that path
    folded-header: unknown, malformed: the answer is not HTTP
    forbids: unknown, malformed: answered 403: it does not let us read the report
    gateway-timeout: unhealthy, error_status: answered HTTP 504 without a report
    gives-a-part: unknown, malformed: answered 206 without a readable report: not a rootward report: it has no field `contract`
    greets-like-mail: unknown
    greets-like-ssh: unknown
    gzip-bomb: unknown, malformed: the body has a content encoding, which was not asked for
    gzip-unsaid: unknown, malformed: answered 200 without a readable report: the body is not UTF-8 from byte 1 on
    half-a-report: unknown, malformed: answered 200 without a readable report: the body is not JSON: it stops making sense at line 1, column 40
    half-a-status-line: unknown, no_answer: timed out after 1 s while waiting for the answer
    head-in-drops: unknown, no_answer: timed out after 1 s while waiting for the answer
    header-with-a-nul: unknown, malformed: the answer is not HTTP
    header-without-colon: unknown, malformed: the answer is not HTTP
    headers-forever: unknown, no_answer: timed out after 1 s while waiting for the answer
    headers-without-end: unknown, no_answer: timed out after 1 s while waiting for the answer
    hints-early: healthy, report: answered with a report
    length-in-words: unknown, malformed: the answer is not HTTP
    length-of-five-gibibytes: unknown, malformed: the body is larger than 1 MiB
    negative-length: unknown, malformed: the answer is not HTTP
    noise: unknown, malformed: the answer is not HTTP
    not-a-number: unknown, malformed: answered 200 without a readable report: the body is not JSON: it stops making sense at line 1, column 92
    not-modified: unknown, malformed: answered 304, not modified, and nothing was asked about that
    not-utf-8: unknown, malformed: answered 200 without a readable report: the body is not UTF-8 from byte 1 on
    of-a-later-contract: unknown, malformed: answered 200 without a readable report: the report speaks contract "rootward/9", this reader knows "rootward/1"
    one-huge-header: unknown, malformed: the headers of the answer are longer than 64 KiB
    reads-and-closes: unknown, no_answer: the connection broke while waiting for the answer
    reads-and-is-silent: unknown, no_answer: timed out after 1 s while waiting for the answer
    reads-and-resets: unknown, no_answer: the connection broke while waiting for the answer
    redirects-elsewhere: unknown, malformed: answered 307, a redirect to 169.254.169.254, which is not followed
    redirects-to-itself: unknown, malformed: answered 302, a redirect, which is not followed
    redirects-with-a-report: unknown, malformed: answered 308, a redirect, which is not followed
    refuses: unknown, no_answer: connection refused
    resets-after-each-answer: healthy, report: answered with a report
    resets-after-the-headers: unknown, no_answer: the connection broke while reading the body
    resets-at-once: unknown, no_answer: the connection broke while waiting for the answer
    sends-a-second-answer: healthy, report: answered with a report
    somebody-elses-report: unknown, malformed: answers as somebody-else, not as somebody-elses-report
    speaks-http-1-0: healthy, report: answered with a report
    speaks-http2: unknown, malformed: the answer is not HTTP
    speaks-tls: unknown, malformed: the answer is not HTTP
    status-999: unknown, malformed: answered 999: that is no report
    status-in-words: unknown, malformed: the answer is not HTTP
    status-line-alone: unknown, no_answer: timed out after 1 s while waiting for the answer
    status-of-four-digits: unknown, malformed: the answer is not HTTP
    status-twice: unknown, malformed: answered 200 without a readable report: the report has the field `status` twice
    switches-protocols: unknown, malformed: answered 101: that is no report
    ten-thousand-headers: unknown, malformed: the headers of the answer are longer than 64 KiB
    tls-alert: unknown, no_answer: the TLS handshake failed
    tls-closes-in-handshake: unknown, no_answer: the connection broke while making the TLS handshake
    tls-ended: unknown, no_answer: the certificate of the server has expired
    tls-for-another-name: unknown, no_answer: the certificate of the server is for another name
    tls-good: healthy, report: answered with a report
    tls-handshake-in-drops: unknown, no_answer: timed out after 1 s while making the TLS handshake
    tls-of-another-authority: unknown, no_answer: the certificate of the server cannot be verified
    tls-resets-in-handshake: unknown, no_answer: the connection broke while making the TLS handshake
    tls-silent-handshake: unknown, no_answer: timed out after 1 s while making the TLS handshake
    tls-spoken-plainly: unknown, no_answer: the server does not speak TLS
    tls-then-closes: unknown, no_answer: the connection broke while waiting for the answer
    tls-then-half-an-answer: unknown, no_answer: the connection broke while reading the body
    tls-then-silent: unknown, no_answer: timed out after 1 s while waiting for the answer
    trailers-forever: unknown, malformed: the body is not framed as its headers say
    two-lengths: unknown, malformed: the answer is not HTTP
    unavailable-page: unhealthy, error_status: answered HTTP 503 without a report
    unknown-status: unknown, malformed: answered 200 without a readable report: status "groovy" is none of healthy, degraded, unhealthy, starting
    utf-16: unknown, malformed: answered 200 without a readable report: the body is not UTF-8 from byte 0 on
    version-3: unknown, malformed: the answer is not HTTP
    very-long-name: unknown, malformed: answered 200 without a readable report: instance is not a name: a name may have at most 128 bytes, this one has 100000
    wants-a-proxy-login: unknown, malformed: answered 407: that is no report
    "#);

    for asked in &neighbours {
        asked.reaches(ROUNDS + 1).await;
    }
    let mut off: Vec<Duration> = Vec::new();
    for asked in &neighbours {
        for pair in asked.times()[..=ROUNDS].windows(2) {
            let gap = pair[1] - pair[0];
            assert!(gap < INTERVAL * 2, "a round was missed: {gap:?}");
            off.push(gap.abs_diff(INTERVAL));
        }
    }
    off.sort_unstable();
    let nine_of_ten = off[off.len() * 9 / 10];
    assert!(
        nine_of_ten < INTERVAL / 10,
        "one in ten gaps between polls of a good neighbour is off by {nine_of_ten:?} or more"
    );

    let snapshot = running
        .until("what is bad was asked often enough to count", |snapshot| {
            snapshot
                .epoch
                .is_some_and(|epoch| epoch.number > ROUNDS as u64)
        })
        .await;
    let wrong: Vec<&str> = snapshot
        .services
        .iter()
        .filter(|service| is_good(service) && service.status != ServiceStatus::Healthy)
        .map(|service| service.name.as_str())
        .collect();
    assert!(wrong.is_empty(), "not healthy any more: {wrong:?}");
    let believed: Vec<&str> = snapshot
        .services
        .iter()
        .filter(|service| service.instances[0].status == ServiceStatus::Healthy)
        .map(|service| service.name.as_str())
        .filter(|name| !name.starts_with("good-"))
        .collect();
    assert_eq!(
        believed,
        [
            "closes-after-each-answer",
            "hints-early",
            "resets-after-each-answer",
            "sends-a-second-answer",
            "speaks-http-1-0",
            "tls-good",
        ],
        "nobody else gave a good report"
    );
    let (summary, _) = running.stop().await;
    assert_eq!(
        summary.polls_begun,
        summary.polls.total() + summary.abandoned,
        "{summary:?}"
    );
}
