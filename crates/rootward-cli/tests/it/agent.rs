//! `rootward agent`: starts nothing on a bad file, answers as the crate does, takes up what its file says later without
//! forgetting what it knows, and lets no secret out.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::time::Instant;

use rustix::process::Signal;
use serde_json::Value;

use crate::aggregator::Aggregator;
use crate::program::{Running, SOON, Scratch, pause, rootward, run};

/// A port that was free a moment ago.
fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap().port()
}

/// A running agent, its file and its port.
struct Agent {
    running: Running,
    scratch: Scratch,
    port: u16,
}

impl Agent {
    /// Starts it on a file with these lines below `service` and `listen`, and waits until it answers.
    fn start(scratch: Scratch, lines: &str, env: &[(&str, &str)]) -> Self {
        let port = free_port();
        let file = scratch.file("agent.yaml", &Self::text(port, lines));
        let mut command = rootward(&["agent", &file]);
        command.envs(env.iter().copied());
        let agent = Self {
            running: Running::start(&mut command),
            scratch,
            port,
        };
        agent.wait("it answers", |agent| agent.ask("/livez").is_some());
        agent
    }

    fn text(port: u16, lines: &str) -> String {
        format!(
            "service: {{name: cart, instance: cart-0}}\nlisten: {{bind: \"127.0.0.1:{port}\"}}\n{lines}"
        )
    }

    /// The file says this from now on.
    fn says(&self, lines: &str) {
        self.scratch
            .file("agent.yaml", &Self::text(self.port, lines));
    }

    /// Code and body; none if nobody answers.
    fn ask(&self, path: &str) -> Option<(u16, String)> {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).ok()?;
        stream.set_read_timeout(Some(SOON)).ok()?;
        let question =
            format!("GET {path} HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: close\r\n\r\n");
        stream.write_all(question.as_bytes()).ok()?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer).ok()?;
        let code = answer.split(' ').nth(1)?.parse().ok()?;
        Some((code, answer))
    }

    fn code(&self, path: &str) -> Option<u16> {
        self.ask(path).map(|(code, _)| code)
    }

    /// The detailed report; after a while if it was asked for too often.
    fn report(&self) -> Value {
        let mut answer = self.ask("/health");
        while matches!(answer, Some((429, _))) {
            pause();
            answer = self.ask("/health");
        }
        let answer = answer.map(|(_, answer)| answer);
        let body = answer
            .as_deref()
            .and_then(|answer| answer.split("\r\n\r\n").nth(1));
        body.and_then(|body| serde_json::from_str(body).ok())
            .unwrap_or_default()
    }

    fn names(&self) -> Vec<String> {
        let report = self.report();
        let components = report["components"].as_array().into_iter().flatten();
        components
            .filter_map(|component| component["name"].as_str().map(str::to_owned))
            .collect()
    }

    fn component(&self, name: &str) -> Value {
        let report = self.report();
        let mut components = report["components"].as_array().into_iter().flatten();
        let found = components.find(|component| component["name"] == name);
        found.cloned().unwrap_or_default()
    }

    /// The sentence of the finding that a reload was refused.
    fn refusal(&self) -> Option<String> {
        let report = self.report();
        let mut findings = report["findings"].as_array().into_iter().flatten();
        let found = findings.find(|finding| finding["kind"] == "reload_refused");
        found.and_then(|finding| finding["text"].as_str().map(str::to_owned))
    }

    /// Waits for a state.
    #[track_caller]
    fn wait(&self, what: &str, is_so: impl Fn(&Self) -> bool) {
        let deadline = Instant::now() + SOON;
        while !is_so(self) {
            assert!(
                Instant::now() < deadline,
                "not so: {what}\n{}\n{}",
                self.report(),
                self.running.said_on_err()
            );
            pause();
        }
    }
}

