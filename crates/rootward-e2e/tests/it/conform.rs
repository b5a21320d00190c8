//! `rootward conform` on real services: one that embeds the crate, the sidecar and one in Python, started by it, keep every
//! promise; those that break some are told exactly those.

mod good;

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use base64::Engine as _;
use rootward::Token;
use rootward_e2e::{Error, Process, Run, free_port, until};
use serde_json::Value;
use tokio::net::TcpStream;

/// Until a process listens, on a machine with other work.
const START_LIMIT: Duration = Duration::from_secs(60);

/// A whole run: it takes about a minute, and bounds itself.
const RUN_LIMIT: Duration = Duration::from_secs(600);

/// The token of both services, in the shape of ours.
const TOKEN: &str =
    "rw1_0123456789abcdef_fedcba9876543210fedcba9876543210fedcba9876543210fedcba9876543210";

/// What became of the rules.
#[derive(Debug)]
struct Told {
    outcome: Value,
    log: String,
}

impl Told {
    fn rules(&self, result: &str) -> BTreeSet<&str> {
        let rules = self.outcome["rules"].as_array().into_iter().flatten();
        let rules = rules.filter(|rule| rule["result"] == result);
        rules.filter_map(|rule| rule["rule"].as_str()).collect()
    }

    #[track_caller]
    fn breaks(&self, expected: &[&str]) {
        let expected: BTreeSet<&str> = expected.iter().copied().collect();
        assert_eq!(self.rules("broken"), expected, "{}", self.log);
    }

    #[track_caller]
    fn leaves_untested(&self, expected: &[&str]) {
        let expected: BTreeSet<&str> = expected.iter().copied().collect();
        assert_eq!(self.rules("not_tested"), expected, "{}", self.log);
    }
}

async fn listens(name: &str, port: u16, process: &Process) -> Result<(), Error> {
    let look = async || {
        (
            TcpStream::connect(("127.0.0.1", port)).await.is_ok(),
            process.log(),
        )
    };
    until(name, START_LIMIT, look, |(open, _)| *open).await?;
    Ok(())
}

/// Runs the program on a service with these stubs; on one that it starts, if it is given.
async fn conform(
    run: &Run,
    name: &str,
    port: u16,
    more: &[String],
    service: Option<Command>,
) -> Result<Told, Error> {
    let url = format!("http://127.0.0.1:{port}");
    conform_at(run, name, &url, more, service).await
}

async fn conform_at(
    run: &Run,
    name: &str,
    url: &str,
    more: &[String],
    service: Option<Command>,
) -> Result<Told, Error> {
    let mut command = Command::new(run.program("rootward")?);
    command.args(["conform", url, "--json"]).args(more);
    if let Some(service) = &service {
        command
            .arg("--")
            .arg(service.get_program())
            .args(service.get_args());
        let given = service.get_envs();
        command.envs(given.filter_map(|(name, value)| Some((name, value?))));
    }
    let mut process = Process::spawn(run, &format!("conform-{name}"), command)?;
    let status = process.wait(RUN_LIMIT).await?;
    let log = process.log();
    let outcome = log
        .find('{')
        .and_then(|at| serde_json::from_str(&log[at..]).ok())
        .unwrap_or_else(|| panic!("no outcome: {log}"));
    let told = Told { outcome, log };
    let code = i32::from(!told.rules("broken").is_empty());
    assert_eq!(status.code(), Some(code), "{}", told.log);
    Ok(told)
}

fn stub(component: &str, kind: &str, port: u16) -> [String; 2] {
    [
        "--stub".to_owned(),
        format!("{component}={kind}://127.0.0.1:{port}"),
    ]
}

fn token_file(run: &Run, name: &str) -> [String; 2] {
    let path = run
        .directory()
        .join(format!("conform-token-{name}-{}", std::process::id()));
    fs::write(&path, format!("{TOKEN}\n")).expect("the directory of the run can be written");
    [
        "--token-file".to_owned(),
        path.to_string_lossy().into_owned(),
    ]
}

/// The service in Python, which keeps the contract or breaks promises of it, on these ports: its own, and those of its
/// dependencies.
fn service_in_python(run: &Run, modes: &str, ports: [u16; 4]) -> Result<Command, Error> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/conform/service.py");
    let mut command = Command::new(run.python()?);
    command.arg("-u").arg(script).arg(modes);
    command.args(ports.map(|port| port.to_string()));
    command.env("SERVICE_TOKEN", TOKEN);
    Ok(command)
}

/// Where its dependencies are stood in for.
fn stubs_of_python([_, rates, cache, search]: [u16; 4]) -> Vec<String> {
    [
        stub("rates", "http", rates),
        stub("cache", "redis", cache),
        stub("search", "http", search),
    ]
    .concat()
}

