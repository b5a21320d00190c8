//! Each example as a process: it becomes ready, answers, drains, and ends with exit code 0.

use std::collections::BTreeMap;
use std::fs::File;
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::Request;
use hyper::client::conn::http2;
use hyper_util::rt::{TokioExecutor, TokioIo};
use rootward_e2e::{Error, Process, Run, until};
use serde_json::Value;
use tokio::net::TcpStream;

use super::started::{LIMIT, Place};
use super::yaml::{list, text};

fn environment<const N: usize>(variables: [(&str, &str); N]) -> BTreeMap<String, String> {
    let own = |(name, value): (&str, &str)| (name.to_owned(), value.to_owned());
    variables.map(own).into_iter().collect()
}

/// The components of a report, by name, with their status.
async fn components(place: &Place) -> Result<BTreeMap<String, String>, Error> {
    let report = place.answers(8790, "/health", 200).await?;
    let report: Value = serde_json::from_str(&report).expect("a report");
    let pair = |component: &Value| {
        let (name, status) = (text(&component["name"]), text(&component["status"]));
        (name.to_owned(), status.to_owned())
    };
    Ok(list(&report["components"]).map(pair).collect())
}

/// SIGTERM: not ready, still answering, then ended with 0.
async fn drains(place: &Place, mut process: Process, port: u16, path: &str) -> Result<(), Error> {
    process.terminate()?;
    place.answers(8790, "/readyz", 503).await?;
    assert!(
        place
            .ask(port, path)
            .await
            .is_some_and(|(status, _)| status == 200),
        "it answers on while it is not ready"
    );
    process.succeed(LIMIT).await
}

#[tokio::test]
async fn the_hyper_example_checks_what_it_runs_out_of_and_drains() -> Result<(), Error> {
    let run = Run::from_environment()?;
    let place = Place::new(&run, "hyper")?;
    let variables = environment([
        ("EXAMPLE_LISTEN", "0.0.0.0:8080"),
        ("EXAMPLE_PROBES", "0.0.0.0:8790"),
        ("EXAMPLE_DATA", "/var/lib/rates"),
    ]);
    let process = place.start(&["example-hyper"], &variables)?;
    place.answers(8790, "/readyz", 200).await?;
    assert_eq!(place.answers(8080, "/rates/EUR", 200).await?, "1\n");
    assert_eq!(
        place.answers(8080, "/rates/XXX", 404).await?,
        "no such rate\n"
    );
    let components = components(&place).await?;
    let names: Vec<_> = components.keys().map(String::as_str).collect();
    assert_eq!(names, ["data", "descriptors", "memory", "rates"]);
    assert_eq!(components["rates"], "up");
    assert_eq!(components["descriptors"], "up");
    drains(&place, process, 8080, "/rates/EUR").await
}

/// The answer of grpc.health.v1 about a service: its status, or the status of the call.
async fn grpc_health(port: u16, service: &str) -> Option<String> {
    let stream = TcpStream::connect(("127.0.0.1", port)).await.ok()?;
    let handshake = http2::handshake(TokioExecutor::new(), TokioIo::new(stream));
    let (mut sender, connection) = handshake.await.ok()?;
    let driver = tokio::spawn(connection);
    // A frame: not compressed, its length, and the message with the name as its first field.
    let name = u8::try_from(service.len()).expect("a short name");
    let message = match name {
        0 => Vec::new(),
        length => [&[0x0a, length], service.as_bytes()].concat(),
    };
    let length = u8::try_from(message.len()).expect("a short message");
    let frame = [&[0, 0, 0, 0, length], message.as_slice()].concat();
    let request = Request::post("http://search/grpc.health.v1.Health/Check")
        .header("content-type", "application/grpc")
        .header("te", "trailers")
        .body(Full::new(Bytes::from(frame)))
        .expect("a request");
    let answer = sender.send_request(request).await.ok()?;
    let failed = answer.headers().get("grpc-status").cloned();
    let body = answer.into_body().collect().await.ok()?;
    driver.abort();
    if let Some(status) = failed {
        return Some(format!("call {}", status.to_str().ok()?));
    }
    // Field 1 of the message, behind the five bytes of the frame.
    Some(match body.to_bytes().get(5..) {
        Some([0x08, 1]) => "serving".to_owned(),
        Some([0x08, 2]) => "not serving".to_owned(),
        other => format!("{other:?}"),
    })
}

#[tokio::test]
async fn the_tonic_example_answers_grpc_health_from_the_snapshot_of_its_probes() -> Result<(), Error>
{
    let run = Run::from_environment()?;
    let place = Place::new(&run, "tonic")?;
    let index = place.directory("/data").join("index");
    let file = File::create(index).expect("a file");
    let variables = environment([
        ("EXAMPLE_LISTEN", "0.0.0.0:50051"),
        ("EXAMPLE_PROBES", "0.0.0.0:8790"),
        ("EXAMPLE_INDEX", "/data/index"),
    ]);
    let mut process = place.start(&["example-tonic"], &variables)?;
    place.answers(8790, "/readyz", 200).await?;
    let port = place.port(50051);
    for service in ["", "index"] {
        assert_eq!(grpc_health(port, service).await.as_deref(), Some("serving"));
    }
    assert_eq!(grpc_health(port, "nobody").await.as_deref(), Some("call 5"));
    // The index grows old: hard and local, so it is not ready, and both say so.
    let hours = Duration::from_secs(2 * 60 * 60);
    file.set_modified(SystemTime::now() - hours)
        .expect("its time is set");
    place.answers(8790, "/readyz", 503).await?;
    for service in ["", "index"] {
        let what = format!("grpc health of {service:?} to follow");
        let look = async || grpc_health(port, service).await;
        let is_it = |seen: &Option<String>| seen.as_deref() == Some("not serving");
        until(&what, LIMIT, look, is_it).await?;
    }
    place.answers(8790, "/livez", 200).await?;
    process.terminate()?;
    process.succeed(LIMIT).await
}

#[tokio::test]
async fn the_python_example_is_looked_after_by_its_sidecar() -> Result<(), Error> {
    let run = Run::from_environment()?;
    let place = Place::new(&run, "python")?;
    let variables = environment([
        ("GREETER_ADDRESS", "0.0.0.0"),
        ("GREETER_PORT", "8080"),
        ("GREETER_PROBES", "0.0.0.0:8790"),
        ("GREETER_RUN", "/run/greeter"),
        ("GREETER_WORK_SECONDS", "0.1"),
    ]);
    let agent = place.start(
        &["rootward", "agent", "/etc/rootward/agent.yaml"],
        &variables,
    )?;
    // Nobody is there yet.
    place.answers(8790, "/livez", 200).await?;
    place.answers(8790, "/readyz", 503).await?;
    let mut service = place.start(&["python3", "/srv/service.py"], &variables)?;
    assert_eq!(place.answers(8080, "/hello", 200).await?, "hello\n");
    place.answers(8790, "/readyz", 200).await?;
    let components = components(&place).await?;
    let names: Vec<_> = components.keys().map(String::as_str).collect();
    assert_eq!(names, ["application", "descriptors", "disk", "worker"]);
    for name in ["application", "descriptors", "worker"] {
        assert_eq!(components[name], "up", "{name}");
    }
    // Both hear SIGTERM: the sidecar is not ready, and the service answers on.
    service.terminate()?;
    drains(&place, agent, 8080, "/hello").await?;
    service.succeed(LIMIT).await
}