#[test]
fn a_file_that_changes_is_taken_up_and_what_it_still_says_keeps_its_streak() {
    let stub = Aggregator::always(200, "{}");
    let check = |name: &str| {
        format!(
            "- {{name: {name}, service: {{url: {}/readyz}}, criticality: soft, interval: 1h}}\n",
            stub.url()
        )
    };
    let lines = format!("checks:\n{}{}", check("rates"), check("stock"));
    let agent = Agent::start(Scratch::new(), &lines, &[]);
    agent.wait("both have a result", |agent| {
        agent.component("rates")["seq"] == 1 && agent.component("stock")["seq"] == 1
    });
    let before = agent.component("rates");
    assert_eq!(before["status"], "up");

    // It moves, gets a comment, and one beside it is another.
    agent.says(&format!(
        "checks:\n{}# the same\n{}",
        check("search"),
        check("rates")
    ));
    agent.wait("the new checks are there", |agent| {
        agent.names() == ["search", "rates"] && agent.component("search")["seq"] == 1
    });
    let after = agent.component("rates");
    for key in ["status", "seq", "since", "last_checked"] {
        assert_eq!(after[key], before[key], "{key}: {after}");
    }
    assert_eq!(agent.refusal(), None);

    // Another definition is another check.
    agent.says(&format!("checks:\n{}", check("rates").replace("1h", "2h")));
    agent.wait("the interval is the new one", |agent| {
        agent.component("rates")["interval_ms"] == 7_200_000 && agent.component("rates")["seq"] == 1
    });
    assert_ne!(
        agent.component("rates")["last_checked"],
        before["last_checked"]
    );
}

#[test]
fn a_file_that_is_refused_changes_nothing_and_is_seen_in_the_report_and_in_the_log() {
    let stub = Aggregator::always(200, "{}");
    let good = format!(
        "checks: [{{name: rates, service: {{url: {}/readyz}}, criticality: soft, interval: 1h}}]\n",
        stub.url()
    );
    let agent = Agent::start(Scratch::new(), &good, &[]);
    agent.wait("it has a result", |agent| {
        agent.component("rates")["seq"] == 1
    });
    let before = agent.component("rates");

    agent.says("checks: [{name: rates, servise: {url: http://rates/}, criticality: sft}]\n");
    agent.wait("it is refused", |agent| agent.refusal().is_some());
    let refusal = agent.refusal().unwrap();
    let begins = agent.scratch.without(&refusal);
    let begins = begins.split("the kinds are").next().unwrap_or_default();
    insta::assert_snapshot!(begins, @"agent.yaml has changed and is refused; what it said before still holds: agent.yaml:3:24: checks[0]: unknown kind `servise`; did you mean `service`? ");
    let after = agent.component("rates");
    for key in ["status", "seq", "since", "last_checked", "interval_ms"] {
        assert_eq!(after[key], before[key], "{key}: {after}");
    }

    // Syntax, a file that is gone, and what needs a restart.
    agent.says("checks: [");
    agent.wait("its syntax is wrong", |agent| {
        agent.refusal().is_some_and(|text| text != refusal)
    });
    std::fs::remove_file(format!("{}/agent.yaml", agent.scratch.path())).unwrap();
    agent.wait("it is gone", |agent| {
        agent
            .refusal()
            .is_some_and(|text| text.contains("there is no such file"))
    });
    agent.says(&format!("{good}application: {{drain: 3s}}\n"));
    agent.wait("it needs a restart", |agent| {
        agent.refusal().is_some_and(|text| {
            text.ends_with("application.drain has changed, and that needs a restart of the agent")
        })
    });
    assert_eq!(
        agent.component("rates")["last_checked"],
        before["last_checked"]
    );

    agent.says(&good);
    agent.wait("it is right again", |agent| agent.refusal().is_none());
    assert_eq!(
        agent.component("rates")["last_checked"],
        before["last_checked"]
    );
    let log = agent.running.said_on_err();
    for said in [
        "servise",
        "sft",
        "there is no such file",
        "application.drain",
    ] {
        assert!(log.contains(said), "{said} is not in: {log}");
    }
}

#[test]
fn sighup_reads_the_file_and_ends_nothing() {
    let agent = Agent::start(
        Scratch::new(),
        "application: {drain: 0s}\nchecks: []\n",
        &[],
    );
    agent.running.signal(Signal::HUP);
    agent.wait("it says so", |agent| {
        agent
            .running
            .said_on_err()
            .contains("the file was read again")
    });
    assert_eq!(agent.code("/livez"), Some(200));
    agent.running.signal(Signal::TERM);
    agent.running.end(SOON).with(0);
}