fn free_ports() -> Result<[u16; 4], Error> {
    Ok([free_port()?, free_port()?, free_port()?, free_port()?])
}

/// The service in Python as it runs already.
async fn python(run: &Run, mode: &str) -> Result<Told, Error> {
    let ports = free_ports()?;
    let port = ports[0];
    let service = service_in_python(run, mode, ports)?;
    let service = Process::spawn(run, &format!("service-{mode}"), service)?;
    listens("the service in Python to listen", port, &service).await?;
    let arguments = [stubs_of_python(ports), token_file(run, mode).to_vec()].concat();
    let told = conform(run, mode, port, &arguments, None).await?;
    service.kill().await?;
    Ok(told)
}

/// The service in Python, started for the test.
async fn python_started(run: &Run, modes: &str, more: &[&str]) -> Result<Told, Error> {
    let ports = free_ports()?;
    let service = service_in_python(run, modes, ports)?;
    let mut arguments = [stubs_of_python(ports), token_file(run, modes).to_vec()].concat();
    arguments.extend(more.iter().map(|&word| word.to_owned()));
    conform(run, modes, ports[0], &arguments, Some(service)).await
}

/// The service that embeds the crate, started for the test. Its database gates readiness, by explicit choice.
async fn dependable(run: &Run, interval: Duration) -> Result<Told, Error> {
    let [port, database, cache, rates] = free_ports()?;
    let grpc = free_port()?;
    let mut command = Command::new(run.program("dependable")?);
    for (name, port) in [
        ("DEPENDABLE_GRPC", grpc),
        ("DEPENDABLE_PORT", port),
        ("DEPENDABLE_DATABASE", database),
        ("DEPENDABLE_CACHE", cache),
        ("DEPENDABLE_RATES", rates),
    ] {
        command.env(name, port.to_string());
    }
    let millis = interval.as_millis().to_string();
    command
        .env("DEPENDABLE_TOKEN", TOKEN)
        .env("DEPENDABLE_INTERVAL_MS", millis);
    let arguments = [
        stub("orders-db", "postgresql", database),
        stub("cache", "redis", cache),
        stub("rates", "http", rates),
        token_file(run, &format!("dependable-{port}")),
        ["--grpc".to_owned(), format!("127.0.0.1:{grpc}")],
        ["--limits", "--start-within=60s"].map(str::to_owned),
    ];
    conform(run, "dependable", port, &arguments.concat(), Some(command)).await
}

/// Its checks never stop, so none of its evidence grows old.
const NEVER_OLD: &str = "R-CHECK-8";

/// Nobody gave an address for gRPC, or the leave to exceed a limit.
const NO_GRPC: [&str; 5] = ["R-GRPC-1", "R-GRPC-2", "R-GRPC-3", "R-GRPC-4", "R-HTTP-10"];

