//! Kubernetes, Compose and systemd ask the ports and paths that the programs serve, and give them the time to drain.

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;
use std::time::Duration;

use rootward_e2e::{Error, Process, Run};
use serde_json::Value;

use super::started::{LIMIT, Place, read};
use super::yaml::{documents, list, number, text};

/// Between the end of a drain and the moment when the process is killed.
const MARGIN: Duration = Duration::from_secs(5);

/// What the handler of the Python example takes for an idle connection at its end.
const IDLE: Duration = Duration::from_secs(5);

/// A container of a pod.
struct Container<'a>(&'a Value);

impl Container<'_> {
    fn command(&self) -> Vec<&str> {
        list(&self.0["command"]).map(text).collect()
    }

    /// What the file says, without what comes from the pod.
    fn environment(&self) -> BTreeMap<String, String> {
        let variables = list(&self.0["env"]).filter(|variable| !variable["value"].is_null());
        let pair = |variable: &Value| {
            let (name, value) = (text(&variable["name"]), text(&variable["value"]));
            (name.to_owned(), value.to_owned())
        };
        variables.map(pair).collect()
    }

    fn port(&self, name: &str) -> u16 {
        let mut ports = list(&self.0["ports"]);
        let port = ports.find(|port| port["name"] == name);
        let port = port.unwrap_or_else(|| panic!("no port is called {name}"));
        u16::try_from(number(&port["containerPort"])).expect("a port")
    }

    /// Port and path of a probe.
    fn probe(&self, kind: &str) -> Option<(u16, &str)> {
        let http = self.0.get(kind)?.get("httpGet")?;
        Some((self.port(text(&http["port"])), text(&http["path"])))
    }

    /// The probes that there are, each asked where it says.
    async fn is_answered(&self, place: &Place) -> Result<(), Error> {
        for kind in ["startupProbe", "readinessProbe", "livenessProbe"] {
            if let Some((port, path)) = self.probe(kind) {
                place.answers(port, path, 200).await?;
            }
        }
        Ok(())
    }
}

/// The pod of a Deployment, and its containers by name.
fn pod(documents: &[Value]) -> (&Value, BTreeMap<&str, Container<'_>>) {
    let deployment = documents
        .iter()
        .find(|document| document["kind"] == "Deployment");
    let pod = &deployment.expect("a Deployment")["spec"]["template"]["spec"];
    let containers = list(&pod["containers"]);
    let containers = containers.map(|container| (text(&container["name"]), Container(container)));
    (pod, containers.collect())
}

fn port_in(address: &str) -> u16 {
    let (_, port) = address.rsplit_once(':').unwrap_or(("", address));
    port.parse().expect("a port")
}

fn seconds(value: &str) -> Duration {
    let number = value.strip_suffix('s').unwrap_or(value);
    Duration::from_secs_f64(number.parse().expect("seconds"))
}

/// The hyper example's drain: as long a delay as a grace.
fn drain_of_rates(environment: &BTreeMap<String, String>) -> Duration {
    let millis = environment["EXAMPLE_DRAIN_MS"]
        .parse()
        .expect("milliseconds");
    Duration::from_millis(millis) * 2
}

async fn end(mut process: Process) -> Result<(), Error> {
    process.terminate()?;
    process.succeed(LIMIT).await
}

#[tokio::test]
async fn kf_003_kubernetes_asks_the_three_probes_of_a_service_that_embeds_the_crate()
-> Result<(), Error> {
    let run = Run::from_environment()?;
    let documents = documents(&run, "kubernetes/rates.yaml")?;
    let (pod, containers) = pod(&documents);
    let rates = &containers["rates"];
    let environment = rates.environment();
    let (http, probes) = (rates.port("http"), rates.port("probes"));
    assert_eq!(port_in(&environment["EXAMPLE_LISTEN"]), http);
    assert_eq!(port_in(&environment["EXAMPLE_PROBES"]), probes);
    assert_eq!(rates.probe("startupProbe"), Some((probes, "/startupz")));
    assert_eq!(rates.probe("livenessProbe"), Some((probes, "/livez")));
    assert_eq!(rates.probe("readinessProbe"), Some((probes, "/readyz")));
    let grace = Duration::from_secs(number(&pod["terminationGracePeriodSeconds"]));
    assert!(grace >= drain_of_rates(&environment) + MARGIN, "{grace:?}");
    assert!(
        rates.0["lifecycle"].is_null(),
        "the service itself delays its end"
    );
    let service = documents
        .iter()
        .find(|document| document["kind"] == "Service");
    let service = &service.expect("a Service")["spec"];
    assert_eq!(service["selector"], serde_json::json!({"app": "rates"}));
    assert_eq!(service["ports"][0]["targetPort"], "http");
    let place = Place::new(&run, "kubernetes-rates")?;
    let process = place.start(&rates.command(), &environment)?;
    rates.is_answered(&place).await?;
    place.answers(http, "/rates/EUR", 200).await?;
    end(process).await
}