#[test]
fn an_application_that_stops_touching_its_file_is_not_ready_and_comes_back() {
    let scratch = Scratch::new();
    let beat = format!("{}/alive", scratch.path());
    let lines = format!(
        "application: {{liveness: {{heartbeat: {{file: {beat}, within: 2s}}}}, interval: 200ms, timeout: 150ms}}\n"
    );
    let agent = Agent::start(scratch, &lines, &[]);
    agent.wait("there is no file", |agent| {
        agent.component("application")["error_category"] == "not_found"
            && agent.code("/readyz") == Some(503)
    });
    let component = agent.component("application");
    for (key, value) in [
        ("criticality", "hard"),
        ("scope", "local"),
        ("kind", "heartbeat"),
    ] {
        assert_eq!(component[key], value);
    }
    agent.wait("it beats", |agent| {
        std::fs::write(&beat, "").unwrap();
        agent.code("/readyz") == Some(200)
    });
    agent.wait("it has stopped", |agent| agent.code("/readyz") == Some(503));
    let component = agent.component("application");
    assert_eq!(component["error_category"], "stale", "{component}");
    let error = component["error"].as_str().unwrap_or_default();
    assert!(error.starts_with("no heartbeat for "), "{error}");
    // It is the application that hangs, and not the agent.
    assert_eq!(agent.code("/livez"), Some(200));
    agent.wait("it beats again", |agent| {
        std::fs::write(&beat, "").unwrap();
        agent.code("/readyz") == Some(200)
    });
}

#[test]
fn an_application_is_known_by_its_own_endpoint() {
    let redirects = Aggregator::always(302, "");
    let answers = Aggregator::always(200, "fine");
    let lines = |url: &str| {
        format!("application: {{liveness: {url}/ping, interval: 500ms, timeout: 400ms}}\n")
    };
    let agent = Agent::start(Scratch::new(), &lines(&answers.url()), &[]);
    agent.wait("it lives", |agent| {
        agent.component("application")["status"] == "up" && agent.code("/readyz") == Some(200)
    });
    agent.says(&lines(&redirects.url()));
    agent.wait("it redirects", |agent| {
        agent.component("application")["error_category"] == "redirect"
            && agent.code("/readyz") == Some(503)
    });
    agent.says(&lines("http://127.0.0.1:9"));
    agent.wait("nobody listens", |agent| {
        agent.component("application")["error_category"] == "connection_refused"
    });
    assert_eq!(agent.code("/livez"), Some(200), "the agent lives");
}

