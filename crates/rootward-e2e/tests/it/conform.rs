//! `rootward conform` on real services: one that embeds the crate, the sidecar and one in Python keep every promise; each of
//! fifteen that break one is told exactly that one.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

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

/// Runs the program on a service with these stubs.
async fn conform(run: &Run, name: &str, port: u16, more: &[String]) -> Result<Told, Error> {
    let mut command = Command::new(run.program("rootward")?);
    let url = format!("http://127.0.0.1:{port}");
    command.args(["conform", &url, "--json"]).args(more);
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

/// The service in Python, which keeps the contract or breaks one promise of it.
async fn python(run: &Run, mode: &str) -> Result<Told, Error> {
    let [port, rates, cache, search] = [free_port()?, free_port()?, free_port()?, free_port()?];
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/conform/service.py");
    let mut command = Command::new(run.python()?);
    command.arg("-u").arg(script).arg(mode);
    command.args([port, rates, cache, search].map(|port| port.to_string()));
    command.env("SERVICE_TOKEN", TOKEN);
    let service = Process::spawn(run, &format!("service-{mode}"), command)?;
    listens("the service in Python to listen", port, &service).await?;
    let arguments = [
        stub("rates", "http", rates),
        stub("cache", "redis", cache),
        stub("search", "http", search),
        token_file(run, mode),
    ];
    let told = conform(run, mode, port, &arguments.concat()).await?;
    service.kill().await?;
    Ok(told)
}

/// The service that embeds the crate. Its database gates readiness, by explicit choice.
async fn dependable(run: &Run, interval: Duration) -> Result<Told, Error> {
    let [port, database, cache, rates] = [free_port()?, free_port()?, free_port()?, free_port()?];
    let mut command = Command::new(run.program("dependable")?);
    for (name, port) in [
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
    let service = Process::spawn(run, "dependable", command)?;
    listens("the service to listen", port, &service).await?;
    let arguments = [
        stub("orders-db", "postgresql", database),
        stub("cache", "redis", cache),
        stub("rates", "http", rates),
        token_file(run, &format!("dependable-{port}")),
    ];
    let told = conform(run, "dependable", port, &arguments.concat()).await?;
    service.kill().await?;
    Ok(told)
}

/// Its checks never stop, so none of its evidence grows old.
const NEVER_OLD: &str = "R-CHECK-8";

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

/// The sidecar, which speaks for a service that nobody has to start for this.
async fn sidecar(run: &Run) -> Result<Told, Error> {
    let [port, database, cache, rates] = [free_port()?, free_port()?, free_port()?, free_port()?];
    let digest = Token::parse(TOKEN.to_owned())
        .expect("a token of the right shape")
        .digest();
    let file = format!(
        "service: {{name: sidecar}}\n\
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
    let agent = Process::spawn(run, "agent", command)?;
    listens("the sidecar to listen", port, &agent).await?;
    let arguments = [
        stub("orders-db", "postgresql", database),
        stub("cache", "redis", cache),
        stub("rates", "http", rates),
        token_file(run, &format!("sidecar-{port}")),
    ];
    let told = conform(run, "sidecar", port, &arguments.concat()).await?;
    agent.kill().await?;
    Ok(told)
}

#[tokio::test]
async fn the_sidecar_keeps_every_promise() -> Result<(), Error> {
    let run = Run::from_environment()?;
    let told = sidecar(&run).await?;
    told.breaks(&[]);
    told.leaves_untested(&[NEVER_OLD, SHORT_INTERVALS]);
    Ok(())
}

#[tokio::test]
async fn a_service_in_another_language_keeps_every_promise() -> Result<(), Error> {
    let run = Run::from_environment()?;
    let told = python(&run, "honest").await?;
    told.breaks(&[]);
    // Nothing gates its readiness.
    told.leaves_untested(&[SHORT_INTERVALS, "R-READY-4"]);
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

#[tokio::test]
async fn who_says_what_is_not_so_is_told_so() -> Result<(), Error> {
    let run = Run::from_environment()?;
    let (stale, age, rollup, cacheable) = tokio::join!(
        python(&run, "stale_up"),
        python(&run, "age_of_the_check"),
        python(&run, "always_healthy"),
        python(&run, "cacheable"),
    );
    stale?.breaks(&["R-CHECK-8"]);
    age?.breaks(&["R-REPORT-7"]);
    rollup?.breaks(&["R-REPORT-4"]);
    cacheable?.breaks(&["R-HTTP-2"]);
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
