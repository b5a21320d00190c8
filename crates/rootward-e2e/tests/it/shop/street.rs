//! The shop with its servers and its aggregator: starts them, asks them, and watches their probes meanwhile.

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rootward_e2e::{Error, Postgres, Process, Redis, Run, free_port, until};
use rootward_fetch::{Limits, Request, Target, fetch};
use serde_json::Value;
use tokio::task::JoinSet;

const SERVICES: [&str; 7] = [
    "front",
    "cart",
    "checkout",
    "orders",
    "invoices",
    "catalogue",
    "payments",
];

/// How often checks run and reports are polled here; a second is the least that leaves a check its time limit.
const INTERVAL: &str = "1s";
const INTERVAL_MS: &str = "1000";

/// How often the probes are watched.
const WATCH: Duration = Duration::from_millis(100);

const ANSWER: Limits = Limits {
    deadline: Duration::from_secs(5),
    max_body_bytes: 1024 * 1024,
};

/// What the command line said.
#[derive(Debug)]
pub(crate) struct Told {
    pub(crate) code: Option<i32>,
    pub(crate) text: String,
}

pub(crate) struct Street<'a> {
    run: &'a Run,
    pub(crate) postgres: Postgres,
    pub(crate) redis: Redis,
    services: BTreeMap<&'static str, Process>,
    aggregator: Process,
    variables: Vec<(String, String)>,
    ports: BTreeMap<&'static str, u16>,
    port: u16,
    probe_watchers: JoinSet<()>,
    report_watchers: JoinSet<()>,
    /// Services that are meant to be dead.
    killed: Arc<Mutex<BTreeSet<&'static str>>>,
    /// Probe answers that should not have been.
    failures: Arc<Mutex<Vec<String>>>,
    /// Probe answers that were as they should be.
    good_answers: Arc<AtomicUsize>,
}