fn with<'a>(some: &[&'a str], more: &[&'a str]) -> Vec<&'a str> {
    [some, more].concat()
}

/// With short intervals a quick second result is nothing special.
const SHORT_INTERVALS: &str = "R-CHECK-9";

#[tokio::test]
async fn a_service_that_embeds_the_crate_keeps_every_promise() -> Result<(), Error> {
    let run = Run::from_environment()?;
    let (quick, slow) = tokio::join!(
        dependable(&run, Duration::from_millis(1_500)),
        dependable(&run, Duration::from_secs(8)),
    );
    let (quick, slow) = (quick?, slow?);
    quick.breaks(&[]);
    quick.leaves_untested(&[NEVER_OLD, SHORT_INTERVALS]);
    slow.breaks(&[]);
    slow.leaves_untested(&[NEVER_OLD]);
    Ok(())
}

/// The sidecar, which speaks for a service that nobody has to start for this, started for the test.
async fn sidecar(run: &Run) -> Result<Told, Error> {
    let [port, database, cache, rates] = free_ports()?;
    let digest = Token::parse(TOKEN.to_owned())
        .expect("a token of the right shape")
        .digest();
    let file = format!(
        "service: {{name: sidecar}}\n\
         application: {{drain: 1500ms}}\n\
         listen:\n  bind: 127.0.0.1:{port}\n  detail: {{auth: {{tokens: [{{id: conform, digest: \"{digest}\"}}]}}}}\n\
         defaults: {{interval: 1500ms, timeout: 1s}}\n\
         checks:\n\
         - {{name: orders-db, postgresql: {{url: \"postgresql://orders@127.0.0.1:{database}/orders\"}}, criticality: hard, gates_readiness: true}}\n\
         - {{name: cache, redis: {{url: \"redis://127.0.0.1:{cache}/\"}}, criticality: soft}}\n\
         - {{name: rates, service: {{url: \"http://127.0.0.1:{rates}/readyz\"}}, criticality: hard}}\n"
    );
    let path = run.directory().join(format!("conform-agent-{port}.yaml"));
    fs::write(&path, file).expect("the directory of the run can be written");
    let mut command = Command::new(run.program("rootward")?);
    command.arg("agent").arg(&path);
    let arguments = [
        stub("orders-db", "postgresql", database),
        stub("cache", "redis", cache),
        stub("rates", "http", rates),
        token_file(run, &format!("sidecar-{port}")),
    ];
    conform(run, "sidecar", port, &arguments.concat(), Some(command)).await
}

#[tokio::test]
async fn the_sidecar_keeps_every_promise() -> Result<(), Error> {
    let run = Run::from_environment()?;
    let told = sidecar(&run).await?;
    told.breaks(&[]);
    told.leaves_untested(&with(&NO_GRPC, &[NEVER_OLD, SHORT_INTERVALS]));
    Ok(())
}

#[tokio::test]
async fn a_service_in_another_language_keeps_every_promise() -> Result<(), Error> {
    let run = Run::from_environment()?;
    let told = python_started(&run, "honest", &[]).await?;
    told.breaks(&[]);
    // Nothing gates its readiness.
    told.leaves_untested(&with(&NO_GRPC, &[SHORT_INTERVALS, "R-READY-4"]));
    Ok(())
}

#[tokio::test]
async fn who_lets_probes_follow_dependencies_is_told_so() -> Result<(), Error> {
    let run = Run::from_environment()?;
    let (live, ready, asked, walk) = tokio::join!(
        python(&run, "live_follows"),
        python(&run, "ready_follows"),
        python(&run, "check_per_request"),
        python(&run, "walk"),
    );
    live?.breaks(&["R-LIVE-2"]);
    ready?.breaks(&["R-READY-3"]);
    asked?.breaks(&["R-CHECK-1"]);
    walk?.breaks(&["R-GRAPH-1"]);
    Ok(())
}

#[tokio::test]
async fn who_checks_without_limit_damping_or_company_is_told_so() -> Result<(), Error> {
    let run = Run::from_environment()?;
    let (deep, limit, damping, serial) = tokio::join!(
        python(&run, "deep_unlimited"),
        python(&run, "no_timeout"),
        python(&run, "no_damping"),
        python(&run, "serial"),
    );
    deep?.breaks(&["R-DEEP-2"]);
    limit?.breaks(&["R-CHECK-2"]);
    damping?.breaks(&["R-CHECK-4"]);
    serial?.breaks(&["R-CHECK-3"]);
    Ok(())
}

/// It waits for its dependencies to be well, so that it does not start without them; drains without a word; takes no
/// notice of queries; and what answers over gRPC in its place calls everything good.
async fn cacheable_and_more(run: &Run) -> Result<Told, Error> {
    let grpc = good::serve().await;
    let modes = "cacheable+start_waits+drain_mute+query_ignored";
    let more = ["--start-within", "6s", "--grpc", &grpc];
    python_started(run, modes, &more).await
}

#[tokio::test]
async fn who_says_what_is_not_so_is_told_so() -> Result<(), Error> {
    let run = Run::from_environment()?;
    let (stale, age, rollup, cacheable) = tokio::join!(
        python(&run, "stale_up"),
        python(&run, "age_of_the_check"),
        python(&run, "always_healthy"),
        cacheable_and_more(&run),
    );
    stale?.breaks(&["R-CHECK-8"]);
    age?.breaks(&["R-REPORT-7"]);
    rollup?.breaks(&["R-REPORT-4"]);
    let cacheable = cacheable?;
    cacheable.breaks(&[
        "R-HTTP-2",
        "R-START-4",
        "R-DRAIN-3",
        "R-GRPC-1",
        "R-GRPC-2",
        "R-GRPC-3",
        "R-GRPC-4",
        "R-QUERY-1",
        "R-QUERY-2",
        "R-QUERY-3",
        "R-QUERY-4",
        "R-QUERY-5",
    ]);
    let ended = &cacheable.outcome["ended"];
    assert_eq!(ended["how"], "exit code 0", "{ended}");
    Ok(())
}

#[tokio::test]
async fn who_tells_too_much_is_told_so() -> Result<(), Error> {
    let run = Run::from_environment()?;
    let (text, repeats, credentials, open) = tokio::join!(
        python(&run, "exception_text"),
        python(&run, "repeats"),
        python(&run, "credentials"),
        python(&run, "open"),
    );
    text?.breaks(&["R-SECRET-2"]);
    repeats?.breaks(&["R-SECRET-3"]);
    credentials?.breaks(&["R-SECRET-1"]);
    open?.breaks(&["R-ACCESS-1"]);
    Ok(())
}

/// Everything at its start and its end is wrong, and nothing else.
#[tokio::test]
async fn who_starts_and_ends_wrongly_is_told_so() -> Result<(), Error> {
    let run = Run::from_environment()?;
    let ports = free_ports()?;
    let modes =
        "slow_start+start_is_up+live_when_started+first_damped+drain_ready+drain_dies+never_ends";
    let service = service_in_python(&run, modes, ports)?;
    // Its dependencies are nowhere, and whom nobody stands in for is looked at as it is.
    let mut arguments = token_file(&run, "start-and-end").to_vec();
    arguments.extend(["--drain-within", "5s"].map(str::to_owned));
    let told = conform(&run, "start-and-end", ports[0], &arguments, Some(service)).await?;
    told.breaks(&[
        "R-LIVE-3",
        "R-START-3",
        "R-CHECK-10",
        "R-DRAIN-1",
        "R-DRAIN-2",
        "R-DRAIN-4",
    ]);
    assert_eq!(told.outcome["ended"]["how"], Value::Null, "{}", told.log);
    Ok(())
}

/// A certificate that vouches for itself, and its key: two files, the first for those who are to trust it.
fn certificate(run: &Run) -> (String, String) {
    let certified = rcgen::generate_simple_self_signed(["127.0.0.1".to_owned()]);
    let certified = certified.expect("a certificate");
    let trusted = pem("CERTIFICATE", certified.cert.der());
    let key = pem("PRIVATE KEY", &certified.signing_key.serialize_der());
    let write = |name: &str, text: &str| {
        let name = format!("conform-{name}-{}.pem", std::process::id());
        let path = run.directory().join(name);
        fs::write(&path, text).expect("the directory of the run can be written");
        path.to_string_lossy().into_owned()
    };
    (
        write("ca", &trusted),
        write("server", &format!("{trusted}{key}")),
    )
}

fn pem(label: &str, der: &[u8]) -> String {
    let text = base64::engine::general_purpose::STANDARD.encode(der);
    let lines = text.as_bytes().chunks(64).map(String::from_utf8_lossy);
    let lines: Vec<_> = lines.collect();
    let lines = lines.join("\n");
    format!("-----BEGIN {label}-----\n{lines}\n-----END {label}-----\n")
}

/// All that asks in a way of its own, over TLS: GET, the other methods, and a probe.
#[tokio::test]
async fn a_service_behind_https_is_asked_by_whom_trusts_its_certificate() -> Result<(), Error> {
    let run = Run::from_environment()?;
    let ports = free_ports()?;
    let (ca, server) = certificate(&run);
    let mut service = service_in_python(&run, "honest", ports)?;
    service.env("SERVICE_TLS", server);
    let service = Process::spawn(&run, "service-https", service)?;
    listens("the service to listen", ports[0], &service).await?;
    let url = format!("https://127.0.0.1:{}", ports[0]);
    for (more, code, says) in [
        (&["--ca", ca.as_str()][..], 0, "200 from https://"),
        (&[][..], 1, "certificate"),
    ] {
        let mut command = Command::new(run.program("rootward")?);
        let livez = format!("{url}/livez");
        command
            .args(["probe", &livez, "--timeout", "30s"])
            .args(more);
        // Whom the machine trusts is of no interest here, as long as it is somebody.
        command.env("SSL_CERT_FILE", other(&run));
        let mut probe = Process::spawn(&run, "probe-https", command)?;
        let status = probe.wait(RUN_LIMIT).await?;
        let log = probe.log();
        assert_eq!(status.code(), Some(code), "{log}");
        assert!(log.contains(says), "{log}");
    }
    let arguments = ["--ca", &ca, "--at-most", "20s"].map(str::to_owned);
    let told = conform_at(&run, "https", &url, &arguments, None).await?;
    let kept = told.rules("kept");
    for rule in [
        "R-LIVE-1",
        "R-READY-1",
        "R-HTTP-4",
        "R-HTTP-5",
        "R-HTTP-6",
        "R-REPORT-1",
    ] {
        assert!(kept.contains(rule), "{rule}: {}", told.log);
    }
    service.kill().await
}

/// A certificate that has signed nothing here.
fn other(run: &Run) -> String {
    let certified = rcgen::generate_simple_self_signed(["elsewhere".to_owned()]);
    let certified = certified.expect("a certificate");
    let name = format!("conform-other-{}.pem", std::process::id());
    let path = run.directory().join(name);
    fs::write(&path, pem("CERTIFICATE", certified.cert.der()))
        .expect("the directory of the run can be written");
    path.to_string_lossy().into_owned()
}