/// KF-095: passwords were in logs because whole configurations and failures were written there.
#[test]
fn kf_095_secrets_of_variables_and_files_are_in_nothing_that_leaves() {
    const SECRETS: [&str; 4] = ["hunter2", "correct-horse", "s3cr3t-us3r", "battery-staple"];
    let scratch = Scratch::new();
    let password = scratch.file("password", "correct-horse\n");
    let (refusing, garbling) = (free_port(), Aggregator::always(500, "hunter2"));
    let garbling = garbling.url().replace("http://", "");
    let lines = format!(
        "\
checks:
- {{name: db, postgresql: {{url: {{env: DB_URL}}}}, criticality: hard, interval: 1s}}
- {{name: garbled-db, postgresql: {{url: \"postgresql://s3cr3t-us3r:hunter2@{garbling}/x\"}}, criticality: hard, interval: 1s}}
- {{name: cache, redis: {{url: \"redis://127.0.0.1:{refusing}\", password: {{file: {password}}}}}, criticality: soft, interval: 1h}}
- {{name: garbled, redis: {{url: \"redis://{garbling}\", user: s3cr3t-us3r, password: {{file: {password}}}}}, criticality: soft, interval: 1s}}
"
    );
    let url = format!("postgresql://s3cr3t-us3r:hunter2@127.0.0.1:{refusing}/x");
    let env = [("DB_URL", url.as_str()), ("ROOTWARD_LOG", "debug")];
    let agent = Agent::start(scratch, &lines, &env);
    let all = ["db", "garbled-db", "cache", "garbled"];
    agent.wait("all are down", |agent| {
        all.iter()
            .all(|name| agent.component(name)["status"] == "down")
    });
    let mut left = String::new();
    let mut collect = |agent: &Agent| {
        for path in [
            "/livez?verbose",
            "/readyz?verbose",
            "/startupz",
            "/status",
            "/health",
            "/health?verbose",
            "/health/deep",
            "/metrics",
        ] {
            left.push_str(&agent.ask(path).unwrap_or_default().1);
        }
    };
    collect(&agent);

    // Another password is another check, and only that one begins anew.
    agent.scratch.file("password", "battery-staple\n");
    agent.wait("the password is taken up", |agent| {
        agent
            .running
            .said_on_err()
            .contains("kept=2 begun=2 ended=2")
    });
    // A value that nobody can use is refused without showing it.
    agent.says(&lines.replace("{env: DB_URL}", "\"postgresql:hunter2@nowhere\""));
    agent.wait("it is refused", |agent| agent.refusal().is_some());
    collect(&agent);
    let file = format!("{}/agent.yaml", agent.scratch.path());
    let told = run(&["validate", &file]).with(2);
    agent.running.signal(Signal::INT);
    agent.running.signal(Signal::INT);
    let ended = agent.running.end(SOON);
    for text in [&left, &told.out, &told.err, &ended.out, &ended.err] {
        for secret in SECRETS {
            assert!(!text.contains(secret), "{secret} is in: {text}");
        }
    }
    assert!(ended.err.contains("check changed"), "{}", ended.err);
}

#[test]
fn sigterm_drains_it_and_a_second_one_ends_it_at_once() {
    let lines = "application: {drain: 5s}\nchecks: []\n";
    let agent = Agent::start(Scratch::new(), lines, &[]);
    agent.wait("it is ready", |agent| agent.code("/readyz") == Some(200));
    agent.running.signal(Signal::TERM);
    agent.wait("it is not ready", |agent| {
        agent.code("/readyz") == Some(503)
    });
    assert_eq!(agent.code("/livez"), Some(200), "it lives until it ends");
    let ended = agent.running.end(SOON).with(0);
    assert!(ended.err.contains("rootward: stopped"), "{}", ended.err);
    assert_eq!(ended.out, "");

    let lines = "application: {drain: 1h}\nchecks: []\n";
    let agent = Agent::start(Scratch::new(), lines, &[]);
    agent.running.signal(Signal::TERM);
    agent.wait("it is not ready", |agent| {
        agent.code("/readyz") == Some(503)
    });
    agent.running.signal(Signal::TERM);
    // By the signal itself, so there is no code.
    assert_eq!(agent.running.end(SOON).code, None);
}

#[test]
fn what_is_wrong_with_the_start_has_a_sentence_and_code_2() {
    let scratch = Scratch::new();
    let file = scratch.file(
        "agent.yaml",
        "service: {name: cart}\nchecks: [{name: a, redis: {}}]\n",
    );
    let ended = run(&["agent", &file]).with(2);
    insta::assert_snapshot!(scratch.without(&ended.err), @r"
    agent.yaml:2:10: checks[0]: `criticality` is missing; say what its failure means: hard (the service cannot work without it), soft (it works with less) or informational (it changes nothing)
    agent.yaml:2:27: checks[0].redis: `url` is missing; write it like redis://cache:6379, or {env: REDIS_URL}
    rootward: the configuration has 2 problems; nothing was started
    ");
    let ended = run(&["agent", "no/such/agent.yaml"]).with(2);
    assert_eq!(
        ended.err,
        "rootward: cannot read no/such/agent.yaml: there is no such file\n"
    );
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port();
    let file = scratch.file("agent.yaml", &Agent::text(port, "checks: []\n"));
    let ended = run(&["agent", &file]).with(2);
    insta::assert_snapshot!(ended.err.replace(&port.to_string(), "PORT"), @r"
    rootward: failed to listen on 127.0.0.1:PORT: address already in use
              stop what listens there, or write another address under listen.bind
    ");
}