#[tokio::test]
async fn kubernetes_asks_a_service_with_a_sidecar_for_its_own_life_and_the_sidecar_for_readiness()
-> Result<(), Error> {
    let run = Run::from_environment()?;
    let documents = documents(&run, "kubernetes/greeter.yaml")?;
    let (pod, containers) = pod(&documents);
    let (service, agent) = (&containers["greeter"], &containers["rootward"]);
    let (own, beside) = (service.environment(), agent.environment());
    let (http, probes) = (service.port("http"), agent.port("probes"));
    assert_eq!(port_in(&own["GREETER_PORT"]), http);
    assert_eq!(port_in(&beside["GREETER_PROBES"]), probes);
    assert_eq!(service.probe("livenessProbe"), Some((http, "/ping")));
    assert_eq!(agent.probe("readinessProbe"), Some((probes, "/readyz")));
    assert_eq!(agent.probe("startupProbe"), Some((probes, "/startupz")));
    assert_eq!(service.probe("readinessProbe"), None);
    assert_eq!(agent.probe("livenessProbe"), None);
    for shared in ["GREETER_PORT", "GREETER_RUN", "GREETER_DRAIN_SECONDS"] {
        assert_eq!(own[shared], beside[shared], "{shared}");
    }
    let grace = Duration::from_secs(number(&pod["terminationGracePeriodSeconds"]));
    assert!(
        grace >= seconds(&own["GREETER_DRAIN_SECONDS"]) + IDLE + MARGIN,
        "{grace:?}"
    );
    assert_eq!(pod["shareProcessNamespace"], true);
    let map = documents
        .iter()
        .find(|document| document["kind"] == "ConfigMap");
    let file = text(&map.expect("a ConfigMap")["data"]["agent.yaml"]);
    assert_eq!(
        file,
        read("python/agent.yaml"),
        "the file of the Python example"
    );
    let place = Place::new(&run, "kubernetes-greeter")?;
    let started = place.start(&service.command(), &own)?;
    let looking = place.start(&agent.command(), &beside)?;
    service.is_answered(&place).await?;
    agent.is_answered(&place).await?;
    place.answers(http, "/hello", 200).await?;
    end(looking).await?;
    end(started).await
}

/// Runs a health check of a Compose file, at the ports of this test.
fn passes(run: &Run, place: &Place, check: &Value) -> Result<bool, Error> {
    let words: Vec<_> = list(&check["test"]).map(text).collect();
    let ["CMD", program, arguments @ ..] = words.as_slice() else {
        panic!("no command without a shell: {words:?}")
    };
    assert_eq!(program.rsplit('/').next(), Some("rootward"));
    let at = arguments.iter().position(|word| *word == "--timeout");
    let own = seconds(arguments[at.expect("a time limit of its own") + 1]);
    assert!(
        own < seconds(text(&check["timeout"])),
        "it says in time what it has seen"
    );
    let here = arguments.iter().map(|word| {
        let (before, path) = word.rsplit_once('/').unwrap_or((word, ""));
        match before.strip_prefix("http://") {
            Some(address) => format!("http://{}/{path}", place.here(address)),
            None => (*word).to_owned(),
        }
    });
    let status = Command::new(run.program("rootward")?).args(here).output();
    Ok(status.expect("it starts").status.success())
}

fn environment_of(service: &Value) -> BTreeMap<String, String> {
    let variables = service["environment"].as_object().into_iter().flatten();
    variables
        .map(|(name, value)| (name.clone(), text(value).to_owned()))
        .collect()
}