impl<'a> Street<'a> {
    /// Starts everything.
    pub(crate) async fn open(run: &'a Run) -> Result<Self, Error> {
        let (postgres, redis) = tokio::try_join!(Postgres::start(run), Redis::start(run))?;
        let mut variables = vec![
            ("SHOP_ORDERS_DB".to_owned(), postgres.url()),
            ("SHOP_CACHE".to_owned(), redis.url()),
            ("SHOP_INTERVAL_MS".to_owned(), INTERVAL_MS.to_owned()),
            ("SHOP_POLL_INTERVAL".to_owned(), INTERVAL.to_owned()),
            ("SHOP_POLL_TIMEOUT".to_owned(), "500ms".to_owned()),
        ];
        let mut ports = BTreeMap::new();
        for service in SERVICES {
            let port = free_port()?;
            variables.push((
                format!("SHOP_{}_PORT", service.to_uppercase()),
                port.to_string(),
            ));
            ports.insert(service, port);
        }
        let port = free_port()?;
        variables.push(("ROOTWARD_PORT".to_owned(), port.to_string()));
        let mut services = BTreeMap::new();
        for service in SERVICES {
            services.insert(service, start(run, service, &variables)?);
        }
        let configuration = concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../../examples/shop/rootward.yaml"
        );
        let mut command = Command::new(run.program("rootward")?);
        command
            .args(["serve", "--config", configuration])
            .envs(variables.iter().cloned());
        let aggregator = Process::spawn(run, "rootward", command)?;
        Ok(Self {
            run,
            postgres,
            redis,
            services,
            aggregator,
            variables,
            ports,
            port,
            probe_watchers: JoinSet::new(),
            report_watchers: JoinSet::new(),
            killed: Arc::default(),
            failures: Arc::default(),
            good_answers: Arc::default(),
        })
    }

    /// Kills a service.
    pub(crate) async fn kill(&mut self, service: &'static str) -> Result<(), Error> {
        self.killed
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .insert(service);
        match self.services.remove(service) {
            Some(process) => process.kill().await,
            None => Ok(()),
        }
    }

    /// Starts it again. Its probes are not watched any more: it takes a moment until it answers.
    pub(crate) fn start(&mut self, service: &'static str) -> Result<(), Error> {
        self.services
            .insert(service, start(self.run, service, &self.variables)?);
        Ok(())
    }

    /// Watches liveness and readiness of every living service until the end; both must stay 200.
    pub(crate) fn watch_probes(&mut self) {
        self.probe_watchers = self.watch(&["/livez", "/readyz", "/healthz"]);
    }

    /// The same for the answers that speak of dependencies.
    pub(crate) fn watch_reports(&mut self) {
        self.report_watchers = self.watch(&["/status", "/health"]);
    }

    /// From here on a report may well say 503.
    pub(crate) async fn stop_watching_reports(&mut self) {
        self.report_watchers.shutdown().await;
    }

    fn watch(&self, paths: &'static [&'static str]) -> JoinSet<()> {
        let mut watchers = JoinSet::new();
        for (service, port) in self.ports.clone() {
            let (killed, failures) = (Arc::clone(&self.killed), Arc::clone(&self.failures));
            let good_answers = Arc::clone(&self.good_answers);
            watchers.spawn(async move {
                loop {
                    for path in paths {
                        let answer = get(port, path).await;
                        let is_dead = || {
                            killed
                                .lock()
                                .unwrap_or_else(PoisonError::into_inner)
                                .contains(service)
                        };
                        let what = match answer {
                            Ok((200, _)) => {
                                good_answers.fetch_add(1, Ordering::Relaxed);
                                continue;
                            }
                            Ok((status, body)) => {
                                format!("{service}{path} answered {status}: {body}")
                            }
                            Err(error) => format!("{service}{path}: {error}"),
                        };
                        if !is_dead() {
                            failures
                                .lock()
                                .unwrap_or_else(PoisonError::into_inner)
                                .push(what);
                        }
                    }
                    tokio::time::sleep(WATCH).await;
                }
            });
        }
        watchers
    }

    pub(crate) fn assert_probes_never_failed(&self) {
        let failures = self.failures.lock().unwrap_or_else(PoisonError::into_inner);
        assert!(failures.is_empty(), "{failures:#?}");
        // Each phase lasts for seconds and each service is asked ten times in one: far more than this.
        let good = self.good_answers.load(Ordering::Relaxed);
        assert!(
            good >= 10 * SERVICES.len(),
            "the probes were hardly watched: {good} answers"
        );
    }

    /// Waits until what the aggregator says is as wanted.
    pub(crate) async fn wait_for(
        &self,
        what: &str,
        limit: Duration,
        mut is_wanted: impl FnMut(&Seen) -> bool,
    ) -> Result<Seen, Error> {
        let port = self.port;
        let seen = until(
            what,
            limit,
            async || Seen::ask(port).await,
            |seen| seen.as_ref().is_some_and(&mut is_wanted),
        )
        .await?;
        Ok(seen.expect("it was just seen to be there"))
    }

    /// Runs the command line against this aggregator.
    pub(crate) async fn rootward(&self, arguments: &[&str]) -> Result<Told, Error> {
        let mut command = Command::new(self.run.program("rootward")?);
        command
            .args(arguments)
            .args(["--url", &format!("http://127.0.0.1:{}", self.port)]);
        let mut process = Process::spawn(self.run, "rootward-client", command)?;
        let status = process.wait(Duration::from_secs(20)).await?;
        Ok(Told {
            code: status.code(),
            text: process.log(),
        })
    }

    /// The page as a browser shows it, with what its scripts have put there.
    pub(crate) async fn page(&self) -> Result<String, Error> {
        let profile = self.run.directory().join(format!("browser-{}", self.port));
        let mut command = Command::new(self.run.browser());
        command.args([
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-quic",
            "--no-first-run",
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-sync",
            "--virtual-time-budget=5000",
            "--dump-dom",
        ]);
        command.arg(format!("--user-data-dir={}", profile.display()));
        command.arg(format!("http://127.0.0.1:{}/", self.port));
        let mut browser = Process::spawn(self.run, "browser", command)?;
        browser.succeed(Duration::from_secs(60)).await?;
        Ok(browser.log())
    }

    /// Stops everything as an operator would; nothing may hang or fail.
    pub(crate) async fn close(mut self) -> Result<(), Error> {
        self.probe_watchers.shutdown().await;
        self.report_watchers.shutdown().await;
        for (_, mut service) in self.services {
            service.terminate()?;
            service.succeed(Duration::from_secs(20)).await?;
        }
        self.aggregator.terminate()?;
        self.aggregator.succeed(Duration::from_secs(20)).await
    }
}

fn start(run: &Run, service: &str, variables: &[(String, String)]) -> Result<Process, Error> {
    let mut command = Command::new(run.program("shop")?);
    command.arg(service).envs(variables.iter().cloned());
    Process::spawn(run, &format!("shop-{service}"), command)
}

async fn get(port: u16, path: &str) -> Result<(u16, String), String> {
    let target =
        Target::parse(&format!("http://127.0.0.1:{port}{path}")).map_err(|e| e.to_string())?;
    let answer = fetch(&Request::get(&target), &ANSWER)
        .await
        .map_err(|e| e.to_string())?;
    Ok((
        answer.status,
        String::from_utf8_lossy(&answer.body).into_owned(),
    ))
}