fn command_of(service: &Value) -> Vec<&str> {
    list(&service["command"]).map(text).collect()
}

#[tokio::test]
async fn the_health_check_of_compose_passes_once_the_service_is_ready_and_not_before()
-> Result<(), Error> {
    let run = Run::from_environment()?;
    let documents = documents(&run, "compose/compose.yaml")?;
    let rates = &documents[0]["services"]["rates"];
    let environment = environment_of(rates);
    let grace = seconds(text(&rates["stop_grace_period"]));
    assert!(grace >= drain_of_rates(&environment) + MARGIN, "{grace:?}");
    let place = Place::new(&run, "compose-rates")?;
    assert!(
        !passes(&run, &place, &rates["healthcheck"])?,
        "nobody is there"
    );
    let process = place.start(&command_of(rates), &environment)?;
    place.answers(8790, "/readyz", 200).await?;
    assert!(passes(&run, &place, &rates["healthcheck"])?);
    let published: BTreeSet<_> = list(&rates["ports"])
        .map(|port| port_in(text(port)))
        .collect();
    assert_eq!(
        published,
        [port_in(&environment["EXAMPLE_LISTEN"])].into(),
        "no probes"
    );
    end(process).await
}

#[tokio::test]
async fn the_sidecar_of_compose_shares_what_it_looks_at_and_is_ready_with_its_service()
-> Result<(), Error> {
    let run = Run::from_environment()?;
    let documents = documents(&run, "compose/compose.yaml")?;
    let services = &documents[0]["services"];
    let (greeter, agent) = (&services["greeter"], &services["greeter-rootward"]);
    for shared in ["network_mode", "pid"] {
        assert_eq!(agent[shared], "service:greeter", "{shared}");
    }
    let (own, beside) = (environment_of(greeter), environment_of(agent));
    for shared in ["GREETER_PORT", "GREETER_RUN", "GREETER_DRAIN_SECONDS"] {
        assert_eq!(own[shared], beside[shared], "{shared}");
    }
    let drain = seconds(&own["GREETER_DRAIN_SECONDS"]);
    for service in [greeter, agent] {
        let grace = seconds(text(&service["stop_grace_period"]));
        assert!(grace >= drain + IDLE + MARGIN, "{grace:?}");
    }
    let place = Place::new(&run, "compose-greeter")?;
    let looking = place.start(&command_of(agent), &beside)?;
    place.answers(8790, "/readyz", 503).await?;
    assert!(
        !passes(&run, &place, &agent["healthcheck"])?,
        "its service is not there"
    );
    let started = place.start(&command_of(greeter), &own)?;
    place.answers(8790, "/readyz", 200).await?;
    assert!(passes(&run, &place, &agent["healthcheck"])?);
    end(looking).await?;
    end(started).await
}

#[tokio::test]
async fn the_unit_of_systemd_promises_nothing_that_the_service_does_not_do() -> Result<(), Error> {
    let unit = read("systemd/rates.service");
    let settings = || {
        let lines = unit.lines().filter(|line| !line.starts_with('#'));
        lines.filter_map(|line| line.split_once('='))
    };
    let of = |key: &str| {
        let mut values = settings().filter(|(name, _)| *name == key);
        values.next().map(|(_, value)| value)
    };
    // It sends systemd no message: with either of them it would be killed.
    assert_eq!(of("Type"), Some("exec"));
    assert_eq!(of("WatchdogSec"), None);
    let variables = settings().filter(|(key, _)| *key == "Environment");
    let variables = variables.filter_map(|(_, variable)| variable.split_once('='));
    let environment: BTreeMap<_, _> = variables
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect();
    let stop = seconds(of("TimeoutStopSec").expect("a limit"));
    assert!(stop >= drain_of_rates(&environment) + MARGIN, "{stop:?}");
    let state = of("StateDirectory").expect("a directory");
    assert_eq!(environment["EXAMPLE_DATA"], format!("/var/lib/{state}"));
    let run = Run::from_environment()?;
    let place = Place::new(&run, "systemd-rates")?;
    let process = place.start(&[of("ExecStart").expect("a program")], &environment)?;
    place.answers(8790, "/readyz", 200).await?;
    place.answers(8080, "/rates/EUR", 200).await?;
    end(process).await
}