async fn get_json(port: u16, path: &str) -> Option<Value> {
    let (status, body) = get(port, path).await.ok()?;
    if status == 200 {
        serde_json::from_str(&body).ok()
    } else {
        None
    }
}

/// What the aggregator says at one moment.
#[derive(Debug)]
pub(crate) struct Seen {
    overview: Value,
    diagnosis: Value,
    incidents: Value,
}

impl Seen {
    async fn ask(port: u16) -> Option<Self> {
        Some(Self {
            overview: get_json(port, "/api/v1/overview").await?,
            diagnosis: get_json(port, "/api/v1/diagnosis").await?,
            incidents: get_json(port, "/api/v1/incidents").await?,
        })
    }

    pub(crate) fn all_is_well(&self) -> bool {
        let is = |list: &str, word: &str, count: usize| {
            let rows = items(&self.overview[list]);
            rows.len() == count && rows.iter().all(|row| row["status"] == word)
        };
        is("services", "healthy", SERVICES.len())
            && is("resources", "up", 2)
            && self.causes().is_empty()
            && items(&self.diagnosis["unexplained"]).is_empty()
            && self.open_incidents().is_empty()
    }

    pub(crate) fn causes(&self) -> BTreeSet<String> {
        texts(&self.diagnosis["root_causes"], "id")
    }

    pub(crate) fn impacted(&self) -> BTreeSet<String> {
        self.reached("impacted")
    }

    pub(crate) fn degraded(&self) -> BTreeSet<String> {
        self.reached("degraded")
    }

    fn reached(&self, effect: &str) -> BTreeSet<String> {
        let reached = items(&self.diagnosis["impacted"])
            .iter()
            .filter(|impact| impact["effect"] == effect);
        reached.map(|impact| text(&impact["service"])).collect()
    }

    pub(crate) fn path_of(&self, service: &str) -> Vec<String> {
        let impact = items(&self.diagnosis["impacted"])
            .iter()
            .find(|impact| impact["service"] == service);
        impact
            .map(|impact| items(&impact["path"]).iter().map(text).collect())
            .unwrap_or_default()
    }

    pub(crate) fn status_of(&self, name: &str) -> String {
        let rows = items(&self.overview["services"])
            .iter()
            .chain(items(&self.overview["resources"]));
        let mut found = rows.filter(|row| row["name"] == name);
        found
            .next()
            .map(|row| text(&row["status"]))
            .unwrap_or_default()
    }

    pub(crate) fn open_incidents(&self) -> BTreeSet<String> {
        texts(&self.incidents["open"], "cause")
    }

    pub(crate) fn resolved_incidents(&self) -> Vec<String> {
        items(&self.incidents["resolved"])
            .iter()
            .map(|incident| text(&incident["cause"]))
            .collect()
    }

    fn incident(&self, cause: &str) -> &Value {
        let open = items(&self.incidents["open"]);
        open.iter()
            .find(|incident| incident["cause"] == cause)
            .unwrap_or(&Value::Null)
    }

    pub(crate) fn title_of(&self, cause: &str) -> String {
        text(&self.incident(cause)["title"])
    }

    pub(crate) fn pages(&self, cause: &str) -> bool {
        self.incident(cause)["pages"] == true
    }

    fn evidence(&self, cause: &str, target: &str) -> Vec<&Value> {
        let causes = items(&self.diagnosis["root_causes"])
            .iter()
            .filter(|found| found["id"] == cause);
        let facts = causes.flat_map(|found| items(&found["evidence"]));
        facts.filter(|fact| fact["target"] == target).collect()
    }

    pub(crate) fn evidence_categories(&self, cause: &str, target: &str) -> BTreeSet<String> {
        self.evidence(cause, target)
            .iter()
            .map(|fact| text(&fact["error_category"]))
            .collect()
    }

    /// The services whose instances are the observers.
    pub(crate) fn evidence_services(&self, cause: &str, target: &str) -> BTreeSet<String> {
        let observers = self
            .evidence(cause, target)
            .into_iter()
            .map(|fact| text(&fact["observer"]));
        observers
            .map(|id| id.split('#').next().unwrap_or_default().to_owned())
            .collect()
    }
}

fn items(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn texts(list: &Value, key: &str) -> BTreeSet<String> {
    items(list).iter().map(|item| text(&item[key])).collect()
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}
